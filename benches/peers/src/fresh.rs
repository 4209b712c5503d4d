//! Schemas each in a process of its own: nothing is warm but what the vocabulary brings, whose time
//! is stated apart.

use crate::Arguments;
use crate::corpus::{self, Outcome};
use crate::llguidance::Llguidance;
use crate::protocol::Times;
use crate::tally::Tally;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Clone, Copy, ValueEnum)]
pub enum Engine {
    Tokenmask,
    Llguidance,
}

/// What a child reads.
#[derive(Deserialize, Serialize)]
struct Task {
    schema: String,
    texts: Vec<Vec<u32>>,
}

/// What a child tells.
#[derive(Deserialize, Serialize)]
struct Answer {
    /// Nanoseconds until the vocabulary was read.
    read: u64,
    /// Nanoseconds of what the engine makes of it, once for all schemas.
    tables: u64,
    outcome: Outcome,
}

/// The table over all selected schemas.
///
/// # Errors
///
/// Where the corpus or the vocabulary cannot be read, or a process cannot be run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let vocabulary = arguments.vocabulary()?;
    let mut tally = Tally::new("llguidance");
    let (mut read, mut tables) = (Times::default(), [Times::default(), Times::default()]);
    for record in &arguments.records()? {
        let texts = corpus::encode(&vocabulary, record)?;
        let task = Task { schema: record.schema.get().to_owned(), texts };
        let ours = ask(Engine::Tokenmask, &task)?;
        let theirs = ask(Engine::Llguidance, &task)?;
        read.extend([ours.read, theirs.read]);
        tables[0].extend([ours.tables]);
        tables[1].extend([theirs.tables]);
        tally.add(record, &ours.outcome, &theirs.outcome);
    }
    println!("reading the vocabulary, median: {:.1} ms", milliseconds(&mut read));
    let [ours, theirs] = tables.each_mut().map(milliseconds);
    println!("its tables, median: tokenmask {ours:.1} ms, llguidance {theirs:.1} ms\n");
    tally.print(arguments.slowest);
    Ok(())
}

fn milliseconds(times: &mut Times) -> f64 {
    times.at(0.5) / 1e3
}

/// Runs one child, with the arguments of this process.
fn ask(engine: Engine, task: &Task) -> Result<Answer, Box<dyn Error>> {
    let name = engine.to_possible_value().map(|value| value.get_name().to_owned());
    let mut process = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .arg("--fresh-child")
        .args(name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = process.stdin.take() {
        input.write_all(&serde_json::to_vec(task)?)?;
    }
    let output = process.wait_with_output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// One schema under one engine.
///
/// # Errors
///
/// Where the input is no task, or the vocabulary cannot be read.
pub fn child(engine: Engine, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let task: Task = serde_json::from_reader(std::io::stdin())?;
    let start = Instant::now();
    let vocabulary = arguments.vocabulary()?;
    let read = start.elapsed();
    let start = Instant::now();
    let (tables, outcome) = match engine {
        Engine::Tokenmask => {
            let ours = arguments.ours(&vocabulary)?;
            (start.elapsed(), corpus::once(&ours, &task.schema, &task.texts))
        }
        Engine::Llguidance => {
            let theirs = Llguidance::new(&vocabulary)?;
            (start.elapsed(), corpus::once(&theirs, &task.schema, &task.texts))
        }
    };
    let [read, tables] = [read, tables].map(|time| time.as_nanos() as u64);
    println!("{}", serde_json::to_string(&Answer { read, tables, outcome })?);
    Ok(())
}
