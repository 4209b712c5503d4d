//! One entry for each keyword occurrence.

use super::route::is_definitions;
use super::routes::{Carried, POSITIONS, Routes};
use super::uses::{Spot, Uses, uses};
use super::{Entry, Use};
use crate::base::Route;
use crate::options::Asserted;
use crate::schema::{Holds, Keyword, Schema, Status};
use crate::values::{Position, Sets};

/// Makes the entries of one schema.
struct Entries<'s> {
    routes: Routes<'s>,
    schema: &'s Schema,
    uses: Vec<Uses>,
}

/// Every keyword occurrence of `schema`, in the order of its subschemas.
pub(super) fn entries(schema: &Schema, sets: &Sets, asserted: Asserted) -> Vec<Entry> {
    let routes = Routes::new(schema, sets, asserted);
    let uses = uses(&routes);
    let entries = Entries { routes, schema, uses };
    let mut all = Vec::new();
    for id in schema.node_ids() {
        for (index, keyword) in schema.node(id).keywords().iter().enumerate() {
            all.push(entries.entry((id, index), keyword));
        }
    }
    all
}

impl Entries<'_> {
    fn entry(&self, spot: Spot, keyword: &Keyword) -> Entry {
        let uses = &self.uses[spot.0.index()];
        let (route, reason, uses) = match keyword.status {
            // Its subschemas may be in use where it is not: references name them.
            Status::Active if is_definitions(keyword) => self.definitions(keyword),
            Status::Active if uses.is_empty() => (Route::Annotation, "unreferenced".into(), vec![]),
            Status::Active => self.active(spot, uses),
            Status::NotInDialect => (Route::Annotation, "not-in-dialect".into(), vec![]),
            Status::BesideRef => (Route::Annotation, "beside-ref".into(), vec![]),
            Status::NoEffect => (Route::Annotation, "no-effect".into(), vec![]),
            Status::Unknown => (Route::Annotation, "unknown-keyword".into(), vec![]),
            Status::VocabularyOff => (Route::Annotation, "vocabulary-off".into(), vec![]),
        };
        let holds = keyword.kw.is_some_and(|kw| kw.spec().holds != Holds::Nothing);
        let location = self.schema.keyword_location(spot.0, spot.1);
        let limits = POSITIONS.into_iter().filter_map(|p| self.routes.widened(spot, p)?.limit);
        Entry {
            keyword: self.schema.keyword_name(keyword).to_owned(),
            value: (!holds).then(|| self.schema.value(keyword).text().to_owned()),
            check: (route > Route::Mask).then(|| location.clone()),
            location,
            route,
            reason,
            limit: limits.into_iter().next(),
            uses,
            sentence: None,
        }
    }

    /// `$defs` has the route of those of its subschemas that something refers to.
    fn definitions(&self, keyword: &Keyword) -> (Route, String, Vec<Use>) {
        let mut used =
            keyword.children.ids().filter(|c| !self.uses[c.index()].is_empty()).peekable();
        if used.peek().is_none() {
            return (Route::Annotation, "unreferenced".into(), Vec::new());
        }
        let carried = used.map(|child| {
            let Uses { masked, checked } = &self.uses[child.index()];
            let masked = POSITIONS.into_iter().filter(|&position| masked[position as usize]);
            let in_mask = masked.map(|position| self.routes.carried(child, position));
            let is_checked = checked.iter().any(Option::is_some);
            in_mask
                .chain(is_checked.then_some(Carried::CHECKED))
                .fold(Carried::default(), Carried::or)
        });
        let route = carried.fold(Carried::default(), Carried::or).route();
        (route, "has the route of what it holds".into(), Vec::new())
    }

    /// The weakest route over the uses, and the uses where they differ.
    fn active(&self, spot: Spot, uses: &Uses) -> (Route, String, Vec<Use>) {
        if self.routes.is_annotation(spot) {
            let (route, reason) = self.routes.route(spot, Position::Positive);
            return (route, reason, Vec::new());
        }
        let mut all = Vec::new();
        for position in POSITIONS {
            if uses.masked[position as usize] {
                let (route, reason) = self.routes.route(spot, position);
                all.push(Use { position: position.name(), route, reason });
            }
            if let Some((by, at)) = uses.checked[position as usize] {
                let keyword = &self.schema.node(by).keywords()[at];
                let reason = format!(
                    "inside `{}` ({}), which the mask leaves out in places",
                    self.schema.keyword_name(keyword),
                    self.schema.keyword_location(by, at)
                );
                all.push(Use { position: position.name(), route: Route::Check, reason });
            }
        }
        let Some(weakest) = all.iter().max_by_key(|one| one.route).cloned() else {
            return (Route::Annotation, String::new(), Vec::new());
        };
        let differ = all.iter().any(|one| one.route != weakest.route);
        (weakest.route, weakest.reason, if differ { all } else { Vec::new() })
    }
}
