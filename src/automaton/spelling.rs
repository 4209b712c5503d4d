//! What a vocabulary cannot spell.

use super::{Automaton, Costs};
use crate::values::{SetId, Strings};

/// A part of the grammar that the vocabulary has no tokens for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unspellable {
    pub(crate) set: SetId,
    pub(crate) what: UnspellableWhat,
}

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnspellableWhat {
    /// Every value of the set.
    All,
    /// So many of the strings of a finite set.
    Strings(usize),
    /// So many of the names of its objects.
    Names(usize),
}

impl Automaton {
    /// What a poor vocabulary cannot spell, set by set.
    pub(crate) fn unspellable(&self, costs: &Costs) -> Vec<Unspellable> {
        let (sets, alphabet) = (&self.sets, costs.alphabet());
        let spelled = |text: &str| text.chars().all(|c| alphabet.can_spell(c));
        let mut found = Vec::new();
        for id in sets.ids() {
            let set = sets.get(id);
            let mut add = |what| found.push(Unspellable { set: id, what });
            if !self.emptiness.is_empty(id) && !costs.spells_set(id) {
                add(UnspellableWhat::All);
                continue;
            }
            let strings: usize = set
                .strings
                .iter()
                .map(|&id| match self.strings(id) {
                    Strings::Finite(texts) => texts.iter().filter(|text| !spelled(text)).count(),
                    _ => 0,
                })
                .sum();
            if strings > 0 {
                add(UnspellableWhat::Strings(strings));
            }
            let names = set.objects.iter().flat_map(|&id| sets.object(id).names.iter());
            let names = names.filter(|name| !spelled(&name.text)).count();
            if names > 0 {
                add(UnspellableWhat::Names(names));
            }
        }
        found
    }
}
