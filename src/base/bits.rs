//! A bit set that needs no allocation for few or near bits.

use smallvec::SmallVec;

/// A growable set of small numbers: the words from the lowest bit to the highest, behind the index
/// of the first one. What lies within 96 bits lives inline, wherever it lies. Equal sets are equal
/// values.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SmallBits(SmallVec<[u32; 4]>);

impl Clone for SmallBits {
    /// Copied as a slice, not word by word.
    fn clone(&self) -> Self {
        SmallBits(SmallVec::from_slice(&self.0))
    }
}

const _: () = assert!(size_of::<SmallBits>() == 24);

impl SmallBits {
    pub(crate) fn single(bit: usize) -> Self {
        let mut bits = SmallBits::default();
        bits.insert(bit);
        bits
    }

    pub(crate) fn insert(&mut self, bit: usize) {
        let word = (bit / 32) as u32;
        self.cover(word, word + 1);
        let index = 1 + (word - self.0[0]) as usize;
        self.0[index] |= 1 << (bit % 32);
    }

    pub(crate) fn remove(&mut self, bit: usize) {
        if !self.contains(bit) {
            return;
        }
        let index = 1 + bit / 32 - self.0[0] as usize;
        self.0[index] &= !(1 << (bit % 32));
        while self.0.len() > 1 && self.0.last() == Some(&0) {
            self.0.pop();
        }
        let zeros = self.0.iter().skip(1).take_while(|&&word| word == 0).count();
        self.0.drain(1..1 + zeros);
        match self.0.len() {
            1 => self.0.clear(),
            _ => self.0[0] += zeros as u32,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.words().1.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_subset(&self, other: &SmallBits) -> bool {
        self.iter().all(|bit| other.contains(bit))
    }

    /// Makes room for the words `from..to`.
    fn cover(&mut self, from: u32, to: u32) {
        if self.0.is_empty() {
            self.0.push(from);
        }
        let first = self.0[0];
        if from < first {
            self.0.insert_many(1, std::iter::repeat_n(0, (first - from) as usize));
            self.0[0] = from;
        }
        let words = 1 + (to - self.0[0]) as usize;
        if words > self.0.len() {
            self.0.resize(words, 0);
        }
    }

    /// The words, and the index of the first.
    fn words(&self) -> (u32, &[u32]) {
        self.0.split_first().map_or((0, &[]), |(&first, words)| (first, words))
    }

    pub(crate) fn contains(&self, bit: usize) -> bool {
        let (first, words) = self.words();
        let index = (bit / 32).checked_sub(first as usize);
        index.and_then(|index| words.get(index)).is_some_and(|w| w >> (bit % 32) & 1 == 1)
    }

    pub(crate) fn union(&mut self, other: &SmallBits) {
        let (first, words) = other.words();
        if words.is_empty() {
            return;
        }
        self.cover(first, first + words.len() as u32);
        let start = 1 + (first - self.0[0]) as usize;
        for (a, b) in self.0[start..].iter_mut().zip(words) {
            *a |= b;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (first, words) = self.words();
        (first as usize..).zip(words).flat_map(|(i, &w)| {
            let mut w = w;
            std::iter::from_fn(move || {
                (w != 0).then(|| {
                    let bit = w.trailing_zeros() as usize;
                    w &= w - 1;
                    i * 32 + bit
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

    #[test]
    fn what_is_removed_leaves_no_trace() {
        for bits in [[3, 130, 70], [130, 3, 70], [70, 200, 71]] {
            let mut all = SmallBits::default();
            bits.iter().for_each(|&bit| all.insert(bit));
            let mut rest = SmallBits::single(bits[1]);
            rest.insert(bits[2]);
            assert!(all.len() == 3 && rest.is_subset(&all) && !all.is_subset(&rest));
            all.remove(bits[0]);
            all.remove(bits[0]);
            assert_eq!(all, rest);
            all.remove(bits[1]);
            all.remove(bits[2]);
            assert_eq!((all.len(), all), (0, SmallBits::default()));
        }
    }

    #[test]
    fn sets_are_equal_however_they_are_made() {
        for bits in [[3, 130], [130, 3], [40_000, 31], [0, 32]] {
            let mut inserted = SmallBits::single(bits[0]);
            inserted.insert(bits[1]);
            let mut united = SmallBits::default();
            bits.iter().rev().for_each(|&bit| united.union(&SmallBits::single(bit)));
            united.union(&SmallBits::default());
            assert_eq!(inserted, united);
            let mut sorted = bits;
            sorted.sort_unstable();
            assert_eq!(inserted.iter().collect::<Vec<_>>(), sorted);
            assert!(bits.iter().all(|&bit| inserted.contains(bit)));
            assert!(!inserted.contains(64) && !inserted.contains(1 << 20));
        }
        assert!(!SmallBits::single(40_000).0.spilled());
    }
}
