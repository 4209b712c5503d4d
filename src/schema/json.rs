//! JSON texts as flat documents: values in text order, with byte spans and exact number texts.
//!
//! The nodes of a document stand in preorder in one vector; in an object each key stands right
//! before its value. A container holds the index after its last descendant, so children are
//! walked without links, and neither walking nor dropping recurses.

use super::{json_read, json_write};
use crate::base::define_id;
use crate::error::Result;
use crate::options::Limits;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

define_id! {
    /// One value of a [`JsonDocument`].
    JsonId
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    const ALL: [JsonKind; 6] = [
        JsonKind::Null,
        JsonKind::Bool,
        JsonKind::Number,
        JsonKind::String,
        JsonKind::Array,
        JsonKind::Object,
    ];

    /// The type with its article, for messages.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Bool => "a boolean",
            JsonKind::Number => "a number",
            JsonKind::String => "a string",
            JsonKind::Array => "an array",
            JsonKind::Object => "an object",
        }
    }
}

/// One value, or one key of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonNode {
    pub start: u32,
    pub end: u32,
    /// Containers: the index after the last descendant. Strings with escapes: the index of their
    /// decoded text; [`RAW`] for strings without.
    pub link: u32,
    /// The kind in the low three bits, above it the number of items or members.
    tag: u32,
    /// The container; [`RAW`] for the root.
    pub parent: u32,
    /// The position in the container.
    pub ordinal: u32,
}

const _: () = assert!(size_of::<JsonNode>() == 24);

/// "None" where a node holds an index.
pub(super) const RAW: u32 = u32::MAX;

/// Objects with more members than this get a sorted index of their keys.
pub(super) const SMALL_OBJECT: u32 = 12;

impl JsonNode {
    pub(super) fn new(kind: JsonKind, start: u32, parent: u32, ordinal: u32) -> Self {
        JsonNode { start, end: start, link: RAW, tag: kind as u32, parent, ordinal }
    }

    pub(super) fn kind(&self) -> JsonKind {
        JsonKind::ALL[(self.tag & 7) as usize]
    }

    pub(super) fn len(&self) -> u32 {
        self.tag >> 3
    }

    /// Counts one more child. Texts are shorter than 2^29 bytes, so the count fits.
    pub(super) fn count_child(&mut self) {
        self.tag += 8;
    }
}

/// One JSON text, read and kept whole.
#[derive(Debug)]
pub(crate) struct JsonDocument {
    pub(super) uri: String,
    pub(super) text: Arc<str>,
    pub(super) nodes: Vec<JsonNode>,
    /// The texts of strings with escapes, one after the other, and where each one ends.
    pub(super) decoded: String,
    pub(super) decoded_ends: Vec<usize>,
    /// Keys of large objects, sorted by name; `large` says where an object's keys begin.
    pub(super) sorted_keys: Vec<u32>,
    pub(super) large: FxHashMap<u32, usize>,
}

impl JsonDocument {
    /// Reads one JSON text (RFC 8259); `uri` names it in locations, the root document's is empty.
    ///
    /// # Errors
    ///
    /// `json-syntax` for anything beyond RFC 8259, a byte order mark, a key twice in one object, a
    /// lone surrogate; `limit` where the text passes `schema_bytes` or `schema_depth`.
    pub(crate) fn read(uri: &str, text: Arc<str>, limits: &Limits) -> Result<Self> {
        json_read::read(uri, text, limits)
    }

    /// Reads a value that `serde_json` holds, by way of its text, which [`JsonDocument::text`]
    /// gives. Members are in text order only if `serde_json` keeps it (its feature
    /// `preserve_order`), numbers are as it prints them, and of a key that stood twice in the
    /// original text it has kept the last.
    ///
    /// # Errors
    ///
    /// `limit`, as for [`JsonDocument::read`].
    pub(crate) fn from_value(
        uri: &str,
        value: &serde_json::Value,
        limits: &Limits,
    ) -> Result<Self> {
        let text = json_write::text_of_value(value, limits).map_err(|e| e.at(format!("{uri}#")))?;
        Self::read(uri, text.into(), limits)
    }

