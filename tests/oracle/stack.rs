//! The open containers of a thread.

use super::shape::ShapeId;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

/// An open container, as it stands when the member or item above it is finished.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Container {
    Array {
        shape: ShapeId,
        count: u64,
    },
    /// `next`: in declared order, names below this index cannot come any more.
    Object {
        shape: ShapeId,
        next: usize,
        seen: Rc<BTreeSet<String>>,
    },
}

/// Open containers, the innermost first; tails are shared.
#[derive(Clone, Debug, Default)]
pub struct Stack(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    top: Container,
    below: Stack,
}

impl Stack {
    pub fn push(&self, top: Container) -> Stack {
        Stack(Some(Rc::new(Link { top, below: self.clone() })))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn top(&self) -> Option<&Container> {
        self.0.as_ref().map(|link| &link.top)
    }

    pub fn below(&self) -> Stack {
        self.0.as_ref().map(|link| link.below.clone()).unwrap_or_default()
    }

    pub fn replace(&self, top: Container) -> Stack {
        self.below().push(top)
    }
}

impl Ord for Stack {
    fn cmp(&self, other: &Self) -> Ordering {
        // A loop, since a document may be nested deep.
        let (mut left, mut right) = (&self.0, &other.0);
        loop {
            match (left, right) {
                (None, None) => return Ordering::Equal,
                (None, _) => return Ordering::Less,
                (_, None) => return Ordering::Greater,
                (Some(l), Some(r)) if Rc::ptr_eq(l, r) => return Ordering::Equal,
                (Some(l), Some(r)) => match l.top.cmp(&r.top) {
                    Ordering::Equal => (left, right) = (&l.below.0, &r.below.0),
                    order => return order,
                },
            }
        }
    }
}

impl PartialOrd for Stack {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Stack {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Stack {}

impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.below.0.take();
        while let Some(link) = next {
            next = Rc::try_unwrap(link).ok().and_then(|mut link| link.below.0.take());
        }
    }
}
