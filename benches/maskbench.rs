//! The corpus runner: schemas with texts through the masks of one vocabulary, by the MaskBench
//! protocol. `benches/README.md` tells how to run it.

#[path = "../tests/data/mod.rs"]
mod data;
mod protocol;

// The common options are the command line's own.
#[path = "../src/cli/args.rs"]
#[allow(dead_code, unused_imports, reason = "the verbs are the command line's")]
mod args;
#[path = "../src/cli/exit.rs"]
#[allow(dead_code, unused_imports, reason = "so are the exit codes")]
mod exit;
#[path = "../src/cli/source.rs"]
#[allow(dead_code, unused_imports, reason = "and the lines of documents")]
mod source;

use clap::Parser;
use data::{Instance, Record};
use exit::Failure;
use protocol::{Bound, Run, Times, Tokenmask, Trial};
use serde_json::{Value, json};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokenmask::Route;
use tokenmask::check::Validator;

/// A schema that takes longer, texts included, is a hang.
const HANG: Duration = Duration::from_secs(10);

/// Run a corpus through the masks, by the MaskBench protocol.
#[derive(Debug, Parser)]
struct Arguments {
    /// A `.jsonl` or `.jsonl.gz` file: `{"id", "family", "schema", "tests": [{"text", "valid"}]}` a
    /// line. Without one: the corpus of `TOKENMASK_DATA`.
    file: Option<PathBuf>,
    /// One schema alone.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// At most so many schemas, evenly over the file.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// One line a schema goes to this file.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
    #[command(flatten)]
    common: args::Common,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(well) => exit::Exit::from_answer(well).into(),
        Err(failure) => {
            eprintln!("{failure}");
            exit::Exit::Error.into()
        }
    }
}

/// Whether no schema hung or accepted what its report says it refuses.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let file = arguments.file.clone().or_else(|| data::find(data::CORPUS, "the corpus"));
    let Some(file) = file else { return Ok(true) };
    let records = read(&file, arguments)?;
    let vocabulary = arguments.common.vocabulary()?;
    let contender = Tokenmask::new(vocabulary, arguments.common.options()?)?;
    let mut json = match &arguments.json {
        Some(path) => {
            Some(BufWriter::new(File::create(path).map_err(|error| input(path.display(), &error))?))
        }
        None => None,
    };
    let watch = Watch::start();
    let mut table = Table::default();
    for record in &records {
        watch.begin(&record.id);
        let texts = encode(&contender, record)?;
        let (run, bound) = protocol::run(&contender, record.schema.get(), &texts);
        watch.end();
        if let Some(json) = &mut json {
            writeln!(json, "{}", line(record, &run, &bound)).map_err(Failure::Output)?;
        }
        table.add(&contender, record, run, bound);
    }
    if let Some(mut json) = json {
        json.flush().map_err(Failure::Output)?;
    }
    print!("{}", table.render());
    let hangs = watch.hangs();
    hangs.iter().for_each(|id| println!("hang: {id} takes more than {HANG:?}"));
    Ok(hangs.is_empty() && table.faults.is_empty())
}

fn read(file: &std::path::Path, arguments: &Arguments) -> Result<Vec<Record>, Failure> {
    let mut records = data::records(file).map_err(|error| input(file.display(), &error))?;
    if let Some(only) = &arguments.only {
        records.retain(|record| record.id == *only);
        if records.is_empty() {
            return Err(Failure::Usage(format!("no schema has the id `{only}`")));
        }
    }
    let (all, limit) = (records.len(), arguments.limit.unwrap_or(usize::MAX).min(records.len()));
    // The indices at which the evenly spread count goes up.
    let mut index = 0..all;
    records.retain(|_| index.next().is_some_and(|i| i * limit / all < (i + 1) * limit / all));
    Ok(records)
}

fn input(location: impl ToString, error: &std::io::Error) -> Failure {
    Failure::Input { location: location.to_string(), message: error.to_string() }
}

fn encode(contender: &Tokenmask, record: &Record) -> Result<Vec<Vec<u32>>, Failure> {
    let encode = |test: &Instance| Ok(contender.vocabulary.encode(&test.text)?.ids);
    record.tests.iter().map(encode).collect()
}

