//! Schema resources and their anchors, and the registered documents.

use super::NodeId;
use super::check::excerpt;
use super::dialect::{
    Draft, NodeDialect, known_draft, known_uris, known_vocabulary, same_document_key,
};
use super::json::{JsonDocument, JsonRef};
use super::meta::meta_schema;
use super::uri;
use crate::base::define_id;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use std::collections::BTreeMap;
use std::sync::Arc;

define_id! {
    /// One schema resource: a document, or a subschema with its own `$id`.
    ResourceId
}

/// A plain name for a subschema inside a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub node: NodeId,
    /// Whether `$dynamicAnchor` made it.
    pub dynamic: bool,
    /// Whether its subschema is inert.
    pub inert: bool,
    /// Another subschema that has the name too; then a reference by it is ambiguous.
    pub rival: Option<NodeId>,
}

/// What a URI names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub resource: ResourceId,
    inert: bool,
    /// Another resource that has the URI too; then a reference by it is ambiguous.
    pub rival: Option<ResourceId>,
}

/// One schema resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The base URI, without a fragment; it is relative or empty where no `$id` makes it absolute.
    pub uri: String,
    pub root: NodeId,
    pub anchors: BTreeMap<Box<str>, Anchor>,
}

/// All resources, by URI. What stands in an inert subschema gives way to what does not.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pub resources: Vec<Resource>,
    by_uri: BTreeMap<String, Named>,
    /// The length of all base URIs together. Nested relative `$id`s make each longer than the one
    /// around it, so it can grow with the square of the text.
    pub uri_bytes: usize,
}

impl Registry {
    /// Adds a resource that is not yet found by its URI.
    pub(super) fn add(&mut self, uri: String, root: NodeId) -> ResourceId {
        let id = ResourceId::new(self.resources.len());
        self.uri_bytes = self.uri_bytes.saturating_add(uri.len());
        self.resources.push(Resource { uri, root, anchors: BTreeMap::new() });
        id
    }

    /// Makes a resource known by `uri`. Gives whether another one, as little inert, has it already.
    pub(super) fn name(&mut self, uri: &str, resource: ResourceId, inert: bool) -> bool {
        let new = Named { resource, inert, rival: None };
        match self.by_uri.get_mut(uri) {
            None => {
                self.by_uri.insert(uri.to_owned(), new);
            }
            Some(known) if known.resource == resource => known.inert &= inert,
            Some(known) if known.inert && !inert => *known = new,
            Some(known) if inert && !known.inert => {}
            Some(known) => {
                known.rival.get_or_insert(resource);
                return !inert;
            }
        }
        false
    }

    /// Names a subschema in a resource. Gives whether another one, as little inert, has the name
    /// already.
    pub(super) fn name_anchor(&mut self, resource: ResourceId, name: &str, new: Anchor) -> bool {
        let anchors = &mut self.resources[resource.index()].anchors;
        match anchors.get_mut(name) {
            None => {
                anchors.insert(name.into(), new);
            }
            Some(known) if known.node == new.node => {
                known.inert &= new.inert;
                known.dynamic |= new.dynamic;
            }
            Some(known) if known.inert && !new.inert => *known = new,
            Some(known) if new.inert && !known.inert => {}
            Some(known) => {
                known.rival.get_or_insert(new.node);
                return !new.inert;
            }
        }
        false
    }

    pub(super) fn find(&self, uri: &str) -> Option<Named> {
        self.by_uri.get(uri).copied()
    }
}

/// The documents that the options register, and the official meta-schemas where none of those has
/// their URI; read when they are first needed.
pub(super) struct Library<'o> {
    options: &'o Options,
    /// Indices by the URI without a final `#`. Of two with one URI the later counts.
    by_uri: BTreeMap<String, usize>,
    /// Indices by `http`/`https`-blind URI, for `$schema`.
    by_schema_key: BTreeMap<String, usize>,
    /// Indices by the `$id` or `id` of the documents' roots; made when a URI is not found.
    by_own_id: Option<BTreeMap<String, usize>>,
    read: Vec<Option<Arc<JsonDocument>>>,
    meta_schemas: BTreeMap<&'static str, Arc<JsonDocument>>,
    dialects: BTreeMap<String, NodeDialect>,
}

/// How many URIs an error lists.
const LISTED_URIS: usize = 20;
/// How many meta-schemas of meta-schemas are followed.
const META_DEPTH: usize = 16;

