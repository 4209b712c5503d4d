//! With which members an object is finished at little cost.
//!
//! The same search as in [`finish_members`](super::finish_members), with costs: so a plan is found
//! exactly where the object can be finished. It is cheapest where each part is asked for alone; where
//! several meet (a minimum beside constraints on some member), it is nearly so.

use super::finish_members::{Demands, Group, Members, Places, Progress};
use super::shape::SetId;
use crate::base::SmallBits;
use smallvec::SmallVec;

/// What members cost.
pub(crate) trait Weigh: Members {
    /// A member with a name whose value is in a set.
    fn name(&self, name: usize, set: SetId) -> u64;

    /// One with another key of a combination.
    fn other(&self, combination: usize, set: SetId) -> u64;
}

/// A member that is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A name, and the set of its value.
    Name(usize, SetId),
    /// Another key of a combination, and the set of its value.
    Other(usize, SetId),
    /// So many other keys, whichever.
    Spare(u64),
}

/// Members by which some constraints are satisfied.
#[derive(Clone, Default)]
struct Chosen {
    bytes: u64,
    /// Those that need not come anyway.
    keys: u64,
    members: SmallVec<[Member; 4]>,
}

impl Demands {
    /// Members that finish an object, cheap ones; `None` where none do.
    pub(crate) fn plan(&self, at: &Progress, members: &impl Weigh) -> Option<Vec<Member>> {
        let room = self.max.unwrap_or(u64::MAX).checked_sub(at.count)?;
        let room = room.checked_sub(at.needed.len() as u64)?;
        let empty = self.max.is_some_and(|max| max < self.min);
        if empty || !at.needed.iter().all(|name| members.may_come(name)) {
            return None;
        }
        let serving = self.serving(at, room, false, members);
        let serving = serving.or_else(|| self.serving(at, room, true, members))?;
        let mut plan = Plan { taken: at.needed.clone(), sets: serving, spare: 0 };
        for at in 0..plan.sets.len() {
            if let Member::Name(name, _) = plan.sets[at] {
                plan.take(self, name, members);
            }
        }
        self.fill(at, &mut plan, members)?;
        let given =
            |name: usize| plan.sets.iter().any(|m| matches!(m, Member::Name(n, _) if *n == name));
        let rest = plan.taken.iter().filter(|&name| !given(name));
        let rest: Vec<Member> = rest.map(|name| Member::Name(name, self.names[name])).collect();
        let mut all = plan.sets;
        all.extend(rest);
        all.sort_by_key(|member| match member {
            Member::Name(name, _) => *name,
            Member::Other(..) | Member::Spare(_) => usize::MAX,
        });
        if plan.spare > 0 {
            all.push(Member::Spare(plan.spare));
        }
        Some(all)
    }

    /// Members that satisfy the open constraints, at most `room` of them beside those that must come
    /// anyway; as few as can be, or as cheap.
    fn serving(
        &self,
        at: &Progress,
        room: u64,
        few: bool,
        members: &impl Weigh,
    ) -> Option<Vec<Member>> {
        let (mut left, mut keys, mut all) = (at.open, 0, Vec::new());
        for group in &self.groups {
            let wanted = left & group.bits;
            if wanted != 0 {
                left &= !wanted;
                let chosen = self.cheapest(group, wanted, at, few, members)?;
                keys += chosen.keys;
                all.extend(chosen.members);
            }
        }
        (left == 0 && keys <= room).then_some(all)
    }

