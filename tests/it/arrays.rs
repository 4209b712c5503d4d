//! Arrays that count their items and arrays whose items differ, against all small documents, every
//! token tried out, and another validator.

use crate::generator::Random;
use crate::support::{amount, assert_masks_are_what_trying_gives, text_tokens, vocabulary, walk};
use serde_json::{Value, json};
use tokenmask::{Engine, ErrorKind, Grammar, Options, SurfacePolicy};

/// So many tokens are drawn, and liked those of which small arrays are made.
const LIKELY: (usize, &[u8]) = (12, b"\",[]{}1a0b");

/// The values of which small documents are made.
fn values() -> Vec<Value> {
    vec![json!(1), json!(2), json!(10), json!("a"), json!("ab"), json!(true), json!([1]), json!({})]
}

/// What an item may have to be.
fn item(random: &mut Random) -> Value {
    let sets = [
        json!({"enum": [1, 2]}),
        json!({"enum": [1, "a", "ab"]}),
        json!({"enum": [1, 10, 100]}),
        json!({"type": "boolean"}),
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!({"type": "string"}),
        json!({"type": ["string", "integer", "array"]}),
        json!({"type": "string", "maxLength": 1}),
        json!({"pattern": "^(a|ab|x.*)$", "type": ["string", "boolean"]}),
        json!({"type": "number", "maximum": 2}),
        json!({"const": 1}),
        json!(true),
        json!({"type": ["integer", "object"]}),
        json!({"type": "string", "pattern": "^[a-z]+$"}),
        json!({"anyOf": [{"enum": ["a", "ab", "b"]}, {"type": "string", "pattern": "a$"}]}),
        json!({"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": true}),
    ];
    sets[random.below(sets.len())].clone()
}

fn schema(random: &mut Random) -> Value {
    let mut schema = json!({"type": "array"});
    let mut set = |key: &str, value: Value| schema[key] = value;
    if random.below(3) == 0 {
        set("prefixItems", (0..1 + random.below(2)).map(|_| item(random)).collect());
    }
    if random.below(4) > 0 {
        set("items", item(random));
    }
    if random.below(2) == 0 {
        set("uniqueItems", json!(true));
    }
    if random.below(2) == 0 {
        set("minItems", json!(random.below(4)));
    }
    if random.below(2) == 0 {
        set("maxItems", json!(1 + random.below(3)));
    }
    if random.below(2) == 0 {
        set("contains", item(random));
        if random.below(2) == 0 {
            set("minContains", json!(random.below(3)));
        }
        if random.below(2) == 0 {
            set("maxContains", json!(random.below(3)));
        }
    }
    if random.below(4) == 0 {
        let all = (0..1 + random.below(2)).map(|_| json!({"contains": item(random)}));
        set("allOf", all.collect());
    }
    schema
}

/// All arrays of at most three of the values.
fn documents() -> Vec<Value> {
    let values = values();
    let mut all = vec![Vec::new()];
    for length in 0..3 {
        let longest: Vec<Vec<Value>> =
            all.iter().filter(|items| items.len() == length).cloned().collect();
        for items in longest {
            all.extend(
                values.iter().map(|value| [&items[..], std::slice::from_ref(value)].concat()),
            );
        }
    }
    all.into_iter().map(Value::Array).collect()
}

fn accepts(engine: &Engine, document: &Value) -> bool {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(document.to_string().as_bytes()).is_ok() && matcher.is_accepting()
}

fn engine(schema: &Value, vocabulary: &str) -> Option<(Engine, bool)> {
    match Grammar::compile(&schema.to_string(), &Options::default()) {
        Ok(grammar) => {
            let exact = grammar.report().is_exact();
            Some((grammar.bind(&crate::support::vocabulary(vocabulary)).unwrap(), exact))
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsatisfiable, "{error}: {schema}");
            None
        }
    }
}

