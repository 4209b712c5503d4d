//! Whether one text matches a pattern with assertions, without an automaton of its own: each body
//! says at which places of the text it holds, inner ones first. Takes the product of the text's
//! length and the pattern's size, whatever the pattern.

use super::ecma::Look as Assertion;
use super::factor::{LookBody, backward, byte_edges, epsilons};
use fixedbitset::FixedBitSet;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;

/// Whether `nfa`, whose search is part of it, matches in `text`.
pub(super) fn matches(nfa: &NFA, looks: &[LookBody], text: &str) -> bool {
    let mut places = Places { text: text.as_bytes(), holds: Vec::with_capacity(looks.len()) };
    for look in looks {
        let holds = if look.behind { places.ends(&look.nfa) } else { places.begins(&look.nfa) };
        places.holds.push(holds);
    }
    places.begins(nfa).contains(0)
}

struct Places<'t> {
    text: &'t [u8],
    /// By look: at which places it holds.
    holds: Vec<FixedBitSet>,
}

impl Places<'_> {
    /// The places from which `nfa` matches.
    fn begins(&self, nfa: &NFA) -> FixedBitSet {
        let states = nfa.states();
        let mut begins = FixedBitSet::with_capacity(self.text.len() + 1);
        let mut after = FixedBitSet::with_capacity(states.len());
        for at in (0..=self.text.len()).rev() {
            let byte = self.text.get(at);
            let reads = |q: usize| {
                let mut reads = false;
                byte_edges(&states[q], |low, high, next| {
                    let fits = byte.is_some_and(|byte| (low..=high).contains(byte));
                    reads |= fits && after.contains(next.as_usize());
                });
                reads || matches!(states[q], State::Match { .. })
            };
            let live = backward(states.len(), reads, |q, visit| self.passes(&states[q], at, visit));
            begins.set(at, live.contains(nfa.start_anchored().as_usize()));
            after = live;
        }
        begins
    }

    /// The places at which `nfa`, begun at the beginning of the text, has matched.
    fn ends(&self, nfa: &NFA) -> FixedBitSet {
        let states = nfa.states();
        let mut ends = FixedBitSet::with_capacity(self.text.len() + 1);
        let mut stack = vec![nfa.start_anchored().as_usize()];
        for at in 0..=self.text.len() {
            let mut seen = FixedBitSet::with_capacity(states.len());
            let mut next = Vec::new();
            while let Some(q) = stack.pop() {
                if seen.put(q) {
                    continue;
                }
                ends.set(at, ends.contains(at) || matches!(states[q], State::Match { .. }));
                self.passes(&states[q], at, &mut |to| stack.push(to));
                byte_edges(&states[q], |low, high, to| {
                    if self.text.get(at).is_some_and(|byte| (low..=high).contains(byte)) {
                        next.push(to.as_usize());
                    }
                });
            }
            stack = next;
        }
        ends
    }

    /// Where a state leads without a byte, at a place.
    fn passes(&self, state: &State, at: usize, visit: &mut dyn FnMut(usize)) {
        match state {
            State::Look { look: Look::Start, next } if at == 0 => visit(next.as_usize()),
            State::Look { look: Look::End, next } if at == self.text.len() => {
                visit(next.as_usize());
            }
            State::Capture { next, .. } => {
                let holds = Assertion::of_state(state).is_none_or(|(look, negative)| {
                    self.holds.get(look).is_some_and(|holds| holds.contains(at)) != negative
                });
                if holds {
                    visit(next.as_usize());
                }
            }
            state => epsilons(state, |next| visit(next.as_usize())),
        }
    }
}
