//! The official suite through the masks, byte by byte. One trial for each file and row of settings.
//! The baseline is `tests/baseline/suite.txt`.

use crate::baseline::{Baseline, Found, Outcome};
use crate::rows::{ROWS, Row};
use crate::verdict::{Explainer, guarded, without_faults};
use crate::{baseline, data};
use libtest_mimic::{Failed, Trial};
use referencing::meta;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokenmask::{
    Dialect, ErrorKind, Formats, Grammar, Margin, Options, Order, SurfacePolicy, Vocabulary,
};

/// Where the suite's remote documents are served.
const REMOTE: &str = "http://localhost:1234/";

const FOLDERS: [(&str, Dialect); 5] = [
    ("draft4", Dialect::Draft4),
    ("draft6", Dialect::Draft6),
    ("draft7", Dialect::Draft7),
    ("draft2019-09", Dialect::Draft201909),
    ("draft2020-12", Dialect::Draft202012),
];
const FORMAT: &str = "optional/format";

/// The fewest files there must be: a runner that finds none would pass.
const FEWEST: usize = 200;

/// The suite, where it is there.
pub struct Suite {
    files: Vec<File>,
    documents: Arc<Vec<(String, Arc<str>)>>,
    rows: Vec<Row>,
    groups: BTreeSet<String>,
    baseline: Baseline,
}

/// One file of tests.
#[derive(Clone)]
struct File {
    path: PathBuf,
    /// `draft7/optional/format/date`.
    name: String,
    dialect: Dialect,
}

/// A schema with its tests, as the suite writes them.
#[derive(Deserialize)]
struct Case {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

impl Suite {
    pub fn find() -> Option<Suite> {
        let root = data::find("json-schema-test-suite", "the official suite")?;
        let mut files = Vec::new();
        for (folder, dialect) in FOLDERS {
            let tests = root.join("tests");
            let below = json_files(&tests.join(folder));
            files.extend(below.into_iter().map(|path| {
                let name = relative(&path, &tests).trim_end_matches(".json").to_owned();
                File { path, name, dialect }
            }));
        }
        assert!(files.len() >= FEWEST, "only {} files of the official suite", files.len());
        let remotes = root.join("remotes");
        let document = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("a remote document");
            (format!("{REMOTE}{}", relative(&path, &remotes)), Arc::from(text))
        };
        let mut documents = meta_schemas();
        documents.extend(json_files(&remotes).into_iter().map(document));
        let documents = Arc::new(documents);
        let rows: Vec<Row> = ROWS.into_iter().filter(Row::is_available).collect();
        let mut groups: BTreeSet<String> = ROWS.iter().map(|row| row.name.to_owned()).collect();
        groups.extend(rows.iter().flat_map(|row| files.iter().map(|file| file.group(row))));
        Some(Suite { files, documents, rows, groups, baseline: Baseline::load("suite") })
    }

    pub fn trials(&self) -> Vec<Trial> {
        let (baseline, groups) = (self.baseline.clone(), self.groups.clone());
        let mut trials = vec![Trial::test("suite::groups", move || baseline.judge_groups(&groups))];
        for row in ROWS {
            let baseline = self.baseline.clone();
            let run = move || baseline.judge(row.name, row.found());
            trials.push(Trial::test(format!("suite::{}", row.name), run));
        }
        for row in &self.rows {
            trials.extend(self.files.iter().map(|file| self.trial(row, file.clone())));
        }
        trials
    }

    fn trial(&self, row: &Row, file: File) -> Trial {
        let (baseline, documents) = (self.baseline.clone(), self.documents.clone());
        let (row, group) = (*row, file.group(row));
        Trial::test(format!("suite::{group}"), move || {
            let documents = documents.to_vec();
            let found = run(&file, &Options { documents, ..file.options(row) })?;
            baseline.judge(&group, found)
        })
    }

    /// After the run: the table, where it was whole, and the baseline.
    pub fn finish(&self) {
        if let Some(results) = self.baseline.whole(&self.groups) {
            println!("{}", table(&results));
        }
        self.baseline.finish();
    }
}

impl File {
    fn group(&self, row: &Row) -> String {
        format!("{}/{}", row.name, self.name)
    }

    /// The widest policy but for numbers, which are the row's.
    fn options(&self, row: Row) -> Options {
        let policy = SurfacePolicy {
            order: Order::Any,
            margin: Margin::Both,
            numbers: row.numbers,
            ..SurfacePolicy::default()
        };
        let formats = if part(&self.name) == FORMAT { Formats::Enforce } else { Formats::Annotate };
        Options { policy, formats, dialect: Some(self.dialect), ..Options::default() }
    }
}

