//! Constraints that a mask enforces in part, or not at all: it is wider than the schema, never
//! narrower, and the report says where. What is left out becomes everything in an even position, and
//! nothing in an odd one: inside `not`, the condition of `if`, the other branches of `oneOf`.

use crate::generator::Random;
use crate::support::{amount, mask, vocabulary, walk};
use serde_json::Value;
use std::collections::BTreeMap;
use tokenmask::check::Validator;
use tokenmask::{
    Content, Dialect, Entry, ErrorKind, Grammar, Limits, Options, Order, Report, Route,
    SurfacePolicy,
};

use Dialect::{Draft4, Draft6, Draft7, Draft201909 as D19, Draft202012 as D20};

/// A constraint that is routed.
struct Constraint {
    /// Keywords; the first is the one whose routes are given.
    body: &'static str,
    /// The dialects that have them.
    from: Dialect,
    to: Dialect,
    /// Its routes in an even and in an odd position; `None` where that depends on what stands around.
    routes: Option<[Route; 2]>,
    limits: fn(&mut Limits),
}

const fn routed(body: &'static str, from: Dialect, routes: [Route; 2]) -> Constraint {
    Constraint { body, from, to: D20, routes: Some(routes), limits: |_| {} }
}

/// Routed where a limit is so low.
const fn limited(
    body: &'static str,
    routes: Option<[Route; 2]>,
    limits: fn(&mut Limits),
) -> Constraint {
    Constraint { body, from: Draft4, to: D20, routes, limits }
}

/// A superset of its language is enforced, where it is not negated.
const SUPERSET: [Route; 2] = [Route::MaskCheck, Route::Check];
const NOTHING: [Route; 2] = [Route::Check, Route::Check];

/// One text of so many that the NFA is larger than 10,000 bytes.
const LARGE: &str = r#""pattern":"^([a-z]{1,30}[0-9]{0,30}){1,20}$""#;

