//! Keys that an object does not name: which of them may come, and what their values must be.
//!
//! `patternProperties`, `additionalProperties` beside it and `propertyNames` are *rules*: so many
//! sets of keys, each with a set for its values. A key may be in several, and its value is then in
//! all of theirs. Which combinations occur at all is a matter of the languages alone
//! ([`Joint`]); each has one set of values, made when the shape is interned.

use super::draft::{At, Draft, How};
use super::intersect::Conjoin;
use super::sets::{Builder, Widened};
use super::shape::{
    FactorId, KeyRule, KeySet, Name, ObjectShape, Position, Rank, SetId, StringShape,
};
use super::terms::Term;
use super::unevaluated::of_properties;
use crate::base::Route;
use crate::error::Result;
use crate::language::{Factor, Joint, LanguageLimit, PatternError};
use crate::options::{Objects, Order};
use crate::schema::{Children, Keyword, Kw, NodeId, Place, Status};
use fixedbitset::FixedBitSet;
use std::sync::Arc;

/// The keys of an object with rules.
#[derive(Clone, Debug)]
pub(crate) struct OtherKeys {
    pub(crate) joint: Arc<Joint>,
    /// The languages that it reads, ascending.
    factors: Box<[FactorId]>,
    /// By combination: the set of the values; `None` where the policy lets no such key come.
    pub(crate) sets: Box<[Option<SetId>]>,
}

impl OtherKeys {
    /// Whether the keys of a combination are in a language.
    pub(super) fn holds(&self, combination: &FixedBitSet, factor: FactorId) -> bool {
        self.factors.binary_search(&factor).is_ok_and(|index| combination.contains(index))
    }
}

impl Conjoin for Builder<'_> {
    fn join(&mut self, a: SetId, b: SetId) -> SetId {
        self.join_sets(a, b)
    }

    fn join_negated(&mut self, a: SetId, b: SetId) -> SetId {
        let negated = self.negated(b);
        self.join_sets(a, negated)
    }

    fn is_empty(&mut self, set: SetId) -> bool {
        self.is_plainly_empty(set)
    }

    fn is_conflict(&mut self, set: SetId) -> bool {
        self.terms.get(set.index()).len() > 1 && self.is_plainly_empty(set)
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
    }

    fn is_in(&self, factor: FactorId, key: &str) -> bool {
        self.factors[factor.index()].matches(key)
    }

    fn is_part(&self, part: SetId, whole: SetId) -> bool {
        let (narrow, wide) = (self.terms.get(part.index()), self.terms.get(whole.index()));
        part == whole || part == SetId::NEVER || wide.iter().all(|term| narrow.contains(term))
    }

    fn has_no_order(&self) -> bool {
        self.options.policy.order == Order::Any
    }
}

