//! Random steps through masks of strings and numbers: no mask is empty, and what is finished is
//! valid.
//!
//! The schemas are the leaves of the corpus (patterns, formats, lengths, bounds, multiples), alone,
//! two at once, and negated; where the corpus is absent, a few of each kind.

use crate::data;
use crate::differential::is_exact;
use crate::generator::Random;
use crate::support::{amount, vocabulary, walk};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use tokenmask::check::Validator;
use tokenmask::{ErrorKind, Grammar, Numbers, Options, Report, SurfacePolicy, Vocabulary};

/// Keywords of strings and numbers.
const LEAVES: [&str; 9] = [
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Some of each kind.
const BUILT_IN: [&str; 16] = [
    r#"{"type": "string", "pattern": "^[a-z][a-z0-9_]*$", "maxLength": 12}"#,
    r#"{"type": "string", "pattern": "^(?!tmp)[a-z]+(?<!x)$"}"#,
    r#"{"type": "string", "pattern": "\\bfoo\\b"}"#,
    r#"{"type": "string", "pattern": "^(['\"])\\w*\\1$"}"#,
    r#"{"type": "string", "pattern": "^\\p{Lu}\\p{L}{2,5}$", "minLength": 4}"#,
    r#"{"type": "string", "format": "date-time"}"#,
    r#"{"type": "string", "format": "uri", "maxLength": 30}"#,
    r#"{"type": "string", "format": "email"}"#,
    r#"{"type": "string", "format": "ipv6"}"#,
    r#"{"type": "string", "minLength": 3, "maxLength": 5}"#,
    r#"{"type": "integer", "minimum": -3, "maximum": 70000}"#,
    r#"{"type": "number", "exclusiveMinimum": 0, "maximum": 0.001}"#,
    r#"{"type": "number", "multipleOf": 0.25}"#,
    r#"{"type": "integer", "multipleOf": 1000003}"#,
    r#"{"type": "number", "minimum": 1e20}"#,
    r#"{"type": "integer", "exclusiveMinimum": 99, "multipleOf": 6}"#,
];

/// The leaves of every schema of the corpus, each once.
fn leaves() -> Vec<String> {
    let mut found: BTreeSet<String> = BUILT_IN.map(String::from).into();
    if let Some(path) = data::find(data::CORPUS, "leaves of the corpus") {
        for record in data::records(&path).unwrap() {
            collect(&serde_json::from_str(record.schema.get()).unwrap(), &mut found);
        }
    }
    found.into_iter().collect()
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            let kept = |key: &&String| LEAVES.contains(&key.as_str()) || *key == "type";
            let leaf: Map<String, Value> = members
                .iter()
                .filter(|(key, _)| kept(key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if leaf.keys().any(|key| key != "type") {
                found.insert(Value::Object(leaf).to_string());
            }
            members.values().for_each(|value| collect(value, found));
        }
        _ => {}
    }
}

/// One leaf, two at once, or one without another.
fn schema(leaves: &[String], random: &mut Random) -> String {
    let first = &leaves[random.below(leaves.len())];
    let second = &leaves[random.below(leaves.len())];
    match random.below(10) {
        0 => format!(r#"{{"allOf": [{first}, {second}]}}"#),
        1 => format!(r#"{{"allOf": [{first}], "not": {second}}}"#),
        _ => first.clone(),
    }
}

/// What became of the schemas and documents.
#[derive(Debug, Default)]
struct Counts {
    steps: usize,
    schemas: usize,
    refused: usize,
    documents: usize,
    judged: usize,
}

/// Walks until so many `steps` are done.
fn walks(name: &str, vocabulary: &Vocabulary, leaves: &[String], seed: u64, steps: usize) {
    const LENGTH: usize = 24;
    let mut random = Random(seed);
    let mut counts = Counts::default();
    while counts.steps < steps {
        let schema = schema(leaves, &mut random);
        let numbers = if random.chance(30) { Numbers::Any } else { Numbers::Plain };
        let policy = SurfacePolicy { numbers, ..SurfacePolicy::default() };
        let options = Options { policy, ..Options::default() };
        let grammar = match Grammar::compile(&schema, &options) {
            Ok(grammar) => grammar,
            // A leaf that is no schema by itself, or two that exclude each other.
            Err(error) => {
                let known = [ErrorKind::Unsatisfiable, ErrorKind::InvalidSchema];
                assert!(known.contains(&error.kind()), "{error}: {schema}");
                counts.refused += 1;
                continue;
            }
        };
        counts.schemas += 1;
        let engine = grammar.bind(vocabulary).unwrap();
        let validator = Validator::new(&schema, &options).unwrap();
        for _ in 0..3 {
            let length = 1 + random.below(LENGTH);
            let document = walk(&engine, &mut random, length)
                .unwrap_or_else(|error| panic!("{name}, {numbers:?}: {error}: {schema}"));
            counts.steps += length;
            counts.documents += 1;
            judge(grammar.report(), &validator, &document, &schema, &mut counts);
        }
    }
    println!("{name}: {counts:?}");
    assert!(counts.judged * 4 > counts.documents, "{name}: {counts:?}");
}

/// What is finished is valid, routed keywords aside. Numbers that `f64` does not hold are judged by
/// the tests of numbers.
fn judge(
    report: &Report,
    validator: &Validator,
    document: &[u8],
    schema: &str,
    counts: &mut Counts,
) {
    let text = std::str::from_utf8(document).unwrap();
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    if value.is_number() && (!is_exact(text) || schema.contains("multipleOf")) {
        return;
    }
    counts.judged += 1;
    let violations = validator.violations(text, report).unwrap();
    let wrong = violations.iter().find(|violation| !violation.routed);
    assert!(wrong.is_none(), "{text} of {schema}: {wrong:?}");
}

#[test]
fn random_steps() {
    let leaves = leaves();
    let seed = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse().ok());
    let steps = amount(25_000, 500_000);
    for name in ["fused", "llama3"] {
        walks(name, &vocabulary(name), &leaves, seed.unwrap_or(4), steps);
    }
}
