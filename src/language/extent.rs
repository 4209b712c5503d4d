//! How far a language reaches: its length range, whether it is infinite, and how many strings it
//! has.

use super::automaton::{LangState, Language, Mode};
use super::factor::Factor;
use super::product::Product;
use super::spell::{BOUNDARY, Spell, SpellNode};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Strings that are counted; more are many.
const COUNTED: u64 = 10_000;

/// Places looked at while strings are counted, at most: beyond them there are many, too.
const COUNT_FUEL: usize = 1 << 20;

impl Language {
    /// The length range beside the patterns, in code points.
    pub(crate) fn lengths(&self) -> (u64, Option<u64>) {
        match &self.mode {
            Mode::Lazy(_) => (0, None),
            Mode::Eager(product) => (product.range().min, product.range().max),
        }
    }

    /// Counts within the length range, and at least this far from its maximum, are alike.
    pub(crate) fn horizon(&self) -> u64 {
        match &self.mode {
            Mode::Lazy(_) => 0,
            Mode::Eager(product) => product.horizon(),
        }
    }

    /// Where there is no maximum, counts at least this far below the minimum are alike.
    pub(crate) fn floor(&self) -> u64 {
        match &self.mode {
            Mode::Lazy(_) => 0,
            Mode::Eager(product) => product.floor(),
        }
    }

    /// Whether there are infinitely many strings.
    pub(crate) fn is_infinite(&self) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => {
                dfa.is_universal(dfa.start())
                    || reaches_loop(dfa.factor(), dfa.members(dfa.start()))
            }
            Mode::Eager(product) => product.range().max.is_none() && loops(product),
        }
    }
}

impl Language {
    /// How many strings complete `state`, which stands between characters, `count` of them read;
    /// `None` where they are more than 10,000.
    pub(crate) fn cardinality(&self, state: LangState, count: u64) -> Option<u64> {
        let mut counted: FxHashMap<Place, Option<u64>> = FxHashMap::default();
        let start = Place { state, node: BOUNDARY, count: self.telling(count) };
        let mut open = vec![self.open(start)?];
        counted.insert(start, None);
        loop {
            let top = open.last_mut()?;
            let Some(&(times, place)) = top.next.last() else {
                let Counting { place, strings, .. } = open.pop()?;
                counted.insert(place, Some(strings));
                if open.is_empty() {
                    return Some(strings);
                }
                continue;
            };
            match counted.get(&place) {
                // It leads back to itself.
                Some(None) => return None,
                Some(Some(strings)) => {
                    top.strings += times * strings;
                    top.next.pop();
                    if top.strings > COUNTED {
                        return None;
                    }
                }
                None if counted.len() >= COUNT_FUEL => return None,
                None => {
                    counted.insert(place, None);
                    open.push(self.open(place)?);
                }
            }
        }
    }

    /// Counts are told apart only where there is a length range.
    fn telling(&self, count: u64) -> u64 {
        if self.lengths() == (0, None) { 0 } else { count }
    }

    /// What follows a place; `None` where the language meets its limit.
    fn open(&self, place: Place) -> Option<Counting> {
        let between = place.node == BOUNDARY;
        let strings = u64::from(between && self.accepts_at(place.state, place.count));
        let count = self.telling(place.count.saturating_add(u64::from(between)));
        let mut times: FxHashMap<Place, u64> = FxHashMap::default();
        for edge in Spell::any_utf8().edges(place.node) {
            for byte in edge.low..=edge.high {
                let next = self.step_byte(place.state, byte).ok()?;
                if let Some(state) = next.filter(|&state| self.live(state, count)) {
                    *times.entry(Place { state, node: edge.next, count }).or_default() += 1;
                }
            }
        }
        let next = times.into_iter().map(|(place, times)| (times, place)).collect();
        Some(Counting { place, strings, next })
    }
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    state: LangState,
    node: SpellNode,
    count: u64,
}

/// A place whose strings are being counted.
struct Counting {
    place: Place,
    strings: u64,
    /// Places that one byte leads to, and by how many bytes.
    next: Vec<(u64, Place)>,
}

