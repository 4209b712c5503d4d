//! How far a language reaches: its length range, and whether it is infinite.

use super::automaton::{Language, Mode};
use super::factor::Factor;
use super::product::Product;
use fixedbitset::FixedBitSet;

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
}
