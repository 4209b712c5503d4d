//! What the matcher's calls promise.

use crate::generator::Random;
use crate::support::{any_allowed, engine, examples, mask, vocabulary};
use tokenmask::{
    Engine, ErrorKind, Grammar, Limits, Mask, Matcher, Options, SurfacePolicy, Vocabulary,
};

const END: u32 = 256;

/// A random walk of at most `most` tokens, the end token perhaps included.
fn walk(engine: &Engine, random: &mut Random, most: usize) -> Vec<u32> {
    let mut matcher = engine.matcher();
    let mut tokens = Vec::new();
    while tokens.len() < most && !matcher.is_terminated() {
        let token = any_allowed(&mask(&matcher), random);
        matcher.accept(token).unwrap();
        tokens.push(token);
    }
    tokens
}

/// What can be seen of a matcher.
fn seen(matcher: &Matcher) -> (Mask, usize, bool, bool, String) {
    let (accepting, terminated) = (matcher.is_accepting(), matcher.is_terminated());
    (mask(matcher), matcher.offset(), accepting, terminated, matcher.expected())
}

#[test]
fn refused_tokens_change_nothing() {
    let vocabulary = vocabulary("fused");
    for (seed, example) in examples().iter().enumerate() {
        let engine = engine(&example.schema, &vocabulary);
        let mut random = Random(seed as u64);
        let mut matcher = engine.matcher();
        for token in walk(&engine, &mut random, 40) {
            let before = seen(&matcher);
            for _ in 0..20 {
                let other = random.below(vocabulary.width() + 5) as u32;
                if !before.0.allows(other) {
                    let error = matcher.accept(other).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Token);
                    assert_eq!(seen(&matcher), before);
                    assert!(matcher.accept_bytes(b"\x01").is_err());
                }
            }
            assert_eq!(seen(&matcher), before);
            matcher.accept(token).unwrap();
            assert_eq!(matcher.offset() > before.1, !matcher.is_terminated());
        }
        // None of the refusals counts as a call.
        let mut calls = 0;
        while matcher.rollback(1).is_ok() {
            calls += 1;
        }
        assert!(calls <= 40);
        assert_eq!(seen(&matcher), seen(&engine.matcher()));
    }
}

#[test]
fn refusals_name_the_byte() {
    let engine = engine(r#"{"enum":["yes","no"]}"#, &vocabulary("fused"));
    let mut matcher = engine.matcher();
    matcher.accept_bytes(b"\"ye").unwrap();
    let error = matcher.accept_bytes(b"sx").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Token, Some(4)));
    assert_eq!(matcher.offset(), 3);
    let end = *engine.vocabulary().end_ids().first().unwrap();
    assert_eq!(matcher.accept(end).unwrap_err().offset(), Some(3));
    assert_eq!(matcher.accept(9_999).unwrap_err().kind(), ErrorKind::Token);
}