const CONSTRAINTS: [Constraint; 23] = [
    routed(r#""format":"idn-hostname""#, Draft7, SUPERSET),
    routed(r#""format":"hostname""#, Draft7, SUPERSET),
    routed(r#""format":"regex""#, Draft7, SUPERSET),
    routed(r#""format":"jwt""#, Draft4, SUPERSET),
    routed(r#""contentMediaType":"application/json""#, Draft7, NOTHING),
    routed(r#""contentMediaType":"application/json","contentEncoding":"base64""#, Draft7, NOTHING),
    routed(r#""pattern":"^(a+|b)x\\1$""#, Draft4, SUPERSET),
    routed(r#""pattern":"^(a*)\\1$","maxLength":4"#, Draft4, SUPERSET),
    routed(r#""patternProperties":{"^(a+|b)x\\1$":{"type":"integer"}}"#, Draft4, NOTHING),
    routed(
        r#""patternProperties":{"^(a+)\\1$":{"type":"integer"}},"additionalProperties":{"type":"string"}"#,
        Draft4,
        NOTHING,
    ),
    // Negated, it is routed where arrays are left that it would have to refuse.
    limited(r#""uniqueItems":true"#, None, |_| {}),
    // Not every place of an array needs such items.
    limited(
        r#""uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"boolean"}},"additionalProperties":false}"#,
        None,
        |_| {},
    ),
    routed(r#""propertyNames":{"format":"hostname"}"#, Draft7, SUPERSET),
    routed(
        r#""contains":{"format":"hostname"},"maxContains":1"#,
        D19,
        [Route::MaskCheck, Route::MaskCheck],
    ),
    routed(r#""additionalProperties":{"format":"hostname"}"#, Draft7, SUPERSET),
    routed(r#""dependentSchemas":{"a":{"properties":{"b":{"format":"hostname"}}}}"#, D19, SUPERSET),
    routed(
        r#""unevaluatedProperties":false,"anyOf":[{"properties":{"a":{"format":"hostname"}}},{"properties":{"b":{}}}]"#,
        D19,
        [Route::MaskCheck, Route::MaskCheck],
    ),
    limited(LARGE, Some(NOTHING), |limits| limits.pattern_bytes = 10_000),
    limited(r#""pattern":"^(?=.*a)(?=.*b).{2,9}$""#, None, |limits| limits.language_states = 3),
    limited(r#""pattern":"^[a-f]+$","minLength":3,"maxLength":40"#, None, |limits| {
        limits.language_states = 3;
    }),
    limited(
        r#""anyOf":[{"minLength":2},{"maximum":3},{"minItems":2}],"not":{"enum":[1,2.5,"a",[],{"a":1}]}"#,
        None,
        |limits| limits.set_shapes = 1,
    ),
    limited(
        r#""allOf":[{"not":{"items":{"type":"integer"}}},{"not":{"items":{"type":"string"}}},{"not":{"items":{"minimum":2}}}]"#,
        None,
        |limits| limits.open_constraints = 1,
    ),
    limited(
        r#""oneOf":[{"required":["a"]},{"required":["b"]},{"minLength":2},{"not":{"required":["c"]}}]"#,
        None,
        |limits| limits.set_shapes = 2,
    ),
];

/// A place for a constraint.
struct Place {
    /// The schema around `@`.
    around: &'static str,
    /// The first dialect that has it.
    since: Dialect,
    /// Where the constraint stands, each time with its positions: even, odd, or both.
    stands: &'static [(&'static str, Positions)],
}

type Positions = &'static [usize];
const EVEN: Positions = &[0];
const ODD: Positions = &[1];
const BOTH: Positions = &[0, 1];

const fn place(
    around: &'static str,
    since: Dialect,
    stands: &'static [(&'static str, Positions)],
) -> Place {
    Place { around, since, stands }
}

const PLACES: [Place; 18] = [
    place("@", Draft4, &[("#", EVEN)]),
    place(r#""not":{@}"#, Draft4, &[("#/not", ODD)]),
    place(r#""not":{"not":{@}}"#, Draft4, &[("#/not/not", EVEN)]),
    place(r#""oneOf":[{@},{"type":"null"}]"#, Draft4, &[("#/oneOf/0", BOTH)]),
    place(r#""oneOf":[{"not":{@}},{"type":"null"}]"#, Draft4, &[("#/oneOf/0/not", BOTH)]),
    place(
        r#""if":{@},"then":{"maxLength":3},"else":{"type":["string","number","object"]}"#,
        Draft7,
        &[("#/if", BOTH)],
    ),
    place(
        r#""if":{"type":"array"},"then":{@},"else":{"not":{@}}"#,
        Draft7,
        &[("#/then", EVEN), ("#/else/not", ODD)],
    ),
    place(r#""items":[{}],"unevaluatedItems":{@}"#, D19, &[("#/unevaluatedItems", EVEN)]),
    place(r#""prefixItems":[{}],"unevaluatedItems":{@}"#, D20, &[("#/unevaluatedItems", EVEN)]),
    place(
        r#""properties":{"a":{}},"unevaluatedProperties":{@}"#,
        D19,
        &[("#/unevaluatedProperties", EVEN)],
    ),
    place(r#""anyOf":[{@},{"type":"null"}]"#, Draft4, &[("#/anyOf/0", EVEN)]),
    place(r#""allOf":[{@}]"#, Draft4, &[("#/allOf/0", EVEN)]),
    place(r#""properties":{"a":{@}}"#, Draft4, &[("#/properties/a", EVEN)]),
    place(r#""items":{@},"minItems":1"#, Draft4, &[("#/items", EVEN)]),
    place(r#""dependentSchemas":{"a":{@}}"#, D19, &[("#/dependentSchemas/a", EVEN)]),
    place(r#""contains":{@},"maxContains":1,"minContains":0"#, D19, &[("#/contains", BOTH)]),
    place(r#""not":{"properties":{"a":{@}}}"#, Draft4, &[("#/not/properties/a", ODD)]),
    place(r#""propertyNames":{"not":{@}}"#, Draft6, &[("#/propertyNames/not", ODD)]),
];

const INSTANCES: [&str; 66] = [
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
    r#""xn--a""#,
    r#""ab.cd""#,
    r#""a..b""#,
    r#""axa""#,
    r#""aaxaa""#,
    r#""aaxa""#,
    r#""aa""#,
    r#""aaa""#,
    r#""{}""#,
    r#""[1""#,
    r#""W10=""#,
    r#""W10""#,
    r#""(a|b""#,
    r#""abcdefabcdef0""#,
    r#"{"axa":1}"#,
    r#"{"axa":"x"}"#,
    r#"{"aa":"x","xn--a":1}"#,
    r#"[["xn--a","a"],"b","xn--a"]"#,
];

/// A schema of the table.
struct Case {
    text: String,
    options: Options,
    /// Location of the constraint's first keyword → its routes in the positions where it stands.
    routes: BTreeMap<String, Vec<Route>>,
}

impl Case {
    /// `None` where no value is valid.
    fn compile(&self) -> Option<Grammar> {
        match Grammar::compile(&self.text, &self.options) {
            Err(error) if error.kind() == ErrorKind::Unsatisfiable => None,
            other => Some(other.unwrap_or_else(|error| panic!("{error}: {}", self.text))),
        }
    }
}

/// Every constraint in every place, in every dialect that has both.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for constraint in &CONSTRAINTS {
        let keyword = constraint.body.split('"').nth(1).unwrap();
        for place in &PLACES {
            for dialect in Dialect::ALL {
                // Items in list form are not in the last dialect.
                let old_list = place.around.contains(r#""items":["#) && dialect == D20;
                let known = constraint.from.max(place.since)..=constraint.to;
                if !known.contains(&dialect) || old_list {
                    continue;
                }
                let body = place.around.replace('@', constraint.body);
                let text = format!(r#"{{"$schema":"{}","#, dialect.uri().unwrap()) + &body + "}";
                let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
                let mut options =
                    Options { policy, content: Content::Enforce, ..Options::default() };
                (constraint.limits)(&mut options.limits);
                let mut routes = BTreeMap::new();
                for (at, positions) in place.stands {
                    if let Some(by_position) = constraint.routes {
                        let here = positions.iter().map(|&position| by_position[position]);
                        routes.insert(format!("{at}/{keyword}"), here.collect());
                    }
                }
                all.push(Case { text, options, routes });
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
    let (mut valid, mut invalid, mut accepted, mut random) = (0, 0, 0, Random(3));
    for case in cases() {
        let text = &case.text;
        let validator = Validator::new(text, &case.options).unwrap();
        let Some(grammar) = case.compile() else {
            for instance in INSTANCES {
                let violations = validator.violations(instance, &Report::default()).unwrap();
                assert!(!violations.is_empty(), "{text} is said to be unsatisfiable: {instance}");
            }
            continue;
        };
        let engine = grammar.bind(&vocabulary).unwrap();
        for instance in INSTANCES {
            let mut matcher = engine.matcher();
            if !validator.violations(instance, grammar.report()).unwrap().is_empty() {
                invalid += 1;
                let takes = matcher.accept_bytes(instance.as_bytes()).is_ok();
                accepted += usize::from(takes && matcher.is_accepting());
                continue;
            }
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
    println!("{valid} valid, {invalid} invalid instances, of which {accepted} are accepted");
    assert!(valid > 20_000 && invalid > 10_000 && accepted > 1_000);
}

/// What the mask leaves, the check finds, and knows as routed.
#[test]
fn every_violation_is_routed() {
    let vocabulary = vocabulary("fused");
    let mut wrong = BTreeMap::new();
    for case in cases() {
        let Some(grammar) = case.compile() else { continue };
        let engine = grammar.bind(&vocabulary).unwrap();
        let validator = Validator::new(&case.text, &case.options).unwrap();
        let located = |location: &str| grammar.report().route_of(location).is_some();
        for instance in INSTANCES {
            let mut matcher = engine.matcher();
            if matcher.accept_bytes(instance.as_bytes()).is_ok() && matcher.is_accepting() {
                for violation in validator.violations(instance, grammar.report()).unwrap() {
                    if !violation.routed || !located(&violation.location) {
                        wrong.insert(violation.location, format!("{} with {instance}", case.text));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} locations: {wrong:#?}", wrong.len());
}

#[test]
fn every_occurrence_has_one_entry_with_its_route() {
    let (mut entries, mut listed_uses, mut wrong) = (0, 0, Vec::new());
    for case in cases() {
        let (text, Some(grammar)) = (&case.text, case.compile()) else { continue };
        let mut found = Vec::new();
        occurrences(&serde_json::from_str(text).unwrap(), "#", &mut found);
        let report = grammar.report();
        let mut listed: Vec<String> =
            report.entries().iter().map(|entry| entry.location.clone()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found, "{text}");
        for entry in report.entries() {
            let label = format!("{} of {text}", entry.location);
            assert!(!entry.reason.is_empty(), "{label}");
            assert_eq!(entry.check.is_some(), entry.route > Route::Mask, "{label}");
            if let Some(weakest) = entry.uses.iter().map(|one| one.route).max() {
                assert_eq!(entry.route, weakest, "{label}");
                assert!(entry.uses.iter().any(|one| one.route < weakest), "{label}");
                listed_uses += 1;
            }
            if let Some(expected) = case.routes.get(&entry.location) {
                let weakest = expected.iter().max();
                // A limit may leave out more around it.
                let limited = report.entries().iter().any(|other| other.limit.is_some());
                let as_expected = match limited {
                    true => Some(&entry.route) >= weakest,
                    false => Some(&entry.route) == weakest,
                };
                if !as_expected {
                    wrong.push(format!("{label}: {}: {}", entry.route, entry.reason));
                }
                let differ = expected.iter().any(|route| Some(route) != weakest);
                let expected = if differ { expected.clone() } else { Vec::new() };
                let uses: Vec<Route> = entry.uses.iter().map(|one| one.route).collect();
                // Where it may be left out with what holds it, there are more of them.
                let is_alone = !limited && !text.contains(r#""then":{""#);
                if is_alone && uses != expected {
                    wrong.push(format!("{label}: {:?}", entry.uses));
                }
            }
            entries += 1;
        }
        let exact = report.entries().iter().all(|entry| entry.route <= Route::Mask);
        assert_eq!(report.is_exact(), exact, "{text}");
        let routed = case.routes.values().flatten().any(|route| *route > Route::Mask);
        assert!(!exact || !routed, "{text}");
    }
    println!("{entries} entries, {listed_uses} with a list of uses");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(entries > 3_000 && listed_uses > 100, "{entries}, {listed_uses}");
}

/// One subschema, reached in several positions.
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
            r##"{{"$defs":{{"d":{{"type":"string","format":"hostname"}}}},"properties":{{
                "a":{{"$ref":"#/$defs/d"}},"b":{second}}}}}"##
        );
        Grammar::compile(&text, &Options::default()).unwrap().report().clone()
    };
    let d = r##"{"$ref":"#/$defs/d"}"##;
    let (positive, negative) = (("positive", Route::MaskCheck), ("negative", Route::Check));
    for (second, is_negated) in [
        (d.to_owned(), false),
        (format!(r#"{{"not":{d}}}"#), true),
        (format!(r#"{{"not":{{"not":{d}}}}}"#), false),
        (format!(r#"{{"not":{{"not":{{"not":{d}}}}}}}"#), true),
        (format!(r#"{{"oneOf":[{d}]}}"#), true),
        (format!(r#"{{"if":{d},"then":true}}"#), true),
        (format!(r#"{{"if":true,"then":{d}}}"#), false),
        (format!(r#"{{"if":true,"else":{{"not":{d}}}}}"#), true),
        (format!(r#"{{"unevaluatedItems":{d}}}"#), false),
        (format!(r#"{{"unevaluatedProperties":{d}}}"#), false),
        (format!(r#"{{"dependentSchemas":{{"a":{d}}}}}"#), false),
        (format!(r#"{{"contains":{d}}}"#), false),
        (format!(r#"{{"contains":{d},"maxContains":3}}"#), true),
        (format!(r#"{{"not":{{"items":{{"not":{d}}}}}}}"#), false),
    ] {
        let report = report(&second);
        let format = match is_negated {
            true => (Route::Check, vec![positive, negative]),
            false => (Route::MaskCheck, vec![]),
        };
        assert_eq!(uses(&report, "#/$defs/d/format"), format, "{second}");
        // Its uses do not differ.
        assert_eq!(uses(&report, "#/$defs/d/type"), (Route::Mask, vec![]), "{second}");
        assert_eq!(uses(&report, "#/properties/a/$ref"), (Route::MaskCheck, vec![]), "{second}");
    }
    // What a condition decides is not all known where the condition is not.
    let blurred =
        report(&format!(r#"{{"if":{d},"then":{{"minLength":2}},"else":{{"type":"null"}}}}"#));
    let (mask, check) = (("positive", Route::Mask), ("positive", Route::Check));
    for keyword in ["then", "else"] {
        let at = format!("#/properties/b/{keyword}");
        assert_eq!(uses(&blurred, &at), (Route::MaskCheck, vec![]), "{at}");
    }
    let at = "#/properties/b/then/minLength";
    assert_eq!(uses(&blurred, at), (Route::Check, vec![mask, check]));
}
