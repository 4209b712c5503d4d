//! Items that must differ: the values seen, and what the value in progress can still become.
//!
//! Inside an array with unique items each value is hashed while it is read: a string by its decoded
//! text, a number by its exact value, an object without regard to the order of its keys. The array
//! keeps the hashes of its items (128 bits, seeded anew for each automaton), shared between the
//! configurations that have them. An item that is complete is refused where its hash has been seen,
//! and so is a step behind which only such items are left. For a string or number those are looked
//! for here, for an array or object in [`room`](super::room).

use super::fingerprint::Mixer;
use super::info::ArrayInfo;
use super::level::{ArrayLevel, NumberLevel, StringLevel};
use super::number::NumberCursor;
use super::string::{At, Decoder, Reading, StringAtom, chars_in};
use super::{Automaton, Config, Level};
use crate::base::{Chain, Decimal, SmallBits};
use crate::language::TextState;
use crate::values::{Places, Scalar, Strings};
use rpds::RedBlackTreeSetSync;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// The hash of a value.
type Value = u128;

/// The items that an array has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    values: Option<RedBlackTreeSetSync<Value>>,
    /// The most characters of a string among them.
    pub(super) longest: u64,
}

impl Items {
    pub(super) fn has(&self, value: Value) -> bool {
        self.values.as_ref().is_some_and(|values| values.contains(&value))
    }

    pub(super) fn len(&self) -> usize {
        self.values.as_ref().map_or(0, RedBlackTreeSetSync::size)
    }

    pub(super) fn has_any(&self) -> bool {
        self.values.is_some()
    }
}

/// What has been read of a value, and of those around it up to the outermost unique array.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    top: Part,
    below: Chain<Part>,
}

impl Digest {
    /// How many values are in progress.
    pub(super) fn values(&self) -> usize {
        1 + self.below.iter().count()
    }

    /// What they have become.
    pub(super) fn hash(&self, mixer: &mut Mixer) {
        for part in std::iter::once(&self.top).chain(self.below.iter()) {
            match part {
                Part::Literal(byte) => mixer.write_u8(*byte),
                Part::Number(text) => mixer.write(text),
                Part::Text(at) | Part::Array(at) => {
                    mixer.write_u64(at.0);
                    mixer.write_u64(at.1);
                }
                Part::Object(members, key) => {
                    mixer.write_value(*members);
                    mixer.write_value(*key);
                }
            }
        }
    }
}

/// What has been read of one value.
#[derive(Clone, Debug)]
enum Part {
    /// The first byte of `null`, `true` or `false`.
    Literal(u8),
    Number(SmallVec<[u8; 24]>),
    Text(Mixer),
    Array(Mixer),
    /// The sum of its members' hashes, and the hash of the last key.
    Object(Value, Value),
}

/// Makes hashes: the seeds of one automaton.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes(Mixer);

impl Hashes {
    pub(super) fn new() -> Hashes {
        let random = RandomState::new();
        Hashes(Mixer(random.hash_one(1), random.hash_one(2)))
    }

    /// To hash what has been read in some other way.
    pub(super) fn mixer(self) -> Mixer {
        self.0
    }

    fn kind(self, kind: u8) -> Mixer {
        let mut mixer = self.0;
        mixer.write_u8(kind);
        mixer
    }

    fn part(self, byte: u8) -> Part {
        match byte {
            b'"' => Part::Text(self.kind(b'"')),
            b'[' => Part::Array(self.kind(b'[')),
            b'{' => Part::Object(0, 0),
            b'-' | b'0'..=b'9' => Part::Number(SmallVec::from_slice(&[byte])),
            _ => Part::Literal(byte),
        }
    }

    fn value(self, part: &Part) -> Value {
        match part {
            Part::Literal(byte) => self.kind(*byte).value(),
            Part::Number(text) => self.number(text),
            Part::Text(mixer) | Part::Array(mixer) => mixer.value(),
            Part::Object(members, _) => {
                let mut mixer = self.kind(b'{');
                mixer.write_value(*members);
                mixer.value()
            }
        }
    }

    fn number(self, text: &[u8]) -> Value {
        let text = std::str::from_utf8(text).unwrap_or_default();
        Decimal::parse(text).map_or(0, |decimal| self.decimal(&decimal))
    }

    fn decimal(self, decimal: &Decimal) -> Value {
        let mut mixer = self.kind(b'0');
        mixer.write_u8(u8::from(decimal.is_negative()));
        mixer.write_u64(decimal.exponent() as u64);
        mixer.write(decimal.digits());
        mixer.value()
    }

    pub(super) fn scalar(self, scalar: &Scalar) -> Value {
        match scalar {
            Scalar::Literal(byte) => self.kind(*byte).value(),
            Scalar::Number(decimal) => self.decimal(decimal),
            Scalar::Text(text) => self.text(text.as_bytes()),
        }
    }

