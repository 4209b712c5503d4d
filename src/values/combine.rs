//! Combinators: `anyOf`, `oneOf`, `if`, schemas that depend on a name.

use super::draft::{At, Draft, How, distinct};
use super::intersect::{self, Conjoin};
use super::sets::Builder;
use super::shape::{EvaluatedKeys, Name, ObjectShape, Position, Rank, SetId};
use super::widen::asserts;
use crate::error::Result;
use crate::schema::{Children, Keyword, Kw, Place, Status};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Builder<'_> {
    /// What is in one of the branches of `anyOf`.
    pub(super) fn any_of(&mut self, at: At, keyword: &Keyword) -> Draft {
        let branches = self.children(at.place, keyword);
        let branches: Vec<Arc<Draft>> =
            branches.into_iter().map(|child| self.drafts[&(child, at.how)].clone()).collect();
        if at.how.evaluated {
            return self.overlapping(&branches, at);
        }
        let mut union = Draft::union(branches.iter().map(|draft| &**draft));
        union.strings = self.gathered(&union.strings);
        union
    }

    /// The union of branches of which each that holds tells what it evaluates: so of each shape
    /// together with the others that evaluate more. (A value for which more branches hold is in the
    /// shapes of fewer of them, too; these ask for more of what is unevaluated then, and so are
    /// smaller.)
    fn overlapping(&mut self, branches: &[Arc<Draft>], at: At) -> Draft {
        let limit = self.options.limits.set_shapes;
        let mut all = Draft::never();
        for branch in branches {
            let mut union = Draft::union([&all, &**branch].into_iter());
            for a in &all.objects {
                for b in &branch.objects {
                    let both = intersect::objects(a, b, self);
                    union.objects.extend(both.filter(|both| {
                        both.evaluated != a.evaluated && both.evaluated != b.evaluated
                    }));
                }
            }
            for a in &all.arrays {
                for b in &branch.arrays {
                    let both = intersect::arrays(a, b, self);
                    union.arrays.extend(both.filter(|both| {
                        both.evaluated != a.evaluated && both.evaluated != b.evaluated
                    }));
                }
            }
            union.objects = distinct(union.objects);
            union.arrays = distinct(union.arrays);
            if self.is_spent() || union.objects.len() > limit || union.arrays.len() > limit {
                // What more branches evaluate is not known any more.
                union = Draft::union([&all, &**branch].into_iter());
                if at.how.position == Position::Positive {
                    union.evaluate_all();
                }
                self.widen(at.place.node, at.index, self.limit_met());
            }
            all = union;
        }
        all
    }

    /// What is in exactly one of the branches of `oneOf`.
    pub(super) fn one_of(&mut self, at: At, keyword: &Keyword) -> Draft {
        let children = self.children(at.place, keyword);
        let own: Vec<Arc<Draft>> =
            children.iter().map(|&child| self.drafts[&(child, at.how)].clone()).collect();
        let negated = at.how.negated();
        let others: Vec<Arc<Draft>> =
            children.iter().map(|&child| self.drafts[&(child, negated)].clone()).collect();
        let groups = self.told_apart(&own);
        let mut union = Vec::with_capacity(own.len());
        for (index, branch) in own.iter().enumerate() {
            let mut left = branch.clone();
            for (other, negated) in others.iter().enumerate() {
                let apart = match (groups[index], groups[other]) {
                    (Some(a), Some(b)) => a != b,
                    _ => false,
                };
                if other != index && !apart {
                    left = Arc::new(self.without(&left, negated, at));
                }
            }
            union.push(left);
        }
        let mut union = Draft::union(union.iter().map(|draft| &**draft));
        union.strings = self.gathered(&union.strings);
        union
    }

    /// Groups of branches that one required name tells apart by a constant: branches of different
    /// groups are disjoint. `None`: it says nothing of the branch.
    fn told_apart(&self, branches: &[Arc<Draft>]) -> Vec<Option<SetId>> {
        // With few branches, all pairs are looked at.
        const FEW: usize = 8;
        let nothing = vec![None; branches.len()];
        if branches.len() <= FEW {
            return nothing;
        }
        // By name: in how many branches it is a constant.
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        let constants = |draft: &'_ Draft| -> Vec<(Arc<str>, SetId)> {
            let [object] = &draft.objects[..] else { return Vec::new() };
            let required = object.names.iter().filter(|name| name.required);
            let required = required.filter(|name| self.one_string(name.set).is_some());
            required.map(|name| (name.text.clone(), name.set)).collect()
        };
        let all: Vec<Vec<(Arc<str>, SetId)>> = branches
            .iter()
            .map(|draft| {
                let only_objects = Draft { objects: Vec::new(), ..(**draft).clone() };
                if only_objects == Draft::never() { constants(draft) } else { Vec::new() }
            })
            .collect();
        all.iter().flatten().for_each(|(name, _)| *names.entry(name).or_default() += 1);
        let Some((name, _)) = names.into_iter().max_by_key(|&(name, count)| (count, name)) else {
            return nothing;
        };
        // Equal strings have one id each.
        let mut ids: FxHashMap<&str, SetId> = FxHashMap::default();
        let mut group = |constants: &[(Arc<str>, SetId)]| {
            let (_, set) = constants.iter().find(|(text, _)| **text == *name)?;
            Some(*ids.entry(self.one_string(*set)?).or_insert(*set))
        };
        all.iter().map(|constants| group(constants)).collect()
    }

    /// The one string that a set is at most.
    fn one_string(&self, set: SetId) -> Option<&str> {
        match self.few_strings(set)?[..] {
            [text] => Some(text),
            _ => None,
        }
    }

    /// `if` with what stands beside it.
    pub(super) fn if_then_else(
        &mut self,
        draft: &mut Draft,
        at: At,
        keywords: &[Keyword],
    ) -> Result<()> {
        let [Some(condition), then, other] = [Kw::If, Kw::Then, Kw::Else].map(|kw| {
            let mut found = keywords.iter();
            let found = found.find(|k| k.status == Status::Active && k.kw == Some(kw))?;
            self.children(at.place, found).first().copied()
        }) else {
            return Ok(());
        };
        if then.is_none() && other.is_none() && !at.how.evaluated {
            return Ok(());
        }
        let made = |builder: &Self, place: Place, how: How| builder.drafts[&(place, how)].clone();
        let mut holds = (*made(self, condition, at.how)).clone();
        let negated = made(self, condition, at.how.negated());
        let mut fails = self.without(&Draft::any(), &negated, at);
        if let Some(then) = then {
            let then = made(self, then, at.how);
            self.meet(&mut holds, &then, at)?;
        }
        if let Some(other) = other {
            let other = made(self, other, at.how);
            self.meet(&mut fails, &other, at)?;
        }
        let union = Draft::union([&holds, &fails].into_iter());
        self.meet(draft, &union, at)
    }

    /// Schemas for objects that have a name: either it is missing, or the schema holds.
    pub(super) fn dependent_schemas(
        &mut self,
        draft: &mut Draft,
        at: At,
        keyword: &Keyword,
    ) -> Result<()> {
        let Children::Map(members) = &keyword.children else { return Ok(()) };
        let places = self.children(at.place, keyword);
        for ((text, _), child) in members.iter().zip(places) {
            let name = |required, set| {
                let name = Name { text: Arc::from(&**text), rank: Rank::Loose, required, set };
                ObjectShape { names: Arc::new([name]), ..ObjectShape::any() }
            };
            let mut present = Draft::any();
            present.objects = vec![name(true, SetId::ANY)];
            let mut absent = Draft::never();
            absent.objects = vec![name(false, SetId::NEVER)];
            let narrower = self.drafts[&(child, at.how)].clone();
            if let Some(union) = self.told_by_a_constant(draft, text, &narrower) {
                self.meet(draft, &union, at)?;
                continue;
            }
            let mut holds = (*narrower).clone();
            self.meet(&mut holds, &present, at)?;
            // What is no object has no names.
            let mut others = Draft::any();
            others.objects = Vec::new();
            let objects = Draft { objects: holds.objects, ..Draft::never() };
            let union = Draft::union([&others, &objects, &absent].into_iter());
            self.meet(draft, &union, at)?;
        }
        Ok(())
    }

    /// What has not the name `text`, or is in `narrower`, where this only asks of one member to be one of
    /// a few strings: that member is, or it is another one and `text` is missing. Several of such unions
    /// have few cases together: one for each string.
    fn told_by_a_constant(&mut self, draft: &Draft, text: &str, narrower: &Draft) -> Option<Draft> {
        let [shape] = &narrower.objects[..] else { return None };
        let [name] = &shape.names[..] else { return None };
        let only = ObjectShape { names: shape.names.clone(), ..ObjectShape::any() };
        let others = Draft { objects: Draft::any().objects, ..narrower.clone() };
        let is_alone = *shape == only && others == Draft::any() && !name.required;
        // It must not get a place in the order where the name is missing.
        let has_place = |object: &ObjectShape| {
            object.names.iter().any(|n| n.text == name.text && n.rank == Rank::Declared)
        };
        let keeps_order = self.has_no_order() || draft.objects.iter().all(has_place);
        if !is_alone || !keeps_order || *name.text == *text || self.few_strings(name.set).is_none()
        {
            return None;
        }
        let loose = |text: Arc<str>, required, set| Name { text, rank: Rank::Loose, required, set };
        let wrong = self.negated(name.set);
        let mut names =
            vec![loose(name.text.clone(), true, wrong), loose(text.into(), false, SetId::NEVER)];
        names.sort_by(|a, b| a.text.cmp(&b.text));
        let missing = ObjectShape { names: names.into(), ..ObjectShape::any() };
        Some(Draft { objects: vec![shape.clone(), missing], ..others })
    }

    /// What is not in exactly one of the branches of `oneOf`: in none, or in two of them. `None` where
    /// the branches are disjoint, or where the keyword does not stand alone.
    pub(super) fn not_exactly_one(
        &mut self,
        place: Place,
        position: Position,
    ) -> Result<Option<Draft>> {
        const MOST: usize = 16;
        let schema = self.schema.clone();
        let mut asserting = schema.node(place.node).keywords().iter().filter(|k| asserts(k));
        let (Some(keyword), None) = (asserting.next(), asserting.next()) else { return Ok(None) };
        let children = self.children(place, keyword);
        if keyword.kw != Some(Kw::OneOf) || children.len() > MOST {
            return Ok(None);
        }
        let negated = How::plain(position.flip());
        if !self.draft(place, negated)?.waits() {
            return Ok(None);
        }
        let mut union = Draft::any();
        for &child in &children {
            let branch = self.draft(child, negated)?;
            let Some(left) = self.difference(&union, &branch) else { return Ok(None) };
            union = left;
        }
        for (index, &a) in children.iter().enumerate() {
            for &b in &children[..index] {
                let mut both = (*self.draft(a, How::plain(position))?).clone();
                let other = self.draft(b, How::plain(position))?;
                if !self.try_meet(&mut both, &other, position)? {
                    return Ok(None);
                }
                union = Draft::union([&union, &both].into_iter());
            }
        }
        union.strings = self.gathered(&union.strings);
        Ok(Some(union).filter(Draft::is_small))
    }

    /// `draft` without `other`, which is made for the opposite position. Where a limit is met, the
    /// keyword is widened.
    pub(super) fn without(&mut self, draft: &Draft, other: &Draft, at: At) -> Draft {
        if let Some(left) = self.difference(draft, other) {
            return left;
        }
        self.widen(at.place.node, at.index, self.limit_met());
        match at.how.position {
            Position::Positive => draft.clone(),
            Position::Negative => Draft::never(),
        }
    }
}

impl Draft {
    /// Nothing more is asked of what is unevaluated.
    fn evaluate_all(&mut self) {
        for object in &mut self.objects {
            let all = EvaluatedKeys { all: true, ..EvaluatedKeys::default() };
            object.evaluated = Some(Arc::new(all));
        }
        for array in &mut self.arrays {
            let mut all = array.evaluated.as_deref().cloned().unwrap_or_default();
            all.first = u64::MAX;
            array.evaluated = Some(Arc::new(all));
        }
    }

    /// The shapes without what is evaluated.
    pub(super) fn forget_evaluated(&mut self) {
        let mut objects = std::mem::take(&mut self.objects);
        objects.iter_mut().for_each(|object| object.evaluated = None);
        self.objects = distinct(objects);
        let mut arrays = std::mem::take(&mut self.arrays);
        arrays.iter_mut().for_each(|array| array.evaluated = None);
        self.arrays = distinct(arrays);
    }
}
