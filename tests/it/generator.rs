//! Random schemas, values and policies, the same for the same seed.

use crate::oracle::{OracleMargin, OraclePolicy, OracleWhitespace};
use serde_json::Value;
use std::collections::BTreeSet;

/// A small generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A schema as text, with the keywords in random order.
    pub fn schema(&mut self, depth: usize) -> String {
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

    pub fn keyword(&mut self, depth: usize) -> (&'static str, String) {
        let names = ["a", "ab", "b", "\\u0061c"];
        let many = |random: &mut Random, least| {
            let count = least + random.below(3);
            let all: Vec<String> = (0..count).map(|_| random.schema(depth)).collect();
            format!("[{}]", all.join(","))
        };
        match self.below(20) {
            0..=2 => (
                "type",
                self.pick(&[
                    "\"object\"",
                    "\"array\"",
                    "\"string\"",
                    "\"number\"",
                    "\"integer\"",
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
            17..=18 => {
                let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                let at = ["0", "1", "-2", "2.5", "10", "0.05", "-0.5", "12", "99"];
                (keywords[self.below(4)], self.pick(&at).into())
            }
            19 => ("multipleOf", self.pick(&["2", "3", "0.5", "0.25", "1.5", "0.1", "5"]).into()),
            14 => ("anyOf", many(self, 1)),
            15 => ("allOf", many(self, 1)),
            _ => ("maxLength", self.below(4).to_string()),
        }
    }

    pub fn bound(&mut self) -> (&'static str, String) {
        let keyword = ["minItems", "maxItems", "minLength", "maxItems"][self.below(4)];
        (keyword, self.below(4).to_string())
    }

    pub fn policy(&mut self) -> OraclePolicy {
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
            any_numbers: self.chance(20),
        }
    }

    pub fn value(&mut self, depth: usize) -> Value {
        let texts = ["", "a", "ab", "abc", "b", "x", "aab", "é\n"];
        match self.below(if depth == 0 { 7 } else { 11 }) {
            0 => Value::Null,
            1 => Value::Bool(self.chance(50)),
            2 => Value::from(self.below(13)),
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

/// A reference that leads to itself with nothing between makes the validator endless.
pub fn loops(text: &str) -> bool {
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
