//! Constraints on some member, once all that holds beside them is known: fewer of them, and simpler
//! ones.
//!
//! They come from complements of objects, and so most of those of one shape are much alike: a name that
//! tells one branch from another tells it from the next, too.

use super::absorb::implies;
use super::intersect::{self, with_rules};
use super::sets::Builder;
use super::shape::{Name, ObjectShape, SetId, SomeMember};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Objects with more constraints on some member are split by members that satisfy several of them.
const FEW: usize = 3;

/// Into so many shapes, at most.
const MOST_CASES: usize = 16;

impl Builder<'_> {
    /// The same objects, with constraints on some member that do not follow from others.
    pub(super) fn settle_some(&mut self, shape: &mut ObjectShape) {
        if shape.some.len() < 2 {
            return;
        }
        let some: Vec<SomeMember> = shape.some.to_vec();
        let sets: FxHashMap<Arc<str>, SetId> =
            shape.names.iter().map(|name| (name.text.clone(), name.set)).collect();
        let some: Vec<SomeMember> = some
            .into_iter()
            .map(|one| {
                let names = one.names.iter().map(|(text, wanted)| {
                    let own = sets.get(text).copied();
                    let own =
                        own.unwrap_or_else(|| with_rules(shape, text, SetId::ANY, true, self));
                    (text.clone(), self.widest(own, *wanted))
                });
                SomeMember { names: names.collect(), ..one }
            })
            .collect();
        let mut kept: Vec<SomeMember> = Vec::with_capacity(some.len());
        for one in some {
            if !kept.iter().any(|other| implies(other, &one, self)) {
                kept.retain(|other| !implies(&one, other, self));
                kept.push(one);
            }
        }
        shape.some = kept.into();
    }

    /// Every value, where all those of `own` are in `wanted`, plainly.
    fn widest(&mut self, own: SetId, wanted: SetId) -> SetId {
        if wanted == SetId::NEVER || wanted == SetId::ANY {
            return wanted;
        }
        let negated = self.negated(wanted);
        let missing = self.join_sets(own, negated);
        if self.is_plainly_empty(missing) { SetId::ANY } else { wanted }
    }

    /// The same objects in several shapes, where one has many constraints on some member: a member
    /// that satisfies several of them is there, or it is not.
    pub(super) fn split_some(&mut self, shape: ObjectShape) -> Vec<ObjectShape> {
        let (mut done, mut open) = (Vec::new(), vec![shape]);
        while let Some(mut shape) = open.pop() {
            if shape.some.len() <= FEW || done.len() + open.len() >= MOST_CASES {
                done.push(shape);
                continue;
            }
            self.settle_some(&mut shape);
            self.name_equal_sets(&mut shape);
            let Some((index, wanted)) = most_satisfying(&shape) else {
                done.push(shape);
                continue;
            };
            let own = shape.names[index].set;
            let negated = self.negated(wanted);
            let cases =
                [(false, self.join_sets(own, negated)), (true, self.join_sets(own, wanted))];
            for (required, set) in cases {
                let mut names = shape.names.to_vec();
                let required = required || names[index].required;
                names[index] = Name { required, set, ..names[index].clone() };
                let case = ObjectShape { names: names.into(), ..shape.clone() };
                open.extend(intersect::simplified_object(case, self));
            }
        }
        done
    }

    /// Names the sets that constraints ask of one name alike where they are equal, plainly.
    fn name_equal_sets(&mut self, shape: &mut ObjectShape) {
        let sets: FxHashMap<Arc<str>, SetId> =
            shape.names.iter().map(|name| (name.text.clone(), name.set)).collect();
        let mut known: FxHashMap<Arc<str>, Vec<SetId>> = FxHashMap::default();
        let some: Vec<SomeMember> = shape.some.to_vec();
        let some = some.into_iter().map(|one| {
            let names = one.names.iter().map(|(text, wanted)| {
                let own = sets.get(text).copied().unwrap_or(SetId::ANY);
                let known = known.entry(text.clone()).or_default();
                let equal = known.iter().find(|set| {
                    **set == *wanted
                        || self.is_plainly_inside(own, **set, *wanted)
                            && self.is_plainly_inside(own, *wanted, **set)
                });
                let set = equal.copied().unwrap_or(*wanted);
                if equal.is_none() {
                    known.push(*wanted);
                }
                (text.clone(), set)
            });
            SomeMember { names: names.collect(), ..one }
        });
        shape.some = some.collect();
    }

    /// Whether what of `own` is in `part` is in `whole`, too, plainly.
    fn is_plainly_inside(&mut self, own: SetId, part: SetId, whole: SetId) -> bool {
        if part == SetId::NEVER || whole == SetId::NEVER {
            return part == SetId::NEVER;
        }
        let (both, negated) = (self.join_sets(own, part), self.negated(whole));
        let missing = self.join_sets(both, negated);
        self.is_plainly_empty(missing)
    }
}

/// The name, and the set of its value, that satisfies most constraints of those that ask of some
/// member what several members can give.
fn most_satisfying(shape: &ObjectShape) -> Option<(usize, SetId)> {
    let satisfied = |index: usize, set: SetId| {
        let text = &shape.names[index].text;
        let of = |one: &&SomeMember| {
            let found = one.names.binary_search_by(|(name, _)| name.cmp(text));
            let wanted = found.map_or(one.other, |found| one.names[found].1);
            wanted == SetId::ANY || wanted == set
        };
        shape.some.iter().filter(of).count()
    };
    let wanted = |index: usize| {
        let text = &shape.names[index].text;
        let sets = shape.some.iter().flat_map(move |one| {
            let found = one.names.binary_search_by(|(name, _)| name.cmp(text));
            found.ok().map(|found| one.names[found].1)
        });
        sets.filter(|set| *set != SetId::NEVER)
    };
    let names = (0..shape.names.len()).flat_map(|index| wanted(index).map(move |set| (index, set)));
    let counted = names.map(|(index, set)| (satisfied(index, set), index, set));
    let most = counted.max_by_key(|&(count, index, _)| (count, std::cmp::Reverse(index)));
    most.filter(|&(count, ..)| count > 1).map(|(_, index, set)| (index, set))
}
