//! Keywords that speak of an array's items as a whole: `contains` with its bounds, `uniqueItems`.

use super::draft::{At, Draft};
use super::literals::length;
use super::sets::{Builder, Widened};
use super::shape::{ArrayShape, ItemCount, Position};
use super::terms::Term;
use super::unevaluated::of_items;
use crate::base::Route;
use crate::schema::{Keyword, Kw, Status};
use std::sync::Arc;

impl Builder<'_> {
    /// `contains`, with the `minContains` and `maxContains` that stand beside it.
    pub(super) fn contains(&mut self, draft: &mut Draft, at: At, keywords: &[Keyword]) {
        let children = self.children(at.place, &keywords[at.index]);
        let Some(&place) = children.first() else { return };
        let set = self.node_set(place);
        let schema = self.schema.clone();
        // Dialects without them have no active ones.
        let bound = |kw: Kw| {
            let beside = keywords.iter().find(|k| k.status == Status::Active && k.kw == Some(kw));
            beside.map(|k| length(schema.value(k)))
        };
        let count = ItemCount {
            prefix: Arc::default(),
            rest: set,
            min: bound(Kw::MinContains).unwrap_or(1),
            max: bound(Kw::MaxContains),
        };
        let mut shape = ArrayShape { counts: Arc::new([count]), ..ArrayShape::any() };
        if at.how.evaluated && self.contains_evaluates(at.place.node) {
            shape = of_items(shape, 0, vec![set]);
        }
        self.meet_arrays(draft, &shape);
    }

    /// `uniqueItems`.
    pub(super) fn unique(&mut self, draft: &mut Draft) {
        self.meet_arrays(draft, &ArrayShape { unique: true, ..ArrayShape::any() });
    }

    /// Arrays in which items must be equal: that is not compiled, so the check asks.
    pub(super) fn leave_out_repeats(&mut self, terms: &[Term]) {
        let schema = self.schema.clone();
        for node in self.term_nodes(terms) {
            for node in self.in_place_closure(node) {
                let keywords = schema.node(node).keywords().iter().enumerate();
                for (index, _) in keywords.filter(|(_, k)| k.kw == Some(Kw::UniqueItems)) {
                    self.widened.push(Widened {
                        node,
                        index,
                        route: Route::Check,
                        reason: "that items repeat is not enforced where it is negated".into(),
                        limit: None,
                        position: Some(Position::Negative),
                    });
                }
            }
        }
    }
}
