//! What one matcher takes, and what its document leaves in the caches that all matchers share.
//! `benches/README.md` tells how to run it; `maskbench` prints the peak over a corpus.

#[path = "../tests/data/mod.rs"]
mod data;
mod schemas;

use peak_alloc::PeakAlloc;
use schemas::joined;
use std::error::Error;
use tokenmask::{Engine, Grammar, Matcher, Options, Vocabulary};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Every so many schemas of the corpus.
const EVERY: usize = 20;
/// A mask may be kept only when it is asked for again: the last pass finds all.
const PASSES: usize = 3;
/// Tokens after which the shared states of a long document are looked at.
const LOOKS: [usize; 4] = [100, 1_000, 5_000, 10_000];

fn main() -> Result<(), Box<dyn Error>> {
    let vocabulary = Vocabulary::builtin("llama3")?;
    matchers(&vocabulary)?;
    shared(&vocabulary)
}

/// The bytes of matchers while they read documents.
fn matchers(vocabulary: &Vocabulary) -> Result<(), Box<dyn Error>> {
    let mut documents: Vec<(String, String)> = Vec::new();
    for example in schemas::grammars() {
        documents.extend(example.valid.into_iter().map(|text| (example.schema.clone(), text)));
    }
    if let Some(corpus) = data::find(data::CORPUS, "the corpus") {
        for record in data::records(&corpus)?.into_iter().step_by(EVERY) {
            let texts = record.tests.into_iter().filter(|test| test.valid);
            documents.extend(texts.map(|test| (record.schema.get().to_owned(), test.text)));
        }
    }
    println!("bytes of a matcher           documents    p50     p99     max   of a text of");
    for (name, rollback) in [("that can go back 1,024 calls", 1_024), ("that cannot go back", 0)] {
        let mut options = Options::default();
        options.limits.rollback = rollback;
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        for (schema, text) in &documents {
            let Ok(grammar) = Grammar::compile(schema, &options) else { continue };
            let engine = grammar.bind(vocabulary)?;
            if let Some(largest) = largest(&engine, text)? {
                sizes.push((largest, text.len()));
            }
        }
        sizes.sort_unstable();
        let at = |share: f64| sizes.get((sizes.len() as f64 * share) as usize).map_or(0, |s| s.0);
        let (max, text) = sizes.last().copied().unwrap_or_default();
        println!(
            "{name:28} {:>9} {:>6} {:>7} {max:>7}   {text} bytes",
            sizes.len(),
            at(0.5),
            at(0.99)
        );
    }
    println!("the value alone: {}\n", size_of::<Matcher>());
    Ok(())
}

/// The most that a matcher takes while it reads a text, `None` where the text is refused: what the
/// heap has grown by since before there was a matcher, once the caches have the text's masks.
fn largest(engine: &Engine, text: &str) -> tokenmask::Result<Option<usize>> {
    let (ids, mut mask) = (engine.vocabulary().encode(text)?.ids, engine.new_mask());
    let mut largest = 0;
    for _ in 0..PASSES {
        let before = HEAP.current_usage();
        let mut matcher = engine.matcher();
        largest = 0;
        for &id in &ids {
            matcher.fill_mask(&mut mask)?;
            if matcher.accept(id).is_err() {
                return Ok(None);
            }
            largest = largest.max(HEAP.current_usage().saturating_sub(before));
        }
    }
    Ok(Some(size_of::<Matcher>() + largest))
}

/// What documents of 10,000 tokens add to the caches of their engine.
fn shared(vocabulary: &Vocabulary) -> Result<(), Box<dyn Error>> {
    let record = |n| format!(r#"{{"key {n}": [{n}, "some text {n}", true]}}"#);
    let text: String = "a text of many words ".chars().cycle().take(60_000).collect();
    let documents = [
        ("a free document", "{}", format!("[{}]", joined(700, record))),
        ("a bounded string", r#"{"type": "string", "maxLength": 100000}"#, format!("\"{text}\"")),
        (
            "integers under `maxItems`",
            r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 5000}"#,
            format!("[{}]", joined(5_000, |n| (n % 1_000).to_string())),
        ),
        (
            "a map",
            r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
            format!("{{{}}}", joined(2_000, |n| format!(r#""key {n}": {n}"#))),
        ),
    ];
    println!(
        "shared states after          {:>8} {:>8} {:>8} {:>8}  tokens",
        100, 1_000, 5_000, 10_000
    );
    for (name, schema, text) in documents {
        let engine = Grammar::compile(schema, &Options::default())?.bind(vocabulary)?;
        let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
        let mut states = Vec::new();
        for (index, id) in vocabulary.encode(&text)?.ids.into_iter().enumerate() {
            if LOOKS.contains(&index) {
                states.push(engine.shared_states());
            }
            matcher.fill_mask(&mut mask)?;
            matcher.accept(id)?;
        }
        let states: Vec<String> = states.iter().map(|count| format!("{count:>8}")).collect();
        println!("{name:28} {}", states.join(" "));
    }
    Ok(())
}
