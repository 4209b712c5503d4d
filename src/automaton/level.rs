//! The levels of a configuration: control and registers of one value in progress.
//!
//! Control is what a mask depends on (kind, phase, cursor); registers are what grows with the
//! document (counts, names used, keys seen). Everything that all candidates share, because they
//! read the same bytes, stands in the level; what differs stands in its atoms.

use super::array::ArrayAtom;
use super::gap::Gap;
use super::number::{Lex, NumberAtom};
use super::object::ObjectAtom;
use super::string::{Decoder, StringAtom};
use super::table::TableId;
use super::unique::Items;
use crate::base::{ByteSet, Few, SmallBits, is_blank};
use crate::values::SetId;
use rpds::RedBlackTreeSetSync;
use smallvec::SmallVec;
use std::sync::Arc;

/// A candidate in a frame: one shape in progress, and which of the parent's atoms it serves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atom<T> {
    pub(crate) tags: SmallBits,
    pub(crate) state: T,
}

/// The candidates of a level; nearly always one.
pub(crate) type Atoms<T> = Few<Atom<T>>;

/// The candidates for states that serve the parent's atoms of these tags; equal states are one
/// candidate, which serves them all.
pub(crate) fn merge_atoms<'t, T: Ord>(states: impl Iterator<Item = (T, Tags<'t>)>) -> Atoms<T> {
    let mut atoms: Atoms<T> =
        states.map(|(state, tags)| Atom { tags: tags.into(), state }).collect();
    if atoms.len() > 1 {
        atoms.sort_by(|a, b| a.state.cmp(&b.state));
        atoms.dedup_by(|later, kept| {
            let same = later.state == kept.state;
            if same {
                kept.tags.union(&later.tags);
            }
            same
        });
    }
    atoms
}

/// Which of the parent's atoms a state serves.
pub(crate) enum Tags<'t> {
    One(usize),
    Of(&'t SmallBits),
}

impl From<Tags<'_>> for SmallBits {
    fn from(tags: Tags<'_>) -> SmallBits {
        match tags {
            Tags::One(position) => SmallBits::single(position),
            Tags::Of(tags) => tags.clone(),
        }
    }
}

/// The candidates that begin with a value, from the sets that it may be in: one for each shape that
/// has a `state`.
pub(crate) fn begin_atoms<'s, I: Copy + Ord + 's, T>(
    sets: impl Iterator<Item = (&'s SmallBits, &'s [I])>,
    state: impl Fn(I) -> Option<T>,
) -> Atoms<T> {
    let shapes = sets.flat_map(|(tags, shapes)| shapes.iter().map(move |&id| (id, Tags::Of(tags))));
    let begun = merge_atoms(shapes).into_iter();
    begun.filter_map(|Atom { tags, state: id }| Some(Atom { tags, state: state(id)? })).collect()
}

/// Keys that an object has and that its names do not account for.
pub(crate) type Seen = Option<RedBlackTreeSetSync<Arc<[u8]>>>;

/// One level: the value in progress, or a container below it.
#[derive(Clone, Debug)]
pub(crate) enum Level {
    Value(ValueLevel),
    Literal(LiteralLevel),
    Number(NumberLevel),
    String(StringLevel),
    Key(KeyLevel),
    Object(ObjectLevel),
    Array(ArrayLevel),
    /// The root value is complete.
    End(Gap),
}

impl Level {
    /// The whitespace that may come here, where any may.
    pub(crate) fn gap(&self) -> Option<Gap> {
        match self {
            Level::Value(level) => Some(level.gap),
            Level::Object(level) => Some(level.gap),
            Level::Array(level) => Some(level.gap),
            Level::End(gap) => Some(*gap),
            Level::Literal(_) | Level::Number(_) | Level::String(_) | Level::Key(_) => None,
        }
    }

