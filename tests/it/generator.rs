//! Random schemas, values and policies, the same for the same seed.

use crate::oracle::{OracleMargin, OraclePolicy, OracleWhitespace};
use serde_json::Value;
use std::collections::BTreeSet;

/// Names of members, as they stand in a schema's text.
const NAMES: [&str; 4] = ["a", "ab", "b", "\\u0061c"];
const REQUIRED: &[&str] = &["[\"a\"]", "[\"b\",\"zz\"]", "[\"ab\",\"a\"]"];
/// Patterns of keys; some have few strings, so that they run out.
const KEY_PATTERNS: &[&str] = &[
    "^a",
    "^[ab]$",
    "b$",
    "^(a|ab|aé)$",
    "c|é",
    "^[a-z_]+$",
    "^x-",
    "^x?b?$",
    "^.{1,2}$",
    "",
    "^[é-ë😀]$",
    "^(a|b|cé*)$",
];

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

    /// A schema of one of the two kinds.
    pub fn any_schema(&mut self) -> String {
        if self.chance(50) { self.schema(4) } else { self.keyed_schema(2) }
    }

    /// A schema of objects whose keys have rules, most keywords at once.
    pub fn keyed_schema(&mut self, depth: usize) -> String {
        let mut keywords = vec!["\"type\":\"object\"".to_owned()];
        let with = |random: &mut Random, likely| random.chance(likely);
        if with(self, 50) {
            keywords.push(format!("\"properties\":{}", self.members(depth)));
        }
        if with(self, 80) {
            keywords.push(format!("\"patternProperties\":{}", self.patterns(depth)));
        }
        if with(self, 50) {
            let other = if self.chance(50) { "false".into() } else { self.leaf(depth) };
            keywords.push(format!("\"additionalProperties\":{other}"));
        }
        if with(self, 40) {
            keywords.push(format!("\"propertyNames\":{}", self.key_names(depth)));
        }
        if with(self, 25) {
            keywords.push(format!("\"required\":{}", self.pick(REQUIRED)));
        }
        if depth > 0 && with(self, 30) {
            let count = 1 + self.below(2);
            let all: Vec<String> = (0..count).map(|_| self.keyed_schema(depth - 1)).collect();
            let keyword = self.pick(&["allOf", "anyOf"]);
            keywords.push(format!("\"{keyword}\":[{}]", all.join(",")));
        }
        for index in 1..keywords.len() {
            let other = self.below(index + 1);
            keywords.swap(index, other);
        }
        format!("{{{}}}", keywords.join(","))
    }

    /// A small schema.
    fn leaf(&mut self, depth: usize) -> String {
        if depth > 0 && self.chance(15) {
            return self.keyed_schema(depth - 1);
        }
        let all = [
            "true",
            "false",
            "{\"type\":\"integer\"}",
            "{\"const\":1}",
            "{\"type\":[\"integer\",\"string\"]}",
            "{\"enum\":[\"a\",1,null]}",
            "{\"pattern\":\"a\"}",
        ];
        self.pick(&all).into()
    }

    fn members(&mut self, depth: usize) -> String {
        let mut members = Vec::new();
        for name in NAMES {
            if self.chance(50) {
                members.push(format!("\"{name}\":{}", self.leaf(depth)));
            }
        }
        format!("{{{}}}", members.join(","))
    }

    /// The value of `patternProperties`.
    fn patterns(&mut self, depth: usize) -> String {
        let mut members = Vec::new();
        let count = 1 + self.below(3);
        let first = self.below(KEY_PATTERNS.len());
        for step in 0..count {
            let pattern = KEY_PATTERNS[(first + 5 * step) % KEY_PATTERNS.len()];
            members.push(format!("\"{pattern}\":{}", self.leaf(depth)));
        }
        format!("{{{}}}", members.join(","))
    }

    /// The value of `propertyNames`.
    fn key_names(&mut self, depth: usize) -> String {
        match self.below(12) {
            0..=2 => format!("{{\"pattern\":\"{}\"}}", self.pick(KEY_PATTERNS)),
            3 => format!("{{\"maxLength\":{}}}", self.below(4)),
            4 => format!("{{\"minLength\":{},\"maxLength\":3}}", self.below(4)),
            5 => "{\"enum\":[\"a\",\"b\",\"abé\",1]}".into(),
            6 => self.pick(&["{\"const\":\"a\"}", "{\"format\":\"date\"}", "true", "false"]).into(),
            7 => self.pick(&["{\"$ref\":\"#\"}", "{\"type\":\"object\"}", "{\"const\":1}"]).into(),
            _ if depth == 0 => "{\"maxLength\":2}".into(),
            8 | 9 => {
                let (a, b) = (self.key_names(depth - 1), self.key_names(depth - 1));
                format!("{{\"anyOf\":[{a},{b}]}}")
            }
            10 => {
                let (a, b) = (self.key_names(depth - 1), self.key_names(depth - 1));
                format!("{{\"allOf\":[{a}],\"anyOf\":[{b}],\"maxLength\":4}}")
            }
            _ => format!("{{\"allOf\":[{},{{\"minLength\":1}}]}}", self.key_names(depth - 1)),
        }
    }

    pub fn keyword(&mut self, depth: usize) -> (&'static str, String) {
        let many = |random: &mut Random, least| {
            let count = least + random.below(3);
            let all: Vec<String> = (0..count).map(|_| random.schema(depth)).collect();
            format!("[{}]", all.join(","))
        };
        match self.below(22) {
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
                for name in NAMES {
                    if self.chance(50) {
                        members.push(format!("\"{name}\":{}", self.schema(depth)));
                    }
                }
                ("properties", format!("{{{}}}", members.join(",")))
            }
            8 => ("required", self.pick(REQUIRED).into()),
            9 => ("additionalProperties", self.schema(depth)),
            10 => ("items", self.schema(depth)),
            11 => ("prefixItems", many(self, 1)),
            12 => self.bound(),
            13 => (
                "pattern",
                self.pick(&["\"^a+b?$\"", "\"b\"", "\"^[a-c]{1,3}$\"", "\"^$|x\""]).into(),
            ),
            18..=19 => {
                let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                let at = ["0", "1", "-2", "2.5", "10", "0.05", "-0.5", "12", "99"];
                (keywords[self.below(4)], self.pick(&at).into())
            }
            20 => ("multipleOf", self.pick(&["2", "3", "0.5", "0.25", "1.5", "0.1", "5"]).into()),
            14 => ("anyOf", many(self, 1)),
            15 => ("allOf", many(self, 1)),
            16 => ("patternProperties", self.patterns(depth.min(1))),
            17 => ("propertyNames", self.key_names(1)),
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
                let keys = ["a", "ab", "b", "ac", "zz", "q", "aé", "x-1", "", "2024-02-29"];
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