#[test]
fn rollback_goes_over_calls_and_the_end() {
    let vocabulary = vocabulary("fused");
    for (seed, example) in examples().iter().enumerate() {
        let engine = engine(&example.schema, &vocabulary);
        let mut random = Random(seed as u64);
        let tokens = walk(&engine, &mut random, 60);
        let mut matcher = engine.matcher();
        let mut moments = vec![seen(&matcher)];
        for &token in &tokens {
            matcher.accept(token).unwrap();
            moments.push(seen(&matcher));
        }
        for _ in 0..30 {
            let back = random.below(tokens.len() + 1);
            let mut other = matcher.clone();
            other.rollback(back).unwrap();
            assert_eq!(seen(&other), moments[tokens.len() - back]);
            assert_eq!(other.validate(&tokens[tokens.len() - back..]), back);
            for &token in &tokens[tokens.len() - back..] {
                other.accept(token).unwrap();
            }
            assert_eq!(seen(&other), moments[tokens.len()]);
        }
        assert_eq!(matcher.rollback(tokens.len() + 1).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(seen(&matcher), moments[tokens.len()]);
    }
}

#[test]
fn rollback_keeps_as_many_calls_as_its_limit() {
    let limits = Limits { rollback: 3, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let grammar = Grammar::compile(r#"{"type":"string"}"#, &options).unwrap();
    let mut matcher = grammar.bind(&vocabulary("bytes")).unwrap().matcher();
    for byte in b"\"abcd" {
        matcher.accept(u32::from(*byte)).unwrap();
    }
    let error = matcher.rollback(4).unwrap_err();
    assert_eq!(error.limit(), Some("rollback"));
    matcher.rollback(3).unwrap();
    assert_eq!(matcher.offset(), 2);
    assert!(matcher.rollback(1).is_err());
    matcher.rollback(0).unwrap();
}

/// Over many calls, and back and forth, as many calls can be undone as a plain list of them says.
#[test]
fn rollback_goes_back_and_forth() {
    let mut random = Random(9);
    for rollback in [0, 1, 2, 5] {
        let limits = Limits { rollback, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let grammar = Grammar::compile(r#"{"type":"string"}"#, &options).unwrap();
        let mut matcher = grammar.bind(&vocabulary("bytes")).unwrap().matcher();
        matcher.accept_bytes(b"\"").unwrap();
        // The offsets before the calls that can be undone.
        let mut undoable: Vec<usize> = [0].into_iter().take(rollback).collect();
        for _ in 0..500 {
            let n = random.below(4);
            if random.chance(40) {
                let expected = undoable.len().checked_sub(n);
                assert_eq!(matcher.rollback(n).is_ok(), expected.is_some());
                if let Some(left) = expected
                    && n > 0
                {
                    assert_eq!(matcher.offset(), undoable[left]);
                    undoable.truncate(left);
                }
                if matcher.offset() == 0 {
                    matcher.accept_bytes(b"\"").unwrap();
                    undoable = vec![0];
                }
                continue;
            }
            undoable.push(matcher.offset());
            matcher.accept_bytes(&b"abc"[..1 + n % 3]).unwrap();
            undoable.drain(..undoable.len().saturating_sub(rollback));
        }
    }
}

#[test]
fn after_the_end_only_ends_are_allowed() {
    let vocabulary = vocabulary("fused");
    let ends = vocabulary.end_ids().to_vec();
    assert_eq!(ends.len(), 2);
    let engine = engine("true", &vocabulary);
    let mut matcher = engine.matcher();
    matcher.accept_bytes(b"7").unwrap();
    assert!(matcher.is_accepting() && !matcher.is_terminated());
    let open = seen(&matcher);
    matcher.accept(ends[1]).unwrap();
    assert!(matcher.is_terminated() && matcher.is_accepting());
    assert_eq!(mask(&matcher).iter().collect::<Vec<_>>(), ends);
    assert_eq!(matcher.shortest_completion().unwrap(), b"");
    assert_eq!(matcher.forced_bytes(), b"");
    let ended = seen(&matcher);
    for token in [u32::from(b'7'), ends[0], ends[1], u32::from(b' ')] {
        let error = matcher.accept(token).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Token);
        assert_eq!(matcher.validate(&[token]), 0);
        assert_eq!(seen(&matcher), ended);
    }
    assert!(matcher.accept_bytes(b"1").is_err());
    matcher.rollback(1).unwrap();
    assert_eq!(seen(&matcher), open);
    matcher.accept_bytes(b"8").unwrap();
    matcher.rollback(2).unwrap();
    assert_eq!(seen(&matcher), seen(&engine.matcher()));
}

#[test]
fn validate_counts_and_changes_nothing() {
    let engine = engine(r#"{"type":"array","items":{"type":"integer"}}"#, &vocabulary("bytes"));
    let matcher = engine.matcher();
    let before = seen(&matcher);
    let tokens = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
    assert_eq!(matcher.validate(&tokens("[1, 22]")), 7);
    assert_eq!(matcher.validate(&tokens("[1, x2]")), 4);
    assert_eq!(matcher.validate(&[]), 0);
    assert_eq!(matcher.validate(&[&tokens("[]")[..], &[END, END]].concat()), 3);
    assert_eq!(seen(&matcher), before);
    assert!(matcher.clone().rollback(1).is_err());
}

#[test]
fn reset_and_clones_are_independent() {
    let engine = engine(&examples()[0].schema, &vocabulary("fused"));
    let mut random = Random(5);
    let tokens = walk(&engine, &mut random, 30);
    let mut matcher = engine.matcher();
    tokens.iter().for_each(|&token| matcher.accept(token).unwrap());
    let here = seen(&matcher);
    let mut clone = matcher.clone();
    assert_eq!(seen(&clone), here);
    clone.rollback(tokens.len() / 2).unwrap();
    assert_eq!(seen(&matcher), here);
    clone.reset();
    assert_eq!(seen(&clone), seen(&engine.matcher()));
    assert!(clone.rollback(1).is_err());
    assert_eq!(seen(&matcher), here);
    clone.accept(tokens[0]).unwrap();
    matcher.rollback(tokens.len() - 1).unwrap();
    assert_eq!(seen(&clone), seen(&matcher));
}

#[test]
fn masks_of_another_width_are_errors() {
    let small = engine("true", &vocabulary("bytes"));
    let large = engine("true", &vocabulary("fused"));
    let matcher = small.matcher();
    let error = matcher.fill_mask(&mut large.new_mask()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mask);
    let mut short = vec![7; 8];
    assert_eq!(matcher.fill_bitmask(&mut short).unwrap_err().kind(), ErrorKind::Mask);
    assert_eq!(short, [7; 8]);
    let mut long = vec![u32::MAX; 12];
    let filled = matcher.fill_bitmask(&mut long).unwrap();
    let expected = mask(&matcher);
    assert_eq!(long[..9], *expected.words());
    assert_eq!(long[9..], [0; 3]);
    assert_eq!(filled.allowed(), expected.iter().count());

    // Logits wider and narrower than the tokenizer.
    let wide = vocabulary("bytes").with_width(1_000).unwrap();
    let wide = engine("true", &wide);
    let after = mask(&wide.matcher());
    assert_eq!(after.words().len(), 32);
    assert_eq!(after.words()[..9], *expected.words());
    assert!(after.words()[9..].iter().all(|&word| word == 0));
    let narrow = vocabulary("bytes").with_end_tokens(&[0]).unwrap().with_width(100).unwrap();
    let narrow = engine(r#"{"enum":["]"]}"#, &narrow);
    let mut matcher = narrow.matcher();
    assert_eq!(mask(&matcher).words().len(), 4);
    matcher.accept_bytes(b"\"]\"").unwrap();
    assert_eq!(mask(&matcher).iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn forced_bytes_are_what_every_continuation_begins_with() {
    for (schema, prefix, forced) in [
        (r#"{"const":{"a":1}}"#, "", "{"),
        (r#"{"enum":["red","reed"]}"#, "", "\"re"),
        (r#"{"type":"null"}"#, "", "null"),
        (r#"{"type":"integer"}"#, "1", ""),
        (r#"{"type":"boolean"}"#, "", ""),
        (r#"{"type":"array","maxItems":0}"#, "[", "]"),
        (
            r#"{"required":["k"],"properties":{"k":{"const":true}},"type":"object"}"#,
            "{\"",
            "k\":true",
        ),
    ] {
        let policy = SurfacePolicy::tight();
        let grammar = Grammar::compile(schema, &Options { policy, ..Options::default() }).unwrap();
        let mut matcher = grammar.bind(&vocabulary("bytes")).unwrap().matcher();
        matcher.accept_bytes(prefix.as_bytes()).unwrap();
        let found = matcher.forced_bytes();
        let shown = String::from_utf8_lossy(&found).into_owned();
        if forced == "k\":true" || forced == "{" {
            assert!(shown.starts_with(forced), "{schema}: {shown}");
        } else {
            assert_eq!(shown, forced, "{schema}");
        }
        // One byte after the other is the only one.
        for byte in found {
            let only: Vec<u8> =
                (0..=255).filter(|&b| matcher.clone().accept_bytes(&[b]).is_ok()).collect();
            assert_eq!(only, [byte], "{schema}");
            assert!(!matcher.is_accepting());
            matcher.accept_bytes(&[byte]).unwrap();
        }
        let next = (0..=255).filter(|&b| matcher.clone().accept_bytes(&[b]).is_ok()).count();
        assert!(next != 1 || matcher.is_accepting(), "{schema}: more is forced");
    }
}

/// The length of the shortest completion, found breadth first; `None` above `most`.
fn brute_force(matcher: &Matcher, bytes: &[u8], most: usize) -> Option<usize> {
    let mut layer = vec![matcher.clone()];
    for length in 0..=most {
        if layer.iter().any(Matcher::is_accepting) {
            return Some(length);
        }
        let mut next = Vec::new();
        for matcher in &layer {
            for byte in bytes {
                let mut after = matcher.clone();
                if after.accept_bytes(std::slice::from_ref(byte)).is_ok() {
                    next.push(after);
                }
            }
        }
        layer = next;
        if layer.len() > 3_000 {
            return None;
        }
    }
    None
}

#[test]
fn shortest_completions_are_accepted_and_shortest() {
    // Bytes that suffice for each document, so that the search stays small.
    let alphabet = b"\"{}[]:,\\0ab-.enulu";
    let mut tokens: Vec<Vec<u8>> = alphabet.iter().map(|&byte| vec![byte]).collect();
    tokens.dedup();
    tokens.push(Vec::new());
    let end = tokens.len() as u32 - 1;
    let vocabulary = Vocabulary::from_parts(tokens, &[end], &[]).unwrap();
    let schemas = [
        "true",
        r#"{"type":"array","minItems":2}"#,
        r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":1}}}"#,
        r#"{"anyOf":[{"type":"string","minLength":3},{"type":"array","items":{"type":"null"},"minItems":1}]}"#,
        r#"{"type":"string","pattern":"^(a|b)b{2}$"}"#,
        r#"{"type":"object","required":["b","a"]}"#,
        r##"{"type":"array","items":{"$ref":"#"},"maxItems":2}"##,
        r#"{"type":"array","prefixItems":[{"type":"number"},{"enum":["ab","a"]}],"items":false,"minItems":2}"#,
    ];
    let (mut compared, mut random) = (0, Random(11));
    for schema in schemas {
        let engine = engine(schema, &vocabulary);
        for _ in 0..12 {
            let mut matcher = engine.matcher();
            for _ in 0..12 {
                let completion = matcher.shortest_completion().unwrap();
                let mut end = matcher.clone();
                end.accept_bytes(&completion).unwrap();
                assert!(end.is_accepting(), "{schema}: {completion:?}");
                // A completion of more bytes takes the search too long.
                if completion.len() <= 5
                    && let Some(shortest) = brute_force(&matcher, alphabet, completion.len())
                {
                    let shown = String::from_utf8_lossy(&completion);
                    let note = format!("{schema} at {}: {shown}", matcher.offset());
                    let escaped = schema.contains("pattern");
                    assert!(escaped || completion.len() == shortest, "{note}, but {shortest}");
                    compared += 1;
                }
                let token = any_allowed(&mask(&matcher), &mut random);
                matcher.accept(token).unwrap();
                if matcher.is_terminated() {
                    break;
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn completions_behind_a_backslash_are_short() {
    let engine = engine("true", &vocabulary("bytes"));
    for (prefix, length) in [
        ("\"\\", 2),
        ("\"\\u", 5),
        ("\"\\ud83d", 7),
        ("\"\\ud83d\\", 6),
        ("{\"\\", 5),
        ("[\"\\", 3),
    ] {
        let mut matcher = engine.matcher();
        matcher.accept_bytes(prefix.as_bytes()).unwrap();
        let completion = matcher.shortest_completion().unwrap();
        assert_eq!(completion.len(), length, "{prefix}: {}", String::from_utf8_lossy(&completion));
        matcher.accept_bytes(&completion).unwrap();
        assert!(matcher.is_accepting());
    }
}

#[test]
fn shortest_completions_finish_every_prefix() {
    for example in examples() {
        let engine = engine(&example.schema, &vocabulary("fused"));
        for seed in 0..5 {
            let mut matcher = engine.matcher();
            for token in walk(&engine, &mut Random(seed), 50) {
                let mut end = matcher.clone();
                end.accept_bytes(&matcher.shortest_completion().unwrap()).unwrap();
                assert!(end.is_accepting(), "{}", example.name);
                matcher.accept(token).unwrap();
            }
        }
    }
    let limits = Limits { completion_bytes: 1_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let grammar = Grammar::compile(r#"{"type":"string","minLength":5000}"#, &options).unwrap();
    let error = grammar.bind(&vocabulary("bytes")).unwrap().matcher().shortest_completion();
    assert_eq!(error.unwrap_err().limit(), Some("completion_bytes"));
}

#[test]
fn lent_masks_are_not_copied_and_stay_as_they_are() {
    let schema = r#"{"type":"object","properties":{"a":{"enum":["b","c"]}}}"#;
    let engine = engine(schema, &vocabulary("fused"));
    let mut matcher = engine.matcher();
    let first = matcher.mask().unwrap();
    let (second, third) = (matcher.mask().unwrap(), matcher.clone().mask().unwrap());
    assert_eq!((&first, &second), (&third, &first));
    assert_eq!(second.words().as_ptr(), third.words().as_ptr());
    // Filling a mask that shares its words leaves those alone.
    let before = first.clone();
    let mut own: Mask = third.into();
    matcher.accept_bytes(b"{\"a\":\"").unwrap();
    matcher.fill_mask(&mut own).unwrap();
    assert_ne!(own.words(), before.words());
    engine.clear_cache();
    assert_eq!((&first, &second), (&before, &before));
    assert_eq!(&own, &*matcher.mask().unwrap());
    // After the end, the end tokens.
    matcher.accept_bytes(b"b\"}").unwrap();
    let ends = engine.vocabulary().end_ids();
    matcher.accept(ends[0]).unwrap();
    let lent = matcher.mask().unwrap();
    assert_eq!((lent.iter().collect::<Vec<_>>(), lent.allowed()), (ends.to_vec(), ends.len()));
    // Without room each mask has words of its own.
    let limits = Limits { cache_bytes: 0, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let grammar = Grammar::compile(schema, &options).unwrap();
    let engine = grammar.bind(&vocabulary("fused")).unwrap();
    let lent = [(); 3].map(|()| engine.matcher().mask().unwrap());
    assert_eq!((&lent[0], &lent[1]), (&lent[1], &lent[2]));
    assert_ne!(lent[1].words().as_ptr(), lent[2].words().as_ptr());
}

#[test]
fn threads_share_one_engine() {
    fn shareable<T: Send + Sync + Clone>() {}
    shareable::<Grammar>();
    shareable::<Vocabulary>();
    shareable::<Engine>();
    fn sendable<T: Send + Clone>() {}
    sendable::<Matcher>();

    let vocabulary = vocabulary("llama3");
    for example in examples() {
        let engine = engine(&example.schema, &vocabulary);
        let tokens = walk(&engine, &mut Random(1), 40);
        let masks = |engine: &Engine| {
            let mut matcher = engine.matcher();
            let mut masks = vec![mask(&matcher)];
            for &token in &tokens {
                matcher.accept(token).unwrap();
                masks.push(mask(&matcher));
            }
            masks
        };
        let expected = masks(&crate::support::engine(&example.schema, &vocabulary));
        engine.clear_cache();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| masks(&engine))).collect();
            for thread in threads {
                assert!(thread.join().unwrap() == expected, "{}", example.name);
            }
        });
    }
}
