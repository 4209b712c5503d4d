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

/// What all candidates of a string share: the decoder's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoder {
    pub(crate) text: TextState,
    /// Code points begun.
    pub(crate) count: u64,
    /// Bytes decoded.
    pub(crate) len: u32,
}

/// What one byte of a string means to its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// No string has it here.
    Refused,
    /// The closing quote.
    Close,
    /// Inside an escape: nothing is decoded yet.
    Pending,
    /// As many bytes are decoded.
    Bytes([u8; 4], u8),
}

impl Decoder {
    /// Behind the opening quote.
    pub(crate) const START: Decoder = Decoder { text: TextState::START, count: 0, len: 0 };

    /// Reads one byte.
    #[inline]
    pub(crate) fn read(&mut self, byte: u8, minimal: bool) -> Reading {
        match self.text.step(byte, minimal) {
            TextStep::Refuse => Reading::Refused,
            TextStep::Close => Reading::Close,
            TextStep::Pending { first, state } => {
                self.count += u64::from(first);
                self.text = state;
                Reading::Pending
            }
            TextStep::Raw { first, state } => {
                self.count += u64::from(first);
                self.text = state;
                self.len = self.len.saturating_add(1);
                Reading::Bytes([byte, 0, 0, 0], 1)
            }
            TextStep::Char(c, state) => {
                self.text = state;
                let mut bytes = [0; 4];
                let len = c.encode_utf8(&mut bytes).len() as u8;
                self.len = self.len.saturating_add(u32::from(len));
                Reading::Bytes(bytes, len)
            }
        }
    }
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

    /// Follows what the decoder has read, by which it went to `after`. `false`: no string of the
    /// set goes on so. `minimal`: as in [`Decoder::read`].
    pub(crate) fn follow(
        &mut self,
        strings: &Strings,
        reading: Reading,
        after: &Decoder,
        minimal: bool,
    ) -> Result<bool, Full> {
        match reading {
            Reading::Refused | Reading::Close => Ok(false),
            Reading::Pending => {
                Ok(self.can_become(strings, &after.text.pending_chars(minimal), after))
            }
            Reading::Bytes(bytes, len) => self.feed(strings, &bytes[..usize::from(len)], after),
        }
    }

    fn feed(&mut self, strings: &Strings, bytes: &[u8], after: &Decoder) -> Result<bool, Full> {
        match (&mut self.at, strings) {
            (At::Free, Strings::Free { max, .. }) => Ok(max.is_none_or(|max| after.count <= max)),
            (At::Finite { lo, hi }, Strings::Finite(texts)) => {
                let depth = after.len as usize - bytes.len();
                for (offset, &byte) in bytes.iter().enumerate() {
                    narrow(texts, lo, hi, depth + offset, byte);
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
                Ok(language.live(*state, after.count))
            }
            _ => Ok(false),
        }
    }

    /// Whether a pending escape can become a character in `ranges`.
    fn can_become(&self, strings: &Strings, ranges: &[(u32, u32)], after: &Decoder) -> bool {
        match (self.at, strings) {
            (At::Free, Strings::Free { max, .. }) => {
                !ranges.is_empty() && max.is_none_or(|max| after.count <= max)
            }
            (At::Finite { lo, hi }, Strings::Finite(texts)) => {
                let inside = &texts[lo as usize..hi as usize];
                chars_in(inside, after.len as usize, ranges).next().is_some()
            }
            (At::Language(state), Strings::Language(language)) => {
                language.live_char(state, after.count.saturating_sub(1), ranges)
            }
            _ => false,
        }
    }

    /// Whether the string may end here.
    pub(crate) fn accepts(&self, strings: &Strings, decoder: &Decoder) -> bool {
        let count = decoder.count;
        match (self.at, strings) {
            (At::Free, Strings::Free { min, max }) => {
                count >= *min && max.is_none_or(|max| count <= max)
            }
            (At::Finite { lo, hi }, Strings::Finite(texts)) => texts[lo as usize..hi as usize]
                .first()
                .is_some_and(|text| text.len() == decoder.len as usize),
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
        let reading = self.decoder.read(byte, minimal);
        match reading {
            Reading::Refused => return Ok(StringStep::Dead),
            Reading::Close => return Ok(self.close(strings)),
            Reading::Pending | Reading::Bytes(..) => {}
        }
        self.follow(strings, reading, minimal)?;
        Ok(if self.atoms.is_empty() { StringStep::Dead } else { StringStep::Stay })
    }

    /// Keeps the candidates that go on with what the decoder has just read.
    pub(crate) fn follow(
        &mut self,
        strings: &[Strings],
        reading: Reading,
        minimal: bool,
    ) -> Result<(), Full> {
        let (decoder, mut full) = (self.decoder, false);
        self.atoms.retain(|atom| {
            let strings = &strings[atom.state.id.index()];
            atom.state.follow(strings, reading, &decoder, minimal).unwrap_or_else(|Full| {
                full = true;
                false
            })
        });
        if full { Err(Full) } else { Ok(()) }
    }

    fn close(&self, strings: &[Strings]) -> StringStep {
        let mut tags = SmallBits::default();
        for atom in &self.atoms {
            let info = &strings[atom.state.id.index()];
            if atom.state.accepts(info, &self.decoder) {
                tags.union(&atom.tags);
            }
        }
        if tags.is_empty() { StringStep::Dead } else { StringStep::Closed(tags) }
    }
}
