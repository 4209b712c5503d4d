//! Plain emptiness: what can be told of a set without looking far.
//!
//! It only saves work: a set that is not plainly empty may be empty all the same, which
//! [`Emptiness`](super::Emptiness) decides once all sets are known. What is found here makes
//! differences small: branches that a constant tells apart are disjoint, and what contradicts itself
//! is left out.

use super::draft::Draft;
use super::sets::Builder;
use super::shape::{ArrayShape, ObjectShape, Position, SetId, StringShape};

/// How deep members of members are looked at.
const DEPTH: u32 = 4;

/// So many items and names of a shape are looked at.
const WIDTH: usize = 64;

impl Builder<'_> {
    /// Whether a set is empty, as far as can be told at once.
    pub(super) fn is_plainly_empty(&mut self, set: SetId) -> bool {
        if set == SetId::ANY || set == SetId::NEVER {
            return set == SetId::NEVER;
        }
        if let Some(&(depth, empty)) = self.plainly_empty.get(&set)
            && (empty || depth <= self.depth)
        {
            return empty;
        }
        if self.depth >= DEPTH {
            return false;
        }
        // Met again below itself it is not plainly empty.
        self.plainly_empty.insert(set, (0, false));
        self.depth += 1;
        let draft = self.set_draft(set, Position::Positive);
        let empty = draft.is_ok_and(|draft| self.is_plainly_empty_draft(&draft));
        self.depth -= 1;
        // From less deep, more may be found.
        self.plainly_empty.insert(set, (self.depth, empty));
        empty
    }

    fn is_plainly_empty_draft(&mut self, draft: &Draft) -> bool {
        draft.literals.is_empty()
            && draft.numbers.is_empty()
            && draft.strings.iter().all(|shape| self.has_plainly_no_string(shape))
            && draft.arrays.iter().all(|shape| self.has_plainly_no_array(shape))
            && draft.objects.iter().all(|shape| self.has_plainly_no_object(shape))
    }

    pub(super) fn has_plainly_no_string(&self, shape: &StringShape) -> bool {
        let contradicts = shape.factors.iter().any(|factor| shape.without.contains(factor));
        let few = shape.values.as_ref().filter(|values| values.len() <= WIDTH);
        contradicts
            || few.is_some_and(|values| !values.iter().any(|text| self.has_text(shape, text)))
    }

    fn has_plainly_no_array(&mut self, shape: &ArrayShape) -> bool {
        let needed: Vec<SetId> = shape.needed().take(WIDTH).collect();
        shape.max.is_some_and(|max| max < shape.min)
            || needed.into_iter().any(|set| self.is_plainly_empty(set))
    }

    fn has_plainly_no_object(&mut self, shape: &ObjectShape) -> bool {
        let required = shape.names.iter().filter(|name| name.required).take(WIDTH);
        shape.max.is_some_and(|max| max < shape.min)
            || required.into_iter().any(|name| self.is_plainly_empty(name.set))
    }

    /// Whether two shapes have no array in common, as far as can be told at once.
    pub(super) fn are_disjoint_arrays(&mut self, a: &ArrayShape, b: &ArrayShape) -> bool {
        let apart = |max: Option<u64>, min: u64| max.is_some_and(|max| max < min);
        if apart(a.max, b.min) || apart(b.max, a.min) {
            return true;
        }
        let needed = a.min.max(b.min).min(WIDTH as u64);
        (0..needed).any(|index| {
            let both = self.join_sets(a.item(index), b.item(index));
            self.is_plainly_empty(both)
        })
    }

    /// Whether two shapes have no object in common, as far as can be told at once.
    pub(super) fn are_disjoint_objects(&mut self, a: &ObjectShape, b: &ObjectShape) -> bool {
        let apart = |max: Option<u64>, min: u64| max.is_some_and(|max| max < min);
        if apart(a.max, b.min) || apart(b.max, a.min) {
            return true;
        }
        [(a, b), (b, a)].into_iter().any(|(one, other)| {
            let required = one.names.iter().filter(|name| name.required).take(WIDTH);
            required.into_iter().any(|name| {
                let set = match other.names.iter().find(|n| n.text == name.text) {
                    Some(named) => named.set,
                    None => other.other,
                };
                let both = self.join_sets(name.set, set);
                self.is_plainly_empty(both)
            })
        })
    }
}
