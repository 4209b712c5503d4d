//! How many values a set has room for: many, or at least so many.
//!
//! In: the sets, what is empty, and what is known of the scalars below items that must differ. Out:
//! [`Rooms`]. A set is *many* if it surely has more values than are ever kept: an endless part that
//! some value of it has, or a recursion that some value of it takes. Counting everything else, each
//! set is *clear*, if whatever stands in it can be written out in finitely many ways before a part
//! comes that is many: where items must differ, the values that are left are looked for so.

use super::sets::Sets;
use super::shape::{ArrayId, ItemWays, MemberWays, ObjectId, ObjectShape, Rank, SetId};
use super::{Emptiness, unique::SEEN_VALUES};
use crate::options::Order;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Loose names stand in any order: more are too many to be written out.
const LOOSE: usize = 6;

/// Items that must come, before an array is too long to be written out.
const ITEMS: u64 = 64;

/// The scalars of sets: how many (`None`: many). Sets whose scalars cannot be told apart are not
/// among the keys.
pub(super) type Scalars = FxHashMap<SetId, Option<u64>>;

/// What is known of the sets below items that must differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    many: FixedBitSet,
    /// The fewest values that a set has.
    least: FxHashMap<SetId, u64>,
    clear: FixedBitSet,
}

/// What a shape makes of a set.
#[derive(Default)]
struct Parts {
    /// It is many by itself.
    many: bool,
    /// It is not clear by itself.
    odd: bool,
    /// The sets of parts that some value of the shape has, and of which any value does.
    sure: Vec<SetId>,
    /// Those of other parts.
    others: Vec<SetId>,
}

/// Whether an object of the shape, wherever it stands, takes any number of further members.
pub(super) fn is_open(sets: &Sets, emptiness: &Emptiness, id: ObjectId) -> bool {
    let shape = sets.object(id);
    takes_more(shape) && sets.other_keys(id).is_none() && !emptiness.is_empty(shape.other)
}

/// The same, but for what its other keys are.
fn takes_more(shape: &ObjectShape) -> bool {
    !shape.closed && shape.max.is_none() && shape.some.is_empty()
}

/// Whether an array of the shape, wherever it stands, takes any number of further items.
pub(super) fn is_endless(sets: &Sets, emptiness: &Emptiness, id: ArrayId) -> bool {
    let shape = sets.array(id);
    let full = || shape.prefix.iter().chain([&shape.rest]).all(|&set| !emptiness.is_empty(set));
    sets.item_ways(id).is_none() && shape.max.is_none() && !shape.unique && full()
}

impl Rooms {
    /// Looks at everything that `items` lead to.
    pub(super) fn of(
        sets: &Sets,
        emptiness: &Emptiness,
        order: Order,
        items: &[SetId],
        scalars: &Scalars,
    ) -> Rooms {
        let mut rooms = Rooms {
            many: FixedBitSet::with_capacity(sets.len()),
            least: FxHashMap::default(),
            clear: FixedBitSet::with_capacity(sets.len()),
        };
        let parts = |set: SetId| parts(sets, emptiness, order, set, scalars);
        let mut known: FxHashMap<SetId, Parts> = FxHashMap::default();
        let mut queue = items.to_vec();
        while let Some(set) = queue.pop() {
            known.entry(set).or_insert_with(|| {
                let own = parts(set);
                queue.extend(own.sure.iter().chain(&own.others));
                own
            });
        }
        rooms.count(sets, emptiness, scalars, &known);
        rooms.clear(&known);
        rooms
    }

    /// Finds which sets are many, and how many values the others have: a set comes behind those of
    /// its sure parts, or, where these lead back to it, is many.
    fn count(
        &mut self,
        sets: &Sets,
        emptiness: &Emptiness,
        scalars: &Scalars,
        known: &FxHashMap<SetId, Parts>,
    ) {
        let mut begun = FixedBitSet::with_capacity(sets.len());
        let mut open: Vec<(SetId, usize)> = Vec::new();
        let mut ids: Vec<SetId> = known.keys().copied().collect();
        ids.sort_unstable();
        for start in ids {
            if begun.put(start.index()) {
                continue;
            }
            open.push((start, 0));
            while let Some((set, next)) = open.last_mut() {
                let (set, own) = (*set, &known[set]);
                if let Some(&part) = own.sure.get(*next) {
                    *next += 1;
                    if !begun.put(part.index()) {
                        open.push((part, 0));
                    } else if !self.least.contains_key(&part) {
                        // It leads back to itself.
                        self.many.insert(set.index());
                    }
                    continue;
                }
                open.pop();
                let many = own.many || own.sure.iter().any(|part| self.many.contains(part.index()));
                if many {
                    self.many.insert(set.index());
                }
                let least = self.least_of(sets, emptiness, scalars, set);
                if least > SEEN_VALUES {
                    self.many.insert(set.index());
                }
                self.least.insert(set, least);
            }
        }
    }

