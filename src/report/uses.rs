//! In which positions a subschema is reached from the root, and whether through keywords that the
//! mask leaves out in places.

use super::route::{is_definitions, positions_below};
use super::routes::Routes;
use crate::schema::{NodeId, Place, Status};
use crate::values::Position;
use rustc_hash::FxHashSet;

/// A keyword: its subschema, and which keyword of it.
pub(super) type Spot = (NodeId, usize);

/// The ways in which a subschema is reached from the root, by position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    /// Through keywords that the mask enforces.
    pub(super) masked: [bool; 2],
    /// Through a keyword that the mask leaves out, wholly or in places: that keyword.
    pub(super) checked: [Option<Spot>; 2],
}

impl Uses {
    pub(super) fn is_empty(&self) -> bool {
        self.masked == [false; 2] && self.checked == [None; 2]
    }

    /// Adds a way; `false` where one like it is known.
    fn add(&mut self, way: Way) -> bool {
        let slot = way.position as usize;
        match way.left_out {
            None => !std::mem::replace(&mut self.masked[slot], true),
            Some(by) => {
                let new = self.checked[slot].is_none();
                self.checked[slot].get_or_insert(by);
                new
            }
        }
    }
}

/// One way in which a subschema is reached.
#[derive(Clone, Copy)]
struct Way {
    position: Position,
    /// The keyword on the way that is left out.
    left_out: Option<Spot>,
}

/// Every subschema's uses, by node.
pub(super) fn uses(routes: &Routes<'_>) -> Vec<Uses> {
    let schema = routes.schema();
    let scopes = schema.scopes();
    let mut uses = vec![Uses::default(); schema.node_count()];
    // Where there are several scopes, a node is another one in each of them.
    let mut seen: FxHashSet<(Place, Position, bool)> = FxHashSet::default();
    let start = Way { position: Position::Positive, left_out: None };
    let mut queue = vec![(scopes.root(schema), start)];
    while let Some((place, way)) = queue.pop() {
        let is_new = uses[place.node.index()].add(way);
        let key = (place, way.position, way.left_out.is_some());
        if !(if scopes.are_one() { is_new } else { seen.insert(key) }) {
            continue;
        }
        let keywords = schema.node(place.node).keywords();
        for (index, keyword) in keywords.iter().enumerate() {
            let spot = (place.node, index);
            if keyword.status != Status::Active
                || is_definitions(keyword)
                || routes.is_annotation(spot)
            {
                continue;
            }
            let ways = ways_below(routes, spot, way);
            let mut add = |child| queue.extend(ways.iter().map(|&way| (child, way)));
            match scopes.target(schema, place, keyword) {
                Some(target) => add(target),
                None => keyword.children.ids().for_each(|id| add(scopes.child(schema, place, id))),
            }
        }
    }
    uses
}

/// How the subschemas of a keyword are reached, if its own subschema is reached by `way`.
fn ways_below(routes: &Routes<'_>, spot: Spot, way: Way) -> Vec<Way> {
    let keywords = routes.schema().node(spot.0).keywords();
    let mut ways = Vec::new();
    for position in positions_below(&keywords[spot.1], keywords, way.position) {
        ways.push(Way { position, ..way });
        if way.left_out.is_none() && routes.is_left_out(spot, way.position) {
            ways.push(Way { position, left_out: Some(spot) });
        }
    }
    ways
}
