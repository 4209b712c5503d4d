//! References → targets: pointers, anchors, relative and absolute URIs, registered documents.

use super::check::{excerpt, invalid};
use super::json::{JsonId, JsonKind, JsonRef};
use super::parse::{Builder, is_schema};
use super::uri;
use super::{Body, Children, DocId, Kw, NodeId, ResourceId};
use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// A name that nothing has yet, as far as the documents have been read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Missing {
    Uri(String),
    Anchor(ResourceId, Box<str>),
}

/// Where a reference leads.
enum Target {
    Node(NodeId),
    /// Nowhere yet: what has the name may stand in a place that only another reference makes a
    /// subschema.
    Missing(Missing),
    /// It is no reference.
    None,
}

impl Builder<'_> {
    /// Finds the target of every active reference, also of those in what the targets bring in. The
    /// order does not matter: a reference by a name that is missing waits for it.
    ///
    /// # Errors
    ///
    /// `unresolved-reference` at the reference; the errors of reading what it leads to.
    pub(super) fn resolve_references(&mut self) -> Result<()> {
        while let Some((node, index)) = self.references.pop_front() {
            let target = self.target(node, index)?;
            // Read what the reference made a subschema before the next one looks for names.
            self.walk()?;
            match target {
                Target::Node(target) => {
                    if let Body::Keywords(keywords) = &mut self.nodes[node.index()].body
                        && let Some(keyword) = keywords.get_mut(index)
                    {
                        keyword.children = Children::Target(target);
                    }
                }
                Target::Missing(missing) => {
                    self.waiting.entry(missing).or_default().push((node, index));
                }
                Target::None => {}
            }
        }
        match self.waiting.iter().min_by_key(|(_, references)| *references) {
            Some((missing, references)) => Err(self.dangling(references[0], missing)),
            None => Ok(()),
        }
    }

    /// Looks again at the references that wait for a name.
    pub(super) fn wake(&mut self, name: &Missing) {
        if let Some(woken) = self.waiting.remove(name) {
            self.references.extend(woken);
        }
    }

    fn target(&mut self, node: NodeId, index: usize) -> Result<Target> {
        let owner = &self.nodes[node.index()];
        let Some(keyword) = owner.keywords().get(index) else { return Ok(Target::None) };
        let (resource, kw, id) = (owner.resource, keyword.kw, keyword.value);
        let document = self.docs[keyword.doc.index()].clone();
        let value = document.value(id);
        let Some(reference) = value.as_str() else { return Ok(Target::None) };
        let (uri, fragment) = uri::split_fragment(reference);
        let resource = match self.resource_named(node, resource, value, uri)? {
            Ok(resource) => resource,
            Err(missing) => return Ok(Target::Missing(missing)),
        };
        let fragment = match fragment {
            None | Some("") => {
                let root = self.registry.resources[resource.index()].root;
                self.activate(root);
                return Ok(Target::Node(root));
            }
            Some(_) if kw == Some(Kw::RecursiveRef) => {
                let message = "`$recursiveRef` takes \"#\" alone";
                return Err(unresolved(value, message));
            }
            Some(fragment) => fragment,
        };
        let Some(fragment) = uri::percent_decode(fragment) else {
            return Err(unresolved(value, "its fragment is no UTF-8 when decoded"));
        };
        if fragment.starts_with('/') {
            return self.pointer_target(resource, value, &fragment).map(Target::Node);
        }
        match self.registry.resources[resource.index()].anchors.get(fragment.as_str()) {
            Some(anchor) => {
                let node = anchor.node;
                if let Some(rival) = anchor.rival {
                    return Err(self.ambiguous(value, node, rival));
                }
                self.activate(node);
                Ok(Target::Node(node))
            }
            None => Ok(Target::Missing(Missing::Anchor(resource, fragment.into()))),
        }
    }

    /// The resource that a reference names, its document read if need be.
    fn resource_named(
        &mut self,
        node: NodeId,
        current: ResourceId,
        value: JsonRef<'_>,
        uri: &str,
    ) -> Result<std::result::Result<ResourceId, Missing>> {
        if uri.is_empty() {
            return Ok(Ok(current));
        }
        let uri = uri::resolve(&self.registry.resources[current.index()].uri, uri);
        if let Some(known) = self.registry.find(&uri) {
            let root = |id: ResourceId| self.registry.resources[id.index()].root;
            if let Some(rival) = known.rival {
                return Err(self.ambiguous(value, root(known.resource), root(rival)));
            }
            return Ok(Ok(known.resource));
        }
        let Some(document) = self.library.document(&uri)? else {
            return Ok(Err(Missing::Uri(uri)));
        };
        let known = self.docs.iter().position(|known| Arc::ptr_eq(known, &document));
        let root = match known.and_then(|doc| self.node_at(DocId::new(doc), document.root().id())) {
            // It was referred to by another of its URIs.
            Some(root) => root,
            None => self.add_document(document, self.nodes[node.index()].dialect)?,
        };
        let resource = self.nodes[root.index()].resource;
        // It was found by this URI, whatever it calls itself.
        self.registry.name(&uri, resource, false);
        self.wake(&Missing::Uri(uri));
        Ok(Ok(resource))
    }

    /// The error of a reference by a name that nothing has.
    fn dangling(&self, (node, index): (NodeId, usize), missing: &Missing) -> Error {
        let message = match missing {
            Missing::Uri(uri) => {
                format!("nothing is known as {:?}; {}", excerpt(uri), self.library.listed())
            }
            Missing::Anchor(resource, _) => {
                let root = self.registry.resources[resource.index()].root;
                format!("there is no such anchor in {}", self.location(root))
            }
        };
        match self.nodes[node.index()].keywords().get(index) {
            Some(keyword) => {
                unresolved(self.docs[keyword.doc.index()].value(keyword.value), message)
            }
            None => Error::new(ErrorKind::UnresolvedReference, message).at(self.location(node)),
        }
    }

    fn ambiguous(&self, value: JsonRef<'_>, one: NodeId, other: NodeId) -> Error {
        let (one, other) = (self.location(one), self.location(other));
        let message =
            format!("the reference {} names both {one} and {other}", excerpt(value.text()));
        invalid(value, message)
    }

    fn pointer_target(
        &mut self,
        resource: ResourceId,
        value: JsonRef<'_>,
        pointer: &str,
    ) -> Result<NodeId> {
        let root = &self.nodes[self.registry.resources[resource.index()].root.index()];
        let doc = root.doc;
        let document = self.docs[doc.index()].clone();
        let mut at = document.value(root.json);
        for token in pointer.split('/').skip(1) {
            let next = match at.kind() {
                JsonKind::Object if token.contains('~') => {
                    at.get(&token.replace("~1", "/").replace("~0", "~"))
                }
                JsonKind::Object => at.get(token),
                JsonKind::Array => array_index(token).and_then(|index| at.item(index)),
                _ => None,
            };
            let Some(next) = next else {
                let message = format!(
                    "{} has no member or item {:?}",
                    document.location(at.id()),
                    excerpt(token)
                );
                return Err(unresolved(value, message));
            };
            at = next;
        }
        if !is_schema(at) {
            let message =
                format!("{} is {}, no schema", document.location(at.id()), at.kind().phrase());
            return Err(unresolved(value, message));
        }
        self.node_or_uncovered(doc, at.id())
    }

    /// The node at a JSON value: known, activated, or new below the nearest subschema around it.
    fn node_or_uncovered(&mut self, doc: DocId, json: JsonId) -> Result<NodeId> {
        if let Some(known) = self.node_at(doc, json) {
            self.activate(known);
            return Ok(known);
        }
        let document = self.docs[doc.index()].clone();
        let mut around = json;
        while let Some(outer) = document.parent(around) {
            if let Some(node) = self.node_at(doc, outer) {
                return self.add_uncovered(node, json);
            }
            around = outer;
        }
        // The root of a document is always a node, so the loop has found one.
        let message = "the place of a reference has no schema around it";
        Err(Error::new(ErrorKind::UnresolvedReference, message).at(document.location(json)))
    }
}

/// An array index as RFC 6901 writes it.
fn array_index(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with('0') && !token.is_empty());
    let digits = token.bytes().all(|b| b.is_ascii_digit());
    (canonical && digits).then(|| token.parse().ok()).flatten()
}

fn unresolved(value: JsonRef<'_>, reason: impl AsRef<str>) -> Error {
    let message =
        format!("the reference {} is dangling: {}", excerpt(value.text()), reason.as_ref());
    Error::new(ErrorKind::UnresolvedReference, message)
        .at(value.document().location(value.id()))
        .at_offset(value.span().start)
}
