//! Masks against validators on generated schemas.
//!
//! A schema over all keywords of a dialect is compiled; instances near its border go through the
//! masks, and documents that the masks write go through the validators. A valid instance must be
//! taken. An invalid one must be refused unless the report routes what it violates. No mask is
//! empty, and what a prefix is completed to is held to the same.
//!
//! Numbers are written in the plain form, the only one there is. Documents of walks whose numbers
//! `f64` does not hold are not judged: validators would round.

mod alphabet;
mod instances;
mod judge;
mod schemas;
mod spelling;

use crate::generator::Random;
use crate::support::{amount, vocabulary, walk};
pub use instances::value as instance;
use judge::{Judge, Verdict, takes};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use schemas::Case;
pub use schemas::cases;
use serde_json::json;
pub use spelling::is_exact;
use spelling::spell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokenmask::sample::Sampler;
use tokenmask::{
    Dialect, Engine, ErrorKind, Formats, Grammar, Margin, Options, Order, Report, SurfacePolicy,
};

/// Instances of each schema.
const INSTANCES: usize = 10;
/// Walks through the masks of each schema.
const WALKS: usize = 3;
/// Schemas of one seed, over the same keywords: a failure is found again without those of other seeds.
const ROUND: u32 = 20;
/// Failures that are shown before a test gives up.
const MOST_FAILURES: usize = 3;

/// What happened how often.
type Counts = BTreeMap<&'static str, usize>;

#[test]
fn draft_4() {
    differential(Some(Dialect::Draft4));
}

#[test]
fn draft_6() {
    differential(Some(Dialect::Draft6));
}

#[test]
fn draft_7() {
    differential(Some(Dialect::Draft7));
}

#[test]
fn draft_2019_09() {
    differential(Some(Dialect::Draft201909));
}

#[test]
fn draft_2020_12() {
    differential(Some(Dialect::Draft202012));
}

#[test]
fn undeclared() {
    differential(None);
}

/// 6,000 pairs of schema and instance; 40,000 in the long mode. `TOKENMASK_SEED` is the first seed.
fn differential(dialect: Option<Dialect>) {
    let rounds = amount(30, 200);
    let first = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse().ok());
    let counts = RefCell::new(Counts::new());
    let mut failures = Vec::new();
    for seed in (first.unwrap_or(0)..).take(rounds) {
        failures.extend(round(dialect, seed, &counts));
        if failures.len() == MOST_FAILURES {
            break;
        }
    }
    let counts = counts.into_inner();
    let name = dialect.map_or("undeclared", Dialect::name);
    println!("{name}: {counts:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // Both answers must be common, or the test decides nothing.
    let pairs = rounds * ROUND as usize * INSTANCES;
    for (what, share) in
        [("valid", 8), ("refused", 20), ("walks", 10), ("completions", 20), ("exact", 200)]
    {
        let count = counts.get(what).copied().unwrap_or_default();
        assert!(count * share > pairs, "{name}: only {count} times {what}");
    }
}

