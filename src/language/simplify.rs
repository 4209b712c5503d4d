//! What of an intersection need not be explored, because the rest implies it.
//!
//! In: languages asked for and excluded, and a length range. Out: the same strings, said by fewer
//! of them. Products grow with every part, so what can be seen cheaply is looked at first: lengths
//! that every string has anyway, excluded languages that share no string with one asked for, and
//! languages that hold another one. The searches have little fuel; without an answer, nothing is
//! left out.

use super::automaton::{Full, LangState, stepped};
use super::factor::{Factor, common_classes};
use super::product::Range;
use super::stepped::Stepped;
use crate::options::Limits;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Pairs of states that are looked at for one language, at most.
const FUEL: usize = 1_000;

/// The strings of some languages and none of others, in a length range.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) within: Vec<Arc<Factor>>,
    pub(super) without: Vec<Arc<Factor>>,
    pub(super) range: Range,
}

impl Parts {
    /// The same strings, said more briefly; `None` where it turns out that there are none.
    pub(super) fn simplify(mut self, limits: &Limits) -> Option<Parts> {
        if self.range != Range::ANY && !self.simplify_range() {
            return None;
        }
        if self.within.is_empty() || self.within.len() + self.without.len() < 2 {
            return Some(self);
        }
        let mut search = Search { limits, fuel: FUEL };
        let Parts { within, without, .. } = &mut self;
        without.retain(|one| !within.iter().any(|asked| search.is_disjoint(asked, one)));
        let mut index = 0;
        while index < within.len() {
            let of = &within[index];
            let mut others = within.iter().enumerate().filter(|&(other, _)| other != index);
            if others.any(|(_, other)| search.is_included(other, of)) {
                within.remove(index);
            } else {
                index += 1;
            }
        }
        Some(self)
    }

    /// Leaves out bounds that nothing asked for can break; whether there are any strings.
    fn simplify_range(&mut self) -> bool {
        let extents = self.within.iter().map(|factor| factor.extent());
        let (mut least, mut most) = (0, None::<u64>);
        for (low, high) in extents {
            least = least.max(low);
            most = high.into_iter().chain(most).min();
        }
        let Range { min, max } = &mut self.range;
        if max.is_some_and(|max| max < least) || most.is_some_and(|most| most < *min) {
            return false;
        }
        if least >= *min {
            *min = 0;
        }
        if most.is_some_and(|most| max.is_some_and(|max| most <= max)) {
            *max = None;
        }
        true
    }
}

/// Searches in two automata at once.
struct Search<'a> {
    limits: &'a Limits,
    fuel: usize,
}

/// Where two automata are, the second one perhaps nowhere.
type Pair = (LangState, Option<LangState>);

impl Search<'_> {
    /// Whether no string is in both; `false` may mean that it is not known.
    fn is_disjoint(&mut self, one: &Arc<Factor>, other: &Arc<Factor>) -> bool {
        let meets = |[one, other]: [&Stepped; 2], (state, beside): Pair| match beside {
            None => Seen::Leads,
            Some(beside) if one.accepts(state) && other.accepts(beside) => Seen::Breaks,
            Some(_) => Seen::Goes,
        };
        self.holds([one, other], meets)
    }

    /// Whether every string of `one` is in `other`; `false` may mean that it is not known. Where
    /// `one` has a larger language with fewer states, that is asked.
    fn is_included(&mut self, one: &Arc<Factor>, other: &Arc<Factor>) -> bool {
        let one = one.wide().unwrap_or(one);
        if !one.looks().is_empty() {
            // Its automaton goes on where it cannot accept any more.
            return false;
        }
        let leaves = |[one, other]: [&Stepped; 2], (state, beside): Pair| match beside {
            None => Seen::Breaks,
            Some(beside) if other.is_universal(beside) => Seen::Leads,
            Some(beside) if one.accepts(state) && !other.accepts(beside) => Seen::Breaks,
            Some(_) => Seen::Goes,
        };
        self.holds([one, other], leaves)
    }

    /// Whether no pair that can be reached breaks what is looked for.
    fn holds(
        &mut self,
        factors: [&Arc<Factor>; 2],
        look: impl Fn([&Stepped; 2], Pair) -> Seen,
    ) -> bool {
        self.try_holds(factors, look).unwrap_or(false)
    }

    fn try_holds(
        &mut self,
        factors: [&Arc<Factor>; 2],
        look: impl Fn([&Stepped; 2], Pair) -> Seen,
    ) -> Option<bool> {
        let dfas = stepped(factors.into_iter().cloned(), self.limits).ok()?;
        let [one, other] = &dfas[..] else { return None };
        let (classes, count) = common_classes(dfas.iter().map(Stepped::classes));
        let mut bytes = vec![0; count];
        (0..=255u8).for_each(|byte| bytes[usize::from(classes[usize::from(byte)])] = byte);
        let start = (one.start(), Some(other.start()));
        let mut seen: FxHashSet<Pair> = FxHashSet::from_iter([start]);
        let mut open = vec![start];
        while let Some(pair) = open.pop() {
            self.fuel = self.fuel.checked_sub(1)?;
            match look([one, other], pair) {
                Seen::Breaks => return Some(false),
                Seen::Leads => continue,
                Seen::Goes => {}
            }
            let mut last = None;
            for &byte in &bytes {
                let Some(next) = one.step(pair.0, byte).ok()? else { continue };
                let beside = pair.1.map_or(Ok::<_, Full>(None), |state| other.step(state, byte));
                let next = (next, beside.ok()?);
                if last.replace(next) != Some(next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        Some(true)
    }
}

/// What a pair of states says of what is looked for.
enum Seen {
    /// It does not hold.
    Breaks,
    /// Nothing that follows breaks it.
    Leads,
    /// It depends on what follows.
    Goes,
}
