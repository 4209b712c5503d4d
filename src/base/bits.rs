//! A bit set that needs no allocation up to 64 bits.

use smallvec::SmallVec;

/// A growable set of small numbers; up to 64 of them live inline. Equal sets are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SmallBits(SmallVec<[u64; 1]>);

impl SmallBits {
    pub(crate) fn single(bit: usize) -> Self {
        let mut bits = SmallBits::default();
        bits.insert(bit);
        bits
    }

    pub(crate) fn insert(&mut self, bit: usize) {
        let word = bit / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (bit % 64);
    }

    pub(crate) fn contains(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|w| w >> (bit % 64) & 1 == 1)
    }

    pub(crate) fn union(&mut self, other: &SmallBits) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &w)| {
            let mut w = w;
            std::iter::from_fn(move || {
                (w != 0).then(|| {
                    let bit = w.trailing_zeros() as usize;
                    w &= w - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_one_word() {
        let mut bits = SmallBits::single(3);
        bits.union(&SmallBits::single(130));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [3, 130]);
        assert!(bits.contains(130) && !bits.contains(131) && !bits.contains(500));
        assert!(!bits.is_empty() && SmallBits::default().is_empty());
    }
}
