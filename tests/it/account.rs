//! No keyword is dropped: for each schema of the corpus and of the official suite, the locations of
//! the report are those that a walker of the tests' own counts, each exactly once.

mod holds;
mod random;
mod walker;

use crate::data;
use crate::support::amount;
use referencing::Draft;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokenmask::{Dialect, Grammar, Options};
pub use walker::Documents;
use walker::occurrences;

/// A failing run names so many of its failures.
const SHOWN: usize = 30;

/// What was seen.
#[derive(Default)]
struct Tally {
    schemas: usize,
    keywords: usize,
    /// Schemas that do not compile, or that `serde_json` cannot read, and why.
    skipped: Vec<String>,
    failures: Vec<String>,
}

impl Tally {
    /// Compares one schema's report with the walker's count.
    fn add(
        &mut self,
        id: &str,
        schema: &str,
        options: &Options,
        draft: Option<Draft>,
        documents: &Documents,
    ) {
        let grammar = Grammar::compile(schema, options).map_err(|error| error.to_string());
        let value = serde_json::from_str(schema).map_err(|error| error.to_string());
        let (grammar, value) = match grammar.and_then(|grammar| Ok((grammar, value?))) {
            Ok(both) => both,
            Err(error) => {
                self.skipped.push(format!("{id}: {error}"));
                return;
            }
        };
        let expected = match occurrences(&value, draft, documents) {
            Ok(expected) => expected,
            Err(error) => {
                self.failures.push(format!("{id}: compiles, but {error}"));
                return;
            }
        };
        self.schemas += 1;
        self.keywords += expected.len();
        let mut seen = BTreeSet::new();
        for entry in grammar.report().entries() {
            if !seen.insert(entry.location.clone()) {
                self.failures.push(format!("{id}: {} is listed twice", entry.location));
            }
        }
        let missing = expected.difference(&seen).map(|at| format!("{id}: {at} is missing"));
        let superfluous = seen.difference(&expected).map(|at| format!("{id}: {at} is superfluous"));
        self.failures.extend(missing.chain(superfluous));
    }

    fn finish(self, name: &str) -> Tally {
        println!(
            "{name}: {} schemas, {} keywords, {} schemas skipped",
            self.schemas,
            self.keywords,
            self.skipped.len()
        );
        let shown = self.failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.failures.is_empty(), "{} failures:\n{shown}", self.failures.len());
        self
    }
}

#[test]
fn corpus() {
    let Some(path) = data::find(data::CORPUS, "the account of the corpus' keywords") else {
        return;
    };
    let (documents, options) = with_documents(Documents::new());
    let mut tally = Tally::default();
    for record in data::records(&path).unwrap() {
        tally.add(&record.id, record.schema.get(), &options, None, &documents);
    }
    let tally = tally.finish("corpus");
    assert_eq!(tally.skipped, [""; 0], "every schema compiles");
    assert!(tally.schemas > 7_000 && tally.keywords > 500_000);
}

#[test]
fn official_suite() {
    let Some(suite) = data::find("json-schema-test-suite", "the account of the suite's keywords")
    else {
        return;
    };
    let (documents, options) = with_documents(remotes(&suite.join("remotes")));
    let mut tally = Tally::default();
    for (folder, draft, dialect) in [
        ("draft4", Draft::Draft4, Dialect::Draft4),
        ("draft6", Draft::Draft6, Dialect::Draft6),
        ("draft7", Draft::Draft7, Dialect::Draft7),
        ("draft2019-09", Draft::Draft201909, Dialect::Draft201909),
        ("draft2020-12", Draft::Draft202012, Dialect::Draft202012),
    ] {
        let options = Options { dialect: Some(dialect), ..options.clone() };
        let root = suite.join("tests");
        for file in files(&root.join(folder)) {
            let name = below(&root, &file);
            let text = std::fs::read_to_string(&file).unwrap();
            let groups: Vec<Group> = serde_json::from_str(&text).unwrap();
            for group in groups {
                let id = format!("{name}: {}", group.description);
                tally.add(&id, group.schema.get(), &options, Some(draft), &documents);
            }
        }
    }
    let tally = tally.finish("suite");
    // Nothing else is wrong with a schema of the suite.
    let unclear = tally.skipped.iter().filter(|why| !why.contains(": unsatisfiable: "));
    assert_eq!(unclear.collect::<Vec<_>>(), [""; 0]);
    assert!(tally.schemas > 1_500 && tally.keywords > 5_000);
}

/// A schema of the official suite.
#[derive(serde::Deserialize)]
struct Group {
    description: String,
    schema: Box<RawValue>,
}

