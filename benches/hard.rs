//! Schemas that broke other engines, at three scales: time, memory, and whether it ends at all.
//!
//! `cargo bench --bench hard -- [--scale small|default|large|all] [--only ID] [--seconds N]
//! [--memory MIB]`
//!
//! The schemas come from the generators of `hard_schemas.py` (through `python3`). Each runs in a
//! process of its own: this program again, with `--child`. It loads llama3 with its tables, says
//! that it is ready, and only then the clock starts. The parent kills it past the time limit, or
//! where its resident memory (looked at every few milliseconds) has grown past the limit since. The
//! peaks in the table are what was allocated at most beyond the vocabulary, up to the first mask and
//! in all; or that growth where the child was killed.
//!
//! The budget of compiling, binding and the first mask is 100 ms and 256 MiB, at the large scale
//! 5 s and 1 GiB. Only p06, p08 and p25 may end in an error that names a limit, and only at the large
//! scale. The exit code is 1 where a row passes its budget, ends in another error, hangs, crashes,
//! takes too much memory, or refuses its valid sample.
//!
//! Where a generator has no sample, the beginning of the shortest document is replayed (masks marked
//! `*`). A sample
//! that the default policy refuses is tried under a wide one (any order, longer blank runs), in a row
//! of its own.

#[path = "../tests/data/mod.rs"]
mod data;
mod protocol;

use clap::{Parser, ValueEnum};
use peak_alloc::PeakAlloc;
use protocol::Tokenmask;
use protocol::hard::{self, Hard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use tokenmask::{Engine, Grammar, Options, Order, Route, Vocabulary, Whitespace};

/// Counts what is allocated: what loading the vocabulary has freed stays resident, so that the size
/// of the process would not show the growth.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// So many tokens of a shortest document are replayed; it may have megabytes.
const SHORTEST_TOKENS: usize = 10_000;
/// How often the parent looks at the child.
const LOOK: Duration = Duration::from_millis(5);

#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "default")]
    scale: Scale,
    /// Only the generators whose id begins so.
    #[arg(long, default_value = "")]
    only: String,
    /// Time limit of one row.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Memory limit of one row in MiB, beyond the vocabulary.
    #[arg(long, default_value_t = 1024)]
    memory: u64,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
    /// Run the schema at this path, without its extension.
    #[arg(long, hide = true)]
    child: Option<PathBuf>,
    #[arg(long, hide = true)]
    wide: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    Small,
    Default,
    Large,
    All,
}

impl Scale {
    fn names(self) -> &'static str {
        match self {
            Scale::Small => "small",
            Scale::Default => "default",
            Scale::Large => "large",
            Scale::All => "small,default,large",
        }
    }
}

/// What a child says, one a line.
#[derive(Debug, Serialize, Deserialize)]
enum Word {
    /// The vocabulary stands; the clock starts.
    Ready,
    /// What it does next, and what is known so far.
    Phase(String, Box<Figures>),
    Done(Box<Figures>),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Figures {
    compile: Option<Duration>,
    first: Option<Duration>,
    /// What was allocated at most up to the first mask.
    first_kib: u64,
    masks: usize,
    /// Whether the replayed text is the generator's sample.
    sampled: bool,
    total: Duration,
    longest: Duration,
    states: usize,
    routed: usize,
    /// Limits that the report names.
    limits: Vec<String>,
    peak_kib: u64,
    error: Option<String>,
    /// The limit that the error names.
    limit: Option<String>,
    refused: Option<String>,
}

enum Verdict {
    /// Within the budget; the limits that the report names.
    Ok(Vec<String>),
    /// An error that names a limit, where it may.
    Limit(String),
    Error(String),
    /// What it took is more than the budget.
    OverBudget(String),
    /// Refused by the default policy, accepted by a wide one.
    OutsidePolicy,
    Refused(String),
    Timeout(String),
    Memory(String),
    Crash(String),
}

impl Verdict {
    fn is_failure(&self) -> bool {
        !matches!(self, Verdict::Ok(_) | Verdict::Limit(_) | Verdict::OutsidePolicy)
    }

