//! A set of bytes.

/// A set of bytes, 32 bytes in size.
///
/// ```
/// use tokenmask::ByteSet;
/// let set: ByteSet = [b'a', b'z'].into_iter().collect();
/// assert!(set.contains(b'z') && !set.contains(b'b'));
/// assert_eq!(set.iter().collect::<Vec<_>>(), b"az");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    /// Every byte.
    pub const FULL: ByteSet = ByteSet([u64::MAX; 4]);

    /// The given bytes.
    pub(crate) const fn of(bytes: &[u8]) -> ByteSet {
        let (mut words, mut index) = ([0; 4], 0);
        while index < bytes.len() {
            words[(bytes[index] >> 6) as usize] |= 1 << (bytes[index] & 63);
            index += 1;
        }
        ByteSet(words)
    }

    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Adds the bytes from `low` to `high`.
    pub(crate) fn insert_range(&mut self, low: u8, high: u8) {
        for (word, first) in self.0.iter_mut().zip([0u8, 64, 128, 192]) {
            let (from, to) = (low.max(first), high.min(first + 63));
            if from <= to {
                *word |= u64::MAX << (from & 63) & u64::MAX >> (63 - (to & 63));
            }
        }
    }

    /// Keeps the bytes of another set.
    pub(crate) fn intersect(&mut self, other: ByteSet) {
        self.0.iter_mut().zip(other.0).for_each(|(word, keep)| *word &= keep);
    }

    /// Adds the bytes of another set.
    pub(crate) fn union(&mut self, other: ByteSet) {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
    }

    /// Whether `byte` is in the set.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// How many bytes are in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether no byte is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The bytes, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> {
        [0u8, 64, 128, 192].into_iter().zip(self.0).flat_map(|(first, word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as u8;
                    word &= word - 1;
                    first + bit
                })
            })
        })
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = ByteSet::EMPTY;
        bytes.into_iter().for_each(|b| set.insert(b));
        set
    }
}

/// The four whitespace bytes of JSON (RFC 8259 section 2).
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bytes() {
        for (low, high) in
            [(0, 255), (3, 3), (60, 70), (64, 127), (128, 255), (200, 191), (63, 192)]
        {
            let (mut set, mut each) = (ByteSet::EMPTY, ByteSet::EMPTY);
            set.insert_range(low, high);
            (low..=high).for_each(|byte| each.insert(byte));
            assert_eq!(set, each, "{low} {high}");
            assert_eq!(set.iter().collect::<Vec<_>>(), (low..=high).collect::<Vec<_>>());
        }
    }
}
