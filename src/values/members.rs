//! Constraints on the members of an object together: the keywords that say so, and what an object
//! shape must be like so that it can be decided at each step whether it can still be finished.
//!
//! A shape that leaves here ([`Builder::mention_names`], [`Builder::bound_members`]) keeps to this:
//! * Every key that a constraint mentions by name is among its names.
//! * Another key that may satisfy a constraint on some member can come as often as it is wanted:
//!   where the keys of a combination may come to an end before, they have become names.
//! * Where keys are counted, a member that satisfies such a constraint brings no other key with it,
//!   and by what they can satisfy, other keys are of few kinds.
//! * At most [`MOST_OPEN`] constraints on some member share keys.
//! * With a minimum and a maximum, any number of keys between them can be had.
//!
//! What would break this is left out, and routed.

use super::finish_members::{MOST_OPEN, closures, join};
use super::intersect::{Conjoin, with_rules};
use super::keys::OtherKeys;
use super::kinds::upper_sets;
use super::literals::length;
use super::sets::Builder;
use super::shape::{FactorId, Implication, Name, ObjectShape, Rank, SetId, SomeMember};
use super::terms::Term;
use crate::language::{Language, TextState};
use crate::schema::{JsonKind, JsonRef, Kw};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many keys of a combination become names, at most.
const MOST_KEYS: usize = 64;
/// So many names are needed by names in all, at most.
const MOST_NEEDS: usize = 1 << 18;
/// More keys than any document has.
const INEXHAUSTIBLE: u64 = 1 << 32;
/// So many sets of kinds of keys may be all that is left, at most; and of so many kinds.
const MOST_UPPER_SETS: usize = 128;
const MOST_KINDS: usize = 16;
/// The limit that is named where a constraint is left out.
const LIMIT: &str = "open_constraints";

/// What `minProperties`, `maxProperties`, `dependentRequired`, or the lists of names of
/// `dependencies` ask.
pub(super) fn together(kw: Kw, value: JsonRef<'_>) -> ObjectShape {
    let any = ObjectShape::any();
    match kw {
        Kw::MinProperties => ObjectShape { min: length(value), ..any },
        Kw::MaxProperties => ObjectShape { max: Some(length(value)), ..any },
        _ => {
            let lists = value.members().filter(|(_, needs)| needs.kind() == JsonKind::Array);
            let pairs = lists.flat_map(|(name, needs)| {
                let needs = needs.items().filter_map(JsonRef::as_str);
                needs.map(move |needs| (name, needs))
            });
            let pairs = pairs.filter(|(name, needs)| name != needs);
            let mut implies: Vec<Implication> = pairs
                .map(|(name, needs)| Implication { name: name.into(), needs: needs.into() })
                .collect();
            implies.sort_unstable();
            implies.dedup();
            ObjectShape { implies: implies.into(), ..any }
        }
    }
}

/// The one constraint on some member that a shape is, if it is nothing else.
fn only_some(shape: &ObjectShape) -> Option<Vec<(Arc<str>, SetId)>> {
    let one = ObjectShape { names: Arc::default(), some: Arc::default(), ..shape.clone() };
    if one != ObjectShape::any() {
        return None;
    }
    match (&shape.names[..], &shape.some[..]) {
        ([name], []) if name.required => Some(vec![(name.text.clone(), name.set)]),
        ([], [some]) if some.other == SetId::NEVER && some.rules.is_empty() => {
            Some(some.names.to_vec())
        }
        _ => None,
    }
}

