//! The automaton of a pattern with assertions: alternating, determinised on demand.
//!
//! In: a [`Factor`] with look-around. Out: deterministic states over UTF-8 bytes, explored by a
//! product ([`super::product`]), which decides liveness.
//!
//! * A *thread* is an NFA state with its *needs*: what must hold of the rest of the text besides.
//!   A need is a set of threads of which one must match (a look-ahead that was passed), a set of
//!   which none may (all negative ones together), or that the text ends, or goes on.
//! * A *set* of threads holds if one of them reaches its match with all needs met. A look-ahead
//!   does not end where it stands, so a thread that has matched stays while it has needs.
//! * A look-behind is searched for from the beginning of the text, by a set of its own: at each
//!   place it says under which needs it matches just there. The others ask it, inner ones first.
//!
//! A state is the look-behinds' sets and the pattern's own. Sets and needs are interned; a thread
//! that demands more than another at the same NFA state is dropped, so that states recur.
//! Recursion goes as deep as assertions are nested, which the parser bounds.

use super::automaton::{Full, LangState};
use super::ecma::Look as Assertion;
use super::factor::{Factor, backward, byte_edges, epsilons};
use crate::base::Interner;
use fixedbitset::FixedBitSet;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Steps of threads that one automaton may take.
const MAX_WORK: usize = 3_000_000;

/// Ways to miss a look-behind that are told apart at one place.
const MAX_MISSES: usize = 64;

/// An interned set of threads; the first two are the empty set and the one that has matched.
type SetId = u32;
const NOTHING: SetId = 0;
const MATCHED: SetId = 1;

/// Interned needs; the first are none.
type NeedsId = u32;
const NO_NEEDS: NeedsId = 0;

/// The NFA state of every thread that has matched.
const MATCH: u32 = u32::MAX;

/// An NFA state, counted over all bodies, and its needs.
type Thread = (u32, NeedsId);

/// What must hold of the rest of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Needs {
    /// Whether it must be empty, or must not.
    ends: Option<bool>,
    /// One thread of each must match.
    some: SmallVec<[SetId; 2]>,
    /// No thread may.
    none: SetId,
}

#[derive(Debug)]
pub(super) struct Alternating {
    factor: Arc<Factor>,
    /// The bodies of the assertions, then the pattern.
    bodies: Vec<Body>,
    classes: [u8; 256],
    max_states: usize,
    start: LangState,
    inner: RefCell<Inner>,
}

/// One NFA among the others.
#[derive(Debug)]
struct Body {
    /// The number of its first state among all.
    base: u32,
    /// States from which a match is reachable.
    coaccessible: FixedBitSet,
}

#[derive(Debug, Default)]
struct Inner {
    sets: Interner<Rc<[Thread]>>,
    needs: Interner<Needs>,
    /// For each state the sets of the look-behinds and, last, of the pattern.
    states: Interner<Rc<[SetId]>>,
    accepts: FixedBitSet,
    work: usize,
}

/// What is known at one place of a text.
struct Place {
    at_start: bool,
    /// By look: under which needs it has just matched (behind), or its set from here on (ahead).
    behind: Vec<SmallVec<[NeedsId; 2]>>,
    ahead: Vec<Option<SetId>>,
    /// Sets after the byte that leads here.
    stepped: FxHashMap<SetId, SetId>,
}

impl Alternating {
    /// The automaton of a factor with assertions.
    ///
    /// # Errors
    /// [`Full`] where not even the start fits.
    pub(super) fn new(factor: Arc<Factor>, max_states: usize) -> Result<Alternating, Full> {
        let nfas = factor.looks().iter().map(|look| &look.nfa).chain([factor.nfa()]);
        let mut bodies = Vec::new();
        let mut base = 0u32;
        for nfa in nfas.clone() {
            bodies.push(Body { base, coaccessible: coaccessible(nfa) });
            base = u32::try_from(nfa.states().len())
                .ok()
                .and_then(|n| base.checked_add(n))
                .ok_or(Full)?;
        }
        let classes = joint_classes(nfas);
        let mut automaton = Alternating {
            factor: Arc::clone(&factor),
            bodies,
            classes,
            max_states,
            start: LangState(0),
            inner: RefCell::default(),
        };
        let inner = &mut Inner::new();
        automaton.start = automaton.begin(inner)?;
        automaton.inner = RefCell::new(std::mem::take(inner));
        Ok(automaton)
    }

