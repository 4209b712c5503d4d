//! Sets of threads and what they need, interned.

use super::Full;
use crate::base::Interner;
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// Steps of threads that one automaton may take.
const MAX_WORK: usize = 3_000_000;

/// Ways to miss a look-behind that are told apart at one place.
const MAX_MISSES: usize = 64;

/// An interned set of threads; the first two are the empty set and the one that has matched.
pub(super) type SetId = u32;
pub(super) const NOTHING: SetId = 0;
pub(super) const MATCHED: SetId = 1;

/// Interned needs; the first are none.
pub(super) type NeedsId = u32;
pub(super) const NO_NEEDS: NeedsId = 0;

/// The NFA state of every thread that has matched.
pub(super) const MATCH: u32 = u32::MAX;

/// An NFA state, counted over all bodies, and its needs.
pub(super) type Thread = (u32, NeedsId);

/// What must hold of the rest of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Needs {
    /// Whether it must be empty, or must not.
    pub(super) ends: Option<bool>,
    /// One thread of each must match.
    pub(super) some: SmallVec<[SetId; 2]>,
    /// No thread may.
    pub(super) none: SetId,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) sets: Interner<Rc<[Thread]>>,
    pub(super) needs: Interner<Needs>,
    /// For each state the sets of the look-behinds and, last, of the pattern.
    pub(super) states: Interner<Rc<[SetId]>>,
    pub(super) accepts: FixedBitSet,
    work: usize,
}

