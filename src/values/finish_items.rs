//! Whether an array that counts its items can be finished, and by which items.
//!
//! In: an array shape with its ways, and which sets may be used. Out: [`ItemPlan`], which answers for
//! any progress (how many items have come, how many of them count for each constraint) whether some
//! continuation keeps the length, the sets by index and all counts. Emptiness, the automaton and
//! shortest completions ask the same plan, each with its own notion of a usable set.
//!
//! One constraint has a closed form: behind any number of items the number of those that count is
//! any in an interval. Several are searched for backwards over all clipped counts, once; `is_small`
//! says beforehand whether that is little. Behind the named items a way that counts for nothing can
//! be repeated for ever, so there only the fewest items that settle all minima matter; where that
//! way is not usable each item takes something from a maximum, and so their number is bounded.
//! Lengths and counts are never iterated over.

use super::shape::{ArrayShape, ItemCount, ItemWays, SetId, Way};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// How many items have counted for each constraint, clipped at what matters.
pub(crate) type Counts = SmallVec<[u64; 1]>;

/// No bound.
const NONE: u64 = u64::MAX;

/// Steps of one search, at most.
const SEARCH: u128 = 1 << 18;

/// What finishing an array asks, made ready.
#[derive(Clone, Debug)]
pub(crate) struct ItemPlan {
    min: u64,
    /// The most items: none stands where no way is usable.
    max: u64,
    /// For each constraint the fewest and the most items that count.
    bounds: Box<[(u64, u64)]>,
    /// The usable ways, by index and of all further items.
    prefix: Box<[Box<[Way]>]>,
    rest: Box<[Way]>,
    search: Search,
}

#[derive(Clone, Debug)]
enum Search {
    One(One),
    Many(Many),
}

/// One constraint: how many of the first items must count, and can.
#[derive(Clone, Debug)]
struct One {
    low: Box<[u64]>,
    high: Box<[u64]>,
}

/// Several constraints.
#[derive(Clone, Debug)]
struct Many {
    /// For each constraint how far its items are counted, and how far apart two counts stand.
    clips: Box<[(u64, usize)]>,
    /// Distinct clipped counts.
    domain: usize,
    /// The index from which on only `far` matters.
    named: u64,
    /// By index below `named` and counts: the array can be finished.
    live: FixedBitSet,
    /// By counts: the fewest further items that settle all minima.
    far: Box<[u64]>,
}

/// Whether all the counts can be searched; one alone always can.
pub(super) fn is_small(counts: &[ItemCount], named: usize) -> bool {
    if counts.len() <= 1 {
        return true;
    }
    let domain = counts.iter().fold(1u128, |all, count| {
        all.saturating_mul(u128::from(count.max.unwrap_or(count.min)) + 1)
    });
    let most: u128 = counts.iter().filter_map(|count| count.max).map(u128::from).sum();
    let indices = (named as u128).saturating_add(most) + 1;
    domain.saturating_mul(indices).saturating_mul(1 << counts.len()) <= SEARCH
}

impl ItemPlan {
    pub(crate) fn new(
        shape: &ArrayShape,
        ways: &ItemWays,
        usable: impl Fn(SetId) -> bool,
    ) -> ItemPlan {
        let keep = |ways: &[Way]| -> Box<[Way]> {
            ways.iter().copied().filter(|way| usable(way.set)).collect()
        };
        let mut prefix: Vec<Box<[Way]>> = ways.prefix.iter().map(|ways| keep(ways)).collect();
        let mut rest = keep(&ways.rest);
        let mut max = shape.max.unwrap_or(NONE);
        if let Some(gap) = prefix.iter().position(|ways| ways.is_empty()) {
            prefix.truncate(gap);
            rest = Box::default();
        }
        if rest.is_empty() {
            max = max.min(prefix.len() as u64);
        }
        let bounds: Box<[(u64, u64)]> =
            shape.counts.iter().map(|count| (count.min, count.max.unwrap_or(NONE))).collect();
        let mut plan = ItemPlan {
            min: shape.min,
            max,
            search: Search::One(One { low: Box::default(), high: Box::default() }),
            bounds,
            prefix: prefix.into(),
            rest,
        };
        plan.search = match plan.bounds.len() {
            1 => Search::One(One::new(&plan.prefix)),
            _ => Search::Many(Many::new(&plan)),
        };
        plan
    }

