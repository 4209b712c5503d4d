//! Cases from bug reports of other engines, over single bytes and over Llama 3's vocabulary. One
//! trial for each case and vocabulary. The baseline is `tests/baseline/reports.txt`.
//!
//! A case runs with any order and any numbers (plain ones, where this version has no others) and
//! with its own options. Its `expect_compile` says what must come of the schema: `ok`: it compiles,
//! and the verdicts hold; `error`: a clear error; `route`: it compiles, and an invalid instance may
//! be accepted where routed keywords explain it.

use crate::baseline::{Baseline, Found, Outcome, Results};
use crate::data;
use crate::feed::{VOCABULARIES, bytes, feed, vocabularies};
use crate::mask_checks::{MaskCheck, Setting};
use crate::rows::{ROWS, Row};
use crate::verdict::{Explainer, Verdict, guarded, without_faults};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokenmask::{
    Engine, Error, ErrorKind, Grammar, Margin, Options, Order, Vocabulary, Whitespace,
};

/// The fewest cases there must be.
const FEWEST: usize = 100;
/// The vocabulary that a case brings along.
const OWN: &str = "own vocabulary";

/// The reports, where they are there.
pub struct Reports {
    cases: Vec<Arc<Case>>,
    /// The row that runs.
    row: Row,
    groups: BTreeSet<String>,
    baseline: Baseline,
}

#[derive(Deserialize)]
pub struct Case {
    id: String,
    /// The schema's text, as it stands in the file.
    schema: Box<RawValue>,
    instances: Vec<Instance>,
    expect_compile: Expected,
    error_class: Option<String>,
    #[serde(default)]
    options: Setting,
    #[serde(default)]
    mask_checks: Vec<MaskCheck>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Ok,
    Error,
    Route,
}

/// `optional_accept` needs no field: with any order and any numbers, such a text is accepted.
#[derive(Deserialize)]
struct Instance {
    text: String,
    valid: bool,
    /// Valid, but refused by the whitespace bound or the margin.
    #[serde(default)]
    bounded_reject: bool,
    /// Refused in declared order.
    #[serde(default)]
    out_of_order: bool,
    /// Decided by decimal arithmetic.
    #[serde(default)]
    exact: bool,
}

impl Reports {
    pub fn find() -> Option<Reports> {
        let path = data::find("reports.jsonl", "the reports of other engines' faults")?;
        let text = std::fs::read_to_string(path).expect("the reports");
        let parse = |line: &str| Arc::new(serde_json::from_str::<Case>(line).expect("a case"));
        let cases: Vec<_> = text.lines().map(parse).collect();
        assert!(cases.len() >= FEWEST, "only {} cases", cases.len());
        let row = *ROWS.iter().find(|row| row.is_available()).expect("plain numbers are there");
        let mut groups: BTreeSet<String> = refused().map(|row| row.name.to_owned()).collect();
        for case in &cases {
            groups.extend(case.vocabularies().iter().map(|name| case.group(&row, name)));
        }
        Some(Reports { cases, row, groups, baseline: Baseline::load("reports") })
    }

    pub fn trials(&self) -> Vec<Trial> {
        let (baseline, groups) = (self.baseline.clone(), self.groups.clone());
        let judge = move || baseline.judge_groups(&groups);
        let mut trials = vec![Trial::test("reports::groups", judge)];
        for row in refused() {
            let baseline = self.baseline.clone();
            let run = move || baseline.judge(row.name, row.found());
            trials.push(Trial::test(format!("reports::{}", row.name), run));
        }
        for case in &self.cases {
            for &name in case.vocabularies() {
                let (case, baseline, row) = (case.clone(), self.baseline.clone(), self.row);
                let group = case.group(&row, name);
                trials.push(Trial::test(format!("reports::{group}"), move || {
                    let found = case.run(row, name).map_err(Failed::from)?;
                    baseline.judge(&group, found)
                }));
            }
        }
        trials
    }

    /// After the run: the table, where it was whole, and the baseline.
    pub fn finish(&self) {
        if let Some(results) = self.baseline.whole(&self.groups) {
            println!("{}", self.table(&results));
        }
        self.baseline.finish();
    }

