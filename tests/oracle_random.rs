//! The oracle on random schemas, against a tiny validator and `serde_json`.

mod oracle;

use oracle::{Oracle, OracleMargin, OraclePolicy, OracleWhitespace};
use regex_automata::meta::Regex;
use serde_json::Value;
use std::collections::BTreeSet;

const ANY: OraclePolicy = OraclePolicy {
    whitespace: OracleWhitespace::Flexible,
    margin: OracleMargin::None,
    declared_order: false,
    closed: false,
    minimal_escapes: false,
    formats: true,
};

/// Whether `value` is valid; only the oracle's keywords, no dialect but the undeclared one.
fn valid(root: &Value, schema: &Value, value: &Value, closed: bool) -> bool {
    let Value::Object(keywords) = schema else { return schema == &Value::Bool(true) };
    let holds = |schema: &Value, value: &Value| valid(root, schema, value, closed);
    let size = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
    let within = |n: usize, low: &str, high: &str| {
        n as u64 >= size(low).unwrap_or(0) && n as u64 <= size(high).unwrap_or(u64::MAX)
    };
    let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
    let general = list("allOf").is_none_or(|all| all.iter().all(|s| holds(s, value)))
        && list("anyOf").is_none_or(|any| any.iter().any(|s| holds(s, value)))
        && list("enum").is_none_or(|any| any.iter().any(|one| same(one, value)))
        && keywords.get("const").is_none_or(|one| same(one, value))
        && keywords.get("$ref").and_then(Value::as_str).is_none_or(|target| {
            holds(root.pointer(target.trim_start_matches('#')).unwrap(), value)
        })
        && keywords.get("type").is_none_or(|types| match types {
            Value::Array(types) => types.iter().any(|name| is_type(name, value)),
            name => is_type(name, value),
        });
    general
        && match value {
            Value::String(text) => {
                within(text.chars().count(), "minLength", "maxLength")
                    && keywords
                        .get("pattern")
                        .and_then(Value::as_str)
                        .is_none_or(|pattern| Regex::new(pattern).unwrap().is_match(text.as_str()))
            }
            Value::Array(items) => {
                let prefix = list("prefixItems").map_or(&[][..], Vec::as_slice);
                within(items.len(), "minItems", "maxItems")
                    && items.iter().enumerate().all(|(index, item)| match prefix.get(index) {
                        Some(schema) => holds(schema, item),
                        None => keywords.get("items").is_none_or(|schema| holds(schema, item)),
                    })
            }
            Value::Object(members) => {
                let properties = keywords.get("properties").and_then(Value::as_object);
                let required: Vec<&str> =
                    list("required").into_iter().flatten().filter_map(Value::as_str).collect();
                required.iter().all(|name| members.contains_key(*name))
                    && members.iter().all(|(key, value)| {
                        match properties.and_then(|p| p.get(key)) {
                            Some(schema) => holds(schema, value),
                            None => match keywords.get("additionalProperties") {
                                Some(schema) => holds(schema, value),
                                None => {
                                    !closed
                                        || properties.is_none()
                                        || required.contains(&key.as_str())
                                }
                            },
                        }
                    })
            }
            _ => true,
        }
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

/// A small generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A schema as text, with the keywords in random order.
    fn schema(&mut self, depth: usize) -> String {
        if self.chance(8) || depth == 0 {
            return self
                .pick(&[
                    "true",
                    "false",
                    "{}",
                    r#"{"type":"integer"}"#,
                    r##"{"$ref":"#"}"##,
                    r##"{"$ref":"#/$defs/d"}"##,
                ])
                .into();
        }
        let mut keywords = Vec::new();
        let mut taken = BTreeSet::new();
        if depth == 4 {
            keywords.push(format!("\"$defs\":{{\"d\":{}}}", self.schema(depth - 1)));
        }
        for _ in 0..1 + self.below(5) {
            let (keyword, value) = self.keyword(depth - 1);
            if taken.insert(keyword) {
                keywords.push(format!("\"{keyword}\":{value}"));
            }
        }
        format!("{{{}}}", keywords.join(","))
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, String) {
        let names = ["a", "ab", "b", "\\u0061c"];
        let many = |random: &mut Random, least| {
            let count = least + random.below(3);
            let all: Vec<String> = (0..count).map(|_| random.schema(depth)).collect();
            format!("[{}]", all.join(","))
        };
        match self.below(17) {
            0..=2 => (
                "type",
                self.pick(&[
                    "\"object\"",
                    "\"array\"",
                    "\"string\"",
                    "\"number\"",
                    "[\"object\",\"null\"]",
                    "[\"array\",\"object\",\"integer\"]",
                ])
                .into(),
            ),
            3 => (
                "enum",
                self.pick(&[
                    "[1,\"ab\",null]",
                    "[{\"a\":1,\"b\":[]},[0],0.5]",
                    "[\"a\",\"abc\",\"b\",true]",
                ])
                .into(),
            ),
            4 => ("const", self.pick(&["1", "\"a\"", "{\"b\":2,\"a\":1.5}", "[1,\"a\"]"]).into()),
            5..=7 => {
                let mut members = Vec::new();
                for name in names {
                    if self.chance(50) {
                        members.push(format!("\"{name}\":{}", self.schema(depth)));
                    }
                }
                ("properties", format!("{{{}}}", members.join(",")))
            }
            8 => ("required", self.pick(&["[\"a\"]", "[\"b\",\"zz\"]", "[\"ab\",\"a\"]"]).into()),
            9 => ("additionalProperties", self.schema(depth)),
            10 => ("items", self.schema(depth)),
            11 => ("prefixItems", many(self, 1)),
            12 => self.bound(),
            13 => (
                "pattern",
                self.pick(&["\"^a+b?$\"", "\"b\"", "\"^[a-c]{1,3}$\"", "\"^$|x\""]).into(),
            ),
            14 => ("anyOf", many(self, 1)),
            15 => ("allOf", many(self, 1)),
            _ => ("maxLength", self.below(4).to_string()),
        }
    }

    fn bound(&mut self) -> (&'static str, String) {
        let keyword = ["minItems", "maxItems", "minLength", "maxItems"][self.below(4)];
        (keyword, self.below(4).to_string())
    }

    fn policy(&mut self) -> OraclePolicy {
        OraclePolicy {
            whitespace: [
                OracleWhitespace::Compact,
                OracleWhitespace::Spaced,
                OracleWhitespace::Flexible,
                OracleWhitespace::Bounded(1),
            ][self.below(4)],
            margin: [OracleMargin::None, OracleMargin::Lead, OracleMargin::Both][self.below(3)],
            declared_order: self.chance(50),
            closed: self.chance(50),
            minimal_escapes: self.chance(50),
            formats: true,
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        let texts = ["", "a", "ab", "abc", "b", "x", "aab", "é\n"];
        match self.below(if depth == 0 { 7 } else { 11 }) {
            0 => Value::Null,
            1 => Value::Bool(self.chance(50)),
            2 => Value::from(self.below(3)),
            3 => Value::from([0.5, 1.5, -2.25][self.below(3)]),
            4..=6 => Value::from(self.pick(&texts)),
            7 | 8 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let keys = ["a", "ab", "b", "ac", "zz", "q"];
                (0..self.below(5))
                    .map(|_| (self.pick(&keys).to_owned(), self.value(depth - 1)))
                    .collect()
            }
        }
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
        let text = random.schema(4);
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
            let expected = valid(&schema, &schema, &value, policy.closed);
            let found = oracle.as_ref().is_ok_and(|o| o.accepts(written.as_bytes()).is_ok());
            assert_eq!(found, expected, "seed {seed}: {text}\n{written}");
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
    }
    println!("{yes} valid, {no} invalid");
    assert!(yes > rounds() && no > rounds());
}

