//! Complements: what a union of shapes leaves out.
//!
//! The negation of a conjunction of constraints is a union of negated constraints, and the negation
//! of each constraint is a constraint: for-all becomes there-is and back, a minimum a maximum. What
//! is said of all members, or of all items, is negated as one: some member, or item, breaks it.
//!
//! Only differences are made, `a ∧ ¬b`: where `a` and `b` are disjoint that is `a`, and most shapes of
//! the others are empty at once.

use super::draft::{Draft, distinct};
use super::intersect::{self, Conjoin};
use super::numbers::NumberShape;
use super::sets::Builder;
use super::shape::{
    ArrayShape, ItemCount, KeyRule, Name, ObjectShape, Position, Rank, SetId, SomeMember,
    StringShape,
};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

/// A shape of containers, of which complements are made.
trait Complement: Clone + Eq + Hash {
    /// What waits to be taken away from it.
    fn without(&self) -> &Arc<[Arc<Self>]>;

    /// The same with other shapes to be taken away.
    fn beside(self, without: Arc<[Arc<Self>]>) -> Self;

    fn is_everything(&self) -> bool;

    /// Whether two have nothing in common, as far as can be told at once.
    fn is_apart(&self, other: &Self, builder: &mut Builder<'_>) -> bool;

    fn both(a: &Self, b: &Self, join: &mut dyn Conjoin) -> Option<Self>;

    /// What breaks one of its constraints.
    fn negated(&self, builder: &mut Builder<'_>, position: Position) -> Result<Vec<Self>>;
}

impl Complement for ArrayShape {
    fn without(&self) -> &Arc<[Arc<Self>]> {
        &self.without
    }

    fn beside(self, without: Arc<[Arc<Self>]>) -> Self {
        ArrayShape { without, ..self }
    }

    fn is_everything(&self) -> bool {
        *self == ArrayShape::any()
    }

    fn is_apart(&self, other: &Self, builder: &mut Builder<'_>) -> bool {
        builder.are_disjoint_arrays(self, other)
    }

    fn both(a: &Self, b: &Self, join: &mut dyn Conjoin) -> Option<Self> {
        intersect::arrays(a, b, join)
    }

    fn negated(&self, builder: &mut Builder<'_>, _: Position) -> Result<Vec<Self>> {
        Ok(builder.negated_array(self))
    }
}

impl Complement for ObjectShape {
    fn without(&self) -> &Arc<[Arc<Self>]> {
        &self.without
    }

    fn beside(self, without: Arc<[Arc<Self>]>) -> Self {
        ObjectShape { without, ..self }
    }

    fn is_everything(&self) -> bool {
        self.is_any()
    }

    fn is_apart(&self, other: &Self, builder: &mut Builder<'_>) -> bool {
        builder.are_disjoint_objects(self, other)
    }

    fn both(a: &Self, b: &Self, join: &mut dyn Conjoin) -> Option<Self> {
        intersect::objects(a, b, join)
    }

    fn negated(&self, builder: &mut Builder<'_>, position: Position) -> Result<Vec<Self>> {
        builder.negated_object(self, position)
    }
}

impl Builder<'_> {
    /// `a ∧ ¬b`, where `b` is made for the other position than `a`; `None` where a limit is met. What
    /// it says of arrays and objects waits.
    pub(super) fn difference(&mut self, a: &Draft, b: &Draft) -> Option<Draft> {
        if self.is_spent() {
            return None;
        }
        let limit = self.options.limits.set_shapes;
        let mut numbers = a.numbers.clone();
        for shape in b.numbers.iter().filter(|_| !a.numbers.is_empty()) {
            let negated = shape.negate()?;
            let both = |a: &NumberShape, b: &NumberShape, _: &mut dyn Conjoin| a.intersect(b);
            numbers = intersect::product(&numbers, &negated, limit, self, both)?;
        }
        let strings = self.strings_without(&a.strings, &b.strings)?;
        Some(Draft {
            literals: a.literals.without(b.literals),
            numbers,
            strings,
            arrays: self.noted(&a.arrays, &b.arrays),
            objects: self.noted(&a.objects, &b.objects),
        })
    }

    fn strings_without(
        &mut self,
        a: &[StringShape],
        b: &[StringShape],
    ) -> Option<Vec<StringShape>> {
        if a.is_empty() || b.is_empty() {
            return Some(a.to_vec());
        }
        let limit = self.options.limits.set_shapes;
        let listed =
            a.iter().filter_map(|shape| self.finite_without(shape.values.as_ref()?, shape, b));
        let listed: Vec<StringShape> = listed.collect();
        let mut strings: Vec<StringShape> =
            a.iter().filter(|shape| shape.values.is_none()).cloned().collect();
        if !strings.is_empty() {
            for shape in self.gathered(b) {
                let negated = self.negated_strings(&shape)?;
                let both = |a: &StringShape, b: &StringShape, _: &mut dyn Conjoin| {
                    intersect::strings(a, b)
                };
                strings = intersect::product(&strings, &negated, limit, self, both)?;
            }
        }
        strings.extend(listed);
        Some(self.gathered(&strings))
    }

    /// Makes the complements that wait in `draft`; `false` where a limit is met: the types concerned are
    /// then left as they are in a positive position, and without values in a negative one.
    pub(super) fn make_complements(
        &mut self,
        draft: &mut Draft,
        position: Position,
    ) -> Result<bool> {
        let arrays = self.make_those_of(&mut draft.arrays, position)?;
        Ok(self.make_those_of(&mut draft.objects, position)? && arrays)
    }

    fn make_those_of<T: Complement>(
        &mut self,
        shapes: &mut Vec<T>,
        position: Position,
    ) -> Result<bool> {
        if shapes.iter().all(|shape| shape.without().is_empty()) {
            return Ok(true);
        }
        let made = self.complements(shapes, position)?;
        let is_exact = made.is_some();
        *shapes = made.unwrap_or_else(|| match position {
            Position::Positive => {
                let bare = shapes.iter().map(|shape| shape.clone().beside(Arc::default()));
                distinct(bare.collect())
            }
            Position::Negative => Vec::new(),
        });
        Ok(is_exact)
    }

    /// Notes for each of `a` what it is without.
    fn noted<T: Complement>(&mut self, a: &[T], b: &[T]) -> Vec<T> {
        if b.iter().any(T::is_everything) {
            return Vec::new();
        }
        let b: Vec<Arc<T>> = b.iter().cloned().map(Arc::new).collect();
        let without = a.iter().map(|own| {
            let meets = b.iter().filter(|other| !own.is_apart(other, self));
            let without = own.without().iter().chain(meets).cloned();
            own.clone().beside(distinct(without.collect()).into())
        });
        without.collect()
    }

    /// `shapes` without what each of them is noted to be without; `None` where a limit is met.
    fn complements<T: Complement>(
        &mut self,
        shapes: &[T],
        position: Position,
    ) -> Result<Option<Vec<T>>> {
        let limit = self.options.limits.set_shapes.max(shapes.len());
        let (mut done, mut open) = (Vec::new(), shapes.to_vec());
        // By address; the shape is kept, so that no other gets it.
        let mut known: FxHashMap<*const T, (Arc<T>, Vec<T>)> = FxHashMap::default();
        while let Some(own) = open.pop() {
            let Some((other, rest)) = own.without().split_last() else {
                done.push(own);
                continue;
            };
            let (other, rest) = (other.clone(), rest.into());
            let own = own.beside(rest);
            if own.is_apart(&other, self) {
                open.push(own);
                continue;
            }
            let negated = match known.entry(Arc::as_ptr(&other)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let negated = other.negated(self, position)?;
                    new.insert((other.clone(), negated))
                }
            };
            open.extend(negated.1.iter().filter_map(|n| T::both(&own, n, self)));
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
        required.sort_by_key(|name| self.few_strings(name.set).is_none());
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
        let rules = self.negated_rules(&shape.rules, SetId::NEVER);
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
            let rules = self.negated_rules(&some.rules, SetId::ANY);
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

    /// Rules with the complements of their sets, without those that say nothing then: in constraints on
    /// all members `idle` is every value, in those on some member none.
    fn negated_rules(&mut self, rules: &[KeyRule], idle: SetId) -> Arc<[KeyRule]> {
        let rules = rules.iter().map(|rule| {
            let set = self.negated(rule.set);
            KeyRule { set, opens: false, ..rule.clone() }
        });
        rules.filter(|rule| rule.set != idle).collect()
    }
}
