//! `unevaluatedProperties` and `unevaluatedItems`: what holds for the members and items that no
//! subschema in force has evaluated.
//!
//! Drafts that are made for these keywords tell for each shape what is evaluated in it; where that
//! depends on which branches hold, there is a shape for each case (JSON Schema 2020-12, Core, 11).

use super::draft::{At, Draft};
use super::intersect;
use super::sets::Builder;
use super::shape::{
    ArrayShape, EvaluatedItems, EvaluatedKeys, KeyRule, KeySet, Name, ObjectShape, SetId,
};
use crate::schema::{Draft as Dialect, Keyword, NodeId};
use std::sync::Arc;

impl Builder<'_> {
    pub(super) fn unevaluated_properties(&mut self, draft: &mut Draft, at: At, keyword: &Keyword) {
        let Some(child) = self.children(at.place, keyword).first().copied() else { return };
        let set = self.node_set(child);
        let objects = std::mem::take(&mut draft.objects);
        let narrowed = objects.into_iter().filter_map(|shape| {
            let evaluated = shape.evaluated.clone().unwrap_or_default();
            let mut shape = if evaluated.all || set == SetId::ANY {
                shape
            } else {
                self.narrow_unevaluated(shape, &evaluated, set)
            };
            let all = EvaluatedKeys { all: true, ..EvaluatedKeys::default() };
            shape.evaluated = Some(Arc::new(all));
            intersect::simplified_object(shape, self)
        });
        draft.objects = narrowed.collect();
    }

    fn narrow_unevaluated(
        &mut self,
        mut shape: ObjectShape,
        evaluated: &EvaluatedKeys,
        set: SetId,
    ) -> ObjectShape {
        let rule = KeyRule { keys: evaluated.keys.clone(), negated: true, set, opens: false };
        let names = shape.names.iter().map(|name| {
            let known = evaluated.names.binary_search(&name.text).is_ok()
                || !rule.holds(|factor| self.factors[factor.index()].matches(&name.text));
            let set = if known { name.set } else { self.join_sets(name.set, set) };
            Name { set, ..name.clone() }
        });
        shape.names = names.collect();
        if evaluated.keys.is_empty() {
            shape.other = self.join_sets(shape.other, set);
        } else {
            let mut rules = shape.rules.to_vec();
            rules.push(rule);
            shape.rules = rules.into();
        }
        shape
    }

    pub(super) fn unevaluated_items(&mut self, draft: &mut Draft, at: At, keyword: &Keyword) {
        let Some(child) = self.children(at.place, keyword).first().copied() else { return };
        let set = self.node_set(child);
        let arrays = std::mem::take(&mut draft.arrays);
        let narrowed = arrays.into_iter().filter_map(|mut shape| {
            let evaluated = shape.evaluated.clone().unwrap_or_default();
            let set = evaluated.sets.iter().fold(set, |all, &one| self.union_sets(all, one));
            if evaluated.first != u64::MAX && set != SetId::ANY {
                let first = evaluated.first as usize;
                let len = shape.prefix.len().max(first);
                let prefix = (0..len).map(|index| {
                    let own = shape.item(index as u64);
                    if index < first { own } else { self.join_sets(own, set) }
                });
                let prefix = prefix.collect();
                shape.rest = self.join_sets(shape.rest, set);
                shape.prefix = prefix;
            }
            let all = EvaluatedItems { first: u64::MAX, sets: Vec::new() };
            shape.evaluated = Some(Arc::new(all));
            intersect::simplified_array(shape, self)
        });
        draft.arrays = narrowed.collect();
    }

    /// Whether `contains` evaluates the items that it finds: from 2020-12 on.
    pub(super) fn contains_evaluates(&self, node: NodeId) -> bool {
        self.schema.node(node).dialect.draft() > Dialect::Draft201909
    }
}

/// What `properties` and its neighbours evaluate; `keys`: those of the patterns.
pub(super) fn of_properties(
    names: &[Name],
    keys: Vec<KeySet>,
    all: bool,
) -> Option<Arc<EvaluatedKeys>> {
    let mut names: Vec<Arc<str>> = names.iter().map(|name| name.text.clone()).collect();
    names.sort_unstable();
    Some(Arc::new(EvaluatedKeys { all, names, keys }))
}

/// An array shape of which so many of the first items are evaluated, and those in `sets`.
pub(super) fn of_items(shape: ArrayShape, first: u64, sets: Vec<SetId>) -> ArrayShape {
    let evaluated = EvaluatedItems { first, sets };
    ArrayShape { evaluated: Some(Arc::new(evaluated)), ..shape }
}