/// The schemas of one seed; the first failure, shrunk, as text.
fn round(dialect: Option<Dialect>, seed: u64, counts: &RefCell<Counts>) -> Option<String> {
    let config = Config {
        cases: ROUND,
        failure_persistence: None,
        max_shrink_iters: 1_500,
        ..Config::default()
    };
    // Each dialect has schemas of its own.
    let mut bytes = [dialect.map_or(0, |dialect| dialect as u8 + 1); 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, random);
    let strategy = schemas::cases(dialect, seed);
    let outcome = runner.run(&strategy, |case| {
        let mut trial = Trial::new(&case, counts);
        trial.run().map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => None,
        Err(TestError::Abort(reason)) => Some(format!("seed {seed}: {reason}")),
        Err(TestError::Fail(_, case)) => {
            let again = || Trial::new(&case, counts).run();
            let reason = match catch_unwind(AssertUnwindSafe(again)) {
                Ok(outcome) => outcome.err().unwrap_or_else(|| "not met again".into()),
                Err(_) => "a panic, see above".into(),
            };
            Some(format!("seed {seed}: {}", described(&case, &reason)))
        }
    }
}

/// A failure, as the files of a folder of `tests/cases`.
fn described(case: &Case, reason: &str) -> String {
    let mut settings = json!({"order": "any", "margin": "both"});
    if let (Some(dialect), false) = (case.dialect, case.is_declared) {
        settings["dialect"] = dialect.name().into();
    }
    if !case.formats {
        settings["formats"] = "annotate".into();
    }
    let schema = schema_text(case);
    format!("{reason}\nover {}\nschema.json: {schema}\noptions.json: {settings}", case.vocabulary)
}

/// A case's schema as text.
pub fn schema_text(case: &Case) -> String {
    spell(&case.schema, &mut Random(case.seed), false)
}

/// What a case is compiled under.
pub fn options(case: &Case) -> Options {
    let policy =
        SurfacePolicy { order: Order::Any, margin: Margin::Both, ..SurfacePolicy::default() };
    let dialect = case.dialect.filter(|_| !case.is_declared);
    let formats = if case.formats { Formats::Enforce } else { Formats::Annotate };
    Options { policy, dialect, formats, ..Options::default() }
}

/// One schema under test.
struct Trial<'c> {
    case: &'c Case,
    counts: &'c RefCell<Counts>,
    random: Random,
}

impl<'c> Trial<'c> {
    fn new(case: &'c Case, counts: &'c RefCell<Counts>) -> Self {
        Trial { case, counts, random: Random(case.seed) }
    }

    fn count(&self, what: &'static str) {
        *self.counts.borrow_mut().entry(what).or_default() += 1;
    }

    /// The masks have the second validator on their side: a reader may want to know.
    fn disagreement(&self, text: &str) {
        self.count("validators disagree");
        println!("{}", described(self.case, &format!("the validators disagree: {text}")));
    }

    fn run(&mut self) -> Result<(), String> {
        let (text, options) = (schema_text(self.case), options(self.case));
        let judge = Judge::new(&self.case.schema, &options)
            .map_err(|error| format!("the validator refuses the schema: {error}"))?;
        let grammar = match Grammar::compile(&text, &options) {
            Ok(grammar) => grammar,
            Err(error) if error.kind() == ErrorKind::Unsatisfiable => {
                self.count("unsatisfiable");
                return self.unsatisfiable(&judge);
            }
            // No other kind can be meant: each schema is well-formed, names what there is, has no
            // cycle without a value in it, and is far below every limit.
            Err(error) => return Err(format!("an error: {error}")),
        };
        if grammar.report().is_exact() {
            self.count("exact");
        }
        let engine = grammar.bind(&vocabulary(self.case.vocabulary)).map_err(|e| e.to_string())?;
        let trial = Bound { engine, report: grammar.report(), judge: &judge };
        match self.bound(&trial) {
            // Where the algebra has met a limit, what the mask takes of a schema without documents
            // may have none that is short.
            Err(error) if error.contains("`completion_bytes`") && !trial.report.is_exact() => {
                self.count("too long");
                self.unsatisfiable(&judge)
            }
            outcome => outcome,
        }
    }

    fn bound(&mut self, trial: &Bound<'_>) -> Result<(), String> {
        for _ in 0..INSTANCES {
            let value = instances::value(&self.case.schema, &mut self.random);
            let is_loose = self.random.chance(30);
            let text = spell(&value, &mut self.random, is_loose);
            self.instance(trial, &text)?;
        }
        for _ in 0..WALKS {
            let length = self.random.below(60);
            let written = walk(&trial.engine, &mut self.random, length)?;
            self.written(trial, &written, "walks")?;
        }
        let wild = Sampler::new(self.case.seed).wild(&trial.engine).map_err(|e| e.to_string())?;
        if wild.dead_end {
            return Err(format!("a dead end after {}", wild.text));
        }
        self.written(trial, wild.text.as_bytes(), "wild")
    }

