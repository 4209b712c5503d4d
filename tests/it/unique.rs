//! Arrays whose items differ and are themselves arrays, objects and texts of few values: against all
//! small documents, every token tried out, random walks, and another validator.

use crate::differential::is_exact;
use crate::generator::Random;
use crate::support::{
    amount, assert_masks_are_what_trying_gives, likely, mask, text_tokens, vocabulary, walk,
};
use serde_json::{Value, json};
use tokenmask::{Engine, ErrorKind, Grammar, Numbers, Options, Order, SurfacePolicy};

/// So many tokens are drawn, and liked those of which small arrays are made.
const LIKELY: (usize, &[u8]) = (16, b"\",:[]{}01.eab");

/// Values of few or many other values.
fn leaf(random: &mut Random) -> Value {
    let sets = [
        json!({"const": 1}),
        json!({"enum": [1, 2]}),
        json!({"enum": ["a", "b"]}),
        json!({"enum": ["a", 1, null]}),
        json!({"type": "boolean"}),
        json!({"type": "string"}),
        json!({"type": "string", "maxLength": 1}),
        json!({"type": ["string", "null"]}),
        json!({"type": "integer"}),
        json!({"type": "integer", "minimum": 0}),
        json!({"type": "integer", "minimum": 0, "maximum": 2}),
        json!({"type": "number", "multipleOf": 0.5, "minimum": 0.5, "maximum": 1}),
        json!({"pattern": "^[ab]{1,2}$", "type": "string"}),
        json!({"pattern": "^a+b$", "type": "string"}),
        json!({"pattern": "^[ab]+$", "type": "string", "maxLength": 2}),
        json!({"pattern": "^[a-c]*$", "type": "string", "minLength": 1, "maxLength": 300}),
        json!({"anyOf": [{"enum": ["a", "x"]}, {"pattern": "^[ab]$", "type": "string"}]}),
        json!({"anyOf": [{"enum": ["a", "x"]}, {"pattern": "^a+$", "type": "string"}]}),
        json!({}),
    ];
    sets[random.below(sets.len())].clone()
}

fn array(random: &mut Random) -> Value {
    let mut array = json!({"type": "array"});
    if random.chance(30) {
        array["prefixItems"] = (0..1 + random.below(2)).map(|_| leaf(random)).collect();
    }
    array["items"] = if random.chance(20) { json!(false) } else { leaf(random) };
    if random.chance(60) {
        array["maxItems"] = json!(random.below(3));
    }
    if random.chance(20) {
        array["minItems"] = json!(random.below(3));
    }
    if random.chance(30) {
        array["uniqueItems"] = json!(true);
    }
    if random.chance(20) {
        array["contains"] = leaf(random);
    }
    array
}

fn object(random: &mut Random, depth: usize) -> Value {
    let mut object = json!({"type": "object"});
    for name in ["a", "ab", "b"] {
        if random.chance(60) {
            let value = if random.chance(25) { item(random, depth + 1) } else { leaf(random) };
            object["properties"][name] = value;
            if random.chance(40) {
                match object.get_mut("required").and_then(Value::as_array_mut) {
                    Some(all) => all.push(json!(name)),
                    None => object["required"] = json!([name]),
                }
            }
        }
    }
    match random.below(8) {
        0 => {}
        1 => object["additionalProperties"] = leaf(random),
        2 => {
            object["patternProperties"] = json!({"^[bc]$": leaf(random)});
            object["additionalProperties"] = json!(false);
        }
        3 => {
            object["patternProperties"] = json!({"^c+$": leaf(random)});
            object["additionalProperties"] = json!(false);
        }
        _ => object["additionalProperties"] = json!(false),
    }
    if random.chance(20) {
        object["maxProperties"] = json!(random.below(3));
    }
    if random.chance(15) {
        object["minProperties"] = json!(1 + random.below(2));
    }
    if random.chance(15) {
        object["dependentRequired"] = json!({"a": ["b"]});
    }
    if random.chance(15) {
        object["anyOf"] = json!([{"required": ["a"]}, {"required": ["b"]}]);
    }
    object
}

