//! Masks of strings: one from the cache equals that of an engine that has none, and both hold
//! exactly the tokens that the matcher accepts.

use crate::support;
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

#[test]
fn masks_of_strings_are_what_is_accepted() {
    let vocabulary = vocabulary();
    let schemas = [
        // One text that nothing makes fail decides what is allowed; the others, where it ends.
        r#"{"type": "array", "items": {"type": "string", "pattern": "ab"}}"#,
        r#"{"type": "array", "items": {"type": "string", "pattern": "^a|b$"}}"#,
        r#"{"anyOf": [{"type": "string", "pattern": "xa+"}, {"type": "string"}]}"#,
        r#"{"anyOf": [{"items": {"pattern": "aa"}}, {"items": {"minLength": 3}, "maxItems": 2}]}"#,
        // Several candidates that all can fail.
        r#"{"anyOf": [{"items": {"pattern": "^x*$"}}, {"items": {"pattern": "^x?a+b?$"}}]}"#,
        r#"{"anyOf": [{"items": {"maxLength": 3}}, {"items": {"enum": ["xxxxa", "aaab"]}},
            {"items": {"pattern": "^(xx)*b$"}, "maxItems": 1}]}"#,
    ];
    let texts = ["", "x", "xx", "xxa", "a", "ab", "abb", "xxxx", "b", "\\", "\\u00", "\u{e9}a"];
    for schema in schemas {
        let engine = engine(schema, &vocabulary);
        let mut seen = 0;
        for text in texts {
            for start in ["\"", "[\"", "[\"ab\",\""] {
                let prefix = format!("{start}{text}");
                let mut matcher = engine.matcher();
                if matcher.accept_bytes(prefix.as_bytes()).is_err() {
                    continue;
                }
                seen += 1;
                let tokens = 0..vocabulary.len() as u32;
                let accepted: Vec<u32> =
                    tokens.filter(|&token| matcher.validate(&[token]) == 1).collect();
                assert_eq!(allowed(&engine, &prefix), Some(accepted), "{schema} after {prefix}");
            }
        }
        assert!(seen >= 8, "{schema}");
    }
}

/// Items, levels and characters just at what one token can cover, in a vocabulary of few tokens.
#[test]
fn distances_that_one_token_just_covers_are_told_apart() {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let fused = ["1,1,1]", "1,1,1", ",1,1]", "1]]", "]]", "aaa\"", "aaaa", "aa\"]", "1],[1]"];
    tokens.extend(fused.map(|token| token.as_bytes().to_vec()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    let vocabulary = Vocabulary::from_parts(tokens, &[end], &[]).expect("the parts are good");
    let integers =
        |bounds: &str| format!(r#"{{"type": "array", "items": {{"type": "integer"}}, {bounds}}}"#);
    let schemas = [
        integers(r#""minItems": 9"#),
        integers(r#""maxItems": 9"#),
        integers(r#""minItems": 7, "maxItems": 8"#),
        r#"{"type": "array", "prefixItems": [{}, {}, {}, {}], "items": false, "minItems": 3}"#
            .into(),
        r#"{"type": "string", "minLength": 9}"#.into(),
        r#"{"type": "string", "minLength": 8, "maxLength": 9}"#.into(),
        r##"{"type": ["array", "integer"], "items": {"$ref": "#"}, "maxItems": 2}"##.into(),
    ];
    let counts = 0..10usize;
    let mut prefixes: Vec<String> = Vec::new();
    for n in counts {
        prefixes.push(format!("[{}", "1,".repeat(n)));
        prefixes.push(format!("[{}1", "1,".repeat(n)));
        prefixes.push(format!("\"{}", "a".repeat(n)));
        prefixes.push("[".repeat(n));
        prefixes.push(format!("{}1", "[".repeat(n)));
        prefixes.push(format!("{}1,", "[".repeat(n.max(1))));
    }
    for schema in &schemas {
        let kept = engine(schema, &vocabulary);
        for prefix in prefixes.iter().chain(prefixes.iter().rev()) {
            let fresh = allowed(&engine(schema, &vocabulary), prefix);
            assert_eq!(allowed(&kept, prefix), fresh, "{schema} after {prefix}");
        }
    }
}

/// A cache that holds few masks, or none at all, gives the same as one that holds all of them.
#[test]
fn a_small_cache_gives_the_same_masks() {
    let vocabulary = support::vocabulary("llama3");
    for example in support::examples() {
        let bind = |cache_bytes: usize| {
            let mut options = Options::default();
            options.limits.cache_bytes = cache_bytes;
            let grammar = Grammar::compile(&example.schema, &options).expect("it compiles");
            grammar.bind(&vocabulary).expect("every byte can be spelled")
        };
        let (whole, small) = (bind(64 << 20), [0, 16 << 10, 1 << 20].map(bind));
        let documents = example.documents("valid.jsonl");
        // The second time, what is kept is there.
        for document in documents.iter().take(3).cycle().take(6) {
            let mut matcher = whole.matcher();
            let mut others = small.each_ref().map(Engine::matcher);
            for token in vocabulary.encode(document).expect("it can be spelled").ids {
                let expected = support::mask(&matcher);
                for other in &mut others {
                    assert_eq!(support::mask(other), expected, "{}: {document}", example.name);
                    other.accept(token).expect("the document is valid");
                }
                matcher.accept(token).expect("the document is valid");
            }
        }
    }
}