    /// The bytes other than whitespace that can come between the parts of JSON, whatever the
    /// candidates are; none inside a scalar or key.
    pub(crate) fn first_bytes(&self) -> ByteSet {
        const COLON: ByteSet = ByteSet::of(b":");
        const VALUES: ByteSet = ByteSet::of(b"\"-0123456789[fnt{");
        const ITEMS: ByteSet = ByteSet::of(b"\"-0123456789[]fnt{");
        const MEMBERS: ByteSet = ByteSet::of(b"\"}");
        const MORE_MEMBERS: ByteSet = ByteSet::of(b",}");
        const KEY: ByteSet = ByteSet::of(b"\"");
        const MORE_ITEMS: ByteSet = ByteSet::of(b",]");
        match self {
            Level::Value(level) if level.colon => COLON,
            Level::Value(_) => VALUES,
            Level::Object(level) => match level.phase {
                Phase::First => MEMBERS,
                Phase::Next => MORE_MEMBERS,
                Phase::Comma => KEY,
            },
            Level::Array(level) => match level.phase {
                Phase::First => ITEMS,
                Phase::Next => MORE_ITEMS,
                Phase::Comma => VALUES,
            },
            _ => ByteSet::EMPTY,
        }
    }

    /// Whether a byte can come here, as far as that shows without the candidates: a cheap question
    /// before a step.
    pub(crate) fn may_take(&self, byte: u8) -> bool {
        match self {
            Level::Value(_) | Level::Object(_) | Level::Array(_) => {
                is_blank(byte) || self.first_bytes().contains(byte)
            }
            Level::End(_) => is_blank(byte),
            Level::Literal(_) | Level::Number(_) | Level::String(_) | Level::Key(_) => true,
        }
    }
}

/// A value is expected.
#[derive(Clone, Debug)]
pub(crate) struct ValueLevel {
    pub(crate) choices: Atoms<SetId>,
    /// A colon must come first.
    pub(crate) colon: bool,
    pub(crate) gap: Gap,
}

/// Inside `null`, `true` or `false`.
#[derive(Clone, Debug)]
pub(crate) struct LiteralLevel {
    pub(crate) tags: SmallBits,
    pub(crate) word: &'static [u8],
    /// How many bytes of it have been read.
    pub(crate) read: u8,
}

/// Inside a number. What has been read so far is lexically the same for all atoms.
#[derive(Clone, Debug)]
pub(crate) struct NumberLevel {
    pub(crate) lex: Lex,
    pub(crate) atoms: Atoms<NumberAtom>,
}

/// Inside a string, behind its opening quote.
#[derive(Clone, Debug)]
pub(crate) struct StringLevel {
    pub(crate) decoder: Decoder,
    pub(crate) atoms: Atoms<StringAtom>,
}

/// Inside a key: one cursor for all the candidates of the object below.
#[derive(Debug)]
pub(crate) struct KeyLevel {
    /// The key as a string. Its candidates are for keys that an object does not name, if one of them
    /// has rules for those; their tags are the object's candidates.
    pub(crate) string: StringLevel,
    /// Some candidates take any key that they do not name, and none has rules.
    pub(crate) free: bool,
    /// The key as decoded so far.
    pub(crate) key: SmallVec<[u8; 24]>,
    /// The names of the object's candidates, merged.
    pub(crate) table: TableId,
    /// The entries of the table that begin with `key`.
    pub(crate) lo: u32,
    pub(crate) hi: u32,
}

impl Clone for KeyLevel {
    /// The key's bytes are copied as a slice.
    fn clone(&self) -> KeyLevel {
        KeyLevel {
            string: self.string.clone(),
            free: self.free,
            key: SmallVec::from_slice(&self.key),
            table: self.table,
            lo: self.lo,
            hi: self.hi,
        }
    }
}

/// Where a container stands between its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// Behind the opening bracket.
    First,
    /// Behind a member or item.
    Next,
    /// Behind a comma.
    Comma,
}

/// Inside an object, between its parts.
#[derive(Clone, Debug)]
pub(crate) struct ObjectLevel {
    pub(crate) phase: Phase,
    pub(crate) gap: Gap,
    pub(crate) atoms: Atoms<ObjectAtom>,
    pub(crate) seen: Seen,
}

/// Inside an array, between its parts.
#[derive(Clone, Debug)]
pub(crate) struct ArrayLevel {
    pub(crate) phase: Phase,
    pub(crate) gap: Gap,
    /// Items begun.
    pub(crate) count: u64,
    pub(crate) atoms: Atoms<ArrayAtom>,
    /// The items so far, where a candidate wants them unique.
    pub(crate) seen: Items,
}
