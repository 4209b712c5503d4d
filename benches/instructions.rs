//! Instructions instead of times: 30 fixed schemas × compiling, masks cold, masks warm, counted by
//! valgrind's callgrind and compared with `instructions/counts.tsv`. They hardly depend on what else
//! the machine does. `benches/README.md` tells how to run it.
//!
//! This binary runs itself under callgrind, which counts inside [`counted`] alone and writes what
//! it counted to a file of its own after each call.

mod schemas;

use schemas::Example;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tokenmask::{Engine, Grammar, Options, Vocabulary};

/// A section may take so much more than what is checked in: about what another version of the C
/// library, or its choice of routines for another processor, makes of the same code.
const TOLERANCE: f64 = 0.02;
/// And so many more instructions: some hash tables are seeded at random, which moves a section by up
/// to 1 %, and small ones by up to 15,000.
const SLACK: u64 = 20_000;
/// What is measured of each schema.
const SECTIONS: [&str; 3] = ["compile", "cold masks", "warm masks"];
/// Documents of one schema.
const DOCUMENTS: usize = 3;

fn main() -> ExitCode {
    let asked = |flag| std::env::args().any(|argument| argument == flag);
    let outcome = match () {
        () if asked("--measure") => measure().map(|()| true),
        () if asked("--update") => update().map(|()| true),
        () => compare(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// A line of `cases.jsonl`.
#[derive(Deserialize)]
struct Case {
    name: String,
    schema: Box<RawValue>,
    valid: Vec<String>,
}

/// The schemas, in the order in which they are measured.
fn examples() -> Vec<Example> {
    let cases = include_str!("instructions/cases.jsonl").lines().map(|line| {
        let case: Case = serde_json::from_str(line).expect("it is a case");
        Example { name: case.name, schema: case.schema.get().to_owned(), valid: case.valid }
    });
    let large = [
        (
            "200 tools",
            schemas::tools(200),
            r#"{"name": "tool_150", "arguments": {"path_150": "/srv/data", "mode": "exact"}}"#,
        ),
        (
            "1,000 properties",
            schemas::properties(1_000),
            r#"{"property_7": "of text", "property_80": "more text", "property_999": "", "x": 1}"#,
        ),
        (
            "enum of 5,000",
            format!(r#"{{"items": {{"enum": [{}]}}}}"#, schemas::words(5_000)),
            r#"["0 word 0", "3e71 word 3", "32ac word 4999"]"#,
        ),
    ];
    let large = large.map(|(name, schema, document)| Example {
        name: name.into(),
        schema,
        valid: vec![document.into()],
    });
    schemas::grammars().into_iter().chain(cases).chain(large).collect()
}

/// One section: callgrind writes a file when it returns. It and [`counted`] are found by their
/// names; one function cannot be both.
#[inline(never)]
fn section(work: &mut dyn FnMut()) {
    counted(work);
    // Something must stand behind the call, or it would be a jump, and the return not be seen.
    black_box(());
}

/// What callgrind counts.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

/// Runs all sections once, in their order. What is made once for a process or a vocabulary is paid
/// by the first that needs it.
fn measure() -> Result<(), Box<dyn Error>> {
    let vocabulary = Vocabulary::builtin("llama3")?;
    // The tables that all grammars share are not part of any section.
    let engine = Grammar::any_json().bind(&vocabulary)?;
    engine.matcher().fill_mask(&mut engine.new_mask())?;
    let options = Options::default();
    for example in examples() {
        let mut texts = Vec::new();
        for text in example.valid.iter().take(DOCUMENTS) {
            texts.push(vocabulary.encode(text)?.ids);
        }
        let mut engine = None;
        let bind = || Grammar::compile(&example.schema, &options)?.bind(&vocabulary);
        section(&mut || engine = Some(bind()));
        let engine = engine.ok_or("it was measured")??;
        for _ in ["cold", "warm"] {
            let mut accepted = true;
            section(&mut || accepted = texts.iter().all(|ids| accepts(&engine, ids)));
            if !accepted {
                return Err(format!("{}: a document is refused", example.name).into());
            }
        }
    }
    Ok(())
}

/// Whether each token, and the end behind them, is allowed by the mask before it.
fn accepts(engine: &Engine, ids: &[u32]) -> bool {
    let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
    let mut step =
        |id| matcher.fill_mask(&mut mask).is_ok() && mask.allows(id) && matcher.accept(id).is_ok();
    ids.iter().chain(engine.vocabulary().end_ids().first()).all(|&id| step(id))
}

/// Schema → instructions of each section.
type Counts = BTreeMap<String, [u64; SECTIONS.len()]>;

/// Runs this binary under callgrind.
fn count() -> Result<Counts, Box<dyn Error>> {
    let folder =
        std::env::temp_dir().join(format!("tokenmask-instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let counts = count_in(&folder);
    std::fs::remove_dir_all(&folder)?;
    counts
}

fn count_in(folder: &Path) -> Result<Counts, Box<dyn Error>> {
    let out = folder.join("out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*::counted", "--dump-after=*::section"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .arg("--measure")
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut counts = Counts::new();
    let mut dump = 1..;
    for example in examples() {
        let mut sections = [0; SECTIONS.len()];
        for count in &mut sections {
            let number: usize = dump.next().unwrap_or_default();
            *count = total(&out.with_extension(number.to_string()))?;
        }
        counts.insert(example.name, sections);
    }
    match dump.next().map(|number| out.with_extension(number.to_string())) {
        Some(path) if total(&path).is_ok_and(|total| total > 0) => {
            Err("callgrind saw more calls than there are sections".into())
        }
        _ => Ok(counts),
    }
}

/// The instructions of one of callgrind's files.
fn total(path: &Path) -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("callgrind saw too few calls: {}: {error}", path.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    Ok(total.ok_or("callgrind's file has no totals")?.trim().parse()?)
}

/// What compiled it: the counts of two compilers are not compared.
fn toolchain() -> Result<String, Box<dyn Error>> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(format!("{}, {}", String::from_utf8(output.stdout)?.trim(), std::env::consts::ARCH))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions/counts.tsv")
}

fn update() -> Result<(), Box<dyn Error>> {
    let mut text = format!("# {}\nschema\t{}\n", toolchain()?, SECTIONS.join("\t"));
    for (name, sections) in count()? {
        let [compile, cold, warm] = sections;
        let _ = writeln!(text, "{name}\t{compile}\t{cold}\t{warm}");
    }
    Ok(std::fs::write(file(), text)?)
}

/// Whether no section takes more than what is checked in.
fn compare() -> Result<bool, Box<dyn Error>> {
    let text = std::fs::read_to_string(file())?;
    let mut lines = text.lines();
    let recorded = lines.next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let mut before: Counts = Counts::new();
    for line in lines.skip(1) {
        let mut fields = line.split('\t');
        let name = fields.next().unwrap_or_default().to_owned();
        let numbers = fields.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        before.insert(name, numbers.try_into().map_err(|_| format!("not three counts: {line}"))?);
    }
    let now = count()?;
    if before.keys().ne(now.keys()) {
        return Err("other schemas than those that are checked in: run it with --update".into());
    }
    let (mut more, mut less) = (0, 0);
    for (index, section) in SECTIONS.iter().enumerate() {
        let sum = |counts: &Counts| counts.values().map(|sections| sections[index]).sum::<u64>();
        println!(
            "{section:12}{:>16}{:>16}  {:.3}",
            sum(&before),
            sum(&now),
            ratio(sum(&before), sum(&now))
        );
        for (name, sections) in &now {
            let (before, now) = (before[name][index], sections[index]);
            less += usize::from(exceeds(before, now));
            if exceeds(now, before) {
                more += 1;
                println!("  more: {name}: {before} → {now}, {:.3} times", ratio(before, now));
            }
        }
    }
    println!("of {} sections {more} take more, {less} less", now.len() * SECTIONS.len());
    let here = toolchain()?;
    if here != recorded {
        println!("not compared in earnest: {recorded} counted before, {here} now");
        return Ok(true);
    }
    Ok(more == 0)
}

/// Whether `count` is more than chance makes of `other`.
fn exceeds(count: u64, other: u64) -> bool {
    count as f64 > other as f64 * (1.0 + TOLERANCE) + SLACK as f64
}

fn ratio(before: u64, now: u64) -> f64 {
    now as f64 / before.max(1) as f64
}
