//! Intersection: the constraint lists of two shapes joined.

use super::absorb::{Absorb, absorb};
use super::draft::Draft;
use super::shape::{
    ArrayShape, EvaluatedItems, EvaluatedKeys, FactorId, Implication, ItemCount, Name, ObjectShape,
    Rank, SetId, SomeMember, StringShape,
};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Arc;

/// So many names or items are met in one step.
const STEP: usize = 8;

/// Of more shapes, those are looked for that are part of others.
const MANY: usize = 16;

/// What an intersection asks of those who build sets.
pub(super) trait Conjoin {
    /// The id of the conjunction of two sets.
    fn join(&mut self, a: SetId, b: SetId) -> SetId;

    /// The id of the conjunction of a set and the complement of another.
    fn join_negated(&mut self, a: SetId, b: SetId) -> SetId;

    /// Whether a set is empty, as far as can be told at once.
    fn is_empty(&mut self, set: SetId) -> bool;

    /// Whether a conjunction of several contradicts itself, as far as can be told at once.
    fn is_conflict(&mut self, set: SetId) -> bool;

    /// Notes so many steps of work.
    fn spend(&mut self, steps: usize);

    /// Whether a language holds a key.
    fn is_in(&self, factor: FactorId, key: &str) -> bool;

    /// Whether a set is part of another by its symbols alone.
    fn is_part(&self, part: SetId, whole: SetId) -> bool;

    /// Whether members may come in any order, whatever declares them.
    fn has_no_order(&self) -> bool;
}

/// The intersection of two unions, or `None` where one type would have more than `limit` shapes.
pub(super) fn drafts(a: &Draft, b: &Draft, join: &mut dyn Conjoin, limit: usize) -> Option<Draft> {
    Some(Draft {
        literals: a.literals.and(b.literals),
        numbers: product(&a.numbers, &b.numbers, limit, join, |x, y, _| x.intersect(y))?,
        strings: product(&a.strings, &b.strings, limit, join, |x, y, _| strings(x, y))?,
        arrays: product(&a.arrays, &b.arrays, limit, join, arrays)?,
        objects: product(&a.objects, &b.objects, limit, join, objects)?,
    })
}

/// Every non-empty intersection of one of `a` with one of `b`, without repeats; where they are many,
/// also without those that are part of another.
pub(super) fn product<T: Absorb>(
    a: &[T],
    b: &[T],
    limit: usize,
    join: &mut dyn Conjoin,
    mut both: impl FnMut(&T, &T, &mut dyn Conjoin) -> Option<T>,
) -> Option<Vec<T>> {
    let is_proper = a.len() > 1 && b.len() > 1;
    let mut all = Vec::new();
    for x in a {
        for y in b {
            if let Some(shape) = both(x, y, join)
                && !(is_proper && all.contains(&shape))
            {
                all.push(shape);
            }
        }
        if is_proper && all.len() > limit {
            absorb(&mut all, join);
            if all.len() > limit {
                return None;
            }
        }
    }
    if is_proper && all.len() > MANY {
        absorb(&mut all, join);
    }
    Some(all)
}

pub(super) fn strings(a: &StringShape, b: &StringShape) -> Option<StringShape> {
    let (factors, without) = (both(&a.factors, &b.factors), both(&a.without, &b.without));
    let values = match (&a.values, &b.values) {
        (None, None) => None,
        (Some(x), None) | (None, Some(x)) => Some(x.clone()),
        (Some(x), Some(y)) => Some(sorted_intersection(x, y).into()),
    };
    let (min, max) = (a.min.max(b.min), least(a.max, b.max));
    let empty = max.is_some_and(|m| m < min) || values.as_ref().is_some_and(|v| v.is_empty());
    (!empty).then_some(StringShape { factors, without, values, min, max })
}

/// The factors of two lists that are ascending and without repeats.
fn both(a: &[FactorId], b: &[FactorId]) -> Vec<FactorId> {
    let mut both = [a, b].concat();
    both.sort_unstable();
    both.dedup();
    both
}

pub(super) fn arrays(a: &ArrayShape, b: &ArrayShape, join: &mut dyn Conjoin) -> Option<ArrayShape> {
    join.spend(1 + (a.prefix.len() + b.prefix.len()) / STEP);
    if a.unique && b.repeats || a.repeats && b.unique {
        return None;
    }
    let (min, max) = (a.min.max(b.min), least(a.max, b.max));
    let len = a.prefix.len().max(b.prefix.len()) as u64;
    let prefix = (0..len).map(|i| join.join(a.item(i), b.item(i))).collect();
    let both = ArrayShape {
        prefix,
        rest: join.join(a.rest, b.rest),
        min,
        max,
        counts: together(&a.counts, &b.counts),
        unique: a.unique || b.unique,
        repeats: a.repeats || b.repeats,
        without: together(&a.without, &b.without),
        evaluated: evaluated(a.evaluated.as_ref(), b.evaluated.as_ref(), evaluated_items),
    };
    simplified_array(both, join)
}