/// The results of a file's tests.
fn run(file: &File, options: &Options) -> Result<Vec<Found>, Failed> {
    let text = fs::read_to_string(&file.path)?;
    let cases: Vec<Case> = serde_json::from_str(&text)?;
    let vocabulary = Vocabulary::bytes();
    let mut all = Vec::new();
    for case in &cases {
        all.extend(run_case(case, options, &vocabulary));
    }
    Ok(without_faults(all)?)
}

fn run_case(case: &Case, options: &Options, vocabulary: &Vocabulary) -> Vec<Result<Found, String>> {
    let mut compiled = None;
    let compile = || {
        compiled = Some(Grammar::compile(case.schema.get(), options));
        (Outcome::Pass, String::new())
    };
    if let Err(fault) = guarded(&case.description, compile) {
        return vec![Err(fault)];
    }
    let name = |test: &Test| format!("{} / {}", case.description, test.description);
    match compiled.expect("it was compiled") {
        Ok(grammar) => {
            let engine = grammar.bind(vocabulary).expect("bytes spell everything");
            let explainer = Explainer::new(case.schema.get(), options, &grammar);
            let judge = |test: &Test| {
                let text = test.data.get().as_bytes();
                guarded(&name(test), || explainer.judge(&engine, text, test.valid))
            };
            case.tests.iter().map(judge).collect()
        }
        Err(error) => {
            let outcome = |valid| match (error.kind(), valid) {
                // Every text is refused.
                (ErrorKind::Unsatisfiable, false) => Outcome::Pass,
                (ErrorKind::Unsatisfiable, true) => Outcome::RejectsValid,
                _ => Outcome::CompileError,
            };
            let judge = |test: &Test| {
                let (outcome, detail) = (outcome(test.valid), error.to_string());
                Ok(Found { test: name(test), outcome, detail })
            };
            case.tests.iter().map(judge).collect()
        }
    }
}

/// The part of the suite that a file belongs to, by its name or group.
fn part(name: &str) -> &'static str {
    if name.contains("/optional/format/") {
        FORMAT
    } else if name.contains("/optional/") {
        "optional"
    } else {
        "required"
    }
}

/// Row, draft and part × outcome.
fn table(results: &baseline::Results) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), [usize; Outcome::ALL.len()]> = BTreeMap::new();
    for (path, &outcome) in results {
        let mut parts = path.group.split('/');
        let (row, draft) = (parts.next().unwrap_or_default(), parts.next().unwrap_or("all"));
        let part = if draft == "all" { "all" } else { part(&path.group) };
        counts.entry((row, draft, part)).or_default()[outcome as usize] += 1;
    }
    let mut text = format!("\n{:45}", "the official suite");
    Outcome::ALL.iter().for_each(|outcome| text += &format!("{:>16}", outcome.name()));
    for ((row, draft, part), counts) in counts {
        text += &format!("\n{row:15}{draft:14}{part:16}");
        counts.iter().for_each(|count| text += &format!("{count:>16}"));
    }
    text
}

/// The drafts' own meta-schemas, which schemas of the suite refer to: a caller registers those, too.
fn meta_schemas() -> Vec<(String, Arc<str>)> {
    let all = [
        &meta::DRAFT4,
        &meta::DRAFT6,
        &meta::DRAFT7,
        &meta::DRAFT201909,
        &meta::DRAFT201909_APPLICATOR,
        &meta::DRAFT201909_CONTENT,
        &meta::DRAFT201909_CORE,
        &meta::DRAFT201909_FORMAT,
        &meta::DRAFT201909_META_DATA,
        &meta::DRAFT201909_VALIDATION,
        &meta::DRAFT202012,
        &meta::DRAFT202012_APPLICATOR,
        &meta::DRAFT202012_CONTENT,
        &meta::DRAFT202012_CORE,
        &meta::DRAFT202012_FORMAT_ANNOTATION,
        &meta::DRAFT202012_FORMAT_ASSERTION,
        &meta::DRAFT202012_META_DATA,
        &meta::DRAFT202012_UNEVALUATED,
        &meta::DRAFT202012_VALIDATION,
    ];
    let document = |schema: &Value| {
        let uri = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str);
        (uri.expect("a URI").to_owned(), Arc::from(schema.to_string()))
    };
    all.into_iter().map(|schema| document(schema)).collect()
}

/// Every JSON file below a folder, sorted.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
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