    /// Nothing counted yet.
    pub(crate) fn start(&self) -> Counts {
        self.bounds.iter().map(|_| 0).collect()
    }

    /// The usable ways of the item at `index`.
    pub(crate) fn ways(&self, index: u64) -> &[Way] {
        if index >= self.max {
            return &[];
        }
        let named = usize::try_from(index).ok().and_then(|index| self.prefix.get(index));
        named.unwrap_or(&self.rest)
    }

    /// The ways of the item at `index` behind which the array can be finished, and the counts then.
    pub(crate) fn next<'a>(
        &'a self,
        index: u64,
        counts: &'a [u64],
    ) -> impl Iterator<Item = (Way, Counts)> + 'a {
        self.ways(index).iter().filter_map(move |&way| {
            let after = self.after(counts, way);
            self.can_finish(index.saturating_add(1), &after).then_some((way, after))
        })
    }

    /// The counts behind an item that goes one way.
    fn after(&self, counts: &[u64], way: Way) -> Counts {
        let after = counts.iter().zip(&self.bounds).enumerate().map(|(bit, (&count, bounds))| {
            let more = count.saturating_add(way.counts >> bit & 1);
            if bounds.1 == NONE { more.min(bounds.0) } else { more }
        });
        after.collect()
    }

    /// Whether the array may end behind `index` items.
    pub(crate) fn can_end(&self, index: u64, counts: &[u64]) -> bool {
        let within =
            |(count, bounds): (&u64, &(u64, u64))| bounds.0 <= *count && *count <= bounds.1;
        self.min <= index && index <= self.max && counts.iter().zip(&self.bounds).all(within)
    }

    /// Whether some continuation behind `index` items finishes the array.
    pub(crate) fn can_finish(&self, index: u64, counts: &[u64]) -> bool {
        match &self.search {
            Search::One(one) => self.least(one, index, counts).is_some(),
            Search::Many(many) => many.can_finish(self, index, counts),
        }
    }

    /// With one constraint: the least length in which enough items count and not too many must.
    fn least(&self, one: &One, index: u64, counts: &[u64]) -> Option<u64> {
        let (&count, &(low, high)) = (counts.first()?, self.bounds.first()?);
        let spare = high.checked_sub(count)?;
        let missing = low.saturating_sub(count);
        let start = index.max(self.min);
        if start > self.max {
            return None;
        }
        let named = one.high.len() - 1;
        let (has0, has1) = (self.rest_has(0), self.rest_has(1));
        let at = |sums: &[u64], index: u64, each: bool| {
            let inside = index.min(named as u64) as usize;
            let behind = if each { index - inside as u64 } else { 0 };
            sums[inside].saturating_add(behind)
        };
        let most = |end: u64| at(&one.high, end, has1).saturating_sub(at(&one.high, index, has1));
        let must = |end: u64| {
            let each = has1 && !has0;
            at(&one.low, end, each).saturating_sub(at(&one.low, index, each))
        };
        let mut end = start;
        if most(start) < missing {
            let from = (index.min(named as u64)) as usize;
            let inside = one.high[from..].partition_point(|&sum| sum - one.high[from] < missing);
            end = if from + inside <= named {
                (from + inside) as u64
            } else {
                let left = missing - (one.high[named] - one.high[from]);
                index.max(named as u64).checked_add(left).filter(|_| has1)?
            };
        }
        (start <= end && end <= self.max && must(end) <= spare).then_some(end)
    }

    fn rest_has(&self, counts: u64) -> bool {
        self.rest.iter().any(|way| way.counts == counts)
    }

    /// Items that finish the array behind `index` items, as sets and how often each comes: few
    /// bytes, if not the fewest, where `cost` says what a value of a set takes. `None` where it
    /// cannot be finished.
    pub(crate) fn finish(
        &self,
        index: u64,
        counts: &[u64],
        cost: impl Fn(SetId) -> u64,
    ) -> Option<Vec<(SetId, u64)>> {
        if !self.can_finish(index, counts) {
            return None;
        }
        let (mut index, mut counts) = (index, Counts::from_slice(counts));
        let mut items = Vec::new();
        let named = match &self.search {
            Search::One(one) => one.high.len() as u64 - 1,
            Search::Many(many) => many.named,
        };
        while index < named && !self.can_end(index, &counts) {
            let next = self.next(index, &counts).min_by_key(|(way, _)| cost(way.set));
            let (way, after) = next?;
            items.push((way.set, 1));
            (index, counts) = (index + 1, after);
        }
        if self.can_end(index, &counts) {
            return Some(items);
        }
        match &self.search {
            Search::One(one) => {
                let end = self.least(one, index, &counts)?;
                self.repeat_one(end - index, &counts, &cost, &mut items)?;
            }
            Search::Many(many) => {
                while many.left(&counts) > 0 {
                    let left = many.left(&counts);
                    let nearer = |(_, after): &(Way, Counts)| many.left(after) < left;
                    let next = self.next(index, &counts).filter(nearer);
                    let (way, after) = next.min_by_key(|(way, _)| cost(way.set))?;
                    items.push((way.set, 1));
                    (index, counts) = (index + 1, after);
                }
                if index < self.min {
                    let plain = self.rest.iter().find(|way| way.counts == 0)?;
                    items.push((plain.set, self.min - index));
                }
            }
        }
        Some(items)
    }

    /// With one constraint: so many further items behind the named ones.
    fn repeat_one(
        &self,
        items: u64,
        counts: &[u64],
        cost: &impl Fn(SetId) -> u64,
        out: &mut Vec<(SetId, u64)>,
    ) -> Option<()> {
        let (&count, &(low, high)) = (counts.first()?, self.bounds.first()?);
        let set = |counts| self.rest.iter().find(|way| way.counts == counts).map(|way| way.set);
        let counting = match (set(0), set(1)) {
            (None, _) => items,
            (_, None) => 0,
            (Some(plain), Some(counting)) if cost(counting) < cost(plain) => {
                high.checked_sub(count)?.min(items)
            }
            _ => low.saturating_sub(count),
        };
        for (bit, times) in [(1, counting), (0, items.checked_sub(counting)?)] {
            if times > 0 {
                out.push((set(bit)?, times));
            }
        }
        Some(())
    }

    /// What of the progress a mask depends on, if one token begins at most `clip` items.
    pub(crate) fn essence(&self, index: u64, counts: &[u64], clip: u64) -> SmallVec<[u64; 8]> {
        let (named, reach) = match &self.search {
            Search::One(one) => (one.high.len() as u64 - 1, clip),
            Search::Many(many) => {
                let far = many.far.iter().filter(|&&left| left != NONE).max();
                (many.named, clip.saturating_add(far.copied().unwrap_or(0)))
            }
        };
        let mut essence = SmallVec::new();
        essence.push(index.min(named));
        essence.push(self.min.saturating_sub(index).min(clip));
        if index < named || !matches!(self.search, Search::One(_)) {
            essence.push(if self.max == NONE {
                NONE
            } else {
                self.max.saturating_sub(index).min(reach)
            });
            essence.extend(counts.iter().copied());
            return essence;
        }
        let (left, count) = (self.max.saturating_sub(index), counts[0]);
        let (low, high) = self.bounds[0];
        let missing = low.saturating_sub(count);
        let clipped = |distance: u64| distance.min(clip);
        let spare = if high == NONE { NONE } else { clipped(high.saturating_sub(count)) };
        essence.extend([clipped(left), clipped(missing), spare]);
        essence.push(clipped(left.saturating_sub(missing)));
        essence
    }

    /// Whether a candidate that has counted `a` can become all that one that has counted `b` can.
    pub(crate) fn dominates(&self, a: &[u64], b: &[u64]) -> bool {
        let dominates =
            |(bounds, (a, b)): (&(u64, u64), (&u64, &u64))| a == b || a > b && bounds.1 == NONE;
        self.bounds.iter().zip(a.iter().zip(b)).all(dominates)
    }
}

