//! The data-driven cases: one folder of `tests/cases` for each feature.
//!
//! A folder holds
//! * `schema.json`: the schema's text, exactly as it is given to the compiler;
//! * `options.json` (optional): settings by the command line's names; `documents` maps a URI to a
//!   file of the folder, `limits` a field of `Limits` to its value;
//! * `report.json`: location → route of every keyword, complete; an annotation may be followed by
//!   its reason (`annotation: beside-ref`). Or `error.txt`: kind, location (`-` for none), and then
//!   one part of the message a line;
//! * `findings.txt` (optional): every finding of the report, one a line: kind, location, and
//!   part of the message;
//! * `accept.jsonl`, `reject.jsonl`: documents, one a line. A line that begins with `hex:` is the
//!   document's bytes in hexadecimal; a refused one may begin with `@N `, the offset of the first
//!   byte that no document can have there.
//!
//! Each document goes through the masks token by token, over single bytes and over Llama 3's
//! vocabulary; a text that is refused must be refused at the same byte under both.

use crate::feed::{bytes, feed, vocabularies};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tokenmask::{
    Content, Dialect, Engine, Escapes, Formats, Grammar, Margin, Numbers, Objects, Options, Order,
    Whitespace,
};

/// The fewest folders there must be: a runner that finds none would pass.
const FEWEST: usize = 60;

/// One trial for each folder.
pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("the cases can be listed")
        .map(|entry| entry.expect("the cases can be listed").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert!(folders.len() >= FEWEST, "only {} cases in {}", folders.len(), root.display());
    let trial = |folder: PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("cases::{name}"), move || case(&folder).map_err(Failed::from))
    };
    folders.into_iter().map(trial).collect()
}

type Outcome<T = ()> = Result<T, String>;