    fn text(self, bytes: &[u8]) -> Value {
        self.kind(b'"').text(bytes)
    }
}

impl Mixer {
    fn write_value(&mut self, value: Value) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    pub(super) fn value(mut self) -> Value {
        self.write_u64(u64::MAX);
        u128::from(self.0) << 64 | u128::from(self.1)
    }

    fn feed(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u8(byte));
    }

    /// The hash of the text that goes on with `bytes`.
    fn text(mut self, bytes: &[u8]) -> Value {
        self.feed(bytes);
        self.value()
    }
}

impl ArrayLevel {
    /// Whether a candidate wants unique items.
    pub(super) fn is_unique(&self, infos: &[ArrayInfo]) -> bool {
        self.atoms.iter().any(|atom| infos[atom.state.id.index()].unique)
    }

    /// Whether the candidate `tag` refuses an item with this value: it has come, or without it
    /// those that must come cannot all differ.
    fn refuses(&self, infos: &[ArrayInfo], tag: usize, value: Value) -> bool {
        let Some(atom) = self.atoms.get(tag) else { return false };
        let info = &infos[atom.state.id.index()];
        if !info.unique {
            return false;
        }
        let taken = |other: Value| other == value || self.seen.has(other);
        let fills = |places: &Places<Value>| places.can_fill(self.count, info.min, &taken);
        self.seen.has(value) || info.places.as_ref().is_some_and(|places| !fills(places))
    }

    /// How many values the candidate `tag` refuses at most; `None` where that is not known.
    fn most_refused(&self, infos: &[ArrayInfo], tag: usize) -> Option<u64> {
        let info = &infos[self.atoms.get(tag)?.state.id.index()];
        info.places.is_none().then_some(self.count)
    }

    /// An item with this value is complete for the candidates in `tags`: those that live on.
    pub(super) fn see(
        &mut self,
        infos: &[ArrayInfo],
        value: Value,
        chars: u64,
        tags: &SmallBits,
    ) -> SmallBits {
        let mut left = SmallBits::default();
        let kept = tags.iter().filter(|&tag| !self.refuses(infos, tag, value));
        kept.for_each(|tag| left.insert(tag));
        if !self.seen.has(value) {
            let seen = self.seen.values.take().unwrap_or_else(RedBlackTreeSetSync::new_sync);
            self.seen.values = Some(seen.insert(value));
            self.seen.longest = self.seen.longest.max(chars);
        }
        left
    }
}

/// The hash of a text that began with `text`, once it has gone on with some `bytes` as they are
/// spelled.
pub(super) fn text_value(text: Mixer, mut at: Decoder, bytes: &[u8], minimal: bool) -> Value {
    let mut text = text;
    for &byte in bytes {
        if let Reading::Bytes(decoded, len) = at.read(byte, minimal) {
            text.feed(&decoded[..usize::from(len)]);
        }
    }
    text.value()
}

/// Whether an item that differs from those `seen` can come at `index`, and the ones that must come
/// behind it.
pub(super) fn has_place(info: &ArrayInfo, index: u64, seen: &Items) -> bool {
    let Some(places) = &info.places else { return true };
    let after = |chosen: Option<Value>| {
        let taken = |other: Value| Some(other) == chosen || seen.has(other);
        places.can_fill(index + 1, info.min, &taken)
    };
    match places.at(index) {
        None => after(None),
        Some(few) => few.iter().any(|&value| !seen.has(value) && after(Some(value))),
    }
}

/// Whether a value is none of those that have come.
type IsFresh<'a> = &'a dyn Fn(Value) -> bool;

impl Automaton {
    /// Whether the value in progress is followed by its hash.
    pub(crate) fn tracks(&self, config: &Config) -> bool {
        config.digest.is_some()
    }

    /// Whether a level is an array with unique items.
    pub(crate) fn is_unique_level(&self, level: &Level) -> bool {
        matches!(level, Level::Array(array) if array.is_unique(&self.arrays))
    }

    /// The hash of the value in progress, as it stands.
    pub(super) fn value_so_far(&self, config: &Config) -> Option<Value> {
        config.digest.as_ref().map(|digest| self.hashes.value(&digest.top))
    }

    /// What has been read of the string in progress.
    pub(super) fn text_so_far(&self, config: &Config) -> Option<Mixer> {
        match config.digest.as_ref()?.top {
            Part::Text(mixer) => Some(mixer),
            _ => None,
        }
    }