    /// The name of the document in locations.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// The whole text.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The document's value.
    pub(crate) fn root(&self) -> JsonRef<'_> {
        self.value(JsonId::new(0))
    }

    /// The value with the id `id`.
    pub(crate) fn value(&self, id: JsonId) -> JsonRef<'_> {
        JsonRef { doc: self, id }
    }

    /// The number of nodes: values and keys.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The container of a value; `None` for the root.
    pub(crate) fn parent(&self, id: JsonId) -> Option<JsonId> {
        let parent = self.nodes[id.index()].parent;
        (parent != RAW).then(|| JsonId::new(parent as usize))
    }

    /// The name under which a value stands in an object; `None` in arrays and for the root.
    pub(crate) fn key_of(&self, id: JsonId) -> Option<&str> {
        let parent = self.parent(id)?;
        let in_object = self.nodes[parent.index()].kind() == JsonKind::Object;
        in_object.then(|| self.string(id.index() - 1))
    }

    /// The RFC 6901 pointer of a value from the root, not percent-encoded.
    pub(crate) fn pointer(&self, id: JsonId) -> String {
        let mut path = vec![];
        let mut at = id;
        while let Some(parent) = self.parent(at) {
            path.push(at);
            at = parent;
        }
        let mut pointer = String::new();
        for id in path.into_iter().rev() {
            match self.key_of(id) {
                Some(key) => push_pointer_token(&mut pointer, key),
                None => push_index(&mut pointer, self.nodes[id.index()].ordinal),
            }
        }
        pointer
    }

    /// `<uri>#<pointer>` of a value.
    pub(crate) fn location(&self, id: JsonId) -> String {
        format!("{}#{}", self.uri, self.pointer(id))
    }

    /// How much longer the pointer of a value is than that of its container.
    pub(super) fn token_length(&self, id: JsonId) -> usize {
        let token = match self.key_of(id) {
            Some(key) => key.len() + key.bytes().filter(|byte| matches!(byte, b'~' | b'/')).count(),
            None => digits(self.nodes[id.index()].ordinal),
        };
        1 + token
    }

    /// The text of a string or key node, decoded.
    pub(super) fn string(&self, index: usize) -> &str {
        let node = &self.nodes[index];
        if node.link == RAW {
            return &self.text[node.start as usize + 1..node.end as usize - 1];
        }
        let link = node.link as usize;
        let start = link.checked_sub(1).map_or(0, |before| self.decoded_ends[before]);
        &self.decoded[start..self.decoded_ends[link]]
    }

    /// The index after a value and its descendants.
    fn after(&self, index: u32) -> u32 {
        let node = &self.nodes[index as usize];
        match node.kind() {
            JsonKind::Array | JsonKind::Object => node.link,
            _ => index + 1,
        }
    }
}

/// Appends `/` and the index of an item.
fn push_index(pointer: &mut String, index: u32) {
    let _ = write!(pointer, "/{index}");
}

fn digits(index: u32) -> usize {
    index.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Appends `/` and the escaped token.
pub(super) fn push_pointer_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

/// One value of a document: a cursor that is cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonRef<'a> {
    doc: &'a JsonDocument,
    id: JsonId,
}

impl<'a> JsonRef<'a> {
    fn node(&self) -> &'a JsonNode {
        &self.doc.nodes[self.id.index()]
    }

    /// The value's id in its document.
    pub(crate) fn id(self) -> JsonId {
        self.id
    }

    /// The document that holds the value.
    pub(crate) fn document(self) -> &'a JsonDocument {
        self.doc
    }

    /// The value's type.
    pub(crate) fn kind(self) -> JsonKind {
        self.node().kind()
    }

    /// The boolean, if it is one.
    pub(crate) fn as_bool(self) -> Option<bool> {
        (self.kind() == JsonKind::Bool).then(|| self.text() == "true")
    }

    /// The decoded string, if it is one.
    pub(crate) fn as_str(self) -> Option<&'a str> {
        (self.kind() == JsonKind::String).then(|| self.doc.string(self.id.index()))
    }

    /// The exact text of a number, if it is one.
    pub(crate) fn number_text(self) -> Option<&'a str> {
        (self.kind() == JsonKind::Number).then(|| self.text())
    }

    /// The number of items or members; 0 for scalars.
    pub(crate) fn len(self) -> usize {
        self.node().len() as usize
    }

    /// The bytes of the document's text that spell the value.
    pub(crate) fn span(self) -> Range<usize> {
        self.node().start as usize..self.node().end as usize
    }

    /// The source text of the value.
    pub(crate) fn text(self) -> &'a str {
        &self.doc.text[self.span()]
    }

    /// The items of an array, in order; nothing for other values.
    pub(crate) fn items(self) -> Items<'a> {
        let next = self.id.index() as u32 + 1;
        let end = if self.kind() == JsonKind::Array { self.node().link } else { next };
        Items { doc: self.doc, next, end }
    }

    /// The members of an object in text order; nothing for other values.
    pub(crate) fn members(self) -> Members<'a> {
        let next = self.id.index() as u32 + 1;
        let end = if self.kind() == JsonKind::Object { self.node().link } else { next };
        Members { doc: self.doc, next, end }
    }

    /// The member `name` of an object. Large objects are searched by their sorted keys.
    pub(crate) fn get(self, name: &str) -> Option<JsonRef<'a>> {
        if let Some(&first) = self.doc.large.get(&(self.id.index() as u32)) {
            let keys = &self.doc.sorted_keys[first..first + self.len()];
            let at = keys.binary_search_by(|&key| self.doc.string(key as usize).cmp(name)).ok()?;
            return Some(self.doc.value(JsonId::new(keys[at] as usize + 1)));
        }
        self.members().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The item at `index` of an array.
    pub(crate) fn item(self, index: usize) -> Option<JsonRef<'a>> {
        const FEW: usize = 64;
        if self.kind() != JsonKind::Array || index >= self.len() {
            return None;
        }
        if index < FEW {
            return self.items().nth(index);
        }
        // The items' ordinals rise with their ids: bisect, climbing from inner values to items.
        let nodes = &self.doc.nodes;
        let array = self.id.index() as u32;
        let (mut low, mut high) = (array + 1, self.node().link);
        while low < high {
            let mut item = low + (high - low) / 2;
            while nodes[item as usize].parent != array {
                item = nodes[item as usize].parent;
            }
            match (nodes[item as usize].ordinal as usize).cmp(&index) {
                Ordering::Equal => return Some(self.doc.value(JsonId::new(item as usize))),
                Ordering::Less => low = self.doc.after(item),
                Ordering::Greater => high = item,
            }
        }
        None
    }
}

