//! Vocabularies that lack single bytes: what cannot be spelled is never a dead end.

use tokenmask::{Engine, ErrorKind, Escapes, Grammar, Matcher, Options, SurfacePolicy, Vocabulary};
use tokenmask::{Objects, Whitespace};

/// The bytes of `spelled` as tokens of their own, then `longer` ones, then the end token.
fn vocabulary(spelled: &[u8], longer: &[&str]) -> Vocabulary {
    let singles = spelled.iter().map(|&b| vec![b]);
    let longer = longer.iter().map(|token| token.as_bytes().to_vec());
    let mut tokens: Vec<Vec<u8>> = singles.chain(longer).collect();
    tokens.push(b"<end>".to_vec());
    let end = tokens.len() as u32 - 1;
    Vocabulary::from_parts(tokens, &[end], &[]).unwrap()
}

fn grammar(schema: &str, escapes: Escapes) -> Grammar {
    let policy = SurfacePolicy {
        whitespace: Whitespace::Compact,
        escapes,
        objects: Objects::Closed,
        ..SurfacePolicy::default()
    };
    Grammar::compile(schema, &Options { policy, ..Options::default() }).unwrap()
}

/// Whether bytes of `spelled` finish the document, by trying them all.
fn finishes(matcher: &Matcher, spelled: &[u8], depth: usize) -> bool {
    matcher.is_accepting()
        || depth > 0
            && spelled.iter().any(|&byte| {
                let mut next = matcher.clone();
                next.accept_bytes(&[byte]).is_ok() && finishes(&next, spelled, depth - 1)
            })
}

/// The mask at `text` against trying out every token with a vocabulary of all bytes.
fn check(grammar: &Grammar, engine: &Engine, spelled: &[u8], text: &[u8], depth: usize) {
    let mut whole = grammar.bind(&Vocabulary::bytes()).unwrap().matcher();
    whole.accept_bytes(text).unwrap();
    let mut matcher = engine.matcher();
    matcher.accept_bytes(text).unwrap();
    let mut mask = engine.new_mask();
    matcher.fill_mask(&mut mask).unwrap();
    let vocabulary = engine.vocabulary();
    for id in 0..vocabulary.len() as u32 {
        let expected = if vocabulary.is_end(id) {
            whole.is_accepting()
        } else {
            let mut next = whole.clone();
            next.accept_bytes(vocabulary.token_bytes(id).unwrap()).is_ok()
                && finishes(&next, spelled, depth)
        };
        let token = vocabulary.token_bytes(id).map(String::from_utf8_lossy);
        let text = String::from_utf8_lossy(text);
        assert_eq!(mask.allows(id), expected, "token {token:?} after {text:?}");
        assert_eq!(matcher.clone().accept(id).is_ok(), expected, "accept {token:?} after {text:?}");
    }
}

#[test]
fn masks_agree_with_trying_out() {
    let spelled = b"{}\":,acdx1";
    let longer = ["ab", "\"ab", "b\"", "ba", "bc", "{\"", "\":", "x\"}"];
    let poor = vocabulary(spelled, &longer);
    let schema = r#"{"type": "object", "properties": {
        "a": {"enum": ["ab", "abc", "ba", "c", 1, 2]},
        "ab": {"enum": ["x", "bx"]},
        "x": {"const": "x"}}, "required": ["a"]}"#;
    let grammar = grammar(schema, Escapes::Minimal);
    let engine = grammar.bind(&poor).unwrap();
    // "ba", 2 and the name "ab" cannot be spelled byte by byte.
    assert!(!engine.findings().is_empty());
    assert!(engine.findings().iter().all(|finding| finding.kind == "unspellable"));
    for text in [
        "",
        "{",
        "{\"",
        "{\"a",
        "{\"a\":",
        "{\"a\":\"",
        "{\"a\":\"ab",
        "{\"a\":1",
        "{\"a\":1,\"",
        "{\"a\":1,\"ab\":\"",
        "{\"a\":1,\"x\":\"x\"}",
    ] {
        check(&grammar, &engine, spelled, text.as_bytes(), 14);
    }
}