    fn cheapest(
        &self,
        group: &Group,
        wanted: u64,
        at: &Progress,
        few: bool,
        members: &impl Weigh,
    ) -> Option<Chosen> {
        let places = Places::of(wanted);
        let full = places.full();
        let mut best: Vec<Option<Chosen>> = vec![None; full + 1];
        best[0] = Some(Chosen::default());
        let offer = |best: &mut Vec<Option<Chosen>>, to: usize, chosen: Chosen| {
            let rank = |c: &Chosen| if few { (c.keys, c.bytes) } else { (c.bytes, c.keys) };
            if best[to].as_ref().is_none_or(|known| rank(&chosen) < rank(known)) {
                best[to] = Some(chosen);
            }
        };
        for (name, ways) in &group.names {
            let name = *name as usize;
            if !self.can_come(name, members) {
                continue;
            }
            let is_needed = at.needed.contains(name);
            let anyway = if is_needed { members.name(name, self.names[name]) } else { 0 };
            let before = best.clone();
            for way in ways.iter().filter(|way| members.usable(way.set)) {
                let bytes = members.name(name, way.set).saturating_sub(anyway);
                for (served, chosen) in before.iter().enumerate() {
                    if let Some(chosen) = chosen {
                        let member = Member::Name(name, way.set);
                        let more = chosen.with(member, bytes, u64::from(!is_needed));
                        offer(&mut best, served | places.pack(way.counts), more);
                    }
                }
            }
        }
        for served in 0..=full {
            for (combination, ways) in &group.others {
                for way in ways.iter().filter(|way| members.usable(way.set)) {
                    let Some(chosen) = best[served].clone() else { continue };
                    let combination = *combination as usize;
                    let bytes = members.other(combination, way.set);
                    let more = chosen.with(Member::Other(combination, way.set), bytes, 1);
                    offer(&mut best, served | places.pack(way.counts), more);
                }
            }
        }
        best.pop()?
    }

    /// Adds members up to the minimum.
    fn fill(&self, at: &Progress, plan: &mut Plan, members: &impl Weigh) -> Option<()> {
        let mut missing = self.min.saturating_sub(at.count + plan.len());
        if missing == 0 {
            return Some(());
        }
        let taken = plan.len() - plan.taken.len() as u64;
        let spare = self.spare(at, members).saturating_sub(taken);
        let usable = self.others.iter().enumerate().filter(|(_, o)| members.usable(o.set));
        let other = usable.map(|(index, others)| members.other(index, others.set)).min();
        let other = other.filter(|_| spare > 0).unwrap_or(u64::MAX);
        if self.is_more_than_counts() {
            // Names with needs come in blocks; other keys come alone.
            plan.spare = missing.min(spare);
            missing -= plan.spare;
            while missing > 0 {
                let block = |name: usize| {
                    let needs = self.needs(name).iter().map(|&n| n as usize);
                    needs.filter(|&n| !plan.taken.contains(n) && !members.has_come(n)).count()
                };
                let names = (0..self.names.len()).filter(|&name| !plan.taken.contains(name));
                let names = names.filter(|&name| self.can_come(name, members));
                let weigh = |name: usize| members.name(name, self.names[name]);
                let name = names.min_by_key(|&name| (block(name), weigh(name)))?;
                let before = plan.taken.len();
                plan.take(self, name, members);
                missing = missing.saturating_sub((plan.taken.len() - before) as u64);
            }
            return Some(());
        }
        let names = (0..self.names.len()).filter(|&name| !plan.taken.contains(name));
        let names = names.filter(|&name| members.may_come(name));
        let mut names: Vec<(u64, usize)> =
            names.map(|name| (members.name(name, self.names[name]), name)).collect();
        names.sort_unstable();
        // What costs less than other keys, and what they are too few for.
        for (cost, name) in names {
            if missing == 0 || (cost > other && missing <= spare) {
                break;
            }
            plan.taken.insert(name);
            missing -= 1;
        }
        plan.spare = missing;
        (missing <= spare).then_some(())
    }
}

/// Members on their way into a plan.
struct Plan {
    /// Names, those with a set of their own among them.
    taken: SmallBits,
    /// Members whose sets are settled.
    sets: Vec<Member>,
    spare: u64,
}

impl Plan {
    fn len(&self) -> u64 {
        let others = self.sets.iter().filter(|member| matches!(member, Member::Other(..)));
        self.taken.len() as u64 + others.count() as u64
    }

    /// Takes a name and what it needs.
    fn take(&mut self, demands: &Demands, name: usize, members: &impl Weigh) {
        self.taken.insert(name);
        for &needed in demands.needs(name) {
            if !members.has_come(needed as usize) {
                self.taken.insert(needed as usize);
            }
        }
    }
}

