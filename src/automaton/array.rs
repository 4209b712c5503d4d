//! Arrays: how many items have come and how many of them count, asked of the registers.
//!
//! When an item begins, a candidate that counts items forks: one candidate for each way that the
//! item can go and behind which the array can be finished, each with the counts as they will be.
//! Which of them live on is decided by the item's tags when it ends, as for any union. What is left
//! then is merged, and a candidate that another one can replace is dropped.

use super::Automaton;
use super::gap::Gap;
use super::info::ArrayInfo;
use super::level::{ArrayLevel, Atom, Atoms, Phase, Tags, merge_atoms};
use super::unique::{Items, has_place};
use crate::values::{ArrayId, Counts, SetId};
use smallvec::SmallVec;

/// A candidate inside an array: its registers, but for the number of items, which all share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ArrayAtom {
    pub(crate) id: ArrayId,
    /// How many items count for each of its constraints, once the item in progress is complete.
    pub(crate) counts: Counts,
}

impl ArrayAtom {
    pub(crate) fn new(id: ArrayId, info: &ArrayInfo) -> ArrayAtom {
        ArrayAtom { id, counts: info.plan.as_ref().map(|plan| plan.start()).unwrap_or_default() }
    }

    /// Whether a further item may stand behind `index` others.
    fn takes(&self, info: &ArrayInfo, index: u64) -> bool {
        match &info.plan {
            None => info.takes(index),
            Some(plan) => plan.next(index, &self.counts).next().is_some(),
        }
    }

    /// Whether the array may end behind `index` items.
    pub(crate) fn can_close(&self, info: &ArrayInfo, index: u64) -> bool {
        match &info.plan {
            None => index >= info.min,
            Some(plan) => plan.can_end(index, &self.counts),
        }
    }
}

impl ArrayLevel {
    pub(crate) fn new(atoms: Atoms<ArrayAtom>, gap: Gap) -> ArrayLevel {
        ArrayLevel { phase: Phase::First, gap, count: 0, atoms, seen: Items::default() }
    }

    /// Keeps the candidates that take a further item; `false` where none does.
    pub(crate) fn keep_takers(&mut self, infos: &[ArrayInfo]) -> bool {
        let (count, seen) = (self.count, &self.seen);
        self.atoms.retain(|atom| {
            let info = &infos[atom.state.id.index()];
            atom.state.takes(info, count) && (!info.unique || has_place(info, count, seen))
        });
        !self.atoms.is_empty()
    }

    /// The sets of an item that begins here, by the positions of the candidates behind it, which
    /// take the place of those before.
    pub(crate) fn begin_item(&mut self, infos: &[ArrayInfo]) -> Atoms<SetId> {
        let count = self.count;
        let plain = |atom: &Atom<ArrayAtom>| infos[atom.state.id.index()].plan.is_none();
        let mut sets: SmallVec<[SetId; 1]> = SmallVec::new();
        if self.atoms.iter().all(plain) {
            self.keep_takers(infos);
            let set = |atom: &Atom<ArrayAtom>| infos[atom.state.id.index()].item(count);
            sets.extend(self.atoms.iter().map(set));
        } else {
            let mut after = Atoms::new();
            for atom in &self.atoms {
                let info = &infos[atom.state.id.index()];
                let Some(plan) = &info.plan else {
                    if info.takes(count) {
                        sets.push(info.item(count));
                        after.push(atom.clone());
                    }
                    continue;
                };
                for (way, counts) in plan.next(count, &atom.state.counts) {
                    sets.push(way.set);
                    let state = ArrayAtom { id: atom.state.id, counts };
                    after.push(Atom { tags: atom.tags.clone(), state });
                }
            }
            self.atoms = after;
        }
        self.count = count.saturating_add(1);
        merge_atoms(sets.into_iter().enumerate().map(|(position, set)| (set, Tags::One(position))))
    }

    /// An item is complete, and of the candidates those that it serves are left: equal ones become
    /// one, and those that others can replace are dropped.
    pub(crate) fn end_item(&mut self, infos: &[ArrayInfo]) {
        if self.atoms.len() <= 1 {
            return;
        }
        if self.atoms.iter().all(|atom| infos[atom.state.id.index()].plan.is_none()) {
            return;
        }
        let atoms = std::mem::take(&mut self.atoms);
        let atoms = merge_atoms(atoms.iter().map(|a| (a.state.clone(), Tags::Of(&a.tags))));
        let replaced = |position: usize, atom: &Atom<ArrayAtom>| {
            let Some(plan) = &infos[atom.state.id.index()].plan else { return false };
            atoms.iter().enumerate().any(|(other, by)| {
                other != position
                    && by.state.id == atom.state.id
                    && plan.dominates(&by.state.counts, &atom.state.counts)
                    && atom.tags.iter().all(|tag| by.tags.contains(tag))
            })
        };
        let kept = atoms.iter().enumerate().filter(|(position, atom)| !replaced(*position, atom));
        self.atoms = kept.map(|(_, atom)| atom.clone()).collect();
    }
}

impl Automaton {
    /// The registers of an array before its first item, if it holds any array.
    pub(super) fn array_atom(&self, id: ArrayId) -> Option<ArrayAtom> {
        self.emptiness.has_array(id).then(|| ArrayAtom::new(id, &self.arrays[id.index()]))
    }
}
