//! One byte further: control decides, registers guard.

use super::level::{Atoms, begin_atoms};
use super::number::{NumberAtom, is_number_byte};
use super::object::{KeyStep, ObjectAtom};
use super::string::{Decoder, Reading, StringAtom, StringStep};
use super::{
    ArrayLevel, Automaton, Config, Full, Level, LiteralLevel, NumberLevel, ObjectLevel, Phase,
    StringLevel, ValueLevel,
};
use crate::base::{SmallBits, is_blank};
use crate::values::{Literals, SetId};

/// What one byte does where a value is expected.
enum ValueStep {
    /// Still before the value, if `true`; refused, if not.
    Stay(bool),
    /// The value has begun.
    Enter(Level),
}

impl Automaton {
    /// Moves `config` by one byte. `Ok(false)`: no document goes on so, and `config` is spoiled.
    pub(crate) fn step(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        Ok(self.step_byte(config, byte)? && self.settle_items(config))
    }

    /// The same, arrays and objects aside that must differ from others and perhaps no longer can.
    pub(super) fn step_byte(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        match &mut config.top {
            Level::Value(level) => match self.step_value(level, byte) {
                ValueStep::Stay(live) => return Ok(live),
                ValueStep::Enter(level) => {
                    config.top = level;
                    config.note_entered();
                    self.begin_value(config, byte);
                }
            },
            Level::Literal(level) => {
                if level.word[usize::from(level.read)] != byte {
                    return Ok(false);
                }
                level.read += 1;
                if usize::from(level.read) == level.word.len() {
                    let tags = level.tags.clone();
                    return Ok(self.finish(config, &tags));
                }
            }
            Level::Number(level) => {
                if is_number_byte(byte) {
                    let live = level.step(&self.numbers, byte);
                    if config.digest.is_none() || !live {
                        config.note_changed();
                        self.mark_spent(config);
                        return Ok(live);
                    }
                    self.digest_number(config, byte);
                    return Ok(self.drop_spent(config));
                }
                return self.end_number(config, byte);
            }
            Level::String(level) => {
                let mut before = level.decoder;
                match level.step(&self.strings, byte, self.minimal)? {
                    StringStep::Dead => return Ok(false),
                    StringStep::Stay if config.digest.is_none() => self.mark_spent(config),
                    StringStep::Stay => {
                        if let Reading::Bytes(bytes, len) = before.read(byte, self.minimal) {
                            self.digest_text(config, &bytes[..usize::from(len)]);
                        }
                        return Ok(self.drop_spent(config));
                    }
                    StringStep::Closed(tags) => return Ok(self.finish(config, &tags)),
                }
            }
            Level::Key(_) => return self.step_key(config, byte),
            Level::Object(_) => return Ok(self.step_object(config, byte)),
            Level::Array(_) => return Ok(self.step_array(config, byte)),
            Level::End(gap) => return Ok(is_blank(byte) && gap.take(byte)),
        }
        Ok(true)
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

    /// The value in progress is complete for the parent's atoms in `tags`: they live on, but for
    /// those that have had it. `false` where none is left.
    pub(super) fn finish(&self, config: &mut Config, tags: &SmallBits) -> bool {
        let Some(mut parent) = config.below.pop() else {
            config.top = Level::End(self.gaps.tail);
            return true;
        };
        let array = if let Level::Array(array) = &parent { Some(array) } else { None };
        self.mark_closed(config, array);
        let mut kept = None;
        let chars = if let Level::String(level) = &config.top { level.decoder.count } else { 0 };
        if let Some(value) = self.end_value(config)
            && let Level::Array(array) = &mut parent
            && array.is_unique(&self.arrays)
        {
            let tags = array.see(&self.arrays, value, chars, tags);
            if tags.is_empty() {
                return false;
            }
            kept = Some(tags);
        }
        let tags = kept.as_ref().unwrap_or(tags);
        fn keep<T>(atoms: &mut Atoms<T>, tags: &SmallBits) {
            let mut index = 0;
            atoms.retain(|_| {
                index += 1;
                tags.contains(index - 1)
            });
        }
        match &mut parent {
            Level::Object(object) if object.atoms.len() > 1 => {
                keep(&mut object.atoms, tags);
                object.merge();
            }
            Level::Array(array) if array.atoms.len() > 1 => {
                keep(&mut array.atoms, tags);
                array.end_item(&self.arrays);
            }
            _ => {}
        }
        config.top = parent;
        true
    }

    /// A number ends at the first byte that is not its own; the container reads that byte.
    fn end_number(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        let Level::Number(level) = &config.top else { return Ok(false) };
        let tags = level.complete(&self.numbers);
        if tags.is_empty() {
            return Ok(false);
        }
        if !self.finish(config, &tags) {
            return Ok(false);
        }
        self.step_byte(config, byte)
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
                let atoms = begin_atoms(shapes, |id| self.array_atom(id));
                let level = ArrayLevel::new(atoms, self.gaps.between);
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
                let mut level = NumberLevel { lex: self.number_start(), atoms };
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
                self.finish(config, &tags)
            }
            (b',', Phase::Next) => {
                (object.phase, object.gap) = (Phase::Comma, self.gaps.separator);
                object.keep_takers(&self.objects)
            }
            (b'"', Phase::First | Phase::Comma) => {
                if !object.keep_takers(&self.objects) {
                    return false;
                }
                let key = Level::Key(object.open_key(&self.objects, &self.strings, &self.tables));
                let object = std::mem::replace(&mut config.top, key);
                config.below.push(object);
                config.note_pushed();
                true
            }
            _ => false,
        }
    }

    fn step_key(&self, config: &mut Config, byte: u8) -> Result<bool, Full> {
        let Some(Level::Object(object)) = config.below.top() else {
            return Ok(false);
        };
        let Level::Key(key) = &mut config.top else { return Ok(false) };
        Ok(match self.step_key_level(object, key, byte)? {
            KeyStep::Dead | KeyStep::Exhausted => false,
            KeyStep::Stay | KeyStep::Thinned => true,
            KeyStep::Closed => {
                let Level::Key(key) = &config.top else { return Ok(false) };
                self.closed_key(config, key).map(|next| *config = next).is_some()
            }
        })
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
                    if atom.state.can_close(&infos[atom.state.id.index()], array.count) {
                        tags.union(&atom.tags);
                    }
                }
                if tags.is_empty() {
                    return false;
                }
                self.finish(config, &tags)
            }
            (b',', Phase::Next) => {
                (array.phase, array.gap) = (Phase::Comma, self.gaps.separator);
                array.keep_takers(infos)
            }
            (_, Phase::First | Phase::Comma) => self.begin_item(config, byte),
            _ => false,
        }
    }

    /// `byte` is the first of an item.
    fn begin_item(&self, config: &mut Config, byte: u8) -> bool {
        let Level::Array(array) = &mut config.top else { return false };
        let choices = array.begin_item(&self.arrays);
        let Some(item) = self.enter(&choices, byte) else { return false };
        (array.phase, array.gap) = (Phase::Next, self.gaps.between);
        let array = std::mem::replace(&mut config.top, item);
        config.below.push(array);
        if !self.has_unique {
            return true;
        }
        config.note_pushed();
        self.mark_spent(config);
        self.begin_value(config, byte);
        self.drop_spent(config)
    }
}
