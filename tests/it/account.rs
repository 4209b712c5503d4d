//! No keyword is dropped: for each schema of the corpus and of the official suite, the locations of
//! the report are those that a walker of the tests' own counts, each exactly once.

mod holds;
mod walker;

use crate::data;
use referencing::Draft;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokenmask::{Dialect, Grammar, Options};
use walker::{Documents, occurrences};

/// A failing run names so many of its failures.
const SHOWN: usize = 30;

/// What was seen.
#[derive(Default)]
struct Tally {
    schemas: usize,
    keywords: usize,
    /// Schemas that do not compile, or that `serde_json` cannot read.
    skipped: usize,
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
        let value: Result<Value, _> = serde_json::from_str(schema);
        let (Ok(value), Ok(grammar)) = (value, Grammar::compile(schema, options)) else {
            self.skipped += 1;
            return;
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
            self.schemas, self.keywords, self.skipped
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
fn with_documents(mut documents: Documents) -> (Documents, Options) {
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
