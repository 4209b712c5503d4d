//! What the mask layer asks of an automaton beside steps: what is uniform here, and where a
//! shortcut leads.

use super::level::{KeyLevel, ObjectLevel, StringLevel};
use super::number::{DigitRun, NumberCursor};
use super::object::{KeyStep, seen_bytes, sees_prefix};
use super::string::{At, Decoder, Reading, StringAtom};
use super::table::Entry;
use super::{Automaton, Config, Full, Level};
use crate::base::{ByteSet, SmallBits};
use crate::values::{ObjectId, SetId, Strings};

/// How a text ends, as far as what follows depends on it: for a key, the set of its value, and of
/// which combination it is where that says what the value counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending(SetId, usize);

impl Automaton {
    /// The length range of a candidate into which every text goes on, whatever it is, as long as
    /// the range is kept; `None` for others.
    pub(crate) fn free_lengths(&self, atom: &StringAtom) -> Option<(u64, Option<u64>)> {
        match (self.strings(atom.id), atom.at) {
            (Strings::Free { min, max }, _) => Some((*min, *max)),
            (Strings::Language(language), At::Language(state)) => {
                language.is_universal(state).then_some((0, None))
            }
            _ => None,
        }
    }

    /// Whether a candidate is one of finitely many texts.
    pub(crate) fn is_finite_text(&self, atom: &StringAtom) -> bool {
        matches!(self.strings(atom.id), Strings::Finite(_))
    }

    /// The most characters of a candidate of which nothing but the length matters.
    pub(crate) fn free_text(&self, atom: &StringAtom) -> Option<Option<u64>> {
        match self.strings(atom.id) {
            Strings::Free { max, .. } => Some(*max),
            _ => None,
        }
    }

    /// Whether every text may go on from where a candidate stands: none of them ends its life.
    pub(crate) fn never_dies(&self, atom: &StringAtom) -> bool {
        match (self.strings(atom.id), atom.at) {
            (Strings::Free { max, .. }, _) => max.is_none(),
            (Strings::Language(language), At::Language(state)) => language.never_dies(state),
            _ => false,
        }
    }

