//! From the text of a schema to a grammar: what stands before the first mask.

mod schemas;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tokenmask::{Grammar, Options};

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.sample_size(20);
    let large = [
        ("200 tools".to_owned(), schemas::tools(200)),
        ("1,000 properties".to_owned(), schemas::properties(1_000)),
        ("enum of 5,000".to_owned(), format!(r#"{{"enum": [{}]}}"#, schemas::words(5_000))),
    ];
    let grammars = schemas::grammars().into_iter().map(|example| (example.name, example.schema));
    let options = Options::default();
    for (name, text) in grammars.chain(large) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(&name, |b| {
            b.iter(|| Grammar::compile(black_box(&text), &options).expect("it compiles"));
        });
    }
    group.finish();
}

criterion_group!(benches, compile);
criterion_main!(benches);
