//! Whether an object can be finished: the constraints on its members, taken together.
//!
//! In: what a shape asks of its members as a whole ([`Demands`]), how far an object is
//! ([`Progress`]), and who knows which names may still come ([`Members`]). Out: whether further
//! members can satisfy everything at once; [`plan`](super::plan_members) says with which ones.
//!
//! * A name may come only with all that it needs, directly or not. Names without cycles among their
//!   needs can be added one at a time, so any number of keys between the fewest and the most can be
//!   had; where there are cycles, the minimum was lowered when the shape was interned.
//! * Constraints on some member fall into groups that share no key; in a group at most
//!   [`MOST_OPEN`] of them, which a search over their subsets covers. Another key that satisfies
//!   one can come as often as it is wanted: keys that run out have become names.

use super::keys::OtherKeys;
use super::shape::{MemberWays, ObjectShape, SetId, Way};
use crate::base::SmallBits;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most constraints on some member that share keys.
pub(super) const MOST_OPEN: usize = 8;

/// As many as anybody wants.
const ENDLESS: u64 = u64::MAX;

/// What an object asks of its members together.
#[derive(Clone, Debug)]
pub(crate) struct Demands {
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    start: Progress,
    /// By name: the set of its value, whatever it counts for.
    pub(super) names: Box<[SetId]>,
    /// By name: what else must stand where it does, ascending. Empty where no name needs another.
    needs: Box<[Box<[u32]>]>,
    /// By combination: the other keys.
    pub(super) others: Box<[Others]>,
    pub(super) groups: Box<[Group]>,
}

/// The other keys of one combination.
#[derive(Clone, Debug)]
pub(super) struct Others {
    pub(super) set: SetId,
    /// How many there are.
    keys: u64,
}

/// Constraints on some member that share keys with each other and with no others.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) bits: u64,
    /// The names that can satisfy some of them, with the ways to do so.
    pub(super) names: Box<[(u32, Box<[Way]>)]>,
    /// The same for other keys, by combination.
    pub(super) others: Box<[(u32, Box<[Way]>)]>,
}

/// How far an object is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Keys that have come.
    pub(crate) count: u64,
    /// Those among them that it does not name.
    pub(crate) others: u64,
    /// The constraints on some member that none has satisfied.
    pub(crate) open: u64,
    /// The names that must still come.
    pub(crate) needed: SmallBits,
}

/// What may still come.
pub(crate) trait Members {
    fn has_come(&self, name: usize) -> bool;

    /// Whether a name may still come, what it needs aside.
    fn may_come(&self, name: usize) -> bool;

    /// How many such names there are.
    fn left(&self) -> u64;

    /// Whether a set holds a value.
    fn usable(&self, set: SetId) -> bool;
}

impl Demands {
    /// What `shape` asks of its members together, if anything. `ways`: those of its members.
    pub(crate) fn new(
        shape: &ObjectShape,
        keys: Option<&OtherKeys>,
        ways: Option<&MemberWays>,
    ) -> Option<Demands> {
        if shape.is_plain() {
            return None;
        }
        let mut needed = SmallBits::default();
        let required = shape.names.iter().enumerate().filter(|(_, name)| name.required);
        required.for_each(|(index, _)| needed.insert(index));
        let needs = closures(shape, usize::MAX).unwrap_or_default();
        for name in needed.clone().iter() {
            let further = needs.get(name).into_iter().flatten();
            further.for_each(|&further| needed.insert(further as usize));
        }
        let some = shape.some.len();
        let open = if some < 64 { (1 << some) - 1 } else { u64::MAX };
        Some(Demands {
            min: shape.min,
            max: shape.max,
            start: Progress { count: 0, others: 0, open, needed },
            names: shape.names.iter().map(|name| name.set).collect(),
            needs,
            others: others(shape, keys),
            groups: ways.map(|ways| groups(shape, ways)).unwrap_or_default(),
        })
    }

    /// Before the first member.
    pub(crate) fn start(&self) -> Progress {
        self.start.clone()
    }

