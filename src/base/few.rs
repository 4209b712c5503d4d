//! A list that nearly always has one element.

use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};

/// A [`SmallVec`] of which the copy of a single element, and a list made of one, are just that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Few<T>(SmallVec<[T; 1]>);

impl<T> Few<T> {
    pub(crate) fn new() -> Few<T> {
        Few(SmallVec::new())
    }

    pub(crate) fn one(element: T) -> Few<T> {
        Few(SmallVec::from_buf([element]))
    }
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few::new()
    }
}

impl<T: Clone> Clone for Few<T> {
    fn clone(&self) -> Few<T> {
        match self.0.as_slice() {
            [one] => Few::one(one.clone()),
            all => Few(all.iter().cloned().collect()),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = SmallVec<[T; 1]>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Few<T> {
        let mut elements = elements.into_iter();
        let Some(first) = elements.next() else { return Few::new() };
        let mut few = Few::one(first);
        elements.for_each(|element| few.push(element));
        few
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_collects_any_number() {
        for count in 0..4 {
            let few: Few<String> = (0..count).map(|n| n.to_string()).collect();
            assert_eq!(few.len(), count);
            assert_eq!(few.clone(), few);
            assert!(few.into_iter().eq((0..count).map(|n| n.to_string())));
        }
        assert!(Few::<u8>::default().is_empty());
    }
}
