//! How many strings a language has.

use super::automaton::{LangState, Language};
use super::spell::{BOUNDARY, Spell, SpellNode};
use rustc_hash::FxHashMap;

/// Places looked at while strings are counted, at most: beyond them there are many, too.
const COUNT_FUEL: usize = 1 << 20;

impl Language {
    /// Strings that are counted; more are many.
    pub(crate) const COUNTED: u64 = 10_000;

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
                    if top.strings > Self::COUNTED {
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

#[cfg(test)]
mod tests {
    use crate::language::{Alphabet, Factor, Language};
    use crate::options::Limits;
    use std::sync::Arc;

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