    /// An instance: the masks and the validators must agree, up to what is routed.
    fn instance(&mut self, trial: &Bound<'_>, text: &str) -> Result<(), String> {
        if takes(&trial.engine, text)? {
            let verdict = trial.judge.verdict(text, trial.report)?;
            if verdict == Some(Verdict::Valid) {
                self.count("valid");
                return self.completion(trial, text);
            }
            return self.taken(trial, text, verdict);
        }
        if !trial.judge.is_valid(text).map_err(|error| error.to_string())? {
            self.count("refused");
        } else if trial.judge.second(text) == Some(false) {
            self.disagreement(text);
        } else {
            return Err(format!("valid, but refused: {text}"));
        }
        Ok(())
    }

    /// A text that is taken, with its verdict.
    fn taken(&self, trial: &Bound<'_>, text: &str, verdict: Option<Verdict>) -> Result<(), String> {
        match verdict {
            Some(Verdict::Valid) => Ok(()),
            Some(Verdict::Invalid { is_routed }) => self.invalid(trial, text, is_routed),
            // Invalid, and which keywords say so is not known.
            None if trial.report.is_exact() => self.invalid(trial, text, false),
            None => {
                self.count("not listed");
                Ok(())
            }
        }
    }

    /// An invalid text that is taken: the report must say why, unless the validators disagree.
    fn invalid(&self, trial: &Bound<'_>, text: &str, is_routed: bool) -> Result<(), String> {
        if is_routed && !trial.report.is_exact() {
            self.count("routed");
            return Ok(());
        }
        if trial.judge.second(text) == Some(true) {
            self.disagreement(text);
            return Ok(());
        }
        let exact = if trial.report.is_exact() { ", and the report is exact" } else { "" };
        let why = trial.judge.unexplained(text, trial.report);
        Err(format!("invalid, but taken{exact}: {text}\nviolated: {why}"))
    }

    /// What the shortest completion makes of the beginning of a valid text.
    fn completion(&mut self, trial: &Bound<'_>, text: &str) -> Result<(), String> {
        let mut matcher = trial.engine.matcher();
        let mut written = text.as_bytes()[..self.random.below(text.len() + 1)].to_vec();
        matcher.accept_bytes(&written).map_err(|error| format!("{error}: {text}"))?;
        let rest = matcher.shortest_completion().map_err(|error| format!("{error}: {text}"))?;
        written.extend(&rest);
        let whole = String::from_utf8_lossy(&written);
        matcher.accept_bytes(&rest).map_err(|error| format!("{error}: {whole}"))?;
        if !matcher.is_accepting() {
            return Err(format!("the shortest completion does not end: {whole}"));
        }
        self.written(trial, &written, "completions")
    }

    /// A document that masks have written: valid, but for what is routed.
    fn written(&self, trial: &Bound<'_>, text: &[u8], what: &'static str) -> Result<(), String> {
        let text = std::str::from_utf8(text).map_err(|error| format!("{what}: {error}"))?;
        if !is_exact(text) {
            self.count("not judged");
            return Ok(());
        }
        self.count(what);
        match trial.judge.verdict(text, trial.report) {
            Ok(verdict) => self.taken(trial, text, verdict),
            // Deeper than `serde_json` reads.
            Err(error) if error.contains("recursion limit") => Ok(()),
            Err(error) => Err(format!("{error}: {text}")),
        }
    }

    /// No instance may be valid.
    fn unsatisfiable(&mut self, judge: &Judge) -> Result<(), String> {
        for _ in 0..INSTANCES {
            let value = instances::value(&self.case.schema, &mut self.random);
            let text = value.to_string();
            let is_valid = judge.is_valid(&text).map_err(|error| error.to_string())?;
            if is_valid && judge.second(&text) == Some(false) {
                self.disagreement(&text);
            } else if is_valid {
                return Err(format!("unsatisfiable, but valid: {text}"));
            }
        }
        Ok(())
    }
}

/// A schema bound to a vocabulary, with its judges.
struct Bound<'t> {
    engine: Engine,
    report: &'t Report,
    judge: &'t Judge,
}
