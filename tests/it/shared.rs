//! What the matchers of an engine share does not grow with their documents.

use crate::generator::Random;
use crate::support::{amount, engine, is_long, vocabulary};
use tokenmask::{Engine, Grammar, Options, Order, SurfacePolicy};

const LONG_TEXT: &str = r#"{"type":"string","maxLength":100000}"#;
const LONG_LIST: &str = r#"{"type":"array","items":{"type":"integer"},"maxItems":2000000000}"#;
/// What shared states must stay below.
const MOST: usize = 2_000;

/// An object of 300 optional properties, integers and strings in turn.
fn wide() -> String {
    let member = |i: usize| {
        let kind = ["integer", "string"][i % 2];
        format!(r#""property_{i}":{{"type":"{kind}"}}"#)
    };
    let members: Vec<String> = (0..300).map(member).collect();
    format!(r#"{{"type":"object","properties":{{{}}}}}"#, members.join(","))
}

fn all_three() -> String {
    let wide = wide();
    format!(
        r#"{{"type":"object","properties":{{"text":{LONG_TEXT},"list":{LONG_LIST},"wide":{wide}}}}}"#
    )
}

/// A text of up to `most` characters: letters, escapes, and characters of several bytes.
fn text(random: &mut Random, most: usize) -> String {
    let parts = ["a", "word ", "\\n", "\\u00e9", "é", "日", "😀", "0", ",", "{"];
    let length = random.below(most + 1);
    let mut text = String::from("\"");
    // The longest part has five characters.
    (0..length / 5).for_each(|_| text.push_str(random.pick(&parts)));
    text + "\""
}

fn list(random: &mut Random, most: usize) -> String {
    let count = random.below(most + 1);
    // Each number of digits is as likely, so that none first comes late.
    let item = |_| {
        let digits = 1 + random.below(6) as u32;
        random.below(10_usize.pow(digits)).to_string()
    };
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(", "))
}

/// Some of the 300 properties in random order. The first goes round all of them: each leaves masks
/// of its own, and chance alone has not met some of 300 after 1,000 documents.
fn members(random: &mut Random, most: usize, round: usize) -> String {
    let mut names: Vec<usize> = (0..300).collect();
    let count = random.below(most.min(300) + 1);
    let mut members = Vec::new();
    for index in 0..count {
        let place = if index == 0 { round % 300 } else { random.below(names.len()) };
        let name = names.swap_remove(place);
        let value =
            if name.is_multiple_of(2) { random.below(99).to_string() } else { text(random, 20) };
        members.push(format!("\"property_{name}\": {value}"));
    }
    format!("{{{}}}", members.join(", "))
}

/// A map whose keys follow a rule.
const RULED: &str = r#"{"type":"object","patternProperties":{"^[a-z_]+$":{"type":"integer"},"^x-":{"type":"boolean"}},"additionalProperties":false}"#;

/// A document of it: each has keys of its own.
fn ruled(random: &mut Random, most: usize) -> String {
    let mut keys = std::collections::BTreeSet::new();
    for _ in 0..random.below(most / 4 + 1) {
        let length = 1 + random.below(9);
        let letter = |_| char::from(b"abcdefghijklmnopqrstuvwxyz_"[random.below(27)]);
        keys.insert((0..length).map(letter).collect::<String>());
    }
    let mut members: Vec<String> = keys.iter().map(|key| format!("\"{key}\": 1")).collect();
    members.extend(keys.iter().take(2).map(|key| format!("\"x-{key}\": true")));
    format!("{{{}}}", members.join(", "))
}

fn document(schema: usize, random: &mut Random, most: usize, round: usize) -> String {
    match schema {
        0 => text(random, most),
        1 => list(random, most),
        2 => members(random, most, round),
        3 => ruled(random, most),
        _ => {
            let (text, list) = (text(random, most), list(random, most));
            format!(
                "{{\"text\": {text}, \"list\": {list}, \"wide\": {}}}",
                members(random, most, round)
            )
        }
    }
}

/// Steps through a document token by token and fills a mask before each.
fn generate(engine: &Engine, text: &str) {
    let mut matcher = engine.matcher();
    let mut mask = engine.new_mask();
    for token in engine.vocabulary().greedy(text.as_bytes()).unwrap() {
        matcher.fill_mask(&mut mask).unwrap();
        assert!(mask.allows(token), "{text}");
        matcher.accept(token).unwrap();
    }
    matcher.fill_mask(&mut mask).unwrap();
    assert!(matcher.is_accepting(), "{text}");
}

#[test]
fn shared_states_do_not_grow_with_documents() {
    let ruled = RULED.to_owned();
    let schemas = [LONG_TEXT.to_owned(), LONG_LIST.to_owned(), wide(), ruled, all_three()];
    let half = amount(300, 1_000);
    for name in ["fused", "llama3"] {
        for (index, schema) in schemas.iter().enumerate() {
            let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
            let options = Options { policy, ..Options::default() };
            let grammar = Grammar::compile(schema, &options).unwrap();
            let engine = grammar.bind(&vocabulary(name)).unwrap();
            let mut random = Random(index as u64);
            let mut sizes = Vec::new();
            for round in 0..2 * half {
                generate(&engine, &document(index, &mut random, 60, round));
                if round + 1 == half || round + 1 == 2 * half {
                    sizes.push(engine.shared_states());
                }
            }
            println!("{name}, schema {index}: {sizes:?} shared states");
            assert!(sizes[1] < MOST, "{name}, schema {index}: {sizes:?}");
            // In the short mode the first half has not yet seen all.
            let slack = if is_long() { 0 } else { sizes[0] / 4 };
            assert!(sizes[1] <= sizes[0] + slack, "{name}, schema {index}: {sizes:?}");
        }
    }
}

/// Long documents, by bytes: the masks near their ends and bounds are few too.
#[test]
fn long_documents_share_states() {
    for (schema, open, part, count, close) in
        [(LONG_TEXT, "\"", "é", 100_000, "\""), (LONG_LIST, "[", "1234,", 5_000, "5]")]
    {
        let engine = engine(schema, &vocabulary("fused"));
        let mut mask = engine.new_mask();
        let mut sizes = Vec::new();
        for _ in 0..amount(2, 20) {
            let mut matcher = engine.matcher();
            matcher.accept_bytes(open.as_bytes()).unwrap();
            for index in 0..count {
                matcher.accept_bytes(part.as_bytes()).unwrap();
                if index % 97 == 0 || count - index < 40 {
                    matcher.fill_mask(&mut mask).unwrap();
                }
            }
            matcher.accept_bytes(close.as_bytes()).unwrap();
            assert!(matcher.is_accepting());
            sizes.push(engine.shared_states());
        }
        assert!(sizes[0] < MOST && sizes.iter().all(|&size| size == sizes[0]), "{sizes:?}");
    }
    let engine = engine(LONG_TEXT, &vocabulary("bytes"));
    let mut matcher = engine.matcher();
    matcher.accept_bytes(format!("\"{}", "x".repeat(100_000)).as_bytes()).unwrap();
    assert_eq!(matcher.forced_bytes(), b"\"");
    assert!(matcher.accept_bytes(b"x").is_err());
}

/// A document of 10,000 tokens: what it shares is known long before its end.
#[test]
fn late_tokens_add_nothing() {
    let engine = engine("true", &vocabulary("llama3"));
    let object = |n: usize| format!(r#"{{"key {n}": [{n}, "some text {n}", true, null, -0.5e3]}}"#);
    // A hundred objects over and over, so that no new cut comes late.
    let objects: Vec<String> = (0..1_500).map(|n| object(n % 100)).collect();
    let tokens =
        engine.vocabulary().greedy(format!("[{}]", objects.join(", ")).as_bytes()).unwrap();
    assert!(tokens.len() > 10_000);
    let mut matcher = engine.matcher();
    let mut mask = engine.new_mask();
    let mut sizes = Vec::new();
    for &token in &tokens {
        matcher.fill_mask(&mut mask).unwrap();
        matcher.accept(token).unwrap();
        sizes.push(engine.shared_states());
    }
    assert!(matcher.is_accepting());
    // The last few tokens close the document, which is new.
    let (half, late) = (sizes[sizes.len() / 2], sizes[sizes.len() - 8]);
    assert!(half < 100 && late == half, "{half}, then {late}");
}