impl Builder<'_> {
    /// `properties`, `patternProperties` and `additionalProperties` of one schema object make one
    /// shape, at the place of the first that names keys; the others make one that says nothing. `None`
    /// in a negative position, where what a pattern means is not known.
    pub(super) fn properties(
        &mut self,
        at: At,
        kw: Kw,
        all: &[Keyword],
    ) -> Result<Option<ObjectShape>> {
        let At { place, how, .. } = at;
        let node = place.node;
        let find = |kw| all.iter().position(|k| k.status == Status::Active && k.kw == Some(kw));
        let (named, patterns) = (find(Kw::Properties), find(Kw::PatternProperties));
        let additional = find(Kw::AdditionalProperties);
        let first = [(Kw::Properties, named), (Kw::PatternProperties, patterns)];
        let first = first.into_iter().find(|(_, at)| at.is_some());
        if first.map_or(Kw::AdditionalProperties, |(kw, _)| kw) != kw {
            return Ok(Some(ObjectShape::any()));
        }
        let closes = self.options.policy.objects == Objects::Closed;
        let mut shape = ObjectShape::any();
        let mut rules = Vec::new();
        // Without one of the languages it is not known which keys are additional.
        let mut excluded = Some(Vec::new());
        if let Some(at) = patterns
            && let Children::Map(members) = &all[at].children
        {
            for (pattern, child) in members {
                let Some(factor) = self.key_pattern(node, at, *child, pattern)? else {
                    excluded = None;
                    continue;
                };
                let keys = KeySet { within: vec![factor], without: Vec::new() };
                if let Some(excluded) = &mut excluded {
                    excluded.push(keys.clone());
                }
                let set = self.child_set(place, *child);
                rules.push(KeyRule { keys: vec![keys], negated: false, set, opens: true });
            }
        }
        if let Some(at) = named
            && let Children::Map(members) = &all[at].children
        {
            let mut names = Vec::with_capacity(members.len());
            for (text, child) in members {
                let mut set = self.child_set(place, *child);
                for rule in &rules {
                    if rule.holds(|factor| self.is_in(factor, text)) {
                        set = self.join_sets(set, rule.set);
                    }
                }
                let text = Arc::from(&**text);
                names.push(Name { text, rank: Rank::Declared, required: false, set });
            }
            shape.names = names.into();
        }
        // Under the policy, keys of a pattern may come; without its language, that is any key.
        let knows_patterns = excluded.is_some();
        if let Some(at) = additional
            && let Some(child) = all[at].children.get(0)
        {
            match excluded.clone() {
                Some(keys) if keys.is_empty() => shape.other = self.child_set(place, child),
                Some(keys) => {
                    let set = self.child_set(place, child);
                    rules.push(KeyRule { keys, negated: true, set, opens: false });
                }
                None => self.widened.push(Widened {
                    node,
                    index: at,
                    route: Route::Check,
                    reason: "which keys are additional depends on a pattern that is checked".into(),
                    limit: None,
                    position: None,
                }),
            }
        }
        if excluded.is_none() && how.position == Position::Negative {
            return Ok(None);
        }
        if how.evaluated {
            let all = additional.is_some() || excluded.is_none();
            shape.evaluated = of_properties(&shape.names, excluded.unwrap_or_default(), all);
        }
        shape.rules = rules.into();
        shape.closed = closes
            && kw == Kw::Properties
            && knows_patterns
            && additional.is_none()
            && find(Kw::UnevaluatedProperties).is_none();
        Ok(Some(shape))
    }

    fn child_set(&mut self, place: Place, child: NodeId) -> SetId {
        let child = self.child(place, child);
        self.node_set(child)
    }

    /// The language of a key of `patternProperties`; `None` where it is routed.
    fn key_pattern(
        &mut self,
        node: NodeId,
        index: usize,
        child: NodeId,
        pattern: &str,
    ) -> Result<Option<FactorId>> {
        match self.pattern_factor(pattern) {
            Ok(factor) => {
                self.note_lenient(self.schema.location(child), factor);
                // What some keys must be follows from the pattern, so a larger one narrows.
                if !self.factors[factor.index()].is_exact() {
                    self.widen_inexact(node, index, Route::Check);
                    return Ok(None);
                }
                Ok(Some(factor))
            }
            Err(error) => {
                let location = self.schema.location(child);
                self.refuse_pattern(node, index, location, error)?;
                Ok(None)
            }
        }
    }

    /// Turns the subschemas that the keys of `shape` must satisfy into rules.
    pub(super) fn resolve_key_nodes(
        &mut self,
        shape: &mut ObjectShape,
        position: Position,
    ) -> Result<()> {
        let nodes = std::mem::take(&mut shape.key_nodes);
        if nodes.is_empty() {
            return Ok(());
        }
        let mut rules = shape.rules.to_vec();
        for &place in nodes.iter() {
            let draft = self.key_draft(place, position)?;
            let mut keys = Vec::with_capacity(draft.strings.len());
            for strings in &draft.strings {
                match self.key_set(strings) {
                    Ok(set) => keys.push(set),
                    // Any key may come, so that nothing is lost; or none, so that nothing is added.
                    Err(limit) => {
                        self.widen_closure(place.node, limit, |_| true);
                        if position == Position::Positive {
                            keys.push(KeySet::default());
                        }
                    }
                }
            }
            if keys.is_empty() {
                // A rule of no language would speak of no key.
                shape.other = SetId::NEVER;
            }
            rules.push(KeyRule { keys, negated: true, set: SetId::NEVER, opens: false });
        }
        let news = rules[shape.rules.len()..].to_vec();
        rules.retain(|rule| !(rule.negated && rule.keys.is_empty()));
        let names = shape.names.iter().map(|name| {
            let refused = news.iter().any(|rule| rule.holds(|f| self.is_in(f, &name.text)));
            Name { set: if refused { SetId::NEVER } else { name.set }, ..name.clone() }
        });
        shape.names = names.collect();
        shape.rules = rules.into();
        Ok(())
    }

    /// The draft of a subschema for keys. It may ask for itself, below a negation of what it says of
    /// keys.
    fn key_draft(&mut self, place: Place, position: Position) -> Result<Arc<Draft>> {
        if !self.open_keys.insert(place) {
            self.widen_closure(place.node, "set_shapes", |_| true);
            return Ok(Arc::new(match position {
                Position::Positive => Draft::any(),
                Position::Negative => Draft::never(),
            }));
        }
        let draft = self.draft(place, How::plain(position));
        self.open_keys.remove(&place);
        draft
    }

    /// A set of strings as a set of keys; an error where a limit is met.
    fn key_set(&mut self, shape: &StringShape) -> std::result::Result<KeySet, &'static str> {
        let mut keys = KeySet { within: shape.factors.clone(), without: shape.without.clone() };
        let name = |error| match error {
            PatternError::Limit { name } => name,
            _ => "pattern_bytes",
        };
        if shape.min > 0 || shape.max.is_some() {
            keys.within.push(self.length_factor(shape.min, shape.max).map_err(name)?);
        }
        if let Some(values) = &shape.values {
            keys.within.push(self.values_factor(values).map_err(name)?);
        }
        Ok(keys)
    }

    /// What the rules of `shape` make of each key. Where a limit is met, the rules are left out.
    pub(super) fn other_keys(
        &mut self,
        shape: &mut ObjectShape,
        terms: &[Term],
    ) -> Option<OtherKeys> {
        // What says nothing of values only opens what the policy closes.
        let says = |rule: &&KeyRule| rule.set != SetId::ANY || shape.closed && rule.opens;
        if !shape.rules.iter().all(|rule| says(&rule)) {
            shape.rules = shape.rules.iter().filter(says).cloned().collect();
        }
        let some = shape.some.iter().flat_map(|one| one.rules.iter());
        let mut ids: Vec<FactorId> =
            shape.rules.iter().chain(some).flat_map(KeyRule::factors).collect();
        if ids.is_empty() && shape.rules.is_empty() {
            return None;
        }
        ids.sort_unstable();
        ids.dedup();
        let joint = match self.joint(&ids) {
            Ok(joint) => joint,
            Err(limit) => {
                // Which keys a pattern lets come beside the names is not known any more.
                shape.closed &= !shape.rules.iter().any(|rule| rule.opens);
                shape.rules = Arc::default();
                shape.some =
                    shape.some.iter().filter(|one| one.rules.is_empty()).cloned().collect();
                self.widen_terms(terms, limit.name, of_keys);
                return None;
            }
        };
        let (rules, closed) = (shape.rules.clone(), shape.closed);
        let sets = joint.combinations().iter().map(|holds| {
            let is_in = |f| ids.binary_search(&f).is_ok_and(|index| holds.contains(index));
            let holding = rules.iter().filter(|rule| rule.holds(is_in));
            if closed && !holding.clone().any(|rule| rule.opens) {
                return None;
            }
            Some(holding.fold(shape.other, |set, rule| self.join_sets(set, rule.set)))
        });
        let sets = sets.collect();
        Some(OtherKeys { joint, factors: ids.into(), sets })
    }

    fn joint(&mut self, ids: &[FactorId]) -> std::result::Result<Arc<Joint>, LanguageLimit> {
        if let Some(known) = self.joints.get(ids) {
            return known.clone();
        }
        let factors: Vec<Arc<Factor>> =
            ids.iter().map(|id| self.factors[id.index()].clone()).collect();
        let joint = Joint::compile(&factors, &self.options.limits).map(Arc::new);
        self.joints.insert(ids.into(), joint.clone());
        joint
    }
}

/// Whether a keyword's meaning depends on the languages of keys.
fn of_keys(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::PatternProperties
            | Kw::AdditionalProperties
            | Kw::PropertyNames
            | Kw::UnevaluatedProperties
            | Kw::Not
            | Kw::OneOf
            | Kw::If
    )
}
