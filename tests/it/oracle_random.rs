//! The oracle on random schemas, against a tiny validator and `serde_json`.

use crate::generator::{Random, loops};
use crate::oracle::{Oracle, OracleMargin, OraclePolicy};
use regex_automata::meta::Regex;
use serde_json::{Map, Value};

const ANY: OraclePolicy = OraclePolicy::ANY;

/// A value against schemas that hold together; only the oracle's keywords, no dialect but the
/// undeclared one. Branches are chosen one by one, since the closed policy looks at all schemas
/// that hold together.
struct Case<'a> {
    root: &'a Value,
    value: &'a Value,
    closed: bool,
    /// A literal holds the value: it names every key.
    literal: bool,
}

impl<'a> Case<'a> {
    /// Whether the value is valid against all of `open` and of `chosen`, whose branches are chosen.
    fn holds(&self, mut open: Vec<&'a Value>, mut chosen: Vec<&'a Map<String, Value>>) -> bool {
        while let Some(schema) = open.pop() {
            let Value::Object(keywords) = schema else {
                if schema == &Value::Bool(false) {
                    return false;
                }
                continue;
            };
            if chosen.iter().any(|known| std::ptr::eq(*known, keywords)) {
                continue;
            }
            if !self.alone(keywords) {
                return false;
            }
            chosen.push(keywords);
            let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
            open.extend(list("allOf").into_iter().flatten());
            let target = keywords.get("$ref").and_then(Value::as_str);
            open.extend(target.map(|t| self.root.pointer(t.trim_start_matches('#')).unwrap()));
            if let Some(branches) = list("anyOf") {
                return branches.iter().any(|branch| {
                    self.holds([open.as_slice(), &[branch]].concat(), chosen.clone())
                });
            }
        }
        self.together(&chosen)
    }

    /// The keywords that look neither at members nor at other schemas.
    fn alone(&self, keywords: &Map<String, Value>) -> bool {
        let size = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
        let within = |n: usize, low: &str, high: &str| {
            n as u64 >= size(low).unwrap_or(0) && n as u64 <= size(high).unwrap_or(u64::MAX)
        };
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        let value = self.value;
        list("enum").is_none_or(|any| any.iter().any(|one| same(one, value)))
            && keywords.get("const").is_none_or(|one| same(one, value))
            && keywords.get("type").is_none_or(|types| match types {
                Value::Array(types) => types.iter().any(|name| is_type(name, value)),
                name => is_type(name, value),
            })
            && match value {
                Value::Number(number) => {
                    // The numbers of these tests are small, and multiples of 0.0001.
                    let units = |n: f64| (n * 10_000.0).round() as i64;
                    let value = units(number.as_f64().unwrap());
                    let of =
                        |keyword: &str| keywords.get(keyword).and_then(Value::as_f64).map(units);
                    of("minimum").is_none_or(|at| value >= at)
                        && of("maximum").is_none_or(|at| value <= at)
                        && of("exclusiveMinimum").is_none_or(|at| value > at)
                        && of("exclusiveMaximum").is_none_or(|at| value < at)
                        && of("multipleOf").is_none_or(|of| value % of == 0)
                }
                Value::String(text) => {
                    let pattern = keywords.get("pattern").and_then(Value::as_str);
                    within(text.chars().count(), "minLength", "maxLength")
                        && pattern.is_none_or(|p| Regex::new(p).unwrap().is_match(text.as_str()))
                        && (keywords.get("format") != Some(&Value::from("date")) || is_date(text))
                }
                Value::Array(items) => within(items.len(), "minItems", "maxItems"),
                Value::Object(members) => required(keywords).all(|name| members.contains_key(name)),
                _ => true,
            }
    }

