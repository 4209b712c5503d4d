//! A schema text as nodes: each node is a list of constraints in the order of its keywords.

use super::json::{Decimal, Json};
use super::regex::Machine;
use std::collections::{BTreeMap, BTreeSet};

pub type NodeId = usize;

pub const NULL: u8 = 1;
pub const BOOL: u8 = 2;
pub const INTEGER: u8 = 4;
/// Numbers that are no integers.
pub const FRACTION: u8 = 8;
pub const TEXT: u8 = 16;
pub const ARRAY: u8 = 32;
pub const OBJECT: u8 = 64;
pub const ALL: u8 = 127;

/// What one keyword demands, or one literal value.
#[derive(Debug)]
pub enum Constraint {
    /// The types that stay possible.
    Types(u8),
    Bool(bool),
    Number(Decimal),
    /// Only numbers from this on, the number itself left out if open.
    Low(Decimal, bool),
    High(Decimal, bool),
    Multiple(Decimal),
    Texts(BTreeSet<String>),
    /// The members of a literal object.
    Members(Vec<(String, NodeId)>),
    Properties(Vec<(String, NodeId)>),
    Required(Vec<String>),
    /// Keys that a machine accepts.
    Patterns(Vec<(usize, NodeId)>),
    /// Keys that are not `known`, and that none of the machines accepts.
    Additional {
        known: BTreeSet<String>,
        patterns: Vec<usize>,
        schema: NodeId,
    },
    /// All keys, as strings.
    KeyNames(NodeId),
    /// The policy's: no key that no constraint beside this one names or has a pattern for.
    Closed,
    /// Items from index 0 on.
    Prefix(Vec<NodeId>),
    /// Items from this index on.
    Rest(usize, NodeId),
    Items {
        min: u64,
        max: Option<u64>,
    },
    Length {
        min: u64,
        max: Option<u64>,
    },
    /// Strings that each of these accepts.
    Machines(Vec<usize>),
    AnyOf(Vec<NodeId>),
    AllOf(Vec<NodeId>),
}

/// The node of the schema `false`.
pub const NEVER: NodeId = 0;
/// The node of the root schema.
pub const ROOT: NodeId = 1;

/// All nodes that the root reaches, and the machines that they name.
#[derive(Debug)]
pub struct Schema {
    pub nodes: Vec<Vec<Constraint>>,
}

/// Which keywords there are.
#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    /// Up to draft 7: `$ref` hides its siblings.
    Old,
    Draft201909,
    Draft202012,
    Undeclared,
}

/// How a schema is read.
#[derive(Clone, Copy)]
pub struct Reading {
    pub closed: bool,
    pub formats: bool,
}

/// Reads a schema text.
pub fn read(text: &str, reading: Reading) -> Result<(Schema, Vec<Machine>), String> {
    let root = Json::parse(text)?;
    let dialect = dialect(&root)?;
    let mut reader = Reader {
        root: &root,
        dialect,
        reading,
        nodes: vec![vec![Constraint::Types(0)]],
        machines: Vec::new(),
        patterns: BTreeMap::new(),
        ids: BTreeMap::new(),
        open: Vec::new(),
    };
    // The root has its own node even where it is `false`.
    reader.add(Vec::new());
    reader.ids.insert(&root, ROOT);
    reader.open.push((ROOT, &root));
    while let Some((id, schema)) = reader.open.pop() {
        reader.nodes[id] = reader.constraints(schema)?;
    }
    Ok((Schema { nodes: reader.nodes }, reader.machines))
}

fn dialect(root: &Json) -> Result<Dialect, String> {
    let Some(Json::Text(uri)) = root.get("$schema") else { return Ok(Dialect::Undeclared) };
    let name =
        uri.trim_end_matches('#').rsplit_once("json-schema.org/").map_or("", |(_, name)| name);
    match name {
        "draft-06/schema" | "draft-07/schema" => Ok(Dialect::Old),
        "draft/2019-09/schema" => Ok(Dialect::Draft201909),
        "draft/2020-12/schema" => Ok(Dialect::Draft202012),
        _ => Err(format!("the oracle does not read the dialect {uri:?}")),
    }
}

