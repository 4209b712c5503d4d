//! Configurations that forget which items have come, for masks that other documents can use.
//!
//! In: a configuration inside arrays with unique items. Out: the same one, in which these arrays
//! take every item of their sets, and which *marks* each step where the other one may have refused
//! it. So what it allows without a mark is allowed, and the few tokens with a mark are tried out.
//! Arrays that begin later are as strict as ever.
//!
//! One mark needs no trial: where the first item that ends is the one in progress, ended as it
//! stands. Whether that has come is the same question for all tokens, or, inside a string, for all
//! that close it behind the same text.

use super::level::{ArrayLevel, StringLevel};
use super::string::{At, Decoder, StringAtom};
use super::unique::text_value;
use super::{Automaton, Clip, Config, Level};
use crate::base::SmallBits;
use crate::values::{SEEN_VALUES, StringId, Strings};

/// What a configuration that forgets keeps instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Relaxed {
    /// Levels, from the top on, that have begun since. Those below are the forgetful ones.
    new: u32,
    /// The value in progress is no longer what it was.
    changed: bool,
    /// An item as long as its set allows has come.
    long: bool,
    mark: Mark,
}

/// Where the configuration that does not forget may have refused a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mark {
    Nowhere,
    /// Only where the value in progress ended, as it stood.
    Close,
    Somewhere,
}

impl Config {
    /// Whether it has to be tried out for each document whether one can get here.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.relaxed.is_some_and(|relaxed| relaxed.mark == Mark::Somewhere)
    }

    /// Whether the container around the top forgets its items.
    pub(super) fn is_forgetful(&self) -> bool {
        self.relaxed.is_some_and(|relaxed| relaxed.new <= 1)
    }

    /// How many levels stand above the first one that forgets; more than there are, if none does.
    pub(super) fn first_forgetful(&self) -> usize {
        self.relaxed.map_or(usize::MAX, |relaxed| relaxed.new as usize)
    }

    fn mark(&mut self, mark: Mark) {
        if let Some(relaxed) = &mut self.relaxed {
            relaxed.mark = relaxed.mark.max(mark);
        }
    }

    /// A value begins in the place of the level at the top.
    pub(super) fn note_entered(&mut self) {
        if let Some(relaxed) = &mut self.relaxed {
            (relaxed.new, relaxed.changed) = (relaxed.new.max(1), true);
        }
    }

    /// A level was put above the top.
    pub(super) fn note_pushed(&mut self) {
        if let Some(relaxed) = &mut self.relaxed {
            (relaxed.new, relaxed.changed) = (relaxed.new.saturating_add(1), true);
        }
    }

    /// A number goes on.
    pub(super) fn note_changed(&mut self) {
        if let Some(relaxed) = &mut self.relaxed {
            relaxed.changed = true;
        }
    }
}

impl Automaton {
    /// The configuration that forgets which items have come. `None` where nothing depends on them,
    /// or more than the items themselves.
    pub(crate) fn relaxed(&self, config: &Config, clip: &Clip) -> Option<Config> {
        if !self.has_unique {
            return None;
        }
        let reached = || std::iter::once(&config.top).chain(config.frames().take(clip.levels));
        if !self.tracks(config) && !reached().any(|level| self.is_unique_level(level)) {
            return None;
        }
        let (mut long, mut has_places) = (false, false);
        for level in reached() {
            let Level::Array(array) = level else { continue };
            for info in array.atoms.iter().map(|atom| &self.arrays[atom.state.id.index()]) {
                has_places |= info.places.is_some();
                long |= info.unique && info.longest.is_some_and(|most| array.seen.longest >= most);
            }
        }
        if has_places || self.is_closing_refused(config) || !self.items_last(config) {
            return None;
        }
        let mut relaxed = config.clone();
        relaxed.digest = None;
        relaxed.relaxed = Some(Relaxed { new: 0, changed: false, long, mark: Mark::Nowhere });
        self.mark_spent(&mut relaxed);
        if let (Some(array), Level::String(level)) = (self.unique_parent(config), &config.top)
            && array.seen.has_any()
            && !level.decoder.text.is_boundary()
        {
            // The vocabulary's exits are of texts that begin with a whole character.
            relaxed.mark(Mark::Somewhere);
        }
        Some(relaxed)
    }

    /// After a step: marks where an array or object can perhaps become no other item than those that
    /// have come; `false` where that is so.
    pub(super) fn settle_items(&self, config: &mut Config) -> bool {
        self.mark_short(config);
        self.keeps_items(config)
    }

    /// Marks where an array or object that is an item can perhaps become no other one than those that
    /// have come.
    pub(super) fn mark_short(&self, config: &mut Config) {
        if config.relaxed.is_some() && !self.items_last_below(config, config.first_forgetful()) {
            config.mark(Mark::Somewhere);
        }
    }

