//! Every keyword occurrence of a schema, counted by a walker that shares nothing with `src/`.
//!
//! An occurrence is a member of an object at a schema position: a document's root, what a keyword
//! holds that holds schemas in any draft, or what a reference leads to. A reference leads somewhere
//! where it is a keyword of its dialect and stands where schemas count: not below a keyword of
//! another draft, beside `$ref` up to draft 7, or without its partner, unless another reference
//! leads there.

use super::holds::{Holds, keywords};
use percent_encoding::percent_decode_str;
use referencing::{Draft, uri};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// `None`: nothing is declared.
pub type Dialect = Option<Draft>;

/// Documents by the URI under which they are registered.
pub type Documents = BTreeMap<String, Value>;

/// Counts the occurrences of one schema.
pub struct Walker<'a> {
    registered: &'a Documents,
    /// The URI for locations and the root; the first is the schema itself.
    documents: Vec<(&'a str, &'a Value)>,
    resources: Vec<Resource>,
    by_uri: BTreeMap<String, Named>,
    positions: BTreeMap<Key, Position>,
    found: BTreeSet<String>,
    work: Vec<(Key, Position)>,
    references: Vec<(Key, String)>,
}

/// A place: the document and the pointer from its root.
type Key = (usize, String);

/// What holds at a schema position.
#[derive(Clone, Copy)]
struct Position {
    dialect: Dialect,
    resource: usize,
    /// Whether it counts.
    live: bool,
}

struct Resource {
    uri: String,
    root: Key,
    anchors: BTreeMap<String, (Key, bool)>,
}

/// A resource, and whether it stands where schemas count.
#[derive(Clone, Copy)]
struct Named {
    resource: usize,
    live: bool,
}

/// The locations of all occurrences; an error where a reference leads nowhere.
pub fn occurrences(
    schema: &Value,
    dialect: Dialect,
    registered: &Documents,
) -> Result<BTreeSet<String>, String> {
    let mut walker = Walker {
        registered,
        documents: Vec::new(),
        resources: Vec::new(),
        by_uri: BTreeMap::new(),
        positions: BTreeMap::new(),
        found: BTreeSet::new(),
        work: Vec::new(),
        references: Vec::new(),
    };
    walker.add_document("", schema, dialect);
    loop {
        walker.visit_all();
        let (mut missed, mut is_stuck) = (Ok(()), true);
        for (from, reference) in std::mem::take(&mut walker.references) {
            match walker.follow(&from, &reference) {
                Ok(()) => is_stuck = false,
                Err(error) => {
                    // What it names may stand where only another reference leads.
                    walker.references.push((from, reference));
                    missed = Err(error);
                }
            }
        }
        if is_stuck {
            return missed.map(|()| walker.found);
        }
    }
}

impl<'a> Walker<'a> {
    fn add_document(&mut self, uri: &'a str, root: &'a Value, dialect: Dialect) -> usize {
        let key = (self.documents.len(), String::new());
        self.documents.push((uri, root));
        let resource = self.add_resource(resolve("", uri), &key, true);
        self.work.push((key, Position { dialect, resource, live: true }));
        resource
    }

    fn add_resource(&mut self, uri: String, root: &Key, live: bool) -> usize {
        let resource = self.resources.len();
        let root = root.clone();
        self.resources.push(Resource { uri: uri.clone(), root, anchors: BTreeMap::new() });
        self.name(uri, Named { resource, live });
        resource
    }

    /// What counts goes before what does not.
    fn name(&mut self, uri: String, new: Named) {
        let known = self.by_uri.entry(uri).or_insert(new);
        if new.live && !known.live {
            *known = new;
        }
    }

    fn visit_all(&mut self) {
        while let Some((key, position)) = self.work.pop() {
            self.visit(key, position);
        }
    }

    fn visit(&mut self, key: Key, mut position: Position) {
        let known = self.positions.get(&key);
        if known.is_some_and(|known| known.live || !position.live) {
            return;
        }
        let value = self.documents[key.0].1.pointer(&key.1).expect("positions exist");
        if let Some(object) = value.as_object() {
            self.enter(&key, object, &mut position);
            self.members(&key, object, position);
        }
        self.positions.insert(key, position);
    }

