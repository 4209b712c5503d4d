//! Dynamic scope: what `$dynamicRef` and `$recursiveRef` lead to, by the way to them.
//!
//! **In:** the nodes with their lexical targets. **Out:** [`Scopes`], in which every [`Place`] that
//! an evaluation can reach is known: a subschema together with what matters of the resources that
//! were entered on the way to it. Of two places with one subschema the one can mean another set of
//! values than the other; equal places mean one set.
//!
//! A scope says for each name of a dynamic anchor which subschema the *first* entered resource that
//! has the name gives it (2020-12, core section 8.2.3.2; 2019-09 has one name, `$recursiveAnchor` at
//! the root of a resource, core section 8.2.4.2). A resource is entered where an evaluation comes to a
//! subschema of another resource: by a nested `$id` or by any reference, at whatever subschema of
//! it. Names that no reference asks for are left out.
//!
//! Invariants:
//! * A scope only ever gets more bindings, so no way through a schema changes its scope more often
//!   than there are names; scopes are interned, so places are finitely many. Places and bindings
//!   are counted against `schema_nodes` while they are explored; nothing grows afterwards.
//! * No chain of in-place keywords leads from a place to itself (`cycle`, over places).
//! * Without a dynamic reference nothing is explored, there is one scope, and a place is a node.

#[cfg(test)]
mod tests;

use super::uri;
use super::{Children, Keyword, Kw, NodeId, ResourceId, Role, Schema, Status};
use crate::base::define_id;
use crate::error::{Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

define_id! {
    /// What matters of a dynamic scope.
    ScopeId
}

define_id! {
    /// A name that dynamic references ask for.
    NameId
}

/// A subschema in a dynamic scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub node: NodeId,
    pub scope: ScopeId,
}

/// Which subschema each name stands for, by name.
type Bindings = Arc<[(NameId, NodeId)]>;

/// All dynamic scopes of a schema.
#[derive(Debug)]
pub(crate) struct Scopes {
    /// The names of `$dynamicAnchor` that references ask for.
    names: BTreeMap<Box<str>, NameId>,
    /// The name of all `$recursiveAnchor`s, where references ask for them.
    recursive: Option<NameId>,
    /// What each resource gives those names.
    anchors: FxHashMap<ResourceId, Bindings>,
    /// By scope; the first is that of the root.
    scopes: Vec<Bindings>,
    /// The scope after entering a resource that has anchors.
    entered: FxHashMap<(ScopeId, ResourceId), ScopeId>,
    /// The places that can be reached; none where there is no dynamic reference.
    places: Vec<Place>,
    /// What the dynamic reference at the index of a node reaches, over all of the node's places.
    reached: FxHashMap<(NodeId, usize), BTreeSet<NodeId>>,
}

impl Scopes {
    /// The scopes of a schema without dynamic references.
    pub(super) fn one() -> Scopes {
        Scopes {
            names: BTreeMap::new(),
            recursive: None,
            anchors: FxHashMap::default(),
            scopes: vec![Arc::new([])],
            entered: FxHashMap::default(),
            places: vec![],
            reached: FxHashMap::default(),
        }
    }

    /// Explores the places of a schema with dynamic references.
    ///
    /// # Errors
    ///
    /// `limit` for `schema_nodes` where places and bindings are more than `most`.
    pub(super) fn explore(schema: &Schema, most: usize) -> Result<Scopes> {
        let mut scopes = Scopes::one();
        scopes.collect_names(schema);
        scopes.collect_anchors(schema);
        let mut explorer = Explorer { interned: FxHashMap::default(), size: 0, most, scopes };
        explorer.run(schema)?;
        Ok(explorer.scopes)
    }

    /// Whether a node has one place at most.
    pub(crate) fn are_one(&self) -> bool {
        self.scopes.len() == 1
    }

    /// The places that an evaluation can reach, without repeats; none where there is no dynamic
    /// reference.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The place of the schema's root.
    pub(crate) fn root(&self, schema: &Schema) -> Place {
        Place { node: schema.root(), scope: ScopeId::new(0) }
    }

    /// The place of a subschema that a keyword at `place` holds, or that a `$ref` there leads to.
    /// Where no evaluation reaches `place`, the scope may lack what `child` would add.
    pub(crate) fn child(&self, schema: &Schema, place: Place, child: NodeId) -> Place {
        let resource = schema.node(child).resource;
        let scope = match schema.node(place.node).resource == resource {
            true => place.scope,
            false => *self.entered.get(&(place.scope, resource)).unwrap_or(&place.scope),
        };
        Place { node: child, scope }
    }