/// The same set of arrays, with fewer counts; `None` where it is plainly empty.
pub(super) fn simplified_array(
    mut shape: ArrayShape,
    join: &mut dyn Conjoin,
) -> Option<ArrayShape> {
    let counts = std::mem::take(&mut shape.counts);
    let mut kept: Vec<ItemCount> = Vec::new();
    for count in counts.iter() {
        if count.max.is_some_and(|max| max < count.min) {
            return None;
        }
        let len = shape.prefix.len().max(count.prefix.len());
        let mut counting = Vec::with_capacity(len + 1);
        let (mut all, mut some) = (true, Vec::new());
        for index in 0..=len {
            // Behind the last of the prefixes the rest is asked.
            let (own, wanted) = (shape.item(index as u64), count.item(index));
            let met = join.join(own, wanted);
            let none = wanted == SetId::NEVER || join.is_empty(met);
            counting.push(if none { SetId::NEVER } else { wanted });
            all &= met == own;
            if !none {
                some.push(index);
            }
        }
        let never = |index: usize| counting[index] == SetId::NEVER;
        if count.min == 0 && count.max.is_none() {
            continue;
        }
        if some.is_empty() {
            // Nothing counts.
            if count.min > 0 {
                return None;
            }
        } else if all {
            // Every item counts.
            shape.min = shape.min.max(count.min);
            shape.max = least(shape.max, count.max);
        } else if count.max == Some(0) {
            let without = |index: usize, join: &mut dyn Conjoin| {
                let own = shape.item(index as u64);
                if never(index) { own } else { join.join_negated(own, counting[index]) }
            };
            let prefix = (0..len).map(|index| without(index, join)).collect();
            let rest = without(len, join);
            (shape.prefix, shape.rest) = (prefix, rest);
        } else if let ([index], true, None) = (some.as_slice(), count.min == 1, count.max)
            && *index < len
        {
            // Only one item can count, so it does.
            let mut prefix: Vec<SetId> = (0..len).map(|i| shape.item(i as u64)).collect();
            prefix[*index] = join.join(prefix[*index], counting[*index]);
            shape.prefix = prefix.into();
            shape.min = shape.min.max(*index as u64 + 1);
        } else {
            let rest = counting.pop().unwrap_or(SetId::NEVER);
            let count = ItemCount { prefix: counting.into(), rest, ..count.clone() };
            if !kept.contains(&count) {
                kept.push(count);
            }
        }
    }
    if !kept.is_empty() {
        shape.counts = kept.into();
    }
    let empty = |max: Option<u64>, min: u64| max.is_some_and(|max| max < min);
    if empty(shape.max, shape.min) || shape.counts.iter().any(|c| empty(c.max, c.min)) {
        return None;
    }
    Some(shape)
}

fn together<T: Clone + PartialEq>(a: &Arc<[T]>, b: &Arc<[T]>) -> Arc<[T]> {
    if b.is_empty() {
        return a.clone();
    }
    if a.is_empty() {
        return b.clone();
    }
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|one| !a.contains(one)).cloned());
    all.into()
}

/// What two conjuncts evaluate together.
fn evaluated<T>(
    a: Option<&Arc<T>>,
    b: Option<&Arc<T>>,
    both: impl FnOnce(&T, &T) -> T,
) -> Option<Arc<T>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Arc::new(both(a, b))),
        (a, b) => a.or(b).cloned(),
    }
}

fn evaluated_items(a: &EvaluatedItems, b: &EvaluatedItems) -> EvaluatedItems {
    let mut sets = a.sets.clone();
    sets.extend(b.sets.iter().filter(|set| !a.sets.contains(set)));
    EvaluatedItems { first: a.first.max(b.first), sets }
}

fn evaluated_keys(a: &EvaluatedKeys, b: &EvaluatedKeys) -> EvaluatedKeys {
    let mut names = [a.names.as_slice(), b.names.as_slice()].concat();
    names.sort_unstable();
    names.dedup();
    let mut keys = a.keys.clone();
    keys.extend(b.keys.iter().filter(|keys| !a.keys.contains(keys)).cloned());
    EvaluatedKeys { all: a.all || b.all, names, keys }
}