impl Builder<'_> {
    /// Takes those shapes of a union together that are nothing but a constraint on some member.
    pub(super) fn merge_some(&mut self, shapes: &mut Vec<ObjectShape>) {
        let mut names: BTreeMap<Arc<str>, SetId> = BTreeMap::new();
        if shapes.iter().filter(|shape| only_some(shape).is_some()).count() < 2 {
            return;
        }
        let mut rest = Vec::new();
        for shape in shapes.drain(..) {
            let Some(some) = only_some(&shape) else {
                rest.push(shape);
                continue;
            };
            for (text, set) in some {
                let known = names.get(&text).copied().unwrap_or(SetId::NEVER);
                let set = self.union_sets(known, set);
                names.insert(text, set);
            }
        }
        let names = names.into_iter().collect();
        let merged = SomeMember { names, other: SetId::NEVER, rules: Arc::default() };
        rest.push(ObjectShape { some: Arc::new([merged]), ..ObjectShape::any() });
        *shapes = rest;
    }

    /// Makes every key that a constraint mentions one of the names of `shape`; what holds wherever
    /// its required names stand is required, too.
    pub(super) fn mention_names(&mut self, shape: &mut ObjectShape) {
        if shape.implies.is_empty() && shape.some.is_empty() {
            return;
        }
        let known: FxHashSet<Arc<str>> = shape.names.iter().map(|n| n.text.clone()).collect();
        // Where the policy closes the object, what must stand there may.
        let mut mentioned: BTreeMap<Arc<str>, bool> = BTreeMap::new();
        let of_some = shape.some.iter().flat_map(|one| one.names.iter());
        let of_some = of_some.map(|(text, set)| (text, *set != SetId::NEVER));
        let implied = shape.implies.iter().flat_map(|i| [(&i.name, false), (&i.needs, true)]);
        for (text, opens) in of_some.chain(implied).filter(|(text, _)| !known.contains(*text)) {
            *mentioned.entry(text.clone()).or_default() |= opens;
        }
        let mut names = shape.names.to_vec();
        for (text, opens) in mentioned {
            let is_closed = shape.closed && !opens && {
                let mut rules = shape.rules.iter().filter(|rule| rule.opens);
                !rules.any(|rule| rule.holds(|factor| self.is_in(factor, &text)))
            };
            let set = if is_closed {
                SetId::NEVER
            } else {
                with_rules(shape, &text, SetId::ANY, true, self)
            };
            names.push(Name { text, rank: Rank::Loose, required: false, set });
        }
        set_names(shape, names);
        self.settle_needs(shape);
    }

    /// Leaves no needs of required names, and none that are required anyway.
    fn settle_needs(&mut self, shape: &mut ObjectShape) {
        let mut required: FxHashSet<Arc<str>> =
            shape.names.iter().filter(|n| n.required).map(|n| n.text.clone()).collect();
        let mut open: Vec<Arc<str>> = required.iter().cloned().collect();
        while let Some(text) = open.pop() {
            let from = shape.implies.partition_point(|implies| implies.name < text);
            let needs = shape.implies[from..].iter().take_while(|implies| implies.name == text);
            for implies in needs {
                if required.insert(implies.needs.clone()) {
                    open.push(implies.needs.clone());
                }
            }
        }
        let says = |i: &&Implication| !required.contains(&i.name) && !required.contains(&i.needs);
        if !shape.implies.iter().all(|implies| says(&implies)) {
            shape.implies = shape.implies.iter().filter(says).cloned().collect();
            let is_required = |name: &Name| required.contains(&name.text);
            let names = shape.names.iter();
            let names = names.map(|n| Name { required: n.required || is_required(n), ..n.clone() });
            shape.names = names.collect();
        }
    }

    /// Leaves out those constraints of `shape`, whose other keys are `keys`, that cannot be followed
    /// at each step; and turns keys that come to an end into names where a constraint asks for them.
    pub(super) fn bound_members(
        &mut self,
        shape: &mut ObjectShape,
        mut keys: Option<&mut OtherKeys>,
        terms: &[Term],
    ) {
        if shape.is_plain() {
            return;
        }
        let before = shape.clone();
        if !shape.implies.is_empty() && closures(shape, MOST_NEEDS).is_none() {
            shape.implies = Arc::default();
        }
        shape.some = shape.some.iter().take(u64::BITS as usize).cloned().collect();
        if let Some(keys) = &mut keys {
            self.name_keys_that_end(shape, keys);
            // Keys are counted so far.
            shape.min = shape.min.min(Language::COUNTED);
        }
        if shape.max.is_some() && !shape.some.is_empty() {
            self.drop_what_costs_more(shape, keys.as_deref());
        }
        self.drop_what_shares_too_much(shape, keys.as_deref());
        lower_min(shape, keys.is_some());
        let (was, is) = (&before, &*shape);
        if (was.min, was.some.len(), was.implies.len()) != (is.min, is.some.len(), is.implies.len())
        {
            self.widen_terms(terms, LIMIT, |kw| kw != Kw::Type);
        }
    }

    /// The constraints on some member, as bits, that another key of a combination can satisfy.
    fn served_by(&mut self, shape: &ObjectShape, keys: &OtherKeys, combination: usize) -> u64 {
        if keys.sets[combination].is_none_or(|set| self.is_plainly_empty(set)) {
            return 0;
        }
        let holds = &keys.joint.combinations()[combination];
        let of = |one: &SomeMember, builder: &mut Self| {
            builder.some_other(one, |rule, _| rule.holds(|factor| keys.holds(holds, factor)))
        };
        let bits = shape.some.iter().enumerate();
        bits.fold(0, |all, (bit, one)| all | u64::from(of(one, self) != SetId::NEVER) << bit)
    }

    /// The same for a name.
    fn served_by_name(&mut self, shape: &ObjectShape, text: &str) -> u64 {
        let of = |one: &SomeMember, builder: &mut Self| {
            let index = one.names.binary_search_by(|(name, _)| (**name).cmp(text));
            index.map_or_else(
                |_| builder.some_other(one, |rule, b| rule.holds(|f: FactorId| b.is_in(f, text))),
                |index| one.names[index].1,
            )
        };
        let bits = shape.some.iter().enumerate();
        bits.fold(0, |all, (bit, one)| all | u64::from(of(one, self) != SetId::NEVER) << bit)
    }

    /// Whether another key of a combination satisfies all that it can, whatever its value.
    fn serves_with_any_value(
        &mut self,
        shape: &ObjectShape,
        keys: &OtherKeys,
        combination: usize,
    ) -> bool {
        let holds = &keys.joint.combinations()[combination];
        shape.some.iter().all(|one| {
            let set = self.some_other(one, |rule, _| rule.holds(|f| keys.holds(holds, f)));
            set == SetId::NEVER || set == SetId::ANY
        })
    }

    fn name_keys_that_end(&mut self, shape: &mut ObjectShape, keys: &mut OtherKeys) {
        let mut dropped = 0;
        for combination in 0..keys.sets.len() {
            let Some(set) = keys.sets[combination] else { continue };
            let served = self.served_by(shape, keys, combination);
            let chosen = keys.joint.restrict(|index| index == combination);
            let Some(chosen) = chosen.filter(|_| served != 0) else { continue };
            let start = chosen.language().start();
            let (most, names) = (shape.max.unwrap_or(INEXHAUSTIBLE), shape.names.len() as u64);
            if chosen.outnumbers(most.saturating_add(names)) {
                continue;
            }
            let mut texts: Vec<Box<str>> = Vec::new();
            let more = chosen.end_other_than(start, TextState::START, |text| {
                texts.extend(std::str::from_utf8(text).ok().map(Box::from));
                texts.len() <= MOST_KEYS
            });
            if more.is_some() {
                // Where any value does, a constraint is open only as long as no such key has come.
                let first_does = self.serves_with_any_value(shape, keys, combination);
                if !first_does || !chosen.outnumbers(names) {
                    dropped |= served;
                }
                continue;
            }
            keys.sets[combination] = None;
            let known: FxHashSet<&str> = shape.names.iter().map(|name| &*name.text).collect();
            texts.retain(|text| !known.contains(&**text));
            let mut names = shape.names.to_vec();
            names.extend(texts.iter().map(|text| Name {
                text: (**text).into(),
                rank: Rank::Loose,
                required: false,
                set,
            }));
            set_names(shape, names);
        }
        drop_some(shape, dropped);
    }

    /// Where keys are counted, a member costs the same whichever constraint it satisfies.
    fn drop_what_costs_more(&mut self, shape: &mut ObjectShape, keys: Option<&OtherKeys>) {
        let mut dropped = keys.map_or(0, |keys| self.what_makes_many_kinds(shape, keys));
        let mut needing: Vec<Arc<str>> = shape.implies.iter().map(|i| i.name.clone()).collect();
        needing.dedup();
        for name in needing {
            dropped |= self.served_by_name(shape, &name);
        }
        drop_some(shape, dropped);
    }

    /// Constraints without which the other keys are of few kinds.
    fn what_makes_many_kinds(&mut self, shape: &ObjectShape, keys: &OtherKeys) -> u64 {
        // By kind: the set of the values, and that of those which satisfy each constraint.
        let mut kinds: Vec<(SetId, Vec<SetId>)> = Vec::new();
        for (holds, set) in keys.joint.combinations().iter().zip(&keys.sets) {
            let Some(set) = set.filter(|&set| !self.is_plainly_empty(set)) else { continue };
            let some = shape.some.iter().map(|one| {
                self.some_other(one, |rule, _| rule.holds(|factor| keys.holds(holds, factor)))
            });
            kinds.push((set, some.collect()));
        }
        let mut dropped = 0;
        for bit in (0..shape.some.len()).rev() {
            if are_few(&mut kinds, self.options.limits.open_constraints) {
                break;
            }
            if kinds.iter().any(|(_, some)| some[bit] != SetId::NEVER) {
                dropped |= 1 << bit;
                kinds.iter_mut().for_each(|(_, some)| some[bit] = SetId::NEVER);
            }
        }
        dropped
    }

    fn drop_what_shares_too_much(&mut self, shape: &mut ObjectShape, keys: Option<&OtherKeys>) {
        if shape.some.len() <= MOST_OPEN {
            return;
        }
        let mut parts: Vec<u64> = (0..shape.some.len()).map(|bit| 1 << bit).collect();
        for name in shape.names.clone().iter() {
            let shared = self.served_by_name(shape, &name.text);
            join(&mut parts, shared);
        }
        if shape.max.is_some() {
            let free = shape.some.iter().enumerate();
            let free = free.filter(|(_, one)| one.other != SetId::NEVER && !shape.closed);
            let free = free.fold(0, |all, (bit, _)| all | 1 << bit);
            join(&mut parts, free);
            for combination in 0..keys.map_or(0, |keys| keys.sets.len()) {
                let Some(keys) = keys else { break };
                let shared = self.served_by(shape, keys, combination);
                join(&mut parts, shared);
            }
        }
        let mut dropped = 0;
        for mut part in parts {
            for _ in 0..MOST_OPEN {
                part &= part.wrapping_sub(1);
            }
            dropped |= part;
        }
        drop_some(shape, dropped);
    }
}

