//! Objects that ask something of their members together: which keys leave a way to finish.
//!
//! Beside the names that may come, an object then counts its keys, and knows which constraints on
//! some member are open and which names must still come ([`Progress`]). A key may come only if the
//! object behind it can be finished. Where a member can satisfy constraints, the candidate forks
//! into one for each set that the value may turn out to be in; when the value ends, the one that
//! has satisfied most stands for the others.
//!
//! In the declared order, loose names come behind all others, like keys that are not named.

use super::info::{NameInfo, ObjectInfo};
use super::level::{Atoms, ObjectLevel, Seen};
use super::object::ObjectAtom;
use super::string::At;
use crate::base::SmallBits;
use crate::options::Order;
use crate::values::{
    Demands, Emptiness, MemberWays, Members, ObjectShape, Progress, Rank, SetId, Way,
};
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// What an object asks of its members together, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) struct MemberInfo {
    pub(super) demands: Demands,
    /// The names that have a place in the declared order; the loose ones stand behind them.
    fixed: u32,
    /// By position in the declared order: how many names from there on may come, the loose aside.
    left_from: Box<[u32]>,
    /// In any order all names, in the declared order the loose ones: how many of them may come.
    pub(super) free: u32,
    /// The same, those that must not come among them.
    pub(super) free_names: u32,
    /// In the declared order: the names of which it matters whether they have come.
    tracked: SmallBits,
    /// By name and by combination of other keys: the ways of members, where there are several.
    names: Box<[Box<[Way]>]>,
    others: Box<[Box<[Way]>]>,
}

impl MemberInfo {
    pub(super) fn new(
        demands: Demands,
        shape: &ObjectShape,
        names: &[NameInfo],
        ways: Option<&MemberWays>,
        emptiness: &Emptiness,
        order: Order,
    ) -> MemberInfo {
        let fixed = shape.names.iter().filter(|name| name.rank != Rank::Loose).count();
        let mut left_from = vec![0; fixed + 1];
        for (index, name) in names[..fixed].iter().enumerate().rev() {
            left_from[index] = left_from[index + 1] + u32::from(!name.forbidden);
        }
        let free = match order {
            Order::Any => names,
            Order::Declared => &names[fixed..],
        };
        let mut tracked = SmallBits::default();
        (fixed..names.len()).for_each(|name| tracked.insert(name));
        for name in 0..names.len() {
            demands.needs(name).iter().for_each(|&needed| tracked.insert(needed as usize));
        }
        let inhabited = |all: &[Box<[Way]>]| -> Box<[Box<[Way]>]> {
            let inhabited = |way: &&Way| !emptiness.is_empty(way.set);
            all.iter().map(|ways| ways.iter().filter(inhabited).copied().collect()).collect()
        };
        MemberInfo {
            demands,
            fixed: fixed as u32,
            left_from: left_from.into(),
            free: free.iter().filter(|name| !name.forbidden).count() as u32,
            free_names: free.len() as u32,
            tracked,
            names: ways.map(|ways| inhabited(&ways.names)).unwrap_or_default(),
            others: ways.map(|ways| inhabited(&ways.others)).unwrap_or_default(),
        }
    }

    /// The ways of a name's member that count for nothing but what is `open`.
    fn name_ways(&self, info: &ObjectInfo, name: usize, open: u64) -> Ways {
        ways(self.names.get(name).map(|ways| &**ways), info.names[name].set, open)
    }

    /// The same for another key.
    fn other_ways(&self, combination: usize, set: SetId, open: u64) -> Ways {
        ways(self.others.get(combination).map(|ways| &**ways), set, open)
    }

