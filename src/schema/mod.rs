//! JSON text → [`Schema`]: the tree of subschemas with dialects, statuses and resolved references.
//!
//! **In:** the text of one schema and [`Options`] (dialect, limits, registered documents).
//! **Out:** one [`Node`] for each object or boolean at a schema position, each with all its members
//! as [`Keyword`]s in text order, and each keyword with its status, its value and its subschemas.
//!
//! Invariants:
//! * Every member of an object at a schema position is exactly one keyword: what asserts nothing
//!   has a status that says why. A keyword that holds subschemas in *any* draft is walked in every
//!   draft, so nothing below it is lost.
//! * A JSON value is at most one node. What a reference points at is a node, made on demand where
//!   no keyword covers the place.
//! * Every active reference of a node that is not inert has a target, and no chain of in-place
//!   keywords leads from a node to itself. `$dynamicRef` and `$recursiveRef` have their lexical
//!   target there; where they lead depends on the dynamic scope, and [`Scopes`] says it.
//! * The values of active keywords of nodes that are not inert have the shape that their dialect
//!   demands; readers need no second check, and treat a mismatch as absent.
//! * Nothing recurses on the input's depth, and nothing is quadratic in its size.
//!
//! The stages are files: `json`, `json_read`, `json_write` (text → document), `uri`, `dialect`,
//! `keyword` (the table of all keywords), `check` (shapes of values), `members` and `parse`
//! (document → nodes), `registry` (resources, anchors, registered documents), `meta` (the official
//! meta-schemas), `resolve` (references), `scope` (dynamic scope), `cycle`, `findings`.
//!
//! Rejected: `serde_json` as the reader (it keeps neither spans nor duplicate keys nor number texts,
//! and its feature that does is not additive); location strings in the nodes (they are long, and
//! made only for messages and reports); cutting a document into resources before walking it.

mod check;
mod cycle;
mod dialect;
mod findings;
pub(crate) mod json;
mod json_read;
mod json_write;
pub(crate) mod keyword;
mod locations;
mod members;
mod meta;
mod parse;
mod registry;
mod resolve;
mod scope;
mod uri;

#[cfg(test)]
mod tests;

pub(crate) use dialect::{Draft, NodeDialect};
pub(crate) use findings::SchemaFinding;
pub(crate) use json::{JsonDocument, JsonId, JsonKind, JsonRef};
pub(crate) use keyword::{Holds, Kw, Role};
#[cfg(feature = "check")]
pub(crate) use meta::meta_schemas;
pub(crate) use registry::ResourceId;
pub(crate) use scope::{Place, Scopes};

use crate::base::define_id;
use crate::error::Result;
use crate::options::Options;
use std::sync::Arc;

define_id! {
    /// One subschema of a [`Schema`].
    NodeId
}

define_id! {
    /// One document of a [`Schema`]; the root document is the first.
    DocId
}

/// Why a keyword does or does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    /// It has the meaning that its dialect gives it.
    Active,
    /// A keyword of another draft.
    NotInDialect,
    /// A sibling of `$ref`, up to draft 7.
    BesideRef,
    /// A sibling that gives it a meaning is missing (`then` without `if`, …).
    NoEffect,
    /// No keyword of any draft; of OpenAPI, perhaps.
    Unknown,
    /// The meta-schema leaves the keyword's vocabulary out.
    VocabularyOff,
}

/// The subschemas of one keyword. Where a value does not have the shape that can hold them (only
/// possible where the keyword is not active or its node is inert), they are missing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    /// The keyword holds none.
    None,
    One(NodeId),
    List(Vec<NodeId>),
    /// By name, in text order. The members of `dependencies` that are arrays of names are not here.
    Map(Vec<(Box<str>, NodeId)>),
    /// What a reference points at; for `$dynamicRef` and `$recursiveRef` without dynamic scope, of
    /// which [`Scopes::target`] knows.
    Target(NodeId),
}

impl Children {
    /// All of them, in text order; for a reference its target.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        let count = match self {
            Children::None => 0,
            Children::One(_) | Children::Target(_) => 1,
            Children::List(list) => list.len(),
            Children::Map(map) => map.len(),
        };
        (0..count).filter_map(|index| self.get(index))
    }

    /// The child at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<NodeId> {
        match self {
            Children::None => None,
            Children::One(id) | Children::Target(id) => (index == 0).then_some(*id),
            Children::List(list) => list.get(index).copied(),
            Children::Map(map) => map.get(index).map(|(_, id)| *id),
        }
    }
}

/// One member of an object at a schema position.
#[derive(Clone, Debug)]
pub(crate) struct Keyword {
    /// `None`: no keyword of any draft, nor of OpenAPI.
    pub kw: Option<Kw>,
    pub status: Status,
    /// The document that holds the value.
    pub doc: DocId,
    /// The value's id in that document.
    pub value: JsonId,
    pub children: Children,
}

