//! The official test suite, and the official meta-schemas, which its schemas refer to.

#![allow(dead_code, reason = "each target that includes this module uses its own part of it")]

use crate::data;
use referencing::{Draft, meta};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokenmask::Dialect;

/// Where the suite's remote documents are served.
const REMOTE: &str = "http://localhost:1234/";

const FOLDERS: [(&str, Dialect); 5] = [
    ("draft4", Dialect::Draft4),
    ("draft6", Dialect::Draft6),
    ("draft7", Dialect::Draft7),
    ("draft2019-09", Dialect::Draft201909),
    ("draft2020-12", Dialect::Draft202012),
];

/// The fewest files there must be: a runner that finds none would pass.
const FEWEST: usize = 200;

/// The suite, where it is there.
pub struct Suite {
    pub files: Vec<SuiteFile>,
    /// The remote documents: URI and text.
    pub remotes: Vec<(String, String)>,
}

/// One file of tests.
#[derive(Clone)]
pub struct SuiteFile {
    pub path: PathBuf,
    /// `draft7/optional/format/date`.
    pub name: String,
    pub dialect: Dialect,
}

/// A schema with its tests.
#[derive(Deserialize)]
pub struct SuiteCase {
    pub description: String,
    pub schema: Box<RawValue>,
    pub tests: Vec<SuiteTest>,
}

#[derive(Deserialize)]
pub struct SuiteTest {
    pub description: String,
    pub data: Box<RawValue>,
    pub valid: bool,
}

impl Suite {
    /// The suite of `TOKENMASK_DATA`; `skipped`: what is not done without it.
    pub fn find(skipped: &str) -> Option<Suite> {
        let root = data::find("json-schema-test-suite", skipped)?;
        let (tests, remotes) = (root.join("tests"), root.join("remotes"));
        let mut files = Vec::new();
        for (folder, dialect) in FOLDERS {
            let below = json_files(&tests.join(folder)).into_iter();
            files.extend(below.map(|path| {
                let name = relative(&path, &tests).trim_end_matches(".json").to_owned();
                SuiteFile { path, name, dialect }
            }));
        }
        assert!(files.len() >= FEWEST, "only {} files of the official suite", files.len());
        let document = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("a remote document");
            (format!("{REMOTE}{}", relative(&path, &remotes)), text)
        };
        let remotes = json_files(&remotes).into_iter().map(document).collect();
        Some(Suite { files, remotes })
    }
}

impl SuiteFile {
    /// The schemas of the file, with their tests.
    pub fn cases(&self) -> Vec<SuiteCase> {
        let text = fs::read_to_string(&self.path).expect("a file of the suite");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// The official meta-schemas of each draft, each vocabulary's for itself.
pub fn meta_schemas() -> [(Draft, Vec<&'static Arc<Value>>); 5] {
    [
        (Draft::Draft4, vec![&*meta::DRAFT4]),
        (Draft::Draft6, vec![&*meta::DRAFT6]),
        (Draft::Draft7, vec![&*meta::DRAFT7]),
        (
            Draft::Draft201909,
            vec![
                &*meta::DRAFT201909,
                &*meta::DRAFT201909_APPLICATOR,
                &*meta::DRAFT201909_CONTENT,
                &*meta::DRAFT201909_CORE,
                &*meta::DRAFT201909_FORMAT,
                &*meta::DRAFT201909_META_DATA,
                &*meta::DRAFT201909_VALIDATION,
            ],
        ),
        (
            Draft::Draft202012,
            vec![
                &*meta::DRAFT202012,
                &*meta::DRAFT202012_APPLICATOR,
                &*meta::DRAFT202012_CONTENT,
                &*meta::DRAFT202012_CORE,
                &*meta::DRAFT202012_FORMAT_ANNOTATION,
                &*meta::DRAFT202012_FORMAT_ASSERTION,
                &*meta::DRAFT202012_META_DATA,
                &*meta::DRAFT202012_UNEVALUATED,
                &*meta::DRAFT202012_VALIDATION,
            ],
        ),
    ]
}

/// What `referencing` calls a dialect.
pub fn draft(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft4 => Draft::Draft4,
        Dialect::Draft6 => Draft::Draft6,
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft201909 => Draft::Draft201909,
        Dialect::Draft202012 => Draft::Draft202012,
        _ => Draft::Unknown,
    }
}

/// All of them by their URIs, without a final `#`.
pub fn meta_documents() -> impl Iterator<Item = (String, &'static Value)> {
    meta_schemas().into_iter().flat_map(|(_, documents)| documents).map(|document| {
        let id = document.get("$id").or_else(|| document.get("id")).and_then(Value::as_str);
        let uri = id.expect("meta-schemas have names").trim_end_matches('#');
        (uri.to_owned(), &**document)
    })
}

/// Every JSON file below a folder, sorted.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the suite") {
            let path = entry.expect("an entry").path();
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

/// A path below a folder, with `/`.
fn relative(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).expect("a file of that folder");
    below.to_string_lossy().replace('\\', "/")
}
