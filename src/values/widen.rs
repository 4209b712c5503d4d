//! Keywords that the mask does not enforce, or not wholly: where a limit was met.

use super::sets::{Builder, Widened};
use super::terms::{Term, nodes_of};
use crate::base::Route;
use crate::schema::{Keyword, Kw, NodeId, Role, Status};

impl Builder<'_> {
    /// Records that a keyword met a limit and is enforced only in part, or not at all.
    pub(super) fn widen(&mut self, node: NodeId, index: usize, limit: &'static str) {
        if !self.known_limits.insert((node, index, limit)) {
            return;
        }
        self.widened.push(Widened {
            node,
            index,
            route: Route::MaskCheck,
            reason: format!("the limit `{limit}` was met: the mask leaves it out in places"),
            limit: Some(limit),
            position: None,
        });
    }

    /// Whether no steps of work are left.
    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    /// Which limit stops combinations.
    pub(super) fn limit_met(&self) -> &'static str {
        if self.is_spent() { "set_steps" } else { "set_shapes" }
    }

    /// A whole conjunct is left out of one set: none of its keywords is enforced everywhere.
    pub(super) fn widen_node(&mut self, node: NodeId) {
        self.widen_closure(node, self.limit_met(), |_| true);
    }

    /// Marks those keywords of a subschema, and of those that apply in place, that `wanted` names.
    pub(super) fn widen_closure(
        &mut self,
        node: NodeId,
        limit: &'static str,
        wanted: impl Fn(Kw) -> bool,
    ) {
        let schema = self.schema.clone();
        for node in self.in_place_closure(node) {
            for (index, keyword) in schema.node(node).keywords().iter().enumerate() {
                if asserts(keyword) && keyword.kw.is_some_and(&wanted) {
                    self.widen(node, index, limit);
                }
            }
        }
    }

    /// The same for all the subschemas of `terms`, complements and unions included.
    pub(super) fn widen_terms(
        &mut self,
        terms: &[Term],
        limit: &'static str,
        wanted: impl Fn(Kw) -> bool + Copy,
    ) {
        for node in self.term_nodes(terms) {
            self.widen_closure(node, limit, wanted);
        }
    }

    /// The subschemas of `terms`, complements and unions included.
    pub(super) fn term_nodes(&self, terms: &[Term]) -> Vec<NodeId> {
        nodes_of(&self.terms, &self.unions, terms)
    }

    /// `node` and every subschema that applies in place below it.
    pub(super) fn in_place_closure(&self, node: NodeId) -> Vec<NodeId> {
        let (mut closure, mut next) = (vec![node], 0);
        while next < closure.len() {
            for child in self.in_place(closure[next]) {
                if !closure.contains(&child) {
                    closure.push(child);
                }
            }
            next += 1;
        }
        closure
    }
}

/// Whether a keyword is active and can narrow a set.
pub(super) fn asserts(keyword: &Keyword) -> bool {
    keyword.status == Status::Active && keyword.kw.is_some_and(narrows)
}

/// Whether a keyword can narrow a set.
pub(super) fn narrows(kw: Kw) -> bool {
    matches!(kw.spec().role, Role::Assertion | Role::Applicator | Role::Reference)
        || matches!(kw, Kw::ContentEncoding | Kw::ContentMediaType)
}