impl One {
    fn new(prefix: &[Box<[Way]>]) -> One {
        let sums = |counts: &dyn Fn(&[Way]) -> bool| -> Box<[u64]> {
            let mut sum = 0;
            let sums = prefix.iter().map(|ways| {
                sum += u64::from(counts(ways));
                sum
            });
            std::iter::once(0).chain(sums).collect()
        };
        One {
            low: sums(&|ways| ways.iter().all(|way| way.counts == 1)),
            high: sums(&|ways| ways.iter().any(|way| way.counts == 1)),
        }
    }
}

impl Many {
    fn new(plan: &ItemPlan) -> Many {
        let mut domain = 1;
        let clip = |&(min, max): &(u64, u64)| {
            let clip = if max == NONE { min } else { max };
            let place = domain;
            domain *= clip as usize + 1;
            (clip, place)
        };
        let clips: Box<[(u64, usize)]> = plan.bounds.iter().map(clip).collect();
        let repeats = plan.rest_has(0);
        let most: u64 = plan.bounds.iter().map(|bounds| bounds.1).filter(|&max| max != NONE).sum();
        let behind = if repeats || plan.rest.is_empty() { 0 } else { most };
        let named = plan.prefix.len() as u64 + behind;
        let mut many = Many {
            clips,
            domain,
            named,
            live: FixedBitSet::with_capacity(named as usize * domain),
            far: vec![NONE; domain].into(),
        };
        for place in (0..domain).rev() {
            let counts = many.counts(place);
            let settled = counts.iter().zip(&plan.bounds).all(|(count, bounds)| *count >= bounds.0);
            many.far[place] = if settled {
                0
            } else if repeats {
                let next =
                    plan.rest.iter().filter_map(|&way| many.place(&plan.after(&counts, way)));
                let least = next.filter(|&next| next > place).map(|next| many.far[next]).min();
                least.map_or(NONE, |left| left.saturating_add(1))
            } else {
                NONE
            };
        }
        for index in (0..named).rev() {
            for place in 0..domain {
                let counts = many.counts(place);
                let live = plan.can_end(index, &counts)
                    || plan
                        .ways(index)
                        .iter()
                        .any(|&way| many.can_finish(plan, index + 1, &plan.after(&counts, way)));
                many.live.set(index as usize * domain + place, live);
            }
        }
        many
    }

