//! What the mask layer asks of an automaton beside steps: what is uniform here, and where a
//! shortcut leads.

use super::level::ObjectLevel;
use super::number::NumberCursor;
use super::string::{At, StringAtom};
use super::table::Entry;
use super::{Automaton, Config, Level, sees_prefix};
use crate::base::SmallBits;
use crate::values::Strings;

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

    /// The configuration behind the number at the top, if it may end there.
    pub(crate) fn close_number(&self, config: &Config) -> Option<Config> {
        let Level::Number(level) = &config.top else { return None };
        let tags = level.complete(&self.numbers);
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

    /// Whether some candidate of an object allows this name now.
    pub(crate) fn allows_entry(&self, object: &ObjectLevel, entry: &Entry) -> bool {
        object.allows_entry(&self.objects, entry)
    }
}
