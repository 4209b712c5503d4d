//! Complements: what a union of shapes leaves out.
//!
//! The negation of a conjunction of constraints is a union of negated constraints, and the negation
//! of each constraint is a constraint: for-all becomes there-is and back, a minimum a maximum. What
//! is said of all members, or of all items, is negated as one: some member, or item, breaks it.
//!
//! Only differences are made, `a ∧ ¬b`: where `a` and `b` are disjoint that is `a`, and most shapes of
//! the others are empty at once.

use super::draft::{Draft, distinct};
use super::intersect;
use super::numbers::NumberShape;
use super::sets::Builder;
use super::shape::{
    ArrayShape, ItemCount, KeyRule, Name, ObjectShape, Position, Rank, SetId, SomeMember,
    StringShape,
};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

impl Builder<'_> {
    /// `a ∧ ¬b`, where `b` is made for the other position than `a`; `None` where a limit is met. What
    /// it says of arrays and objects waits.
    pub(super) fn difference(&mut self, a: &Draft, b: &Draft) -> Option<Draft> {
        if self.is_spent() {
            return None;
        }
        let limit = self.options.limits.set_shapes;
        let mut strings = a.strings.clone();
        for shape in b.strings.iter().filter(|_| !a.strings.is_empty()) {
            let negated = self.negated_strings(shape)?;
            strings = intersect::product(&strings, &negated, limit, intersect::strings)?;
        }
        let mut numbers = a.numbers.clone();
        for shape in b.numbers.iter().filter(|_| !a.numbers.is_empty()) {
            let negated = shape.negate()?;
            numbers = intersect::product(&numbers, &negated, limit, NumberShape::intersect)?;
        }
        Some(Draft {
            literals: a.literals.without(b.literals),
            numbers,
            strings,
            arrays: self.arrays_without(&a.arrays, &b.arrays),
            objects: self.objects_without(&a.objects, &b.objects),
        })
    }

    /// Notes for each of `a` what it is without.
    fn arrays_without(&mut self, a: &[ArrayShape], b: &[ArrayShape]) -> Vec<ArrayShape> {
        if b.contains(&ArrayShape::any()) {
            return Vec::new();
        }
        let b: Vec<Arc<ArrayShape>> = b.iter().cloned().map(Arc::new).collect();
        let without = a.iter().map(|own| {
            let meets = b.iter().filter(|other| !self.are_disjoint_arrays(own, other));
            let without = own.without.iter().chain(meets).cloned();
            ArrayShape { without: distinct(without.collect()).into(), ..own.clone() }
        });
        without.collect()
    }

    /// Notes for each of `a` what it is without.
    fn objects_without(&mut self, a: &[ObjectShape], b: &[ObjectShape]) -> Vec<ObjectShape> {
        if b.iter().any(ObjectShape::is_any) {
            return Vec::new();
        }
        let b: Vec<Arc<ObjectShape>> = b.iter().cloned().map(Arc::new).collect();
        let without = a.iter().map(|own| {
            let meets = b.iter().filter(|other| !self.are_disjoint_objects(own, other));
            let without = own.without.iter().chain(meets).cloned();
            ObjectShape { without: distinct(without.collect()).into(), ..own.clone() }
        });
        without.collect()
    }

    /// Makes the complements that wait in `draft`; `false` where a limit is met: the types concerned are
    /// then left as they are in a positive position, and without values in a negative one.
    pub(super) fn make_complements(
        &mut self,
        draft: &mut Draft,
        position: Position,
    ) -> Result<bool> {
        let mut exact = true;
        if draft.arrays.iter().any(|shape| !shape.without.is_empty()) {
            match self.array_complements(&draft.arrays) {
                Some(arrays) => draft.arrays = arrays,
                None => {
                    exact = false;
                    let mut arrays = std::mem::take(&mut draft.arrays);
                    if position == Position::Positive {
                        arrays.iter_mut().for_each(|shape| shape.without = Arc::new([]));
                        draft.arrays = distinct(arrays);
                    }
                }
            }
        }
        if draft.objects.iter().any(|shape| !shape.without.is_empty()) {
            match self.object_complements(&draft.objects, position)? {
                Some(objects) => draft.objects = objects,
                None => {
                    exact = false;
                    let mut objects = std::mem::take(&mut draft.objects);
                    if position == Position::Positive {
                        objects.iter_mut().for_each(|shape| shape.without = Arc::new([]));
                        draft.objects = distinct(objects);
                    }
                }
            }
        }
        Ok(exact)
    }

    fn array_complements(&mut self, shapes: &[ArrayShape]) -> Option<Vec<ArrayShape>> {
        let limit = self.options.limits.set_shapes.max(shapes.len());
        let (mut done, mut open) = (Vec::new(), shapes.to_vec());
        while let Some(mut own) = open.pop() {
            let Some((other, rest)) = own.without.split_last() else {
                done.push(own);
                continue;
            };
            let (other, rest) = (other.clone(), rest.into());
            own.without = rest;
            if self.are_disjoint_arrays(&own, &other) {
                open.push(own);
                continue;
            }
            let negated = self.negated_array(&other);
            open.extend(negated.iter().filter_map(|n| intersect::arrays(&own, n, self)));
            if self.is_spent() {
                return None;
            }
            if done.len() + open.len() > limit {
                open = distinct(open);
                if done.len() + open.len() > limit {
                    return None;
                }
            }
        }
        done.reverse();
        Some(distinct(done))
    }

    fn object_complements(
        &mut self,
        shapes: &[ObjectShape],
        position: Position,
    ) -> Result<Option<Vec<ObjectShape>>> {
        let limit = self.options.limits.set_shapes.max(shapes.len());
        let (mut done, mut open) = (Vec::new(), shapes.to_vec());
        // By address; the shape is kept, so that no other gets it.
        let mut known: FxHashMap<*const ObjectShape, (Arc<ObjectShape>, Vec<ObjectShape>)> =
            FxHashMap::default();
        while let Some(mut own) = open.pop() {
            let Some((other, rest)) = own.without.split_last() else {
                done.push(own);
                continue;
            };
            let (other, rest) = (other.clone(), rest.into());
            own.without = rest;
            if self.are_disjoint_objects(&own, &other) {
                open.push(own);
                continue;
            }
            let negated = match known.entry(Arc::as_ptr(&other)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let negated = self.negated_object(&other, position)?;
                    new.insert((other.clone(), negated))
                }
            };
            open.extend(negated.1.iter().filter_map(|n| intersect::objects(&own, n, self)));
            if self.is_spent() {
                return Ok(None);
            }
            if done.len() + open.len() > limit {
                open = distinct(open);
                if done.len() + open.len() > limit {
                    return Ok(None);
                }
            }
        }
        done.reverse();
        Ok(Some(distinct(done)))
    }

    /// The strings that break one of the constraints of `shape`; `None` where a limit is met.
    fn negated_strings(&mut self, shape: &StringShape) -> Option<Vec<StringShape>> {
        let mut broken = Vec::new();
        for &factor in &shape.factors {
            broken.push(StringShape { without: vec![factor], ..StringShape::default() });
        }
        for &factor in &shape.without {
            broken.push(StringShape { factors: vec![factor], ..StringShape::default() });
        }
        if let Some(values) = &shape.values {
            let without = vec![self.values_factor(values).ok()?];
            broken.push(StringShape { without, ..StringShape::default() });
        }
        if let Some(max) = shape.min.checked_sub(1) {
            broken.push(StringShape { max: Some(max), ..StringShape::default() });
        }
        if let Some(min) = shape.max.and_then(|max| max.checked_add(1)) {
            broken.push(StringShape { min, ..StringShape::default() });
        }
        Some(broken)
    }

    /// The arrays that break one of the constraints of `shape`.
    fn negated_array(&mut self, shape: &ArrayShape) -> Vec<ArrayShape> {
        let mut broken = Vec::new();
        if shape.unique {
            broken.push(ArrayShape { repeats: true, min: 2, ..ArrayShape::any() });
        }
        if shape.repeats {
            broken.push(ArrayShape { unique: true, ..ArrayShape::any() });
        }
        let prefix: Arc<[SetId]> = shape.prefix.iter().map(|&set| self.negated(set)).collect();
        let rest = self.negated(shape.rest);
        if rest != SetId::NEVER || prefix.iter().any(|&set| set != SetId::NEVER) {
            let counts = Arc::new([ItemCount { prefix, rest, min: 1, max: None }]);
            broken.push(ArrayShape { counts, ..ArrayShape::any() });
        }
        if let Some(max) = shape.min.checked_sub(1) {
            broken.push(ArrayShape { max: Some(max), ..ArrayShape::any() });
        }
        if let Some(min) = shape.max.and_then(|max| max.checked_add(1)) {
            broken.push(ArrayShape { min, ..ArrayShape::any() });
        }
        for count in shape.counts.iter() {
            let mut other = |min, max| {
                let counts = Arc::new([ItemCount { min, max, ..count.clone() }]);
                broken.push(ArrayShape { counts, ..ArrayShape::any() });
            };
            if let Some(max) = count.min.checked_sub(1) {
                other(0, Some(max));
            }
            if let Some(min) = count.max.and_then(|max| max.checked_add(1)) {
                other(min, None);
            }
        }
        broken.extend(shape.without.iter().map(|other| (**other).clone()));
        broken
    }

    /// The objects that break one of the constraints of `shape`. What the policy closes is open here:
    /// the schema allows it. As far as can be, no object is in two of the shapes, so that products of
    /// complements stay small: a required name is missing or has another value; or it is as it should
    /// be, and the next one is not; …; or all are, and some other member is not.
    fn negated_object(
        &mut self,
        shape: &ObjectShape,
        position: Position,
    ) -> Result<Vec<ObjectShape>> {
        let mut shape = shape.clone();
        self.resolve_key_nodes(&mut shape, position.flip())?;
        let any = ObjectShape::any;
        let name = |text: &Arc<str>, required, set| Name {
            text: text.clone(),
            rank: Rank::Loose,
            required,
            set,
        };
        let of_names = |mut names: Vec<Name>| {
            names.sort_by(|a, b| a.text.cmp(&b.text));
            ObjectShape { names: names.into(), ..any() }
        };
        let mut broken = Vec::new();
        let mut right: Vec<Name> = Vec::new();
        let mut required: Vec<&Name> = shape.names.iter().filter(|name| name.required).collect();
        // Constants tell most branches apart, so they come first.
        required.sort_by_key(|name| !self.is_few_strings(name.set));
        for required in required {
            let wrong = name(&required.text, false, self.negated(required.set));
            broken.push(of_names(right.iter().cloned().chain([wrong]).collect()));
            right.push(name(&required.text, true, required.set));
        }
        let mut names: Vec<(Arc<str>, SetId)> = Vec::with_capacity(shape.names.len());
        for name in shape.names.iter() {
            let set = if name.required { SetId::NEVER } else { self.negated(name.set) };
            names.push((name.text.clone(), set));
        }
        names.sort_unstable();
        let other = self.negated(shape.other);
        let rules = self.negated_rules(&shape.rules);
        let says = other != SetId::NEVER || !rules.is_empty();
        if says || names.iter().any(|(_, set)| *set != SetId::NEVER) {
            let some = Arc::new([SomeMember { names: names.into(), other, rules }]);
            broken.push(ObjectShape { some, ..of_names(right) });
        }
        if let Some(max) = shape.min.checked_sub(1) {
            broken.push(ObjectShape { max: Some(max), ..any() });
        }
        if let Some(min) = shape.max.and_then(|max| max.checked_add(1)) {
            broken.push(ObjectShape { min, ..any() });
        }
        for some in shape.some.iter() {
            let names = some.names.iter().map(|(text, set)| {
                let set = self.negated(*set);
                name(text, false, set)
            });
            let names = names.collect();
            let other = self.negated(some.other);
            let rules = self.negated_rules(&some.rules);
            broken.push(ObjectShape { names, other, rules, ..any() });
        }
        for implication in shape.implies.iter() {
            let needing = name(&implication.name, true, SetId::ANY);
            let missing = name(&implication.needs, false, SetId::NEVER);
            broken.push(of_names(vec![needing, missing]));
        }
        broken.extend(shape.without.iter().map(|other| (**other).clone()));
        Ok(broken)
    }

    fn negated_rules(&mut self, rules: &[KeyRule]) -> Arc<[KeyRule]> {
        let says = rules.iter().filter(|rule| rule.set != SetId::ANY);
        says.map(|rule| KeyRule { set: self.negated(rule.set), opens: false, ..rule.clone() })
            .collect()
    }
}