/// Keys with rules: those that cannot be spelled are never waited for, nor those that have come.
#[test]
fn keys_with_rules_agree_with_trying_out() {
    let spelled = b"{}\":,ac1x";
    let longer = ["ab", "b\"", "\":1", "{\"", ",\"a", "1,\"", "x\":1,\"c", "\"a\":1,\"ac\":1"];
    let poor = vocabulary(spelled, &longer);
    for schema in [
        r#"{"type": "object", "patternProperties": {"^[ab]c?$": {"const": 1}},
            "additionalProperties": false}"#,
        r#"{"type": "object", "propertyNames": {"enum": ["a", "b", "ac"]},
            "additionalProperties": {"const": 1}}"#,
        r#"{"type": "object", "properties": {"ac": {"const": 1}, "b": {"const": 1}},
            "patternProperties": {"^([ab]|é|ac)$": {"const": 1}}, "additionalProperties": false}"#,
        r#"{"type": "object", "patternProperties": {"^ac": {"const": 2}, "^[xb]|^a": {"const": 1}},
            "additionalProperties": false}"#,
    ] {
        let grammar = grammar(schema, Escapes::Minimal);
        let engine = grammar.bind(&poor).unwrap();
        for text in [
            "",
            "{",
            "{\"",
            "{\"a",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,\"",
            "{\"a\":1,\"a",
            "{\"a\":1,\"ac\":1",
            "{\"ac\":1,\"a\":1",
            "{\"ac\":1,\"a\":1,\"",
        ] {
            let mut matcher = engine.matcher();
            if matcher.accept_bytes(text.as_bytes()).is_ok() {
                check(&grammar, &engine, spelled, text.as_bytes(), 10);
            }
        }
    }
}

#[test]
fn free_text_without_bytes_beyond_ascii() {
    let spelled: Vec<u8> = (0x20..0x7F).collect();
    let poor = vocabulary(&spelled, &["é", "日本", "\"", "a\"", "\\u"]);
    for schema in [r#"{"type": "string"}"#, r#"{"type": "string", "minLength": 2, "maxLength": 3}"#]
    {
        let grammar = grammar(schema, Escapes::All);
        let engine = grammar.bind(&poor).unwrap();
        for text in ["", "\"", "\"a", "\"aé", "\"ab", "\"\\", "\"\\u00", "\"ab\""] {
            check(&grammar, &engine, &spelled, text.as_bytes(), 9);
        }
    }
}

#[test]
fn half_a_character_needs_bytes_to_finish_it() {
    let tokens = [b"\"".to_vec(), b"a".to_vec(), vec![0xC3], vec![0xE2, 0x82], vec![0xC3, 0xA9]];
    let with = |more: &[Vec<u8>]| {
        let mut tokens = [&tokens[..], more].concat();
        tokens.push(b"<end>".to_vec());
        let end = tokens.len() as u32 - 1;
        Vocabulary::from_parts(tokens, &[end], &[]).unwrap()
    };
    let allowed = |vocabulary: &Vocabulary| {
        let engine = grammar(r#"{"type": "string"}"#, Escapes::All).bind(vocabulary).unwrap();
        let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
        matcher.accept_bytes(b"\"").unwrap();
        matcher.fill_mask(&mut mask).unwrap();
        mask.iter().collect::<Vec<_>>()
    };
    // Without continuation bytes a token that ends inside a character is a dead end.
    assert_eq!(allowed(&with(&[])), [0, 1, 4]);
    // 0xA9 finishes `é` and 0x82 finishes `₂`-like sequences.
    assert_eq!(allowed(&with(&[vec![0xA9]])), [0, 1, 2, 3, 4]);
}

#[test]
fn what_must_be_there_and_cannot_be_spelled_is_an_error() {
    let poor = vocabulary(b"{}\":,ab", &["z"]);
    let schema = r#"{"type": "object", "properties": {"c": {"enum": ["a"]}}, "required": ["c"]}"#;
    let error = grammar(schema, Escapes::Minimal).bind(&poor).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Vocabulary);
    assert!(error.message().contains("single-byte"), "{error}");
    let schema = r#"{"type": "object", "properties": {
        "a": {"enum": ["b"]}, "b": {"enum": ["ac"]}}, "required": ["a"]}"#;
    let engine = grammar(schema, Escapes::Minimal).bind(&poor).unwrap();
    let places: Vec<&str> = engine.findings().iter().map(|f| f.location.as_str()).collect();
    assert_eq!(places, ["#/properties/b"]);
}

#[test]
fn a_complete_vocabulary_is_not_analysed() {
    let engine = Grammar::any_json().bind(&Vocabulary::bytes()).unwrap();
    assert!(engine.findings().is_empty());
}

#[test]
fn completions_keep_to_the_spelled_bytes() {
    let spelled: Vec<u8> = (0x20..0x7F).filter(|b| !b"aA0".contains(b)).collect();
    let grammar = grammar(
        r#"{"type": "object", "properties": {"b": {"type": "string", "minLength": 3},
            "n": {"type": "integer"}, "d": {"enum": ["a", "bcdefghijklm"]},
            "p": {"type": "string", "pattern": "^[a-c]{2}$"}},
            "required": ["b", "n", "d", "p"]}"#,
        Escapes::Minimal,
    );
    let engine = grammar.bind(&vocabulary(&spelled, &[])).unwrap();
    let completion = engine.matcher().shortest_completion().unwrap();
    assert!(completion.iter().all(|b| spelled.contains(b)));
    assert_eq!(
        String::from_utf8(completion).unwrap(),
        r#"{"b":"bbb","n":1,"d":"bcdefghijklm","p":"bb"}"#
    );
}
