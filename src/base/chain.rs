//! A stack whose tail is shared by its clones.

use std::sync::Arc;

/// A persistent stack: a clone costs one reference count, a push one allocation.
#[derive(Debug)]
pub(crate) struct Chain<T> {
    head: Option<Arc<Link<T>>>,
}

#[derive(Debug)]
struct Link<T> {
    value: T,
    below: Option<Arc<Link<T>>>,
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Chain { head: None }
    }
}

impl<T> Clone for Chain<T> {
    fn clone(&self) -> Self {
        Chain { head: self.head.clone() }
    }
}

impl<T> Drop for Chain<T> {
    /// A long chain must not be dropped by recursion.
    fn drop(&mut self) {
        let mut next = self.head.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|link| link.below);
        }
    }
}

impl<T> Chain<T> {
    pub(crate) fn push(&mut self, value: T) {
        self.head = Some(Arc::new(Link { value, below: self.head.take() }));
    }

    /// The value pushed last.
    pub(crate) fn top(&self) -> Option<&T> {
        self.head.as_deref().map(|link| &link.value)
    }

    /// Takes the value pushed last off; it is copied where a clone still has it.
    pub(crate) fn pop(&mut self) -> Option<T>
    where
        T: Clone,
    {
        let link = self.head.take()?;
        let (value, below) = match Arc::try_unwrap(link) {
            Ok(link) => (link.value, link.below),
            Err(shared) => (shared.value.clone(), shared.below.clone()),
        };
        self.head = below;
        Some(value)
    }

    /// Takes the value pushed last off.
    pub(crate) fn discard(&mut self) {
        let Some(link) = self.head.take() else { return };
        self.head = match Arc::try_unwrap(link) {
            Ok(link) => link.below,
            Err(shared) => shared.below.clone(),
        };
    }

    /// The values, the one pushed last first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.head.as_deref(), |link| link.below.as_deref())
            .map(|link| &link.value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers below `len`, the largest on top.
    fn numbers(len: u32) -> Chain<u32> {
        let mut chain = Chain::default();
        (0..len).for_each(|number| chain.push(number));
        chain
    }

    #[test]
    fn clones_share_a_tail_and_do_not_disturb_each_other() {
        let mut chain = numbers(3);
        let other = chain.clone();
        assert_eq!(chain.pop(), Some(2));
        chain.push(7);
        chain.push(8);
        chain.discard();
        assert_eq!(chain.iter().copied().collect::<Vec<_>>(), [7, 1, 0]);
        assert_eq!(other.iter().copied().collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!((chain.top(), other.is_empty()), (Some(&7), false));
    }

    #[test]
    fn long_chains_are_dropped_without_recursion() {
        let chain = numbers(1_000_000);
        let clone = chain.clone();
        drop(chain);
        assert_eq!(clone.top(), Some(&999_999));
    }
}