/// The items of an array, in order.
pub(crate) struct Items<'a> {
    doc: &'a JsonDocument,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = JsonRef<'a>;

    fn next(&mut self) -> Option<JsonRef<'a>> {
        if self.next >= self.end {
            return None;
        }
        let id = JsonId::new(self.next as usize);
        self.next = self.doc.after(self.next);
        Some(JsonRef { doc: self.doc, id })
    }
}

/// The members of an object, in text order.
pub(crate) struct Members<'a> {
    doc: &'a JsonDocument,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, JsonRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let key = self.doc.string(self.next as usize);
        let id = JsonId::new(self.next as usize + 1);
        self.next = self.doc.after(self.next + 1);
        Some((key, JsonRef { doc: self.doc, id }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> JsonDocument {
        JsonDocument::read("", text.into(), &Limits::default()).expect("valid JSON")
    }

    #[test]
    fn values_keep_order_spans_and_texts() {
        let doc = document(" {\"b\": [1.50, null, {\"x\\u0041\": true}], \"a\": \"q\\n\"} ");
        let root = doc.root();
        assert_eq!((root.kind(), root.len()), (JsonKind::Object, 2));
        let names: Vec<_> = root.members().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "a"]);
        let list = root.get("b").unwrap();
        let texts: Vec<_> = list.items().map(JsonRef::text).collect();
        assert_eq!(texts, ["1.50", "null", "{\"x\\u0041\": true}"]);
        assert_eq!(list.item(0).unwrap().number_text(), Some("1.50"));
        let inner = list.item(2).unwrap().get("xA").unwrap();
        assert_eq!(inner.as_bool(), Some(true));
        assert_eq!(doc.pointer(inner.id()), "/b/2/xA");
        assert_eq!(root.get("a").unwrap().as_str(), Some("q\n"));
        assert!(root.get("c").is_none() && list.get("b").is_none());
    }

    #[test]
    fn pointers_escape_tilde_and_slash() {
        let doc = document(r#"{"a/b~c": {"": 1}}"#);
        let value = doc.root().get("a/b~c").unwrap().get("").unwrap();
        assert_eq!(doc.location(value.id()), "#/a~1b~0c/");
    }

    #[test]
    fn large_objects_are_searched_by_name() {
        let members: Vec<_> = (0..50_000).rev().map(|i| format!("\"k{i}\": {i}")).collect();
        let doc = document(&format!("{{{}}}", members.join(",")));
        for i in (0..50_000).step_by(7) {
            let value = doc.root().get(&format!("k{i}")).unwrap();
            assert_eq!(value.number_text(), Some(i.to_string().as_str()));
        }
        assert!(doc.root().get("k50000").is_none());
    }

    #[test]
    fn items_of_long_arrays_are_found() {
        let items: Vec<_> = (0..1_000).map(|i| format!("[{i}, [{{\"a\": {i}}}]]")).collect();
        let doc = document(&format!("[{}]", items.join(",")));
        for (i, text) in items.iter().enumerate() {
            assert_eq!(doc.root().item(i).map(JsonRef::text), Some(text.as_str()));
        }
        assert!(doc.root().item(1_000).is_none());
    }

    #[test]
    fn values_of_serde_json_are_read_by_their_text() {
        let value = serde_json::json!({"a": [1, 2.5, "x\"\n", null, {}], "b": {"c": false}});
        let doc = JsonDocument::from_value("", &value, &Limits::default()).unwrap();
        let again: serde_json::Value = serde_json::from_str(doc.text()).unwrap();
        assert_eq!(again, value);
    }
}