fn case(folder: &Path) -> Outcome {
    let schema = read(folder, "schema.json")?.ok_or("there is no schema.json")?;
    let options = options(folder)?;
    let report = read(folder, "report.json")?;
    let grammar = match (Grammar::compile(&schema, &options), read(folder, "error.txt")?) {
        (Err(error), Some(expected)) => return same_error(&error, &expected),
        (Err(error), None) => return Err(error.to_string()),
        (Ok(_), Some(_)) => return Err("compiles, but there is an error.txt".into()),
        (Ok(grammar), None) => grammar,
    };
    same_report(&grammar, &report.ok_or("there is neither report.json nor error.txt")?)?;
    if let Some(findings) = read(folder, "findings.txt")? {
        same_findings(&grammar, &findings)?;
    }
    let engines = vocabularies()
        .iter()
        .map(|vocabulary| grammar.bind(vocabulary).map_err(|error| error.to_string()))
        .collect::<Outcome<Vec<_>>>()?;
    let mut wrong = Vec::new();
    let mut documents = 0;
    for line in read(folder, "accept.jsonl")?.unwrap_or_default().lines() {
        documents += 1;
        wrong.extend(engines.iter().filter_map(|engine| {
            let at = feed(engine, &bytes(line)).err()?;
            Some(format!("{}: refused at byte {at}: {line}", engine.vocabulary().name()))
        }));
    }
    for line in read(folder, "reject.jsonl")?.unwrap_or_default().lines() {
        documents += 1;
        wrong.extend(refused(&engines, line).err());
    }
    if documents == 0 {
        return Err("there is no document".into());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// That a line is refused, at the same byte under every vocabulary, and where it says so.
fn refused(engines: &[Engine], line: &str) -> Outcome {
    let (expected, text) = match line.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        Some((offset, text)) => (Some(offset.parse().map_err(|_| "a wrong offset")?), text),
        None => (None, line),
    };
    let text = bytes(text);
    let mut first = expected;
    for engine in engines {
        let name = engine.vocabulary().name();
        match feed(engine, &text) {
            Ok(()) => return Err(format!("{name}: accepted: {line}")),
            Err(at) if *first.get_or_insert(at) != at => {
                return Err(format!("{name}: refused at byte {at}, not {first:?}: {line}"));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

fn same_error(error: &tokenmask::Error, expected: &str) -> Outcome {
    let mut lines = expected.lines();
    let kind = lines.next().unwrap_or_default();
    let location = lines.next().filter(|&text| text != "-");
    let parts_found = lines.all(|part| error.message().contains(part));
    if error.kind().name() == kind && error.location() == location && parts_found {
        return Ok(());
    }
    Err(format!("expected {expected}got {error}"))
}

fn same_report(grammar: &Grammar, expected: &str) -> Outcome {
    let expected: BTreeMap<String, String> =
        serde_json::from_str(expected).map_err(|error| format!("report.json: {error}"))?;
    let mut wrong = Vec::new();
    let mut seen = BTreeMap::new();
    for entry in grammar.report().entries() {
        let name = entry.route.name();
        let with_reason = format!("{name}: {}", entry.reason);
        if seen.insert(entry.location.clone(), with_reason.clone()).is_some() {
            wrong.push(format!("{} stands twice", entry.location));
        }
        match expected.get(&entry.location) {
            Some(route) if route == name || *route == with_reason => {}
            other => wrong.push(format!("{}: {with_reason}, expected {other:?}", entry.location)),
        }
    }
    let missing = expected.keys().filter(|location| !seen.contains_key(*location));
    wrong.extend(missing.map(|location| format!("{location}: no entry")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn same_findings(grammar: &Grammar, expected: &str) -> Outcome {
    let found = grammar.report().findings();
    let fits = |line: &str, finding: &tokenmask::Finding| {
        let head = format!("{} {} ", finding.kind, finding.location);
        format!("{line} ")
            .strip_prefix(&head)
            .is_some_and(|part| finding.message.contains(part.trim()))
    };
    let lines: Vec<&str> = expected.lines().collect();
    let all_found = lines.iter().all(|line| found.iter().any(|finding| fits(line, finding)));
    if all_found && lines.len() == found.len() {
        return Ok(());
    }
    Err(format!("expected findings\n{expected}got {found:#?}"))
}

fn options(folder: &Path) -> Outcome<Options> {
    let mut options = Options::default();
    let Some(text) = read(folder, "options.json")? else { return Ok(options) };
    let settings: BTreeMap<String, Value> =
        serde_json::from_str(&text).map_err(|error| format!("options.json: {error}"))?;
    for (name, value) in &settings {
        let wrong = || format!("options.json: {name}: {value}");
        let policy = &mut options.policy;
        match (name.as_str(), value.as_str().unwrap_or_default()) {
            ("order", "any") => policy.order = Order::Any,
            ("whitespace", "compact") => policy.whitespace = Whitespace::Compact,
            ("whitespace", "spaced") => policy.whitespace = Whitespace::Spaced,
            ("whitespace", _) => {
                let bound = value.as_u64().and_then(|n| u32::try_from(n).ok());
                policy.whitespace = Whitespace::Bounded(bound.ok_or_else(wrong)?);
            }
            ("margin", "lead") => policy.margin = Margin::Lead,
            ("margin", "both") => policy.margin = Margin::Both,
            ("numbers", "any") => policy.numbers = Numbers::Any,
            ("escapes", "minimal") => policy.escapes = Escapes::Minimal,
            ("objects", "closed") => policy.objects = Objects::Closed,
            ("formats", "annotate") => options.formats = Formats::Annotate,
            ("formats", "standard") => options.formats = Formats::Standard,
            ("content", "enforce") => options.content = Content::Enforce,
            ("dialect", name) => {
                options.dialect = Some(Dialect::from_name(name).ok_or_else(wrong)?);
            }
            ("documents", _) => {
                for (uri, file) in value.as_object().ok_or_else(wrong)? {
                    let text = read(folder, file.as_str().ok_or_else(wrong)?)?;
                    options = options.document(uri.as_str(), text.ok_or_else(wrong)?);
                }
            }
            ("limits", _) => {
                for (limit, value) in value.as_object().ok_or_else(wrong)? {
                    let value = value.as_u64().ok_or_else(wrong)? as usize;
                    match limit.as_str() {
                        "schema_bytes" => options.limits.schema_bytes = value,
                        "schema_depth" => options.limits.schema_depth = value,
                        "schema_nodes" => options.limits.schema_nodes = value,
                        "location_bytes" => options.limits.location_bytes = value,
                        "value_sets" => options.limits.value_sets = value,
                        "set_shapes" => options.limits.set_shapes = value,
                        "pattern_bytes" => options.limits.pattern_bytes = value,
                        "language_states" => options.limits.language_states = value,
                        _ => return Err(wrong()),
                    }
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(options)
}

/// A file of a folder, if there is one.
fn read(folder: &Path, name: &str) -> Outcome<Option<String>> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(None);
    }
    fs::read_to_string(&path).map(Some).map_err(|error| format!("{name}: {error}"))
}
