//! The oracle against hand-written cases, a tiny validator and `serde_json`.

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
const TIGHT: OraclePolicy = OraclePolicy {
    whitespace: OracleWhitespace::Compact,
    margin: OracleMargin::None,
    declared_order: true,
    closed: true,
    minimal_escapes: true,
    formats: true,
};

/// The first offset that is refused; the text's length for its end; `None` where accepted.
fn refused(schema: &str, policy: OraclePolicy, text: &str) -> Option<usize> {
    Oracle::new(schema, policy).expect(schema).accepts(text.as_bytes()).err()
}

#[track_caller]
fn check(schema: &str, policy: OraclePolicy, accepted: &[&str], refusals: &[(&str, usize)]) {
    for text in accepted {
        assert_eq!(refused(schema, policy, text), None, "{schema} must accept {text}");
    }
    for (text, offset) in refusals {
        assert_eq!(refused(schema, policy, text), Some(*offset), "{schema} must refuse {text}");
    }
}

#[test]
fn integers() {
    check(
        r#"{"type": "integer"}"#,
        ANY,
        &["0", "7", "-1", "999999999999999999"],
        &[
            ("-0", 1),
            ("01", 1),
            ("1.0", 1),
            ("1e2", 1),
            ("9999999999999999999", 18),
            ("-", 1),
            ("", 0),
        ],
    );
    check(
        r#"{"anyOf": [{"type": "integer"}, {"type": "number"}]}"#,
        ANY,
        &["123456789012345678", "1.5"],
        &[("123456789012345678.5", 18)],
    );
}