    /// Settles dialect and resource, and notes the names of a subschema.
    fn enter(&mut self, key: &Key, object: &Map<String, Value>, position: &mut Position) {
        let is_root = key.1.is_empty();
        if let Some(name) = object.get("$schema").and_then(Value::as_str) {
            let named = self.dialect(name);
            let may = object.contains_key("$id") || position.dialect == Some(Draft::Draft4);
            let starts = |id: Option<&str>| id.is_some_and(|id| !id.starts_with('#'));
            if is_root || (may && starts(own_id(object, named))) {
                position.dialect = named;
            }
        }
        if let Some(id) = own_id(object, position.dialect) {
            let (own, fragment) = id.split_once('#').unwrap_or((id, ""));
            if !own.is_empty() {
                self.enter_resource(key, own, position);
            }
            if !fragment.is_empty() && !fragment.starts_with('/') {
                self.anchor(key, fragment, *position);
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let name = object.get(keyword).and_then(Value::as_str);
            if let Some(name) = name.filter(|_| keywords().has(position.dialect, keyword)) {
                self.anchor(key, name, *position);
            }
        }
    }

    fn enter_resource(&mut self, key: &Key, own: &str, position: &mut Position) {
        // A position that is visited again has its resource.
        let again = self.positions.get(key).map(|known| known.resource);
        let around = again.unwrap_or(position.resource);
        let is_new = self.resources[around].root != *key;
        let uri = match (is_new, again) {
            (false, Some(_)) => self.resources[around].uri.clone(),
            _ => resolve(&self.resources[around].uri, own),
        };
        if is_new {
            position.resource = self.add_resource(uri, key, position.live);
        } else {
            position.resource = around;
            self.resources[around].uri.clone_from(&uri);
            self.name(uri, Named { resource: around, live: position.live });
        }
    }

    fn anchor(&mut self, key: &Key, name: &str, position: Position) {
        let anchors = &mut self.resources[position.resource].anchors;
        let known = anchors.entry(name.to_owned()).or_insert_with(|| (key.clone(), position.live));
        if position.live && !known.1 {
            *known = (key.clone(), true);
        }
    }

    fn members(&mut self, key: &Key, object: &Map<String, Value>, position: Position) {
        for (name, value) in object {
            let at = format!("{}/{}", key.1, escaped(name));
            self.found.insert(format!("{}#{at}", self.documents[key.0].0));
            let live = position.live && is_active(object, name, position.dialect);
            let is_reference = match name.as_str() {
                "$ref" => true,
                "$dynamicRef" => matches!(position.dialect, None | Some(Draft::Draft202012)),
                "$recursiveRef" => position.dialect == Some(Draft::Draft201909),
                _ => false,
            };
            if let Some(reference) = value.as_str().filter(|_| is_reference && live) {
                self.references.push((key.clone(), reference.to_owned()));
            }
            for child in children(keywords().holds(name), &at, value) {
                self.work.push(((key.0, child), Position { live, ..position }));
            }
        }
    }

    /// Visits what a reference leads to.
    fn follow(&mut self, from: &Key, reference: &str) -> Result<(), String> {
        let position = self.positions[from];
        let (own, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if own.is_empty() {
            position.resource
        } else {
            self.resource(&resolve(&self.resources[position.resource].uri, own), position.dialect)
                .ok_or_else(|| format!("{reference} leads nowhere"))?
        };
        // The names of a document that has just come in are needed now.
        self.visit_all();
        let root = self.resources[resource].root.clone();
        let fragment = percent_decode_str(fragment).decode_utf8_lossy().into_owned();
        let key = if fragment.is_empty() {
            root
        } else if fragment.starts_with('/') {
            let canonical = fragment.split('/').map(|token| escaped(&unescaped(token)));
            (root.0, format!("{}{}", root.1, canonical.collect::<Vec<_>>().join("/")))
        } else {
            let anchor = self.resources[resource].anchors.get(&fragment);
            anchor.ok_or_else(|| format!("{reference}: no such anchor"))?.0.clone()
        };
        if self.documents[key.0].1.pointer(&key.1).is_none() {
            return Err(format!("{reference} leads nowhere"));
        }
        let around = self.around(&key);
        self.work.push((key, Position { live: true, ..around }));
        Ok(())
    }

    /// The resource of a URI, its document taken in if need be.
    fn resource(&mut self, uri: &str, dialect: Dialect) -> Option<usize> {
        if let Some(named) = self.by_uri.get(uri) {
            return Some(named.resource);
        }
        let is_it = |(registered, document): &(&'a String, &'a Value)| {
            let base = resolve("", registered);
            let id = document.get("$id").or_else(|| document.get("id")).and_then(Value::as_str);
            let own = id.map(|id| resolve(&base, id.split('#').next().unwrap_or_default()));
            base == uri || own.as_deref() == Some(uri)
        };
        let (registered, document) = self.registered.iter().find(is_it)?;
        let resource = self.add_document(registered.trim_end_matches('#'), document, dialect);
        self.name(uri.to_owned(), Named { resource, live: true });
        Some(resource)
    }

    /// What holds at a place: its own position, or the nearest one around it.
    fn around(&self, key: &Key) -> Position {
        let mut at = key.1.as_str();
        loop {
            if let Some(position) = self.positions.get(&(key.0, at.to_owned())) {
                return *position;
            }
            at = &at[..at.rfind('/').expect("the root is a position")];
        }
    }

    /// The draft that a `$schema` names; through the registered meta-schemas if need be.
    fn dialect(&self, name: &str) -> Dialect {
        let mut name = name;
        for _ in 0..8 {
            match Draft::from_schema_uri(name) {
                Draft::Unknown => {}
                known => return Some(known),
            }
            let meta = self.registered.get(name.trim_end_matches('#'))?;
            name = meta.get("$schema").and_then(Value::as_str)?;
        }
        None
    }
}

/// Whether a member means something: a keyword of the dialect, not beside a `$ref` that stands
/// alone, and with its partner.
fn is_active(object: &Map<String, Value>, name: &str, dialect: Dialect) -> bool {
    let partner = match name {
        "then" | "else" => object.contains_key("if"),
        "additionalItems" => object.get("items").is_some_and(Value::is_array),
        _ => true,
    };
    let shadowed = name != "$ref" && reference_stands_alone(object, dialect);
    let known =
        matches!(name, "$ref" | "$recursiveRef" | "$dynamicRef") || keywords().has(dialect, name);
    known && partner && !shadowed
}

fn reference_stands_alone(object: &Map<String, Value>, dialect: Dialect) -> bool {
    object.contains_key("$ref") && dialect.is_some_and(|draft| draft <= Draft::Draft7)
}

/// The identifier of a subschema.
fn own_id(object: &Map<String, Value>, dialect: Dialect) -> Option<&str> {
    if reference_stands_alone(object, dialect) {
        return None;
    }
    object.get(dialect.unwrap_or_default().id_keyword())?.as_str()
}

/// The pointers of the schemas in a keyword's value.
fn children(holds: Holds, at: &str, value: &Value) -> Vec<String> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    match value {
        value if holds.schema && is_schema(value) => vec![at.to_owned()],
        Value::Array(items) if holds.array => {
            let items = items.iter().enumerate().filter(|(_, item)| is_schema(item));
            items.map(|(index, _)| format!("{at}/{index}")).collect()
        }
        Value::Object(members) if holds.map => {
            let members = members.iter().filter(|(_, member)| is_schema(member));
            members.map(|(name, _)| format!("{at}/{}", escaped(name))).collect()
        }
        _ => Vec::new(),
    }
}

/// A URI against a base; both may be relative.
fn resolve(base: &str, reference: &str) -> String {
    let whole = uri::from_str(base.trim_end_matches('#'))
        .and_then(|base| uri::resolve_against(&base.borrow(), reference.trim_end_matches('#')));
    whole.map_or_else(|_| reference.to_owned(), |uri| uri.to_string())
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