    /// The array with unique items around the top, if it is one.
    fn unique_parent<'c>(&self, config: &'c Config) -> Option<&'c ArrayLevel> {
        match config.parent() {
            Some(Level::Array(array)) if array.is_unique(&self.arrays) => Some(array),
            _ => None,
        }
    }

    /// Whether the number or container at the top is an item that has come, as it stands.
    fn is_closing_refused(&self, config: &Config) -> bool {
        let (Some(array), Some(value)) = (self.unique_parent(config), self.value_so_far(config))
        else {
            return false;
        };
        let ends = matches!(config.top, Level::Number(_) | Level::Array(_) | Level::Object(_));
        ends && array.seen.has(value)
    }

    /// Whether the string at the top, closed behind the bytes of `text`, is an item that has come.
    pub(crate) fn is_text_refused(&self, config: &Config, text: &[u8]) -> bool {
        let (Some(array), Level::String(level)) = (self.unique_parent(config), &config.top) else {
            return false;
        };
        let Some(begun) = self.text_so_far(config) else { return false };
        array.seen.has(text_value(begun, level.decoder, text, self.minimal))
    }

    /// Whether the string at the top is an item that must differ from others that have come.
    pub(crate) fn is_text_compared(&self, config: &Config) -> bool {
        matches!(config.top, Level::String(_))
            && self.unique_parent(config).is_some_and(|array| array.seen.has_any())
    }

    /// An item that is complete for `array`, which forgets, or not.
    pub(super) fn mark_closed(&self, config: &mut Config, array: Option<&ArrayLevel>) {
        let forgetful = config.is_forgetful();
        let Some(relaxed) = &mut config.relaxed else { return };
        if forgetful && array.is_some_and(|array| array.is_unique(&self.arrays)) {
            let whole = relaxed.mark == Mark::Nowhere && !relaxed.changed;
            relaxed.mark = if whole { Mark::Close } else { Mark::Somewhere };
        }
        (relaxed.new, relaxed.changed) = (relaxed.new.saturating_sub(1), true);
    }

    /// Marks an item in progress of which perhaps no value is left.
    pub(super) fn mark_spent(&self, config: &mut Config) {
        let Some(relaxed) = config.relaxed else { return };
        if config.is_forgetful()
            && relaxed.mark != Mark::Somewhere
            && self.unique_parent(config).is_some()
            && self.may_be_spent(&config.top, relaxed.long)
        {
            config.mark(Mark::Somewhere);
        }
    }

    /// Whether items that have come can be all that the scalar can still become.
    fn may_be_spent(&self, top: &Level, long: bool) -> bool {
        match top {
            Level::Literal(_) => true,
            Level::Number(level) => !level.is_roomy(&self.numbers),
            Level::String(StringLevel { atoms, decoder }) => {
                let states = atoms.iter().map(|atom| (&atom.tags, &atom.state));
                self.are_texts_spent(states, decoder, long)
            }
            _ => false,
        }
    }

    fn is_text_spent(&self, atom: &StringAtom, decoder: &Decoder, long: bool) -> bool {
        match (&self.strings[atom.id.index()], atom.at) {
            (Strings::Free { max, .. }, _) => long && max.is_some_and(|max| decoder.count >= max),
            (Strings::Language(_), At::Language(state)) => {
                let (chosen, whole) =
                    (self.sets.unique_string(atom.id), decoder.text.is_boundary());
                chosen.is_none_or(|own| {
                    !own.outlasts(state, SEEN_VALUES) || !whole && own.ever_runs_out()
                })
            }
            _ => true,
        }
    }

    /// Whether some candidate may have no value left, while no other one that serves the same lasts.
    fn are_texts_spent<'s>(
        &self,
        states: impl Iterator<Item = (&'s SmallBits, &'s StringAtom)> + Clone,
        decoder: &Decoder,
        long: bool,
    ) -> bool {
        let mut lasting = SmallBits::default();
        let spent = |state| self.is_text_spent(state, decoder, long);
        states.clone().filter(|(_, state)| !spent(state)).for_each(|(tags, _)| lasting.union(tags));
        states.into_iter().any(|(tags, state)| !tags.is_subset(&lasting) && spent(state))
    }

    /// The same for candidates of a string that was at `level`, and has come to `states`.
    pub(crate) fn may_texts_be_spent(
        &self,
        config: &Config,
        level: &StringLevel,
        states: &[(u32, StringAtom)],
        decoder: &Decoder,
    ) -> bool {
        let states = states.iter().map(|(at, state)| (&level.atoms[*at as usize].tags, state));
        config.relaxed.is_some_and(|own| self.are_texts_spent(states, decoder, own.long))
    }

    /// Whether the string at the top is an item that can come to where perhaps no value is left: its
    /// bytes have to be stepped.
    pub(crate) fn is_text_marked(&self, config: &Config, level: &StringLevel) -> bool {
        let Some(relaxed) = config.relaxed else { return false };
        if relaxed.mark == Mark::Somewhere {
            return true;
        }
        let runs_out = |id: StringId| match &self.strings[id.index()] {
            Strings::Free { max, .. } => relaxed.long && max.is_some(),
            Strings::Finite(_) => true,
            Strings::Language(_) => {
                self.sets.unique_string(id).is_none_or(|chosen| chosen.ever_runs_out())
            }
        };
        if !config.is_forgetful() || self.unique_parent(config).is_none() {
            return false;
        }
        // What neither dies nor runs out stands in for the others.
        let mut lasting = SmallBits::default();
        for atom in &level.atoms {
            if !runs_out(atom.state.id) && self.never_dies(&atom.state) {
                lasting.union(&atom.tags);
            }
        }
        let others = level.atoms.iter().filter(|atom| !atom.tags.is_subset(&lasting));
        others.into_iter().any(|atom| runs_out(atom.state.id))
    }

    /// The same for a number.
    pub(crate) fn is_number_marked(&self, config: &Config) -> bool {
        config.is_forgetful() && self.unique_parent(config).is_some()
    }
}
