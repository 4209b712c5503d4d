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

mod completion;
mod expected;
mod fingerprint;
mod gap;
mod info;
mod level;
mod number;
mod object;
mod spelling;
mod string;
mod table;
#[cfg(test)]
mod tests;

use crate::base::{Chain, SmallBits};
use crate::options::{Escapes, SurfacePolicy};
use crate::values::{
    ArrayId, Emptiness, Literals, NumberId, ObjectId, SetId, Sets, StringId, Strings,
};
use gap::Gaps;
use info::{ArrayInfo, ObjectInfo};
use level::{Atoms, add_atom, begin_atoms};
use number::{Lex, NumberAtom, NumberInfo};
use object::{KeyStep, ObjectAtom};
use std::sync::Arc;
use string::StringStep;

pub(crate) use crate::language::Full;
pub(crate) use completion::Costs;
pub(crate) use fingerprint::{Clip, Fingerprint};
pub(crate) use gap::is_blank;
pub(crate) use level::{
    ArrayLevel, KeyLevel, Level, LiteralLevel, NumberLevel, ObjectLevel, Phase, StringLevel,
    ValueLevel,
};
pub(crate) use number::{NumberCursor, is_number_byte};
pub(crate) use object::sees_prefix;
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
    strings: Vec<Strings>,
    arrays: Vec<ArrayInfo>,
    objects: Vec<ObjectInfo>,
    tables: NameTables,
    emptiness: Emptiness,
}

