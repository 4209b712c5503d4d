//! Why a set is empty: for the message of `unsatisfiable`.

use super::{Emptiness, SetId, Sets};
use crate::schema::{NodeId, Schema, Status};

/// The most keywords that a message names.
const NAMED: usize = 8;

impl Sets {
    /// Where the emptiness of the root begins: a set that is empty by its own keywords, or on a
    /// recursion that never ends.
    pub(crate) fn empty_origin(&self, emptiness: &Emptiness) -> SetId {
        let (mut at, mut seen) = (self.root(), Vec::new());
        loop {
            seen.push(at);
            let set = self.get(at);
            let arrays = set.arrays.iter().flat_map(|&id| self.array(id).needed());
            let objects = set.objects.iter().flat_map(|&id| {
                self.object(id).names.iter().filter(|name| name.required).map(|name| name.set)
            });
            let mut needed = arrays.chain(objects).filter(|&child| emptiness.is_empty(child));
            // Where the child has no keywords of its own (no value may stand there at all), those
            // of the parent are in conflict.
            let named = |child: SetId| self.nodes(child).next().is_some();
            match needed.find(|&child| !seen.contains(&child) && named(child)) {
                Some(child) => at = child,
                None => return at,
            }
        }
    }

    /// The locations of the keywords that a set is the conjunction of.
    pub(crate) fn conflict(&self, schema: &Schema, set: SetId) -> Vec<String> {
        let mut nodes: Vec<NodeId> = self.nodes(set).collect();
        if nodes.is_empty() {
            nodes.push(schema.root());
        }
        let (mut locations, mut next) = (Vec::new(), 0);
        while next < nodes.len() && locations.len() < NAMED {
            let node = nodes[next];
            for (index, keyword) in schema.node(node).keywords().iter().enumerate() {
                let Some(kw) = keyword.kw.filter(|_| keyword.status == Status::Active) else {
                    continue;
                };
                if super::widen::narrows(kw) {
                    locations.push(schema.keyword_location(node, index));
                }
                if kw.applies_in_place() {
                    let children = schema.scopes().applied(node, index, keyword);
                    let new = children.filter(|child| !nodes.contains(child));
                    nodes.extend(new.collect::<Vec<_>>());
                }
            }
            next += 1;
        }
        locations.truncate(NAMED);
        locations
    }
}
