//! Sets as symbols: conjunctions of subschemas, literals, complements and unions.
//!
//! Symbols are combined without looking at what they hold; one that is asked for is expanded by one
//! level into a [`Draft`].

use super::draft::{Draft, How, distinct};
use super::sets::Builder;
use super::shape::{Position, SetId};
use super::widen::asserts;
use crate::base::{Interner, define_id};
use crate::error::Result;
use crate::schema::{Body, DocId, JsonId, JsonRef, Kw, NodeId, Place};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Sets nest in the complements of others no deeper.
const MOST_NESTED: u32 = 100;

/// One conjunct of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Node(Place),
    Literal(DocId, JsonId),
    /// What is not in the set.
    Not(SetId),
    /// What is in one of the sets.
    Union(UnionId),
    Never,
}

define_id!(
    /// An interned list of sets, ascending, whose union is meant.
    UnionId
);

impl Term {
    pub(super) fn node(&self) -> Option<NodeId> {
        match self {
            Term::Node(place) => Some(place.node),
            _ => None,
        }
    }
}

impl Builder<'_> {
    /// The set of a subschema that stands for a value of its own.
    pub(super) fn node_set(&mut self, place: Place) -> SetId {
        let set = self.conjunct(place);
        if self.known_nodes.insert(place) {
            self.node_sets.push((place.node, set));
        }
        set
    }

    /// The set of a subschema. One that only refers to another is that other.
    fn conjunct(&mut self, place: Place) -> SetId {
        let schema = self.schema.clone();
        let mut place = place;
        loop {
            let keywords = match &schema.node(place.node).body {
                Body::Boolean(true) => return SetId::ANY,
                Body::Boolean(false) => return SetId::NEVER,
                Body::Keywords(keywords) => keywords,
            };
            let mut asserting = keywords.iter().filter(|k| asserts(k));
            let only = match (asserting.next(), asserting.next()) {
                (None, _) => return SetId::ANY,
                (Some(only), None) => only,
                _ => return self.intern(Box::from([Term::Node(place)])),
            };
            match only.kw {
                Some(Kw::Ref | Kw::DynamicRef | Kw::RecursiveRef) => {
                    match schema.scopes().target(&schema, place, only) {
                        Some(target) => place = target,
                        None => return SetId::ANY,
                    }
                }
                _ => return self.intern(Box::from([Term::Node(place)])),
            }
        }
    }

    /// The set that holds one literal value.
    pub(super) fn literal_set(&mut self, doc: DocId, value: JsonRef<'_>) -> SetId {
        self.intern(Box::from([Term::Literal(doc, value.id())]))
    }

    /// The conjunction of two sets, `a` mentioned first.
    pub(super) fn join_sets(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::ANY || a == SetId::NEVER {
            return a;
        }
        if a == SetId::ANY || b == SetId::NEVER {
            return b;
        }
        let (first, second) = (self.terms.get(a.index()), self.terms.get(b.index()));
        let mut terms = first.to_vec();
        terms.extend(second.iter().filter(|term| !first.contains(term)));
        let contradicts = |term: &Term| {
            let Term::Not(negated) = term else { return false };
            self.terms.get(negated.index()).iter().all(|term| terms.contains(term))
        };
        if terms.iter().any(contradicts) {
            return SetId::NEVER;
        }
        self.intern(terms.into())
    }

    /// The complement of a set.
    pub(super) fn negated(&mut self, set: SetId) -> SetId {
        match (set, &self.terms.get(set.index())[..]) {
            (SetId::ANY, _) => SetId::NEVER,
            (SetId::NEVER, _) => SetId::ANY,
            (_, [Term::Not(negated)]) => *negated,
            (_, &[Term::Union(union)]) => {
                let sets = self.unions.get(union.index()).clone();
                let negated: Vec<SetId> = sets.iter().map(|&set| self.negated(set)).collect();
                negated.into_iter().fold(SetId::ANY, |all, set| self.join_sets(all, set))
            }
            _ => self.intern(Box::from([Term::Not(set)])),
        }
    }

    /// The union of two sets.
    pub(super) fn union_sets(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::NEVER || a == SetId::ANY {
            return a;
        }
        if a == SetId::NEVER || b == SetId::ANY {
            return b;
        }
        let mut sets = Vec::new();
        for set in [a, b] {
            match self.terms.get(set.index())[..] {
                [Term::Union(union)] => sets.extend_from_slice(self.unions.get(union.index())),
                _ => sets.push(set),
            }
        }
        sets.sort_unstable();
        sets.dedup();
        let union = UnionId::new(self.unions.intern(sets.into()).0);
        self.intern(Box::from([Term::Union(union)]))
    }

    pub(super) fn intern(&mut self, terms: Box<[Term]>) -> SetId {
        SetId::new(self.terms.intern(terms).0)
    }

    /// The draft of a conjunction.
    pub(super) fn set_draft(&mut self, id: SetId, position: Position) -> Result<Arc<Draft>> {
        if let Some(known) = self.set_drafts.get(&(id, position)) {
            return Ok(known.clone());
        }
        let terms = self.terms.get(id.index()).clone();
        if self.nesting == MOST_NESTED {
            self.widen_terms(&terms, "value_sets", |_| true);
            return Ok(Arc::new(match position {
                Position::Positive => Draft::any(),
                Position::Negative => Draft::never(),
            }));
        }
        self.nesting += 1;
        let all = self.meet_terms(&terms, position);
        self.nesting -= 1;
        let all = all?;
        self.set_drafts.insert((id, position), all.clone());
        Ok(all)
    }

    fn meet_terms(&mut self, terms: &[Term], position: Position) -> Result<Arc<Draft>> {
        let mut all = self.exact(terms, position, false)?;
        if all.is_none() && self.second_steps > 0 && terms.iter().any(|t| matches!(t, Term::Not(_)))
        {
            let before = self.steps;
            all = self.exact(terms, position, true)?;
            self.second_steps = self.second_steps.saturating_sub(before - self.steps);
        }
        let mut all = match all {
            Some(all) => all,
            None => self.widened_to(terms, position)?,
        };
        if all.objects.iter().any(|shape| shape.some.len() > 1) {
            let mut settled = (*all).clone();
            settled.objects.iter_mut().for_each(|shape| self.settle_some(shape));
            settled.objects = distinct(settled.objects);
            all = Arc::new(settled);
        }
        Ok(all)
    }

    /// The draft of a conjunction, or `None` where a limit is met. `by_cases`: what is in one branch of
    /// several is negated by cases.
    fn exact(
        &mut self,
        terms: &[Term],
        position: Position,
        by_cases: bool,
    ) -> Result<Option<Arc<Draft>>> {
        let mut met: Option<Arc<Draft>> = None;
        for term in terms {
            let Some(draft) = self.term_draft(term, position, by_cases)? else { return Ok(None) };
            let Some(all) = &mut met else {
                met = Some(draft);
                continue;
            };
            if !self.try_meet(Arc::make_mut(all), &draft, position)? {
                return Ok(None);
            }
        }
        let mut all = met.unwrap_or_else(|| Arc::new(Draft::any()));
        if all.waits() && !self.make_complements(Arc::make_mut(&mut all), position)? {
            return Ok(None);
        }
        Ok(Some(all))
    }

    /// The draft of a conjunction in which a limit is met: what is too much is left out.
    fn widened_to(&mut self, terms: &[Term], position: Position) -> Result<Arc<Draft>> {
        let mut all = Draft::any();
        for term in terms {
            let draft = self.term_draft(term, position, false)?;
            let fits = match &draft {
                Some(draft) => self.try_meet(&mut all, draft, position)?,
                None => false,
            };
            if !fits {
                for node in self.term_nodes(std::slice::from_ref(term)) {
                    self.widen_node(node);
                }
                if position == Position::Negative {
                    all = Draft::never();
                }
            }
        }
        if all.waits() && !self.make_complements(&mut all, position)? {
            self.widen_terms(terms, self.limit_met(), |kw| {
                matches!(kw, Kw::Not | Kw::OneOf | Kw::If)
            });
        }
        Ok(Arc::new(all))
    }

    /// `None` where a limit is met.
    fn term_draft(
        &mut self,
        term: &Term,
        position: Position,
        by_cases: bool,
    ) -> Result<Option<Arc<Draft>>> {
        Ok(Some(match *term {
            Term::Never => Arc::new(Draft::never()),
            Term::Literal(doc, value) => {
                let schema = self.schema.clone();
                Arc::new(self.literals(doc, [schema.document(doc).value(value)]))
            }
            Term::Node(place) => self.draft(place, How::plain(position))?,
            Term::Not(set) => {
                if by_cases
                    && let [Term::Node(place)] = self.terms.get(set.index())[..]
                    && let Some(draft) = self.not_exactly_one(place, position)?
                {
                    return Ok(Some(Arc::new(draft)));
                }
                let inner = self.set_draft(set, position.flip())?;
                return Ok(self.difference(&Draft::any(), &inner).map(Arc::new));
            }
            Term::Union(union) => {
                let sets = self.unions.get(union.index()).clone();
                let drafts: Result<Vec<Arc<Draft>>> =
                    sets.iter().map(|&set| self.set_draft(set, position)).collect();
                Arc::new(Draft::union(drafts?.iter().map(|draft| &**draft)))
            }
        }))
    }

    /// The strings that `const` or `enum` leaves a set at most, where they are few.
    pub(super) fn few_strings(&self, set: SetId) -> Option<Vec<&str>> {
        const FEW: usize = 64;
        let listed = |term: &Term| -> Option<Vec<&str>> {
            match *term {
                Term::Literal(doc, value) => {
                    Some(vec![self.schema.document(doc).value(value).as_str()?])
                }
                Term::Node(place) => {
                    let node = self.schema.node(place.node);
                    let value = |kw| node.active(kw).map(|keyword| self.schema.value(keyword));
                    match (value(Kw::Const), value(Kw::Enum)) {
                        (Some(value), _) => Some(vec![value.as_str()?]),
                        (None, Some(values)) if values.items().take(FEW + 1).count() <= FEW => {
                            values.items().map(JsonRef::as_str).collect()
                        }
                        _ => None,
                    }
                }
                _ => None,
            }
        };
        self.terms.get(set.index()).iter().find_map(listed)
    }
}

/// The subschemas of `terms`, complements and unions included.
pub(super) fn nodes_of(
    all: &Interner<Box<[Term]>>,
    unions: &Interner<Box<[SetId]>>,
    terms: &[Term],
) -> Vec<NodeId> {
    let (mut nodes, mut known) = (Vec::new(), FxHashSet::default());
    let mut open: Vec<Term> = terms.iter().rev().copied().collect();
    while let Some(term) = open.pop() {
        let sets: &[SetId] = match &term {
            Term::Node(place) => {
                nodes.push(place.node);
                &[]
            }
            Term::Not(set) => std::slice::from_ref(set),
            Term::Union(union) => unions.get(union.index()),
            Term::Literal(..) | Term::Never => &[],
        };
        for set in sets.iter().filter(|set| known.insert(**set)) {
            open.extend(all.get(set.index()).iter().rev());
        }
    }
    nodes
}
