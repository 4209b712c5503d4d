//! One mask over llama3 (128,256 tokens): cold, warm, and late in a long document.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tokenmask::{Engine, Grammar, Matcher, Options, Vocabulary};

/// (name, schema, prefix after which the mask is filled)
fn places() -> Vec<(&'static str, String, &'static str)> {
    let closed = |names: usize| {
        let mut text = String::from(r#"{"type": "object", "additionalProperties": false"#);
        text.push_str(r#", "properties": {"#);
        for n in 0..names {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(text, r#"{comma}"name_{n}": {{"type": "integer"}}"#);
        }
        text.push_str("}}");
        text
    };
    let open = r#"{"type": "object", "properties": {"name": {"type": "string"},
        "notes": {"type": "array", "items": {"type": "integer"}}}}"#;
    let keys = |pattern: &str| {
        format!(
            r#"{{"type": "object", "patternProperties": {{"{pattern}": {{"type": "integer"}}}},
            "additionalProperties": false}}"#
        )
    };
    let pattern = |pattern: &str| format!(r#"{{"type": "string", "pattern": "{pattern}"}}"#);
    vec![
        ("free string", r#"{"type": "string"}"#.into(), "\"some te"),
        ("bounded string", r#"{"type": "string", "maxLength": 40}"#.into(), "\"some te"),
        ("key of an open object", open.into(), "{\"n"),
        ("key of a closed object, 4 names", closed(4), "{\"na"),
        ("key of a closed object, 1,000 names", closed(1_000), "{\"na"),
        ("key of a pattern, a loop", keys("^[a-zA-Z0-9_-]+$"), "{\"na"),
        ("key of a pattern, its start", keys("^[a-zA-Z0-9_-]+$"), "{\""),
        ("key of a pattern, behind another", keys("^[a-zA-Z0-9_-]+$"), "{\"name\": 1, \"na"),
        (
            "key of a pattern, its start behind another",
            keys("^[a-zA-Z0-9_-]+$"),
            "{\"name\": 1, \"",
        ),
        ("key of a pattern, a prefix", keys("^x-"), "{\"x-n"),
        ("key of a pattern, the start of a prefix", keys("^x-"), "{\""),
        ("key of a pattern, any", keys(".*"), "{\"na"),
        ("key of few", keys("^(na|nb|nac)$"), "{\"na"),
        ("number", r#"{"type": "array", "items": {"type": "number"}}"#.into(), "[1, 2.5"),
        ("enum", r#"{"enum": ["red", "green", "grey", "greenish"]}"#.into(), "\"gr"),
        ("value start", open.into(), "{\"notes\":"),
        ("after a value", open.into(), "{\"name\": \"x\""),
        ("in an array", open.into(), "{\"notes\": [1,"),
        ("pattern, anchored", pattern("^[A-Z]{3}-[0-9]{6}$"), "\"ABC-1"),
        ("pattern, a loop", pattern("^[a-z ]+$"), "\"some te"),
        ("pattern, searched", pattern("[0-9]{3}"), "\"some te"),
    ]
}

fn vocabulary() -> Vocabulary {
    let vocabulary = Vocabulary::builtin("llama3").expect("it is built in");
    // The tables that all grammars share are not part of any mask.
    let engine = Grammar::any_json().bind(&vocabulary).expect("it can be bound");
    engine.matcher().fill_mask(&mut engine.new_mask()).expect("there is a mask");
    vocabulary
}

fn engine(schema: &str, vocabulary: &Vocabulary) -> Engine {
    let grammar = Grammar::compile(schema, &Options::default()).expect("it compiles");
    grammar.bind(vocabulary).expect("it can be bound")
}

fn at(engine: &Engine, prefix: &str) -> Matcher {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(prefix.as_bytes()).expect("the prefix is allowed");
    matcher
}

fn masks(c: &mut Criterion) {
    let vocabulary = vocabulary();
    for warm in [false, true] {
        let mut group = c.benchmark_group(if warm { "mask warm" } else { "mask cold" });
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
        group.sample_size(20);
        for (name, schema, prefix) in places() {
            let engine = engine(&schema, &vocabulary);
            let (matcher, mut mask) = (at(&engine, prefix), engine.new_mask());
            group.bench_function(name, |b| {
                b.iter_batched(
                    || {
                        if !warm {
                            engine.clear_cache();
                        }
                    },
                    |()| matcher.fill_mask(&mut mask).expect("there is a mask"),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

/// A document of many tokens, cut into single tokens.
struct Long {
    name: &'static str,
    engine: Engine,
    tokens: Vec<u32>,
    early: usize,
    late: usize,
}

fn long_documents(vocabulary: &Vocabulary) -> Vec<Long> {
    let string = r#"{"type": "string", "maxLength": 100000}"#;
    let array = r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 5000}"#;
    let object = |n: usize| format!(r#"{{"key {n}": [{n}, "some text {n}", true]}}"#);
    let objects: Vec<String> = (0..1_500).map(object).collect();
    let numbers: Vec<String> = (0..5_000).map(|n| (n % 10).to_string()).collect();
    let words: String = "a text of many words ".chars().cycle().take(100_000).collect();
    let documents = [
        ("free document", "true", format!("[{}]", objects.join(", ")), 10_000),
        ("string of 100,000 characters", string, format!("\"{words}\""), 10_000),
        ("array of 5,000 items", array, format!("[{}]", numbers.join(",")), 9_900),
    ];
    let make = |(name, schema, text, late): (_, &str, String, usize)| {
        let tokens = vocabulary.encode(&text).expect("every byte can be spelled").ids;
        assert!(tokens.len() > late + 50, "{name} has {} tokens", tokens.len());
        Long { name, engine: engine(schema, vocabulary), tokens, early: 100, late }
    };
    documents.map(make).into()
}

/// The mean time of a mask and its `accept` over 20 tokens from `from` on.
fn time_of(long: &Long, from: usize, iterations: u64) -> Duration {
    const TOKENS: usize = 20;
    let (mut start, mut mask) = (long.engine.matcher(), long.engine.new_mask());
    for &token in &long.tokens[..from] {
        start.accept(token).expect("the document is valid");
    }
    let mut total = Duration::ZERO;
    for _ in 0..iterations {
        let mut matcher = start.clone();
        let begin = Instant::now();
        for &token in &long.tokens[from..from + TOKENS] {
            matcher.fill_mask(&mut mask).expect("there is a mask");
            matcher.accept(token).expect("the document is valid");
        }
        total += begin.elapsed();
    }
    total / TOKENS as u32
}

fn long(c: &mut Criterion) {
    let vocabulary = vocabulary();
    let mut group = c.benchmark_group("mask and accept");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.sample_size(15);
    for long in long_documents(&vocabulary) {
        for from in [long.early, long.late] {
            group.bench_function(format!("{}, token {from}", long.name), |b| {
                b.iter_custom(|iterations| time_of(&long, from, iterations));
            });
        }
        let (mut early, mut late) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            early = early.min(time_of(&long, long.early, 50));
            late = late.min(time_of(&long, long.late, 50));
        }
        let ratio = late.as_secs_f64() / early.as_secs_f64();
        println!("{}: token {} costs {ratio:.2} times token {}", long.name, long.late, long.early);
    }
    group.finish();
}

criterion_group!(benches, masks, long);
criterion_main!(benches);