    /// What the members with a key of a combination can count for.
    pub(super) fn other_counts(&self, combination: usize) -> Vec<u64> {
        let ways = self.others.get(combination).into_iter().flatten();
        let mut counts: Vec<u64> = ways.map(|way| way.counts).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

type Ways = SmallVec<[Way; 2]>;

/// Those of `all` that count for nothing but what is `open`, the one that counts for most last; only
/// the set itself where there are none.
fn ways(all: Option<&[Way]>, set: SetId, open: u64) -> Ways {
    match all {
        Some(all) if open != 0 => {
            all.iter().filter(|way| way.counts & !open == 0).copied().collect()
        }
        _ => smallvec![Way { counts: 0, set }],
    }
}

/// An atom as those see it who ask whether it can be finished.
struct Left<'a>(&'a ObjectAtom, &'a ObjectInfo, &'a MemberInfo);

impl Members for Left<'_> {
    fn has_come(&self, name: usize) -> bool {
        self.0.used.contains(name)
    }

    fn may_come(&self, name: usize) -> bool {
        self.0.may_come(self.1, self.2, name)
    }

    fn left(&self) -> u64 {
        self.0.names_left(self.1, self.2)
    }

    fn usable(&self, _: SetId) -> bool {
        true
    }
}

/// A candidate behind a key, and the set of the key's value.
pub(super) type Forks = SmallVec<[(ObjectAtom, SetId); 1]>;

impl ObjectAtom {
    /// Whether a name may still come, now or later, what it needs aside.
    pub(super) fn may_come(&self, info: &ObjectInfo, of: &MemberInfo, name: usize) -> bool {
        let has_place = info.order() == Order::Declared && name < of.fixed as usize;
        let comes = if has_place { name >= self.next as usize } else { !self.used.contains(name) };
        comes && !info.names[name].forbidden
    }

    /// How many names may still come.
    fn names_left(&self, info: &ObjectInfo, of: &MemberInfo) -> u64 {
        let placed = match info.order() {
            Order::Declared => of.left_from[self.next.min(of.fixed) as usize],
            Order::Any => 0,
        };
        u64::from(placed) + u64::from(self.left)
    }

    pub(super) fn progress(&self) -> &Progress {
        static NONE: LazyLock<Progress> = LazyLock::new(Progress::default);
        self.progress.as_deref().unwrap_or(&NONE)
    }

    /// In the declared order: the position of the first name that must still come.
    fn first_needed(&self) -> u32 {
        self.progress().needed.iter().next().map_or(u32::MAX, |name| name as u32)
    }

    /// Whether no name that has its place in the declared order must still come.
    fn is_behind_places(&self, info: &ObjectInfo, of: &MemberInfo) -> bool {
        info.order() == Order::Any || self.first_needed() >= of.fixed
    }

    /// In the declared order: the names among which the next one is; `None` where any may come.
    pub(super) fn window(&self, info: &ObjectInfo) -> Option<std::ops::Range<u32>> {
        match (&info.members, info.order()) {
            (_, Order::Any) => None,
            (None, Order::Declared) => Some(info.window(self.next)),
            (Some(of), Order::Declared) if of.free_names > 0 => None,
            (Some(of), Order::Declared) => {
                let end = self.first_needed().saturating_add(1).min(of.fixed);
                Some(self.next.min(end)..end)
            }
        }
    }

    /// Whether the name at `index`, which is not forbidden, may come now.
    pub(super) fn may_take(&self, info: &ObjectInfo, of: &MemberInfo, index: u32) -> bool {
        if !self.is_next(info, of, index) {
            return false;
        }
        let (at, name) = (self.progress(), index as usize);
        if !of.demands.is_more_than_counts() {
            return self.counts_allow(info, of, index);
        }
        let mut ways = of.name_ways(info, name, at.open).into_iter().rev();
        ways.any(|way| self.behind_name(info, of, index, way.counts).can_finish(info, of))
    }

    /// Whether the name at `index` may come now, as far as the order of names says.
    fn is_next(&self, info: &ObjectInfo, of: &MemberInfo, index: u32) -> bool {
        self.may_come(info, of, index as usize)
            && match info.order() {
                Order::Any => true,
                Order::Declared if index < of.fixed => index <= self.first_needed(),
                Order::Declared => self.is_behind_places(info, of),
            }
    }

