//! The route of each keyword by the position in which it stands, before it is asked whether anything
//! leads there.
//!
//! What is left out of the mask is the largest set for its position: everything in a positive one,
//! nothing in a negative one. So a superset enforces a part of a keyword in a positive position, and
//! nothing of it in a negative one.

use super::route::{Compiled, compiled, is_definitions, positions_below};
use super::uses::Spot;
use crate::base::Route;
use crate::options::Asserted;
use crate::schema::{Body, Keyword, Kw, NodeId, Schema, Status};
use crate::values::{Position, Sets, Widened};
use rustc_hash::FxHashMap;

pub(super) const POSITIONS: [Position; 2] = [Position::Positive, Position::Negative];

/// What the keywords of a subschema assert, taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    mask: bool,
    pub(super) check: bool,
}

impl Carried {
    pub(super) const CHECKED: Carried = Carried { mask: false, check: true };

    fn of(route: Route) -> Carried {
        Carried {
            mask: matches!(route, Route::Mask | Route::MaskCheck),
            check: matches!(route, Route::MaskCheck | Route::Check | Route::External),
        }
    }

    pub(super) fn or(self, other: Carried) -> Carried {
        Carried { mask: self.mask || other.mask, check: self.check || other.check }
    }

    pub(super) fn route(self) -> Route {
        match (self.mask, self.check) {
            (_, false) => Route::Mask,
            (true, true) => Route::MaskCheck,
            (false, true) => Route::Check,
        }
    }
}

/// The routes of one schema's keywords.
pub(super) struct Routes<'s> {
    schema: &'s Schema,
    asserted: Asserted,
    widened: FxHashMap<(Spot, Position), &'s Widened>,
    /// By node and position.
    carried: Vec<[Carried; 2]>,
}

impl<'s> Routes<'s> {
    pub(super) fn new(schema: &'s Schema, sets: &'s Sets, asserted: Asserted) -> Self {
        let mut widened: FxHashMap<(Spot, Position), &Widened> = FxHashMap::default();
        for one in sets.widened() {
            let stands = |&position: &Position| one.position.is_none_or(|only| only == position);
            for position in POSITIONS.into_iter().filter(stands) {
                let weakest = widened.entry(((one.node, one.index), position)).or_insert(one);
                if one.route > weakest.route {
                    *weakest = one;
                }
            }
        }
        let carried = vec![[Carried::default(); 2]; schema.node_count()];
        let mut routes = Routes { schema, asserted, widened, carried };
        routes.carry();
        routes
    }

    pub(super) fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// What a subschema carries in a position.
    pub(super) fn carried(&self, id: NodeId, position: Position) -> Carried {
        self.carried[id.index()][position as usize]
    }

