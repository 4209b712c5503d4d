//! Intersection: the constraint lists of two shapes joined.

use super::draft::Draft;
use super::numbers::NumberShape;
use super::shape::{ArrayShape, FactorId, Name, ObjectShape, SetId, StringShape};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Arc;

/// What an intersection asks of those who build sets.
pub(super) trait Conjoin {
    /// The id of the conjunction of two sets.
    fn join(&mut self, a: SetId, b: SetId) -> SetId;

    /// Whether a language holds a key.
    fn is_in(&self, factor: FactorId, key: &str) -> bool;
}

/// The intersection of two unions, or `None` where one type would have more than `limit` shapes.
pub(super) fn drafts(a: &Draft, b: &Draft, join: &mut dyn Conjoin, limit: usize) -> Option<Draft> {
    Some(Draft {
        literals: a.literals.and(b.literals),
        numbers: product(&a.numbers, &b.numbers, limit, NumberShape::intersect)?,
        strings: product(&a.strings, &b.strings, limit, strings)?,
        arrays: product(&a.arrays, &b.arrays, limit, |x, y| arrays(x, y, join))?,
        objects: product(&a.objects, &b.objects, limit, |x, y| Some(objects(x, y, join)))?,
    })
}

/// Every non-empty intersection of one of `a` with one of `b`, without repeats.
pub(super) fn product<T: PartialEq>(
    a: &[T],
    b: &[T],
    limit: usize,
    mut both: impl FnMut(&T, &T) -> Option<T>,
) -> Option<Vec<T>> {
    let mut all = Vec::new();
    for x in a {
        for y in b {
            if let Some(shape) = both(x, y)
                && !(a.len() > 1 && b.len() > 1 && all.contains(&shape))
            {
                all.push(shape);
            }
        }
        if all.len() > limit && b.len() > 1 && a.len() > 1 {
            return None;
        }
    }
    Some(all)
}

pub(super) fn strings(a: &StringShape, b: &StringShape) -> Option<StringShape> {
    let mut factors = [a.factors.as_slice(), b.factors.as_slice()].concat();
    factors.sort_unstable();
    factors.dedup();
    let mut without = [a.without.as_slice(), b.without.as_slice()].concat();
    without.sort_unstable();
    without.dedup();
    let values = match (&a.values, &b.values) {
        (None, None) => None,
        (Some(x), None) | (None, Some(x)) => Some(x.clone()),
        (Some(x), Some(y)) => Some(sorted_intersection(x, y).into()),
    };
    let (min, max) = (a.min.max(b.min), least(a.max, b.max));
    let empty = max.is_some_and(|m| m < min) || values.as_ref().is_some_and(|v| v.is_empty());
    (!empty).then_some(StringShape { factors, without, values, min, max })
}

pub(super) fn arrays(a: &ArrayShape, b: &ArrayShape, join: &mut dyn Conjoin) -> Option<ArrayShape> {
    let (min, max) = (a.min.max(b.min), least(a.max, b.max));
    if max.is_some_and(|m| m < min) {
        return None;
    }
    let len = a.prefix.len().max(b.prefix.len()) as u64;
    let prefix = (0..len).map(|i| join.join(a.item(i), b.item(i))).collect();
    Some(ArrayShape { prefix, rest: join.join(a.rest, b.rest), min, max })
}