    /// Whether the object can be finished behind a name, where nothing but numbers of keys matters.
    fn counts_allow(&self, info: &ObjectInfo, of: &MemberInfo, index: u32) -> bool {
        let (at, demands) = (self.progress(), &of.demands);
        let needed = at.needed.len() as u64 - u64::from(at.needed.contains(index as usize));
        let count = at.count.saturating_add(1);
        let left = match info.order() {
            Order::Declared if index < of.fixed => {
                u64::from(of.left_from[index as usize + 1]) + u64::from(self.left)
            }
            Order::Declared => u64::from(self.left) - 1,
            Order::Any => u64::from(self.left) - 1,
        };
        let missing = || demands.min.saturating_sub(count);
        demands.max.is_none_or(|max| count.saturating_add(needed) <= max)
            && (missing() <= left
                || missing() <= left.saturating_add(demands.spare(at, &Left(self, info, of))))
    }

    fn can_finish(&self, info: &ObjectInfo, of: &MemberInfo) -> bool {
        of.demands.can_finish(self.progress(), &Left(self, info, of))
    }

    /// Whether another key of a combination may come now, if one is left.
    pub(super) fn may_take_other(
        &self,
        info: &ObjectInfo,
        of: &MemberInfo,
        combination: usize,
    ) -> bool {
        let open = self.progress().open;
        self.is_behind_places(info, of) && {
            let mut ways = of.other_ways(combination, SetId::ANY, open).into_iter().rev();
            ways.any(|way| self.behind_other(of, info, way.counts).can_finish(info, of))
        }
    }

    /// The candidates behind the name at `index`.
    pub(super) fn name_forks(&self, info: &ObjectInfo, index: u32) -> Forks {
        let name = &info.names[index as usize];
        let Some(of) = &info.members else {
            if !self.allows(info, index) {
                return Forks::new();
            }
            let mut after = self.clone();
            after.take_name(info, index);
            return smallvec![(after, name.set)];
        };
        if !self.is_next(info, of, index) {
            return Forks::new();
        }
        let ways = of.name_ways(info, index as usize, self.progress().open).into_iter();
        let forks = ways.map(|way| (self.behind_name(info, of, index, way.counts), way.set));
        forks.filter(|(after, _)| after.can_finish(info, of)).collect()
    }

    /// The candidates behind another key, which ends at `at` and has not come yet.
    pub(super) fn other_forks(&self, info: &ObjectInfo, seen: &Seen, at: At) -> Forks {
        let Some(other) = &info.other else { return Forks::new() };
        let Some(set) = other.set(at) else { return Forks::new() };
        let Some(of) = &info.members else {
            if !self.is_open(info, seen) {
                return Forks::new();
            }
            let mut after = self.clone();
            after.take_other(info);
            return smallvec![(after, set)];
        };
        let combination = other.combination(at).filter(|_| self.is_behind_places(info, of));
        let Some(combination) = combination else { return Forks::new() };
        let ways = of.other_ways(combination, set, self.progress().open).into_iter();
        let forks = ways.map(|way| (self.behind_other(of, info, way.counts), way.set));
        forks.filter(|(after, _)| after.can_finish(info, of)).collect()
    }

    /// Behind a name whose value counts for `counts`.
    fn behind_name(
        &self,
        info: &ObjectInfo,
        of: &MemberInfo,
        index: u32,
        counts: u64,
    ) -> ObjectAtom {
        let (mut after, name) = (self.clone(), index as usize);
        match info.order() {
            Order::Declared if index < of.fixed => after.next = index + 1,
            Order::Declared => {
                after.next = of.fixed;
                after.left -= 1;
            }
            Order::Any => after.left -= 1,
        }
        if info.order() == Order::Any || of.tracked.contains(name) {
            after.used.insert(name);
        }
        let progress = Arc::make_mut(after.progress.get_or_insert_default());
        progress.count = progress.count.saturating_add(1);
        progress.open &= !counts;
        progress.needed.remove(name);
        for &needed in of.demands.needs(name) {
            if !after.used.contains(needed as usize) {
                progress.needed.insert(needed as usize);
            }
        }
        after
    }