    fn text(&self) -> String {
        match self {
            Verdict::Ok(limits) if limits.is_empty() => "ok".into(),
            Verdict::Ok(limits) => format!("ok, in part left to the check: {}", limits.join(", ")),
            Verdict::Limit(name) => format!("ends in the limit {name}, as it may"),
            Verdict::Error(error) => format!("ERROR: {error}"),
            Verdict::OverBudget(what) => format!("OVER BUDGET: {what}"),
            Verdict::OutsidePolicy => "sample is outside the policy".into(),
            Verdict::Refused(where_) => format!("SAMPLE REFUSED: {where_}"),
            Verdict::Timeout(phase) => format!("TIMEOUT: {phase}"),
            Verdict::Memory(phase) => format!("MEMORY: {phase}"),
            Verdict::Crash(how) => format!("CRASH: {how}"),
        }
    }
}

struct Row {
    name: String,
    bytes: u64,
    figures: Figures,
    verdict: Verdict,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(path) = &args.child {
        child(path, args.wide);
        return ExitCode::SUCCESS;
    }
    let Some(script) = data::find("hard_schemas.py", "the hard schemas") else {
        return ExitCode::SUCCESS;
    };
    let folder = std::env::temp_dir().join(format!("tokenmask-hard-{}", std::process::id()));
    let rows = std::fs::create_dir_all(&folder).and_then(|()| run(&args, &script, &folder));
    let _ = std::fs::remove_dir_all(&folder);
    match rows {
        Ok(rows) => summary(&rows),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Every row; each is printed when it is done.
fn run(args: &Args, script: &Path, folder: &Path) -> io::Result<Vec<Row>> {
    let schemas = hard::generate(script, folder, args.scale.names(), &args.only)?;
    let mut rows = Vec::new();
    println!("{}", header());
    for schema in &schemas {
        let name = format!("{} {}", schema.id, schema.n);
        let mut row = Row::of(args, schema, name.clone(), false)?;
        let mut other = None;
        if matches!(row.verdict, Verdict::Refused(_)) {
            let any = Row::of(args, schema, format!("{name}, wide"), true)?;
            if matches!(any.verdict, Verdict::Ok(_)) {
                row.verdict = Verdict::OutsidePolicy;
            }
            other = Some(any);
        }
        for row in [Some(row), other].into_iter().flatten() {
            println!("{}", row.text());
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Counts, failures once more, and the exit code.
fn summary(rows: &[Row]) -> ExitCode {
    let failed: Vec<&Row> = rows.iter().filter(|row| row.verdict.is_failure()).collect();
    let count = |test: fn(&Verdict) -> bool| rows.iter().filter(|row| test(&row.verdict)).count();
    println!(
        "\n{} rows: {} ok, {} end in a limit, {} outside the policy, {} failed",
        rows.len(),
        count(|verdict| matches!(verdict, Verdict::Ok(_))),
        count(|verdict| matches!(verdict, Verdict::Limit(_))),
        count(|verdict| matches!(verdict, Verdict::OutsidePolicy)),
        failed.len()
    );
    for row in &failed {
        println!("{}: {}", row.name, row.verdict.text());
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn header() -> String {
    format!(
        "{:<40} {:>9} {:>10} {:>9} {:>7} {:>9} {:>9} {:>7} {:>9} {:>8} {:>6}  {}",
        "schema and scale",
        "bytes",
        "compile ms",
        "first ms",
        "masks",
        "avg us",
        "max us",
        "states",
        "first MiB",
        "peak MiB",
        "routed",
        "verdict"
    )
}

impl Row {
    fn of(args: &Args, schema: &Hard, name: String, wide: bool) -> io::Result<Row> {
        let bytes = std::fs::metadata(schema.path.with_added_extension("json"))?.len();
        let (figures, verdict) = watch(args, schema, wide)?;
        Ok(Row { name, bytes, figures, verdict })
    }

    fn text(&self) -> String {
        let figures = &self.figures;
        let ms = |time: Option<Duration>| match time {
            Some(time) => format!("{:.2}", time.as_secs_f64() * 1e3),
            None => "-".into(),
        };
        let us = |time: Duration, count: usize| match count {
            0 => "-".into(),
            _ => format!("{:.1}", time.as_secs_f64() * 1e6 / count as f64),
        };
        let mark = if figures.sampled || figures.masks == 0 { "" } else { "*" };
        format!(
            "{:<40} {:>9} {:>10} {:>9} {:>7} {:>9} {:>9} {:>7} {:>9.1} {:>8.1} {:>6}  {}",
            self.name,
            self.bytes,
            ms(figures.compile),
            ms(figures.first),
            format!("{}{mark}", figures.masks),
            us(figures.total, figures.masks),
            us(figures.longest, figures.masks.min(1)),
            figures.states,
            figures.first_kib as f64 / 1024.0,
            figures.peak_kib as f64 / 1024.0,
            figures.routed,
            self.verdict.text()
        )
    }
}

/// Runs a child to its end or to a limit.
fn watch(args: &Args, schema: &Hard, wide: bool) -> io::Result<(Figures, Verdict)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(&schema.path).stdin(Stdio::null()).stdout(Stdio::piped());
    if wide {
        command.arg("--wide");
    }
    let mut process = command.spawn()?;
    let (pid, output) = (process.id(), process.stdout.take());
    let (sender, words) = channel();
    thread::spawn(move || {
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
            let word = line.ok().and_then(|line| serde_json::from_str(&line).ok());
            if word.is_none_or(|word| sender.send(word).is_err()) {
                break;
            }
        }
    });
    let (end, mut figures, phase) = follow(args, pid, &words);
    // A child that has ended by itself is not harmed by it.
    let _ = process.kill();
    let status = process.wait()?;
    let verdict = match (end, figures.error.take(), figures.refused.take()) {
        (End::Done, Some(error), _) => match figures.limit.take() {
            Some(limit) if schema.may_be_limited() => Verdict::Limit(limit),
            _ => Verdict::Error(error),
        },
        (End::Done, None, Some(refused)) => Verdict::Refused(refused),
        (End::Done, None, None) => match over_budget(schema, &figures) {
            Some(what) => Verdict::OverBudget(what),
            None => Verdict::Ok(std::mem::take(&mut figures.limits)),
        },
        (End::Closed, ..) => Verdict::Crash(format!("{phase}, {status}")),
        (End::Late, ..) => Verdict::Timeout(phase),
        (End::Fat, ..) => Verdict::Memory(phase),
    };
    Ok((figures, verdict))
}

/// What passes the budget of compiling, binding and the first mask.
fn over_budget(schema: &Hard, figures: &Figures) -> Option<String> {
    let budget = schema.budget();
    let time = figures.compile.unwrap_or_default() + figures.first.unwrap_or_default();
    let mut over = Vec::new();
    if time > budget.time {
        over.push(format!("{:.0} of {} ms", time.as_secs_f64() * 1e3, budget.time.as_millis()));
    }
    if figures.first_kib > budget.memory_mib * 1024 {
        over.push(format!("{} of {} MiB", figures.first_kib / 1024, budget.memory_mib));
    }
    (!over.is_empty()).then(|| over.join(", "))
}

/// How a child ends.
enum End {
    Done,
    /// Without a last word.
    Closed,
    /// Past the time limit.
    Late,
    /// Past the memory limit.
    Fat,
}

/// Listens to a child, to its end or to a limit; what it said last, and the phase that it was in.
fn follow(args: &Args, pid: u32, words: &Receiver<Word>) -> (End, Figures, String) {
    let (mut phase, mut figures) = (String::from("loading"), Box::<Figures>::default());
    let (mut started, mut baseline, mut peak) = (None, 0, 0);
    let end = loop {
        match words.recv_timeout(LOOK) {
            Ok(Word::Ready) => {
                started = Some(Instant::now());
                baseline = resident_kib(pid).unwrap_or(0);
            }
            Ok(Word::Phase(next, known)) => (phase, figures) = (next, known),
            Ok(Word::Done(known)) => return (End::Done, *known, phase),
            Err(RecvTimeoutError::Disconnected) => break End::Closed,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(started) = started else { continue };
        peak = peak.max(resident_kib(pid).unwrap_or(0).saturating_sub(baseline));
        if peak > args.memory * 1024 {
            break End::Fat;
        }
        if started.elapsed().as_secs_f64() > args.seconds {
            break End::Late;
        }
    };
    figures.peak_kib = peak;
    (end, *figures, phase)
}

/// The resident memory of a process in KiB, where the system tells.
fn resident_kib(pid: u32) -> Option<u64> {
    protocol::memory_kib(&pid.to_string(), "VmRSS:")
}

fn say(word: &Word) {
    let line = serde_json::to_string(word).expect("words are plain data");
    println!("{line}");
    io::stdout().flush().expect("the parent listens");
}

fn say_phase(name: &str, figures: &Figures) {
    say(&Word::Phase(name.into(), Box::new(figures.clone())));
}

/// One schema, measured.
fn child(path: &Path, wide: bool) {
    let schema = std::fs::read_to_string(path.with_added_extension("json")).expect("a schema");
    let sample = std::fs::read_to_string(path.with_added_extension("sample")).ok();
    let vocabulary = Vocabulary::builtin("llama3").expect("it is built in");
    let mut options = Options::default();
    if wide {
        options.policy.order = Order::Any;
        options.policy.whitespace = Whitespace::Bounded(Whitespace::MAX_BOUND);
    }
    // The tables that all grammars share are not part of any schema's figures.
    let Tokenmask { vocabulary, options, .. } =
        Tokenmask::new(vocabulary, options).expect("there is a mask");
    vocabulary.encode("{}").expect("every byte can be spelled");
    ALLOCATED.reset_peak_usage();
    let baseline = ALLOCATED.current_usage();
    say(&Word::Ready);
    let mut figures = Figures::default();
    let error = measure(&schema, sample, &vocabulary, &options, baseline, &mut figures).err();
    figures.limit = error.as_ref().and_then(tokenmask::Error::limit).map(str::to_owned);
    figures.error = error.map(|error| error.to_string().chars().take(120).collect());
    figures.peak_kib = peak_kib(baseline);
    say(&Word::Done(Box::new(figures)));
    // What follows is the freeing of all that; it is no part of the figures.
    std::process::exit(0);
}

/// What was allocated at most beyond `baseline` bytes.
fn peak_kib(baseline: usize) -> u64 {
    (ALLOCATED.peak_usage().saturating_sub(baseline) / 1024) as u64
}

fn measure(
    schema: &str,
    sample: Option<String>,
    vocabulary: &Vocabulary,
    options: &Options,
    baseline: usize,
    figures: &mut Figures,
) -> tokenmask::Result<()> {
    say_phase("compiling", figures);
    let begin = Instant::now();
    let grammar = Grammar::compile(schema, options)?;
    figures.compile = Some(begin.elapsed());
    say_phase("first mask", figures);
    let begin = Instant::now();
    let engine = grammar.bind(vocabulary)?;
    let (matcher, mut mask) = (engine.matcher(), engine.new_mask());
    matcher.fill_mask(&mut mask)?;
    figures.first = Some(begin.elapsed());
    figures.first_kib = peak_kib(baseline);
    say_phase("report", figures);
    let entries = grammar.report().entries();
    figures.routed = entries.iter().filter(|entry| entry.route > Route::Mask).count();
    let limits = entries.iter().filter_map(|entry| entry.limit);
    figures.limits = limits.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect();
    figures.sampled = sample.is_some();
    let text = match sample {
        Some(sample) => sample.into_bytes(),
        None => {
            say_phase("shortest completion", figures);
            // One that is longer than the limit is no fault of the schema's.
            matcher.shortest_completion().unwrap_or_default()
        }
    };
    say_phase("replay", figures);
    if figures.sampled || !text.is_empty() {
        figures.refused = replay(&engine, &text, figures)?;
    }
    figures.states = engine.shared_states();
    Ok(())
}

/// A mask before each token of a text and at its end; gives where the text is refused.
fn replay(
    engine: &Engine,
    text: &[u8],
    figures: &mut Figures,
) -> tokenmask::Result<Option<String>> {
    let vocabulary = engine.vocabulary();
    let mut tokens = vocabulary.encode(text)?.ids;
    tokens.push(vocabulary.end_ids()[0]);
    if !figures.sampled {
        tokens.truncate(SHORTEST_TOKENS);
    }
    let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
    for token in tokens {
        let begin = Instant::now();
        matcher.fill_mask(&mut mask)?;
        let time = begin.elapsed();
        figures.masks += 1;
        figures.total += time;
        figures.longest = figures.longest.max(time);
        let allowed = mask.allows(token);
        match matcher.accept(token) {
            Ok(()) if allowed => {}
            Ok(()) => return Ok(Some(format!("token {token} is masked, but accepted"))),
            Err(error) => {
                let what = if allowed { "allowed by the mask, but " } else { "" };
                return Ok(Some(format!("{what}{error}").chars().take(120).collect()));
            }
        }
    }
    Ok(None)
}
