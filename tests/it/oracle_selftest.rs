//! The oracle against hand-written cases.

use crate::oracle::{Oracle, OracleMargin, OraclePolicy, OracleWhitespace};

const ANY: OraclePolicy = OraclePolicy::ANY;
const TIGHT: OraclePolicy = OraclePolicy {
    whitespace: OracleWhitespace::Compact,
    margin: OracleMargin::None,
    declared_order: true,
    closed: true,
    minimal_escapes: true,
    formats: true,
    any_numbers: false,
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
            "123456789012345678",
            "1234567890123456.7",
            "1e306",
            "1e307",
            "10e306",
            "1E+306",
            "0.1e307",
            "0.01e309",
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
            ("1234567890123456789", 18),
            ("12345678901234567.0", 17),
            ("0.12345678901234567", 18),
            ("2e307", 4),
            ("1e308", 4),
            ("10.1e306", 7),
            ("1e-308", 5),
            ("0e307", 4),
            ("1e0001", 5),
            ("0.1e-307", 7),
            ("1e", 2),
            ("1e+", 3),
            ("0.02e309", 7),
        ],
    );
    check(r#"{"type": ["integer", "number"]}"#, ANY, &["1.5"], &[("1234567890123456789", 18)]);
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
            r#""1998-12-31T22:59:60+23:00""#,
            r#""1998-12-31T23:59:60-00:00""#,
            r#""1998-12-31T13:29:60+13:30""#,
            r#""1998-12-31T10:29:60.5-13:30""#,
        ],
        &[
            (r#""1998-12-31T22:59:60Z""#, 20),
            (r#""1998-12-31T23:59:61Z""#, 19),
            (r#""1998-12-31T22:59:60+22:00""#, 22),
            (r#""1998-12-31T13:29:60+14:30""#, 22),
            (r#""1998-12-31T13:29:60+13:31""#, 25),
            (r#""1998-12-31T10:29:60-12:30""#, 22),
            (r#""1998-12-31T13:29:60Z""#, 20),
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
}

#[test]
fn keys_with_rules() {
    let compact = OraclePolicy { whitespace: OracleWhitespace::Compact, ..ANY };
    let closed = OraclePolicy { closed: true, ..compact };
    let declared = OraclePolicy { declared_order: true, ..compact };
    let rules = r#"{"type": "object", "properties": {"xa": {"type": ["integer", "null"]}},
        "patternProperties": {"^x": {"type": ["integer", "string"]}, "y$": {"type": "string"}},
        "additionalProperties": {"type": "boolean"}}"#;
    let valid =
        [r#"{"xa":1}"#, r#"{"x":"","q":true}"#, r#"{"xy":"","ay":""}"#, r#"{"q":true,"xa":1}"#];
    let invalid = [
        (r#"{"xa":n"#, 6),
        (r#"{"xy":1"#, 6),
        (r#"{"ay":1"#, 6),
        (r#"{"q":1"#, 5),
        (r#"{"x":1,"x""#, 9),
        (r#"{"\u0078":1,"\u0078""#, 19),
    ];
    check(rules, compact, &valid, &invalid);
    check(rules, closed, &valid[..1], &invalid);
    check(rules, declared, &valid[..3], &[(r#"{"q":true,"xa""#, 13)]);
    // Closed: keys that a pattern accepts may come, and no others.
    let open =
        r#"{"type": "object", "properties": {"a": true}, "patternProperties": {"^x": true}}"#;
    check(open, closed, &[r#"{"a":1,"x":2}"#], &[(r#"{"q"#, 2)]);
    check(open, compact, &[r#"{"q":1}"#], &[]);
    // Keys that run out, some by name.
    let few = r#"{"type": "object", "properties": {"a": {"const": 1}},
        "patternProperties": {"^([ab]|cé)$": {"const": 1}}, "additionalProperties": false}"#;
    check(
        few,
        compact,
        &[r#"{"a":1,"b":1,"cé":1}"#, r#"{"c\u00e9":1,"b":1,"a":1}"#],
        &[
            (r#"{"a":1,"b":1,"cé":1,"#, 20),
            (r#"{"b":1,"b"#, 8),
            (r#"{"b":1,"\u0062"#, 13),
            (r#"{"b":1,"\u006a"#, 13),
            (r#"{"cé":1,"c"#, 10),
            (r#"{"cè"#, 4),
        ],
    );
    check(few, declared, &[r#"{"a":1,"b":1,"cé":1}"#], &[(r#"{"b":1,"a"#, 8)]);
    let names = r##"{"type": "object", "propertyNames": {"anyOf": [{"enum": ["a", "b", 1]}, {"$ref": "#/$defs/d"}]},
        "allOf": [{"propertyNames": {"maxLength": 2}}], "required": ["a"], "$defs": {"d": {"pattern": "c$"}}}"##;
    check(
        names,
        compact,
        &[r#"{"a":1,"xc":2}"#, r#"{"c":1,"a":2,"b":3}"#],
        &[(r#"{"xxc"#, 3), (r#"{"xa"#, 3), (r#"{"b":1,"b"#, 9), (r#"{"c":1}"#, 6)],
    );
    for none in [
        r#"{"type": "object", "propertyNames": {"pattern": "b"}, "required": ["a"]}"#,
        r#"{"type": "object", "propertyNames": false, "required": ["a"]}"#,
        r#"{"type": "object", "patternProperties": {"a": false}, "required": ["ab"]}"#,
        r#"{"propertyNames": {"maxLength": 0}, "const": {"a": 1}}"#,
    ] {
        assert_eq!(Oracle::new(none, compact).err().as_deref(), Some("unsatisfiable"), "{none}");
    }
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
        &[(r#"{"c":1,"b""#, 9), (r#"{"a":1,"c""#, 9), (r#"{"y":1,"a""#, 9), (r#"{"q":1,"y""#, 9)],
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