/// What an item must be.
fn item(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 1 { 1 } else { 8 }) {
        0 => leaf(random),
        1 => array(random),
        2 => json!({"anyOf": [leaf(random), object(random, depth)]}),
        3 => json!({"oneOf": [object(random, depth), object(random, depth)]}),
        4 => json!({"anyOf": [array(random), object(random, depth)]}),
        _ => object(random, depth),
    }
}

fn schema(random: &mut Random) -> Value {
    let mut schema = json!({"type": "array", "uniqueItems": true, "items": item(random, 0)});
    if random.chance(30) {
        schema["minItems"] = json!(random.below(4));
    }
    if random.chance(30) {
        schema["maxItems"] = json!(1 + random.below(3));
    }
    if random.chance(10) {
        schema["prefixItems"] = json!([item(random, 0)]);
    }
    schema
}

fn options(random: &mut Random) -> Options {
    let mut policy =
        if random.chance(30) { SurfacePolicy::tight() } else { SurfacePolicy::default() };
    if random.chance(50) {
        policy.order = Order::Any;
    }
    if random.chance(30) {
        policy.numbers = Numbers::Any;
    }
    policy.objects = SurfacePolicy::default().objects;
    Options { policy, ..Options::default() }
}

/// The values of which small documents are made.
fn values() -> Vec<Value> {
    [
        "1",
        "0.5",
        "\"a\"",
        "\"b\"",
        "\"ab\"",
        "null",
        "true",
        "[]",
        "[1]",
        "[\"a\"]",
        "[1,\"a\"]",
        "{}",
        "{\"a\":1}",
        "{\"a\":2}",
        "{\"a\":\"a\"}",
        "{\"b\":1}",
        "{\"b\":\"a\"}",
        "{\"a\":1,\"b\":1}",
        "{\"a\":\"a\",\"b\":\"b\"}",
        "{\"ab\":true}",
        "{\"c\":1}",
        "{\"a\":{\"a\":1}}",
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect()
}

/// Arrays of at most three of the values.
fn documents(random: &mut Random) -> Vec<Value> {
    let values = values();
    let mut all = vec![json!([])];
    for first in &values {
        all.push(json!([first]));
        all.push(json!([first, first]));
        for _ in 0..4 {
            let mut value = || values[random.below(values.len())].clone();
            all.push(json!([first, value()]));
            all.push(json!([first, value(), value()]));
        }
    }
    all
}

fn engine(schema: &Value, options: &Options, vocabulary: &str) -> Option<(Engine, bool)> {
    match Grammar::compile(&schema.to_string(), options) {
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

fn accepts(engine: &Engine, document: &Value) -> bool {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(document.to_string().as_bytes()).is_ok() && matcher.is_accepting()
}

#[test]
fn small_documents_are_accepted_where_they_are_valid() {
    let mut random = Random(103);
    let mut exacts = 0;
    let rounds = amount(300, 8_000);
    for _ in 0..rounds {
        let schema = schema(&mut random);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let options = options(&mut random);
        // The order of names may refuse what is valid: as it does where items may be equal.
        let mut equal = schema.clone();
        equal["uniqueItems"] = json!(false);
        let equal = engine(&equal, &options, "bytes");
        let engine = engine(&schema, &options, "bytes");
        exacts += usize::from(engine.as_ref().is_none_or(|(_, exact)| *exact));
        for document in documents(&mut random) {
            let ordered = equal.as_ref().is_some_and(|(engine, _)| accepts(engine, &document));
            let valid = ordered && validator.is_valid(&document);
            match &engine {
                None => assert!(!valid, "{document} is valid: {schema}"),
                Some((engine, exact)) => {
                    let accepted = accepts(engine, &document);
                    assert!(accepted || !valid, "{document} is refused: {schema}");
                    assert!(valid || !accepted || !exact, "{document} is accepted: {schema}");
                }
            }
        }
    }
    assert!(exacts > rounds * 3 / 5, "{exacts} of {rounds} were exact");
}

#[test]
fn walks_end_and_their_documents_are_valid() {
    let mut random = Random(107);
    for _ in 0..amount(300, 8_000) {
        let schema = schema(&mut random);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let options = options(&mut random);
        let Some((engine, exact)) = engine(&schema, &options, "fused") else { continue };
        for length in [0, 3, 8, 15, 25, 40] {
            let text = small_walk(&engine, &mut random, length)
                .unwrap_or_else(|error| panic!("{error}: {schema}"));
            let Ok(document) = serde_json::from_slice(&text) else { continue };
            let shown = String::from_utf8_lossy(&text);
            // The validator reads numbers as `f64`: of many digits it takes two for the same.
            assert!(
                !exact || !is_exact(&shown) || validator.is_valid(&document),
                "{shown} is not valid: {schema}"
            );
        }
    }
}

/// Every second walk keeps to tokens of which small documents are made.
fn small_walk(engine: &Engine, random: &mut Random, length: usize) -> Result<Vec<u8>, String> {
    if random.chance(50) {
        return walk(engine, random, length);
    }
    let (mut matcher, mut written) = (engine.matcher(), Vec::new());
    let vocabulary = engine.vocabulary();
    for _ in 0..length {
        let token = likely(&mask(&matcher), vocabulary, LIKELY, random);
        if vocabulary.is_end(token) {
            return Ok(written);
        }
        written.extend_from_slice(vocabulary.token_bytes(token).unwrap());
        matcher.accept(token).unwrap();
        if mask(&matcher).iter().next().is_none() {
            return Err(format!("an empty mask after {}", String::from_utf8_lossy(&written)));
        }
    }
    let shown = || String::from_utf8_lossy(&written).into_owned();
    let end = matcher.shortest_completion().map_err(|e| format!("{e} after {}", shown()))?;
    matcher.accept_bytes(&end).map_err(|e| format!("{e} after {}", shown()))?;
    written.extend_from_slice(&end);
    Ok(written)
}

#[test]
fn masks_are_what_trying_every_token_gives() {
    let mut random = Random(109);
    for (name, states, share) in
        [("fused", amount(1_500, 20_000), 1), ("llama3", amount(60, 2_000), 29)]
    {
        let vocabulary = vocabulary(name);
        let ids: Vec<u32> = text_tokens(&vocabulary).into_iter().map(|(_, id)| id).collect();
        let mut seen = 0;
        while seen < states {
            let schema = schema(&mut random);
            let options = options(&mut random);
            let Some((engine, _)) = engine(&schema, &options, name) else { continue };
            for _ in 0..2 {
                seen += assert_masks_are_what_trying_gives(
                    &engine,
                    (&ids, share),
                    24,
                    LIKELY,
                    &mut random,
                    &schema,
                );
            }
        }
    }
}

#[test]
fn an_object_goes_where_a_value_is_left() {
    let schema = json!({"type": "array", "uniqueItems": true, "items": {
        "type": "object", "additionalProperties": false, "required": ["kind", "n"],
        "properties": {"kind": {"enum": ["a", "b"]}, "n": {"type": "integer", "enum": [1, 2]}}}});
    let options = Options { policy: SurfacePolicy::tight(), ..Options::default() };
    let (engine, exact) = engine(&schema, &options, "bytes").unwrap();
    assert!(exact);
    let mut matcher = engine.matcher();
    matcher.accept_bytes(br#"[{"kind":"a","n":1},{"kind":"a","n":2},{"kind":""#).unwrap();
    assert_eq!(matcher.forced_bytes(), br#"b","n":"#);
    matcher.accept_bytes(br#"b","n":2},{"#).unwrap();
    assert_eq!(matcher.forced_bytes(), br#""kind":"b","n":1}]"#);
}
