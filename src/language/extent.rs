//! How far a language reaches: its length range, and whether it is infinite.

use super::automaton::{Language, Mode};
use super::factor::{Factor, Scratch, StateSet};
use super::product::Product;
use fixedbitset::FixedBitSet;
use std::collections::VecDeque;

/// The fewest and the most code points of a string of `factor`, or less and more; assertions are
/// passed over. `None`: there may be no most.
pub(super) fn extent(factor: &Factor) -> (u64, Option<u64>) {
    let StateSet::Members { members, accepts } = factor.start_set(&mut Scratch::default()) else {
        return (0, None);
    };
    let least = if accepts { 0 } else { fewest(factor, &members) };
    let most = (!reaches_loop(factor, &members)).then(|| most(factor, &members));
    (least, most)
}

/// The fewest code points from `starts` to where a text is accepted.
fn fewest(factor: &Factor, starts: &[u32]) -> u64 {
    let mut seen = FixedBitSet::with_capacity(factor.len());
    let mut queue: VecDeque<(u32, u64)> = starts.iter().map(|&q| (q, 0)).collect();
    while let Some((q, count)) = queue.pop_front() {
        if seen.put(q as usize) {
            continue;
        }
        if factor.accepts_here(q as usize) {
            return count;
        }
        factor.epsilons(q, |to| queue.push_front((to, count)));
        factor.byte_edges(q, |low, high, to| match chars(low, high) {
            (0, _) => queue.push_front((to, count)),
            _ => queue.push_back((to, count + 1)),
        });
    }
    0
}

/// By NFA state: the fewest code points that begin from there on up to where a text is accepted;
/// `u64::MAX` where it never is. `None` where it is not known which bytes begin one.
pub(super) fn fewest_each(factor: &Factor) -> Option<Vec<u64>> {
    let mut before: Vec<Vec<(u32, u64)>> = vec![Vec::new(); factor.len()];
    let mut is_known = true;
    for q in 0..factor.len() as u32 {
        factor.epsilons(q, |to| before[to as usize].push((q, 0)));
        factor.byte_edges(q, |low, high, to| match chars(low, high) {
            (least, most) if least == most => before[to as usize].push((q, least)),
            // The loop of a search: it only makes texts longer.
            _ => is_known &= to == q || factor.is_search(q),
        });
    }
    let mut fewest = vec![u64::MAX; factor.len()];
    let accepting = (0..factor.len() as u32).filter(|&q| factor.accepts_here(q as usize));
    let mut queue: VecDeque<(u32, u64)> = accepting.map(|q| (q, 0)).collect();
    while let Some((q, count)) = queue.pop_front() {
        if fewest[q as usize] != u64::MAX {
            continue;
        }
        fewest[q as usize] = count;
        for &(from, more) in &before[q as usize] {
            match more {
                0 => queue.push_front((from, count)),
                _ => queue.push_back((from, count + 1)),
            }
        }
    }
    is_known.then_some(fewest)
}

/// The most code points from `starts`, from which no loop can be reached, to where a text is
/// accepted.
fn most(factor: &Factor, starts: &[u32]) -> u64 {
    let mut most: Vec<Option<u64>> = vec![None; factor.len()];
    let mut open: Vec<(u32, bool)> = starts.iter().map(|&q| (q, false)).collect();
    while let Some((q, is_begun)) = open.pop() {
        if most[q as usize].is_some() {
            continue;
        }
        if !is_begun {
            open.push((q, true));
        }
        let mut longest = 0;
        let mut follow = |to: u32, more: u64| {
            if factor.may_accept(to) {
                match most[to as usize] {
                    Some(rest) => longest = longest.max(rest + more),
                    None => open.push((to, false)),
                }
            }
        };
        factor.epsilons(q, |to| follow(to, 0));
        factor.byte_edges(q, |low, high, to| follow(to, chars(low, high).1));
        if is_begun {
            most[q as usize] = Some(longest);
        }
    }
    starts.iter().filter_map(|&q| most[q as usize]).max().unwrap_or(0)
}

/// How many characters begin with a byte of a range: the least, and the most.
fn chars(low: u8, high: u8) -> (u64, u64) {
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    let some = low <= 0xBF && high >= 0x80;
    (u64::from(!some), u64::from(!(continues(low) && continues(high))))
}

impl Language {
    /// The length range beside the patterns, in code points.
    pub(crate) fn lengths(&self) -> (u64, Option<u64>) {
        match &self.mode {
            Mode::Lazy(dfa) => (0, dfa.max()),
            Mode::Eager(product) => (product.range().min, product.range().max),
        }
    }

    /// Counts within the length range, and at least this far from its maximum, are alike.
    pub(crate) fn horizon(&self) -> u64 {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.horizon(),
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
            Mode::Lazy(dfa) if dfa.max().is_some() => false,
            Mode::Lazy(dfa) => {
                dfa.is_universal(dfa.start())
                    || reaches_loop(dfa.factor(), dfa.members(dfa.start()))
            }
            Mode::Eager(product) => product.range().max.is_none() && loops(product),
        }
    }
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
    has_cycle(product.len(), &[Product::START.0], |q| product.successors(q).collect(), |_| false)
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
    fn shortest_and_longest_strings() {
        let extent = |pattern: &str| Factor::pattern(pattern, &Limits::default()).unwrap().extent();
        assert_eq!(extent("^$"), (0, Some(0)));
        assert_eq!(extent("^(a|bcd)é?$"), (1, Some(4)));
        assert_eq!(extent("^[€-😀]{2,3}$"), (2, Some(3)));
        assert_eq!(extent("^(ab)*c$"), (1, None));
        assert_eq!(extent("a{3}"), (3, None));
        assert_eq!(extent("^a{3}"), (3, None));
        assert_eq!(extent("(^a|b)$"), (1, None));
        assert_eq!(extent(""), (0, None));
        assert_eq!(extent("^(?!b)[ab]{2}$"), (2, Some(2)));
        assert_eq!(extent("^([ab]|(?=c)c.){2}$"), (2, Some(4)));
        assert_eq!(extent("^((a?)*b){2}$"), (2, None));
    }

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
}
