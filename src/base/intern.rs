//! Hash-consing: equal values get equal ids.

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash};

/// Gives each distinct value a dense index, in order of first sight.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    /// By hash: the values that have it.
    indices: FxHashMap<u64, SmallVec<[u32; 2]>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), indices: FxHashMap::default() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The index of `value`, and whether it is new.
    pub(crate) fn intern(&mut self, value: T) -> (usize, bool) {
        let indices = self.indices.entry(FxBuildHasher.hash_one(&value)).or_default();
        if let Some(&known) = indices.iter().find(|&&known| self.values[known as usize] == value) {
            return (known as usize, false);
        }
        let index = self.values.len();
        indices.push(u32::try_from(index).expect("interned values are limited below u32::MAX"));
        self.values.push(value);
        (index, true)
    }

    pub(crate) fn get(&self, index: usize) -> &T {
        &self.values[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_an_index() {
        let mut interner = Interner::default();
        assert_eq!(interner.intern("a"), (0, true));
        assert_eq!(interner.intern("b"), (1, true));
        assert_eq!(interner.intern("a"), (0, false));
        assert_eq!((interner.len(), *interner.get(1)), (2, "b"));
    }
}
