//! Constraints that are not compiled yet: the mask is wider than the schema, never narrower, and
//! the report says so.

use crate::generator::Random;
use crate::support::{amount, mask, vocabulary, walk};
use serde_json::Value;
use std::collections::BTreeMap;
use tokenmask::check::Validator;
use tokenmask::{Dialect, Entry, Grammar, Options, Order, Report, Route, SurfacePolicy};

use Dialect::{Draft4, Draft6, Draft7, Draft201909 as D19, Draft202012 as D20};

/// Keywords that are routed `check`, with the dialects that have them.
const CONSTRAINTS: [(&str, Dialect, Dialect); 16] = [
    (r#""uniqueItems":true"#, Draft4, D20),
    (r#""contains":{"type":"integer"}"#, Draft6, D20),
    (r#""contains":{"type":"integer"},"minContains":2"#, D19, D20),
    (r#""contains":{"type":"integer"},"maxContains":1"#, D19, D20),
    (r#""dependentSchemas":{"a":{"required":["b"]}}"#, D19, D20),
    (r#""dependencies":{"a":{"required":["b"]}}"#, Draft4, D20),
    (r#""oneOf":[{"type":"integer"},{"type":"number"}]"#, Draft4, D20),
    (r#""not":{"uniqueItems":true}"#, Draft4, D20),
    (r#""if":{"type":"integer"},"then":{"minimum":2}"#, Draft7, D20),
    (r#""if":{"minLength":2},"else":{"type":"array"}"#, Draft7, D20),
    (r#""unevaluatedItems":{"type":"integer"}"#, D19, D20),
    (r#""unevaluatedItems":false"#, D19, D20),
    (r#""unevaluatedProperties":{"type":"integer"}"#, D19, D20),
    (r#""unevaluatedProperties":false"#, D19, D20),
    (r##""properties":{"a":{"$dynamicRef":"#"}}"##, D20, D20),
    (r##""properties":{"a":{"$recursiveRef":"#"}}"##, D19, D19),
];

/// A place for a constraint: the schema around `@`, the first dialect that has it, and the routes
/// of the keywords around it that are not `check`.
type Place = (&'static str, Dialect, &'static [(&'static str, Route)]);

const PLACES: [Place; 14] = [
    ("@", Draft4, &[]),
    (r#""not":{@}"#, Draft4, &[]),
    (r#""not":{"not":{@}}"#, Draft4, &[]),
    (r#""oneOf":[{@},{"type":"null"}]"#, Draft4, &[]),
    (r#""oneOf":[{"not":{@}},{"type":"null"}]"#, Draft4, &[]),
    (
        r#""if":{@},"then":{"maxLength":3},"else":{"type":["string","number","object"]}"#,
        Draft7,
        &[],
    ),
    (r#""if":{"type":"array"},"then":{@},"else":{"not":{@}}"#, Draft7, &[]),
    (r#""items":[{}],"unevaluatedItems":{@}"#, D19, &[("#/items", Route::Mask)]),
    (r#""prefixItems":[{}],"unevaluatedItems":{@}"#, D20, &[("#/prefixItems", Route::Mask)]),
    (r#""properties":{"a":{}},"unevaluatedProperties":{@}"#, D19, &[("#/properties", Route::Mask)]),
    (
        r#""anyOf":[{@},{"type":"null"}]"#,
        Draft4,
        &[("#/anyOf", Route::MaskCheck), ("#/anyOf/1/type", Route::Mask)],
    ),
    (r#""allOf":[{@}]"#, Draft4, &[]),
    (r#""properties":{"a":{@}}"#, Draft4, &[]),
    (r#""items":{@},"minItems":1"#, Draft4, &[("#/minItems", Route::Mask)]),
];

const INSTANCES: [&str; 48] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "2.5",
    "3",
    "6",
    "10",
    r#""""#,
    r#""a""#,
    r#""abc""#,
    r#""abcdef""#,
    r#""x@example.com""#,
    r#""127.0.0.1""#,
    r#""123e4567-e89b-12d3-a456-426614174000""#,
    "[]",
    "[0]",
    "[3]",
    "[1,1]",
    "[1,2,3]",
    r#"["a"]"#,
    r#"["a","a"]"#,
    "[null,2]",
    "[null,2,2]",
    "[[],{}]",
    "[[1,1]]",
    r#"[{"a":1}]"#,
    r#"[{"a":1,"b":2}]"#,
    r#"["x","abc",1]"#,
    "[2.5,true]",
    "{}",
    r#"{"a":1}"#,
    r#"{"a":"x"}"#,
    r#"{"a":3,"b":2}"#,
    r#"{"b":"x"}"#,
    r#"{"ab":1}"#,
    r#"{"ab":"x","zz":[]}"#,
    r#"{"a":{"a":1}}"#,
    r#"{"a":[1,1]}"#,
    r#"{"a":[1,2]}"#,
    r#"{"a":null,"b":null}"#,
    r#"{"a":{"a":1,"b":2},"b":3}"#,
    r#"{"c":6}"#,
    r#"{"a":"abc","c":{"ab":1}}"#,
    r#"{"c":[1,"a"],"b":{}}"#,
];

fn options() -> Options {
    let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
    Options { policy, ..Options::default() }
}

/// Every schema of the table: dialect, text, routes that are not `check`.
fn schemas() -> Vec<(Dialect, String, BTreeMap<String, Route>)> {
    let mut all = Vec::new();
    for (constraint, from, to) in CONSTRAINTS {
        for (place, since, routes) in PLACES {
            for dialect in Dialect::ALL {
                // Items in list form are not in the last dialect.
                let old_list = place.contains(r#""items":["#) && dialect == D20;
                if dialect < from.max(since) || dialect > to || old_list {
                    continue;
                }
                let body = place.replace('@', constraint);
                let text = format!(r#"{{"$schema":"{}","#, dialect.uri()) + &body + "}";
                let mut expected: BTreeMap<String, Route> =
                    routes.iter().map(|(at, route)| ((*at).to_owned(), *route)).collect();
                expected.insert("#/$schema".into(), Route::Annotation);
                all.push((dialect, text, expected));
            }
        }
    }
    all
}

/// The locations of all keyword occurrences, by a plain reading of the text.
fn occurrences(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords {
        let at = format!("{at}/{}", keyword.replace('~', "~0").replace('/', "~1"));
        found.push(at.clone());
        match (keyword.as_str(), value) {
            (
                "not"
                | "if"
                | "then"
                | "else"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "items",
                Value::Object(_),
            ) => occurrences(value, &at, found),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(all)) => {
                let each = all.iter().enumerate();
                each.for_each(|(i, schema)| occurrences(schema, &format!("{at}/{i}"), found));
            }
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs",
                Value::Object(all),
            ) => {
                let each = all.iter();
                each.for_each(|(name, schema)| occurrences(schema, &format!("{at}/{name}"), found));
            }
            _ => {}
        }
    }
}

#[test]
fn no_valid_instance_is_refused_and_no_mask_is_empty() {
    let vocabulary = vocabulary("fused");
    let (mut valid, mut invalid, mut random) = (0, 0, Random(3));
    for (_, text, _) in schemas() {
        let grammar = Grammar::compile(&text, &options()).unwrap_or_else(|e| panic!("{e}: {text}"));
        let engine = grammar.bind(&vocabulary).unwrap();
        let validator = Validator::new(&text, &options()).unwrap();
        for instance in INSTANCES {
            if !validator.violations(instance, grammar.report()).unwrap().is_empty() {
                invalid += 1;
                continue;
            }
            let mut matcher = engine.matcher();
            for token in vocabulary.greedy(instance.as_bytes()).unwrap() {
                assert!(mask(&matcher).allows(token), "{text} refuses {instance}");
                matcher.accept(token).unwrap();
            }
            assert!(matcher.is_accepting(), "{text} refuses {instance}");
            valid += 1;
        }
        for _ in 0..amount(2, 20) {
            let length = random.below(60);
            walk(&engine, &mut random, length).unwrap_or_else(|error| panic!("{error}: {text}"));
        }
    }
    println!("{valid} valid, {invalid} invalid instances");
    assert!(valid > 15_000 && invalid > 7_000, "{valid} valid, {invalid} invalid");
}

/// What the mask leaves, the check finds, and knows as routed.
#[test]
fn every_violation_is_routed() {
    let vocabulary = vocabulary("fused");
    let mut wrong = BTreeMap::new();
    for (_, text, _) in schemas() {
        let grammar = Grammar::compile(&text, &options()).unwrap();
        let engine = grammar.bind(&vocabulary).unwrap();
        let validator = Validator::new(&text, &options()).unwrap();
        let located = |location: &str| grammar.report().route_of(location).is_some();
        for instance in INSTANCES {
            let mut matcher = engine.matcher();
            if matcher.accept_bytes(instance.as_bytes()).is_ok() && matcher.is_accepting() {
                for violation in validator.violations(instance, grammar.report()).unwrap() {
                    if !violation.routed || !located(&violation.location) {
                        wrong.insert(violation.location, format!("{text} with {instance}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} locations: {wrong:#?}", wrong.len());
}

#[test]
fn every_occurrence_has_one_entry_with_its_route() {
    let mut entries = 0;
    for (dialect, text, expected) in schemas() {
        let grammar = Grammar::compile(&text, &options()).unwrap();
        let mut found = Vec::new();
        occurrences(&serde_json::from_str(&text).unwrap(), "#", &mut found);
        let mut listed: Vec<String> =
            grammar.report().entries().iter().map(|entry| entry.location.clone()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found, "{text}");
        // From inside a constraint back to the root: what the mask enforces there has a second use.
        let back = text.contains(r##""#""##);
        for entry in grammar.report().entries() {
            let first = expected.get(&entry.location).copied().unwrap_or(Route::Check);
            let twice = back && matches!(first, Route::Mask | Route::MaskCheck);
            let route = if twice { Route::Check } else { first };
            let label = format!("{} {} of {text}", dialect.name(), entry.location);
            assert_eq!(entry.route, route, "{label}: {}", entry.reason);
            assert!(!entry.reason.is_empty(), "{label}");
            assert_eq!(entry.uses.first().map(|one| one.route), twice.then_some(first), "{label}");
            assert_eq!(entry.check.is_some(), route > Route::Mask, "{label}");
            entries += 1;
        }
        assert!(!grammar.report().is_exact(), "{text}");
    }
    println!("{entries} entries");
    assert!(entries > 3_000, "{entries}");
}

/// One subschema, reached through the mask and inside keywords that are checked as a whole.
#[test]
fn uses_are_listed_where_they_differ() {
    let uses = |report: &Report, location: &str| {
        let at = |entry: &&Entry| entry.location == location;
        let entry = report.entries().iter().find(at).unwrap().clone();
        let uses: Vec<_> = entry.uses.iter().map(|used| (used.position, used.route)).collect();
        (entry.route, uses)
    };
    let report = |second: &str| {
        let text = format!(
            r##"{{"$defs":{{"d":{{"type":"integer","uniqueItems":true}}}},"properties":{{
                "a":{{"$ref":"#/$defs/d"}},"b":{second}}}}}"##
        );
        Grammar::compile(&text, &Options::default()).unwrap().report().clone()
    };
    let d = r##"{"$ref":"#/$defs/d"}"##;
    let (mask, check) = (("positive", Route::Mask), ("positive", Route::Check));
    let negative = ("negative", Route::Check);
    for (second, expected) in [
        (format!(r#"{{"not":{d}}}"#), vec![mask, negative]),
        (format!(r#"{{"not":{{"not":{d}}}}}"#), vec![mask, check]),
        (format!(r#"{{"oneOf":[{d}]}}"#), vec![mask, check, negative]),
        (format!(r#"{{"if":{d},"then":true}}"#), vec![mask, check, negative]),
        (format!(r#"{{"if":true,"then":{d}}}"#), vec![mask, check]),
        (format!(r#"{{"if":true,"else":{{"not":{d}}}}}"#), vec![mask, negative]),
        (format!(r#"{{"unevaluatedItems":{d}}}"#), vec![mask, check, negative]),
        (format!(r#"{{"unevaluatedProperties":{d}}}"#), vec![mask, check, negative]),
        (format!(r#"{{"dependentSchemas":{{"a":{d}}}}}"#), vec![mask, check]),
    ] {
        let report = report(&second);
        let route = (Route::Check, expected);
        assert_eq!(uses(&report, "#/$defs/d/type"), route, "{second}");
        // Its uses do not differ.
        assert_eq!(uses(&report, "#/$defs/d/uniqueItems"), (Route::Check, vec![]), "{second}");
    }
    // All uses through the mask: one route, no list.
    let plain = report(d);
    assert_eq!(uses(&plain, "#/$defs/d/type"), (Route::Mask, vec![]));
    assert_eq!(uses(&plain, "#/$defs/d/uniqueItems"), (Route::Check, vec![]));
    assert_eq!(uses(&plain, "#/properties/a/$ref"), (Route::MaskCheck, vec![]));
}