    /// How the sets route a keyword of which they leave something out.
    pub(super) fn widened(&self, spot: Spot, position: Position) -> Option<&'s Widened> {
        self.widened.get(&(spot, position)).copied()
    }

    fn keyword(&self, (id, index): Spot) -> &'s Keyword {
        &self.schema.node(id).keywords()[index]
    }

    fn compiled(&self, spot: Spot) -> Compiled {
        compiled(self.schema, self.schema.node(spot.0), self.keyword(spot), self.asserted)
    }

    /// The subschemas that a keyword applies, with their positions.
    fn applied(
        &self,
        spot: Spot,
        position: Position,
    ) -> impl Iterator<Item = (NodeId, Position)> + 's {
        let keyword = self.keyword(spot);
        let positions = positions_below(keyword, self.schema.node(spot.0).keywords(), position);
        let children = self.schema.scopes().applied(spot.0, spot.1, keyword);
        children.flat_map(move |child| positions.clone().into_iter().map(move |p| (child, p)))
    }

    /// What each subschema carries: its own assertions, and those of the subschemas that its
    /// compiled keywords apply. A fixpoint over the references, by a worklist.
    fn carry(&mut self) {
        let slot = |id: NodeId, position: Position| id.index() * 2 + position as usize;
        let mut users: Vec<Vec<(NodeId, Position)>> = vec![Vec::new(); self.carried.len() * 2];
        let mut queue: Vec<(NodeId, Position)> = Vec::new();
        for id in self.schema.node_ids() {
            for position in POSITIONS {
                let mut own = Carried::default();
                if let Body::Boolean(false) = self.schema.node(id).body {
                    own = Carried::of(Route::Mask);
                }
                for (index, keyword) in self.schema.node(id).keywords().iter().enumerate() {
                    if keyword.status != Status::Active {
                        continue;
                    }
                    if self.compiled((id, index)) != Compiled::Carries {
                        own = own.or(Carried::of(self.own((id, index), position).0));
                    } else if !is_definitions(keyword) {
                        for (child, below) in self.applied((id, index), position) {
                            users[slot(child, below)].push((id, position));
                        }
                    }
                    if let Some(widened) = self.widened((id, index), position) {
                        own = own.or(Carried::of(widened.route));
                    }
                }
                self.carried[id.index()][position as usize] = own;
                if own != Carried::default() {
                    queue.push((id, position));
                }
            }
        }
        while let Some((id, position)) = queue.pop() {
            let carried = self.carried(id, position);
            for &(user, above) in &users[slot(id, position)] {
                let known = &mut self.carried[user.index()][above as usize];
                let both = known.or(carried);
                if both != *known {
                    *known = both;
                    queue.push((user, above));
                }
            }
        }
    }

    /// The route of an active keyword in a position, and why.
    pub(super) fn route(&self, spot: Spot, position: Position) -> (Route, String) {
        let (route, reason) = self.own(spot, position);
        match self.blurred_by(spot, position) {
            Some(other) if route == Route::Mask => (
                Route::MaskCheck,
                format!(
                    "what it applies to depends on `{}`, of which a part is checked afterwards",
                    self.schema.keyword_name(self.keyword(other))
                ),
            ),
            _ => (route, reason),
        }
    }

    /// The same, whatever stands beside it: the weaker of how it is compiled and of what the sets have
    /// left out.
    fn own(&self, spot: Spot, position: Position) -> (Route, String) {
        let compiled = self.as_compiled(spot, position);
        let Some(widened) = self.widened(spot, position) else { return compiled };
        let is_superset = widened.route == Route::MaskCheck && widened.limit.is_none();
        let route = match position {
            Position::Negative if is_superset => Route::Check,
            _ => widened.route,
        };
        if compiled.0 > route { compiled } else { (route, widened.reason.clone()) }
    }

    fn as_compiled(&self, spot: Spot, position: Position) -> (Route, String) {
        match self.compiled(spot) {
            Compiled::Mask => (Route::Mask, "enforced at each decode step".into()),
            Compiled::Part(rest) if position == Position::Negative => {
                (Route::Check, format!("not enforced where it is negated, for the sake of {rest}"))
            }
            Compiled::Part(rest) => {
                (Route::MaskCheck, format!("enforced at each decode step but for {rest}"))
            }
            Compiled::Check(reason) => (Route::Check, reason.into()),
            Compiled::Annotation(reason) => (Route::Annotation, reason.into()),
            Compiled::Carries => {
                let below = self.applied(spot, position).map(|(id, below)| self.carried(id, below));
                let route = below.fold(Carried::default(), Carried::or).route();
                let reason = match route {
                    Route::Mask => "enforced at each decode step",
                    Route::Check => "what it holds is checked afterwards",
                    _ => "a part of what it holds is checked afterwards",
                };
                (route, reason.into())
            }
        }
    }

    /// Whether the mask leaves a keyword out, wholly or in places, and with it what it holds.
    pub(super) fn is_left_out(&self, spot: Spot, position: Position) -> bool {
        self.widened(spot, position).is_some() || self.blurred_by(spot, position).is_some()
    }

    /// Whether an active keyword asserts nothing.
    pub(super) fn is_annotation(&self, spot: Spot) -> bool {
        matches!(self.compiled(spot), Compiled::Annotation(_))
    }

    /// The keyword beside this one that decides what it applies to, if the mask does not know all of it.
    fn blurred_by(&self, (id, index): Spot, position: Position) -> Option<Spot> {
        let decides: fn(Kw) -> bool = match self.keyword((id, index)).kw? {
            Kw::Then | Kw::Else => |kw| kw == Kw::If,
            Kw::MinContains | Kw::MaxContains => |kw| kw == Kw::Contains,
            Kw::UnevaluatedProperties => |kw| kw.applies_in_place() || kw == Kw::PatternProperties,
            Kw::UnevaluatedItems => |kw| kw.applies_in_place() || kw == Kw::Contains,
            // Objects are then left out as a whole.
            Kw::Properties | Kw::AdditionalProperties if position == Position::Negative => {
                |kw| kw == Kw::PatternProperties
            }
            _ => return None,
        };
        let keywords = self.schema.node(id).keywords().iter().enumerate();
        let mut beside = keywords
            .filter(|(_, other)| other.status == Status::Active && other.kw.is_some_and(decides));
        let is_blurred = |&(at, other): &(usize, &Keyword)| match other.kw {
            // Of the keys alone.
            Some(Kw::PatternProperties) => self.widened((id, at), position).is_some(),
            _ => {
                self.widened((id, at), position).is_some() || {
                    let mut below = self.applied((id, at), position);
                    below.any(|(child, below)| self.carried(child, below).check)
                }
            }
        };
        beside.find(is_blurred).map(|(at, _)| (id, at))
    }
}
