//! Which keywords hold schemas, as the official meta-schemas say it.

use crate::suite_data::meta_schemas;
use referencing::Draft;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How the value of a keyword may hold schemas, in any draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    pub schema: bool,
    pub array: bool,
    pub map: bool,
}

/// What the meta-schemas tell.
pub struct Keywords {
    /// By name, over all drafts.
    holds: BTreeMap<String, Holds>,
    /// The keywords that a draft's meta-schemas name.
    by_draft: BTreeMap<Draft, BTreeSet<String>>,
}

/// Made once.
pub fn keywords() -> &'static Keywords {
    static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
        let mut all = Keywords { holds: BTreeMap::new(), by_draft: BTreeMap::new() };
        for (draft, documents) in meta_schemas() {
            let names = all.by_draft.entry(draft).or_default();
            for document in documents {
                for (name, schema) in document["properties"].as_object().into_iter().flatten() {
                    names.insert(name.clone());
                    let holds = all.holds.entry(name.clone()).or_default();
                    add(document, schema, holds);
                }
            }
        }
        all
    });
    &KEYWORDS
}

impl Keywords {
    pub fn holds(&self, name: &str) -> Holds {
        self.holds.get(name).copied().unwrap_or_default()
    }

    /// The keywords that hold schemas.
    pub fn holders(&self) -> impl Iterator<Item = &str> {
        let holding = self.holds.iter().filter(|(_, holds)| **holds != Holds::default());
        holding.map(|(name, _)| name.as_str())
    }

    /// Whether a draft has a keyword; `None` is the undeclared mixture: 2020-12 with
    /// `additionalItems`. (The draft-4 meta-schema forgets `$ref`.)
    pub fn has(&self, draft: Option<Draft>, name: &str) -> bool {
        let listed = |draft| self.by_draft[&draft].contains(name);
        match draft {
            None => listed(Draft::Draft202012) || name == "additionalItems",
            Some(draft) => name == "$ref" || listed(draft),
        }
    }
}

/// Adds what a keyword's meta-schema says about its value.
fn add(document: &Value, schema: &Value, holds: &mut Holds) {
    let schema = target(document, schema);
    holds.schema |= is_any_schema(schema);
    holds.array |= schema.get("items").is_some_and(is_any_schema);
    if let Some(members) = schema.get("additionalProperties") {
        holds.map |= alternatives(members).any(is_any_schema);
    }
    if schema.get("anyOf").is_some() {
        alternatives(schema).for_each(|one| add(document, one, holds));
    }
}

/// Whether a meta-schema says "any schema": a reference to the meta-schema itself.
fn is_any_schema(schema: &Value) -> bool {
    [("$ref", "#"), ("$recursiveRef", "#"), ("$dynamicRef", "#meta")]
        .iter()
        .any(|(keyword, whole)| schema.get(keyword).is_some_and(|value| value == whole))
}

/// What a local pointer leads to; else the schema itself.
fn target<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let local = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/"));
    match local {
        Some(path) => document.pointer(&format!("/{path}")).expect("meta-schemas are whole"),
        None => schema,
    }
}

/// The branches of `anyOf`; without it, the schema itself.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let branches = schema.get("anyOf").and_then(Value::as_array);
    branches.map_or_else(|| std::slice::from_ref(schema), Vec::as_slice).iter()
}

#[test]
fn the_meta_schemas_are_understood() {
    let with = |test: fn(Holds) -> bool| -> Vec<&str> {
        let all = keywords().holds.iter().filter(|(_, holds)| test(**holds));
        all.map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(with(|holds| holds.array), ["allOf", "anyOf", "items", "oneOf", "prefixItems"]);
    assert_eq!(
        with(|holds| holds.map),
        [
            "$defs",
            "definitions",
            "dependencies",
            "dependentSchemas",
            "patternProperties",
            "properties"
        ]
    );
    assert_eq!(
        with(|holds| holds.schema),
        [
            "additionalItems",
            "additionalProperties",
            "contains",
            "contentSchema",
            "else",
            "if",
            "items",
            "not",
            "propertyNames",
            "then",
            "unevaluatedItems",
            "unevaluatedProperties"
        ]
    );
    assert!(keywords().has(None, "additionalItems") && keywords().has(None, "prefixItems"));
    assert!(!keywords().has(Some(Draft::Draft202012), "additionalItems"));
    assert!(!keywords().has(Some(Draft::Draft6), "if"));
    assert!(keywords().has(Some(Draft::Draft4), "$ref"));
}
