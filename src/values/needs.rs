//! Which shapes need which sets: the index of every least fixpoint over the sets.
//!
//! A shape is *ready* once all the sets that it cannot do without are settled: the items below its
//! minimum, the values of its required names. Whether a set holds a value, and what its cheapest
//! value costs, both spread from ready shapes to the sets that hold them.
//!
//! An object that asks something of its members together has several ways to be had: it counts as
//! ready at first and whenever one of its sets is settled, and who asks has to look at its
//! [`Demands`].

use super::{ArrayId, Demands, ObjectId, SetId, Sets};
use rustc_hash::{FxHashMap, FxHashSet};

/// A container shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Array(ArrayId),
    Object(ObjectId),
}

/// The index, and how far the shapes are from being ready.
#[derive(Debug)]
pub(crate) struct Needs {
    arrays: usize,
    /// By shape (arrays, then objects): needed sets that are not settled.
    open: Vec<u32>,
    /// By set: the shapes that need it.
    needed_by: Vec<Vec<Shape>>,
    /// By shape: the sets that hold it.
    held_by: Vec<Vec<SetId>>,
    demands: FxHashMap<ObjectId, Demands>,
}

impl Needs {
    pub(crate) fn of(sets: &Sets) -> Needs {
        let (arrays, objects) = (sets.array_count(), sets.object_count());
        let mut needs = Needs {
            arrays,
            open: vec![0; arrays + objects],
            needed_by: vec![Vec::new(); sets.len()],
            held_by: vec![Vec::new(); arrays + objects],
            demands: FxHashMap::default(),
        };
        for id in (0..arrays).map(ArrayId::new) {
            needs.add(Shape::Array(id), sets.array(id).needed());
        }
        for id in (0..objects).map(ObjectId::new) {
            if let Some(demands) = sets.demands(id) {
                let asked: FxHashSet<SetId> = demands.sets().collect();
                for set in asked {
                    needs.needed_by[set.index()].push(Shape::Object(id));
                }
                needs.demands.insert(id, demands);
                continue;
            }
            let required = sets.object(id).names.iter().filter(|name| name.required);
            needs.add(Shape::Object(id), required.map(|name| name.set));
        }
        for holder in sets.ids() {
            let set = sets.get(holder);
            let arrays = set.arrays.iter().map(|&id| Shape::Array(id));
            for shape in arrays.chain(set.objects.iter().map(|&id| Shape::Object(id))) {
                let slot = needs.slot(shape);
                needs.held_by[slot].push(holder);
            }
        }
        needs
    }

    fn add(&mut self, shape: Shape, needed: impl Iterator<Item = SetId>) {
        let slot = self.slot(shape);
        for set in needed {
            self.open[slot] += 1;
            self.needed_by[set.index()].push(shape);
        }
    }

    fn slot(&self, shape: Shape) -> usize {
        match shape {
            Shape::Array(id) => id.index(),
            Shape::Object(id) => self.arrays + id.index(),
        }
    }

    /// The shapes that are ready now.
    pub(crate) fn ready(&self) -> Vec<Shape> {
        let ready = (0..self.open.len()).filter(|&slot| self.open[slot] == 0);
        let shape = |slot: usize| match slot.checked_sub(self.arrays) {
            None => Shape::Array(ArrayId::new(slot)),
            Some(object) => Shape::Object(ObjectId::new(object)),
        };
        ready.map(shape).collect()
    }

    /// `set` is settled (which it may be only once): the shapes that this makes ready.
    pub(crate) fn settle(&mut self, set: SetId) -> Vec<Shape> {
        let mut waiting = std::mem::take(&mut self.needed_by[set.index()]);
        waiting.retain(|&shape| {
            let slot = self.slot(shape);
            if self.open[slot] > 0 {
                self.open[slot] -= 1;
            }
            self.open[slot] == 0
        });
        waiting
    }

    /// What an object asks of its members together, if anything.
    pub(crate) fn demands(&self, id: ObjectId) -> Option<&Demands> {
        self.demands.get(&id)
    }

    /// The sets that hold a shape.
    pub(crate) fn holders(&self, shape: Shape) -> &[SetId] {
        &self.held_by[self.slot(shape)]
    }
}
