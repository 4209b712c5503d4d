//! Keywords that speak of an array's items as a whole: `contains` with its bounds, `uniqueItems`.

use super::draft::{At, Draft};
use super::literals::length;
use super::sets::{Builder, Widened};
use super::shape::{ArrayShape, ItemCount, Position};
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
            prefix: Arc::new([]),
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

    /// `uniqueItems`. Which arrays repeat an item is not compiled: where it is negated, the check asks.
    pub(super) fn unique(&mut self, draft: &mut Draft, at: At) {
        if at.how.position == Position::Negative {
            draft.arrays.clear();
            self.widened.push(Widened {
                node: at.place.node,
                index: at.index,
                route: Route::Check,
                reason: "that items repeat is not enforced where it is negated".into(),
                limit: None,
                position: Some(Position::Negative),
            });
            return;
        }
        self.meet_arrays(draft, &ArrayShape { unique: true, ..ArrayShape::any() });
    }
}
