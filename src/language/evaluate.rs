//! Whether one text matches a pattern with assertions, without an automaton of its own: each body
//! says at which places of the text it holds, inner ones first. Takes the product of the text's
//! length and the pattern's size, whatever the pattern.

use super::ecma::Look as Assertion;
use super::factor::{LookBody, byte_edges, epsilons};
use super::graph::backward;
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

#[cfg(test)]
mod tests {
    use crate::language::{Alphabet, Factor, Language};
    use crate::options::Limits;
    use std::sync::Arc;

    const PATTERNS: [&str; 34] = [
        "(?=a)b",
        "(?=ab)a",
        "^(?!ab)",
        "^(?!.*b)",
        "(?<=a)b$",
        "(?<!a)b",
        "(?<!^)b",
        "a(?!$)",
        "(?<=^a*)b",
        "(?<=(?=ab)a)b",
        "(?<!(?<!a)b)a$",
        "(?=(?<=a)b)",
        "(?!(?!a)é)^",
        "^(?=.*a)(?=.*b)(?!.*é)",
        "^(?:(?=a)..|b)+$",
        "^(?:a(?!b)|b)*$",
        "^(?:(?<!a)b|a)*é$",
        "\\ba\\b",
        "\\Bb",
        "^(?:\\b.)+$",
        "(?m:^b$)",
        "(?m:a$)(?![^])",
        "(?=$)",
        "^(?=a$|b)(?=.$|.b)",
        "(?<=(a|é)b)(?=b)",
        "(?<!a(?=b))b",
        "(?<!a(?!b))b",
        "(?<=a(?=b$|é))[^]",
        "(?<!(?=ab)a|(?!é)b)[^]$",
        "(?!(?=a)b)",
        "^(?![^]*(?=b)a)",
        "(?<=(?<=a)b(?<!é))",
        "^(?=(?=a)a(?!a))[^]*(?<=b)$",
        "(?![^])(?!$)",
    ];

    fn texts(len: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..len {
            last = last
                .iter()
                .flat_map(|text| ["a", "b", "é", "\n"].map(|c| format!("{text}{c}")))
                .collect();
            all.extend_from_slice(&last);
        }
        all
    }

    #[test]
    fn the_automaton_agrees_and_knows_what_lives() {
        let (limits, alphabet) = (Limits::default(), Arc::new(Alphabet::full(false)));
        for pattern in PATTERNS {
            let factor = Factor::pattern(pattern, &limits).unwrap();
            let compile = |within: &[_], without: &[_]| {
                Language::compile(within, without, 0, None, &alphabet, &limits).unwrap()
            };
            let one = std::slice::from_ref(&factor);
            let language = compile(one, &[]);
            let others = compile(&[], one);
            for text in texts(4) {
                let expected = factor.matches(&text);
                assert_eq!(language.matches(&text), expected, "{pattern} {text:?}");
                assert_eq!(others.matches(&text), !expected, "not {pattern} {text:?}");
            }
            for text in texts(2) {
                let step = |state, byte| language.step_byte(state, byte).unwrap();
                let state = text.bytes().try_fold(language.start(), step);
                let state = state.filter(|&state| language.live(state, 0));
                let mut ends = texts(3).into_iter();
                let lives = ends.any(|end| factor.matches(&format!("{text}{end}")));
                assert_eq!(state.is_some(), lives, "{pattern} after {text:?}");
            }
        }
    }

    #[test]
    fn what_would_take_too_long_meets_a_limit() {
        let (limits, alphabet) = (Limits::default(), Arc::new(Alphabet::full(false)));
        for pattern in [
            "^(?=[ab]*a[ab]{24}$)[ab]*b[ab]{20}$",
            "(?<=a[^]{24})b",
            "(?<!(?=[ab]*a[ab]{12}c)[ab]*(?<=b[ab]{9}))c",
        ] {
            let factor = Factor::pattern(pattern, &limits).unwrap();
            let result = Language::compile(&[factor], &[], 0, None, &alphabet, &limits);
            assert_eq!(result.map(|_| ()).unwrap_err().name, "language_states", "{pattern}");
        }
    }
}
