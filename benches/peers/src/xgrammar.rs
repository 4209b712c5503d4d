//! XGrammar under the protocol: its Python package behind a pipe, in a process that is ended where a
//! schema passes the limit. `measure_xgrammar.py` beside the sources does the measuring.

use crate::corpus::Outcome;
use crate::protocol::{Failure, Run};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokenmask::Vocabulary;

/// Until the vocabulary is read and its tables made.
const READY: Duration = Duration::from_secs(120);

pub struct XGrammar {
    python: PathBuf,
    /// The first line of input.
    setup: String,
    limit: Duration,
    version: String,
    any_whitespace: bool,
    floor: u64,
    process: Process,
}

/// What the script tells once it is ready.
#[derive(Deserialize)]
struct Ready {
    version: String,
    /// Nanoseconds of the empty calls of one position.
    floor: u64,
}

impl XGrammar {
    /// Over the same token ids; masks are timed in so many passes.
    ///
    /// # Errors
    ///
    /// Where the script cannot be run.
    pub fn new(
        python: &Path,
        vocabulary: &Vocabulary,
        any_whitespace: bool,
        passes: usize,
        limit: Duration,
    ) -> Result<XGrammar, Box<dyn Error>> {
        let word = |id: u32| {
            // A token without bytes is never allowed.
            let is_text = !vocabulary.is_special(id) && !vocabulary.is_end(id);
            let bytes = vocabulary.token_bytes(id).filter(|_| is_text).unwrap_or_default();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        let words: Vec<String> = (0..vocabulary.width() as u32).map(word).collect();
        let setup = json!({
            "vocabulary": words, "end": vocabulary.end_ids(), "any_whitespace": any_whitespace,
            "passes": passes.max(1),
        });
        let setup = setup.to_string();
        let (process, ready) = Process::start(python, &setup)?;
        let Ready { version, floor } = ready;
        let python = python.to_path_buf();
        Ok(XGrammar { python, setup, limit, version, any_whitespace, floor, process })
    }

    /// One schema, the empty calls subtracted.
    pub fn run(&mut self, schema: &str, texts: &[Vec<u32>]) -> Outcome {
        let failure = |kind: &str, message: String| Failure {
            kind: kind.to_owned(),
            location: None,
            message,
        };
        let task = json!({ "schema": schema, "texts": texts });
        if self.process.tell(&task.to_string()).is_ok()
            && let Ok(line) = self.process.lines.recv_timeout(self.limit)
        {
            let mut run = answer(&line).map_err(|message| failure("error", message))?;
            for time in run.trials.iter_mut().flat_map(|trial| &mut trial.masks) {
                *time = time.saturating_sub(self.floor);
            }
            return Ok(run);
        }
        // Too late, or it crashed.
        match Process::start(&self.python, &self.setup) {
            Ok((process, _)) => self.process = process,
            Err(error) => return Err(failure("process", error.to_string())),
        }
        Err(failure("limit", format!("ended after {:?} or by itself", self.limit)))
    }
}

/// The line of one schema.
fn answer(line: &str) -> Result<Run, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match value["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => serde_json::from_value(value).map_err(|error| error.to_string()),
    }
}

impl fmt::Display for XGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blank = if self.any_whitespace { "any whitespace" } else { "no free whitespace" };
        write!(
            f,
            "XGrammar {}, strict, {blank}, compiled once, {:?} a schema; {} ns of empty calls are \
             subtracted from each position",
            self.version, self.limit, self.floor
        )
    }
}

/// The script at work; ended with this value.
struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    fn start(python: &Path, setup: &str) -> Result<(Process, Ready), Box<dyn Error>> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/measure_xgrammar.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (sender, lines) = channel();
        let output = child.stdout.take();
        std::thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                if !line.is_ok_and(|line| sender.send(line).is_ok()) {
                    break;
                }
            }
        });
        let mut process = Process { child, lines };
        process.tell(setup)?;
        let absent = "XGrammar does not answer: `benches/README.md` tells how to install it";
        let line = process.lines.recv_timeout(READY).map_err(|_| absent)?;
        Ok((process, serde_json::from_str(&line)?))
    }

    fn tell(&mut self, line: &str) -> std::io::Result<()> {
        let Some(input) = &mut self.child.stdin else { return Ok(()) };
        input.write_all(line.as_bytes())?;
        input.write_all(b"\n")?;
        input.flush()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended by itself is not harmed by it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