/// Declared names keep the order of their first mention, `a` before `b`; names that are only
/// required come last, in the order in which they were required.
pub(super) fn objects(a: &ObjectShape, b: &ObjectShape, join: &mut dyn Conjoin) -> ObjectShape {
    let closed = a.closed || b.closed;
    if a.is_any() {
        return ObjectShape { closed, ..b.clone() };
    }
    if b.is_any() {
        return ObjectShape { closed, ..a.clone() };
    }
    let index_of = |shape: &ObjectShape| -> FxHashMap<Arc<str>, usize> {
        shape.names.iter().enumerate().map(|(i, n)| (n.text.clone(), i)).collect()
    };
    let (in_a, in_b) = (index_of(a), index_of(b));
    let mut merge = |text: &Arc<str>| {
        let x = in_a.get(text).map(|&i| &a.names[i]);
        let y = in_b.get(text).map(|&i| &b.names[i]);
        Name {
            text: text.clone(),
            declared: [x, y].into_iter().flatten().any(|n| n.declared),
            required: [x, y].into_iter().flatten().any(|n| n.required),
            set: match (x, y) {
                (Some(x), Some(y)) => join.join(x.set, y.set),
                (Some(x), None) => with_rules(b, text, x.set, true, join),
                (None, Some(y)) => with_rules(a, text, y.set, false, join),
                (None, None) => SetId::ANY,
            },
        }
    };
    let declared_in_a = |text: &str| in_a.get(text).is_some_and(|&i| a.names[i].declared);
    let mut names: Vec<Name> = Vec::with_capacity(a.names.len() + b.names.len());
    let of_a = a.names.iter().filter(|n| n.declared);
    let of_b = b.names.iter().filter(|n| n.declared && !declared_in_a(&n.text));
    names.extend(of_a.chain(of_b).map(|n| merge(&n.text)));
    let declared_in_b = |text: &str| in_b.get(text).is_some_and(|&i| b.names[i].declared);
    let of_a = a.names.iter().filter(|n| !n.declared && !declared_in_b(&n.text));
    let of_b = b.names.iter().filter(|n| !n.declared && !in_a.contains_key(&n.text));
    names.extend(of_a.chain(of_b).map(|n| merge(&n.text)));
    let mut rules = a.rules.to_vec();
    rules.extend(b.rules.iter().filter(|rule| !a.rules.contains(rule)).cloned());
    let mut key_nodes = a.key_nodes.to_vec();
    key_nodes.extend(b.key_nodes.iter().filter(|node| !a.key_nodes.contains(node)));
    ObjectShape {
        names: names.into(),
        other: join.join(a.other, b.other),
        rules: rules.into(),
        key_nodes: key_nodes.into(),
        closed,
    }
}

/// `set`, and what `shape` says of a key that it does not name; `first`: `set` was mentioned first.
fn with_rules(
    shape: &ObjectShape,
    key: &str,
    set: SetId,
    first: bool,
    join: &mut dyn Conjoin,
) -> SetId {
    let mut own = shape.other;
    for rule in shape.rules.iter() {
        if rule.holds(|factor| join.is_in(factor, key)) {
            own = join.join(own, rule.set);
        }
    }
    if first { join.join(set, own) } else { join.join(own, set) }
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(x), Some(y)) => Some(x.min(y)),
        (x, y) => x.or(y),
    }
}

fn sorted_intersection<T: Ord + Clone>(a: &[T], b: &[T]) -> Vec<T> {
    let (mut i, mut j, mut both) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                both.push(a[i].clone());
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    struct First;

    impl Conjoin for First {
        fn join(&mut self, a: SetId, _: SetId) -> SetId {
            a
        }

        fn is_in(&self, _: FactorId, _: &str) -> bool {
            false
        }
    }

    fn object(names: &[(&str, bool, bool)]) -> ObjectShape {
        let names = names.iter().map(|&(text, declared, required)| Name {
            text: text.into(),
            declared,
            required,
            set: SetId::ANY,
        });
        ObjectShape { names: names.collect(), ..ObjectShape::any() }
    }

    fn order(shape: &ObjectShape) -> Vec<&str> {
        shape.names.iter().map(|n| &*n.text).collect()
    }

    #[test]
    fn first_mention_decides_the_order_and_only_required_names_come_last() {
        let a = object(&[("a", true, false), ("b", true, false), ("r", false, true)]);
        let b = object(&[("c", true, false), ("a", true, true), ("s", false, true)]);
        let both = objects(&a, &b, &mut First);
        assert_eq!(order(&both), ["a", "b", "c", "r", "s"]);
        assert!(both.names[0].required && !both.names[1].required);
        // A name that one side requires and the other declares stands where it is declared.
        let b = object(&[("r", true, false), ("c", true, false)]);
        let both = objects(&a, &b, &mut First);
        assert_eq!(order(&both), ["a", "b", "r", "c"]);
        assert!(both.names[2].required);
    }

    #[test]
    fn lengths_and_values_meet() {
        let bounded = |min, max| StringShape { min, max, ..StringShape::default() };
        let both = strings(&bounded(2, Some(9)), &bounded(3, None)).unwrap();
        assert_eq!((both.min, both.max), (3, Some(9)));
        assert_eq!(strings(&bounded(4, None), &bounded(0, Some(3))), None);
        let of = |v: &[&str]| StringShape {
            values: Some(v.iter().map(|s| Box::from(*s)).collect()),
            ..StringShape::default()
        };
        assert_eq!(strings(&of(&["a", "b"]), &of(&["b", "c"])), Some(of(&["b"])));
        assert_eq!(strings(&of(&["a"]), &of(&["c"])), None);
    }
}