/// A configuration: the value in progress and the containers around it. A clone copies the top
/// level and shares the rest.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) top: Level,
    /// The containers around it, each as it will be once its member is complete.
    below: Chain<Level>,
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
            .map(|i| NumberInfo::new(sets.number(NumberId::new(i))))
            .collect();
        let strings =
            (0..sets.string_count()).map(|i| sets.strings(StringId::new(i)).clone()).collect();
        let arrays = (0..sets.array_count())
            .map(|i| ArrayInfo::new(sets.array(ArrayId::new(i)), &emptiness))
            .collect();
        let objects = (0..sets.object_count())
            .map(|i| ObjectInfo::new(sets.object(ObjectId::new(i)), &emptiness, policy.order))
            .collect();
        Automaton {
            minimal: policy.escapes == Escapes::Minimal,
            gaps: Gaps::new(policy),
            numbers,
            strings,
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

    /// The length range of a candidate into which every text goes on, whatever it is, as long as
    /// the range is kept; `None` for others.
    pub(crate) fn free_lengths(&self, atom: &StringAtom) -> Option<(u64, Option<u64>)> {
        match (self.strings(atom.id), atom.at) {
            (Strings::Free { min, max }, _) => Some((*min, *max)),
            (Strings::Language(language), string::At::Language(state)) => {
                language.is_universal(state).then_some((0, None))
            }
            _ => None,
        }
    }

    /// Whether every text may go on from where a candidate stands: none of them ends its life.
    pub(crate) fn never_dies(&self, atom: &StringAtom) -> bool {
        match (self.strings(atom.id), atom.at) {
            (Strings::Free { max, .. }, _) => max.is_none(),
            (Strings::Language(language), string::At::Language(state)) => {
                language.never_dies(state)
            }
            _ => false,
        }
    }

    pub(crate) fn is_volatile(&self, object: &ObjectLevel) -> bool {
        object.is_volatile(&self.objects)
    }

    /// The configuration before the first byte.
    pub(crate) fn start(&self) -> Config {
        let mut choices = Atoms::new();
        add_atom(&mut choices, &SmallBits::single(0), self.sets.root());
        let value = ValueLevel { choices, colon: false, gap: self.gaps.lead };
        Config { top: Level::Value(value), below: Chain::default() }
    }

    /// Moves `config` by one byte. `Ok(false)`: no document goes on so, and `config` is spoiled.
    pub(crate) fn step(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        match &mut config.top {
            Level::Value(level) => match self.step_value(level, byte) {
                ValueStep::Stay(live) => return Ok(live),
                ValueStep::Enter(level) => config.top = level,
            },
            Level::Literal(level) => {
                if level.word[usize::from(level.read)] != byte {
                    return Ok(false);
                }
                level.read += 1;
                if usize::from(level.read) == level.word.len() {
                    let tags = level.tags.clone();
                    self.finish(config, &tags);
                }
            }
            Level::Number(level) => {
                if is_number_byte(byte) {
                    return Ok(level.step(&self.numbers, byte));
                }
                return self.end_number(config, byte);
            }
            Level::String(level) => match level.step(&self.strings, byte, self.minimal)? {
                StringStep::Dead => return Ok(false),
                StringStep::Stay => {}
                StringStep::Closed(tags) => self.finish(config, &tags),
            },
            Level::Key(_) => return Ok(self.step_key(config, byte)),
            Level::Object(_) => return Ok(self.step_object(config, byte)),
            Level::Array(_) => return Ok(self.step_array(config, byte)),
            Level::End(gap) => return Ok(is_blank(byte) && gap.take(byte)),
        }
        Ok(true)
    }

    /// The only byte that may come next, and the configuration behind it; `None` where several may.
    pub(crate) fn only_step(&self, config: &Config) -> Option<(u8, Config)> {
        let mut only = None;
        for byte in 0..=255u8 {
            let mut next = config.clone();
            if self.step(&mut next, byte).ok()? && only.replace((byte, next)).is_some() {
                return None;
            }
        }
        only
    }

    /// Moves `config` by `bytes`; how many of them were taken before one was refused.
    pub(crate) fn steps(&self, config: &mut Config, bytes: &[u8]) -> Result<Option<usize>, Full> {
        for (offset, &byte) in bytes.iter().enumerate() {
            if !self.step(config, byte)? {
                return Ok(Some(offset));
            }
        }
        Ok(None)
    }

    /// Whether the document may end here.
    pub(crate) fn can_end(&self, config: &Config) -> bool {
        match &config.top {
            Level::End(_) => true,
            Level::Number(level) => {
                config.below.is_empty() && !level.complete(&self.numbers).is_empty()
            }
            _ => false,
        }
    }

    /// The value in progress is complete for the parent's atoms in `tags`: they live on.
    fn finish(&self, config: &mut Config, tags: &SmallBits) {
        let Some(mut parent) = config.below.pop() else {
            config.top = Level::End(self.gaps.tail);
            return;
        };
        fn keep<T>(atoms: &mut Atoms<T>, tags: &SmallBits) {
            let mut index = 0;
            atoms.retain(|_| {
                index += 1;
                tags.contains(index - 1)
            });
        }
        match &mut parent {
            Level::Object(object) if object.atoms.len() > 1 => keep(&mut object.atoms, tags),
            Level::Array(array) if array.atoms.len() > 1 => keep(&mut array.atoms, tags),
            _ => {}
        }
        config.top = parent;
    }

    /// A number ends at the first byte that is not its own; the container reads that byte.
    fn end_number(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        let Some(after) = self.close_number(config) else { return Ok(false) };
        *config = after;
        self.step(config, byte)
    }

    fn step_value(&self, level: &mut ValueLevel, byte: u8) -> ValueStep {
        if is_blank(byte) {
            return ValueStep::Stay(level.gap.take(byte));
        }
        if level.gap.need {
            return ValueStep::Stay(false);
        }
        if level.colon {
            (level.colon, level.gap) = (false, self.gaps.separator);
            return ValueStep::Stay(byte == b':');
        }
        self.enter(&level.choices, byte).map_or(ValueStep::Stay(false), ValueStep::Enter)
    }

    /// The level of a value of which `byte` is the first byte.
    fn enter(&self, choices: &Atoms<SetId>, byte: u8) -> Option<Level> {
        let sets = || choices.iter().map(|choice| (&choice.tags, self.sets.get(choice.state)));
        match byte {
            b'{' => {
                let shapes = sets().map(|(tags, set)| (tags, set.objects.as_slice()));
                let atoms = begin_atoms(shapes, |id| {
                    let info = &self.objects[id.index()];
                    self.emptiness.has_object(id).then(|| ObjectAtom::new(id, info))
                });
                let level = ObjectLevel::new(atoms, self.gaps.between);
                (!level.atoms.is_empty()).then_some(Level::Object(level))
            }
            b'[' => {
                let shapes = sets().map(|(tags, set)| (tags, set.arrays.as_slice()));
                let atoms = begin_atoms(shapes, |id| self.emptiness.has_array(id).then_some(id));
                let gap = self.gaps.between;
                let level = ArrayLevel { phase: Phase::First, gap, count: 0, atoms };
                (!level.atoms.is_empty()).then_some(Level::Array(level))
            }
            b'"' => {
                let shapes = sets().map(|(tags, set)| (tags, set.strings.as_slice()));
                let atoms = begin_atoms(shapes, |id| Some(StringAtom::new(id, self.strings(id))));
                let level = StringLevel { decoder: Decoder::START, atoms };
                (!level.atoms.is_empty()).then_some(Level::String(level))
            }
            b'-' | b'0'..=b'9' => {
                let shapes = sets().map(|(tags, set)| (tags, set.numbers.as_slice()));
                let atoms =
                    begin_atoms(shapes, |id| Some(NumberAtom::new(id, &self.numbers[id.index()])));
                let mut level = NumberLevel { lex: Lex::START, atoms };
                level.step(&self.numbers, byte).then_some(Level::Number(level))
            }
            _ => {
                let (word, literal): (&[u8], _) = match byte {
                    b'n' => (b"null", Literals::NULL),
                    b't' => (b"true", Literals::TRUE),
                    b'f' => (b"false", Literals::FALSE),
                    _ => return None,
                };
                let mut tags = SmallBits::default();
                let having = sets().filter(|(_, set)| set.literals.contains(literal));
                having.for_each(|(of, _)| tags.union(of));
                let level = LiteralLevel { tags, word, read: 1 };
                (!level.tags.is_empty()).then_some(Level::Literal(level))
            }
        }
    }

    fn step_object(&self, config: &mut Config, byte: u8) -> bool {
        let Level::Object(object) = &mut config.top else { return false };
        if is_blank(byte) {
            return object.gap.take(byte);
        }
        if object.gap.need {
            return false;
        }
        match (byte, object.phase) {
            (b'}', Phase::First | Phase::Next) => {
                let tags = object.close(&self.objects);
                if tags.is_empty() {
                    return false;
                }
                self.finish(config, &tags);
                true
            }
            (b',', Phase::Next) => {
                (object.phase, object.gap) = (Phase::Comma, self.gaps.separator);
                object.keep_takers(&self.objects)
            }
            (b'"', Phase::First | Phase::Comma) => {
                if !object.keep_takers(&self.objects) {
                    return false;
                }
                let key = Level::Key(object.open_key(&self.objects, &self.tables));
                let object = std::mem::replace(&mut config.top, key);
                config.below.push(object);
                true
            }
            _ => false,
        }
    }

    fn step_key(&self, config: &mut Config, byte: u8) -> bool {
        let Some(Level::Object(object)) = config.below.top() else {
            return false;
        };
        let Level::Key(key) = &mut config.top else { return false };
        let table = self.tables.get(key.table);
        match key.step(object, &self.objects, table, byte, self.minimal) {
            KeyStep::Dead => false,
            KeyStep::Stay => true,
            KeyStep::Closed => {
                let entry = key.entry(table);
                let gap = self.gaps.between;
                let closed = object.close_key(&self.objects, Some(&key.key), entry, gap);
                let Some((object, value)) = closed else { return false };
                config.below.discard();
                config.below.push(Level::Object(object));
                config.top = Level::Value(value);
                true
            }
        }
    }

    /// The configuration behind a key that no candidate names, whatever it is, closed: `None`
    /// where no candidate takes such keys.
    pub(crate) fn close_other_key(&self, config: &Config) -> Option<Config> {
        let Some(Level::Object(object)) = config.parent() else { return None };
        let (object, value) = object.close_key(&self.objects, None, None, self.gaps.between)?;
        let mut next = Config { top: Level::Value(value), below: config.below.clone() };
        next.below.discard();
        next.below.push(Level::Object(object));
        Some(next)
    }

    /// Whether the key at the top is, as it stands, a name of some candidate or has come already.
    pub(crate) fn is_known_key(&self, config: &Config) -> bool {
        let (Level::Key(key), Some(Level::Object(object))) = (&config.top, config.parent()) else {
            return false;
        };
        key.entry(self.table(key)).is_some() || object.has_seen(&key.key)
    }

    /// Whether the key at the top can become such a key.
    pub(crate) fn may_be_known_key(&self, config: &Config) -> bool {
        let (Level::Key(key), Some(Level::Object(object))) = (&config.top, config.parent()) else {
            return false;
        };
        key.lo < key.hi || sees_prefix(&object.seen, &key.key)
    }

    /// The configuration behind the number at the top, if it may end there and is inside a
    /// container.
    pub(crate) fn close_number(&self, config: &Config) -> Option<Config> {
        let Level::Number(level) = &config.top else { return None };
        let mut tags = SmallBits::default();
        level.complete(&self.numbers).iter().for_each(|atom| tags.union(&atom.tags));
        (!tags.is_empty()).then(|| self.close_scalar(config, &tags))
    }

    /// Moves a number's candidate by one of its bytes.
    pub(crate) fn step_number(&self, cursor: &mut NumberCursor, byte: u8) -> bool {
        cursor.step(&self.numbers, byte)
    }

    /// Whether a number's candidate may end.
    pub(crate) fn ends_number(&self, cursor: &NumberCursor) -> bool {
        cursor.is_complete(&self.numbers)
    }

    /// The configuration behind the scalar at the top, if it ends for the parent's atoms in `tags`.
    pub(crate) fn close_scalar(&self, config: &Config, tags: &SmallBits) -> Config {
        let mut next = config.clone();
        self.finish(&mut next, tags);
        next
    }

    /// Whether `entry`-less keys aside, the object below the key at the top allows this name now.
    pub(crate) fn allows_entry(&self, object: &ObjectLevel, entry: &table::Entry) -> bool {
        object.allows_entry(&self.objects, entry)
    }

    fn step_array(&self, config: &mut Config, byte: u8) -> bool {
        let Level::Array(array) = &mut config.top else { return false };
        if is_blank(byte) {
            return array.gap.take(byte);
        }
        if array.gap.need {
            return false;
        }
        let infos = &self.arrays;
        match (byte, array.phase) {
            (b']', Phase::First | Phase::Next) => {
                let mut tags = SmallBits::default();
                for atom in &array.atoms {
                    if array.count >= infos[atom.state.index()].min {
                        tags.union(&atom.tags);
                    }
                }
                if tags.is_empty() {
                    return false;
                }
                self.finish(config, &tags);
                true
            }
            (b',', Phase::Next) => {
                let count = array.count;
                array.atoms.retain(|atom| infos[atom.state.index()].takes(count));
                (array.phase, array.gap) = (Phase::Comma, self.gaps.separator);
                !array.atoms.is_empty()
            }
            (_, Phase::First | Phase::Comma) => self.begin_item(config, byte),
            _ => false,
        }
    }

    /// `byte` is the first of an item.
    fn begin_item(&self, config: &mut Config, byte: u8) -> bool {
        let Level::Array(array) = &mut config.top else { return false };
        let count = array.count;
        array.atoms.retain(|atom| self.arrays[atom.state.index()].takes(count));
        let mut choices = Atoms::new();
        for (position, atom) in array.atoms.iter().enumerate() {
            let set = self.arrays[atom.state.index()].item(count);
            add_atom(&mut choices, &SmallBits::single(position), set);
        }
        let Some(item) = self.enter(&choices, byte) else { return false };
        array.count = count.saturating_add(1);
        (array.phase, array.gap) = (Phase::Next, self.gaps.between);
        let array = std::mem::replace(&mut config.top, item);
        config.below.push(array);
        true
    }
}

/// What one byte does where a value is expected.
enum ValueStep {
    /// Still before the value, if `true`; refused, if not.
    Stay(bool),
    /// The value has begun.
    Enter(Level),
}
