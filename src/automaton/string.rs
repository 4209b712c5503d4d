//! Strings: decoded on the fly, so that `\u0041` and `A` are one character to every constraint.

use super::level::StringLevel;
use crate::base::SmallBits;
use crate::language::{Full, LangState, TextState, TextStep};
use crate::values::{StringId, Strings};

/// A candidate inside a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StringAtom {
    pub(crate) id: StringId,
    pub(crate) at: At,
}

/// Where a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum At {
    /// Only the length matters.
    Free,
    /// The strings of a finite set that begin with what has been decoded.
    Finite { lo: u32, hi: u32 },
    /// A state of a language.
    Language(LangState),
}

/// What one byte does to a string.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StringStep {
    Dead,
    Stay,
    /// The closing quote: the parent's atoms that this string serves.
    Closed(SmallBits),
}

impl StringAtom {
    pub(crate) fn new(id: StringId, strings: &Strings) -> StringAtom {
        let at = match strings {
            Strings::Free { .. } => At::Free,
            Strings::Finite(texts) => At::Finite { lo: 0, hi: texts.len() as u32 },
            Strings::Language(language) => At::Language(language.start()),
        };
        StringAtom { id, at }
    }

    /// The decoded bytes `bytes` follow, the first of them at `depth`; `count` code points have
    /// been begun, these included.
    pub(crate) fn feed(
        &mut self,
        strings: &Strings,
        bytes: &[u8],
        depth: u32,
        count: u64,
    ) -> Result<bool, Full> {
        match (&mut self.at, strings) {
            (At::Free, Strings::Free { max, .. }) => Ok(max.is_none_or(|max| count <= max)),
            (At::Finite { lo, hi }, Strings::Finite(texts)) => {
                for (offset, &byte) in bytes.iter().enumerate() {
                    narrow(texts, lo, hi, depth as usize + offset, byte);
                }
                Ok(lo < hi)
            }
            (At::Language(state), Strings::Language(language)) => {
                for &byte in bytes {
                    match language.step_byte(*state, byte)? {
                        Some(next) => *state = next,
                        None => return Ok(false),
                    }
                }
                Ok(language.live(*state, count))
            }
            _ => Ok(false),
        }
    }

    /// An escape is pending that can become one of `ranges`; `count` includes it.
    pub(crate) fn pending(
        &self,
        strings: &Strings,
        ranges: &[(u32, u32)],
        depth: u32,
        count: u64,
    ) -> bool {
        match (self.at, strings) {
            (At::Free, Strings::Free { max, .. }) => {
                !ranges.is_empty() && max.is_none_or(|max| count <= max)
            }
            (At::Finite { lo, hi }, Strings::Finite(texts)) => {
                let inside = &texts[lo as usize..hi as usize];
                chars_in(inside, depth as usize, ranges).next().is_some()
            }
            (At::Language(state), Strings::Language(language)) => {
                language.live_char(state, count.saturating_sub(1), ranges)
            }
            _ => false,
        }
    }

    /// Whether the string may end here.
    pub(crate) fn accepts(&self, strings: &Strings, decoded: u32, count: u64) -> bool {
        match (self.at, strings) {
            (At::Free, Strings::Free { min, max }) => {
                count >= *min && max.is_none_or(|max| count <= max)
            }
            (At::Finite { lo, hi }, Strings::Finite(texts)) => texts[lo as usize..hi as usize]
                .first()
                .is_some_and(|text| text.len() == decoded as usize),
            (At::Language(state), Strings::Language(language)) => language.accepts_at(state, count),
            _ => false,
        }
    }
}

/// Keeps those of the sorted `texts[lo..hi]` whose byte at `depth` is `byte`.
pub(crate) fn narrow<T: AsRef<str>>(
    texts: &[T],
    lo: &mut u32,
    hi: &mut u32,
    depth: usize,
    byte: u8,
) {
    let inside = &texts[*lo as usize..*hi as usize];
    let at = |text: &T| text.as_ref().as_bytes().get(depth).copied();
    let first = inside.partition_point(|t| at(t) < Some(byte));
    let end = first + inside[first..].partition_point(|t| at(t) <= Some(byte));
    (*lo, *hi) = (*lo + first as u32, *lo + end as u32);
}

/// The indices of the sorted `texts`, equal up to `depth`, that go on with a character in `ranges`.
/// UTF-8 orders as code points do, so each range is one interval of texts.
pub(crate) fn chars_in<T: AsRef<str>>(
    texts: &[T],
    depth: usize,
    ranges: &[(u32, u32)],
) -> impl Iterator<Item = usize> + use<T> {
    let next_char =
        |text: &T| -> Option<u32> { text.as_ref().get(depth..)?.chars().next().map(u32::from) };
    let interval = |&(low, high): &(u32, u32)| {
        let lo = texts.partition_point(|t| next_char(t) < Some(low));
        let hi = texts.partition_point(|t| next_char(t) <= Some(high));
        lo..hi
    };
    ranges.iter().map(interval).collect::<Vec<_>>().into_iter().flatten()
}

impl StringLevel {
    /// Reads one byte of the string.
    pub(crate) fn step(
        &mut self,
        strings: &[Strings],
        byte: u8,
        minimal: bool,
    ) -> Result<StringStep, Full> {
        let mut buffer = [0; 4];
        let (bytes, state): (&[u8], TextState) = match self.text.step(byte, minimal) {
            TextStep::Refuse => return Ok(StringStep::Dead),
            TextStep::Close => return Ok(self.close(strings)),
            TextStep::Pending { first, state } => {
                self.count += u64::from(first);
                self.text = state;
                let ranges = state.pending_chars(minimal);
                let (depth, count) = (self.decoded, self.count);
                return self.keep(|atom| {
                    Ok(atom.pending(&strings[atom.id.index()], &ranges, depth, count))
                });
            }
            TextStep::Raw { first, state } => {
                self.count += u64::from(first);
                buffer[0] = byte;
                (&buffer[..1], state)
            }
            TextStep::Char(c, state) => (c.encode_utf8(&mut buffer).as_bytes(), state),
        };
        self.text = state;
        let (depth, count) = (self.decoded, self.count);
        self.decoded = self.decoded.saturating_add(bytes.len() as u32);
        self.keep(|atom| atom.feed(&strings[atom.id.index()], bytes, depth, count))
    }

    fn keep(
        &mut self,
        mut live: impl FnMut(&mut StringAtom) -> Result<bool, Full>,
    ) -> Result<StringStep, Full> {
        let mut full = false;
        self.atoms.retain(|atom| match live(&mut atom.state) {
            Ok(live) => live,
            Err(Full) => {
                full = true;
                false
            }
        });
        match (full, self.atoms.is_empty()) {
            (true, _) => Err(Full),
            (false, true) => Ok(StringStep::Dead),
            (false, false) => Ok(StringStep::Stay),
        }
    }

    fn close(&self, strings: &[Strings]) -> StringStep {
        let mut tags = SmallBits::default();
        for atom in &self.atoms {
            let info = &strings[atom.state.id.index()];
            if atom.state.accepts(info, self.decoded, self.count) {
                tags.union(&atom.tags);
            }
        }
        if tags.is_empty() { StringStep::Dead } else { StringStep::Closed(tags) }
    }
}
