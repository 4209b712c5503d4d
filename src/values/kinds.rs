//! Kinds of keys, by what a member with such a key can do for its object.
//!
//! Where keys are counted, a key may only come if what its member can satisfy leaves room for the
//! rest; so the keys that may come are those of some kinds. What can do more may always come where
//! what can do less may: only such *upper* sets of kinds occur.

/// The upper sets of `kinds` kinds, as bits, larger ones first; the empty set is none of them.
/// `is_below(a, b)`: a member of kind `b` can do all that one of kind `a` can. `None` where there
/// are more than `most`, or too many kinds.
pub(crate) fn upper_sets(
    kinds: usize,
    is_below: impl Fn(usize, usize) -> bool,
    most: usize,
) -> Option<Vec<u64>> {
    if kinds > u64::BITS as usize {
        return None;
    }
    let mut all = vec![0_u64];
    for kind in 0..kinds {
        let above = (0..kinds).filter(|&other| other == kind || is_below(kind, other));
        let above = above.fold(0, |above, other| above | 1 << other);
        let joined: Vec<u64> = all.iter().map(|set| set | above).collect();
        all.extend(joined);
        all.sort_unstable();
        all.dedup();
        if all.len() > most.saturating_add(1) {
            return None;
        }
    }
    all.retain(|&set| set != 0);
    all.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_sets_hold_what_is_above_each_kind() {
        let count = |kinds, is_below: fn(usize, usize) -> bool| {
            upper_sets(kinds, is_below, 100).map(|sets| sets.len())
        };
        // A chain, kinds that have nothing to do with each other, and subsets of two, three, four.
        assert_eq!(count(5, |a, b| a <= b), Some(5));
        assert_eq!(count(3, |_, _| false), Some(7));
        assert_eq!(count(4, |a, b| a & !b == 0), Some(5));
        assert_eq!(count(8, |a, b| a & !b == 0), Some(19));
        assert_eq!(count(16, |a, b| a & !b == 0), None);
        assert_eq!(count(0, |_, _| true), Some(0));
        assert_eq!(count(65, |_, _| true), None);
        assert_eq!(upper_sets(2, |a, b| a <= b, 2), Some(vec![0b11, 0b10]));
    }
}
