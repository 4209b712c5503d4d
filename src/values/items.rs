//! Keywords that speak of an array's items as a whole: `contains` with its bounds, `uniqueItems`.

use super::draft::{Draft, length};
use super::intersect;
use super::sets::Builder;
use super::shape::{ArrayShape, ItemCount};
use crate::schema::{Keyword, Kw, Status};
use std::sync::Arc;

impl Builder<'_> {
    /// `contains`, with the `minContains` and `maxContains` that stand beside it.
    pub(super) fn contains(&mut self, draft: &mut Draft, keyword: &Keyword, keywords: &[Keyword]) {
        let Some(node) = keyword.children.get(0) else { return };
        let schema = self.schema.clone();
        // Dialects without them have no active ones.
        let bound = |kw: Kw| {
            let beside = keywords.iter().find(|k| k.status == Status::Active && k.kw == Some(kw));
            beside.map(|k| length(schema.value(k)))
        };
        let count = ItemCount {
            prefix: Arc::new([]),
            rest: self.node_set(node),
            min: bound(Kw::MinContains).unwrap_or(1),
            max: bound(Kw::MaxContains),
        };
        self.meet_arrays(draft, &ArrayShape { counts: Arc::new([count]), ..ArrayShape::any() });
    }

    /// `uniqueItems`.
    pub(super) fn unique(&mut self, draft: &mut Draft) {
        self.meet_arrays(draft, &ArrayShape { unique: true, ..ArrayShape::any() });
    }

    fn meet_arrays(&mut self, draft: &mut Draft, narrower: &ArrayShape) {
        let both = draft.arrays.iter().filter_map(|array| intersect::arrays(array, narrower, self));
        draft.arrays = both.collect();
    }
}
