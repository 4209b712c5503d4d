//! Which sets hold no value at all: a least fixpoint, one linear pass.
//!
//! A set holds a value as soon as one of its shapes does; an array shape as soon as the sets of the
//! items that must be there do; an object shape as soon as the sets of its required names do. What
//! never becomes true is empty: also a recursion without a finite document.

use super::{ArrayId, ObjectId, SetId, Sets};
use fixedbitset::FixedBitSet;

/// The empty sets and shapes of a [`Sets`].
#[derive(Clone, Debug)]
pub(crate) struct Emptiness {
    /// By [`SetId`]: holds a value. Sets that nothing reaches count as empty.
    inhabited: FixedBitSet,
    arrays: FixedBitSet,
    objects: FixedBitSet,
}

/// A shape in the worklist.
#[derive(Clone, Copy)]
enum Shape {
    Array(ArrayId),
    Object(ObjectId),
}

/// The worklist and its indices.
struct Fixpoint<'s> {
    sets: &'s Sets,
    found: Emptiness,
    /// Needs of each shape that are still open: arrays first, then objects.
    open: Vec<u32>,
    /// By set: the shapes that need it.
    needed_by: Vec<Vec<Shape>>,
    /// By shape: the sets that hold it.
    held_by: Vec<Vec<SetId>>,
    queue: Vec<SetId>,
}

impl Emptiness {
    /// Decides every set and shape of `sets`.
    pub(crate) fn decide(sets: &Sets) -> Emptiness {
        let (arrays, objects) = (sets.array_count(), sets.object_count());
        let mut fixpoint = Fixpoint {
            sets,
            found: Emptiness {
                inhabited: FixedBitSet::with_capacity(sets.len()),
                arrays: FixedBitSet::with_capacity(arrays),
                objects: FixedBitSet::with_capacity(objects),
            },
            open: vec![0; arrays + objects],
            needed_by: vec![Vec::new(); sets.len()],
            held_by: vec![Vec::new(); arrays + objects],
            queue: Vec::new(),
        };
        fixpoint.seed_shapes();
        fixpoint.seed_sets();
        fixpoint.run();
        fixpoint.found
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

impl Fixpoint<'_> {
    fn slot(&self, shape: Shape) -> usize {
        match shape {
            Shape::Array(id) => id.index(),
            Shape::Object(id) => self.sets.array_count() + id.index(),
        }
    }

    /// Counts what each shape needs.
    fn seed_shapes(&mut self) {
        for index in 0..self.sets.array_count() {
            let id = ArrayId::new(index);
            let needs: Vec<SetId> = self.sets.array(id).needed().collect();
            self.need(Shape::Array(id), &needs);
        }
        for index in 0..self.sets.object_count() {
            let id = ObjectId::new(index);
            let required = self.sets.object(id).names.iter().filter(|name| name.required);
            let needs: Vec<SetId> = required.map(|name| name.set).collect();
            self.need(Shape::Object(id), &needs);
        }
    }

    fn need(&mut self, shape: Shape, needs: &[SetId]) {
        let slot = self.slot(shape);
        self.open[slot] = needs.len() as u32;
        for set in needs {
            self.needed_by[set.index()].push(shape);
        }
        if self.open[slot] == 0 {
            self.mark_shape(shape);
        }
    }

    fn mark_shape(&mut self, shape: Shape) {
        match shape {
            Shape::Array(id) => self.found.arrays.insert(id.index()),
            Shape::Object(id) => self.found.objects.insert(id.index()),
        }
    }

    fn has_shape(&self, shape: Shape) -> bool {
        match shape {
            Shape::Array(id) => self.found.has_array(id),
            Shape::Object(id) => self.found.has_object(id),
        }
    }

    fn seed_sets(&mut self) {
        for id in self.sets.ids() {
            let set = self.sets.get(id);
            let arrays = set.arrays.iter().map(|&a| Shape::Array(a));
            let objects = set.objects.iter().map(|&o| Shape::Object(o));
            let shapes: Vec<Shape> = arrays.chain(objects).collect();
            let inhabited = !set.literals.is_empty()
                || !set.numbers.is_empty()
                || !set.strings.is_empty()
                || shapes.iter().any(|&shape| self.has_shape(shape));
            for shape in shapes {
                let slot = self.slot(shape);
                self.held_by[slot].push(id);
            }
            if inhabited {
                self.mark_set(id);
            }
        }
    }

    fn mark_set(&mut self, set: SetId) {
        if !self.found.inhabited.put(set.index()) {
            self.queue.push(set);
        }
    }

    fn run(&mut self) {
        while let Some(set) = self.queue.pop() {
            for shape in std::mem::take(&mut self.needed_by[set.index()]) {
                let slot = self.slot(shape);
                self.open[slot] -= 1;
                if self.open[slot] == 0 {
                    self.mark_shape(shape);
                    for holder in std::mem::take(&mut self.held_by[slot]) {
                        self.mark_set(holder);
                    }
                }
            }
        }
    }
}