    /// Cases by what is expected of them: how many pass over every vocabulary, how many do not.
    fn table(&self, results: &Results) -> String {
        let mut worst: BTreeMap<&str, Outcome> = BTreeMap::new();
        for (path, &outcome) in results {
            let id = path.group.rsplit('/').next().unwrap_or_default();
            let known = worst.entry(id).or_insert(Outcome::Pass);
            *known = outcome.max(*known);
        }
        let mut counts: BTreeMap<Expected, [usize; Outcome::ALL.len()]> = BTreeMap::new();
        for case in &self.cases {
            let outcome = worst.get(&*case.id).copied().unwrap_or(Outcome::Pass);
            counts.entry(case.expect_compile).or_default()[outcome as usize] += 1;
        }
        let mut text = format!("\n{:45}", format!("the reports, {}", self.row.name));
        Outcome::ALL.iter().for_each(|outcome| text += &format!("{:>16}", outcome.name()));
        for (expected, counts) in counts {
            text += &format!("\n{:45}", format!("{expected:?}").to_lowercase());
            counts.iter().for_each(|count| text += &format!("{count:>16}"));
        }
        text
    }
}

/// The rows that stand before the one that runs: this version has no such options yet.
fn refused() -> impl Iterator<Item = Row> {
    ROWS.into_iter().take_while(|row| !row.is_available())
}

impl Case {
    fn group(&self, row: &Row, vocabulary: &str) -> String {
        format!("{}/{vocabulary}/{}", row.name, self.id)
    }

