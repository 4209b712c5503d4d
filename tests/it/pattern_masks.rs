//! Masks inside strings of patterns: chains over classes of characters against every token tried
//! out.

use crate::generator::Random;
use crate::support::{amount, any_allowed, engine, mask, text_tokens, vocabulary};
use tokenmask::{Matcher, Vocabulary};

/// Loops, counts, classes that shrink along the way, characters beyond ASCII in and out.
const PATTERNS: [&str; 26] = [
    "^[a-z ]+$",
    "^[a-z][a-z0-9_]*$",
    "^[A-Za-z0-9._-]{3,40}$",
    "^[^,]+$",
    "^[^\\\\t\\\\r]{1,128}$",
    "^[^a-z]+$",
    "^.*$",
    "^.{2,5}$",
    "^.{0,60}x$",
    "^[a-z]{5}[0-9]+$",
    "^[a-z]{40}$",
    "^[a-p]{4}[a-z]*$",
    "^[a-zé]+$",
    "^[^é]+$",
    "^[\\\\u0100-\\\\u024f a-z]+$",
    "^([a-z]+-)*[a-z]+$",
    "^[\\\\w.+-]+@[\\\\w-]+\\\\.[\\\\w.-]+$",
    "^https?://[^ ]+$",
    "^(?:[a-z]{2})+$",
    "^(?:[a-z ]{1,3},)+$",
    "abc[a-z]*$",
    "^[ -~]*$",
    "^[a-zA-Z ]*[.!?]$",
    "^\\\\S+( \\\\S+)*$",
    "^[\\\\p{L} ]+$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
];

/// The places beside the pattern: alone, with lengths, before a key that depends on the document.
fn schemas(pattern: &str) -> [String; 3] {
    [
        format!(r#"{{"type": "string", "pattern": "{pattern}"}}"#),
        format!(r#"{{"type": "string", "pattern": "{pattern}", "minLength": 4, "maxLength": 90}}"#),
        format!(
            r#"{{"type": "object", "additionalProperties":
                {{"anyOf": [{{"type": "string", "pattern": "{pattern}"}}, {{"type": "null"}}]}}}}"#
        ),
    ]
}

/// That the mask is right for the tokens of `ids`.
fn same_as_tried(matcher: &Matcher, ids: impl Iterator<Item = u32>, schema: &str, prefix: &[u32]) {
    let mask = mask(matcher);
    for id in ids {
        let tried = matcher.validate(&[id]) == 1;
        assert_eq!(mask.allows(id), tried, "token {id} after {prefix:?} of {schema}");
    }
}

fn check(vocabulary: &Vocabulary, random: &mut Random, states: usize, share: usize) {
    let ids: Vec<u32> = text_tokens(vocabulary).into_iter().map(|(_, id)| id).collect();
    let mut seen = 0;
    while seen < states {
        let pattern = PATTERNS[random.below(PATTERNS.len())];
        let schema = &schemas(pattern)[random.below(3)];
        let engine = engine(schema, vocabulary);
        let mut matcher = engine.matcher();
        let mut prefix = Vec::new();
        for _ in 0..8 {
            let first = random.below(share);
            same_as_tried(
                &matcher,
                ids.iter().copied().skip(first).step_by(share),
                schema,
                &prefix,
            );
            seen += 1;
            let token = any_allowed(&mask(&matcher), random);
            if vocabulary.is_end(token) {
                break;
            }
            matcher.accept(token).unwrap();
            prefix.push(token);
        }
    }
}

#[test]
fn masks_of_patterns_are_what_trying_every_token_gives() {
    let mut random = Random(31);
    check(&vocabulary("fused"), &mut random, amount(2_000, 20_000), 1);
    check(&vocabulary("llama3"), &mut random, amount(150, 2_000), 13);
}