    pub(super) fn start(&self) -> LangState {
        self.start
    }

    pub(super) fn classes(&self) -> &[u8; 256] {
        &self.classes
    }

    pub(super) fn accepts(&self, state: LangState) -> bool {
        self.inner.borrow().accepts.contains(state.0 as usize)
    }

    /// Whether every continuation of `state` is accepted.
    pub(super) fn is_universal(&self, state: LangState) -> bool {
        self.inner.borrow().states.get(state.0 as usize).last() == Some(&MATCHED)
    }

    /// The state after a byte; `None` where no text is accepted any more. Where one is returned,
    /// that may still be so: needs can contradict each other.
    pub(super) fn step(&self, state: LangState, byte: u8) -> Result<Option<LangState>, Full> {
        let inner = &mut *self.inner.borrow_mut();
        let sets = Rc::clone(inner.states.get(state.0 as usize));
        let mut place = Place::new(self.bodies.len(), false);
        let mut next = Vec::with_capacity(sets.len());
        let mut olds = sets.iter().copied();
        for (index, _) in self.factor.looks().iter().enumerate().filter(|(_, look)| look.behind) {
            let threads = self.read(inner, &mut place, olds.next().unwrap_or(NOTHING), byte)?;
            next.push(self.ask(inner, &mut place, index, threads)?);
        }
        let pattern = olds.next().unwrap_or(NOTHING);
        next.push(self.step_set(inner, &mut place, pattern, byte)?);
        self.state(inner, next)
    }

    /// The state before the first byte.
    fn begin(&self, inner: &mut Inner) -> Result<LangState, Full> {
        let mut place = Place::new(self.bodies.len(), true);
        let mut sets = Vec::new();
        for (index, _) in self.factor.looks().iter().enumerate().filter(|(_, look)| look.behind) {
            let threads = self.enter(inner, &mut place, index)?;
            sets.push(self.ask(inner, &mut place, index, threads)?);
        }
        let threads = self.enter(inner, &mut place, self.bodies.len() - 1)?;
        sets.push(inner.set(threads)?);
        // A state even where the pattern cannot match: something must be the first.
        let sets = if sets.last() == Some(&NOTHING) { vec![NOTHING] } else { sets };
        self.intern(inner, sets)
    }

    fn state(&self, inner: &mut Inner, sets: Vec<SetId>) -> Result<Option<LangState>, Full> {
        match sets.last() {
            None | Some(&NOTHING) => Ok(None),
            // Nothing can change it any more.
            Some(&MATCHED) => {
                let mut same = vec![NOTHING; sets.len()];
                same[sets.len() - 1] = MATCHED;
                self.intern(inner, same).map(Some)
            }
            Some(_) => self.intern(inner, sets).map(Some),
        }
    }

    fn intern(&self, inner: &mut Inner, sets: Vec<SetId>) -> Result<LangState, Full> {
        let accepts = inner.holds_at_end(sets.last().copied().unwrap_or(NOTHING));
        let (state, new) = inner.states.intern(sets.into());
        if new {
            if state >= self.max_states {
                return Err(Full);
            }
            inner.accepts.grow(state + 1);
            inner.accepts.set(state, accepts);
        }
        Ok(LangState(state as u32))
    }

    /// The threads at the beginning of a body.
    fn enter(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        body: usize,
    ) -> Result<Vec<Thread>, Full> {
        let start = self.nfa(body).start_anchored().as_u32();
        self.close(inner, place, vec![(self.bodies[body].base + start, NO_NEEDS)])
    }

    /// Notes under which needs a look-behind has just matched; what goes on looking.
    fn ask(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        look: usize,
        threads: Vec<Thread>,
    ) -> Result<SetId, Full> {
        let (matched, others): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(|&(state, _)| state == MATCH);
        let mut needs: SmallVec<[NeedsId; 2]> = SmallVec::new();
        for (_, one) in matched {
            inner.add_way(&mut needs, one);
        }
        place.behind[look] = needs;
        inner.set(others)
    }

    /// A set after `byte`.
    fn step_set(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        set: SetId,
        byte: u8,
    ) -> Result<SetId, Full> {
        if set == NOTHING || set == MATCHED {
            return Ok(set);
        }
        if let Some(&next) = place.stepped.get(&set) {
            return Ok(next);
        }
        let threads = self.read(inner, place, set, byte)?;
        let next = inner.set(threads)?;
        place.stepped.insert(set, next);
        Ok(next)
    }