impl Inner {
    pub(super) fn new() -> Inner {
        let mut inner = Inner::default();
        inner.sets.intern(Rc::new([]));
        inner.sets.intern(Rc::new([(MATCH, NO_NEEDS)]));
        inner.needs.intern(Needs::default());
        inner
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Full> {
        self.work += steps;
        if self.work > MAX_WORK { Err(Full) } else { Ok(()) }
    }

    pub(super) fn threads(&self, set: SetId) -> Rc<[Thread]> {
        Rc::clone(self.sets.get(set as usize))
    }

    /// Interns a set, without what demands more than another of its threads.
    pub(super) fn set(&mut self, mut threads: Vec<Thread>) -> Result<SetId, Full> {
        if threads.contains(&(MATCH, NO_NEEDS)) {
            return Ok(MATCHED);
        }
        threads.sort_unstable();
        threads.dedup();
        // One that has matched already asks for the same or less: the other is no help.
        let matched: Vec<NeedsId> =
            threads.iter().filter(|thread| thread.0 == MATCH).map(|thread| thread.1).collect();
        let mut kept: Vec<Thread> = Vec::with_capacity(threads.len());
        for run in threads.chunk_by(|a, b| a.0 == b.0) {
            self.spend(run.len() * (run.len() + matched.len()))?;
            for (at, &(state, needs)) in run.iter().enumerate() {
                let demands_more = |&(other, &(_, than)): &(usize, &Thread)| {
                    other != at && self.implies(needs, than)
                        // Of two that demand the same, the first stays.
                        && (other < at || !self.implies(than, needs))
                };
                let no_help = state != MATCH && matched.iter().any(|&m| self.implies(needs, m));
                if !no_help && run.iter().enumerate().find(demands_more).is_none() {
                    kept.push((state, needs));
                }
            }
        }
        Ok(self.sets.intern(kept.into()).0 as SetId)
    }

    /// Interns needs; `None` where they cannot be met.
    pub(super) fn needs(&mut self, mut needs: Needs) -> Option<NeedsId> {
        needs.some.sort_unstable();
        needs.some.dedup();
        let contradicts = needs.none == MATCHED
            || needs.some.contains(&NOTHING)
            || (needs.none != NOTHING && needs.some.contains(&needs.none));
        (!contradicts).then(|| self.needs.intern(needs).0 as NeedsId)
    }

    pub(super) fn end(&mut self, ends: bool) -> NeedsId {
        self.needs.intern(Needs { ends: Some(ends), ..Needs::default() }).0 as NeedsId
    }

    pub(super) fn must_end(&self, needs: NeedsId) -> bool {
        self.needs.get(needs as usize).ends == Some(true)
    }

    /// The needs of a look-ahead with this set; `None` where it fails.
    pub(super) fn needs_of(&mut self, set: SetId, negative: bool) -> Option<NeedsId> {
        match (set, negative) {
            (NOTHING, false) | (MATCHED, true) => None,
            (NOTHING, true) | (MATCHED, false) => Some(NO_NEEDS),
            (set, true) => self.needs(Needs { none: set, ..Needs::default() }),
            (set, false) => {
                self.needs(Needs { some: SmallVec::from_slice(&[set]), ..Needs::default() })
            }
        }
    }

    /// Both needs together; `None` where they contradict each other.
    pub(super) fn both(&mut self, one: NeedsId, two: NeedsId) -> Result<Option<NeedsId>, Full> {
        if one == two || two == NO_NEEDS {
            return Ok(Some(one));
        }
        let mut all = self.needs.get(one as usize).clone();
        let more = self.needs.get(two as usize).clone();
        if all.ends.is_some() && more.ends.is_some() && all.ends != more.ends {
            return Ok(None);
        }
        all.ends = all.ends.or(more.ends);
        all.some.extend(more.some);
        // That neither set matches is that their union does not.
        all.none = self.union(all.none, more.none)?;
        Ok(self.needs(all))
    }

    fn union(&mut self, one: SetId, two: SetId) -> Result<SetId, Full> {
        match (one, two) {
            (MATCHED, _) | (_, MATCHED) => Ok(MATCHED),
            (NOTHING, set) | (set, NOTHING) => Ok(set),
            (one, two) if one == two => Ok(one),
            (one, two) => {
                let threads = [self.threads(one), self.threads(two)].concat();
                self.spend(threads.len())?;
                self.set(threads)
            }
        }
    }

    /// Whether `one` demands all that `two` does. `false` may mean that it is not known.
    fn implies(&self, one: NeedsId, two: NeedsId) -> bool {
        if one == two || two == NO_NEEDS {
            return true;
        }
        let (one, two) = (self.needs.get(one as usize), self.needs.get(two as usize));
        (two.ends.is_none() || one.ends == two.ends)
            && two.some.iter().all(|set| one.some.contains(set))
            && self.is_within(two.none, one.none)
    }

    fn is_within(&self, one: SetId, two: SetId) -> bool {
        if one == two || one == NOTHING {
            return true;
        }
        let (one, two) = (self.sets.get(one as usize), self.sets.get(two as usize));
        one.iter().all(|thread| two.binary_search(thread).is_ok())
    }

    /// Adds needs to others of which any is enough; `false` where that changes nothing.
    pub(super) fn add_way(&self, ways: &mut SmallVec<[NeedsId; 2]>, needs: NeedsId) -> bool {
        if ways.iter().any(|&way| self.implies(needs, way)) {
            return false;
        }
        ways.retain(|way| !self.implies(*way, needs));
        ways.push(needs);
        true
    }

    /// The needs, each enough, under which none of `ways` is met.
    pub(super) fn negation(&mut self, ways: &[NeedsId]) -> Result<SmallVec<[NeedsId; 2]>, Full> {
        let mut all: SmallVec<[NeedsId; 2]> = SmallVec::from_slice(&[NO_NEEDS]);
        for &way in ways {
            let needs = self.needs.get(way as usize).clone();
            let mut misses: SmallVec<[NeedsId; 4]> = SmallVec::new();
            misses.extend(needs.ends.map(|ends| self.end(!ends)));
            misses.extend(needs.some.iter().filter_map(|&set| self.needs_of(set, true)));
            misses.extend(self.needs_of(needs.none, false));
            let mut next = SmallVec::new();
            for &one in &all {
                for &miss in &misses {
                    if let Some(both) = self.both(one, miss)? {
                        self.add_way(&mut next, both);
                    }
                }
            }
            self.spend(all.len() * misses.len())?;
            if next.len() > MAX_MISSES {
                return Err(Full);
            }
            all = next;
        }
        Ok(all)
    }

    /// Whether a set holds if the text ends here.
    pub(super) fn holds_at_end(&self, set: SetId) -> bool {
        self.sets
            .get(set as usize)
            .iter()
            .any(|&(state, needs)| state == MATCH && self.met_at_end(needs))
    }

    fn met_at_end(&self, needs: NeedsId) -> bool {
        let needs = self.needs.get(needs as usize);
        needs.ends != Some(false)
            && needs.some.iter().all(|&set| self.holds_at_end(set))
            && !self.holds_at_end(needs.none)
    }
}