    /// `byte` is the first of a value.
    pub(super) fn begin_value(&self, config: &mut Config, byte: u8) {
        let part = self.hashes.part(byte);
        let compares = |level: &Level| !config.is_forgetful() && self.is_unique_level(level);
        let in_unique = config.parent().is_some_and(compares);
        match &mut config.digest {
            Some(digest) => {
                let digest = Arc::make_mut(digest);
                let below = std::mem::replace(&mut digest.top, part);
                digest.below.push(below);
            }
            None if in_unique => {
                config.digest = Some(Arc::new(Digest { top: part, below: Chain::default() }));
            }
            None => {}
        }
    }

    /// A further byte of a number.
    pub(super) fn digest_number(&self, config: &mut Config, byte: u8) {
        if let Some(digest) = &mut config.digest
            && let Part::Number(text) = &mut Arc::make_mut(digest).top
        {
            text.push(byte);
        }
    }

    /// Decoded bytes of a string.
    pub(super) fn digest_text(&self, config: &mut Config, bytes: &[u8]) {
        if let Some(digest) = &mut config.digest
            && let Part::Text(mixer) = &mut Arc::make_mut(digest).top
        {
            mixer.feed(bytes);
        }
    }

    /// A whole key of the object that is followed.
    pub(super) fn digest_key(&self, config: &mut Config, key: &[u8]) {
        let value = self.hashes.text(key);
        if let Some(digest) = &mut config.digest
            && let Part::Object(_, last) = &mut Arc::make_mut(digest).top
        {
            *last = value;
        }
    }

    /// The value in progress is complete: its hash, if it is followed.
    pub(super) fn end_value(&self, config: &mut Config) -> Option<Value> {
        let digest = config.digest.as_mut()?;
        let value = self.hashes.value(&digest.top);
        if digest.below.is_empty() {
            config.digest = None;
            return Some(value);
        }
        let digest = Arc::make_mut(digest);
        digest.top = digest.below.pop()?;
        match &mut digest.top {
            Part::Array(mixer) => mixer.write_value(value),
            Part::Object(members, key) => {
                let mut member = self.hashes.kind(b':');
                member.write_value(*key);
                member.write_value(value);
                *members = members.wrapping_add(member.value());
            }
            Part::Literal(_) | Part::Number(_) | Part::Text(_) => {}
        }
        Some(value)
    }

    /// Drops the candidates of an item in progress that can only become items that have come;
    /// `false` where none is left.
    pub(super) fn drop_spent(&self, config: &mut Config) -> bool {
        let Config { top, below, digest, .. } = config;
        let (Some(Level::Array(array)), Some(digest)) = (below.top(), digest) else { return true };
        if !array.is_unique(&self.arrays) {
            return true;
        }
        // Keeps the tags of those for which a value is `left` that they do not refuse. Told is also how
        // many they refuse at most, if that is known.
        let keep = |tags: &mut SmallBits, left: &dyn Fn(IsFresh<'_>, Option<u64>) -> bool| {
            let mut kept = SmallBits::default();
            let is_left = |&tag: &usize| {
                let most = array.most_refused(&self.arrays, tag);
                left(&|value| !array.refuses(&self.arrays, tag, value), most)
            };
            tags.iter().filter(is_left).for_each(|tag| kept.insert(tag));
            *tags = kept;
            !tags.is_empty()
        };
        match (top, &digest.top) {
            (Level::Literal(level), part) => {
                keep(&mut level.tags, &|fresh, _| fresh(self.hashes.value(part)))
            }
            (Level::String(StringLevel { decoder, atoms }), Part::Text(text)) => {
                atoms.retain(|atom| {
                    let state = atom.state;
                    keep(&mut atom.tags, &|fresh, most| {
                        self.text_left(&state, decoder, most, |bytes| fresh(text.text(bytes)))
                    })
                });
                !atoms.is_empty()
            }
            (Level::Number(level), Part::Number(text)) => {
                let lex = &level.lex;
                level.atoms.retain(|atom| {
                    let cursor = NumberCursor { lex: lex.clone(), atom: atom.state };
                    keep(&mut atom.tags, &|fresh, _| {
                        cursor.find_end(&self.numbers, text, &mut |text| {
                            fresh(self.hashes.number(text))
                        })
                    })
                });
                !level.atoms.is_empty()
            }
            _ => true,
        }
    }