    /// The names of the vocabularies that it runs over.
    fn vocabularies(&self) -> &'static [&'static str] {
        if self.options.vocab.is_some() { &[OWN] } else { &VOCABULARIES }
    }

    /// The options of the case, or of one of its mask checks.
    fn options(&self, row: Row, own: Option<&Setting>) -> Options {
        let mut options = Options::default();
        options.policy.order = Order::Any;
        options.policy.numbers = row.numbers;
        self.options.apply(&mut options.policy);
        own.into_iter().for_each(|own| own.apply(&mut options.policy));
        options
    }

    /// The default policy, but for what the case or its mask check say themselves.
    fn default_options(&self, check: &MaskCheck) -> Options {
        let mut options = Options::default();
        self.options.apply(&mut options.policy);
        check.setting.apply(&mut options.policy);
        options
    }

    /// Everything that the case demands.
    fn run(&self, row: Row, vocabulary: &str) -> Result<Vec<Found>, String> {
        let options = self.options(row, None);
        let compiled = match (Grammar::compile(self.schema.get(), &options), self.expect_compile) {
            (Err(error), Expected::Error) => Err(self.right_kind(&error)),
            (Err(error), _) => Err((Outcome::CompileError, error.to_string())),
            (Ok(grammar), _) => Ok(grammar),
        };
        let grammar = match compiled {
            Ok(grammar) => grammar,
            Err(verdict) => return Ok(vec![guarded("compile", || verdict)?]),
        };
        let mut all = Vec::new();
        if self.expect_compile == Expected::Error {
            // What makes it empty may be routed.
            let verdict = Explainer::new(self.schema.get(), &options, &grammar);
            all.push(guarded("compile", || verdict.accepted_invalid_number()));
        }
        let shared = vocabularies().iter().find(|shared| shared.name() == vocabulary);
        let Some(vocabulary) = shared else {
            assert_eq!(vocabulary, OWN);
            all.push(guarded("bind", || self.cannot_bind(&grammar)));
            return without_faults(all);
        };
        let engine = grammar.bind(vocabulary).map_err(|error| error.to_string())?;
        let explainer = Explainer::new(self.schema.get(), &options, &grammar);
        for (index, instance) in self.instances.iter().enumerate() {
            let name = format!("instance {index}");
            all.push(guarded(&name, || self.judge(&engine, &explainer, instance)));
            all.extend(self.judge_policy(&name, instance, &options, vocabulary));
        }
        for (index, check) in self.mask_checks.iter().enumerate() {
            let options = self.options(row, Some(&check.setting));
            let name = format!("mask {index}");
            all.extend(check.run(&name, self.schema.get(), &options, vocabulary));
            all.extend(check.run_default(
                &name,
                self.schema.get(),
                &self.default_options(check),
                vocabulary,
            ));
        }
        let found = without_faults(all)?;
        Ok(found.into_iter().map(|one| self.excused(one)).collect())
    }

    /// Where a case may be routed, that is as it should be.
    fn excused(&self, mut found: Found) -> Found {
        if self.expect_compile == Expected::Route && found.outcome == Outcome::Routed {
            found.outcome = Outcome::Pass;
        }
        found
    }

    /// That an expected error is of the kind that the case names, where it names one.
    fn right_kind(&self, error: &Error) -> Verdict {
        let class = self.error_class.as_deref().unwrap_or_default();
        let expected = match class {
            "invalid-schema" => Some(ErrorKind::InvalidSchema),
            "valid schema; unsatisfiable" => Some(ErrorKind::Unsatisfiable),
            _ if class.starts_with("rs-refuses: ") => Some(ErrorKind::UnresolvedReference),
            _ => None,
        };
        let is_right = expected.is_none_or(|kind| kind == error.kind());
        let outcome = if is_right { Outcome::Pass } else { Outcome::CompileError };
        (outcome, format!("expected {expected:?}, got {error}"))
    }

    /// The case's own vocabulary cannot spell what the schema demands: binding says so.
    fn cannot_bind(&self, grammar: &Grammar) -> Verdict {
        let tokens = self.options.vocab.clone().unwrap_or_default();
        let last = tokens.len() as u32 - 1;
        assert_eq!(tokens.last().map(String::as_str), Some("<eos>"));
        let bytes = tokens.into_iter().map(String::into_bytes).collect();
        let vocabulary = Vocabulary::from_parts(bytes, &[last], &[]).expect("a vocabulary");
        match grammar.bind(&vocabulary) {
            Err(error) if error.kind() == ErrorKind::Vocabulary => (Outcome::Pass, String::new()),
            other => (Outcome::CompileError, format!("expected `vocabulary`, got {other:?}")),
        }
    }

    fn judge(&self, engine: &Engine, explainer: &Explainer<'_>, instance: &Instance) -> Verdict {
        let text = bytes(&instance.text);
        if instance.bounded_reject {
            return must_refuse(engine, &text);
        }
        let (outcome, detail) = explainer.judge(engine, &text, instance.valid);
        if outcome == Outcome::AcceptsInvalid && instance.exact {
            return explainer.accepted_invalid_number();
        }
        (outcome, format!("{detail}: {}", instance.text))
    }

    /// What an instance says about other policies.
    fn judge_policy(
        &self,
        name: &str,
        instance: &Instance,
        options: &Options,
        vocabulary: &Vocabulary,
    ) -> Vec<Result<Found, String>> {
        let text = bytes(&instance.text);
        let under = |change: &dyn Fn(&mut Options)| {
            let mut options = options.clone();
            change(&mut options);
            let grammar = Grammar::compile(self.schema.get(), &options).expect("it compiled");
            grammar.bind(vocabulary).expect("it was bound")
        };
        let mut all = Vec::new();
        if instance.out_of_order {
            let engine = under(&|options| options.policy.order = Order::Declared);
            all.push(guarded(&format!("{name} in declared order"), || must_refuse(&engine, &text)));
        }
        if instance.bounded_reject {
            let engine = under(&|options| {
                options.policy.whitespace = Whitespace::Bounded(Whitespace::MAX_BOUND);
                options.policy.margin = Margin::Both;
            });
            all.push(guarded(&format!("{name} with room"), || match feed(&engine, &text) {
                Ok(()) => (Outcome::Pass, String::new()),
                Err(at) => (Outcome::RejectsValid, format!("refused at byte {at}")),
            }));
        }
        all
    }
}

/// The verdict on a valid text outside the policy.
fn must_refuse(engine: &Engine, text: &[u8]) -> Verdict {
    let outcome = if feed(engine, text).is_ok() { Outcome::OutsidePolicy } else { Outcome::Pass };
    (outcome, String::from_utf8_lossy(text).into_owned())
}
