//! Objects that ask something of their members together (counts, names that need others, some
//! member that must be there) against all small documents.

use crate::generator::Random;
use crate::support::{amount, any_allowed, mask, vocabulary};
use serde_json::{Map, Value, json};
use tokenmask::{Engine, ErrorKind, Grammar, Objects, Options, Order, SurfacePolicy, Whitespace};

/// Keys of the documents that are tried: some are declared, some needed, some match a pattern.
const KEYS: [&str; 7] = ["a", "b", "c", "d", "x1", "y", "z"];
const VALUES: [&str; 2] = ["1", "\"s\""];

/// A schema of objects, and the policy under which it is read.
struct Case {
    schema: Value,
    order: Order,
    objects: Objects,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        let names = ["a", "b", "c", "d"];
        let leaf = |random: &mut Random| match random.below(6) {
            0 => json!(false),
            1 | 2 => json!({"type": "integer"}),
            3 => json!({"type": "string"}),
            _ => json!({}),
        };
        if random.chance(80) {
            let mut properties = Map::new();
            for name in names {
                if random.chance(60) {
                    properties.insert(name.into(), leaf(random));
                }
            }
            schema.insert("properties".into(), properties.into());
        }
        if random.chance(50) {
            schema.insert("minProperties".into(), json!(random.below(5)));
        }
        if random.chance(50) {
            schema.insert("maxProperties".into(), json!(random.below(5)));
        }
        if random.chance(60) {
            let mut needs = Map::new();
            for name in names {
                if random.chance(40) {
                    let of = |random: &mut Random| {
                        *["a", "b", "c", "d", "y"].get(random.below(5)).unwrap()
                    };
                    let list: Vec<&str> = match random.below(3) {
                        0 => vec![of(random)],
                        1 => vec![of(random), "z"],
                        _ => vec![of(random), of(random)],
                    };
                    let mut list = list;
                    list.sort_unstable();
                    list.dedup();
                    needs.insert(name.into(), json!(list));
                }
            }
            schema.insert("dependentRequired".into(), needs.into());
        }
        if random.chance(40) {
            let required: Vec<&str> = names.into_iter().filter(|_| random.chance(30)).collect();
            schema.insert("required".into(), json!(required));
        }
        if random.chance(40) {
            let patterns = ["^x", "^[yz]$", "^(x1|y)$", "^.$"];
            let pattern = patterns[random.below(patterns.len())];
            schema.insert("patternProperties".into(), json!({pattern: leaf(random)}));
        }
        if random.chance(50) {
            schema.insert("additionalProperties".into(), leaf(random));
        }
        if random.chance(25) {
            schema.insert("propertyNames".into(), json!({"pattern": "^[a-dxy]"}));
        }
        if random.chance(50) {
            let branch = |random: &mut Random| {
                let name = names[random.below(4)];
                match random.below(3) {
                    0 => json!({"required": [name]}),
                    1 => json!({"required": [name], "maxProperties": 3}),
                    _ => json!({"required": [name], "minProperties": 1 + random.below(3)}),
                }
            };
            let keyword = ["anyOf", "allOf"][random.below(2)];
            schema.insert(keyword.into(), json!([branch(random), branch(random)]));
        }
        if random.chance(40) {
            let nots = (0..1 + random.below(3)).map(|_| some_member(random)).collect();
            add_all_of(&mut schema, nots);
            if random.chance(60) {
                schema.insert("maxProperties".into(), json!(1 + random.below(3)));
            }
        }
        if random.chance(25) {
            add_all_of(&mut schema, shares_names(random, leaf));
        }
        let order = if random.chance(50) { Order::Declared } else { Order::Any };
        let objects = if random.chance(25) { Objects::Closed } else { Objects::Open };
        Case { schema: schema.into(), order, objects }
    }

    fn options(&self) -> Options {
        let policy = SurfacePolicy {
            whitespace: Whitespace::Compact,
            order: self.order,
            objects: self.objects,
            ..SurfacePolicy::default()
        };
        Options { policy, ..Options::default() }
    }

    /// The names that have a place in the declared order, in that order.
    fn placed(&self) -> Vec<String> {
        let schema = &self.schema;
        let mut names: Vec<String> = Vec::new();
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            names.extend(properties.keys().cloned());
        }
        names
    }
}

