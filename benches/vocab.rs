//! What is made once for each vocabulary.

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use std::path::PathBuf;
use std::time::Duration;
use tokenmask::{Engine, Grammar, Vocabulary};

/// Binding makes the trie and the tables of free text; a first mask, the closure of blanks.
fn first_mask(vocabulary: &Vocabulary) -> Engine {
    let engine = Grammar::any_json().bind(vocabulary).expect("it can be bound");
    engine.matcher().fill_mask(&mut engine.new_mask()).expect("there is a mask");
    engine
}

/// What is made of the tokens, apart from loading them.
fn derived(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, vocabulary: &Vocabulary) {
    // The same tokens under a new handle: nothing is parsed, everything derived is made anew.
    let again = || vocabulary.with_width(vocabulary.width()).expect("the width is the same");
    group.bench_function(format!("trie of {name}"), |b| {
        b.iter_batched_ref(
            again,
            |one| one.greedy(b"{").expect("it is spelled"),
            BatchSize::PerIteration,
        );
    });
    let with_trie = || {
        let one = again();
        assert!(one.greedy(b"{").is_ok());
        one
    };
    group.bench_function(format!("tables of {name}"), |b| {
        b.iter_batched_ref(with_trie, |one| first_mask(one), BatchSize::PerIteration);
    });
}

fn vocab(c: &mut Criterion) {
    let mut group = c.benchmark_group("vocab");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.sample_size(10);
    let vocabulary = Vocabulary::builtin("llama3").expect("it is built in");
    group.bench_function("load llama3", |b| {
        b.iter(|| Vocabulary::builtin("llama3").expect("it is built in"));
    });
    derived(&mut group, "llama3", &vocabulary);
    for (name, file) in tokenizer_files() {
        let text = std::fs::read(&file).expect("the file can be read");
        group.bench_function(format!("parse {name}/tokenizer.json"), |b| {
            b.iter(|| Vocabulary::from_huggingface(&text).expect("it is a vocabulary"));
        });
        let vocabulary = Vocabulary::from_huggingface(&text).expect("it is a vocabulary");
        derived(&mut group, name, &vocabulary);
    }
    group.finish();
}

/// Three of the files below the folder `TOKENMASK_VOCABS`; none where it is not set.
fn tokenizer_files() -> Vec<(&'static str, PathBuf)> {
    let Some(folder) = std::env::var_os("TOKENMASK_VOCABS") else {
        eprintln!("skipped: parsing of tokenizer.json files; TOKENMASK_VOCABS is not set");
        return Vec::new();
    };
    let wanted = |name: &'static str| {
        let file = PathBuf::from(&folder).join(name).join("tokenizer.json");
        file.exists().then_some((name, file))
    };
    ["llama3.1", "qwen3", "gemma3"].into_iter().filter_map(wanted).collect()
}

criterion_group!(benches, vocab);
criterion_main!(benches);
