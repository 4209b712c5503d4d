//! One entry for each keyword occurrence.

use super::route::{Compiled, Uses, applied, compiled, is_definitions, uses};
use super::{Entry, Use};
use crate::base::Route;
use crate::options::Asserted;
use crate::schema::{Body, Holds, Keyword, NodeId, Schema, Status};
use crate::values::{Position, Sets, Widened};
use rustc_hash::FxHashMap;

/// What the keywords of a subschema assert, taken together, where the mask reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Carried {
    mask: bool,
    check: bool,
}

impl Carried {
    fn of(route: Route) -> Carried {
        Carried {
            mask: matches!(route, Route::Mask | Route::MaskCheck),
            check: matches!(route, Route::MaskCheck | Route::Check | Route::External),
        }
    }

    fn or(self, other: Carried) -> Carried {
        Carried { mask: self.mask || other.mask, check: self.check || other.check }
    }

    fn route(self) -> Route {
        match (self.mask, self.check) {
            (_, false) => Route::Mask,
            (true, true) => Route::MaskCheck,
            (false, true) => Route::Check,
        }
    }
}

/// Makes the entries of one schema.
struct Entries<'s> {
    schema: &'s Schema,
    asserted: Asserted,
    uses: Vec<Uses>,
    widened: FxHashMap<(NodeId, usize), &'s Widened>,
    carried: Vec<Carried>,
}

/// Every keyword occurrence of `schema`, in the order of its subschemas.
pub(super) fn entries(schema: &Schema, sets: &Sets, asserted: Asserted) -> Vec<Entry> {
    let mut widened: FxHashMap<(NodeId, usize), &Widened> = FxHashMap::default();
    for one in sets.widened() {
        let weakest = widened.entry((one.node, one.index)).or_insert(one);
        if one.route > weakest.route {
            *weakest = one;
        }
    }
    let uses = uses(schema, asserted, |id, index| Some(widened.get(&(id, index))?.route));
    let carried = vec![Carried::default(); schema.node_count()];
    let mut entries = Entries { schema, asserted, uses, widened, carried };
    entries.carry();
    let mut all = Vec::new();
    for id in schema.node_ids() {
        for (index, keyword) in schema.node(id).keywords().iter().enumerate() {
            all.push(entries.entry(id, index, keyword));
        }
    }
    all
}