#[test]
fn small_documents_are_accepted_where_they_are_valid() {
    let mut random = Random(61);
    let (documents, mut exacts) = (documents(), 0);
    for _ in 0..amount(400, 10_000) {
        let schema = schema(&mut random);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let engine = engine(&schema, "bytes");
        exacts += usize::from(engine.as_ref().is_none_or(|(_, exact)| *exact));
        for document in &documents {
            let valid = validator.is_valid(document);
            match &engine {
                None => assert!(!valid, "{document} is valid: {schema}"),
                Some((engine, exact)) => {
                    let accepted = accepts(engine, document);
                    assert!(accepted || !valid, "{document} is refused: {schema}");
                    assert!(valid || !accepted || !exact, "{document} is accepted: {schema}");
                }
            }
        }
    }
    assert!(exacts > amount(200, 5_000), "{exacts} were exact");
}

#[test]
fn walks_end_and_their_documents_are_valid() {
    let mut random = Random(67);
    for _ in 0..amount(400, 10_000) {
        let schema = schema(&mut random);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let Some((engine, exact)) = engine(&schema, "fused") else { continue };
        for length in [0, 2, 5, 9, 14, 25] {
            let text = walk(&engine, &mut random, length)
                .unwrap_or_else(|error| panic!("{error}: {schema}"));
            let Ok(document) = serde_json::from_slice(&text) else { continue };
            let shown = String::from_utf8_lossy(&text);
            // The validator reads numbers as `f64`: of so many digits it takes two for the same.
            let rounded = text.split(|byte| !b"0123456789.".contains(byte)).any(|n| n.len() > 16);
            assert!(
                !exact || rounded || validator.is_valid(&document),
                "{shown} is not valid: {schema}"
            );
        }
    }
}

#[test]
fn masks_are_what_trying_every_token_gives() {
    let mut random = Random(71);
    for (name, states, share) in
        [("fused", amount(1_500, 20_000), 1), ("llama3", amount(60, 2_000), 29)]
    {
        let vocabulary = vocabulary(name);
        let ids: Vec<u32> = text_tokens(&vocabulary).into_iter().map(|(_, id)| id).collect();
        let mut seen = 0;
        while seen < states {
            let schema = schema(&mut random);
            let Some((engine, _)) = engine(&schema, name) else { continue };
            seen += assert_masks_are_what_trying_gives(
                &engine,
                (&ids, share),
                14,
                LIKELY,
                &mut random,
                &schema,
            );
        }
    }
}

#[test]
fn the_last_values_of_a_set_are_forced() {
    let schema = json!({"type": "array", "items": {"enum": ["ab", "ac", "b"]}, "uniqueItems": true,
        "minItems": 3});
    let options = Options { policy: SurfacePolicy::tight(), ..Options::default() };
    let grammar = Grammar::compile(&schema.to_string(), &options).unwrap();
    assert!(grammar.report().is_exact());
    let mut matcher = grammar.bind(&vocabulary("bytes")).unwrap().matcher();
    matcher.accept_bytes(br#"["ab","b",""#).unwrap();
    assert_eq!(matcher.forced_bytes(), b"ac\"]");
    assert_eq!(matcher.shortest_completion().unwrap(), br#"ac"]"#);
}

#[test]
fn large_counts_are_no_work() {
    let schema = json!({"type": "array", "items": {"type": ["integer", "null"]},
        "contains": {"type": "null"}, "minItems": 2_000_000_000, "minContains": 1_000_000_000});
    let (engine, exact) = engine(&schema, "fused").unwrap();
    assert!(exact);
    let mut matcher = engine.matcher();
    matcher.accept_bytes(b"[1,null,2,").unwrap();
    assert!(matcher.accept_bytes(b"]").is_err());
    assert_eq!(matcher.shortest_completion().unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn too_few_values_are_unsatisfiable() {
    for schema in [
        json!({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "items": {"enum": [1, 1.0, 2]}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "items": {"enum": [1]}, "contains": {"const": 2}}),
    ] {
        assert!(engine(&schema, "bytes").is_none(), "{schema}");
    }
}