struct Reader<'a> {
    root: &'a Json,
    dialect: Dialect,
    reading: Reading,
    nodes: Vec<Vec<Constraint>>,
    machines: Vec<Machine>,
    /// By pattern: its machine, and behind it the machine of all other strings.
    patterns: BTreeMap<&'a str, usize>,
    /// By address: one subschema is one node, however it is reached.
    ids: BTreeMap<*const Json, NodeId>,
    /// Subschemas with a node that is not read yet.
    open: Vec<(NodeId, &'a Json)>,
}

type Found = Result<Option<Constraint>, String>;

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Json) -> NodeId {
        if *schema == Json::Bool(false) {
            return NEVER;
        }
        if let Some(&id) = self.ids.get(&std::ptr::from_ref(schema)) {
            return id;
        }
        let id = self.add(Vec::new());
        self.ids.insert(schema, id);
        self.open.push((id, schema));
        id
    }

    fn add(&mut self, constraints: Vec<Constraint>) -> NodeId {
        self.nodes.push(constraints);
        self.nodes.len() - 1
    }

    fn list(&mut self, schemas: &'a [Json]) -> Vec<NodeId> {
        schemas.iter().map(|schema| self.node(schema)).collect()
    }

    fn constraints(&mut self, schema: &'a Json) -> Result<Vec<Constraint>, String> {
        let members = match schema {
            Json::Bool(true) => return Ok(Vec::new()),
            Json::Bool(false) => return Ok(vec![Constraint::Types(0)]),
            Json::Object(members) => members,
            _ => return Err("a schema is an object or a boolean".into()),
        };
        let mut found = Vec::new();
        if self.dialect == Dialect::Old
            && let Some(Json::Text(target)) = schema.get("$ref")
        {
            return Ok(vec![self.reference(target)?]);
        }
        for (keyword, value) in members {
            found.extend(self.keyword(schema, keyword, value)?);
        }
        let has = |keyword| schema.get(keyword).is_some();
        if self.reading.closed
            && has("properties")
            && !has("additionalProperties")
            && !has("unevaluatedProperties")
        {
            found.push(Constraint::Closed);
        }
        Ok(found)
    }

    fn keyword(&mut self, schema: &'a Json, keyword: &str, value: &'a Json) -> Found {
        let modern = self.dialect != Dialect::Old;
        let newest = matches!(self.dialect, Dialect::Draft202012 | Dialect::Undeclared);
        let array_items = self.dialect != Dialect::Draft202012;
        let listed = matches!(schema.get("items"), Some(Json::Array(_)));
        Ok(Some(match (keyword, value) {
            ("$ref", Json::Text(target)) => self.reference(target)?,
            ("type", _) => Constraint::Types(types(value)?),
            ("enum", Json::Array(values)) => self.literals(values),
            ("const", value) => self.literals(std::slice::from_ref(value)),
            ("properties", Json::Object(members)) => Constraint::Properties(
                members.iter().map(|(name, schema)| (name.clone(), self.node(schema))).collect(),
            ),
            ("required", Json::Array(_)) => Constraint::Required(names(Some(value))),
            ("patternProperties", Json::Object(members)) => {
                let mut patterns = Vec::new();
                for (pattern, schema) in members {
                    patterns.push((self.key_pattern(pattern)?, self.node(schema)));
                }
                Constraint::Patterns(patterns)
            }
            ("additionalProperties", _) => {
                let mut patterns = Vec::new();
                if let Some(Json::Object(members)) = schema.get("patternProperties") {
                    for (pattern, _) in members {
                        patterns.push(self.key_pattern(pattern)?);
                    }
                }
                let (known, schema) = (property_names(schema), self.node(value));
                Constraint::Additional { known, patterns, schema }
            }
            ("propertyNames", Json::Object(_) | Json::Bool(_)) => {
                Constraint::KeyNames(self.node(value))
            }
            ("prefixItems", Json::Array(schemas)) if newest => {
                Constraint::Prefix(self.list(schemas))
            }
            ("items", Json::Array(schemas)) if array_items => {
                Constraint::Prefix(self.list(schemas))
            }
            ("items", Json::Object(_) | Json::Bool(_)) => {
                let from = match schema.get("prefixItems") {
                    Some(Json::Array(prefix)) if newest => prefix.len(),
                    _ => 0,
                };
                Constraint::Rest(from, self.node(value))
            }
            ("additionalItems", Json::Object(_) | Json::Bool(_)) if listed && array_items => {
                let Some(Json::Array(items)) = schema.get("items") else { return Ok(None) };
                Constraint::Rest(items.len(), self.node(value))
            }
            ("minItems", _) => Constraint::Items { min: length(value)?, max: None },
            ("maxItems", _) => Constraint::Items { min: 0, max: Some(length(value)?) },
            ("minLength", _) => Constraint::Length { min: length(value)?, max: None },
            ("maxLength", _) => Constraint::Length { min: 0, max: Some(length(value)?) },
            ("minimum", Json::Number(at)) => {
                let open = schema.get("exclusiveMinimum") == Some(&Json::Bool(true));
                Constraint::Low(at.clone(), open)
            }
            ("maximum", Json::Number(at)) => {
                let open = schema.get("exclusiveMaximum") == Some(&Json::Bool(true));
                Constraint::High(at.clone(), open)
            }
            ("exclusiveMinimum", Json::Number(at)) => Constraint::Low(at.clone(), true),
            ("exclusiveMaximum", Json::Number(at)) => Constraint::High(at.clone(), true),
            ("multipleOf", Json::Number(of)) => Constraint::Multiple(of.clone()),
            ("pattern", Json::Text(pattern)) => self.machines(vec![Machine::pattern(pattern)?]),
            ("format", Json::Text(format)) if self.reading.formats => match Machine::format(format)
            {
                Some(machines) => self.machines(machines),
                None => return Ok(None),
            },
            ("anyOf", Json::Array(schemas)) => Constraint::AnyOf(self.list(schemas)),
            ("allOf", Json::Array(schemas)) => Constraint::AllOf(self.list(schemas)),
            (
                "enum" | "properties" | "patternProperties" | "propertyNames" | "required"
                | "pattern" | "anyOf" | "allOf",
                _,
            ) => {
                return Err(format!("the value of {keyword} has a wrong type"));
            }
            ("$ref", _) if modern => return Err("a $ref is a string".into()),
            _ => return Ok(None),
        }))
    }

    fn machines(&mut self, machines: Vec<Machine>) -> Constraint {
        let first = self.machines.len();
        self.machines.extend(machines);
        Constraint::Machines((first..self.machines.len()).collect())
    }

    /// The machine of a pattern for keys; the next one is that of the keys without it.
    fn key_pattern(&mut self, pattern: &'a str) -> Result<usize, String> {
        if let Some(&known) = self.patterns.get(pattern) {
            return Ok(known);
        }
        let machine = Machine::pattern(pattern)?;
        let index = self.machines.len();
        self.machines.extend([machine.clone(), machine.negated()]);
        self.patterns.insert(pattern, index);
        Ok(index)
    }

    fn reference(&mut self, target: &str) -> Result<Constraint, String> {
        let fragment = target.strip_prefix('#').and_then(percent_decode);
        let found = fragment.and_then(|fragment| match fragment.starts_with('/') {
            false if !fragment.is_empty() => anchored(self.root, &fragment),
            _ => self.root.pointer(&fragment),
        });
        let found = found.ok_or_else(|| format!("the reference {target:?} is not resolved"))?;
        Ok(Constraint::AllOf(vec![self.node(found)]))
    }

    /// One of these values: all strings together are one branch, the others one each.
    fn literals(&mut self, values: &'a [Json]) -> Constraint {
        let mut branches = Vec::new();
        let mut texts = BTreeSet::new();
        for value in values {
            match value {
                Json::Text(text) => drop(texts.insert(text.clone())),
                other => {
                    let constraints = self.literal(other);
                    branches.push(self.add(constraints));
                }
            }
        }
        if !texts.is_empty() {
            branches.push(self.add(vec![Constraint::Types(TEXT), Constraint::Texts(texts)]));
        }
        Constraint::AnyOf(branches)
    }

    fn literal(&mut self, value: &'a Json) -> Vec<Constraint> {
        match value {
            Json::Null => vec![Constraint::Types(NULL)],
            Json::Bool(value) => vec![Constraint::Types(BOOL), Constraint::Bool(*value)],
            Json::Number(value) => {
                let types = if value.is_integer() { INTEGER | FRACTION } else { FRACTION };
                vec![Constraint::Types(types), Constraint::Number(value.clone())]
            }
            Json::Text(text) => {
                vec![Constraint::Types(TEXT), Constraint::Texts(BTreeSet::from([text.clone()]))]
            }
            Json::Array(items) => {
                let count = items.len() as u64;
                let nodes = items.iter().map(|item| self.literal_node(item)).collect();
                vec![
                    Constraint::Types(ARRAY),
                    Constraint::Prefix(nodes),
                    Constraint::Items { min: count, max: Some(count) },
                ]
            }
            Json::Object(members) => {
                let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
                let nodes = members.iter().map(|(name, v)| (name.clone(), self.literal_node(v)));
                let nodes = nodes.collect();
                vec![
                    Constraint::Types(OBJECT),
                    Constraint::Members(nodes),
                    Constraint::Required(names.clone()),
                    Constraint::Additional {
                        known: names.into_iter().collect(),
                        patterns: Vec::new(),
                        schema: NEVER,
                    },
                ]
            }
        }
    }

    fn literal_node(&mut self, value: &'a Json) -> NodeId {
        let constraints = self.literal(value);
        self.add(constraints)
    }
}