    pub(crate) fn is_volatile(&self, object: &ObjectLevel) -> bool {
        object.is_volatile(&self.objects)
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

    /// The configuration behind the key at the top, closed as `key`. `None` where no candidate takes
    /// it.
    pub(crate) fn close_key(&self, config: &Config, key: &KeyLevel) -> Option<Config> {
        let mut next = self.closed_key(config, key)?;
        self.settle_items(&mut next).then_some(next)
    }

    /// The same, whatever that leaves of items that must differ.
    pub(super) fn closed_key(&self, config: &Config, key: &KeyLevel) -> Option<Config> {
        let Some(Level::Object(object)) = config.parent() else { return None };
        let entry = key.entry(self.table(key));
        let (object, value) = object.close_key(&self.objects, key, entry, self.gaps.between)?;
        let (below, digest) = (config.below.clone(), config.digest.clone());
        let relaxed = config.relaxed;
        let mut next = Config { top: Level::Value(value), below, digest, relaxed };
        next.below.discard();
        self.digest_key(&mut next, &key.key);
        next.below.push(Level::Object(object));
        Some(next)
    }

    /// Whether no string goes on with a byte where a text stands, whatever its candidates are: a
    /// cheap question before a step.
    pub(crate) fn refuses_text(&self, text: &StringLevel, byte: u8) -> bool {
        let mut decoder = text.decoder;
        decoder.read(byte, self.minimal) == Reading::Refused
    }

    /// Moves a key of `object` by one byte.
    pub(crate) fn step_key_level(
        &self,
        object: &ObjectLevel,
        key: &mut KeyLevel,
        byte: u8,
    ) -> Result<KeyStep, Full> {
        let table = self.tables.get(key.table);
        key.step(object, &self.objects, &self.strings, table, byte, self.minimal)
    }

    /// How the string or key at the top of `config` ends for a candidate that serves the atoms below
    /// in `tags` and stands at `atom`; `None` where it cannot end there. A key is none that a
    /// candidate names.
    pub(crate) fn ending(
        &self,
        config: &Config,
        tags: &SmallBits,
        atom: &StringAtom,
        decoder: &Decoder,
    ) -> Option<Ending> {
        if let (Level::Key(_), Some(Level::Object(object))) = (&config.top, config.parent()) {
            let position = tags.iter().next()?;
            let info = &self.objects[object.atoms[position].state.id.index()];
            let other = info.other.as_ref()?;
            let counts = info.members.is_some();
            let combination = if counts { other.combination(atom.at)? } else { 0 };
            return Some(Ending(other.set(atom.at)?, combination));
        }
        atom.accepts(self.strings(atom.id), decoder).then_some(Ending(SetId::ANY, 0))
    }

    /// Whether each candidate that has rules takes more keys than it names, have come, and `some`
    /// more, so that it does not run out of them.
    pub(crate) fn outlasts(&self, object: &ObjectLevel, some: u64) -> bool {
        let seen = object.seen.as_ref().map_or(0, |seen| seen.size());
        object.atoms.iter().all(|atom| {
            let info = &self.objects[atom.state.id.index()];
            let known = (seen + info.names.len()) as u64;
            let other = info.other.as_ref();
            other.is_none_or(|other| other.outnumbers(known.saturating_add(some)))
        })
    }

    /// Whether every text goes on from where a key stands, and it is closed alike whatever comes.
    pub(crate) fn is_free_key(&self, key: &KeyLevel) -> bool {
        let any = |atom: &StringAtom| self.free_lengths(atom) == Some((0, None));
        let mut atoms = key.string.atoms.iter();
        key.free || key.is_open() && atoms.all(|atom| any(&atom.state))
    }

    /// The configuration inside a key whose object knows of the keys seen only that there are some.
    /// `None` where nothing depends on them alone. `some`: as many further keys may come.
    pub(crate) fn forget_keys(&self, config: &Config, some: u64) -> Option<Config> {
        let (Level::Key(_), Some(Level::Object(object))) = (&config.top, config.parent()) else {
            return None;
        };
        if self.tracks(config)
            || object.is_forgetful()
            || !object.depends_on_seen(&self.objects)
            || !self.outlasts(object, some)
        {
            return None;
        }
        let mut next = config.clone();
        next.below.discard();
        next.below.push(Level::Object(object.forgetful()));
        Some(next)
    }

    /// Whether keys have come in an object that has rules for them: over a poor vocabulary it depends
    /// on each of them whether one that can be spelled is left.
    pub(crate) fn has_seen_ruled_keys(&self, config: &Config) -> bool {
        std::iter::once(&config.top).chain(config.frames()).any(|level| {
            let Level::Object(object) = level else { return false };
            let is_ruled = |id: ObjectId| self.objects[id.index()].chosen().is_some();
            object.seen.is_some() && object.atoms.iter().any(|atom| is_ruled(atom.state.id))
        })
    }

    /// Whether a key, as it stands, is a name of some candidate or has come already.
    pub(crate) fn is_known_key(&self, object: &ObjectLevel, key: &KeyLevel) -> bool {
        key.entry(self.table(key)).is_some() || object.has_seen(&key.key)
    }

    /// Whether a key can become such a key.
    pub(crate) fn may_be_known_key(&self, object: &ObjectLevel, key: &KeyLevel) -> bool {
        key.lo < key.hi || sees_prefix(&object.seen, &key.key)
    }

    /// The raw bytes with which a key can go on to become such a key.
    pub(crate) fn known_key_bytes(&self, object: &ObjectLevel, key: &KeyLevel) -> ByteSet {
        let mut bytes = seen_bytes(&object.seen, &key.key);
        let depth = key.key.len();
        let mut names = &self.table(key).entries[key.lo as usize..key.hi as usize];
        while let Some(first) = names.first() {
            let byte = first.text.as_bytes().get(depth).copied();
            byte.into_iter().for_each(|byte| bytes.insert(byte));
            let at = |entry: &Entry| entry.text.as_bytes().get(depth).copied();
            names = &names[names.partition_point(|entry| at(entry) <= byte)..];
        }
        bytes
    }

    /// The configuration behind the number at the top, if it may end there.
    pub(crate) fn close_number(&self, config: &Config) -> Option<Config> {
        let Level::Number(level) = &config.top else { return None };
        let tags = level.complete(&self.numbers);
        let mut next = config.clone();
        let live = !tags.is_empty() && self.finish(&mut next, &tags);
        (live && self.settle_items(&mut next)).then_some(next)
    }

    /// Moves a number's candidate by one of its bytes.
    pub(crate) fn step_number(&self, cursor: &mut NumberCursor, byte: u8) -> bool {
        cursor.step(&self.numbers, byte)
    }

    /// How a number goes on with digits, whichever they are; `None` where that is no plain matter.
    pub(crate) fn digit_run(&self, cursor: &NumberCursor) -> Option<DigitRun> {
        cursor.digit_run(&self.numbers)
    }

    /// Whether a number's candidate may end.
    pub(crate) fn ends_number(&self, cursor: &NumberCursor) -> bool {
        cursor.is_complete(&self.numbers)
    }

    /// The configuration behind the scalar at the top, if it ends for the parent's atoms in `tags`
    /// and its value does not matter.
    pub(crate) fn close_scalar(&self, config: &Config, tags: &SmallBits) -> Config {
        let mut next = config.clone();
        self.finish(&mut next, tags);
        self.mark_short(&mut next);
        next
    }

    /// Whether some candidate of an object allows this name now.
    pub(crate) fn allows_entry(&self, object: &ObjectLevel, entry: &Entry) -> bool {
        object.allows_entry(&self.objects, entry)
    }
}
