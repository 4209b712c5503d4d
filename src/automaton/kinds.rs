//! Kinds of other keys, where an object counts its keys: by what their members can satisfy.
//!
//! Each key that comes takes room, so a key may only come if the constraints on some member that its
//! member leaves open find room behind it. Which kinds do so depends on the registers, but a key is
//! read before its kind is known: it must stay possible that it ends as one that may come. So each
//! union of kinds that can occur is a string of its own, chosen where a key begins. The states of
//! all of them are those of the whole.

use super::info::{Keys, ObjectInfo};
use super::members::MemberInfo;
use super::object::ObjectAtom;
use crate::values::upper_sets;

/// The kinds of an object's other keys.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    /// By kind: a combination.
    examples: Box<[usize]>,
    /// The unions that occur, as bits, the larger ones first, with their keys.
    unions: Box<[(u64, Keys)]>,
}

impl Kinds {
    /// The kinds of the combinations `come`; `None` where there is one only, or no matter which
    /// comes. `read`: the keys of some combinations.
    pub(super) fn new(
        of: &MemberInfo,
        come: impl Iterator<Item = usize>,
        mut read: impl FnMut(&dyn Fn(usize) -> bool) -> Option<Keys>,
    ) -> Option<Kinds> {
        if of.demands.max.is_none() || !of.demands.asks_for_some() {
            return None;
        }
        let mut kinds: Vec<(Vec<u64>, Vec<usize>)> = Vec::new();
        for combination in come {
            let counts = of.other_counts(combination);
            match kinds.iter_mut().find(|(known, _)| *known == counts) {
                Some((_, combinations)) => combinations.push(combination),
                None => kinds.push((counts, vec![combination])),
            }
        }
        if kinds.len() < 2 {
            return None;
        }
        let is_below = |a: usize, b: usize| {
            let above = |&a: &u64| kinds[b].0.iter().any(|b| a & !b == 0);
            kinds[a].0.iter().all(above)
        };
        // How many there are was settled when the shape was interned.
        let sets = upper_sets(kinds.len(), is_below, usize::MAX)?;
        let keys = |set: u64| {
            let holds = |kind: usize| set >> kind & 1 == 1;
            let keys = read(&|combination| {
                let mut kinds = kinds.iter().enumerate();
                kinds.any(|(kind, (_, all))| holds(kind) && all.contains(&combination))
            });
            Some((set, keys?))
        };
        let unions = sets.into_iter().filter_map(keys).collect();
        Some(Kinds { examples: kinds.iter().map(|(_, all)| all[0]).collect(), unions })
    }

    pub(super) fn unions(&self) -> impl Iterator<Item = &Keys> {
        self.unions.iter().map(|(_, keys)| keys)
    }

    /// The keys of the kinds that are `allowed`. What can do more is allowed where less is.
    fn of(&self, allowed: impl Fn(usize) -> bool) -> Option<&Keys> {
        let kinds = self.examples.iter().enumerate().filter(|&(_, &example)| allowed(example));
        let allowed = kinds.fold(0, |all, (kind, _)| all | 1_u64 << kind);
        let union = self.unions.iter().find(|(union, _)| union & !allowed == 0);
        union.map(|(_, keys)| keys)
    }
}

impl ObjectAtom {
    /// The other keys behind which an object that asks something of its members together can be
    /// finished.
    pub(super) fn keys_to_finish<'a>(
        &self,
        info: &'a ObjectInfo,
        of: &MemberInfo,
    ) -> Option<&'a Keys> {
        let other = info.other.as_ref()?;
        let finishes = |combination| self.may_take_other(info, of, combination);
        match &other.kinds {
            Some(kinds) => kinds.of(finishes),
            None => {
                let mut combinations = other.combinations();
                combinations.any(|(index, _)| finishes(index)).then_some(&other.keys)
            }
        }
    }
}