/// Declared names keep the order of their first mention, `a` before `b`; names that are only
/// required come next, in the order in which they were required; loose ones last. `None` where the
/// shape is plainly empty.
pub(super) fn objects(
    a: &ObjectShape,
    b: &ObjectShape,
    join: &mut dyn Conjoin,
) -> Option<ObjectShape> {
    let closed = a.closed || b.closed;
    if a.is_any() {
        return Some(ObjectShape { closed, ..b.clone() });
    }
    if b.is_any() {
        return Some(ObjectShape { closed, ..a.clone() });
    }
    join.spend(1 + (a.names.len() + b.names.len()) / STEP);
    let both = ObjectShape {
        names: names(a, b, join),
        other: join.join(a.other, b.other),
        rules: together(&a.rules, &b.rules),
        key_nodes: together(&a.key_nodes, &b.key_nodes),
        closed,
        min: a.min.max(b.min),
        max: least(a.max, b.max),
        some: together(&a.some, &b.some),
        implies: implications(&a.implies, &b.implies),
        without: together(&a.without, &b.without),
        evaluated: evaluated(a.evaluated.as_ref(), b.evaluated.as_ref(), evaluated_keys),
    };
    simplified_object(both, join)
}

fn implications(a: &Arc<[Implication]>, b: &Arc<[Implication]>) -> Arc<[Implication]> {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b.clone() } else { a.clone() };
    }
    let mut all = [&a[..], &b[..]].concat();
    all.sort_unstable();
    all.dedup();
    all.into()
}

fn names(a: &ObjectShape, b: &ObjectShape, join: &mut dyn Conjoin) -> Arc<[Name]> {
    if b.names.is_empty() && b.other == SetId::ANY && b.rules.is_empty() {
        return a.names.clone();
    }
    if a.names.is_empty() && a.other == SetId::ANY && a.rules.is_empty() {
        return b.names.clone();
    }
    let (in_a, in_b) = (by_text(a), by_text(b));
    let mut merge = |text: &Arc<str>| {
        let x = in_a.get(&**text).map(|&i| &a.names[i]);
        let y = in_b.get(&**text).map(|&i| &b.names[i]);
        let ranks = [x, y].into_iter().flatten().map(|name| name.rank);
        Name {
            text: text.clone(),
            rank: ranks.min().unwrap_or(Rank::Loose),
            required: [x, y].into_iter().flatten().any(|n| n.required),
            set: match (x, y) {
                (Some(x), Some(y)) => join.join(x.set, y.set),
                (Some(x), None) => with_rules(b, text, x.set, true, join),
                (None, Some(y)) => with_rules(a, text, y.set, false, join),
                (None, None) => SetId::ANY,
            },
        }
    };
    let mut merged: Vec<Name> = Vec::with_capacity(a.names.len() + b.names.len());
    for rank in [Rank::Declared, Rank::Required, Rank::Loose] {
        let in_other = |names: &FxHashMap<&str, usize>, shape: &ObjectShape, text: &str| {
            names.get(text).map(|&i| shape.names[i].rank)
        };
        let better = |other: Option<Rank>| other.is_some_and(|other| other < rank);
        let start = merged.len();
        let of_a = a.names.iter().filter(|n| n.rank == rank);
        let of_a = of_a.filter(|n| !better(in_other(&in_b, b, &n.text)));
        let of_b = b.names.iter().filter(|n| n.rank == rank);
        let of_b = of_b.filter(|n| in_other(&in_a, a, &n.text).is_none_or(|other| other > rank));
        merged.extend(of_a.chain(of_b).map(|n| merge(&n.text)));
        if rank == Rank::Loose {
            merged[start..].sort_by(|a, b| a.text.cmp(&b.text));
        }
    }
    merged.into()
}

/// Where each name of a shape stands.
fn by_text(shape: &ObjectShape) -> FxHashMap<&str, usize> {
    shape.names.iter().enumerate().map(|(index, name)| (&*name.text, index)).collect()
}

/// The same set of objects, with fewer constraints on some member; `None` where it is plainly empty.
pub(super) fn simplified_object(
    mut shape: ObjectShape,
    join: &mut dyn Conjoin,
) -> Option<ObjectShape> {
    let some = std::mem::take(&mut shape.some);
    let mut kept: Vec<SomeMember> = Vec::new();
    for one in some.iter() {
        match simplified_some(one, &mut shape, join) {
            Simplified::Never => return None,
            Simplified::Holds => {}
            Simplified::To(one) if kept.contains(&one) => {}
            Simplified::To(one) => kept.push(one),
        }
    }
    if !kept.is_empty() {
        shape.some = kept.into();
    }
    let required = shape.names.iter().filter(|name| name.required);
    let mut needed = 0;
    for name in required {
        needed += 1;
        if name.set == SetId::NEVER || join.is_conflict(name.set) {
            return None;
        }
    }
    let most = shape.max.unwrap_or(u64::MAX);
    (shape.min <= most && needed <= most).then_some(shape)
}

/// What is left of a constraint on some member.
enum Simplified {
    Never,
    Holds,
    To(SomeMember),
}