/// Whether there are few sets of kinds of keys that may be all that is left. By kind: the set of the
/// values, and that of those which satisfy each constraint. What one kind can do that another can,
/// it does with values of the same sets: so this holds whichever of them are empty. `most`: the
/// constraints of one kind that are told apart.
fn are_few(kinds: &mut Vec<(SetId, Vec<SetId>)>, most: usize) -> bool {
    let is_idle = |some: &[SetId]| some.iter().all(|set| *set == SetId::NEVER);
    // Where nothing is satisfied, it does not matter what the value is.
    kinds.iter_mut().filter(|(_, some)| is_idle(some)).for_each(|(set, _)| *set = SetId::ANY);
    kinds.sort_unstable();
    kinds.dedup();
    let is_below = |a: usize, b: usize| {
        let ((a, a_some), (b, b_some)) = (&kinds[a], &kinds[b]);
        let mut some = a_some.iter().zip(b_some);
        let is_whole = b_some.iter().filter(|set| **set != SetId::NEVER).count() <= most;
        is_idle(a_some) || a == b && is_whole && some.all(|(a, b)| a == b || *a == SetId::NEVER)
    };
    kinds.len() <= MOST_KINDS && upper_sets(kinds.len(), is_below, MOST_UPPER_SETS).is_some()
}

