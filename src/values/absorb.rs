//! Shapes that are part of others: a union is the same without them.
//!
//! Only what the constraints themselves show is found; no set is expanded for it. Products of unions
//! stay small that way: `(a ∪ b) ∧ (a ∪ c)` is `a ∪ (b ∧ c)`.

use super::intersect::Conjoin;
use super::numbers::NumberShape;
use super::shape::{ArrayShape, KeyRule, Name, ObjectShape, Rank, SetId, SomeMember, StringShape};
use std::sync::Arc;

/// A shape that may be part of another.
pub(super) trait Absorb: PartialEq {
    /// Whether it is part of `other`, plainly.
    fn is_part(&self, other: &Self, join: &dyn Conjoin) -> bool;
}

/// Leaves out the shapes that are part of others.
pub(super) fn absorb<T: Absorb>(shapes: &mut Vec<T>, join: &dyn Conjoin) {
    let mut kept: Vec<T> = Vec::with_capacity(shapes.len());
    for shape in shapes.drain(..) {
        if !kept.iter().any(|other| shape.is_part(other, join)) {
            kept.retain(|other| !other.is_part(&shape, join));
            kept.push(shape);
        }
    }
    *shapes = kept;
}

impl Absorb for NumberShape {
    fn is_part(&self, other: &Self, _: &dyn Conjoin) -> bool {
        self == other
    }
}

impl Absorb for StringShape {
    fn is_part(&self, other: &Self, _: &dyn Conjoin) -> bool {
        let values = match (&self.values, &other.values) {
            (_, None) => true,
            (Some(own), Some(all)) => own.iter().all(|text| all.binary_search(text).is_ok()),
            (None, Some(_)) => false,
        };
        values
            && has_all(&self.factors, &other.factors)
            && has_all(&self.without, &other.without)
            && is_inside((self.min, self.max), (other.min, other.max))
    }
}

impl Absorb for ArrayShape {
    fn is_part(&self, other: &Self, join: &dyn Conjoin) -> bool {
        let len = self.prefix.len().max(other.prefix.len()) as u64;
        (self.unique || !other.unique)
            && (self.repeats || !other.repeats)
            && self.evaluated == other.evaluated
            && is_inside((self.min, self.max), (other.min, other.max))
            && has_all(&self.counts, &other.counts)
            && lacks_all(&self.without, &other.without)
            && (0..=len).all(|index| join.is_part(self.item(index), other.item(index)))
    }
}

impl Absorb for ObjectShape {
    fn is_part(&self, other: &Self, join: &dyn Conjoin) -> bool {
        self.evaluated == other.evaluated
            && (self.closed || !other.closed)
            && is_inside((self.min, self.max), (other.min, other.max))
            && join.is_part(self.other, other.other)
            && has_all(&self.rules, &other.rules)
            && has_all(&self.key_nodes, &other.key_nodes)
            && has_all(&self.implies, &other.implies)
            && lacks_all(&self.without, &other.without)
            && other.some.iter().all(|one| self.some.iter().any(|own| implies(own, one, join)))
            && (join.has_no_order() || begins_with(&self.names, &other.names))
            && has_narrower_names(self, other, join)
    }
}

/// Whether the names of `shape` are narrower than those of `other`, each where it stands.
fn has_narrower_names(shape: &ObjectShape, other: &ObjectShape, join: &dyn Conjoin) -> bool {
    let named = other.names.iter().enumerate().all(|(index, name)| {
        match named_at(shape, index, &name.text) {
            Some(own) => (own.required || !name.required) && join.is_part(own.set, name.set),
            // What rules say of the name beside that is not looked at.
            None => !name.required && join.is_part(shape.other, name.set),
        }
    });
    named
        && shape.names.iter().enumerate().all(|(index, own)| {
            let is_ruled_so = |rule: &KeyRule| {
                !rule.holds(|factor| join.is_in(factor, &own.text))
                    || join.is_part(own.set, rule.set)
            };
            named_at(other, index, &own.text).is_some()
                || !other.closed
                    && join.is_part(own.set, other.other)
                    && other.rules.iter().all(is_ruled_so)
        })
}

