//! What Zod 4 emits: every schema compiles, and the samples that Zod and a validator judged come out
//! as the validator says.

use crate::data;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tokenmask::check::Validator;
use tokenmask::{Grammar, Options, Order, SurfacePolicy, Vocabulary};

fn folder() -> Option<PathBuf> {
    data::find("zod", "what Zod emits")
}

/// One family of schemas, by direction and target.
#[derive(Deserialize)]
struct Family {
    outputs: BTreeMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct Judged {
    name: String,
    schema: Box<RawValue>,
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    value: Box<RawValue>,
    zod: bool,
    /// The verdict of the validator `ajv` on the schema.
    ajv: bool,
}

#[test]
fn every_schema_compiles() {
    let Some(folder) = folder() else { return };
    let (mut compiled, mut not_emitted) = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_family = name.starts_with('c') && name.ends_with(".json");
        if !is_family {
            continue;
        }
        let family: Family = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (target, schema) in &family.outputs {
            if schema.get().contains(r#""ERROR""#) {
                not_emitted += 1;
                continue;
            }
            let grammar = Grammar::compile(schema.get(), &Options::default());
            let grammar = grammar.unwrap_or_else(|error| panic!("{name} {target}: {error}"));
            grammar.bind(&Vocabulary::bytes()).unwrap();
            compiled += 1;
        }
    }
    assert_eq!((compiled, not_emitted), (COMPILED, NOT_EMITTED));
}

const COMPILED: usize = 259;
const NOT_EMITTED: usize = 56;

#[test]
fn samples_are_judged_rightly() {
    let Some(folder) = folder() else { return };
    let text = fs::read_to_string(folder.join("zod_vs_schema_samples.json")).unwrap();
    let all: Vec<Judged> = serde_json::from_str(&text).unwrap();
    let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
    let options = Options { policy, ..Options::default() };
    let (mut accepted, mut by_mask, mut by_check) = (0, 0, 0);
    for Judged { name, schema, samples } in &all {
        let grammar = Grammar::compile(schema.get(), &options).unwrap();
        let engine = grammar.bind(&Vocabulary::bytes()).unwrap();
        let validator = Validator::new(schema.get(), &options).unwrap();
        for Sample { value, zod, ajv } in samples {
            let label = format!("{name}: {value}");
            let text = value.get();
            let mut matcher = engine.matcher();
            let takes = |byte: u8| matcher.accept(u32::from(byte)).is_ok();
            let masked = text.bytes().all(takes) && matcher.is_accepting();
            // `ajv` divides floats; Zod and this crate divide decimals.
            let valid = *ajv || *zod && name == "multipleOf 0.01";
            if valid {
                assert!(masked, "{label} is refused");
                accepted += 1;
            } else if !masked {
                by_mask += 1;
            } else {
                assert!(!grammar.report().is_exact(), "{label} is accepted");
                let found = validator.violations(text, grammar.report()).unwrap();
                assert!(!found.is_empty() && found.iter().all(|one| one.routed), "{label}");
                by_check += 1;
            }
        }
    }
    println!("{accepted} accepted, {by_mask} refused by masks, {by_check} by the check");
    assert_eq!((all.len(), accepted, by_mask + by_check), (32, ACCEPTED, REFUSED));
}

const ACCEPTED: usize = 46;
const REFUSED: usize = 25;