#[test]
fn numbers() {
    check(
        r#"{"type": "number"}"#,
        ANY,
        &[
            "0",
            "-0.0",
            "-0e1",
            "0.5",
            "12345678901234567",
            "1234567890123456.7",
            "1e306",
            "1E+306",
            "0.1e307",
            "9.9e-307",
            "0e306",
            "0.00e-307",
            "1e001",
            "12345678901234567e-10",
            "0e0",
        ],
        &[
            ("-0", 2),
            ("00", 1),
            (".5", 0),
            ("1.", 2),
            ("123456789012345678", 17),
            ("12345678901234567.0", 17),
            ("0.12345678901234567", 18),
            ("1e307", 4),
            ("10e306", 5),
            ("1e308", 4),
            ("1e-308", 5),
            ("0e307", 4),
            ("1e0001", 5),
            ("0.1e-307", 7),
            ("1e", 2),
            ("1e+", 3),
            ("0.01e309", 7),
        ],
    );
    check(r#"{"type": ["integer", "number"]}"#, ANY, &["1.5"], &[("123456789012345678", 17)]);
    check("{}", ANY, &["1.5", "-1e5"], &[("-0", 2)]);
}

#[test]
fn literal_numbers() {
    check(
        r#"{"const": 1}"#,
        ANY,
        &["1", "1.0", "1.00", "1.0000000000000000"],
        &[("1.00000000000000000", 18), ("10", 1), ("1e0", 1), ("1.1", 2), ("-1", 0)],
    );
    check(
        r#"{"type": "integer", "enum": [1.0, 2.5, 1e3]}"#,
        ANY,
        &["1", "1000"],
        &[("1.0", 1), ("2", 0)],
    );
    check(
        r#"{"enum": [-0, 12.50]}"#,
        ANY,
        &["0", "0.0", "-0.0", "-0.00", "12.5", "12.50"],
        &[("-0", 2), ("-0e1", 2), ("12", 2), ("12.51", 4)],
    );
    let long = "123456789012345678901234567890";
    check(&format!(r#"{{"const": {long}}}"#), ANY, &[long], &[(&format!("{long}.0"), 30)]);
    check(
        r#"{"const": 1.2345678901234567}"#,
        ANY,
        &["1.2345678901234567"],
        &[("1.23456789012345670", 18)],
    );
    check(r#"{"const": 25e-4}"#, ANY, &["0.0025", "0.00250"], &[("2", 0)]);
}

#[test]
fn strings() {
    check(
        r#"{"type": "string", "minLength": 1, "maxLength": 2}"#,
        ANY,
        &[r#""a""#, r#""é😀""#, r#""\u0041\n""#, r#""\uD83D\ude00b""#, r#""\/""#, "\"\u{7f}\""],
        &[
            (r#""""#, 1),
            (r#""abc""#, 3),
            (r#""ab\n""#, 3),
            (r#""\x""#, 2),
            (r#""\uD83Dx""#, 7),
            (r#""\uDE00""#, 4),
            (r#""\uD83D\u0041""#, 9),
            ("\"\u{1}\"", 1),
            ("\"a", 2),
        ],
    );
    let oracle = Oracle::new(r#"{"type": "string"}"#, ANY).unwrap();
    for (bytes, offset) in [
        (&b"\"\xC0\x80"[..], 1),
        (b"\"\xE0\x80\x80", 2),
        (b"\"\xED\xA0\x80", 2),
        (b"\"\xF0\x8F\xBF\xBF", 2),
        (b"\"\xF4\x90\x80\x80", 2),
        (b"\"\xF5", 1),
        (b"\"\x80", 1),
        (b"\"\xE2\x82\"", 3),
    ] {
        assert_eq!(oracle.accepts(bytes), Err(offset), "{bytes:x?}");
    }
    check(
        r#"{"type": "string"}"#,
        TIGHT,
        &[r#""\"\\\n\u0000\u001F\u0022\u005c/""#],
        &[
            (r#""\/""#, 2),
            (r#""\u0041""#, 5),
            (r#""\u0023""#, 6),
            (r#""\uD83D""#, 3),
            (r#""\u002f""#, 6),
        ],
    );
}

#[test]
fn patterns() {
    check(
        r#"{"type": "string", "pattern": "^a+b$", "maxLength": 3}"#,
        ANY,
        &[r#""ab""#, r#""aab""#, r#""\u0061b""#],
        &[(r#""aaab""#, 3), (r#""b""#, 1), (r#""\u0062"#, 6), (r#""\n"#, 2), (r#""abb""#, 3)],
    );
    check(
        r#"{"type": "string", "pattern": "x", "minLength": 3, "maxLength": 3}"#,
        ANY,
        &[r#""xab""#, r#""abx""#],
        &[(r#""abc""#, 3), (r#""ab\u0079""#, 8)],
    );
    check(
        r#"{"pattern": "^[\\d\\-x]{2}$"}"#,
        ANY,
        &[r#""1-""#, r#""x9""#, "5", "[]"],
        &[(r#""a""#, 1), (r#""x٣""#, 2)],
    );
    check(
        r#"{"type": "string", "pattern": "^(aaa)*$", "minLength": 4, "maxLength": 7}"#,
        ANY,
        &[r#""aaaaaa""#],
        &[(r#""aaa""#, 4)],
    );
    assert_eq!(
        Oracle::new(
            r#"{"type": "string", "pattern": "^(aaa)*$", "minLength": 4, "maxLength": 5}"#,
            ANY
        )
        .err(),
        Some("unsatisfiable".into())
    );
    check(
        r#"{"type": "string", "pattern": "^.\\S\\W$"}"#,
        ANY,
        &[r#""😀x!""#],
        &[(r#""\n"#, 2), (r#""a\u00a0"#, 7), (r#""\u2028"#, 6)],
    );
    // A multi-byte class: the first byte already decides.
    check(
        r#"{"type": "string", "pattern": "^[ä-ö]$"}"#,
        ANY,
        &[r#""ä""#, r#""\u00e4""#],
        &[(r#""à""#, 2), (r#""\u00F7"#, 6), (r#""\u01"#, 4)],
    );
}

#[test]
fn dates() {
    check(
        r#"{"type": "string", "format": "date"}"#,
        ANY,
        &[r#""2024-02-29""#, r#""2000-02-29""#, r#""1999-12-31""#, r#""0000-02-29""#],
        &[
            (r#""2023-02-29""#, 10),
            (r#""1900-02-29""#, 10),
            (r#""2023-04-31""#, 10),
            (r#""2023-13""#, 7),
            (r#""2023-00""#, 7),
        ],
    );
    check(
        r#"{"type": "string", "format": "date-time"}"#,
        ANY,
        &[
            r#""2024-02-29T23:59:60Z""#,
            r#""1963-06-19t08:30:06.283185z""#,
            r#""1998-12-31T15:59:60.123-08:00""#,
            r#""1998-12-31T23:59:59+23:59""#,
            r#""1998-12-31T00:29:60+00:30""#,
        ],
        &[
            (r#""1998-12-31T22:59:60Z""#, 20),
            (r#""1998-12-31T23:59:61Z""#, 19),
            (r#""1998-12-31T24:00:00Z""#, 13),
            (r#""1998-12-31 00:00:00Z""#, 11),
            (r#""1998-12-31T00:00:00""#, 20),
            (r#""1998-12-31T00:00:00+24:00""#, 22),
        ],
    );
    check(r#"{"type": "string", "format": "email"}"#, ANY, &[r#""x""#], &[]);
}

#[test]
fn whitespace_and_margins() {
    let schema = r#"{"type": ["array", "object"]}"#;
    let with = |whitespace, margin| OraclePolicy { whitespace, margin, ..ANY };
    check(
        schema,
        with(OracleWhitespace::Compact, OracleMargin::None),
        &["[1,2]", "{\"a\":1}"],
        &[("[ ", 1), (" [", 0), ("[] ", 2), ("[1 ", 2), ("[1, ", 3)],
    );
    check(
        schema,
        with(OracleWhitespace::Spaced, OracleMargin::None),
        &["[1, 2]", "{\"a\": 1, \"b\": []}"],
        &[
            ("[1,2", 3),
            ("[1,\n", 3),
            ("[1,  ", 4),
            ("{\"a\":1", 5),
            ("{\"a\" ", 4),
            ("[ ", 1),
            ("[1 ", 2),
        ],
    );
    check(
        schema,
        with(OracleWhitespace::Bounded(2), OracleMargin::Both),
        &["  [\n\t1 \r,  2 ]  ", "{ \n}", "[  ]"],
        &[
            ("   ", 2),
            ("[   ", 3),
            ("[1   ", 4),
            ("[1,   ", 5),
            ("[]   ", 4),
            ("{\"a\"   ", 6),
            ("{\"a\":   ", 7),
        ],
    );
    check(
        schema,
        with(OracleWhitespace::Compact, OracleMargin::Lead),
        &[&format!("{}[]", " ".repeat(64))],
        &[(&" ".repeat(65), 64), ("[] ", 2)],
    );
    check(
        schema,
        with(OracleWhitespace::Flexible, OracleMargin::None),
        &[&format!("[{}]", "\n".repeat(64))],
        &[(&format!("[{}", " ".repeat(65)), 65)],
    );
    check(
        r#"{"type": "integer"}"#,
        with(OracleWhitespace::Bounded(1), OracleMargin::Both),
        &["1 ", " 1"],
        &[("1  ", 2), ("1 1", 2)],
    );
}

const PERSON: &str = r#"{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "x": false},
    "required": ["age", "id"], "additionalProperties": {"type": "boolean"}}"#;

#[test]
fn objects() {
    let any = OraclePolicy { whitespace: OracleWhitespace::Compact, ..ANY };
    check(
        PERSON,
        any,
        &[r#"{"id":true,"age":1}"#, r#"{"age":1,"z":false,"id":true,"name":""}"#],
        &[
            (r#"{"id":1"#, 6),
            (r#"{"age":1}"#, 8),
            (r#"{"age":1,"age""#, 13),
            (r#"{"z":true,"\u007a""#, 17),
            (r#"{"x""#, 3),
            (r#"{"id":true,"age":1,}"#, 19),
            (r#"{,"#, 1),
            (r#"{}"#, 1),
        ],
    );
    let declared = OraclePolicy { declared_order: true, ..any };
    check(
        PERSON,
        declared,
        &[r#"{"name":"","age":1,"id":true}"#, r#"{"age":1,"id":true,"b":true,"a":true}"#],
        &[
            (r#"{"id""#, 2),
            (r#"{"age":1,"name""#, 10),
            (r#"{"age":1,"a"#, 10),
            (r#"{"age":1,"id":true,"b":true,"b""#, 30),
            (r#"{"age":1,"id":true,"name""#, 24),
        ],
    );
    let closed = OraclePolicy { closed: true, ..declared };
    let schema = r#"{"type": "object", "properties": {"a": true, "b": true}, "required": ["c"]}"#;
    check(
        schema,
        closed,
        &[r#"{"c":1}"#, r#"{"a":1,"b":2,"c":3}"#],
        &[(r#"{"c":1,"#, 6), (r#"{"b":1,"a"#, 8), (r#"{"d"#, 2), (r#"{"b":1}"#, 6)],
    );
    // Beside patternProperties both additionalProperties and closing are routed elsewhere.
    let wide = r#"{"type": "object", "properties": {"a": true}, "patternProperties": {"^x": true}, "additionalProperties": false}"#;
    check(wide, closed, &[r#"{"q":1}"#], &[]);
}

#[test]
fn orders() {
    let declared =
        OraclePolicy { whitespace: OracleWhitespace::Compact, declared_order: true, ..ANY };
    let schema = r##"{"type": "object", "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"c": true}}],
        "properties": {"a": true}, "anyOf": [{"properties": {"y": true, "a": true}}, {"properties": {"z": true, "y": true}}],
        "$defs": {"base": {"properties": {"b": true}}}}"##;
    check(
        schema,
        declared,
        &[
            r#"{"b":1,"c":2,"a":3,"y":4,"z":5}"#,
            r#"{"b":1,"a":3,"z":4,"y":5}"#,
            r#"{"a":1,"z":1,"q":1}"#,
        ],
        &[(r#"{"c":1,"b""#, 9), (r#"{"a":1,"c""#, 9), (r#"{"y":1,"a""#, 9), (r#"{"q":1,"z""#, 9)],
    );
    let literal = r#"{"enum": [{"b": 1, "a": [true, null]}, {"a": 2, "b": 3}, "x"]}"#;
    check(
        literal,
        declared,
        &[r#"{"b":1,"a":[true,null]}"#, r#"{"a":2,"b":3.0}"#, r#""x""#],
        &[(r#"{"a":[true"#, 5), (r#"{"b":1}"#, 6), (r#"{"b":3"#, 5), (r#""y"#, 1)],
    );
    check(
        literal,
        OraclePolicy { declared_order: false, ..declared },
        &[r#"{"a":[true,null],"b":1}"#, r#"{"b":3,"a":2}"#],
        &[(r#"{"b":3,"a":[t"#, 11)],
    );
    // The member order of a property's value comes from its conjuncts in the order of their mention.
    let nested = r#"{"allOf": [{"properties": {"p": {"properties": {"u": true}}}}], "properties": {"p": {"properties": {"t": true, "u": true}}}}"#;
    check(nested, declared, &[r#"{"p":{"u":1,"t":1}}"#], &[(r#"{"p":{"t":1,"u""#, 14)]);
}

#[test]
fn arrays() {
    let any = OraclePolicy { whitespace: OracleWhitespace::Compact, ..ANY };
    check(
        r#"{"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}"#,
        any,
        &["[1]", "[1,2]"],
        &[("[]", 1), ("[1,2,", 4), ("[t", 1), ("[1,]", 3)],
    );
    check(
        r#"{"type": "array", "prefixItems": [{"const": "a"}, false], "items": true}"#,
        any,
        &["[]", r#"["a"]"#],
        &[(r#"["a","#, 4), ("[1", 1)],
    );
    check(
        r#"{"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "boolean"}}"#,
        any,
        &["[]", "[null,true]"],
        &[("[null,n", 6)],
    );
    check(
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "items": [false], "additionalItems": false}"#,
        any,
        &["[1,2]"],
        &[],
    );
    assert!(Oracle::new(r#"{"type": "array", "items": false, "minItems": 1}"#, any).is_err());
    check(
        r#"{"type": "array", "maxItems": 2000000000, "items": {"const": 1, "type": "integer"}}"#,
        any,
        &["[1,1,1]"],
        &[],
    );
}

#[test]
fn references_and_emptiness() {
    let any = OraclePolicy { whitespace: OracleWhitespace::Compact, ..ANY };
    let tree = r##"{"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["kids"], "additionalProperties": false}"##;
    check(tree, any, &[r#"{"kids":[{"kids":[]},{"kids":[]}]}"#], &[(r#"{"kids":[{}"#, 10)]);
    // A list that can never end is empty; as an optional property it is a forbidden key.
    let endless =
        r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##;
    assert!(Oracle::new(endless, any).is_err());
    let optional = r##"{"type": "object", "properties": {"n": {"$ref": "#/$defs/loop"}, "m": true}, "$defs": {"loop": {"type": "object", "properties": {"next": {"$ref": "#/$defs/loop"}}, "required": ["next"]}}}"##;
    check(optional, any, &[r#"{"m":1}"#, r#"{"nn":1}"#], &[(r#"{"n":"#, 3)]);
    let union = r##"{"anyOf": [{"$ref": "#"}, {"type": "string"}]}"##;
    check(union, any, &[r#""a""#], &[("1", 0)]);
    let both = r##"{"$defs": {"a": {"type": "object", "properties": {"v": {"type": ["integer", "string"]}, "r": {"$ref": "#/$defs/a"}}},
        "b": {"type": "object", "properties": {"v": {"type": ["integer", "null"]}, "r": {"$ref": "#/$defs/b"}}}},
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}"##;
    check(
        both,
        any,
        &[r#"{"v":1,"r":{"r":{"v":2}}}"#],
        &[(r#"{"r":{"v":n"#, 10), (r#"{"r":{"v":""#, 10)],
    );
    assert!(Oracle::new(r#"{"allOf": [{"type": "string"}, {"type": "integer"}]}"#, any).is_err());
    assert!(Oracle::new("false", any).is_err());
    check("true", any, &["[{\"a\":[]}]", "null"], &[]);
    assert!(Oracle::new(r##"{"$ref": "#/nowhere"}"##, any).is_err());
    let old = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a%b": {"type": "string"}}, "properties": {"p": {"$ref": "#/definitions/a%25b", "maxLength": 1}}}"##;
    check(old, any, &[r#"{"p":"long"}"#], &[(r#"{"p":1"#, 5)]);
}

#[test]
fn deep_documents_do_not_overflow() {
    let oracle = Oracle::new("{}", ANY).unwrap();
    let depth = 200_000;
    let text = "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(oracle.accepts(text.as_bytes()), Ok(()));
    assert_eq!(oracle.accepts("[".repeat(depth).as_bytes()), Err(depth));
}

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

/// The mask is what stepping each token by itself gives.
#[test]
fn masks_are_plain_walks() {
    let mut tokens: Vec<(Vec<u8>, u32)> = (0..=255_u8).map(|b| vec![b]).zip(0..).collect();
    let more = [
        "{\"", "\"a\"", "\":", "true", "truex", "true}", "ab", "abc", "abcd", "\",\"", "1.5", "ab",
        "}}", "",
    ];
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()).zip(300..));
    tokens.sort();
    for schema in ["{}", PERSON, r#"{"type": "string", "pattern": "^abc?$"}"#] {
        let oracle = Oracle::new(schema, OraclePolicy::default()).unwrap();
        for prefix in ["", "{", "{\"", "{\"age\"", "{\"age\":", "{\"age\":1", "\"", "\"ab", "[1"] {
            let Some(state) = oracle.after(prefix.as_bytes()) else { continue };
            let mask = oracle.allowed(&state, &tokens, 320);
            assert_eq!(mask.len(), 10);
            for (bytes, id) in &tokens {
                let whole = [prefix.as_bytes(), bytes].concat();
                let expected = !bytes.is_empty() && oracle.after(&whole).is_some();
                assert_eq!(
                    mask[*id as usize / 32] >> (id % 32) & 1 == 1,
                    expected,
                    "{schema} {prefix} {bytes:?}"
                );
            }
        }
    }
}

/// How long a mask over a real vocabulary takes; run it with `--release -- --ignored --nocapture`.
#[cfg(feature = "builtin-vocabularies")]
#[test]
#[ignore = "a measurement"]
fn mask_times() {
    let encoding = tiktoken::get_encoding("llama3").unwrap();
    let mut tokens: Vec<(Vec<u8>, u32)> =
        (0..128_000).map(|id| (encoding.decode(&[id]), id)).collect();
    tokens.sort();
    let tools: Vec<String> = (0..20)
        .map(|n| {
            format!(
                r#"{{"type":"object","properties":{{"name":{{"const":"tool_{n}"}},"arguments":{{"type":"object","properties":{{"text_{n}":{{"type":"string"}}}}}}}},"required":["name"]}}"#
            )
        })
        .collect();
    let tools = format!(r#"{{"anyOf":[{}]}}"#, tools.join(","));
    let text = r#"{"type":"string","pattern":"^[\\p{L} ]{1,200}$"}"#;
    let cases = [
        ("{}", ""),
        ("{}", "\"some text"),
        ("{}", "{\"key"),
        ("{}", "[1.5"),
        ("{}", "[[[["),
        ("{}", "{\"a\": {\"b\": [{\"c\": \"d"),
        (PERSON, "{\"na"),
        (PERSON, "{\"name\": \"x"),
        (text, "\"abc"),
        (r#"{"type":"string","pattern":"x[0-9]","maxLength":100000}"#, "\"abc"),
        (r#"{"type":"string","pattern":"x[0-9]","minLength":3000,"maxLength":3500}"#, "\"abc"),
        (r#"{"type":"string","format":"date-time"}"#, "\"20"),
        (&tools, "{"),
        (&tools, "{\"name\": \"tool_1\", \"arguments\": {\"text_1\": \""),
        (&tools, "{\"arguments\": {\"text_1\": \"x"),
        (&tools, "{\"name\": \"tool_1\", \"other\": {\"text_1\": \"x"),
    ];
    for (schema, prefix) in cases {
        let start = std::time::Instant::now();
        let oracle = Oracle::new(schema, ANY).unwrap();
        let state = oracle.after(prefix.as_bytes()).expect(prefix);
        let made = start.elapsed();
        let mut times = Vec::new();
        let mut count = 0;
        for _ in 0..2 {
            let start = std::time::Instant::now();
            let mask = oracle.allowed(&state, &tokens, 128_256);
            times.push(start.elapsed());
            count = mask.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        println!(
            "{made:?} then {times:?}: {count} tokens after {prefix} of {}",
            &schema[..schema.len().min(60)]
        );
    }
}
