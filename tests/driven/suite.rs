//! The official suite through the masks, byte by byte. One trial for each file and row of settings.
//! The baseline is `tests/baseline/suite.txt`.

use crate::baseline::{Baseline, Found, Outcome};
use crate::rows::{ROWS, Row};
use crate::suite_data::{SuiteCase, SuiteFile, SuiteTest};
use crate::verdict::{Explainer, guarded, without_faults};
use crate::{baseline, suite_data};
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokenmask::{
    Content, ErrorKind, Formats, Grammar, Margin, Options, Order, SurfacePolicy, Vocabulary,
};

const FORMAT: &str = "optional/format";

/// The suite, where it is there.
pub struct Suite {
    files: Vec<SuiteFile>,
    documents: Arc<Vec<(String, Arc<str>)>>,
    rows: Vec<Row>,
    groups: BTreeSet<String>,
    baseline: Baseline,
}

impl Suite {
    pub fn find() -> Option<Suite> {
        let official = suite_data::Suite::find("the official suite")?;
        let documents = official.remotes.into_iter().map(|(uri, text)| (uri, Arc::from(text)));
        let (files, documents) = (official.files, Arc::new(documents.collect()));
        let rows: Vec<Row> = ROWS.into_iter().filter(Row::is_available).collect();
        let mut groups: BTreeSet<String> = ROWS.iter().map(|row| row.name.to_owned()).collect();
        groups.extend(rows.iter().flat_map(|row| files.iter().map(|file| group(file, row))));
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

    fn trial(&self, row: &Row, file: SuiteFile) -> Trial {
        let (baseline, documents) = (self.baseline.clone(), self.documents.clone());
        let (row, group) = (*row, group(&file, row));
        Trial::test(format!("suite::{group}"), move || {
            let documents = documents.to_vec();
            let found = run(&file, &Options { documents, ..options(&file, row) })?;
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

/// A file's group in the baseline.
fn group(file: &SuiteFile, row: &Row) -> String {
    format!("{}/{}", row.name, file.name)
}

/// The widest policy but for numbers, which are the row's.
fn options(file: &SuiteFile, row: Row) -> Options {
    let policy = SurfacePolicy {
        order: Order::Any,
        margin: Margin::Both,
        numbers: row.numbers,
        ..SurfacePolicy::default()
    };
    let formats = if part(&file.name) == FORMAT { Formats::Enforce } else { Formats::Annotate };
    // The parts that ask for content to be annotated are not optional.
    let content = if part(&file.name) == "optional" { Content::Enforce } else { Content::Annotate };
    Options { policy, formats, content, dialect: Some(file.dialect), ..Options::default() }
}

/// The results of a file's tests.
fn run(file: &SuiteFile, options: &Options) -> Result<Vec<Found>, Failed> {
    let vocabulary = Vocabulary::bytes();
    let mut all = Vec::new();
    for case in &file.cases() {
        all.extend(run_case(case, options, &vocabulary));
    }
    Ok(without_faults(all)?)
}

fn run_case(
    case: &SuiteCase,
    options: &Options,
    vocabulary: &Vocabulary,
) -> Vec<Result<Found, String>> {
    let mut compiled = None;
    let compile = || {
        compiled = Some(Grammar::compile(case.schema.get(), options));
        (Outcome::Pass, String::new())
    };
    if let Err(fault) = guarded(&case.description, compile) {
        return vec![Err(fault)];
    }
    let name = |test: &SuiteTest| format!("{} / {}", case.description, test.description);
    match compiled.expect("it was compiled") {
        Ok(grammar) => {
            let engine = grammar.bind(vocabulary).expect("bytes spell everything");
            let explainer = Explainer::new(case.schema.get(), options, &grammar);
            let judge = |test: &SuiteTest| {
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
            let judge = |test: &SuiteTest| {
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
