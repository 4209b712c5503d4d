//! The documents beside the schemas of `grammars/`, token by token through masks.

use crate::support::{engine, examples, mask, vocabulary};
use tokenmask::check::Validator;
use tokenmask::{Engine, Grammar, Options};

/// Whether every token is allowed by the mask before it, and the end by the last.
fn accepts(engine: &Engine, document: &str) -> bool {
    let encoded = engine.vocabulary().encode(document).unwrap();
    let mut matcher = engine.matcher();
    for token in encoded.ids {
        if !mask(&matcher).allows(token) {
            let error = matcher.accept(token).expect_err("the mask refuses it");
            assert_eq!(error.kind().name(), "token", "{document}");
            return false;
        }
        matcher.accept(token).unwrap();
    }
    let last = mask(&matcher);
    let ends = engine.vocabulary().end_ids();
    assert!(ends.iter().all(|&id| last.allows(id) == matcher.is_accepting()), "{document}");
    matcher.is_accepting()
}

#[test]
fn documents_are_accepted_and_refused() {
    let (mut valid, mut invalid, mut checked) = (0, 0, 0);
    for vocabulary in ["bytes", "llama3"].map(vocabulary) {
        for example in examples() {
            let engine = engine(&example.schema, &vocabulary);
            let label = format!("{} over {}", example.name, vocabulary.name());
            for document in example.documents("valid.jsonl") {
                assert!(accepts(&engine, &document), "{label} must accept {document}");
                valid += 1;
            }
            for document in example.documents("invalid.jsonl") {
                assert!(!accepts(&engine, &document), "{label} must refuse {document}");
                invalid += 1;
            }
            for document in example.documents("invalid_check.jsonl") {
                assert!(accepts(&engine, &document), "{label} must leave to the check {document}");
                checked += 1;
            }
        }
    }
    println!("{valid} valid, {invalid} invalid, {checked} left to the check");
    assert!(valid >= 100 && invalid >= 200 && checked >= 4, "{valid}, {invalid}, {checked}");
}

/// The check finds what the mask leaves, and only in keywords that are routed to it.
#[test]
fn the_check_finds_the_rest() {
    let options = Options::default();
    let mut found = 0;
    for example in examples() {
        let grammar = Grammar::compile(&example.schema, &options).unwrap();
        let validator = Validator::new(&example.schema, &options).unwrap();
        let violations = |text: &str| validator.violations(text, grammar.report()).unwrap();
        for document in example.documents("valid.jsonl") {
            assert_eq!(violations(&document), [], "{} {document}", example.name);
        }
        let documents = example.documents("invalid_check.jsonl");
        assert_eq!(grammar.report().is_exact(), documents.is_empty(), "{}", example.name);
        for document in documents {
            let all = violations(&document);
            assert!(!all.is_empty(), "{} {document}", example.name);
            assert!(all.iter().all(|violation| violation.routed), "{document}: {all:?}");
            found += 1;
        }
    }
    assert!(found >= 2, "{found}");
}
