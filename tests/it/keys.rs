//! Keys with rules: what finishes a document, and what is forced, against the oracle.

use crate::generator::{Random, loops};
use crate::oracle::Oracle;
use crate::support::{amount, any_allowed, mask, options, vocabulary};
use tokenmask::{Engine, Grammar, Matcher, Options, SurfacePolicy};

fn engine(schema: &str, vocabulary: &str) -> Engine {
    let options = Options { policy: SurfacePolicy::tight(), ..Options::default() };
    let grammar = Grammar::compile(schema, &options).unwrap();
    grammar.bind(&crate::support::vocabulary(vocabulary)).unwrap()
}

fn at(engine: &Engine, prefix: &str) -> Matcher {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(prefix.as_bytes()).unwrap_or_else(|error| panic!("{error}: {prefix}"));
    matcher
}

#[test]
fn completions_and_forced_bytes_agree_with_the_oracle() {
    let other = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let mut random = Random(41 + 1_000 * other.unwrap_or(0));
    let vocabulary = vocabulary("fused");
    let (mut completed, mut forced) = (0, 0);
    for _ in 0..amount(60, 2_000) {
        let (schema, policy) = (random.keyed_schema(2), random.policy());
        let Ok(oracle) = Oracle::new(&schema, policy) else { continue };
        if loops(&schema) {
            continue;
        }
        let engine = Grammar::compile(&schema, &options(policy)).unwrap();
        let engine = engine.bind(&vocabulary).unwrap();
        let (mut matcher, mut state) = (engine.matcher(), oracle.start());
        for _ in 0..40 {
            let note = || format!("{policy:?}: {schema} at byte {}", matcher.offset());
            let end = matcher.shortest_completion().unwrap();
            let shown = String::from_utf8_lossy(&end);
            let mut finished = matcher.clone();
            assert!(finished.accept_bytes(&end).is_ok(), "{}: {shown}", note());
            let last = end.iter().try_fold(state.clone(), |at, &byte| oracle.step(&at, byte));
            assert!(last.is_some_and(|last| oracle.may_end(&last)), "{}: {shown}", note());
            completed += 1;
            let mut here = state.clone();
            for byte in matcher.forced_bytes() {
                assert!(!oracle.may_end(&here), "{}", note());
                let live: Vec<u8> =
                    (0..=255).filter(|&byte| oracle.step(&here, byte).is_some()).collect();
                assert_eq!(live, [byte], "{}", note());
                here = oracle.step(&here, byte).unwrap();
                forced += 1;
            }
            let token = any_allowed(&mask(&matcher), &mut random);
            if vocabulary.is_end(token) {
                break;
            }
            for &byte in vocabulary.token_bytes(token).unwrap() {
                state = oracle.step(&state, byte).unwrap_or_else(|| panic!("{}", note()));
            }
            matcher.accept(token).unwrap();
        }
    }
    println!("{completed} completions, {forced} forced bytes");
    assert!(completed > 500 && forced > 100, "{completed}, {forced}");
}

#[test]
fn completions_take_keys_that_are_left() {
    let few = r#"{"type": "object", "properties": {"a": {"const": 1}},
        "patternProperties": {"^([ab]|cé)$": {"const": 1}}, "additionalProperties": false}"#;
    for vocabulary in ["bytes", "fused"] {
        let engine = engine(few, vocabulary);
        for (prefix, end) in [
            (r#"{"a":1,"b":1,"#, r#""cé":1}"#),
            (r#"{"b":1,""#, r#"cé":1}"#),
            (r#"{"cé":1,"#, r#""b":1}"#),
            (r#"{"a":1,"c"#, r#"é":1}"#),
        ] {
            let completion = at(&engine, prefix).shortest_completion().unwrap();
            assert_eq!(String::from_utf8(completion).unwrap(), end, "{prefix}");
        }
        // The last key that is left is forced; its value may be `1.0`.
        let forced = at(&engine, r#"{"a":1,"b":1,"#).forced_bytes();
        assert_eq!(String::from_utf8(forced).unwrap(), r#""cé":1"#);
        let forced = at(&engine, r#"{"a":1,"b":1,"cé""#).forced_bytes();
        assert_eq!(String::from_utf8(forced).unwrap(), ":1");
    }
}
