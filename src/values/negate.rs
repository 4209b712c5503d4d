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
use std::sync::Arc;

impl Builder<'_> {
    /// `a ∧ ¬b`, where `a` is made for `position` and `b` for the other one; `None` where a limit is
    /// met.
    pub(super) fn difference(
        &mut self,
        a: &Draft,
        b: &Draft,
        position: Position,
    ) -> Result<Option<Draft>> {
        let limit = self.options.limits.set_shapes;
        let mut strings = a.strings.clone();
        for shape in b.strings.iter().filter(|_| !a.strings.is_empty()) {
            let Some(negated) = self.negated_strings(shape) else { return Ok(None) };
            let Some(left) =
                intersect::product(&strings, &negated, limit, intersect::strings)
            else {
                return Ok(None);
            };
            strings = left;
        }
        let mut numbers = a.numbers.clone();
        for shape in b.numbers.iter().filter(|_| !a.numbers.is_empty()) {
            let Some(negated) = shape.negate() else { return Ok(None) };
            let Some(left) =
                intersect::product(&numbers, &negated, limit, NumberShape::intersect)
            else {
                return Ok(None);
            };
            numbers = left;
        }
        let Some(arrays) = self.array_difference(&a.arrays, &b.arrays) else { return Ok(None) };
        let Some(objects) = self.object_difference(&a.objects, &b.objects, position)? else {
            return Ok(None);
        };
        let literals = a.literals.without(b.literals);
        Ok(Some(Draft { literals, numbers, strings, arrays, objects }))
    }

    fn array_difference(&mut self, a: &[ArrayShape], b: &[ArrayShape]) -> Option<Vec<ArrayShape>> {
        let limit = self.options.limits.set_shapes;
        let mut left = a.to_vec();
        for shape in b {
            if left.is_empty() {
                break;
            }
            if *shape == ArrayShape::any() {
                return Some(Vec::new());
            }
            let mut negated = None;
            let mut next = Vec::with_capacity(left.len());
            for own in left {
                if self.are_disjoint_arrays(&own, shape) {
                    next.push(own);
                    continue;
                }
                let negated = negated.get_or_insert_with(|| self.negated_array(shape)).as_ref()?;
                next.extend(negated.iter().filter_map(|n| intersect::arrays(&own, n, self)));
            }
            left = distinct(next);
            if left.len() > limit.max(a.len()) {
                return None;
            }
        }
        Some(left)
    }

    fn object_difference(
        &mut self,
        a: &[ObjectShape],
        b: &[ObjectShape],
        position: Position,
    ) -> Result<Option<Vec<ObjectShape>>> {
        let limit = self.options.limits.set_shapes;
        let mut left = a.to_vec();
        for shape in b {
            if left.is_empty() {
                break;
            }
            if shape.is_any() {
                return Ok(Some(Vec::new()));
            }
            let mut negated = None;
            let mut next = Vec::with_capacity(left.len());
            for own in left {
                if self.are_disjoint_objects(&own, shape) {
                    next.push(own);
                    continue;
                }
                if negated.is_none() {
                    negated = Some(self.negated_object(shape, position)?);
                }
                let negated = negated.iter().flatten();
                next.extend(negated.filter_map(|n| intersect::objects(&own, n, self)));
            }
            left = distinct(next);
            if left.len() > limit.max(a.len()) {
                return Ok(None);
            }
        }
        Ok(Some(left))
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

    /// The arrays that break one of the constraints of `shape`; `None` where that cannot be said.
    fn negated_array(&mut self, shape: &ArrayShape) -> Option<Vec<ArrayShape>> {
        if shape.unique {
            return None;
        }
        let mut broken = Vec::new();
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
        Some(broken)
    }

    /// The objects that break one of the constraints of `shape`. What the policy closes is open here:
    /// the schema allows it.
    fn negated_object(
        &mut self,
        shape: &ObjectShape,
        position: Position,
    ) -> Result<Vec<ObjectShape>> {
        let mut shape = shape.clone();
        self.resolve_key_nodes(&mut shape, position.flip())?;
        let any = ObjectShape::any;
        let mut broken = Vec::new();
        let mut names: Vec<(Arc<str>, SetId)> =
            shape.names.iter().map(|n| (n.text.clone(), self.negated(n.set))).collect();
        names.sort_unstable();
        let other = self.negated(shape.other);
        let rules = self.negated_rules(&shape.rules);
        let says = other != SetId::NEVER || !rules.is_empty();
        if says || names.iter().any(|(_, set)| *set != SetId::NEVER) {
            let some = Arc::new([SomeMember { names: names.into(), other, rules }]);
            broken.push(ObjectShape { some, ..any() });
        }
        let name = |text: &Arc<str>, required, set| Name {
            text: text.clone(),
            rank: Rank::Loose,
            required,
            set,
        };
        for required in shape.names.iter().filter(|name| name.required) {
            let names = Arc::new([name(&required.text, false, SetId::NEVER)]);
            broken.push(ObjectShape { names, ..any() });
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
            let mut names = vec![
                name(&implication.name, true, SetId::ANY),
                name(&implication.needs, false, SetId::NEVER),
            ];
            names.sort_by(|a, b| a.text.cmp(&b.text));
            broken.push(ObjectShape { names: names.into(), ..any() });
        }
        Ok(broken)
    }

    fn negated_rules(&mut self, rules: &[KeyRule]) -> Arc<[KeyRule]> {
        let says = rules.iter().filter(|rule| rule.set != SetId::ANY);
        says.map(|rule| KeyRule { set: self.negated(rule.set), opens: false, ..rule.clone() })
            .collect()
    }
}
