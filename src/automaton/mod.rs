//! The byte automaton: a lazy, deterministic visibly pushdown automaton over JSON text.
//!
//! In: [`Sets`]. Out: [`Automaton`], which moves a [`Config`] by one byte or refuses it.
//!
//! ```text
//!   Config = top level + stack of frames        {"a": [1, tr
//!   ┌────────────┐
//!   │ Literal tr │  top: the value in progress
//!   ├────────────┤
//!   │ Array 2    │  frames: containers, each with its registers as they are
//!   │ Object {a} │  once the member above it is complete
//!   └────────────┘
//! ```
//!
//! A level holds its candidates (*atoms*): the shapes that the text so far still fits, nearly
//! always one. Each says by its tags which atoms of the container below it serves; when the value
//! ends, the tags of those that accept it decide which of the container's atoms live on. So a union
//! of shapes is stepped as one, and no search is ever needed.
//!
//! Invariants:
//! * Every atom can be completed; one that cannot is dropped in the step that made it so. A
//!   configuration that a step returns is never a dead end.
//! * A step computes; nothing is interned or memoised here but the merged name tables and the
//!   languages' own lazy states. Nothing shared grows with a document.
//! * Member levels know nothing of the keys of the object below them.
//!
//! Rejected: interned states with transition tables. Cursors make interning superfluous, and it was
//! most of the memory.

mod array;
mod chain;
mod completion;
mod expected;
mod fingerprint;
mod gap;
mod info;
mod kinds;
mod level;
mod members;
mod number;
mod object;
mod probe;
mod relaxed;
mod room;
mod spelling;
mod step;
mod string;
mod table;
#[cfg(test)]
mod tests;
mod unique;

use crate::base::Chain;
use crate::options::{Escapes, SurfacePolicy};
use crate::values::{ArrayId, Emptiness, NumberId, ObjectId, Sets, StringId, Strings};
use gap::Gaps;
use info::{ArrayInfo, ObjectInfo};
use level::{Tags, merge_atoms};
use number::{Lex, NumberInfo};
use relaxed::Relaxed;
use room::ObjectRoom;
use std::sync::Arc;
use unique::{Digest, Hashes};

pub(crate) use crate::language::Full;
pub(crate) use chain::CharChain;
pub(crate) use completion::Costs;
pub(crate) use fingerprint::{Clip, Fingerprint};
pub(crate) use level::{
    ArrayLevel, Atom, KeyLevel, Level, LiteralLevel, NumberLevel, ObjectLevel, Phase, StringLevel,
    ValueLevel,
};
pub(crate) use number::{NumberCursor, is_number_byte};
pub(crate) use object::KeyStep;
pub(crate) use probe::Ending;
pub(crate) use spelling::{Unspellable, UnspellableWhat};
pub(crate) use string::{Decoder, Reading, StringAtom};
pub(crate) use table::{NameTable, NameTables};

/// The automaton of one grammar.
#[derive(Debug)]
pub(crate) struct Automaton {
    sets: Arc<Sets>,
    minimal: bool,
    gaps: Gaps,
    numbers: Vec<NumberInfo>,
    number_start: Lex,
    /// Those of the sets, then those of keys.
    strings: Vec<Strings>,
    arrays: Vec<ArrayInfo>,
    objects: Vec<ObjectInfo>,
    tables: NameTables,
    emptiness: Emptiness,
    /// Some array wants unique items.
    has_unique: bool,
    /// Some of them want more than that the last byte of an item is refused.
    has_watched: bool,
    /// By object: its parts of which there are many values.
    object_rooms: Vec<ObjectRoom>,
    hashes: Hashes,
}

/// A configuration: the value in progress and the containers around it. A clone copies the top
/// level and shares the rest.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) top: Level,
    /// The containers around it, each as it will be once its member is complete.
    below: Chain<Level>,
    /// The value in progress, where an array around it wants unique items.
    digest: Option<Arc<Digest>>,
    /// Present where it forgets which items have come.
    relaxed: Option<Relaxed>,
}

impl Config {
    /// The levels below the top, nearest first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Level> {
        self.below.iter()
    }

    /// The container around the top level.
    pub(crate) fn parent(&self) -> Option<&Level> {
        self.below.top()
    }
}

impl Automaton {
    /// Makes the shapes of `sets` ready for stepping.
    pub(crate) fn new(sets: Arc<Sets>, emptiness: Emptiness, policy: &SurfacePolicy) -> Automaton {
        let numbers = (0..sets.number_count())
            .map(|i| NumberInfo::new(sets.number(NumberId::new(i)), policy.numbers))
            .collect::<Vec<_>>();
        let registers = numbers.iter().any(NumberInfo::registers);
        let mut strings: Vec<Strings> =
            (0..sets.string_count()).map(|i| sets.strings(StringId::new(i)).clone()).collect();
        let free = StringId::new(strings.len());
        strings.push(Strings::Free { min: 0, max: None });
        let hashes = Hashes::new();
        let arrays: Vec<ArrayInfo> = (0..sets.array_count())
            .map(ArrayId::new)
            .map(|id| ArrayInfo::new(&sets, id, &emptiness, hashes))
            .collect();
        let objects: Vec<ObjectInfo> = (0..sets.object_count())
            .map(ObjectId::new)
            .map(|id| ObjectInfo::new(&sets, id, &emptiness, policy.order, &mut strings, free))
            .collect();
        let has_watched = arrays.iter().any(|array| array.watched);
        let rooms = objects.iter().enumerate().take_while(|_| has_watched);
        let rooms = rooms
            .map(|(index, info)| ObjectRoom::new(&sets, ObjectId::new(index), info, &emptiness));
        Automaton {
            has_watched,
            object_rooms: rooms.collect(),
            minimal: policy.escapes == Escapes::Minimal,
            gaps: Gaps::new(policy),
            number_start: if registers { Lex::registering() } else { Lex::START },
            numbers,
            strings,
            has_unique: arrays.iter().any(|array| array.unique),
            hashes,
            arrays,
            objects,
            tables: NameTables::default(),
            emptiness,
            sets,
        }
    }

    pub(crate) fn sets(&self) -> &Arc<Sets> {
        &self.sets
    }

    pub(crate) fn is_minimal(&self) -> bool {
        self.minimal
    }

    /// How many merged name tables there are: the only thing here that is made while decoding.
    pub(crate) fn table_count(&self) -> usize {
        self.tables.len()
    }

    pub(crate) fn table(&self, key: &KeyLevel) -> &NameTable {
        self.tables.get(key.table)
    }

    pub(crate) fn strings(&self, id: StringId) -> &Strings {
        &self.strings[id.index()]
    }

    /// The lexer before a number.
    fn number_start(&self) -> Lex {
        self.number_start.clone()
    }

    /// The configuration before the first byte.
    pub(crate) fn start(&self) -> Config {
        let choices = merge_atoms(std::iter::once((self.sets.root(), Tags::One(0))));
        let value = ValueLevel { choices, colon: false, gap: self.gaps.lead };
        Config { top: Level::Value(value), below: Chain::default(), digest: None, relaxed: None }
    }
}