    /// The keywords that look at members.
    fn together(&self, chosen: &[&'a Map<String, Value>]) -> bool {
        let names_all = |k: &&Map<String, Value>| k.contains_key("enum") || k.contains_key("const");
        let literal = self.literal || chosen.iter().any(names_all);
        let inner = |value: &'a Value, schemas| {
            Case { root: self.root, value, closed: self.closed, literal }.holds(schemas, Vec::new())
        };
        let properties = |k: &'a Map<String, Value>| k.get("properties").and_then(Value::as_object);
        let patterns = |k: &'a Map<String, Value>, key: &str| {
            let all = k.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
            let found = |pattern: &str| Regex::new(pattern).unwrap().is_match(key);
            all.filter(move |(pattern, _)| found(pattern))
                .map(|(_, schema)| schema)
                .collect::<Vec<_>>()
        };
        match self.value {
            Value::Array(items) => items.iter().enumerate().all(|(index, item)| {
                let schema = |k: &&'a Map<String, Value>| {
                    let prefix = k.get("prefixItems").and_then(Value::as_array);
                    prefix.and_then(|prefix| prefix.get(index)).or_else(|| k.get("items"))
                };
                inner(item, chosen.iter().filter_map(schema).collect())
            }),
            Value::Object(members) => {
                let named = |key: &str| {
                    let names = |k: &&'a Map<String, Value>| {
                        properties(k).is_some_and(|p| p.contains_key(key))
                            || required(k).any(|name| name == key)
                            || !patterns(k, key).is_empty()
                    };
                    literal || chosen.iter().any(names)
                };
                let closes = |k: &&Map<String, Value>| {
                    k.contains_key("properties") && !k.contains_key("additionalProperties")
                };
                let closed = self.closed && chosen.iter().any(closes);
                members.iter().all(|(key, value)| {
                    let schemas = |k: &&'a Map<String, Value>| {
                        let mut own = patterns(k, key);
                        own.extend(properties(k).and_then(|p| p.get(key)));
                        if own.is_empty() {
                            own.extend(k.get("additionalProperties"));
                        }
                        own
                    };
                    let names = chosen.iter().filter_map(|k| k.get("propertyNames")).collect();
                    let text = Value::from(key.as_str());
                    let inside =
                        Case { root: self.root, value: &text, closed: false, literal: false };
                    (!closed || named(key))
                        && inside.holds(names, Vec::new())
                        && inner(value, chosen.iter().flat_map(schemas).collect())
                })
            }
            _ => true,
        }
    }
}