/// The schema with this `$anchor`; no schema has an `$id` of its own below the root.
fn anchored<'a>(here: &'a Json, anchor: &str) -> Option<&'a Json> {
    match here {
        Json::Object(members) => {
            let own = matches!(here.get("$anchor"), Some(Json::Text(name)) if name == anchor);
            let below = || members.iter().find_map(|(_, value)| anchored(value, anchor));
            own.then_some(here).or_else(below)
        }
        Json::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        _ => None,
    }
}

fn types(value: &Json) -> Result<u8, String> {
    let names = match value {
        Json::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let mut types = 0;
    for name in names {
        let Json::Text(name) = name else { return Err("a type is a string".into()) };
        types |= match name.as_str() {
            "null" => NULL,
            "boolean" => BOOL,
            "integer" => INTEGER,
            "number" => INTEGER | FRACTION,
            "string" => TEXT,
            "array" => ARRAY,
            "object" => OBJECT,
            _ => return Err(format!("there is no type {name:?}")),
        };
    }
    Ok(types)
}

fn length(value: &Json) -> Result<u64, String> {
    match value {
        Json::Number(number) => {
            number.as_length().ok_or_else(|| "a length is an integer from 0 on".into())
        }
        _ => Err("a length is a number".into()),
    }
}

fn property_names(schema: &Json) -> BTreeSet<String> {
    match schema.get("properties") {
        Some(Json::Object(members)) => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => BTreeSet::new(),
    }
}

fn names(value: Option<&Json>) -> Vec<String> {
    let Some(Json::Array(values)) = value else { return Vec::new() };
    let text = |value: &Json| match value {
        Json::Text(text) => Some(text.clone()),
        _ => None,
    };
    values.iter().filter_map(text).collect()
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