    /// Whether a string can go on by bytes that are `fresh`, as all are but for `most`, if that is
    /// known.
    fn text_left(
        &self,
        atom: &StringAtom,
        decoder: &Decoder,
        most: Option<u64>,
        fresh: impl Fn(&[u8]) -> bool,
    ) -> bool {
        let (text, minimal) = (decoder.text, self.minimal);
        let pending = || text.is_escape_partial().then(|| text.pending_chars(minimal));
        match (&self.strings[atom.id.index()], atom.at) {
            // More characters than are ever kept may follow.
            (Strings::Free { max, .. }, _) if max.is_none_or(|max| decoder.count < max) => true,
            (Strings::Free { .. }, _) => match pending() {
                None => fresh_end(text, &mut Vec::new(), &fresh),
                Some(ranges) => chars_of(&ranges).any(|c| {
                    let mut bytes = [0; 4];
                    fresh(c.encode_utf8(&mut bytes).as_bytes())
                }),
            },
            (Strings::Finite(texts), At::Finite { lo, hi }) => {
                let (texts, read) = (&texts[lo as usize..hi as usize], decoder.len as usize);
                let is_fresh = |text: &str| fresh(&text.as_bytes()[read..]);
                match pending() {
                    None => texts.iter().any(|text| is_fresh(text)),
                    Some(ranges) => {
                        chars_in(texts, read, &ranges).any(|index| is_fresh(&texts[index]))
                    }
                }
            }
            (Strings::Language(_), At::Language(state)) => {
                let Some(chosen) = self.sets.unique_string(atom.id) else { return true };
                let Some(ranges) = pending() else {
                    if most.is_some_and(|most| chosen.outlasts(state, most)) {
                        return true;
                    }
                    return chosen.goes_on_beside(state, text, &[], |end| !fresh(end));
                };
                let mut begun = [0; 4];
                chars_of(&ranges).any(|c| {
                    let begun = c.encode_utf8(&mut begun).as_bytes();
                    let after = begun.iter().try_fold(state, |state, &byte| {
                        chosen.language().step_byte(state, byte).ok().flatten()
                    });
                    after.is_some_and(|state| {
                        chosen.goes_on_beside(state, TextState::START, begun, |end| !fresh(end))
                    })
                })
            }
            _ => true,
        }
    }

    /// Ends of the number at the top of a value in progress that make different values, `most` of
    /// them or all.
    pub(super) fn number_ends(
        &self,
        level: &NumberLevel,
        digest: &Digest,
        most: usize,
    ) -> Vec<SmallVec<[u8; 8]>> {
        let mut ends = Vec::new();
        self.find_value(level, digest, &mut |end| {
            ends.push(SmallVec::from_slice(end));
            ends.len() >= most
        });
        ends
    }

    /// Whether such an end is `wanted`, of which none is asked twice.
    fn find_value(
        &self,
        level: &NumberLevel,
        digest: &Digest,
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        let Part::Number(begun) = &digest.top else { return false };
        let mut known = FxHashSet::default();
        level.atoms.iter().any(|atom| {
            let cursor = NumberCursor { lex: level.lex.clone(), atom: atom.state };
            cursor.find_end(&self.numbers, begun, &mut |text| {
                known.insert(self.hashes.number(text)) && wanted(&text[begun.len()..])
            })
        })
    }

    /// The end of the number at the top and what follows it by `goes_on`, where the byte in between
    /// does not end an item that has come.
    pub(super) fn other_number(
        &self,
        config: &Config,
        goes_on: impl Fn(&Config) -> Option<u8>,
    ) -> Option<(Vec<u8>, Config)> {
        let (Level::Number(level), digest) = (&config.top, config.digest.as_ref()?) else {
            return None;
        };
        // Of more values than have come, one is another.
        let seen = |level: &Level| match level {
            Level::Array(array) => array.seen.len(),
            _ => 0,
        };
        let mut left = 1 + config.frames().map(seen).max().unwrap_or(0);
        let mut found = None;
        self.find_value(level, digest, &mut |end| {
            let mut next = config.clone();
            let mut steps = |byte: u8| self.step(&mut next, byte).unwrap_or(false);
            if end.iter().all(|&byte| steps(byte))
                && let Some(byte) = goes_on(&next)
                && self.step(&mut next, byte).unwrap_or(false)
            {
                found = Some(([end, &[byte]].concat(), next));
            }
            left -= 1;
            found.is_some() || left == 0
        });
        found
    }
}

/// Whether a raw character that is perhaps pending can be completed so that the text is fresh.
fn fresh_end(at: TextState, bytes: &mut Vec<u8>, fresh: &impl Fn(&[u8]) -> bool) -> bool {
    let Some((low, high)) = at.raw_next() else { return fresh(bytes) };
    (low..=high).any(|byte| {
        let (mut decoder, mut found) = (Decoder { text: at, count: 0, len: 0 }, false);
        decoder.read(byte, true);
        bytes.push(byte);
        found |= fresh_end(decoder.text, bytes, fresh);
        bytes.pop();
        found
    })
}

fn chars_of(ranges: &[(u32, u32)]) -> impl Iterator<Item = char> + '_ {
    ranges.iter().flat_map(|&(low, high)| low..=high).filter_map(char::from_u32)
}
