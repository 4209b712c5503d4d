//! Schemas and documents that are large in one respect, and the patterns of the corpus that cost
//! tokenmask most: one row each, both engines.

use crate::Arguments;
use crate::corpus::{self, Outcome, Peer};
use crate::data::Record;
use crate::protocol::{Times, Tokenmask};
use crate::schemas::{self, joined};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use tokenmask::sample::Sampler;
use tokenmask::{Escapes, Vocabulary};

/// So many patterns.
const PATTERNS: usize = 20;
/// Tokens of a text that is made for a pattern.
const TEXT_TOKENS: usize = 200;

struct Row {
    name: String,
    schema: String,
    text: String,
}

/// Both engines over all rows.
///
/// # Errors
///
/// Where the vocabulary, the corpus or a peer cannot be read or run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let vocabulary = arguments.vocabulary()?;
    let ours = arguments.ours(&vocabulary)?;
    let mut peer = arguments.peer(&vocabulary)?;
    println!("tokenmask | {}\n", peer.name());
    println!(
        "{:46}{:>7} {:>21} {:>21} {:>21}",
        "", "tokens", "first mask, ms", "masks, average, µs", "max, µs"
    );
    let passes = arguments.passes;
    for row in rows() {
        print(&row, &ours, &mut peer, passes, &vocabulary)?;
    }
    for row in slowest_patterns(&ours, &arguments.records()?)? {
        print(&row, &ours, &mut peer, passes, &vocabulary)?;
    }
    Ok(())
}

fn print(
    row: &Row,
    ours: &Tokenmask,
    peer: &mut Peer,
    passes: usize,
    vocabulary: &Vocabulary,
) -> Result<(), Box<dyn Error>> {
    let ids = vocabulary.encode(&row.text)?.ids;
    let tokens = ids.len();
    let (mine, other) = corpus::fastest(ours, peer, &row.schema, &[ids], passes);
    let both = reached(&mine).min(reached(&other));
    let sides = [side("tokenmask", &mine, both, tokens), side(peer.name(), &other, both, tokens)];
    let pair = |field: fn(&Side) -> f64, digits: usize| {
        let [ours, theirs] = sides.each_ref().map(|side| match field(side) {
            time if time.is_nan() => "-".to_owned(),
            time => format!("{time:.digits$}"),
        });
        format!("{ours} |{theirs:>10}")
    };
    let notes: Vec<&str> =
        sides.iter().map(|side| side.note.as_str()).filter(|note| !note.is_empty()).collect();
    println!(
        "{:46}{tokens:>7} {:>21} {:>21} {:>21}  {}",
        row.name,
        pair(|side| side.first, 3),
        pair(|side| side.average, 2),
        pair(|side| side.max, 1),
        notes.join("; ")
    );
    Ok(())
}

/// One engine's part of a row; not a number where it has none.
struct Side {
    first: f64,
    average: f64,
    max: f64,
    note: String,
}

/// Positions that an engine reached; where it has no mask at all, the other's stand alone.
fn reached(outcome: &Outcome) -> usize {
    let Ok(run) = outcome else { return usize::MAX };
    run.trials.iter().map(|trial| trial.masks.len()).sum()
}

/// The times of the first `both` positions.
fn side(name: &str, outcome: &Outcome, both: usize, tokens: usize) -> Side {
    let run = match outcome {
        Ok(run) => run,
        Err(failure) => {
            let why = failure.message.lines().next().unwrap_or_default().chars().take(60);
            let note = format!("{name}: {}", why.collect::<String>());
            return Side { first: f64::NAN, average: f64::NAN, max: f64::NAN, note };
        }
    };
    let mut times = Times::default();
    times.extend(run.trials.iter().flat_map(|trial| trial.masks.iter().copied()).take(both));
    let note = match run.trials.iter().all(|trial| trial.accepted) {
        true => String::new(),
        false => format!("{name} stops at token {} of {tokens}", reached(outcome)),
    };
    Side { first: run.ttfm as f64 / 1e6, average: times.average(), max: times.at(1.0), note }
}