    /// The threads of a set after `byte`.
    fn read(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        set: SetId,
        byte: u8,
    ) -> Result<Vec<Thread>, Full> {
        let threads = inner.threads(set);
        let mut stack = Vec::with_capacity(threads.len());
        for &(state, needs) in threads.iter() {
            inner.spend(1)?;
            let Some(needs) = self.step_needs(inner, place, needs, byte)? else { continue };
            if state == MATCH {
                stack.push((MATCH, needs));
                continue;
            }
            let body = self.body_of(state);
            let base = self.bodies[body].base;
            if let Some(state) = self.nfa(body).states().get((state - base) as usize) {
                byte_edges(state, |low, high, next| {
                    if (low..=high).contains(&byte) {
                        stack.push((base + next.as_u32(), needs));
                    }
                });
            }
        }
        self.close(inner, place, stack)
    }

    /// Needs after `byte`; `None` where they cannot be met.
    fn step_needs(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        needs: NeedsId,
        byte: u8,
    ) -> Result<Option<NeedsId>, Full> {
        if needs == NO_NEEDS {
            return Ok(Some(NO_NEEDS));
        }
        let old = inner.needs.get(needs as usize).clone();
        let mut new = Needs::default();
        if old.ends == Some(true) {
            return Ok(None);
        }
        for set in old.some {
            match self.step_set(inner, place, set, byte)? {
                NOTHING => return Ok(None),
                MATCHED => {}
                set => new.some.push(set),
            }
        }
        new.none = self.step_set(inner, place, old.none, byte)?;
        Ok(inner.needs(new))
    }

    /// Follows what reads nothing, and asks the assertions on the way: the threads that read a
    /// byte and can still match, and those that have matched.
    fn close(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        mut stack: Vec<Thread>,
    ) -> Result<Vec<Thread>, Full> {
        let mut seen: FxHashMap<u32, SmallVec<[NeedsId; 2]>> = FxHashMap::default();
        let mut threads = Vec::new();
        while let Some((id, needs)) = stack.pop() {
            inner.spend(1)?;
            let ways = seen.entry(id).or_default();
            inner.spend(ways.len())?;
            if !inner.add_way(ways, needs) {
                continue;
            }
            if id == MATCH {
                threads.push((MATCH, needs));
                continue;
            }
            let body = self.body_of(id);
            let base = self.bodies[body].base;
            let local = (id - base) as usize;
            match self.nfa(body).states().get(local) {
                Some(State::Match { .. }) => stack.push((MATCH, needs)),
                Some(State::ByteRange { .. } | State::Sparse(_) | State::Dense(_)) => {
                    if self.bodies[body].coaccessible.contains(local) && !inner.must_end(needs) {
                        threads.push((id, needs));
                    }
                }
                Some(State::Look { look: Look::Start, next }) => {
                    if place.at_start {
                        stack.push((base + next.as_u32(), needs));
                    }
                }
                Some(State::Look { look: Look::End, next }) => {
                    let end = inner.end(true);
                    if let Some(needs) = inner.both(needs, end)? {
                        stack.push((base + next.as_u32(), needs));
                    }
                }
                Some(State::Capture { next, group_index, slot, .. }) => {
                    // Only the beginning of a group stands for an assertion.
                    let begins = slot.as_usize() % 2 == 0;
                    let look = Assertion::of_slot(group_index.as_usize()).filter(|_| begins);
                    let ways = match look {
                        Some((look, negative)) => self.ways(inner, place, look, negative)?,
                        None => SmallVec::from_slice(&[NO_NEEDS]),
                    };
                    for way in ways {
                        if let Some(needs) = inner.both(needs, way)? {
                            stack.push((base + next.as_u32(), needs));
                        }
                    }
                }
                Some(state) => epsilons(state, |next| stack.push((base + next.as_u32(), needs))),
                None => {}
            }
        }
        Ok(threads)
    }