impl Entries<'_> {
    /// What each subschema carries: its own assertions, and those of the subschemas that its
    /// compiled keywords apply. A fixpoint over the references, by a worklist.
    fn carry(&mut self) {
        let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); self.schema.node_count()];
        let mut queue: Vec<NodeId> = Vec::new();
        for id in self.schema.node_ids() {
            let node = self.schema.node(id);
            let mut own = Carried::default();
            if let Body::Boolean(false) = node.body {
                own.mask = true;
            }
            for (index, keyword) in node.keywords().iter().enumerate() {
                if keyword.status != Status::Active {
                    continue;
                }
                match self.compiled(id, index, keyword) {
                    Compiled::Carries if !is_definitions(keyword) => {
                        applied(self.schema, id, index, keyword)
                            .for_each(|child| users[child.index()].push(id));
                    }
                    Compiled::Mask | Compiled::Part(_) | Compiled::Check(_) => {
                        own = own.or(Carried::of(self.own_route(id, index, keyword).0));
                    }
                    Compiled::Carries | Compiled::Annotation(_) => {}
                }
                if let Some(widened) = self.widened.get(&(id, index)) {
                    own = own.or(Carried::of(widened.route));
                }
            }
            self.carried[id.index()] = own;
            if own != Carried::default() {
                queue.push(id);
            }
        }
        while let Some(id) = queue.pop() {
            let carried = self.carried[id.index()];
            for &user in &users[id.index()] {
                let both = self.carried[user.index()].or(carried);
                if both != self.carried[user.index()] {
                    self.carried[user.index()] = both;
                    queue.push(user);
                }
            }
        }
    }

    fn compiled(&self, id: NodeId, index: usize, keyword: &Keyword) -> Compiled {
        let widened = self.widened.get(&(id, index)).map(|widened| widened.route);
        compiled(self.schema, self.schema.node(id), keyword, self.asserted, widened)
    }

    /// The route of an active keyword where the mask reaches its subschema.
    fn own_route(&self, id: NodeId, index: usize, keyword: &Keyword) -> (Route, String) {
        if let Some(widened) = self.widened.get(&(id, index)) {
            return (widened.route, widened.reason.clone());
        }
        match self.compiled(id, index, keyword) {
            Compiled::Mask => (Route::Mask, "enforced at each decode step".into()),
            Compiled::Part(rest) => {
                (Route::MaskCheck, format!("enforced at each decode step but for {rest}"))
            }
            Compiled::Check(reason) => (Route::Check, reason.into()),
            Compiled::Annotation(reason) => (Route::Annotation, reason.into()),
            Compiled::Carries => {
                let children = applied(self.schema, id, index, keyword);
                let children = children.map(|child| self.carried[child.index()]);
                let route = children.fold(Carried::default(), Carried::or).route();
                let reason = match route {
                    Route::Mask => "enforced at each decode step",
                    Route::Check => "what it holds is checked afterwards",
                    _ => "a part of what it holds is checked afterwards",
                };
                (route, reason.into())
            }
        }
    }

    fn entry(&self, id: NodeId, index: usize, keyword: &Keyword) -> Entry {
        let uses = &self.uses[id.index()];
        let (route, reason, uses) = match keyword.status {
            // Its subschemas may be in use where it is not: references name them.
            Status::Active if is_definitions(keyword) => self.definitions(keyword),
            Status::Active if uses.is_empty() => (Route::Annotation, "unreferenced".into(), vec![]),
            Status::Active => self.active(id, index, keyword, uses),
            Status::NotInDialect => (Route::Annotation, "not-in-dialect".into(), vec![]),
            Status::BesideRef => (Route::Annotation, "beside-ref".into(), vec![]),
            Status::NoEffect => (Route::Annotation, "no-effect".into(), vec![]),
            Status::Unknown => (Route::Annotation, "unknown-keyword".into(), vec![]),
            Status::VocabularyOff => (Route::Annotation, "vocabulary-off".into(), vec![]),
        };
        let holds = keyword.kw.is_some_and(|kw| kw.spec().holds != Holds::Nothing);
        let location = self.schema.keyword_location(id, index);
        Entry {
            keyword: self.schema.keyword_name(keyword).to_owned(),
            value: (!holds).then(|| self.schema.value(keyword).text().to_owned()),
            check: (route > Route::Mask).then(|| location.clone()),
            location,
            route,
            reason,
            limit: self.widened.get(&(id, index)).and_then(|widened| widened.limit),
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
            let in_mask = if *masked { self.carried[child.index()] } else { Carried::default() };
            in_mask.or(Carried { mask: false, check: checked.iter().any(Option::is_some) })
        });
        let route = carried.fold(Carried::default(), Carried::or).route();
        (route, "has the route of what it holds".into(), Vec::new())
    }

    /// The weakest route over the uses, and the uses where they differ.
    fn active(
        &self,
        id: NodeId,
        index: usize,
        keyword: &Keyword,
        uses: &Uses,
    ) -> (Route, String, Vec<Use>) {
        let (own, reason) = self.own_route(id, index, keyword);
        if own == Route::Annotation {
            return (own, reason, Vec::new());
        }
        let mut all = Vec::new();
        if uses.masked {
            let position = Position::Positive.name();
            all.push(Use { position, route: own, reason });
        }
        for position in [Position::Positive, Position::Negative] {
            if let Some((by, at)) = uses.checked[position as usize] {
                let keyword = &self.schema.node(by).keywords()[at];
                let how = match self.widened.get(&(by, at)).and_then(|widened| widened.limit) {
                    Some(_) => "which a limit leaves out in places",
                    None => "which is checked as a whole",
                };
                let reason = format!(
                    "inside `{}` ({}), {how}",
                    self.schema.keyword_name(keyword),
                    self.schema.keyword_location(by, at)
                );
                all.push(Use { position: position.name(), route: Route::Check, reason });
            }
        }
        let Some(weakest) = all.iter().max_by_key(|one| one.route).cloned() else {
            return (own, String::new(), Vec::new());
        };
        let differ = all.iter().any(|one| one.route != weakest.route);
        (weakest.route, weakest.reason, if differ { all } else { Vec::new() })
    }
}
