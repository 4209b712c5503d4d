//! From the text of a schema to a grammar: what stands before the first mask.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;
use tokenmask::{Grammar, Options};

/// The schemas of `grammars/`, by name.
fn grammars() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/grammars");
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let text = std::fs::read_to_string(entry.path().join("schema.json")).ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), text))
        })
        .collect();
    all.sort();
    all
}

/// A choice between `count` tools, told apart by their names.
fn tools(count: usize) -> String {
    let tool = |n: usize| {
        format!(
            r#"{{"type": "object", "properties": {{
                "name": {{"const": "tool_{n}"}},
                "arguments": {{"type": "object", "properties": {{
                    "path_{n}": {{"type": "string", "description": "where tool {n} looks"}},
                    "limit": {{"type": "integer"}},
                    "mode": {{"enum": ["fast", "exact", "dry_run"]}},
                    "tags": {{"type": "array", "items": {{"type": "string"}}, "maxItems": 8}}}},
                  "required": ["path_{n}"], "additionalProperties": false}}}},
              "required": ["name", "arguments"], "additionalProperties": false}}"#
        )
    };
    format!(r#"{{"anyOf": [{}]}}"#, (0..count).map(tool).collect::<Vec<_>>().join(","))
}

/// An object with `count` declared properties.
fn properties(count: usize) -> String {
    let mut text = String::from(r#"{"type": "object", "properties": {"#);
    for n in 0..count {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(text, r#"{comma}"property_{n}": {{"type": "string", "maxLength": {n}}}"#);
    }
    text.push_str("}}");
    text
}

/// A choice between `count` strings.
fn words(count: usize) -> String {
    let words: Vec<String> =
        (0..count).map(|n| format!("\"{:x} word {n}\"", n * 2_654_435_761 % 65_521)).collect();
    format!(r#"{{"enum": [{}]}}"#, words.join(","))
}

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.sample_size(20);
    let large = [
        ("200 tools".to_owned(), tools(200)),
        ("1,000 properties".to_owned(), properties(1_000)),
        ("enum of 5,000".to_owned(), words(5_000)),
    ];
    let options = Options::default();
    for (name, text) in grammars().into_iter().chain(large) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(&name, |b| {
            b.iter(|| Grammar::compile(black_box(&text), &options).expect("it compiles"));
        });
    }
    group.finish();
}

criterion_group!(benches, compile);
criterion_main!(benches);