/// What stands at a schema position.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Boolean(bool),
    /// All members, in text order.
    Keywords(Vec<Keyword>),
}

/// One subschema.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub body: Body,
    pub dialect: NodeDialect,
    pub doc: DocId,
    /// Its value's id in the document.
    pub json: JsonId,
    /// The subschema in whose text it stands; `None` for the root of a document.
    pub parent: Option<NodeId>,
    pub resource: ResourceId,
    /// Whether it stands only below keywords that are not active, and no reference leads to it or
    /// to a subschema above it: it asserts nothing, its values are not checked, its references are
    /// not resolved.
    pub inert: bool,
}

impl Node {
    /// The members in text order; none for a boolean.
    pub(crate) fn keywords(&self) -> &[Keyword] {
        match &self.body {
            Body::Boolean(_) => &[],
            Body::Keywords(keywords) => keywords,
        }
    }

    /// The keyword `kw`, where it is active.
    pub(crate) fn active(&self, kw: Kw) -> Option<&Keyword> {
        self.keywords().iter().find(|k| k.kw == Some(kw) && k.status == Status::Active)
    }
}

/// A schema and all that its references reach, read, checked and resolved. Immutable.
#[derive(Debug)]
pub(crate) struct Schema {
    docs: Vec<Arc<JsonDocument>>,
    nodes: Vec<Node>,
    /// Identifying keywords whose name something else has: the node and the keyword's value.
    ambiguous: Vec<(NodeId, JsonId)>,
    root: NodeId,
    scopes: Scopes,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// `json-syntax`, `invalid-schema`, `unknown-dialect`, `unresolved-reference`,
    /// `reference-cycle`, and `limit` for `schema_bytes`, `schema_depth`, `schema_nodes`,
    /// `location_bytes`; all with a location.
    pub(crate) fn parse(text: &str, options: &Options) -> Result<Schema> {
        Self::of_document(JsonDocument::read("", text.into(), &options.limits)?, options)
    }

    /// Reads a schema from a value of `serde_json`; [`JsonDocument::from_value`] says what is lost.
    ///
    /// # Errors
    ///
    /// Those of [`Schema::parse`].
    pub(crate) fn parse_value(value: &serde_json::Value, options: &Options) -> Result<Schema> {
        Self::of_document(JsonDocument::from_value("", value, &options.limits)?, options)
    }

    fn of_document(document: JsonDocument, options: &Options) -> Result<Schema> {
        let mut builder = parse::Builder::new(options);
        let root = builder.add_root(document)?;
        builder.resolve_references()?;
        let has_dynamic_references = builder.has_dynamic_references;
        let mut schema = builder.finish(root);
        cycle::refuse_cycles(&schema)?;
        if has_dynamic_references {
            let scopes = Scopes::explore(&schema, options.limits.schema_nodes)?;
            cycle::refuse_dynamic_cycles(&schema, &scopes)?;
            schema.scopes = scopes;
        }
        locations::refuse_long(&schema, options.limits.location_bytes)?;
        Ok(schema)
    }

    /// The root subschema.
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// Its dynamic scopes: where dynamic references lead.
    pub(crate) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// A subschema.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The number of subschemas in all documents.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All subschemas: a subschema comes after the one in whose text it stands, except below
    /// places that only references make subschemas.
    pub(crate) fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    /// A document; [`DocId`] 0 is the root document, the others were referred to.
    pub(crate) fn document(&self, id: DocId) -> &JsonDocument {
        &self.docs[id.index()]
    }

    /// The value of a keyword.
    pub(crate) fn value(&self, keyword: &Keyword) -> JsonRef<'_> {
        self.document(keyword.doc).value(keyword.value)
    }

    /// The name of a keyword, as the text has it.
    pub(crate) fn keyword_name(&self, keyword: &Keyword) -> &str {
        match keyword.kw {
            Some(kw) => kw.name(),
            None => self.document(keyword.doc).key_of(keyword.value).unwrap_or_default(),
        }
    }

    /// `<document's URI, empty for the root>#<RFC 6901 pointer from the document's root>`, not
    /// percent-encoded. Made when asked for.
    pub(crate) fn location(&self, id: NodeId) -> String {
        let node = self.node(id);
        self.document(node.doc).location(node.json)
    }

    /// The location of the keyword at `index` of a subschema; of the subschema itself where it has
    /// no such keyword.
    pub(crate) fn keyword_location(&self, id: NodeId, index: usize) -> String {
        match self.node(id).keywords().get(index) {
            Some(keyword) => self.document(keyword.doc).location(keyword.value),
            None => self.location(id),
        }
    }

    /// What a reader of the schema should know, in the order of the subschemas: keywords of other
    /// drafts, unknown keywords, siblings of `$ref` without effect, boolean subschemas in draft 4,
    /// identifiers that stand twice.
    pub(crate) fn findings(&self) -> Vec<SchemaFinding> {
        findings::findings(self)
    }
}
