//! llguidance over the hard schemas, as `benches/hard.rs` runs tokenmask: a process for each schema,
//! the clock started once the vocabulary stands, a limit on time and memory, the same budgets.
//!
//! Memory is what the process has grown by, looked at every few milliseconds.

use crate::data;
use crate::llguidance::Llguidance;
use crate::protocol::hard::{self, Hard};
use crate::protocol::{self, Contender};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokenmask::Vocabulary;

/// How often the parent looks at a child.
const LOOK: Duration = Duration::from_millis(5);
/// A child that takes more is ended.
const MOST_MIB: u64 = 2_048;
/// What a child says once it is ready; its second line is empty or an error.
const READY: &str = "ready";

/// Every schema of `scales` (names with commas between), one row each.
///
/// # Errors
///
/// Where the generators or a process cannot be run.
pub fn run(scales: &str, vocab: &str, limit: Duration) -> Result<(), Box<dyn Error>> {
    let Some(script) = data::find("hard_schemas.py", "the hard schemas") else { return Ok(()) };
    let folder = std::env::temp_dir().join(format!("tokenmask-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let rows = table(&script, &folder, scales, vocab, limit);
    let _ = std::fs::remove_dir_all(&folder);
    rows
}

fn table(
    script: &Path,
    folder: &Path,
    scales: &str,
    vocab: &str,
    limit: Duration,
) -> Result<(), Box<dyn Error>> {
    println!("{:<40} {:>9} {:>10} {:>8}  verdict", "schema and scale", "bytes", "first ms", "MiB");
    let (mut within, mut all) = (0, 0);
    for schema in hard::generate(script, folder, scales, "")? {
        let row = watch(&schema, vocab, limit)?;
        all += 1;
        within += usize::from(row.verdict == "ok");
        println!(
            "{:<40} {:>9} {:>10.2} {:>8.1}  {}",
            format!("{} {}", schema.id, schema.n),
            std::fs::metadata(schema.path.with_added_extension("json"))?.len(),
            row.time.as_secs_f64() * 1e3,
            row.grown_kib as f64 / 1024.0,
            row.verdict
        );
    }
    println!("\n{within} of {all} within the budgets");
    Ok(())
}

struct Row {
    time: Duration,
    grown_kib: u64,
    verdict: String,
}

/// Runs one child to its end or to a limit.
fn watch(schema: &Hard, vocab: &str, limit: Duration) -> Result<Row, Box<dyn Error>> {
    let mut process = Command::new(std::env::current_exe()?)
        .args(["--vocab", vocab, "--hard-child"])
        .arg(&schema.path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (pid, output) = (process.id().to_string(), process.stdout.take());
    let (sender, words) = channel();
    std::thread::spawn(move || {
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
            if line.is_ok_and(|line| sender.send(line).is_err()) {
                break;
            }
        }
    });
    let resident = || protocol::memory_kib(&pid, "VmRSS:").unwrap_or(0);
    let (mut started, mut baseline, mut grown) = (None::<Instant>, 0, 0);
    let verdict = loop {
        match words.recv_timeout(LOOK) {
            Ok(word) if word == READY => (started, baseline) = (Some(Instant::now()), resident()),
            Ok(error) if error.is_empty() => {
                let budget = schema.budget();
                let late = started.is_some_and(|start| start.elapsed() > budget.time);
                let large = grown > budget.memory_mib * 1024;
                break if late || large { "OVER BUDGET".to_owned() } else { "ok".to_owned() };
            }
            Ok(error) => break format!("error: {error}"),
            Err(RecvTimeoutError::Disconnected) => break "CRASH".to_owned(),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(start) = started else { continue };
        grown = grown.max(resident().saturating_sub(baseline));
        if grown > MOST_MIB * 1024 {
            break "MEMORY".to_owned();
        }
        if start.elapsed() > limit {
            break "TIMEOUT".to_owned();
        }
    };
    let time = started.map_or(Duration::ZERO, |start| start.elapsed());
    // A child that has ended by itself is not harmed by it.
    let _ = process.kill();
    process.wait()?;
    Ok(Row { time, grown_kib: grown, verdict })
}

/// One schema up to its first mask.
///
/// # Errors
///
/// Where the vocabulary or the schema's file cannot be read.
pub fn child(path: &Path, vocabulary: &Vocabulary) -> Result<(), Box<dyn Error>> {
    let schema = std::fs::read_to_string(path.with_added_extension("json"))?;
    let engine = Llguidance::new(vocabulary)?;
    // What belongs to the vocabulary alone.
    let _ = engine.first_mask("{}");
    println!("{READY}");
    let outcome = engine.first_mask(&schema);
    let error = outcome.err().map(|failure| failure.message.replace('\n', " "));
    println!("{}", error.unwrap_or_default().chars().take(100).collect::<String>());
    // What follows is the freeing of all that.
    std::process::exit(0);
}