    /// What must stand where a name does.
    pub(crate) fn needs(&self, name: usize) -> &[u32] {
        self.needs.get(name).map_or(&[], |needs| needs)
    }

    /// Whether a name needs others, or some member must satisfy a constraint.
    pub(crate) fn is_more_than_counts(&self) -> bool {
        !self.needs.is_empty() || self.start.open != 0
    }

    /// Whether some member must satisfy a constraint.
    pub(crate) fn asks_for_some(&self) -> bool {
        self.start.open != 0
    }

    /// The most names that one brings with it, itself among them.
    pub(crate) fn most_at_once(&self) -> u64 {
        1 + self.needs.iter().map(|needs| needs.len()).max().unwrap_or(0) as u64
    }

    /// The sets on which it depends whether there is an object at all.
    pub(crate) fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        let ways = self.groups.iter().flat_map(|group| group.names.iter().chain(&group.others));
        let ways = ways.flat_map(|(_, ways)| ways.iter().map(|way| way.set));
        let others = self.others.iter().map(|others| others.set);
        ways.chain(others).chain(self.names.iter().copied())
    }

    /// Leaves out what is not `usable`, now and ever.
    pub(crate) fn narrow(&mut self, usable: impl Fn(SetId) -> bool) {
        for others in self.others.iter_mut().filter(|others| !usable(others.set)) {
            others.keys = 0;
        }
        for group in &mut self.groups {
            for ways in [&mut group.names, &mut group.others] {
                let mut left = std::mem::take(ways).into_vec();
                left.iter_mut().for_each(|(_, ways)| *ways = fullest(ways, &usable));
                left.retain(|(_, ways)| !ways.is_empty());
                *ways = left.into();
            }
        }
    }

    /// How many other keys may still come, at least.
    pub(crate) fn spare(&self, at: &Progress, members: &impl Members) -> u64 {
        let usable = self.others.iter().filter(|others| members.usable(others.set));
        match usable.map(|others| others.keys).fold(0, u64::saturating_add) {
            ENDLESS => ENDLESS,
            keys => keys.saturating_sub(at.others),
        }
    }

    /// Whether further members can satisfy everything.
    pub(crate) fn can_finish(&self, at: &Progress, members: &impl Members) -> bool {
        let Some(room) = self.max.unwrap_or(u64::MAX).checked_sub(at.count) else { return false };
        let Some(room) = room.checked_sub(at.needed.len() as u64) else { return false };
        self.max.is_none_or(|max| self.min <= max)
            && at.needed.iter().all(|name| members.may_come(name))
            && self.reaches_min(at, members)
            && self.can_serve(at, room, members)
    }

    /// Whether enough keys can come.
    fn reaches_min(&self, at: &Progress, members: &impl Members) -> bool {
        let missing = self.min.saturating_sub(at.count);
        if missing == 0 {
            return true;
        }
        let missing = missing.saturating_sub(self.spare(at, members));
        if missing == 0 || self.needs.is_empty() {
            return missing <= members.left();
        }
        let wanted = usize::try_from(missing).unwrap_or(usize::MAX);
        let can_come = (0..self.needs.len()).filter(|&name| self.can_come(name, members));
        can_come.take(wanted).count() == wanted
    }

    /// Whether a name may still come with all that it needs.
    pub(super) fn can_come(&self, name: usize, members: &impl Members) -> bool {
        let needs = self.needs(name).iter().map(|&needed| needed as usize);
        members.may_come(name)
            && needs.into_iter().all(|name| members.has_come(name) || members.may_come(name))
    }

    /// Whether the open constraints can be satisfied by members that must come and at most `room`
    /// others.
    fn can_serve(&self, at: &Progress, room: u64, members: &impl Members) -> bool {
        let mut left = at.open;
        if left == 0 {
            return true;
        }
        let is_roomy = u64::from(left.count_ones()) <= room;
        let mut used = 0;
        for group in &self.groups {
            let wanted = left & group.bits;
            if wanted == 0 {
                continue;
            }
            left &= !wanted;
            if is_roomy && self.has_plenty(group, wanted, members) {
                continue;
            }
            let Some(keys) = self.fewest(group, wanted, at, members) else { return false };
            used += keys;
        }
        left == 0 && (is_roomy || used <= room)
    }

    /// Whether each constraint can have a member of its own, plainly.
    fn has_plenty(&self, group: &Group, wanted: u64, members: &impl Members) -> bool {
        let usable = |ways: &[Way]| {
            let ways = ways.iter().filter(|way| members.usable(way.set));
            ways.fold(0, |all, way| all | way.counts)
        };
        let endless = group.others.iter().fold(0, |all, (_, ways)| all | usable(ways));
        let wanted = wanted & !endless;
        let most = wanted.count_ones();
        let mut lacking: Vec<(u64, u32)> = bits(wanted).map(|bit| (1 << bit, most)).collect();
        for (name, ways) in &group.names {
            if lacking.is_empty() {
                break;
            }
            if self.can_come(*name as usize, members) {
                let counts = usable(ways);
                lacking.iter_mut().filter(|(bit, _)| counts & bit != 0).for_each(|(_, n)| *n -= 1);
                lacking.retain(|(_, n)| *n > 0);
            }
        }
        lacking.is_empty()
    }

    /// The fewest members beside those that must come by which the constraints in `wanted` can be
    /// satisfied: a search over their subsets.
    fn fewest(
        &self,
        group: &Group,
        wanted: u64,
        at: &Progress,
        members: &impl Members,
    ) -> Option<u64> {
        const NEVER: u8 = u8::MAX;
        let places = Places::of(wanted);
        let full = places.full();
        let mut best = [NEVER; 1 << MOST_OPEN];
        best[0] = 0;
        for (name, ways) in &group.names {
            if !self.can_come(*name as usize, members) {
                continue;
            }
            let keys = u8::from(!at.needed.contains(*name as usize));
            let before = best;
            for way in ways.iter().filter(|way| members.usable(way.set)) {
                let serves = places.pack(way.counts);
                for served in (0..=full).filter(|&s| serves != 0 && before[s] != NEVER) {
                    let to = &mut best[served | serves];
                    *to = (*to).min(before[served] + keys);
                }
            }
        }
        let others = group.others.iter().flat_map(|(_, ways)| ways.iter());
        let others = others.filter(|way| members.usable(way.set));
        let others: Vec<usize> = others.map(|way| places.pack(way.counts)).collect();
        for served in 0..=full {
            if best[served] != NEVER {
                for serves in &others {
                    let to = served | serves;
                    best[to] = best[to].min(best[served] + 1);
                }
            }
        }
        (best[full] != NEVER).then_some(u64::from(best[full]))
    }
}