/// All sequences of distinct keys with values, up to a length.
fn documents(most: usize) -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let to = all.len();
        for index in from..to {
            for key in KEYS {
                if all[index].iter().any(|(known, _)| *known == key) {
                    continue;
                }
                for value in VALUES {
                    let mut longer = all[index].clone();
                    longer.push((key, value));
                    all.push(longer);
                }
            }
        }
        from = to;
    }
    all
}

fn text(document: &[(&str, &str)]) -> String {
    let members: Vec<String> = document.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
    format!("{{{}}}", members.join(","))
}

fn accepts(engine: &Engine, text: &str) -> bool {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Walks at random; no mask is empty, each holds exactly the tokens that are accepted, a fresh engine
/// makes the same ones, and every completion ends the document.
fn walk(case: &Case, grammar: &Grammar, engine: &Engine, random: &mut Random) -> usize {
    let mut matcher = engine.matcher();
    let (vocabulary, mut written, mut compared) = (engine.vocabulary(), Vec::new(), 0);
    for _ in 0..30 {
        let now = mask(&matcher);
        let note = || {
            format!("{} {:?} after {}", case.schema, case.order, String::from_utf8_lossy(&written))
        };
        assert!(now.iter().next().is_some(), "an empty mask: {}", note());
        if random.chance(40) {
            for token in 0..vocabulary.width() as u32 {
                let accepted = matcher.validate(&[token]) == 1;
                let bytes =
                    String::from_utf8_lossy(vocabulary.token_bytes(token).unwrap_or_default());
                assert_eq!(now.allows(token), accepted, "{token} {bytes:?}: {}", note());
            }
            let fresh = grammar.bind(vocabulary).unwrap();
            let mut again = fresh.matcher();
            again.accept_bytes(&written).unwrap();
            assert_eq!(mask(&again), now, "fresh: {}", note());
            let end = matcher.shortest_completion().unwrap_or_else(|e| panic!("{e}: {}", note()));
            let mut finished = matcher.clone();
            let ends = finished.accept_bytes(&end).is_ok() && finished.is_accepting();
            assert!(ends, "{}: {}", String::from_utf8_lossy(&end), note());
            compared += 1;
        }
        // Keys that mean something are seldom met by chance.
        let liked: Vec<u32> = now
            .iter()
            .filter(|&id| {
                let bytes = vocabulary.token_bytes(id).unwrap_or_default();
                bytes.len() > 1 || bytes.iter().all(|byte| b"{}\",:abcdxyz1".contains(byte))
            })
            .collect();
        let token = match liked.is_empty() || random.chance(5) {
            true => any_allowed(&now, random),
            false => liked[random.below(liked.len())],
        };
        if vocabulary.is_end(token) {
            break;
        }
        written.extend_from_slice(vocabulary.token_bytes(token).unwrap());
        matcher.accept(token).unwrap();
    }
    compared
}

#[test]
fn generated_objects_hold_what_all_small_documents_say() {
    let other = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let mut random = Random(91 + 1_000 * other.unwrap_or(0));
    let (few, many) = (documents(3), documents(4));
    let vocabulary = vocabulary("fused");
    let (mut valid, mut empty, mut compared) = (0, 0, 0);
    let (mut inexact, mut inexact_some) = (0, 0);
    for round in 0..amount(300, 4_000) {
        let case = Case::random(&mut random);
        let validator = jsonschema::validator_for(&case.schema).unwrap();
        let placed = case.placed();
        let documents = if round % 20 == 0 { &many } else { &few };
        let grammar = Grammar::compile(&case.schema.to_string(), &case.options());
        let engine = match grammar {
            Ok(ref grammar) => Some(grammar.bind(&vocabulary).unwrap()),
            Err(ref error) if error.kind() == ErrorKind::Unsatisfiable => None,
            Err(ref error) => panic!("{error}: {}", case.schema),
        };
        empty += usize::from(engine.is_none());
        // Names that need each other beside both counts may be left to the check.
        let exact = grammar.as_ref().is_ok_and(|grammar| grammar.report().is_exact());
        let is_left = !exact && engine.is_some();
        inexact += usize::from(is_left && !case.has_some());
        inexact_some += usize::from(is_left && case.has_some());
        for document in documents {
            let text = text(document);
            let is_valid = validator.is_valid(&serde_json::from_str(&text).unwrap());
            let accepted = engine.as_ref().is_some_and(|engine| accepts(engine, &text));
            let note = || format!("{} {:?} {:?}: {text}", case.schema, case.order, case.objects);
            if accepted {
                assert!(is_valid || !exact, "accepted: {}", note());
                valid += usize::from(is_valid);
            } else if is_valid && case.objects == Objects::Open && case.order == Order::Any {
                panic!("refused: {}", note());
            } else if is_valid && case.objects == Objects::Open {
                // Some order of the same members is the declared one.
                let mut sorted = document.clone();
                let required = case.required();
                let place = |key: &str| {
                    let place = placed.iter().position(|name| name == key);
                    let only = || required.iter().position(|name| name == key);
                    place.or_else(|| Some(placed.len() + only()?)).unwrap_or(usize::MAX)
                };
                sorted.sort_by_key(|(key, _)| place(key));
                let sorted = self::text(&sorted);
                let engine = engine.as_ref();
                assert!(sorted != text || case.branches(), "refused though in order: {}", note());
                assert!(
                    case.branches() || engine.is_some_and(|engine| accepts(engine, &sorted)),
                    "refused in every order: {}",
                    note()
                );
            }
        }
        if let (Some(engine), Ok(grammar)) = (&engine, &grammar) {
            for _ in 0..3 {
                compared += walk(&case, grammar, engine, &mut random);
            }
        }
    }
    println!(
        "{valid} valid documents, {empty} empty and {inexact} + {inexact_some} inexact schemas, \
         {compared} masks"
    );
    assert!(50 * inexact < amount(300, 4_000), "{inexact}");
    assert!(12 * inexact_some < amount(300, 4_000), "{inexact_some}");
    assert!(valid > 5_000 && empty > 5 && compared > 1_000, "{valid} {empty} {compared}");
}

impl Case {
    fn required(&self) -> Vec<String> {
        let list = self.schema.get("required").and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    /// Whether some member must satisfy a constraint.
    fn has_some(&self) -> bool {
        let all = self.schema.get("allOf").and_then(Value::as_array);
        all.into_iter().flatten().any(|branch| branch.get("not").is_some())
    }

    /// Whether it has branches, which declare names of their own.
    fn branches(&self) -> bool {
        let all = ["anyOf", "allOf"].into_iter().filter_map(|kw| self.schema.get(kw)?.as_array());
        all.flatten().any(|branch| branch.get("not").is_none())
    }
}

/// Asks for `more`, too.
fn add_all_of(schema: &mut Map<String, Value>, more: Vec<Value>) {
    match schema.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(all) => all.extend(more),
        None => drop(schema.insert("allOf".into(), more.into())),
    }
}

/// Several negations, or branches of which one holds, that speak of the same names: most of one, in
/// the same way, and each of others.
fn shares_names(random: &mut Random, leaf: impl Fn(&mut Random) -> Value) -> Vec<Value> {
    let (shared, set) = (["a", "b", "x1"][random.below(3)], leaf(random));
    let mut branch = || {
        let mut properties = Map::new();
        for name in ["a", "b", "c", "y"] {
            if random.chance(50) {
                properties.insert(name.into(), leaf(random));
            }
        }
        if random.chance(90) {
            properties.insert(shared.into(), set.clone());
        }
        let names: Vec<String> = properties.keys().cloned().collect();
        let mut branch = json!({"properties": properties});
        if random.chance(15) {
            branch["required"] = names.into_iter().filter(|_| random.chance(50)).collect();
        }
        branch
    };
    let branches: Vec<Value> = (0..9).map(|_| branch()).collect();
    let count = 3 + random.below(7);
    if random.chance(30) {
        return vec![json!({"oneOf": branches[..count]})];
    }
    branches[..count].iter().map(|branch| json!({"not": branch})).collect()
}

/// A constraint that some member must satisfy: the negation of one on all of them.
fn some_member(random: &mut Random) -> Value {
    let patterns = ["^x", "^[yz]$", "1", "x|y", "^[a-d]", "^[b-y]$", "^"];
    let mut pattern = || patterns[random.below(patterns.len())];
    let (first, second) = (pattern(), pattern());
    let leaf = match random.below(4) {
        0 => json!(false),
        1 => json!({"type": "integer"}),
        2 => json!({"type": "string"}),
        _ => json!({"const": 1}),
    };
    let all = match random.below(6) {
        0 => json!({"propertyNames": {"pattern": first}}),
        1 | 2 => json!({"propertyNames": {"not": {"pattern": first}}}),
        3 => json!({"patternProperties": {first: leaf}}),
        4 => json!({"patternProperties": {first: leaf, second: {"type": "string"}}}),
        _ => json!({"properties": {"a": true, "y": leaf}, "additionalProperties": leaf}),
    };
    json!({"not": all})
}

/// Sixteen unions of constraints on some member: far more combinations than there may be shapes.
#[test]
fn unions_of_members_are_taken_together() {
    let branch = |i: usize| {
        json!({"anyOf": [{"required": [format!("a{i}")]}, {"required": [format!("b{i}")]},
            {"properties": {format!("c{i}"): {"type": "integer"}}, "required": [format!("c{i}")]}]})
    };
    for order in [Order::Declared, Order::Any] {
        let all: Vec<Value> = (0..16).map(branch).collect();
        let schema = json!({"type": "object", "allOf": all, "maxProperties": 17});
        let policy = SurfacePolicy { order, ..SurfacePolicy::default() };
        let options = Options { policy, ..Options::default() };
        let grammar = Grammar::compile(&schema.to_string(), &options).unwrap();
        assert!(grammar.report().is_exact());
        let engine = grammar.bind(&vocabulary("fused")).unwrap();
        let members = |c: &str, last: &str| {
            let keys = (0..15).map(|i| match i % 3 {
                0 => format!("\"a{i}\":null"),
                1 => format!("\"b{i}\":0"),
                _ => format!("\"c{i}\":{c}"),
            });
            let keys: Vec<String> = keys.chain([last.to_owned()]).collect();
            format!("{{{}}}", keys.join(","))
        };
        assert!(accepts(&engine, &members("1", "\"c15\":2")));
        assert!(accepts(&engine, &members("1", "\"x\":0,\"a15\":2")));
        assert!(!accepts(&engine, &members("1", "\"x\":2")));
        assert!(!accepts(&engine, &members("\"\"", "\"a15\":2")));
        assert!(!accepts(&engine, &members("1", "\"x\":0,\"y\":0,\"a15\":2")));
        // One key more may stand there, if `c14` is no integer.
        assert!(accepts(
            &engine,
            &members("1", "\"b15\":2").replace("\"c14\":1", "\"c14\":null,\"b14\":1")
        ));
        let mut matcher = engine.matcher();
        matcher.accept_bytes(b"{\"x\":1,\"a3\":").unwrap();
        let end = matcher.shortest_completion().unwrap();
        matcher.accept_bytes(&end).unwrap();
        assert!(matcher.is_accepting(), "{}", String::from_utf8_lossy(&end));
    }
}

/// Hundreds of optional names with counts: masks are shared, and few are made.
#[test]
fn counts_beside_many_names() {
    let names: Map<String, Value> =
        (0..400).map(|i| (format!("k{i}"), json!({"type": "integer"}))).collect();
    let schema = json!({"type": "object", "properties": names, "additionalProperties": false,
        "minProperties": 3, "maxProperties": 200});
    for order in [Order::Declared, Order::Any] {
        let policy =
            SurfacePolicy { order, whitespace: Whitespace::Compact, ..SurfacePolicy::default() };
        let options = Options { policy, ..Options::default() };
        let grammar = Grammar::compile(&schema.to_string(), &options).unwrap();
        let engine = grammar.bind(&vocabulary("fused")).unwrap();
        let keys: Vec<String> = names_in_order(&schema);
        let members = |keys: &[String]| {
            let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(!accepts(&engine, &members(&keys[..2])));
        assert!(accepts(&engine, &members(&keys[..3])));
        assert!(accepts(&engine, &members(&keys[200..])));
        assert!(!accepts(&engine, &members(&keys[199..])));
        let last = accepts(&engine, &members(&[&keys[397..], &keys[..1]].concat()));
        assert_eq!(last, order == Order::Any);
        let refused = |text: String| engine.matcher().accept_bytes(text.as_bytes()).is_err();
        assert_eq!(refused(format!("{{\"{}\"", keys[398])), order == Order::Declared);
        assert!(!refused(format!("{{\"{}\"", keys[397])));
    }
}

fn names_in_order(schema: &Value) -> Vec<String> {
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}
