//! Documents → nodes: a worklist over the schema positions.

use super::check::{check_value, invalid, names, wrong_kind};
use super::json::{JsonDocument, JsonId, JsonKind, JsonRef};
use super::keyword::{Holds, Kw, Role};
use super::members::{MemberTable, Place};
use super::registry::{Anchor, Library, Registry};
use super::resolve::Missing;
use super::uri;
use super::{Body, Children, DocId, Draft, Keyword, Node, NodeDialect, NodeId, ResourceId};
use super::{Schema, Scopes, Status};
use crate::error::{Error, Result};
use crate::options::Options;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

const NO_NODE: u32 = u32::MAX;

/// Builds a [`Schema`].
pub(super) struct Builder<'o> {
    pub(super) library: Library<'o>,
    pub(super) registry: Registry,
    pub(super) docs: Vec<Arc<JsonDocument>>,
    pub(super) nodes: Vec<Node>,
    /// For each document and JSON value the node that stands there.
    positions: Vec<Vec<u32>>,
    /// Nodes whose keywords are not read yet; the last is next.
    work: Vec<NodeId>,
    /// Active references without a target: the node and the keyword's index.
    pub(super) references: VecDeque<(NodeId, usize)>,
    /// References by names that nothing has yet.
    pub(super) waiting: BTreeMap<Missing, Vec<(NodeId, usize)>>,
    /// Whether one of the references was a `$dynamicRef` or `$recursiveRef`.
    pub(super) has_dynamic_references: bool,
    /// Identifying keywords that name what something else has named: node and value.
    ambiguous: Vec<(NodeId, JsonId)>,
    max_nodes: usize,
    max_bytes: usize,
}

