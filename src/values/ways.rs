//! The ways of items and members: in which set a value is, and which constraints it counts for.
//!
//! A container that counts (`contains`, or what is left of a negated constraint) asks of each value
//! not only whether it may stand there but also for which constraints it counts. Each combination
//! that occurs is a way, with a set of its own: so counting is only a matter of which set the value
//! turned out to be in.

use super::finish_items::is_small;
use super::keys::OtherKeys;
use super::sets::Builder;
use super::shape::{
    ArrayShape, ItemWays, KeyRule, MemberWays, ObjectShape, SetId, SomeMember, Way,
};
use super::terms::Term;
use crate::schema::Kw;
use std::sync::Arc;

impl Builder<'_> {
    /// The ways of the items of `shape`. Where there would be too many, some counts are left out.
    pub(super) fn make_item_ways(
        &mut self,
        shape: &mut ArrayShape,
        terms: &[Term],
    ) -> Option<ItemWays> {
        let limit = self.options.limits.open_constraints;
        if shape.counts.len() > limit {
            shape.counts = shape.counts[..limit].into();
            self.widen_terms(terms, "open_constraints", |_| true);
        }
        let named = |shape: &ArrayShape| {
            let of_counts = shape.counts.iter().map(|count| count.prefix.len()).max();
            of_counts.unwrap_or(0).max(shape.prefix.len())
        };
        while !is_small(&shape.counts, named(shape)) {
            shape.counts = shape.counts[..shape.counts.len() - 1].into();
            self.widen_terms(terms, "open_constraints", |_| true);
        }
        if shape.counts.is_empty() {
            return None;
        }
        let counts = shape.counts.clone();
        let len = named(shape);
        let mut ways = |index: usize| {
            let wanted = counts.iter().enumerate();
            let wanted = wanted.map(|(bit, c)| (bit, c.item(index), c.max.is_some()));
            let wanted: Vec<_> = wanted.filter(|(_, set, _)| *set != SetId::NEVER).collect();
            self.ways(shape.item(index as u64), &wanted)
        };
        let prefix = (0..len).map(&mut ways).collect();
        Some(ItemWays { prefix, rest: ways(len) })
    }

    /// The ways of the members of `shape`, whose other keys are `keys`. Where there would be too many,
    /// some constraints are left out.
    pub(super) fn make_member_ways(
        &mut self,
        shape: &mut ObjectShape,
        keys: Option<&OtherKeys>,
        terms: &[Term],
    ) -> Option<MemberWays> {
        if shape.some.is_empty() {
            return None;
        }
        if shape.some.len() > u64::BITS as usize {
            shape.some = shape.some[..u64::BITS as usize].into();
            self.widen_terms(terms, "open_constraints", |_| true);
        }
        let some = shape.some.clone();
        let mut cut = false;
        let names: Box<[_]> = shape
            .names
            .iter()
            .map(|name| {
                let wanted = some.iter().enumerate().map(|(bit, one)| {
                    let index = one.names.binary_search_by(|(text, _)| text.cmp(&name.text));
                    let set = match index {
                        Ok(index) => one.names[index].1,
                        Err(_) => self.some_other(one, |rule, own| {
                            rule.holds(|factor| own.factors[factor.index()].matches(&name.text))
                        }),
                    };
                    (bit, set, false)
                });
                let wanted: Vec<_> = wanted.collect();
                self.few_ways(name.set, wanted, &mut cut)
            })
            .collect();
        let others: Box<[_]> = match keys {
            None if shape.closed => Box::from([]),
            None => {
                // Rules without languages speak of all keys.
                let wanted = some.iter().enumerate().map(|(bit, one)| {
                    (bit, self.some_other(one, |rule, _| rule.holds(|_| false)), false)
                });
                let wanted = wanted.collect();
                Box::from([self.few_ways(shape.other, wanted, &mut cut)])
            }
            Some(keys) => {
                let combinations = keys.joint.combinations().iter().zip(&keys.sets);
                let ways = combinations.map(|(holds, set)| {
                    let Some(set) = *set else { return Box::from([]) };
                    let wanted = some.iter().enumerate().map(|(bit, one)| {
                        let set = self.some_other(one, |rule, _| {
                            rule.holds(|factor| keys.holds(holds, factor))
                        });
                        (bit, set, false)
                    });
                    let wanted = wanted.collect();
                    self.few_ways(set, wanted, &mut cut)
                });
                ways.collect()
            }
        };
        if cut {
            self.widen_terms(terms, "open_constraints", |kw| kw != Kw::Type);
        }
        Some(MemberWays { names, others })
    }

    /// The set in which a member with a key that `one` does not name does, if `holds` says which
    /// rules speak of the key.
    pub(super) fn some_other(
        &mut self,
        one: &SomeMember,
        holds: impl Fn(&KeyRule, &Self) -> bool,
    ) -> SetId {
        let rules: Arc<[KeyRule]> = one.rules.clone();
        rules.iter().fold(one.other, |set, rule| {
            if holds(rule, self) { self.union_sets(set, rule.set) } else { set }
        })
    }

    /// The ways of one value in `own`; `wanted`: the constraints (bit, set, with a maximum).
    fn few_ways(
        &mut self,
        own: SetId,
        mut wanted: Vec<(usize, SetId, bool)>,
        cut: &mut bool,
    ) -> Box<[Way]> {
        wanted.retain(|(_, set, _)| *set != SetId::NEVER);
        let limit = self.options.limits.open_constraints;
        if wanted.len() > limit {
            *cut = true;
            wanted.truncate(limit);
        }
        self.ways(own, &wanted)
    }

    fn ways(&mut self, own: SetId, wanted: &[(usize, SetId, bool)]) -> Box<[Way]> {
        let mut ways = Vec::new();
        self.steps = self.steps.saturating_sub(1 << wanted.len());
        for chosen in 0..1u64 << wanted.len() {
            let mut way = Way { counts: 0, set: own };
            for (position, &(bit, set, exact)) in wanted.iter().enumerate() {
                if chosen >> position & 1 == 1 {
                    way.counts |= 1 << bit;
                    way.set = self.join_sets(way.set, set);
                } else if exact {
                    let negated = self.negated(set);
                    way.set = self.join_sets(way.set, negated);
                }
            }
            if way.counts == 0 || !self.is_plainly_empty(way.set) {
                ways.push(way);
            }
        }
        ways.into()
    }
}