/// The rows that do not come from the corpus.
fn rows() -> Vec<Row> {
    let words = format!("[{}]", schemas::words(5_000));
    let some = |words: &str, step: usize| -> String {
        let words: Vec<String> = serde_json::from_str(words).unwrap_or_default();
        Value::from_iter(words.into_iter().step_by(step).take(50)).to_string()
    };
    let many = format!("[{}]", schemas::words(100_000));
    let text: String = "a text of many words ".chars().cycle().take(19_000).collect();
    let record = |n| format!(r#"{{"key {n}": [{n}, "some text {n}", true]}}"#);
    let row =
        |name: &str, schema: String, text: String| Row { name: name.to_owned(), schema, text };
    vec![
        row(
            "200 open tools, arguments first",
            schemas::open_tools(200),
            r#"{"arguments": {"path_150": "/srv/data", "limit": 10}, "name": "tool_150"}"#.into(),
        ),
        row(
            "1,000 declared names",
            schemas::properties(1_000),
            format!("{{{}}}", joined(250, |n| format!(r#""property_{}": "abc""#, n * 4 + 3))),
        ),
        row("an enum of 5,000", format!(r#"{{"type": "array", "items": {{"enum": {words}}}}}"#), some(&words, 97)),
        row("an enum of 100,000", format!(r#"{{"type": "array", "items": {{"enum": {many}}}}}"#), some(&many, 1_999)),
        row(
            "5,000 integers under `maxItems`",
            r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 5000}"#.into(),
            format!("[{}]", joined(5_000, |n| (n % 1_000).to_string())),
        ),
        row(
            "a bounded string of 19,000 characters",
            r#"{"type": "string", "maxLength": 20000}"#.into(),
            format!("\"{text}\""),
        ),
        row(
            "a map of 1,000 keys",
            r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#.into(),
            format!("{{{}}}", joined(1_000, |n| format!(r#""key {n}": {n}"#))),
        ),
        row(
            "a tree 300 deep",
            r##"{"type": "object", "properties": {"label": {"type": "string"}, "child": {"$ref": "#"}},
                "required": ["label"], "additionalProperties": false}"##
                .into(),
            format!("{}{}{}", r#"{"label": "a", "child": "#.repeat(299), r#"{"label": "b"}"#, "}".repeat(299)),
        ),
        row("a free document of 10,000 tokens", "{}".into(), format!("[{}]", joined(700, record))),
    ]
}

/// The patterns that cost tokenmask most at each position of a text that the sampler made, the time
/// to the first mask included.
fn slowest_patterns(ours: &Tokenmask, records: &[Record]) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut sampler = Sampler::new(1);
    // Escapes that are not needed are no text that other engines must take.
    let mut options = ours.options.clone();
    options.policy.escapes = Escapes::Minimal;
    let plain = Tokenmask { vocabulary: ours.vocabulary.clone(), options, rebuild: false };
    let mut rows: Vec<(u64, Row)> = Vec::new();
    for pattern in patterns(records) {
        let schema = json!({ "type": "string", "pattern": pattern }).to_string();
        let Ok(bound) = plain.bind(&schema) else { continue };
        let Ok(sample) = sampler.generate(bound.matcher.engine(), TEXT_TOKENS) else { continue };
        let ids = ours.vocabulary.encode(&sample.text)?.ids;
        let Ok(run) = corpus::once(ours, &schema, &[ids]) else { continue };
        let masks = run.trials.iter().flat_map(|trial| &trial.masks);
        let (count, sum) = masks.fold((1, run.ttfm), |(count, sum), time| (count + 1, sum + time));
        let shown: String = pattern.chars().take(34).collect();
        rows.push((
            sum / count,
            Row { name: format!("pattern {shown}"), schema, text: sample.text },
        ));
    }
    rows.sort_by_key(|(cost, _)| u64::MAX - cost);
    Ok(rows.into_iter().take(PATTERNS).map(|(_, row)| row).collect())
}

/// Every text that stands as a `pattern` in the corpus.
fn patterns(records: &[Record]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for record in records {
        let mut open: Vec<Value> = serde_json::from_str(record.schema.get()).into_iter().collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(pattern)) = members.get("pattern") {
                        found.insert(pattern.clone());
                    }
                    open.extend(members.into_iter().map(|(_, value)| value));
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    }
    found
}