/// A reference that leads to itself with nothing between makes the validator endless.
fn loops(text: &str) -> bool {
    fn follow(root: &Value, schema: &Value, depth: usize) -> bool {
        if depth > 60 {
            return true;
        }
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|t| root.pointer(t.trim_start_matches('#')));
        let lists = ["anyOf", "allOf"].map(|k| schema.get(k).and_then(Value::as_array));
        target.is_some_and(|s| follow(root, s, depth + 1))
            || lists.into_iter().flatten().flatten().any(|s| follow(root, s, depth + 1))
    }
    serde_json::from_str::<Value>(text).is_ok_and(|root| {
        follow(&root, &root, 0) || root.pointer("/$defs/d").is_some_and(|d| follow(&root, d, 0))
    })
}

/// Random walks over live bytes: no dead end, and every finished text is valid JSON of the schema.
#[test]
fn walks_finish_and_are_valid() {
    let mut finished = 0;
    for seed in 0..rounds() {
        let mut random = Random(seed ^ 0xABCD_0000);
        let text = random.schema(4);
        let policy = random.policy();
        let Ok(oracle) = Oracle::new(&text, policy) else { continue };
        let looped = loops(&text);
        let schema: Value = serde_json::from_str(&text).unwrap();
        for _ in 0..3 {
            let Some(written) = walk(&oracle, &mut random, &text) else { continue };
            finished += 1;
            let written = String::from_utf8(written).expect("valid UTF-8");
            let value: Value =
                serde_json::from_str(&written).unwrap_or_else(|e| panic!("{e}: {written}"));
            assert!(
                looped || valid(&schema, &schema, &value, policy.closed),
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
        let text = random.schema(4);
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