/// Sets the names: those that are loose come last, ascending.
fn set_names(shape: &mut ObjectShape, mut names: Vec<Name>) {
    let loose = names.iter().position(|name| name.rank == Rank::Loose).unwrap_or(names.len());
    names[loose..].sort_by(|a, b| a.text.cmp(&b.text));
    shape.names = names.into();
}

/// Leaves out the constraints on some member that are in `dropped`.
fn drop_some(shape: &mut ObjectShape, dropped: u64) {
    if dropped != 0 {
        let some = shape.some.iter().enumerate();
        let kept = some.filter(|(bit, _)| dropped >> bit & 1 == 0).map(|(_, one)| one.clone());
        shape.some = kept.collect();
    }
}

/// Names that need each other come together, so that not every number of keys can be had: the
/// minimum goes down by as much as such names can leave out, where no other key fills it up.
fn lower_min(shape: &mut ObjectShape, ruled: bool) {
    let Some(max) = shape.max.filter(|_| shape.min > 0 && !shape.implies.is_empty()) else {
        return;
    };
    if !ruled && !shape.closed && shape.other == SetId::ANY {
        return;
    }
    let Some(needs) = closures(shape, MOST_NEEDS) else { return };
    let mutual = |name: usize| {
        let back = |&&other: &&u32| needs[other as usize].binary_search(&(name as u32)).is_ok();
        1 + needs[name].iter().filter(back).count()
    };
    let most = (0..needs.len()).map(mutual).max().unwrap_or(1) as u64;
    shape.min = shape.min.min(max.saturating_sub(most - 1));
}