impl<'o> Library<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        let mut by_uri = BTreeMap::new();
        let mut by_schema_key = BTreeMap::new();
        for (index, (name, _)) in options.documents.iter().enumerate() {
            let (uri, _) = uri::split_fragment(name);
            let uri = uri::resolve("", uri);
            by_schema_key.insert(same_document_key(&uri).to_owned(), index);
            by_uri.insert(uri, index);
        }
        let read = vec![None; options.documents.len()];
        let (meta_schemas, dialects) = (BTreeMap::new(), BTreeMap::new());
        Library { options, by_uri, by_schema_key, by_own_id: None, read, meta_schemas, dialects }
    }

    /// The document that is registered as `uri` or whose root says that it is `uri`; else the
    /// meta-schema of that name.
    ///
    /// # Errors
    ///
    /// Those of reading it.
    pub(super) fn document(&mut self, uri: &str) -> Result<Option<Arc<JsonDocument>>> {
        if let Some(index) = self.find(uri) {
            return self.read(index).map(Some);
        }
        let Some((uri, text)) = meta_schema(uri) else { return Ok(None) };
        if let Some(known) = self.meta_schemas.get(uri) {
            return Ok(Some(known.clone()));
        }
        let document = Arc::new(JsonDocument::read(uri, text.into(), &self.options.limits)?);
        self.meta_schemas.insert(uri, document.clone());
        Ok(Some(document))
    }

    fn find(&mut self, uri: &str) -> Option<usize> {
        if let Some(&index) = self.by_uri.get(uri) {
            return Some(index);
        }
        if self.by_own_id.is_none() {
            self.by_own_id = Some(self.own_ids());
        }
        self.by_own_id.as_ref()?.get(uri).copied()
    }

    fn own_ids(&mut self) -> BTreeMap<String, usize> {
        let mut ids = BTreeMap::new();
        for index in 0..self.read.len() {
            // A document that is broken is nobody's target; it is reported when it is referred to.
            let Ok(document) = self.read(index) else { continue };
            let base = uri::split_fragment(&self.options.documents[index].0).0;
            let root = document.root();
            let own = root.get("$id").or_else(|| root.get("id")).and_then(JsonRef::as_str);
            if let Some(own) = own {
                let own = uri::split_fragment(own).0;
                ids.entry(uri::resolve(base, own)).or_insert(index);
            }
        }
        ids
    }

    /// The JSON text of a registered document.
    fn read(&mut self, index: usize) -> Result<Arc<JsonDocument>> {
        if let Some(document) = &self.read[index] {
            return Ok(document.clone());
        }
        let (uri, text) = &self.options.documents[index];
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let document = JsonDocument::read(uri, text.clone(), &self.options.limits)?;
        Ok(self.read[index].insert(Arc::new(document)).clone())
    }

    /// The registered URIs, for messages.
    pub(super) fn listed(&self) -> String {
        let count = self.by_uri.len();
        if count == 0 {
            return "no document is registered".to_owned();
        }
        let names: Vec<_> = self.by_uri.keys().take(LISTED_URIS).map(String::as_str).collect();
        let more = if count > LISTED_URIS { ", …" } else { "" };
        format!("registered are: {}{more}", names.join(", "))
    }

    /// The dialect where nothing says otherwise.
    pub(super) fn default_dialect(&self) -> NodeDialect {
        NodeDialect::plain(self.options.dialect.map_or(Draft::Undeclared, Draft::of))
    }

    /// The dialect that a `$schema` names.
    ///
    /// # Errors
    ///
    /// `unknown-dialect`, at the value; the errors of reading a registered meta-schema.
    pub(super) fn dialect(&mut self, schema: JsonRef<'_>, name: &str) -> Result<NodeDialect> {
        if let Some(draft) = known_draft(name) {
            return Ok(NodeDialect::plain(draft));
        }
        let key = same_document_key(name);
        if let Some(&dialect) = self.dialects.get(key) {
            return Ok(dialect);
        }
        let Some(&index) = self.by_schema_key.get(key) else {
            let message = format!(
                "`$schema` names no known dialect: {}; known are: {}; {}",
                excerpt(schema.text()),
                known_uris(),
                self.listed()
            );
            return Err(Error::new(ErrorKind::UnknownDialect, message)
                .at(schema.document().location(schema.id()))
                .at_offset(schema.span().start));
        };
        let dialect = self.registered_dialect(index)?;
        self.dialects.insert(key.to_owned(), dialect);
        Ok(dialect)
    }

    fn registered_dialect(&mut self, index: usize) -> Result<NodeDialect> {
        let meta = self.read(index)?;
        let listed = meta.root().get("$vocabulary");
        let mut vocabularies = vec![];
        for (name, required) in listed.iter().flat_map(|v| v.members()) {
            let required = required.as_bool() == Some(true);
            match known_vocabulary(name) {
                Some(known) => vocabularies.push((known, required)),
                None if required => {
                    let message = format!(
                        "the meta-schema requires the vocabulary {name:?}, which is not known"
                    );
                    let location = listed.map(|v| meta.location(v.id())).unwrap_or_default();
                    return Err(Error::new(ErrorKind::UnknownDialect, message).at(location));
                }
                None => {}
            }
        }
        let draft = match vocabularies.first() {
            Some((known, _)) => known.draft,
            None => self.draft_of_meta_schema(meta.clone())?,
        };
        if listed.is_none() || draft <= Draft::Draft7 {
            return Ok(NodeDialect::plain(draft));
        }
        let mut dialect = NodeDialect::core_only(draft);
        for (known, required) in vocabularies {
            dialect.add(known, required);
        }
        Ok(dialect)
    }

    /// The built-in draft that a chain of `$schema`s ends in.
    fn draft_of_meta_schema(&mut self, mut meta: Arc<JsonDocument>) -> Result<Draft> {
        for _ in 0..META_DEPTH {
            let Some(schema) = meta.root().get("$schema") else { break };
            let Some(name) = schema.as_str() else { break };
            if let Some(draft) = known_draft(name) {
                return Ok(draft);
            }
            let Some(&index) = self.by_schema_key.get(same_document_key(name)) else { break };
            meta = self.read(index)?;
        }
        Ok(self.default_dialect().draft())
    }
}