/// The suite's documents, by the URIs that its schemas use.
fn remotes(folder: &Path) -> Documents {
    let read = |file: PathBuf| {
        let uri = format!("http://localhost:1234/{}", below(folder, &file));
        (uri, serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
    };
    files(folder).into_iter().map(read).collect()
}

/// These documents and the official meta-schemas, for the walker and for the compiler.
pub fn with_documents(mut documents: Documents) -> (Documents, Options) {
    for document in holds::meta_schemas().into_iter().flat_map(|(_, documents)| documents) {
        let id = document.get("$id").or_else(|| document.get("id")).and_then(Value::as_str);
        let uri = id.expect("meta-schemas have names").trim_end_matches('#');
        documents.insert(uri.to_owned(), Value::clone(document));
    }
    let mut options = Options::default();
    for (uri, document) in &documents {
        options = options.document(uri.as_str(), document.to_string());
    }
    (documents, options)
}

/// Every JSON file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The path of a file below a folder, with `/`.
fn below(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/")
}

/// What the walker counts is right: places that only references reach, other documents, siblings of
/// `$ref`, keywords of other drafts, values that look like schemas.
#[test]
fn the_walker_counts_what_is_written_here() {
    let other = r##"{"$defs": {"x": {"type": "null"}}, "a~/b": {"if": {"minimum": 1}}}"##;
    let registered =
        [("http://example.org/o.json".to_owned(), serde_json::from_str(other).unwrap())];
    let (documents, options) = with_documents(Documents::from(registered));
    let mut tally = Tally::default();
    for (schema, expected) in [
        (
            r#"{"const": {"type": 1}, "enum": [{"type": 1}], "default": {"if": true}}"#,
            "const enum default",
        ),
        (r#"{"properties": {"const": {"const": 1}}}"#, "properties properties/const/const"),
        (
            r#"{"$defs": {"a": {"x": {"type": 1}, "not": {"title": 2}}}}"#,
            "$defs $defs/a/x $defs/a/not $defs/a/not/title",
        ),
        (
            r##"{"items": {"$ref": "#/x/1"}, "x": [{"type": "null"}, {"type": "string"}]}"##,
            "items items/$ref x x/1/type",
        ),
        (
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
              "definitions": {"a": {"type": "null"}, "b": {"$defs": {"c": {"title": ""}}}}}"##,
            "$schema $ref definitions definitions/a/type definitions/b/$defs definitions/b/$defs/c/title",
        ),
        // A reference beside `$ref` leads nowhere in draft 7, and somewhere in 2020-12.
        (
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/a", "a": {"type": "null"},
              "not": {"$ref": "#/b"}, "b": {"type": "null"}}"##,
            "$schema $ref a a/type not not/$ref b",
        ),
        (
            r##"{"$ref": "#/a", "a": {"type": "null"}, "anyOf": [{"$ref": "#/b"}], "b": {"title": ""}}"##,
            "$ref a a/type anyOf anyOf/0/$ref b b/title",
        ),
        (
            r#"{"dependencies": {"a": ["b"], "c": {"type": "object"}}, "items": [true, {"title": ""}]}"#,
            "dependencies dependencies/c/type items items/1/title",
        ),
        (
            r##"{"items": {"$ref": "http://example.org/o.json#/a~0~1b"}}"##,
            "items items/$ref o:$defs o:$defs/x/type o:a~0~1b o:a~0~1b/if o:a~0~1b/if/minimum",
        ),
    ] {
        let value = serde_json::from_str(schema).unwrap();
        let location = |at: &str| match at.strip_prefix("o:") {
            Some(at) => format!("http://example.org/o.json#/{at}"),
            None => format!("#/{at}"),
        };
        let expected: BTreeSet<String> = expected.split_whitespace().map(location).collect();
        assert_eq!(occurrences(&value, None, &documents), Ok(expected), "{schema}");
        tally.add(schema, schema, &options, None, &documents);
    }
    assert_eq!(tally.finish("by hand").skipped, [""; 0]);
}

/// Schemas at random: every keyword that holds schemas, references to any place.
#[test]
fn random_schemas() {
    let (documents, options) = with_documents(Documents::new());
    let mut tally = Tally::default();
    for seed in 0..amount(2_000, 100_000) as u64 {
        let (text, draft, dialect) = random::schema(seed);
        let options = Options { dialect, ..options.clone() };
        tally.add(&format!("seed {seed}: {text}"), &text, &options, draft, &documents);
    }
    let tally = tally.finish("random");
    assert!(tally.schemas > amount(200, 10_000), "{}", tally.schemas);
}