    /// Behind another key whose value counts for `counts`.
    fn behind_other(&self, of: &MemberInfo, info: &ObjectInfo, counts: u64) -> ObjectAtom {
        let mut after = self.clone();
        if info.order() == Order::Declared {
            after.next = of.fixed;
        }
        let progress = Arc::make_mut(after.progress.get_or_insert_default());
        progress.count = progress.count.saturating_add(1);
        progress.others = progress.others.saturating_add(1);
        progress.open &= !counts;
        after
    }

    /// Whether the object has all that it asks of its members together.
    pub(super) fn has_all(&self, of: &MemberInfo) -> bool {
        let at = self.progress();
        at.needed.is_empty() && at.open == 0 && at.count >= of.demands.min
    }

    /// Whether some name may come now.
    pub(super) fn takes_name(&self, info: &ObjectInfo) -> bool {
        let names = self.window(info).unwrap_or(0..info.names.len() as u32);
        let is_full = |of: &MemberInfo| of.demands.max.is_some_and(|m| self.progress().count >= m);
        !info.members.as_deref().is_some_and(is_full)
            && names.into_iter().any(|i| self.allows(info, i))
    }

    /// What of the registers a mask depends on. A token takes at most `keys` keys, and asks then
    /// whether those are enough.
    pub(super) fn hash_members(&self, info: &ObjectInfo, keys: u64, state: &mut impl Hasher) {
        let Some(of) = info.members.as_deref() else { return };
        let (at, demands) = (self.progress(), &of.demands);
        (at.open, &at.needed, &self.used).hash(state);
        if info.order() == Order::Declared {
            self.next.hash(state);
        }
        let wanted = at.needed.len() as u64 + u64::from(at.open.count_ones());
        let clip = wanted.saturating_add(keys.saturating_mul(demands.most_at_once()));
        demands.max.map(|max| max.saturating_sub(at.count).min(clip)).hash(state);
        let missing = demands.min.saturating_sub(at.count);
        match demands.spare(at, &Left(self, info, of)) {
            u64::MAX => missing.min(keys).hash(state),
            // How many keys are left tells which may still be left out.
            spare => (missing, spare).hash(state),
        }
    }
}

impl ObjectLevel {
    /// The candidates that are left behind a value: equal ones are one, and of those that differ only
    /// in what they have satisfied, the one that has satisfied more stands for the others.
    pub(super) fn merge(&mut self) {
        if self.atoms.len() < 2 || self.atoms.iter().all(|atom| atom.state.progress.is_none()) {
            return;
        }
        let mut kept: Atoms<ObjectAtom> = Atoms::new();
        for atom in self.atoms.drain(..) {
            let same = kept.iter_mut().find(|other| other.state == atom.state);
            match same {
                Some(same) => same.tags.union(&atom.tags),
                None => kept.push(atom),
            }
        }
        let mut index = 0;
        while index < kept.len() {
            let atom = &kept[index];
            let mut others = kept.iter().enumerate().filter(|&(other, _)| other != index);
            let stands_for = others.any(|(_, other)| {
                other.state.is_ahead(&atom.state) && atom.tags.is_subset(&other.tags)
            });
            if stands_for {
                kept.remove(index);
            } else {
                index += 1;
            }
        }
        self.atoms = kept;
    }
}

impl ObjectAtom {
    /// Whether it is where `other` is, and has satisfied more.
    fn is_ahead(&self, other: &ObjectAtom) -> bool {
        let (Some(a), Some(b)) = (&self.progress, &other.progress) else { return false };
        let same = (self.id, self.next, self.left) == (other.id, other.next, other.left)
            && self.used == other.used
            && (a.count, a.others) == (b.count, b.others)
            && a.needed == b.needed;
        same && a.open != b.open && a.open & !b.open == 0
    }
}