    /// The fewest values of a set, those of its sure parts being counted.
    fn least_of(&self, sets: &Sets, emptiness: &Emptiness, scalars: &Scalars, id: SetId) -> u64 {
        let set = sets.get(id);
        let own = scalars.get(&id).copied().flatten().unwrap_or(0);
        let arrays = set.arrays.iter().filter(|&&id| emptiness.has_array(id));
        let arrays = arrays.map(|&id| {
            let shape = sets.array(id);
            let sure = sets.item_ways(id).is_none() && shape.max != Some(0);
            if sure { self.least_values(shape.item(0)).max(1) } else { 1 }
        });
        let objects = set.objects.iter().filter(|&&id| emptiness.has_object(id));
        let objects = objects.map(|&id| {
            if sets.demands(id).is_some() {
                return 1;
            }
            let names = sets.object(id).names.iter().filter(|name| !emptiness.is_empty(name.set));
            let values = names.map(|name| {
                let least = self.least_values(name.set).max(1);
                if name.required { least } else { least.saturating_add(1) }
            });
            values.fold(1, u64::saturating_mul)
        });
        let most = |all: Option<u64>| all.unwrap_or(0);
        own.saturating_add(most(arrays.max())).saturating_add(most(objects.max()))
    }

    fn least_values(&self, set: SetId) -> u64 {
        if self.many.contains(set.index()) {
            return u64::MAX;
        }
        self.least.get(&set).copied().unwrap_or(0)
    }

    /// Finds which sets are clear: what is not clear by itself, or leads back to itself without a
    /// set that is many, is not, and neither is what it is a part of.
    fn clear(&mut self, known: &FxHashMap<SetId, Parts>) {
        let few = |set: &SetId| !self.many.contains(set.index());
        let mut parents: FxHashMap<SetId, Vec<SetId>> = FxHashMap::default();
        // How many parts that are not many a set that is not many waits for.
        let mut waiting: FxHashMap<SetId, usize> = FxHashMap::default();
        for (&set, own) in known {
            let parts = own.sure.iter().chain(&own.others);
            for &part in parts.clone() {
                parents.entry(part).or_default().push(set);
            }
            waiting.insert(set, if few(&set) { parts.filter(|part| few(part)).count() } else { 0 });
        }
        let mut settled: Vec<SetId> =
            waiting.iter().filter(|(_, left)| **left == 0).map(|(&set, _)| set).collect();
        while let Some(set) = settled.pop() {
            self.clear.insert(set.index());
            for parent in parents.get(&set).into_iter().flatten().filter(|_| few(&set)) {
                let Some(left) = waiting.get_mut(parent).filter(|left| **left > 0) else {
                    continue;
                };
                *left -= 1;
                if *left == 0 {
                    settled.push(*parent);
                }
            }
        }
        let odd = |set: &SetId| known[set].odd || !self.clear.contains(set.index());
        let mut queue: Vec<SetId> = known.keys().copied().filter(odd).collect();
        let mut seen = FixedBitSet::with_capacity(self.clear.len());
        while let Some(set) = queue.pop() {
            if !seen.put(set.index()) {
                self.clear.set(set.index(), false);
                queue.extend(parents.get(&set).into_iter().flatten());
            }
        }
    }

    /// Whether a set surely has more values than are ever kept.
    pub(super) fn is_many(&self, set: SetId) -> bool {
        self.many.contains(set.index())
    }

    /// Whether the values of a set can be looked for.
    pub(super) fn is_clear(&self, set: SetId) -> bool {
        self.clear.contains(set.index())
    }

    /// The fewest values of a set.
    pub(super) fn least(&self, set: SetId) -> u64 {
        self.least_values(set)
    }
}

fn parts(sets: &Sets, emptiness: &Emptiness, order: Order, id: SetId, scalars: &Scalars) -> Parts {
    let set = sets.get(id);
    let own = scalars.get(&id);
    let mut parts = Parts { many: own == Some(&None), odd: own.is_none(), ..Parts::default() };
    for &id in set.arrays.iter().filter(|&&id| emptiness.has_array(id)) {
        array_parts(sets, emptiness, id, &mut parts);
    }
    for &id in set.objects.iter().filter(|&&id| emptiness.has_object(id)) {
        object_parts(sets, emptiness, order, id, &mut parts);
    }
    for list in [&mut parts.sure, &mut parts.others] {
        list.retain(|&set| !emptiness.is_empty(set));
        list.sort_unstable();
        list.dedup();
    }
    parts
}

fn array_parts(sets: &Sets, emptiness: &Emptiness, id: ArrayId, parts: &mut Parts) {
    if is_endless(sets, emptiness, id) {
        // What stands in it does not matter.
        parts.many = true;
        return;
    }
    let shape = sets.array(id);
    if let Some(ways) = sets.item_ways(id) {
        parts.odd |= shape.max.is_none_or(|max| max > ITEMS);
        parts.others.extend(ItemWays::sets(ways));
        return;
    }
    parts.odd |= shape.min > ITEMS;
    let places = shape.prefix.iter().copied().chain([shape.rest]);
    let most = shape.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    parts.sure.extend(places.take(most).take_while(|&set| !emptiness.is_empty(set)));
}

fn object_parts(sets: &Sets, emptiness: &Emptiness, order: Order, id: ObjectId, parts: &mut Parts) {
    if is_open(sets, emptiness, id) {
        parts.many = true;
        return;
    }
    let shape = sets.object(id);
    let loose = shape.names.iter().filter(|name| name.rank == Rank::Loose).count();
    parts.odd |= order == Order::Declared && loose > LOOSE;
    let all_may = shape.max.is_none() && shape.some.is_empty() && shape.implies.is_empty();
    for name in shape.names.iter() {
        let sure = shape.some.is_empty() && (name.required || all_may);
        if sure { &mut parts.sure } else { &mut parts.others }.push(name.set);
    }
    parts.others.extend(sets.other_sets(id));
    parts.others.extend(sets.member_ways(id).into_iter().flat_map(MemberWays::sets));
}