/// The open constraints of a group, packed into few bits.
pub(super) struct Places(Vec<u32>);

impl Places {
    pub(super) fn of(wanted: u64) -> Places {
        Places(bits(wanted).take(MOST_OPEN).collect())
    }

    /// All of them.
    pub(super) fn full(&self) -> usize {
        (1 << self.0.len()) - 1
    }

    pub(super) fn pack(&self, counts: u64) -> usize {
        let places = self.0.iter().enumerate();
        places.fold(0, |all, (place, &bit)| all | ((counts >> bit & 1) as usize) << place)
    }
}

/// The bits of a word, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit)
    })
}

/// By name: what it needs, directly or not, itself aside; empty where no name needs another.
/// `None` where that would be more than `most` in all.
pub(super) fn closures(shape: &ObjectShape, most: usize) -> Option<Box<[Box<[u32]>]>> {
    if shape.implies.is_empty() {
        return Some(Box::from([]));
    }
    let index_of: FxHashMap<&str, u32> =
        shape.names.iter().enumerate().map(|(i, name)| (&*name.text, i as u32)).collect();
    let mut direct: Vec<Vec<u32>> = vec![Vec::new(); shape.names.len()];
    for implies in shape.implies.iter() {
        let places = (index_of.get(&*implies.name), index_of.get(&*implies.needs));
        if let (Some(&name), Some(&needs)) = places {
            direct[name as usize].push(needs);
        }
    }
    let (mut total, mut known) = (0, vec![u32::MAX; direct.len()]);
    let mut closures = Vec::with_capacity(direct.len());
    for name in 0..direct.len() as u32 {
        let (mut closure, mut open) = (Vec::new(), VecDeque::from([name]));
        known[name as usize] = name;
        while let Some(at) = open.pop_front() {
            for &needs in &direct[at as usize] {
                if known[needs as usize] != name {
                    known[needs as usize] = name;
                    closure.push(needs);
                    open.push_back(needs);
                }
            }
            if total + closure.len() > most {
                return None;
            }
        }
        total += closure.len();
        closure.sort_unstable();
        closures.push(closure.into_boxed_slice());
    }
    Some(closures.into())
}