    /// Where a reference of any kind at `place` leads; `None` for other keywords.
    pub(crate) fn target(&self, schema: &Schema, place: Place, keyword: &Keyword) -> Option<Place> {
        Some(self.child(schema, place, self.target_node(schema, place.scope, keyword)?))
    }

    /// What the reference `keyword` reaches, over all of the node's places.
    pub(crate) fn reached(&self, node: NodeId, index: usize) -> impl Iterator<Item = NodeId> {
        self.reached.get(&(node, index)).into_iter().flatten().copied()
    }

    /// The subschemas that a keyword of a node applies: those that it holds, or what it refers to, in
    /// any dynamic scope.
    pub(crate) fn applied<'s>(
        &'s self,
        node: NodeId,
        index: usize,
        keyword: &'s Keyword,
    ) -> impl Iterator<Item = NodeId> + 's {
        let is_dynamic = matches!(keyword.kw, Some(Kw::DynamicRef | Kw::RecursiveRef));
        let reached = is_dynamic.then(|| self.reached(node, index));
        let held = keyword.children.ids().filter(move |_| !is_dynamic);
        reached.into_iter().flatten().chain(held)
    }

    fn target_node(&self, schema: &Schema, scope: ScopeId, keyword: &Keyword) -> Option<NodeId> {
        let Children::Target(lexical) = keyword.children else { return None };
        let name = match keyword.kw {
            Some(Kw::RecursiveRef) if is_recursive_anchor(schema, lexical) => self.recursive,
            Some(Kw::DynamicRef) => {
                let name = dynamic_name(schema, keyword, lexical);
                name.and_then(|name| self.names.get(name.as_ref()).copied())
            }
            _ => None,
        };
        let bound = name.and_then(|name| bound(&self.scopes[scope.index()], name));
        Some(bound.unwrap_or(lexical))
    }

    /// The names that references ask for.
    fn collect_names(&mut self, schema: &Schema) {
        let mut count = 0;
        let mut next = || {
            count += 1;
            NameId::new(count - 1)
        };
        for (_, keyword) in active_keywords(schema) {
            let Children::Target(lexical) = keyword.children else { continue };
            match keyword.kw {
                Some(Kw::DynamicRef) => {
                    if let Some(name) = dynamic_name(schema, keyword, lexical)
                        && !self.names.contains_key(name.as_ref())
                    {
                        self.names.insert(name, next());
                    }
                }
                Some(Kw::RecursiveRef) if is_recursive_anchor(schema, lexical) => {
                    self.recursive.get_or_insert_with(&mut next);
                }
                _ => {}
            }
        }
    }

    /// What the resources give those names. Of two anchors with one name in one resource, which the
    /// specification leaves undefined, the first of the text counts.
    fn collect_anchors(&mut self, schema: &Schema) {
        let mut anchors: FxHashMap<ResourceId, BTreeMap<NameId, NodeId>> = FxHashMap::default();
        for (id, keyword) in active_keywords(schema) {
            let name = match keyword.kw {
                Some(Kw::DynamicAnchor) => {
                    let name = schema.value(keyword).as_str();
                    name.and_then(|name| self.names.get(name).copied())
                }
                // Elsewhere than at the root of a resource it has no meaning.
                Some(Kw::RecursiveAnchor) if is_recursive_anchor(schema, id) => self.recursive,
                _ => None,
            };
            if let Some(name) = name {
                let resource = anchors.entry(schema.node(id).resource).or_default();
                resource.entry(name).or_insert(id);
            }
        }
        let sorted = anchors.into_iter().map(|(id, names)| (id, names.into_iter().collect()));
        self.anchors = sorted.collect();
    }
}

/// Finds all places, and makes their scopes.
struct Explorer {
    interned: FxHashMap<Bindings, ScopeId>,
    /// The number of places and bindings.
    size: usize,
    most: usize,
    scopes: Scopes,
}

