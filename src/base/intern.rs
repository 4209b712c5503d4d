//! Hash-consing: equal values get equal ids.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Gives each distinct value a dense index, in order of first sight.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    indices: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), indices: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The index of `value`, and whether it is new.
    pub(crate) fn intern(&mut self, value: T) -> (usize, bool) {
        if let Some(&index) = self.indices.get(&value) {
            return (index as usize, false);
        }
        let index = self.values.len();
        let id = u32::try_from(index).expect("interned values are limited below u32::MAX");
        self.values.push(value.clone());
        self.indices.insert(value, id);
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