/// One line of `--json`.
fn line(record: &Record, run: &Run, bound: &Result<Bound, protocol::Failure>) -> Value {
    let mut line = json!({
        "id": record.id,
        "family": record.family,
        "ttfm_us": microseconds(run.ttfm),
        "tests": record.tests.iter().zip(trials(record, run)).map(|(test, trial)| json!({
            "valid": test.valid,
            "accepted": trial.accepted,
            "masks_us": trial.masks.iter().map(|&time| microseconds(time)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    });
    match bound {
        Ok(bound) => {
            let routed = bound.grammar.report().entries().iter();
            let routed = routed.filter(|entry| entry.route > Route::Mask);
            line["routed"] = routed.map(|entry| entry.location.as_str()).collect();
        }
        Err(error) => {
            line["routed"] = json!([]);
            line["error"] = json!({
                "kind": error.kind, "location": error.location, "message": error.message,
            });
        }
    }
    line
}

/// What became of each text; where the schema does not compile, none is accepted.
fn trials(record: &Record, run: &Run) -> Vec<Trial> {
    let none = Trial { accepted: false, masks: Vec::new() };
    if run.trials.is_empty() { vec![none; record.tests.len()] } else { run.trials.clone() }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// What all schemas add up to.
#[derive(Default)]
struct Table {
    schemas: usize,
    exact: usize,
    /// Schemas all of whose texts were judged right.
    passing: usize,
    ttfm: Times,
    tbm: Times,
    valid: usize,
    invalid: usize,
    /// Kind → the schemas, each with its message.
    errors: BTreeMap<String, Vec<String>>,
    /// Valid texts that were refused.
    refused: Vec<String>,
    /// Invalid texts that were accepted: a keyword is routed, and says so.
    routed: usize,
    /// The same, and nothing says so.
    faults: Vec<String>,
}

impl Table {
    fn add(
        &mut self,
        contender: &Tokenmask,
        record: &Record,
        run: Run,
        bound: Result<Bound, protocol::Failure>,
    ) {
        self.schemas += 1;
        self.ttfm.extend([run.ttfm]);
        let mut right = true;
        match &bound {
            Ok(bound) => self.exact += usize::from(bound.grammar.report().is_exact()),
            Err(error) => {
                right = error.kind == "unsatisfiable";
                let message = format!("{}: {}", record.id, error.message);
                self.errors.entry(error.kind.clone()).or_default().push(message);
            }
        }
        // Few schemas need a second opinion.
        let validator =
            LazyCell::new(|| Validator::new(record.schema.get(), &contender.options).ok());
        for (test, trial) in record.tests.iter().zip(trials(record, &run)) {
            self.tbm.extend(trial.masks.iter().copied());
            *(if test.valid { &mut self.valid } else { &mut self.invalid }) += 1;
            right &= trial.accepted == test.valid;
            match (&bound, test.valid, trial.accepted) {
                (Ok(_), true, false) => {
                    let place = format!("{}: at token {}", record.id, trial.masks.len());
                    self.refused.push(place);
                }
                (Err(error), true, false) if error.kind == "unsatisfiable" => {
                    self.refused.push(format!("{}: unsatisfiable", record.id));
                }
                (Ok(bound), false, true) => match unexplained(&validator, bound, test) {
                    None => self.routed += 1,
                    Some(why) => self.faults.push(format!("{}: {why}", record.id)),
                },
                _ => {}
            }
        }
        self.passing += usize::from(right);
    }

    fn render(&mut self) -> String {
        let mut text = format!("{:8}  {:>10}  {:>10}\n", "µs", "TBM", "TTFM");
        for ((name, tbm), (_, ttfm)) in self.tbm.summary().iter().zip(self.ttfm.summary()) {
            text += &format!("{name:8}  {tbm:10.2}  {ttfm:10.2}\n");
        }
        let errors: usize = self.errors.values().map(Vec::len).sum();
        let accepted = self.routed + self.faults.len();
        let memory = protocol::peak_memory().map_or("unknown".into(), |mib| format!("{mib} MiB"));
        text += &format!(
            "\nschemas              {}\nexact in the mask    {}\npassing              {}\n\
             tokens               {}\nvalid texts          {}\ninvalid texts        {}\n\
             compile errors       {errors}\nvalidation errors    {} (valid texts refused)\n\
             invalidation errors  {accepted} (invalid texts accepted), of those {} by routed keywords\n\
             peak memory          {memory}\n",
            self.schemas,
            self.exact,
            self.passing,
            self.tbm.count(),
            self.valid,
            self.invalid,
            self.refused.len(),
            self.routed,
        );
        for (kind, schemas) in &self.errors {
            text +=
                &format!("\ncompile errors of kind {kind}: {}\n{}", schemas.len(), list(schemas));
        }
        for (title, places) in
            [("valid texts refused", &self.refused), ("accepted, and not routed", &self.faults)]
        {
            if !places.is_empty() {
                text += &format!("\n{title}: {}\n{}", places.len(), list(places));
            }
        }
        text
    }
}

/// The first lines of a list.
fn list(lines: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text: String = lines.iter().take(SHOWN).map(|line| format!("  {line}\n")).collect();
    if lines.len() > SHOWN {
        text += &format!("  … and {} more\n", lines.len() - SHOWN);
    }
    text
}

/// Why an invalid text that was accepted is not explained by routed keywords.
fn unexplained(
    validator: &LazyCell<Option<Validator>, impl FnOnce() -> Option<Validator>>,
    bound: &Bound,
    test: &Instance,
) -> Option<String> {
    let report = bound.grammar.report();
    if report.is_exact() {
        return Some(format!("nothing is routed, and it accepts {}", test.text));
    }
    let violations =
        match validator.as_ref().map(|validator| validator.violations(&test.text, report)) {
            Some(Ok(violations)) => violations,
            // No second opinion: the report does not claim that the schema is exact.
            Some(Err(_)) | None => return None,
        };
    let first = violations.iter().find(|violation| !violation.routed)?;
    Some(format!("{}: {}", first.location, first.message))
}

/// Tells of hangs while they last.
struct Watch(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    current: Option<(String, Instant)>,
    hangs: Vec<String>,
}

impl Watch {
    fn start() -> Watch {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((id, start)) = &state.current
                    && start.elapsed() > HANG
                {
                    eprintln!("{id} has taken more than {HANG:?}");
                    let id = id.clone();
                    state.current = None;
                    state.hangs.push(id);
                }
            }
        });
        Watch(state)
    }

    fn begin(&self, id: &str) {
        self.set(Some((id.to_owned(), Instant::now())));
    }

    fn end(&self) {
        self.set(None);
    }

    fn set(&self, current: Option<(String, Instant)>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).current = current;
    }

    fn hangs(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).hangs.clone()
    }
}