/// The other keys of `shape`, and how many there are where that matters.
fn others(shape: &ObjectShape, keys: Option<&OtherKeys>) -> Box<[Others]> {
    let Some(keys) = keys else {
        let free = (!shape.closed).then_some(Others { set: shape.other, keys: ENDLESS });
        return free.into_iter().collect();
    };
    let count = |combination: usize| {
        let chosen = keys.joint.restrict(|index| index == combination);
        let Some(chosen) = chosen else { return 0 };
        let named = shape.names.iter().filter(|name| chosen.language().matches(&name.text));
        chosen.count().map_or(ENDLESS, |all| all.saturating_sub(named.count() as u64))
    };
    let combinations = keys.sets.iter().enumerate().map(|(combination, set)| match set {
        Some(set) => Others { set: *set, keys: if shape.min > 0 { count(combination) } else { 0 } },
        None => Others { set: SetId::NEVER, keys: 0 },
    });
    combinations.collect()
}

/// The constraints on some member, by the keys that they share. Other keys are shared only where
/// keys are counted: elsewhere each constraint can have its own.
fn groups(shape: &ObjectShape, ways: &MemberWays) -> Box<[Group]> {
    let serving = |ways: &[Way], bits: u64| -> Box<[Way]> {
        let serving = ways.iter().filter(|way| way.counts & bits != 0);
        serving.copied().collect()
    };
    let reach = |ways: &[Way]| ways.iter().fold(0, |all, way| all | way.counts);
    let shared = ways.others.iter().filter(|_| shape.max.is_some());
    let mut parts: Vec<u64> = (0..shape.some.len()).map(|bit| 1 << bit).collect();
    for reached in ways.names.iter().chain(shared).map(|ways| reach(ways)) {
        join(&mut parts, reached);
    }
    let group = |bits: u64| {
        let of = |all: &[Box<[Way]>]| {
            let all = (0u32..).zip(all).map(|(index, ways)| (index, serving(ways, bits)));
            all.filter(|(_, ways)| !ways.is_empty()).collect()
        };
        Group { bits, names: of(&ways.names), others: of(&ways.others) }
    };
    parts.into_iter().map(group).collect()
}

/// The usable ways that count for most: the others are no better.
fn fullest(ways: &[Way], usable: impl Fn(SetId) -> bool) -> Box<[Way]> {
    let ways: Vec<Way> = ways.iter().filter(|way| usable(way.set)).copied().collect();
    let is_less = |a: &Way, b: &Way| a.counts != b.counts && a.counts & !b.counts == 0;
    ways.iter().filter(|a| !ways.iter().any(|b| is_less(a, b))).copied().collect()
}

/// Makes one of the parts of a partition that `shared` touches.
pub(super) fn join(parts: &mut Vec<u64>, shared: u64) {
    let touched = parts.iter().filter(|&&part| part & shared != 0).fold(0, |all, part| all | part);
    if touched != 0 {
        parts.retain(|part| part & shared == 0);
        parts.push(touched);
    }
}