fn simplified_some(
    one: &SomeMember,
    shape: &mut ObjectShape,
    join: &mut dyn Conjoin,
) -> Simplified {
    let mut names: Vec<(Arc<str>, SetId)> = Vec::with_capacity(one.names.len());
    let index_of: FxHashMap<Arc<str>, usize> = match one.names.len() {
        0..=2 => FxHashMap::default(),
        _ => shape.names.iter().enumerate().map(|(i, n)| (n.text.clone(), i)).collect(),
    };
    for (text, wanted) in one.names.iter() {
        let found = match one.names.len() {
            0..=2 => shape.names.iter().position(|name| name.text == *text),
            _ => index_of.get(text).copied(),
        };
        let own = match found {
            Some(index) => shape.names[index].set,
            None => with_rules(shape, text, SetId::ANY, true, join),
        };
        let met = join.join(own, *wanted);
        let none = *wanted == SetId::NEVER || join.is_empty(met);
        if !none && met == own && found.is_some_and(|index| shape.names[index].required) {
            return Simplified::Holds;
        }
        // Names without a chance still say that the others do not speak of them.
        names.push((text.clone(), if none { SetId::NEVER } else { *wanted }));
    }
    if one.other != SetId::NEVER || !one.rules.is_empty() {
        // Where no other key may come, what is asked of those is asked of names.
        let further = (shape.other == SetId::NEVER).then(|| of_further_names(one, shape, join));
        let Some(further) = further.flatten() else {
            return Simplified::To(SomeMember { names: names.into(), ..one.clone() });
        };
        for (name, wanted) in further {
            let met = join.join(name.set, wanted);
            if !join.is_empty(met) {
                if met == name.set && name.required {
                    return Simplified::Holds;
                }
                names.push((name.text, wanted));
            }
        }
        names.sort_unstable();
    }
    names.retain(|(_, set)| *set != SetId::NEVER);
    let left = names.len();
    match (left, names.pop()) {
        (0, _) | (_, None) => Simplified::Never,
        (1, Some((text, set))) => {
            let only = Name { text, rank: Rank::Loose, required: true, set };
            let only = ObjectShape { names: Arc::new([only]), ..ObjectShape::any() };
            shape.names = self::names(shape, &only, join);
            Simplified::Holds
        }
        (_, Some(last)) => {
            names.push(last);
            Simplified::To(SomeMember {
                names: names.into(),
                other: SetId::NEVER,
                rules: Arc::default(),
            })
        }
    }
}

/// The names of `shape` that `one` does not name, with what it asks of them; `None` where it asks for
/// one of several things.
fn of_further_names(
    one: &SomeMember,
    shape: &ObjectShape,
    join: &dyn Conjoin,
) -> Option<Vec<(Name, SetId)>> {
    let mut further = Vec::new();
    for name in shape.names.iter().filter(|name| !names_it(one, name)) {
        let holding = one.rules.iter().filter(|rule| rule.holds(|f| join.is_in(f, &name.text)));
        let mut wanted = holding.map(|rule| rule.set).chain([one.other]);
        let mut wanted = wanted.by_ref().filter(|set| *set != SetId::NEVER);
        match (wanted.next(), wanted.next()) {
            (None, _) => {}
            (Some(set), None) => {
                further.push((name.clone(), set));
            }
            _ => return None,
        }
    }
    Some(further)
}

fn names_it(one: &SomeMember, name: &Name) -> bool {
    one.names.binary_search_by(|(text, _)| text.cmp(&name.text)).is_ok()
}

/// `set`, and what `shape` says of a key that it does not name; `first`: `set` was mentioned first.
pub(super) fn with_rules(
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

        fn join_negated(&mut self, a: SetId, _: SetId) -> SetId {
            a
        }

        fn is_empty(&mut self, set: SetId) -> bool {
            set == SetId::NEVER
        }

        fn is_conflict(&mut self, set: SetId) -> bool {
            set == SetId::NEVER
        }

        fn spend(&mut self, _: usize) {}

        fn is_in(&self, _: FactorId, _: &str) -> bool {
            false
        }

        fn is_part(&self, part: SetId, whole: SetId) -> bool {
            part == whole || whole == SetId::ANY
        }

        fn has_no_order(&self) -> bool {
            false
        }
    }

    fn object(names: &[(&str, bool, bool)]) -> ObjectShape {
        let names = names.iter().map(|&(text, declared, required)| Name {
            text: text.into(),
            rank: if declared { Rank::Declared } else { Rank::Required },
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
        let both = objects(&a, &b, &mut First).unwrap();
        assert_eq!(order(&both), ["a", "b", "c", "r", "s"]);
        assert!(both.names[0].required && !both.names[1].required);
        // A name that one side requires and the other declares stands where it is declared.
        let b = object(&[("r", true, false), ("c", true, false)]);
        let both = objects(&a, &b, &mut First).unwrap();
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