impl<'o> Builder<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        Builder {
            library: Library::new(options),
            registry: Registry::default(),
            docs: vec![],
            nodes: vec![],
            positions: vec![],
            work: vec![],
            references: VecDeque::new(),
            waiting: BTreeMap::new(),
            has_dynamic_references: false,
            ambiguous: vec![],
            // Ids are `u32`, and one value means "none".
            max_nodes: options.limits.schema_nodes.min(NO_NODE as usize - 1),
            max_bytes: options.limits.schema_bytes,
        }
    }

    /// Adds and walks the root document.
    pub(super) fn add_root(&mut self, document: JsonDocument) -> Result<NodeId> {
        let dialect = self.library.default_dialect();
        self.add_document(Arc::new(document), dialect)
    }

    /// Adds and walks a document; `dialect` holds where it declares none.
    pub(super) fn add_document(
        &mut self,
        document: Arc<JsonDocument>,
        dialect: NodeDialect,
    ) -> Result<NodeId> {
        let root = document.root();
        if !is_schema(root) {
            let message =
                format!("a schema is an object or a boolean, not {}", root.kind().phrase());
            return Err(invalid(root, message));
        }
        let doc = DocId::new(self.docs.len());
        let base = uri::resolve("", uri::split_fragment(document.uri()).0);
        let json = root.id();
        self.positions.push(vec![NO_NODE; document.node_count()]);
        self.docs.push(document);
        let resource = self.registry.add(base.clone(), NodeId::new(self.nodes.len()));
        self.registry.name(&base, resource, false);
        self.wake(&Missing::Uri(base));
        let node = self.add_node(Node {
            body: Body::Keywords(vec![]),
            dialect,
            doc,
            json,
            parent: None,
            resource,
            inert: false,
        })?;
        self.work.push(node);
        self.walk()?;
        Ok(node)
    }

    pub(super) fn finish(self, root: NodeId) -> Schema {
        let (docs, nodes, ambiguous) = (self.docs, self.nodes, self.ambiguous);
        Schema { docs, nodes, ambiguous, root, scopes: Scopes::one() }
    }

    fn add_node(&mut self, node: Node) -> Result<NodeId> {
        if self.nodes.len() >= self.max_nodes {
            let error =
                Error::limit_met("schema_nodes", self.max_nodes, "the number of subschemas");
            return Err(error.at(self.docs[node.doc.index()].location(node.json)));
        }
        let id = NodeId::new(self.nodes.len());
        self.positions[node.doc.index()][node.json.index()] = id.index() as u32;
        self.nodes.push(node);
        Ok(id)
    }

    /// The node that stands at a JSON value.
    pub(super) fn node_at(&self, doc: DocId, json: JsonId) -> Option<NodeId> {
        let id = self.positions[doc.index()][json.index()];
        (id != NO_NODE).then(|| NodeId::new(id as usize))
    }

    /// A node at a place that no keyword covers, as a reference finds it; `around` is the nearest
    /// subschema around it. [`Builder::walk`] reads it.
    pub(super) fn add_uncovered(&mut self, around: NodeId, json: JsonId) -> Result<NodeId> {
        let outer = &self.nodes[around.index()];
        let node = Node {
            body: Body::Keywords(vec![]),
            dialect: outer.dialect,
            doc: outer.doc,
            json,
            parent: Some(around),
            resource: outer.resource,
            inert: false,
        };
        let id = self.add_node(node)?;
        self.work.push(id);
        Ok(id)
    }

    /// Makes an inert node count, because a reference leads to it: it is read again.
    /// [`Builder::walk`] does so.
    pub(super) fn activate(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if node.inert {
            node.inert = false;
            self.work.push(id);
        }
    }

    /// Reads all nodes of the worklist and what is below them, in text order.
    pub(super) fn walk(&mut self) -> Result<()> {
        while let Some(id) = self.work.pop() {
            let first_child = self.work.len();
            self.read_node(id)?;
            self.work[first_child..].reverse();
        }
        Ok(())
    }

    fn read_node(&mut self, id: NodeId) -> Result<()> {
        let node = &self.nodes[id.index()];
        let document = self.docs[node.doc.index()].clone();
        let value = document.value(node.json);
        if let Some(boolean) = value.as_bool() {
            self.nodes[id.index()].body = Body::Boolean(boolean);
            return Ok(());
        }
        let table = MemberTable::of(value);
        let place = self.enter(id, &table)?;
        let mut keywords = Vec::with_capacity(table.members.len());
        for &(kw, value) in &table.members {
            let status = table.status(kw, value, &place);
            let counts = status == Status::Active && !place.inert;
            let mut children = Children::None;
            if let Some(kw) = kw {
                if counts {
                    check_value(kw, value, place.dialect.draft())?;
                    if kw.spec().role == Role::Reference {
                        self.references.push_back((id, keywords.len()));
                        self.has_dynamic_references |= kw != Kw::Ref;
                    }
                }
                children = self.children(kw, value, counts, &place)?;
            }
            keywords.push(Keyword { kw, status, doc: place.doc, value: value.id(), children });
        }
        self.nodes[id.index()].body = Body::Keywords(keywords);
        Ok(())
    }

    /// Settles dialect and resource of a node, and makes its names known.
    fn enter(&mut self, id: NodeId, table: &MemberTable<'_>) -> Result<Place> {
        let node = &self.nodes[id.index()];
        let (doc, inert) = (node.doc, node.inert);
        let (mut dialect, mut resource) = (node.dialect, node.resource);
        let is_document_root = node.parent.is_none();
        if let Some(schema) = table.get(Kw::Schema)
            && let Some(name) = schema.as_str()
            && (is_document_root || table.may_start_resource(dialect.draft()))
        {
            match self.library.dialect(schema, name) {
                Ok(named) if is_document_root || table.starts_resource(named.draft()) => {
                    dialect = named;
                }
                Err(error) if !inert => return Err(error),
                _ => {}
            }
        }
        if let Some((value, uri, fragment)) = table.own_id(dialect.draft()) {
            if !uri.is_empty() {
                resource = self.enter_resource(id, resource, value, uri)?;
            }
            // Other fragments are pointers, which name nothing new.
            if let Some(name) = fragment
                && !name.is_empty()
                && !name.starts_with('/')
            {
                self.name_anchor(id, resource, value, name, false);
            }
        }
        for kw in [Kw::Anchor, Kw::DynamicAnchor] {
            if kw.is_in(dialect.draft())
                && let Some(value) = table.get(kw)
                && let Some(name) = value.as_str()
            {
                self.name_anchor(id, resource, value, name, kw == Kw::DynamicAnchor);
            }
        }
        let is_resource_root = self.registry.resources[resource.index()].root == id;
        let node = &mut self.nodes[id.index()];
        (node.dialect, node.resource) = (dialect, resource);
        Ok(Place { node: id, doc, dialect, resource, inert, is_resource_root })
    }

    /// The resource that the node `id` begins by its `$id`, whose part before the fragment is
    /// `own`.
    fn enter_resource(
        &mut self,
        id: NodeId,
        outer: ResourceId,
        value: JsonRef<'_>,
        own: &str,
    ) -> Result<ResourceId> {
        let node = &self.nodes[id.index()];
        let (inert, is_document_root) = (node.inert, node.parent.is_none());
        let outer_resource = &mut self.registry.resources[outer.index()];
        let (uri, resource) = if outer_resource.root != id {
            let uri = uri::resolve(&outer_resource.uri, own);
            (uri.clone(), self.registry.add(uri, id))
        } else if is_document_root {
            outer_resource.uri = uri::resolve(&outer_resource.uri, own);
            (outer_resource.uri.clone(), outer)
        } else {
            // The node was inert and is read again.
            (outer_resource.uri.clone(), outer)
        };
        if self.registry.uri_bytes > self.max_bytes {
            let what = "the length of all base URIs";
            let error = Error::limit_met("schema_bytes", self.max_bytes, what);
            return Err(error.at(value.document().location(value.id())));
        }
        if self.registry.name(&uri, resource, inert) {
            self.ambiguous.push((id, value.id()));
        }
        self.wake(&Missing::Uri(uri));
        Ok(resource)
    }

    fn name_anchor(
        &mut self,
        node: NodeId,
        resource: ResourceId,
        value: JsonRef<'_>,
        name: &str,
        dynamic: bool,
    ) {
        let inert = self.nodes[node.index()].inert;
        let anchor = Anchor { node, dynamic, inert, rival: None };
        if self.registry.name_anchor(resource, name, anchor) {
            self.ambiguous.push((node, value.id()));
        }
        self.wake(&Missing::Anchor(resource, name.into()));
    }

    /// The subschemas that a keyword's value holds. Where the keyword counts, a value of another
    /// shape is an error.
    fn children(
        &mut self,
        kw: Kw,
        value: JsonRef<'_>,
        counts: bool,
        place: &Place,
    ) -> Result<Children> {
        let array_items = kw == Kw::Items && value.kind() == JsonKind::Array;
        match kw.spec().holds {
            Holds::Nothing => return Ok(Children::None),
            Holds::Array => {
                if value.kind() == JsonKind::Array {
                    return self.list(kw, value, counts, place);
                }
            }
            Holds::SchemaOrArray if array_items => {
                if counts && !place.dialect.draft().has_array_items() {
                    let expected = match place.dialect.draft() {
                        Draft::OpenApi30 => "one schema in OpenAPI 3.0",
                        _ => "one schema in this draft (`prefixItems` takes an array)",
                    };
                    return Err(wrong_kind(kw, value, expected));
                }
                return self.list(kw, value, counts, place);
            }
            Holds::Schema | Holds::SchemaOrArray => {
                if let Some(child) = self.child(kw, value, counts, place)? {
                    return Ok(Children::One(child));
                }
            }
            Holds::Map | Holds::Dependencies => {
                if value.kind() == JsonKind::Object {
                    return self.map(kw, value, counts, place);
                }
            }
        }
        if !counts {
            return Ok(Children::None);
        }
        let expected = match kw.spec().holds {
            Holds::Array => "an array of schemas",
            _ => "an object of schemas",
        };
        Err(wrong_kind(kw, value, expected))
    }

    fn list(
        &mut self,
        kw: Kw,
        value: JsonRef<'_>,
        counts: bool,
        place: &Place,
    ) -> Result<Children> {
        let mut list = Vec::with_capacity(value.len());
        for item in value.items() {
            list.extend(self.child(kw, item, counts, place)?);
        }
        Ok(Children::List(list))
    }

    fn map(&mut self, kw: Kw, value: JsonRef<'_>, counts: bool, place: &Place) -> Result<Children> {
        let dependencies = kw.spec().holds == Holds::Dependencies;
        let mut map = Vec::with_capacity(value.len());
        for (name, member) in value.members() {
            if dependencies && member.kind() == JsonKind::Array {
                if counts {
                    names(kw, member)?;
                }
            } else if let Some(child) = self.child(kw, member, counts, place)? {
                map.push((name.into(), child));
            }
        }
        Ok(Children::Map(map))
    }

    /// The node of one subschema, new or known.
    fn child(
        &mut self,
        kw: Kw,
        value: JsonRef<'_>,
        counts: bool,
        place: &Place,
    ) -> Result<Option<NodeId>> {
        if !is_schema(value) {
            let expected = "a schema (an object or a boolean) here";
            return if counts { Err(wrong_kind(kw, value, expected)) } else { Ok(None) };
        }
        if let Some(known) = self.node_at(place.doc, value.id()) {
            if counts {
                self.activate(known);
            }
            return Ok(Some(known));
        }
        let id = self.add_node(Node {
            body: Body::Keywords(vec![]),
            dialect: place.dialect,
            doc: place.doc,
            json: value.id(),
            parent: Some(place.node),
            resource: place.resource,
            inert: !counts,
        })?;
        self.work.push(id);
        Ok(Some(id))
    }

    /// The location of a node.
    pub(super) fn location(&self, id: NodeId) -> String {
        let node = &self.nodes[id.index()];
        self.docs[node.doc.index()].location(node.json)
    }
}

/// Whether a value can stand where a schema must.
pub(super) fn is_schema(value: JsonRef<'_>) -> bool {
    matches!(value.kind(), JsonKind::Object | JsonKind::Bool)
}
