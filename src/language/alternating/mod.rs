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

mod needs;

use super::automaton::{Full, LangState};
use super::ecma::Look as Assertion;
use super::factor::{Factor, byte_edges, epsilons, joint_classes};
use super::graph::backward;
use fixedbitset::FixedBitSet;
use needs::{Inner, MATCH, MATCHED, NO_NEEDS, NOTHING, Needs, NeedsId, SetId, Thread};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

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
        let class = |byte| nfas.clone().map(|nfa| nfa.byte_classes().get(byte)).collect();
        let (classes, _) = joint_classes(class);
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
                    let may_match = self.bodies[body].coaccessible.contains(local);
                    threads.extend((may_match && !inner.must_end(needs)).then_some((id, needs)));
                }
                Some(state) => self.pass(inner, place, state, needs, |next, needs| {
                    stack.push((base + next.as_u32(), needs));
                })?,
                None => {}
            }
        }
        Ok(threads)
    }

    /// Where a state that reads nothing leads, and under which needs.
    fn pass(
        &self,
        inner: &mut Inner,
        place: &mut Place,
        state: &State,
        needs: NeedsId,
        mut visit: impl FnMut(StateID, NeedsId),
    ) -> Result<(), Full> {
        match state {
            State::Look { look: Look::Start, next } if place.at_start => visit(*next, needs),
            State::Look { look: Look::End, next } => {
                let end = inner.end(true);
                if let Some(needs) = inner.both(needs, end)? {
                    visit(*next, needs);
                }
            }
            State::Capture { next, .. } => {
                let ways = match Assertion::of_state(state) {
                    Some((look, negative)) => self.ways(inner, place, look, negative)?,
                    None => SmallVec::from_slice(&[NO_NEEDS]),
                };
                for way in ways {
                    if let Some(needs) = inner.both(needs, way)? {
                        visit(*next, needs);
                    }
                }
            }
            state => epsilons(state, |next| visit(next, needs)),
        }
        Ok(())
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