impl Chosen {
    fn with(&self, member: Member, bytes: u64, keys: u64) -> Chosen {
        let mut members = self.members.clone();
        members.push(member);
        Chosen { bytes: self.bytes.saturating_add(bytes), keys: self.keys + keys, members }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{Implication, MemberWays, Name, ObjectShape, Rank, SomeMember, Way};
    use super::*;
    use std::sync::Arc;

    /// A small generator (splitmix64).
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) % bound
        }
    }

    /// Before the first member; some sets hold no value, all members cost the same.
    struct Start {
        names: usize,
        empty: u64,
    }

    impl Members for Start {
        fn has_come(&self, _: usize) -> bool {
            false
        }

        fn may_come(&self, name: usize) -> bool {
            self.usable(SetId::new(10 + name))
        }

        fn left(&self) -> u64 {
            (0..self.names).filter(|&name| self.may_come(name)).count() as u64
        }

        fn usable(&self, set: SetId) -> bool {
            self.empty >> set.index() & 1 == 0
        }
    }

    impl Weigh for Start {
        fn name(&self, name: usize, set: SetId) -> u64 {
            (name * 7 % 5 + set.index() % 3) as u64
        }

        fn other(&self, _: usize, _: SetId) -> u64 {
            2
        }
    }

    const SOME: u64 = 3;

    /// Names `10..`, whose sets are 10 and up, ways with sets from 20 on; the set of other keys is 60.
    fn random_shape(random: &mut Random) -> (ObjectShape, MemberWays) {
        let names = 1 + random.below(4) as usize;
        let max = (random.below(2) == 0).then(|| random.below(5));
        let some = random.below(SOME + 1);
        let mut way_set = 20;
        let mut ways = |random: &mut Random, own: usize, serves: bool| -> Box<[Way]> {
            let mut ways = vec![Way { counts: 0, set: SetId::new(own) }];
            for counts in 1..1 << some {
                if serves && random.below(4) == 0 {
                    way_set += 1;
                    ways.push(Way { counts, set: SetId::new(20 + way_set) });
                }
            }
            ways.into()
        };
        let text = |name: usize| Arc::<str>::from(format!("n{name}"));
        let mut implies = Vec::new();
        for name in 1..names {
            if random.below(3) == 0 {
                let needs = random.below(name as u64) as usize;
                implies.push(Implication { name: text(name), needs: text(needs) });
            }
        }
        let name_ways = (0..names)
            .map(|name| {
                let needs = implies.iter().any(|implies| implies.name == text(name));
                ways(random, 10 + name, max.is_none() || !needs)
            })
            .collect();
        let closed = random.below(2) == 0;
        let others = if closed { Box::from([]) } else { Box::from([ways(random, 60, true)]) };
        let names = (0..names).map(|name| Name {
            text: text(name),
            rank: Rank::Declared,
            required: random.below(4) == 0,
            set: SetId::new(10 + name),
        });
        let one = SomeMember { names: Arc::default(), other: SetId::NEVER, rules: Arc::default() };
        let shape = ObjectShape {
            names: names.collect(),
            other: SetId::new(60),
            closed,
            min: random.below(4),
            max,
            some: (0..some).map(|_| one.clone()).collect(),
            implies: implies.into(),
            ..ObjectShape::any()
        };
        (shape, MemberWays { names: name_ways, others })
    }

    /// Whether some members, at most four of them other keys, satisfy everything.
    fn search(shape: &ObjectShape, ways: &MemberWays, start: &Start) -> bool {
        let names = shape.names.len();
        let is_closed = |taken: u64| {
            let place = |text: &Arc<str>| shape.names.iter().position(|name| name.text == *text);
            (0..names).all(|name| !shape.names[name].required || taken >> name & 1 == 1)
                && shape.implies.iter().all(|implies| {
                    let has = |text| taken >> place(text).unwrap() & 1 == 1;
                    !has(&implies.name) || has(&implies.needs)
                })
        };
        let full = (1_u64 << shape.some.len()) - 1;
        (0..1_u64 << names).filter(|&taken| is_closed(taken)).any(|taken| {
            (0..=4).any(|others| {
                let count = u64::from(taken.count_ones()) + others;
                if count < shape.min || shape.max.is_some_and(|max| count > max) {
                    return false;
                }
                let mut served = vec![0_u64];
                let mut members: Vec<&[Way]> =
                    (0..names).filter(|n| taken >> n & 1 == 1).map(|n| &*ways.names[n]).collect();
                for _ in 0..others {
                    let Some(ways) = ways.others.first() else { return false };
                    members.push(ways);
                }
                for ways in members {
                    if !start.usable(ways[0].set) {
                        return false;
                    }
                    let ways = ways.iter().filter(|way| start.usable(way.set));
                    let ways: Vec<u64> = ways.map(|way| way.counts).collect();
                    served = served.iter().flat_map(|s| ways.iter().map(move |w| s | w)).collect();
                    served.sort_unstable();
                    served.dedup();
                }
                served.contains(&full)
            })
        })
    }

    #[test]
    fn what_can_be_finished_is_what_a_search_finds() {
        let mut random = Random(5);
        let (mut finished, mut planned) = (0, 0);
        for _ in 0..20_000 {
            let (shape, ways) = random_shape(&mut random);
            let mut empty = 0_u64;
            (0..random.below(12)).for_each(|_| empty |= 1 << random.below(61));
            // What is in no set is in none of its parts.
            for ways in ways.names.iter().chain(&ways.others) {
                if empty >> ways[0].set.index() & 1 == 1 {
                    ways.iter().for_each(|way| empty |= 1 << way.set.index());
                }
            }
            let start = Start { names: shape.names.len(), empty };
            let Some(mut demands) = Demands::new(&shape, None, Some(&ways)) else { continue };
            let expected = search(&shape, &ways, &start);
            let at = demands.start();
            assert_eq!(demands.can_finish(&at, &start), expected, "{shape:?} {ways:?} {empty:x}");
            let plan = demands.plan(&at, &start);
            assert_eq!(plan.is_some(), expected, "{shape:?} {ways:?} {empty:x}");
            finished += usize::from(expected);
            if let Some(plan) = plan {
                check_plan(&shape, &ways, &plan);
                planned += plan.len();
            }
            demands.narrow(|set| start.usable(set));
            assert_eq!(demands.can_finish(&at, &start), expected, "{shape:?} {ways:?} {empty:x}");
        }
        assert!(finished > 5_000 && planned > 10_000, "{finished} {planned}");
    }

    fn check_plan(shape: &ObjectShape, ways: &MemberWays, plan: &[Member]) {
        let (mut count, mut served) = (0, 0);
        let mut taken: Vec<&str> = Vec::new();
        let counts = |ways: &[Way], set: SetId| {
            let found = ways.iter().filter(|way| way.set == set).map(|way| way.counts);
            found.fold(0, |all, counts| all | counts)
        };
        for member in plan {
            match *member {
                Member::Name(name, set) => {
                    count += 1;
                    served |= counts(&ways.names[name], set);
                    taken.push(&shape.names[name].text);
                }
                Member::Other(combination, set) => {
                    count += 1;
                    served |= counts(&ways.others[combination], set);
                }
                Member::Spare(more) => count += more,
            }
        }
        let has = |text: &str| taken.contains(&text);
        assert_eq!(served, (1 << shape.some.len()) - 1, "{shape:?} {plan:?}");
        assert!(count >= shape.min && shape.max.is_none_or(|max| count <= max), "{plan:?}");
        assert!(shape.names.iter().all(|name| !name.required || has(&name.text)), "{plan:?}");
        assert!(shape.implies.iter().all(|i| !has(&i.name) || has(&i.needs)), "{shape:?} {plan:?}");
        let mut distinct = taken.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), taken.len(), "{plan:?}");
    }
}