    /// Under which needs an assertion holds here, each of them enough.
    fn ways(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        look: usize,
        negative: bool,
    ) -> Result<SmallVec<[NeedsId; 2]>, Full> {
        if self.factor.looks().get(look).is_some_and(|look| look.behind) {
            let ways = place.behind.get(look).cloned().unwrap_or_default();
            return if negative { inner.negation(&ways) } else { Ok(ways) };
        }
        let set = match place.ahead.get(look).copied().flatten() {
            Some(set) => set,
            None => {
                let threads = self.enter(inner, place, look)?;
                let set = inner.set(threads)?;
                place.ahead[look] = Some(set);
                set
            }
        };
        Ok(inner.needs_of(set, negative).into_iter().collect())
    }

    fn nfa(&self, body: usize) -> &NFA {
        self.factor.looks().get(body).map_or(self.factor.nfa(), |look| &look.nfa)
    }

    fn body_of(&self, state: u32) -> usize {
        self.bodies.partition_point(|body| body.base <= state).saturating_sub(1)
    }
}

impl Place {
    fn new(bodies: usize, at_start: bool) -> Place {
        Place {
            at_start,
            behind: vec![SmallVec::new(); bodies],
            ahead: vec![None; bodies],
            stepped: FxHashMap::default(),
        }
    }
}

impl Inner {
    fn new() -> Inner {
        let mut inner = Inner::default();
        inner.sets.intern(Rc::new([]));
        inner.sets.intern(Rc::new([(MATCH, NO_NEEDS)]));
        inner.needs.intern(Needs::default());
        inner
    }

    fn spend(&mut self, steps: usize) -> Result<(), Full> {
        self.work += steps;
        if self.work > MAX_WORK { Err(Full) } else { Ok(()) }
    }

    fn threads(&self, set: SetId) -> Rc<[Thread]> {
        Rc::clone(self.sets.get(set as usize))
    }

    /// Interns a set, without what demands more than another of its threads.
    fn set(&mut self, mut threads: Vec<Thread>) -> Result<SetId, Full> {
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
    fn needs(&mut self, mut needs: Needs) -> Option<NeedsId> {
        needs.some.sort_unstable();
        needs.some.dedup();
        let contradicts = needs.none == MATCHED
            || needs.some.contains(&NOTHING)
            || (needs.none != NOTHING && needs.some.contains(&needs.none));
        (!contradicts).then(|| self.needs.intern(needs).0 as NeedsId)
    }

    fn end(&mut self, ends: bool) -> NeedsId {
        self.needs.intern(Needs { ends: Some(ends), ..Needs::default() }).0 as NeedsId
    }

    fn must_end(&self, needs: NeedsId) -> bool {
        self.needs.get(needs as usize).ends == Some(true)
    }

    /// The needs of a look-ahead with this set; `None` where it fails.
    fn needs_of(&mut self, set: SetId, negative: bool) -> Option<NeedsId> {
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
    fn both(&mut self, one: NeedsId, two: NeedsId) -> Result<Option<NeedsId>, Full> {
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
    fn add_way(&self, ways: &mut SmallVec<[NeedsId; 2]>, needs: NeedsId) -> bool {
        if ways.iter().any(|&way| self.implies(needs, way)) {
            return false;
        }
        ways.retain(|way| !self.implies(*way, needs));
        ways.push(needs);
        true
    }

    /// The needs, each enough, under which none of `ways` is met.
    fn negation(&mut self, ways: &[NeedsId]) -> Result<SmallVec<[NeedsId; 2]>, Full> {
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
    fn holds_at_end(&self, set: SetId) -> bool {
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

/// The states of an NFA from which it can match, assertions aside.
fn coaccessible(nfa: &NFA) -> FixedBitSet {
    let states = nfa.states();
    backward(
        states.len(),
        |q| matches!(states[q], State::Match { .. }),
        |q, visit| {
            epsilons(&states[q], |next| visit(next.as_usize()));
            byte_edges(&states[q], |_, _, next| visit(next.as_usize()));
            if let State::Look { next, .. } = &states[q] {
                visit(next.as_usize());
            }
        },
    )
}

/// The common refinement of the byte classes of all bodies.
fn joint_classes<'n>(nfas: impl Iterator<Item = &'n NFA> + Clone) -> [u8; 256] {
    let mut known: FxHashMap<Vec<u8>, u8> = FxHashMap::default();
    std::array::from_fn(|byte| {
        let key = nfas.clone().map(|nfa| nfa.byte_classes().get(byte as u8)).collect();
        // At most 256 keys: the largest class is 255.
        let fresh = known.len() as u8;
        *known.entry(key).or_insert(fresh)
    })
}