/// Whether a loop, or a match that anything may follow, can be reached from `starts`: depth-first,
/// with an explicit stack.
fn reaches_loop(factor: &Factor, starts: &[u32]) -> bool {
    let next = |q: u32| {
        let mut next = Vec::new();
        factor.epsilons(q, |to| next.push(to));
        factor.byte_edges(q, |_, _, to| next.push(to));
        next.retain(|&to| factor.may_accept(to));
        next
    };
    has_cycle(factor.len(), starts, next, |q| factor.is_match(q))
}

fn loops(product: &Product) -> bool {
    has_cycle(product.len(), &[Product::START.0], |q| product.successors(q), |_| false)
}

/// Whether a cycle or a state that `is_loop` is reachable.
fn has_cycle(
    len: usize,
    starts: &[u32],
    next: impl Fn(u32) -> Vec<u32>,
    is_loop: impl Fn(u32) -> bool,
) -> bool {
    let (mut seen, mut open) = (FixedBitSet::with_capacity(len), FixedBitSet::with_capacity(len));
    for &start in starts {
        let mut calls = vec![(start, None::<std::vec::IntoIter<u32>>)];
        while let Some((q, children)) = calls.last_mut() {
            let q = *q;
            let children = match children {
                Some(children) => children,
                None => {
                    if is_loop(q) {
                        return true;
                    }
                    if seen.put(q as usize) {
                        calls.pop();
                        continue;
                    }
                    open.insert(q as usize);
                    children.insert(next(q).into_iter())
                }
            };
            match children.next() {
                Some(child) if open.contains(child as usize) => return true,
                Some(child) => calls.push((child, None)),
                None => {
                    open.set(q as usize, false);
                    calls.pop();
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::language::{Alphabet, Factor, Language};
    use crate::options::Limits;
    use std::sync::Arc;

    #[test]
    fn infinite_languages() {
        let alphabet = Arc::new(Alphabet::full(false));
        let limits = Limits::default();
        let infinite = |pattern: &str, max| {
            let factor = Factor::pattern(pattern, &limits).unwrap();
            Language::compile(&[factor], &[], 0, max, &alphabet, &limits).unwrap().is_infinite()
        };
        for pattern in ["a", "^a*$", "^a", "a$", "^(ab+)$", ""] {
            assert!(infinite(pattern, None), "{pattern}");
        }
        for pattern in ["^a$", "^[a-z]{3,5}$", "^$", "^(a|bc)$"] {
            assert!(!infinite(pattern, None), "{pattern}");
        }
        assert!(!infinite("^a*$", Some(7)));
    }

    #[test]
    fn strings_are_counted() {
        let alphabet = Arc::new(Alphabet::full(false));
        let limits = Limits::default();
        let count = |within: &[&str], without: &[&str], min, max| {
            let of = |patterns: &[&str]| -> Vec<_> {
                patterns.iter().map(|p| Factor::pattern(p, &limits).unwrap()).collect()
            };
            let (within, without) = (of(within), of(without));
            let language =
                Language::compile(&within, &without, min, max, &alphabet, &limits).unwrap();
            (!language.is_empty()).then(|| language.cardinality(language.start(), 0))
        };
        let any = |within: &[&str]| count(within, &[], 0, None);
        assert_eq!(any(&["^$"]), Some(Some(1)));
        assert_eq!(any(&["^(a|bc|é)$"]), Some(Some(3)));
        assert_eq!(any(&["^[0-9]{4}$"]), Some(Some(10_000)));
        assert_eq!(any(&["^([0-9]{4}|x)$"]), Some(None));
        assert_eq!(any(&["a"]), Some(None));
        assert_eq!(any(&["^.$"]), Some(None));
        assert_eq!(any(&["^a", "^b"]), None);
        assert_eq!(any(&["^[ab]{1,2}$", "a"]), Some(Some(4)));
        assert_eq!(count(&["^[ab]{1,2}$"], &["a"], 0, None), Some(Some(2)));
        assert_eq!(count(&["^[ab]*$"], &["b"], 3, Some(5)), Some(Some(3)));
        assert_eq!(count(&[], &["b"], 0, Some(0)), Some(Some(1)));
        assert_eq!(count(&[], &["[^]"], 0, None), Some(Some(1)));
        assert_eq!(count(&[], &["[^ab]"], 2, Some(2)), Some(Some(4)));
        assert_eq!(count(&[], &[""], 0, None), None);
    }
}