    /// The counts at a place among all.
    fn counts(&self, place: usize) -> Counts {
        self.clips.iter().map(|&(clip, step)| (place / step) as u64 % (clip + 1)).collect()
    }

    /// The place of counts; `None` where one passes its maximum.
    fn place(&self, counts: &[u64]) -> Option<usize> {
        let mut place = 0;
        for (&count, &(clip, step)) in counts.iter().zip(&self.clips) {
            place += if count <= clip { count as usize * step } else { return None };
        }
        Some(place)
    }

    /// The fewest items that settle all minima, behind the named ones.
    fn left(&self, counts: &[u64]) -> u64 {
        self.place(counts).map_or(NONE, |place| self.far[place])
    }

    fn can_finish(&self, plan: &ItemPlan, index: u64, counts: &[u64]) -> bool {
        let Some(place) = self.place(counts).filter(|_| index <= plan.max) else { return false };
        if index < self.named {
            return self.live.contains(index as usize * self.domain + place);
        }
        if !plan.rest_has(0) {
            return plan.can_end(index, counts);
        }
        self.far[place] != NONE && plan.min <= plan.max && self.far[place] <= plan.max - index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Sets by number: a way's set is 10 + its counts.
    fn plan(
        (min, max): (u64, Option<u64>),
        bounds: &[(u64, Option<u64>)],
        prefix: &[&[u64]],
        rest: &[u64],
    ) -> ItemPlan {
        let count = |&(min, max): &(u64, Option<u64>)| ItemCount {
            prefix: Arc::default(),
            rest: SetId::ANY,
            min,
            max,
        };
        let counts: Arc<[ItemCount]> = bounds.iter().map(count).collect();
        let shape = ArrayShape { min, max, counts, ..ArrayShape::any() };
        let ways = |counts: &[u64]| -> Box<[Way]> {
            let way = |&counts: &u64| Way { counts, set: SetId::new(10 + counts as usize) };
            counts.iter().map(way).collect()
        };
        let prefix = prefix.iter().map(|counts| ways(counts)).collect();
        ItemPlan::new(&shape, &ItemWays { prefix, rest: ways(rest) }, |_| true)
    }

    /// The same by trying all continuations of a few items.
    fn brute(plan: &ItemPlan, index: u64, counts: &[u64]) -> bool {
        let mut states = std::collections::BTreeSet::from([Counts::from_slice(counts)]);
        for index in index..index + 12 {
            if states.iter().any(|counts| plan.can_end(index, counts)) {
                return true;
            }
            let next = |counts: &Counts| {
                plan.ways(index).iter().map(|&way| plan.after(counts, way)).collect::<Vec<_>>()
            };
            states = states.iter().flat_map(next).collect();
            states.retain(|counts| counts.iter().all(|&count| count < 6));
        }
        false
    }

    #[test]
    fn finishing_is_found_where_trying_finds_it() {
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for round in 0..500 {
            let constraints = 1 + random(3);
            let bounds: Vec<(u64, Option<u64>)> = (0..constraints)
                .map(|_| {
                    let min = random(3);
                    (min, (random(2) == 0).then(|| min + random(2)))
                })
                .collect();
            let exact: u64 = (0..constraints)
                .filter(|&bit| bounds[bit as usize].1.is_some())
                .map(|bit| 1 << bit)
                .sum();
            let mut ways = || {
                let mut ways: Vec<u64> = Vec::new();
                for counts in 0..1u64 << constraints {
                    if random(2) == 0 {
                        ways.push(counts);
                        // What counts for a minimum is in the wider set, too.
                        ways.push(counts & exact);
                    }
                }
                ways.sort_unstable();
                ways.dedup();
                ways
            };
            let prefix = [ways(), ways()];
            let rest = ways();
            let min = random(4);
            let max = (random(2) == 0).then(|| min + random(3));
            let prefix: Vec<&[u64]> =
                prefix[..random(3) as usize].iter().map(Vec::as_slice).collect();
            let plan = plan((min, max), &bounds, &prefix, &rest);
            let note = format!("{round}: {min} {max:?} {bounds:?} {prefix:?} {rest:?}");
            let mut open = vec![(0, plan.start())];
            while let Some((index, counts)) = open.pop() {
                if counts.iter().any(|&count| count > 5) {
                    continue;
                }
                let found = plan.can_finish(index, &counts);
                assert_eq!(found, brute(&plan, index, &counts), "{note} at {index} {counts:?}");
                let finish = plan.finish(index, &counts, |set| set.index() as u64 % 3);
                assert_eq!(finish.is_some(), found, "{note} at {index} {counts:?}");
                if let Some(items) = finish {
                    let (mut at, mut now) = (index, counts.clone());
                    for (set, times) in items {
                        for _ in 0..times {
                            let way = plan.ways(at).iter().find(|way| way.set == set).unwrap();
                            now = plan.after(&now, *way);
                            at += 1;
                        }
                    }
                    assert!(plan.can_end(at, &now), "{note} at {index} {counts:?}");
                }
                if index < 3 {
                    let next =
                        plan.ways(index).iter().map(|&way| (index + 1, plan.after(&counts, way)));
                    open.extend(next);
                }
            }
        }
    }

    #[test]
    fn large_numbers_are_not_iterated_over() {
        let huge =
            plan((2_000_000_000, None), &[(1_000_000_000, Some(1_500_000_000))], &[], &[0, 1]);
        assert!(huge.can_finish(0, &[0]));
        assert!(!huge.can_finish(0, &[1_500_000_001]));
        let items = huge.finish(0, &[0], |_| 1).unwrap();
        assert_eq!(items, [(SetId::new(11), 1_000_000_000), (SetId::new(10), 1_000_000_000)]);
        let full = plan((0, Some(u64::MAX)), &[(u64::MAX, None)], &[], &[0, 1]);
        assert!(full.can_finish(0, &[0]));
        assert!(!full.next(0, &[0]).any(|(way, _)| way.counts == 0));
    }
}