impl Explorer {
    fn run(&mut self, schema: &Schema) -> Result<()> {
        let nothing = self.scopes.scopes[0].clone();
        let own = self.scopes.anchors.get(&schema.node(schema.root()).resource);
        let first = own.cloned().unwrap_or(nothing);
        self.interned.insert(first.clone(), ScopeId::new(0));
        self.scopes.scopes = vec![first];
        let root = self.scopes.root(schema);
        let (mut seen, mut open) = (FxHashSet::default(), vec![root]);
        seen.insert(root);
        while let Some(place) = open.pop() {
            self.scopes.places.push(place);
            self.count(schema, place.node, 1)?;
            for (index, keyword) in schema.node(place.node).keywords().iter().enumerate() {
                if !applies(keyword) {
                    continue;
                }
                let target = self.scopes.target_node(schema, place.scope, keyword);
                if let (Some(target), Some(Kw::DynamicRef | Kw::RecursiveRef)) =
                    (target, keyword.kw)
                {
                    self.scopes.reached.entry((place.node, index)).or_default().insert(target);
                }
                let held = keyword.children.ids().filter(|_| target.is_none());
                for child in target.into_iter().chain(held) {
                    let child = self.enter(schema, place, child)?;
                    if seen.insert(child) {
                        open.push(child);
                    }
                }
            }
        }
        Ok(())
    }

    /// [`Scopes::child`], which makes the scope where it is new.
    fn enter(&mut self, schema: &Schema, place: Place, child: NodeId) -> Result<Place> {
        let resource = schema.node(child).resource;
        if schema.node(place.node).resource != resource
            && let Some(anchors) = self.scopes.anchors.get(&resource)
            && !self.scopes.entered.contains_key(&(place.scope, resource))
        {
            let outer = &self.scopes.scopes[place.scope.index()];
            let new = anchors.iter().filter(|(name, _)| bound(outer, *name).is_none());
            let mut both: Vec<_> = outer.iter().chain(new).copied().collect();
            both.sort_unstable();
            self.count(schema, child, both.len())?;
            let both: Bindings = both.into();
            let scope = match self.interned.get(&both) {
                Some(&known) => known,
                None => {
                    let id = ScopeId::new(self.scopes.scopes.len());
                    self.scopes.scopes.push(both.clone());
                    self.interned.insert(both, id);
                    id
                }
            };
            self.scopes.entered.insert((place.scope, resource), scope);
        }
        Ok(self.scopes.child(schema, place, child))
    }

    fn count(&mut self, schema: &Schema, node: NodeId, more: usize) -> Result<()> {
        self.size += more;
        if self.size <= self.most {
            return Ok(());
        }
        let what = "the number of subschemas, each in every dynamic scope";
        Err(Error::limit_met("schema_nodes", self.most, what).at(schema.location(node)))
    }
}

/// Whether an evaluation goes on in what the keyword holds.
fn applies(keyword: &Keyword) -> bool {
    keyword.status == Status::Active
        && keyword.kw.is_some_and(|kw| kw.spec().role != Role::Definitions)
}

/// The active keywords of the nodes that are not inert.
fn active_keywords(schema: &Schema) -> impl Iterator<Item = (NodeId, &Keyword)> {
    schema.node_ids().filter(|&id| !schema.node(id).inert).flat_map(|id| {
        let keywords = schema.node(id).keywords().iter();
        keywords.filter(|k| k.status == Status::Active).map(move |k| (id, k))
    })
}

fn bound(bindings: &[(NameId, NodeId)], name: NameId) -> Option<NodeId> {
    let at = bindings.binary_search_by_key(&name, |(name, _)| *name).ok()?;
    Some(bindings[at].1)
}

/// The name by which a `$dynamicRef` asks the dynamic scope: its fragment, if a `$dynamicAnchor` of
/// its lexical target made that name. Otherwise it is a `$ref`.
fn dynamic_name(schema: &Schema, keyword: &Keyword, lexical: NodeId) -> Option<Box<str>> {
    let fragment = uri::split_fragment(schema.value(keyword).as_str()?).1?;
    let fragment = uri::percent_decode(fragment)?;
    let anchor = schema.node(lexical).active(Kw::DynamicAnchor)?;
    (schema.value(anchor).as_str() == Some(&fragment)).then(|| fragment.into())
}

/// Whether a node is the root of a resource with `$recursiveAnchor: true`.
fn is_recursive_anchor(schema: &Schema, id: NodeId) -> bool {
    let anchor = schema.node(id).active(Kw::RecursiveAnchor);
    let is_true = anchor.is_some_and(|anchor| schema.value(anchor).as_bool() == Some(true));
    let outer = schema.node(id).parent.map(|parent| schema.node(parent).resource);
    is_true && outer != Some(schema.node(id).resource)
}
