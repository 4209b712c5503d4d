//! A mask from the cache equals the mask of an engine that has none: patterns beside lengths, where
//! how far a bound is away decides what is alive.

use tokenmask::{Engine, Grammar, Options, Vocabulary};

/// Letters, the quote, and tokens of several characters.
fn vocabulary() -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    tokens.extend(["xx", "aa", "aaa", "bb", "xa", "b\"", "a\""].map(|t| t.as_bytes().to_vec()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    Vocabulary::from_parts(tokens, &[end], &[]).expect("the parts are good")
}

fn engine(schema: &str, vocabulary: &Vocabulary) -> Engine {
    let grammar = Grammar::compile(schema, &Options::default()).expect(schema);
    assert!(grammar.report().is_exact(), "{schema}");
    grammar.bind(vocabulary).expect("every byte can be spelled")
}

/// The allowed tokens after `prefix`.
fn allowed(engine: &Engine, prefix: &str) -> Option<Vec<u32>> {
    let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
    matcher.accept_bytes(prefix.as_bytes()).ok()?;
    matcher.fill_mask(&mut mask).expect("no limit is met");
    Some(mask.iter().collect())
}

#[test]
fn distances_to_length_bounds_are_told_apart() {
    let vocabulary = vocabulary();
    let schemas = [
        r#"{"type": "string", "pattern": "^x*(a{3}|b*)$", "minLength": 10}"#,
        r#"{"type": "string", "pattern": "^x*(a{9}|b*)$", "minLength": 14, "maxLength": 40}"#,
        r#"{"type": "string", "pattern": "^x*(a{9}|b)$", "maxLength": 25}"#,
        r#"{"type": "string", "pattern": "^(xx)*(a{7})?$", "minLength": 3, "maxLength": 24}"#,
        r#"{"type": "string", "pattern": "^(xxxxx)*(a{2}|b{11})?$", "minLength": 21}"#,
        r#"{"type": "string", "pattern": "a{4}", "minLength": 6, "maxLength": 30}"#,
    ];
    for schema in schemas {
        let kept = engine(schema, &vocabulary);
        for x in (0..30).chain((0..30).rev()) {
            for rest in ["", "a", "aa", "b", "bb", "\\"] {
                let prefix = format!("\"{}{rest}", "x".repeat(x));
                let fresh = allowed(&engine(schema, &vocabulary), &prefix);
                assert_eq!(allowed(&kept, &prefix), fresh, "{schema} after {prefix}");
            }
        }
    }
}

#[test]
fn long_strings_beside_patterns_share_masks() {
    let words = r#"{"type": "string", "pattern": "^(\\S+ ){0,99}\\S+$", "maxLength": 5000}"#;
    let engine = engine(words, &Vocabulary::bytes());
    let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
    matcher.accept_bytes(b"\"w").expect("a word begins");
    for _ in 0..1_000 {
        matcher.accept_bytes(b"w").expect("the word is short of its bound");
        matcher.fill_mask(&mut mask).expect("no limit is met");
    }
    assert!(engine.shared_states() < 10, "{}", engine.shared_states());
}