fn required(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    keywords
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Whether `value` is valid.
fn valid(root: &Value, value: &Value, closed: bool) -> bool {
    Case { root, value, closed, literal: false }.holds(vec![root], Vec::new())
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// Whether `text` is a date: the twelve months, with leap years.
fn is_date(text: &str) -> bool {
    let form = Regex::new(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z").unwrap();
    if !form.is_match(text) {
        return false;
    }
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// Equality of JSON values, numbers by value.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => l.as_f64() == r.as_f64(),
        (Value::Array(l), Value::Array(r)) => {
            l.len() == r.len() && l.iter().zip(r).all(|(l, r)| same(l, r))
        }
        (Value::Object(l), Value::Object(r)) => {
            l.len() == r.len() && l.iter().all(|(key, l)| r.get(key).is_some_and(|r| same(l, r)))
        }
        _ => left == right,
    }
}

/// Seeds for the random tests.
fn rounds() -> u64 {
    std::env::var("ORACLE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

/// Random schemas and random values: accepted exactly where the validator agrees.
#[test]
fn agrees_with_the_validator() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..rounds() {
        let mut random = Random(seed);
        let text = random.any_schema();
        if loops(&text) {
            continue;
        }
        let Ok(schema) = serde_json::from_str::<Value>(&text) else { continue };
        if schema.pointer("/$defs/d").is_none() && text.contains("#/$defs/d") {
            continue;
        }
        let policy = OraclePolicy { closed: random.chance(50), margin: OracleMargin::None, ..ANY };
        let oracle = Oracle::new(&text, policy);
        if let Err(error) = &oracle {
            assert_eq!(error, "unsatisfiable", "{text}");
        }
        for _ in 0..60 {
            let value = random.value(3);
            let written = value.to_string();
            let expected = valid(&schema, &value, policy.closed);
            let found = oracle.as_ref().is_ok_and(|o| o.accepts(written.as_bytes()).is_ok());
            assert_eq!(found, expected, "seed {seed}: {text}\n{written}");
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
    }
    println!("{yes} valid, {no} invalid");
    assert!(yes > rounds() && no > rounds());
}

/// Random walks over live bytes: no dead end, and every finished text is valid JSON of the schema.
#[test]
fn walks_finish_and_are_valid() {
    let mut finished = 0;
    for seed in 0..rounds() {
        let mut random = Random(seed ^ 0xABCD_0000);
        let text = random.any_schema();
        // Numbers that `serde_json` cannot keep are for exact arithmetic.
        let policy = OraclePolicy { any_numbers: false, ..random.policy() };
        let Ok(oracle) = Oracle::new(&text, policy) else { continue };
        let looped = loops(&text);
        let schema: Value = serde_json::from_str(&text).unwrap();
        for _ in 0..3 {
            let Some(written) = walk(&oracle, &mut random, &text) else { continue };
            finished += 1;
            let written = String::from_utf8(written).expect("valid UTF-8");
            let value: Value = match serde_json::from_str(&written) {
                Ok(value) => value,
                // The form of any numbers goes beyond `f64`.
                Err(error) if error.to_string().contains("number out of range") => continue,
                Err(error) => panic!("{error}: {written}"),
            };
            assert!(
                looped || valid(&schema, &value, policy.closed),
                "seed {seed}: {text}\n{written}"
            );
            let relaxed = OraclePolicy { margin: OracleMargin::Both, closed: policy.closed, ..ANY };
            assert_eq!(
                Oracle::new(&text, relaxed).unwrap().accepts(written.as_bytes()),
                Ok(()),
                "{text}\n{written}"
            );
        }
    }
    assert!(finished as u64 > rounds(), "{finished}");
}

/// One walk; after 60 bytes closing bytes are preferred. `None` where it is still long after 600.
fn walk(oracle: &Oracle, random: &mut Random, schema: &str) -> Option<Vec<u8>> {
    let mut state = oracle.start();
    let mut written = Vec::new();
    while written.len() < 600 {
        if oracle.may_end(&state) && (written.len() > 40 || random.chance(30)) {
            return Some(written);
        }
        let live: Vec<u8> = (0..=255).filter(|&b| oracle.step(&state, b).is_some()).collect();
        if live.is_empty() {
            assert!(
                oracle.may_end(&state),
                "{schema}: dead end after {:?}",
                String::from_utf8_lossy(&written)
            );
            return Some(written);
        }
        let likely: Vec<u8> =
            live.iter().copied().filter(|b| b"\"\\ab\xC3\xED:,0.e-+".contains(b)).collect();
        let closing = b"\"]}tn:0,".iter().find(|b| live.contains(b));
        let byte = match closing {
            Some(&byte) if written.len() > 60 && random.chance(90) => byte,
            _ if !likely.is_empty() && random.chance(60) => likely[random.below(likely.len())],
            _ => live[random.below(live.len())],
        };
        state = oracle.step(&state, byte).unwrap();
        written.push(byte);
    }
    None
}

/// Every text of `value` without whitespace, with the keys in every order; `None` where too many.
fn orders(value: &Value) -> Option<Vec<String>> {
    let parts: Vec<Vec<String>> = match value {
        Value::Array(items) => items.iter().map(orders).collect::<Option<_>>()?,
        Value::Object(members) => {
            let keyed = |(key, v): (&String, &Value)| {
                let key = Value::from(key.as_str());
                Some(orders(v)?.into_iter().map(|text| format!("{key}:{text}")).collect())
            };
            members.iter().map(keyed).collect::<Option<_>>()?
        }
        scalar => return Some(vec![scalar.to_string()]),
    };
    let any_order = value.is_object();
    let mut texts = Vec::new();
    // What is chosen so far, and which parts are left.
    let mut open = vec![(Vec::<String>::new(), (0..parts.len()).collect::<Vec<_>>())];
    while let Some((chosen, left)) = open.pop() {
        if texts.len() + open.len() > 1_000 {
            return None;
        }
        if left.is_empty() {
            let inner = chosen.join(",");
            texts.push(if any_order { format!("{{{inner}}}") } else { format!("[{inner}]") });
        }
        for (place, &part) in left.iter().enumerate().take(if any_order { left.len() } else { 1 }) {
            let mut rest = left.clone();
            rest.remove(place);
            for text in &parts[part] {
                open.push(([chosen.as_slice(), std::slice::from_ref(text)].concat(), rest.clone()));
            }
        }
    }
    Some(texts)
}

/// Declared order forbids texts, never values: each valid value has an order that is accepted.
#[test]
fn declared_order_loses_no_value() {
    let mut checked = 0;
    for seed in 0..rounds() {
        let mut random = Random(seed ^ 0x0DE0_0000);
        let text = random.any_schema();
        let Ok(any) = Oracle::new(&text, ANY) else { continue };
        let declared = Oracle::new(&text, OraclePolicy { declared_order: true, ..ANY }).unwrap();
        for _ in 0..60 {
            let value = random.value(3);
            if any.accepts(value.to_string().as_bytes()).is_err() {
                continue;
            }
            let Some(all) = orders(&value) else { continue };
            let accepted =
                all.iter().filter(|text| declared.accepts(text.as_bytes()).is_ok()).count();
            assert!(accepted > 0, "seed {seed}: {text}\n{value}");
            assert!(all.iter().all(|text| any.accepts(text.as_bytes()).is_ok()), "{text}\n{value}");
            checked += 1;
        }
    }
    assert!(checked > rounds());
}
