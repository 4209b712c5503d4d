//! References → targets: pointers, anchors, relative and absolute URIs, registered documents.

use super::check::{excerpt, invalid};
use super::json::{JsonId, JsonKind, JsonRef};
use super::parse::{Builder, is_schema};
use super::uri;
use super::{Body, Children, DocId, Kw, NodeId, ResourceId};
use crate::error::{Error, ErrorKind, Result};

impl Builder<'_> {
    /// Finds the target of every active reference, also of those in what the targets bring in.
    ///
    /// # Errors
    ///
    /// `unresolved-reference` at the reference; the errors of reading what it leads to.
    pub(super) fn resolve_references(&mut self) -> Result<()> {
        while let Some((node, index)) = self.references.pop_front() {
            let target = self.target(node, index)?;
            // Read what the reference made a subschema before the next one looks for anchors.
            self.walk()?;
            if let Body::Keywords(keywords) = &mut self.nodes[node.index()].body
                && let Some(keyword) = keywords.get_mut(index)
                && let Some(target) = target
            {
                keyword.children = Children::Target(target);
            }
        }
        Ok(())
    }

    fn target(&mut self, node: NodeId, index: usize) -> Result<Option<NodeId>> {
        let owner = &self.nodes[node.index()];
        let Some(keyword) = owner.keywords().get(index) else { return Ok(None) };
        let (resource, kw, id) = (owner.resource, keyword.kw, keyword.value);
        let document = self.docs[keyword.doc.index()].clone();
        let value = document.value(id);
        let Some(reference) = value.as_str() else { return Ok(None) };
        let (uri, fragment) = uri::split_fragment(reference);
        let resource = self.resource_named(node, resource, value, uri)?;
        let fragment = match fragment {
            None | Some("") => {
                let root = self.registry.resources[resource.index()].root;
                self.activate(root);
                return Ok(Some(root));
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
            return self.pointer_target(resource, value, &fragment).map(Some);
        }
        let resource = &self.registry.resources[resource.index()];
        match resource.anchors.get(fragment.as_str()) {
            Some(anchor) => {
                let node = anchor.node;
                if let Some(rival) = anchor.rival {
                    return Err(self.ambiguous(value, node, rival));
                }
                self.activate(node);
                Ok(Some(node))
            }
            None => {
                let message =
                    format!("there is no such anchor in {}", self.location(resource.root));
                Err(unresolved(value, message))
            }
        }
    }

    /// The resource that a reference names, its document read if need be.
    fn resource_named(
        &mut self,
        node: NodeId,
        current: ResourceId,
        value: JsonRef<'_>,
        uri: &str,
    ) -> Result<ResourceId> {
        if uri.is_empty() {
            return Ok(current);
        }
        let uri = uri::resolve(&self.registry.resources[current.index()].uri, uri);
        if let Some(known) = self.registry.find(&uri) {
            let root = |id: ResourceId| self.registry.resources[id.index()].root;
            if let Some(rival) = known.rival {
                return Err(self.ambiguous(value, root(known.resource), root(rival)));
            }
            return Ok(known.resource);
        }
        let Some(index) = self.library.find(&uri) else {
            let message =
                format!("nothing is known as {:?}; {}", excerpt(&uri), self.library.listed());
            return Err(unresolved(value, message));
        };
        let document = self.library.read(index)?;
        let inherited = self.nodes[node.index()].dialect;
        let root = self.add_document(document, inherited)?;
        let resource = self.nodes[root.index()].resource;
        // It was found by this URI, whatever it calls itself.
        self.registry.name(&uri, resource, false);
        Ok(resource)
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
