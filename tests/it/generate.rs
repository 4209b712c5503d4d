//! Sampled documents: valid, without dead ends, distinct, and looking like data.

use crate::account::{Documents, with_documents};
use crate::data;
use crate::differential::is_exact;
use crate::support::{amount, engine, examples, vocabulary};
use serde_json::Value;
use std::collections::HashSet;
use tokenmask::check::Validator;
use tokenmask::sample::{Sample, Sampler};
use tokenmask::{Engine, ErrorKind, Grammar, Options};

const BUDGET: usize = 4_000;

/// Samples of one engine, each finished.
fn samples(engine: &Engine, wild: bool, count: usize) -> Vec<Sample> {
    let mut sampler = Sampler::new(count as u64);
    let mut draw = || match wild {
        true => sampler.wild(engine),
        false => sampler.generate(engine, BUDGET),
    };
    (0..count).map(|_| draw().unwrap()).collect()
}

#[test]
fn documents_are_valid_and_distinct() {
    let options = Options::default();
    let mut total = 0;
    for name in ["bytes", "llama3", "o200k"] {
        let vocabulary = vocabulary(name);
        for example in examples() {
            let grammar = Grammar::compile(&example.schema, &options).unwrap();
            let validator = Validator::new(&example.schema, &options).unwrap();
            let engine = grammar.bind(&vocabulary).unwrap();
            for (wild, count) in [(false, amount(50, 1_000)), (true, amount(20, 1_000))] {
                let label = format!("{} over {name}, wild: {wild}", example.name);
                let mut distinct = HashSet::new();
                for sample in samples(&engine, wild, count) {
                    assert!(!sample.dead_end, "{label}: {}", sample.text);
                    assert!(wild || sample.tokens <= BUDGET, "{label}: {}", sample.tokens);
                    let violations = validator.violations(&sample.text, grammar.report()).unwrap();
                    let unexpected = violations.iter().find(|violation| !violation.routed);
                    assert_eq!(unexpected, None, "{label}: {}", sample.text);
                    distinct.insert(sample.text);
                    total += 1;
                }
                assert!(distinct.len() * 10 >= count * 9, "{label}: {} distinct", distinct.len());
            }
        }
    }
    println!("{total} documents");
    assert!(total >= 27 * 70);
}

/// What `generate --wild` writes for schemas of the corpus: 2,000 with 5 documents each in the long
/// mode. Documents are not judged whose numbers `f64` does not hold, or that are too deep to be read.
#[test]
fn wild_documents_of_the_corpus_are_valid() {
    let Some(path) = data::find(data::CORPUS, "wild documents of the corpus") else { return };
    let (_, options) = with_documents(Documents::new());
    let vocabulary = vocabulary("llama3");
    let records = data::records(&path).unwrap();
    let step = (records.len() / amount(100, 2_000)).max(1);
    let (mut schemas, mut documents, mut judged, mut failures) = (0, 0, 0, Vec::new());
    for (seed, record) in records.iter().step_by(step).enumerate() {
        let schema = record.schema.get();
        let grammar = match Grammar::compile(schema, &options) {
            Ok(grammar) => grammar,
            Err(error) if error.kind() == ErrorKind::Unsatisfiable => continue,
            Err(error) => panic!("{}: {error}", record.id),
        };
        // The crate refuses patterns that are legal without the `u` flag only.
        let validator = Validator::new(schema, &options).ok();
        let engine = grammar.bind(&vocabulary).unwrap();
        let mut sampler = Sampler::new(seed as u64);
        schemas += 1;
        for _ in 0..amount(2, 5) {
            let sample = sampler.wild(&engine).unwrap_or_else(|e| panic!("{}: {e}", record.id));
            documents += 1;
            if sample.dead_end {
                failures.push(format!("{}: a dead end after {}", record.id, sample.text));
            } else if let (Some(validator), true) = (&validator, is_exact(&sample.text)) {
                let violations = match validator.violations(&sample.text, grammar.report()) {
                    Err(error) if error.kind() == ErrorKind::Limit => continue,
                    other => other.unwrap(),
                };
                judged += 1;
                let unexpected = violations.iter().find(|violation| !violation.routed);
                failures.extend(
                    unexpected.map(|violation| {
                        format!("{}: {violation:?} in {}", record.id, sample.text)
                    }),
                );
            }
        }
    }
    println!("{schemas} schemas, {documents} documents, of which {judged} were judged");
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} failures:\n{shown}", failures.len());
    assert!(schemas >= amount(90, 1_900) && judged * 2 > documents);
}

/// What a document's free strings, containers and nesting look like.
#[derive(Default)]
struct Looks {
    strings: usize,
    odd: Vec<String>,
    characters: usize,
    plain: usize,
    widest: usize,
    deepest: usize,
}

impl Looks {
    /// `free` says whether the string at a key is free text, by the nearest key above it.
    fn read(&mut self, value: &Value, key: &str, depth: usize, free: &dyn Fn(&str) -> bool) {
        match value {
            Value::String(text) if free(key) => {
                let length = text.chars().count();
                self.strings += 1;
                if !(3..=40).contains(&length) {
                    self.odd.push(text.clone());
                }
                self.characters += length;
                self.plain += text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count();
            }
            Value::Array(items) => {
                self.widest = self.widest.max(items.len());
                self.deepest = self.deepest.max(depth + 1);
                items.iter().for_each(|item| self.read(item, key, depth + 1, free));
            }
            Value::Object(members) => {
                self.deepest = self.deepest.max(depth + 1);
                members.iter().for_each(|(key, value)| self.read(value, key, depth + 1, free));
            }
            _ => {}
        }
    }

    fn assert(&self, label: &str) {
        assert!(self.odd.is_empty(), "{label}: {:?} of {} strings", self.odd, self.strings);
        let (plain, all) = (self.plain, self.characters);
        assert!(plain * 10 >= all * 9, "{label}: {plain} of {all} characters are plain");
        assert!(self.widest <= 6, "{label}: {} items", self.widest);
        assert!(self.deepest <= 6, "{label}: {} levels", self.deepest);
    }
}

#[test]
fn documents_look_like_data() {
    let all = examples();
    let schema = |name: &str| all.iter().find(|e| e.name == name).unwrap().schema.clone();
    let free_names = ["note", "name", "street", "city", "product", "label"];
    let known = ["refund", "order", "tree"].map(|name| (schema(name), true));
    let open = ["true", r#"{"type":"object"}"#, r#"{"type":"array"}"#, r#"{"type":"string"}"#];
    let open = open.map(|text| (text.to_owned(), false));
    for name in ["bytes", "llama3", "o200k"] {
        for (schema, named) in known.iter().chain(&open) {
            let engine = engine(schema, &vocabulary(name));
            let free = |key: &str| !named || free_names.contains(&key);
            let mut looks = Looks::default();
            let mut strings = 0;
            for sample in samples(&engine, false, amount(40, 400)) {
                let value: Value = serde_json::from_str(&sample.text).unwrap();
                looks.read(&value, "", 0, &free);
                strings = looks.strings;
            }
            assert!(strings > 0, "{name}: no string under {schema}");
            looks.assert(&format!("{name}: {schema}"));
        }
    }
}