/// The name `text` of a shape, which may stand at `index`.
fn named_at<'s>(shape: &'s ObjectShape, index: usize, text: &Arc<str>) -> Option<&'s Name> {
    let is_it = |name: &&Name| Arc::ptr_eq(&name.text, text) || name.text == *text;
    shape.names.get(index).filter(is_it).or_else(|| shape.names.iter().find(is_it))
}

/// Whether the declared and the required names of `other` are the first of `own`: then what comes in
/// the order of `own` comes in that of `other`.
fn begins_with(own: &[Name], other: &[Name]) -> bool {
    let mut own = own.iter().filter(|name| name.rank != Rank::Loose);
    let mut other = other.iter().filter(|name| name.rank != Rank::Loose);
    other.all(|name| own.next().is_some_and(|o| (&o.text, o.rank) == (&name.text, name.rank)))
}

/// Whether what satisfies `one` satisfies `other`, too.
pub(super) fn implies(one: &SomeMember, other: &SomeMember, join: &dyn Conjoin) -> bool {
    if one == other {
        return true;
    }
    let of = |some: &SomeMember, text: &str| {
        match some.names.binary_search_by(|(name, _)| (**name).cmp(text)) {
            Ok(index) => some.names[index].1,
            // What rules allow beside that only adds to it.
            Err(_) => some.other,
        }
    };
    let mut named = one.names.iter().chain(other.names.iter());
    let says_less = |some: &SomeMember| some.other == SetId::NEVER && some.rules.is_empty();
    let others = says_less(one)
        || other.other == SetId::ANY
        || one.rules.is_empty() && join.is_part(one.other, other.other);
    others
        && named.all(|(text, _)| {
            let is_ruled = !one.rules.is_empty()
                && one.names.binary_search_by(|(name, _)| name.cmp(text)).is_err();
            let wanted = of(other, text);
            wanted == SetId::ANY || !is_ruled && join.is_part(of(one, text), wanted)
        })
}

fn has_all<T: PartialEq>(own: &[T], other: &[T]) -> bool {
    other.len() <= own.len() && other.iter().all(|one| own.contains(one))
}

/// The same for what is taken away; only shapes of one origin count as equal.
fn lacks_all<T>(own: &[Arc<T>], other: &[Arc<T>]) -> bool {
    other.len() <= own.len()
        && other.iter().all(|one| own.iter().any(|known| Arc::ptr_eq(known, one)))
}

fn is_inside(own: (u64, Option<u64>), other: (u64, Option<u64>)) -> bool {
    let most = |max: Option<u64>| max.unwrap_or(u64::MAX);
    own.0 >= other.0 && most(own.1) <= most(other.1)
}

#[cfg(test)]
mod tests {
    use crate::options::{Limits, Options, SurfacePolicy};
    use crate::schema::Schema;
    use crate::values::Sets;
    use std::sync::Arc;

    /// How many shapes of objects the root of a schema has; `None` where one was left out.
    fn objects(policy: SurfacePolicy, schema: &str) -> Option<usize> {
        let limits = Limits { set_shapes: 20, ..Limits::default() };
        let options = Options { policy, limits, ..Options::default() };
        let schema = Schema::parse(schema, &options).unwrap();
        let sets = Sets::compile(Arc::new(schema), &options).unwrap();
        sets.widened().is_empty().then(|| sets.get(sets.root()).objects.len())
    }

    fn unions(copies: usize) -> String {
        let branch =
            |name: &str| format!(r##"{{"properties": {{"{name}": {{"$ref": "#/$defs/n"}}}}}}"##);
        let union = format!(r#"{{"anyOf": [{}, {}, {}]}}"#, branch("a"), branch("b"), branch("c"));
        let unions = vec![union; copies].join(", ");
        format!(
            r#"{{"$defs": {{"n": {{"type": "null"}}}}, "type": "object", "allOf": [{unions}]}}"#
        )
    }

    #[test]
    fn what_is_part_of_another_shape_adds_nothing() {
        // One, two or three of the names, in any order: so few are kept as they are.
        assert_eq!(objects(SurfacePolicy::exact(), &unions(2)), Some(9));
        assert_eq!(objects(SurfacePolicy::exact(), &unions(3)), Some(15));
        let many = objects(SurfacePolicy::exact(), &unions(30));
        assert!(many.is_some_and(|count| count <= 20), "{many:?}");
    }
}
