//! Which sets hold no value at all: a least fixpoint, one linear pass.
//!
//! A set holds a value as soon as one of its shapes does; an array shape as soon as the sets of the
//! items that must be there do; an object shape as soon as the sets of its required names do, or, if
//! it asks something of its members together, as soon as the sets of such members do. What never
//! becomes true is empty: also a recursion without a finite document.

use super::shape::Name;
use super::{ArrayId, Members, Needs, ObjectId, SetId, Sets, Shape};
use fixedbitset::FixedBitSet;

/// The empty sets and shapes of a [`Sets`].
#[derive(Clone, Debug)]
pub(crate) struct Emptiness {
    /// By [`SetId`]: holds a value. Sets that nothing reaches count as empty.
    inhabited: FixedBitSet,
    arrays: FixedBitSet,
    objects: FixedBitSet,
}

impl Emptiness {
    /// Decides every set and shape of `sets`.
    pub(crate) fn decide(sets: &Sets) -> Emptiness {
        let mut needs = Needs::of(sets);
        let mut found = Emptiness {
            inhabited: FixedBitSet::with_capacity(sets.len()),
            arrays: FixedBitSet::with_capacity(sets.array_count()),
            objects: FixedBitSet::with_capacity(sets.object_count()),
        };
        let has_scalar = |&id: &SetId| {
            let set = sets.get(id);
            !set.literals.is_empty() || !set.numbers.is_empty() || !set.strings.is_empty()
        };
        let mut queue: Vec<SetId> = sets.ids().filter(has_scalar).collect();
        let mut ready = needs.ready();
        loop {
            for shape in ready {
                match shape {
                    Shape::Array(id) => found.arrays.insert(id.index()),
                    Shape::Object(id) => {
                        if found.has_object(id) || !found.can_be_had(sets, &needs, id) {
                            continue;
                        }
                        found.objects.insert(id.index());
                    }
                }
                queue.extend(needs.holders(shape));
            }
            // A set may be offered by several shapes; it is settled once.
            let Some(set) =
                std::iter::from_fn(|| queue.pop()).find(|set| !found.inhabited.put(set.index()))
            else {
                return found;
            };
            ready = needs.settle(set);
        }
    }

    /// Whether members whose sets are settled make an object of a shape that is ready.
    fn can_be_had(&self, sets: &Sets, needs: &Needs, id: ObjectId) -> bool {
        let settled = Settled(self, &sets.object(id).names);
        needs.demands(id).is_none_or(|demands| demands.can_finish(&demands.start(), &settled))
    }

    /// Whether no value is in the set.
    pub(crate) fn is_empty(&self, set: SetId) -> bool {
        !self.inhabited.contains(set.index())
    }

    /// Whether some array is in the shape.
    pub(crate) fn has_array(&self, array: ArrayId) -> bool {
        self.arrays.contains(array.index())
    }

    /// Whether some object is in the shape.
    pub(crate) fn has_object(&self, object: ObjectId) -> bool {
        self.objects.contains(object.index())
    }
}

/// Before the first of these names, as far as is settled.
struct Settled<'a>(&'a Emptiness, &'a [Name]);

impl Members for Settled<'_> {
    fn has_come(&self, _: usize) -> bool {
        false
    }

    fn may_come(&self, name: usize) -> bool {
        self.usable(self.1[name].set)
    }

    fn left(&self) -> u64 {
        (0..self.1.len()).filter(|&name| self.may_come(name)).count() as u64
    }

    fn usable(&self, set: SetId) -> bool {
        !self.0.is_empty(set)
    }
}
