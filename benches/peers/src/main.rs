//! tokenmask and other engines over the same corpus, the same token ids, and the same machine,
//! interleaved schema by schema. `benches/README.md` tells how to run it.

#[path = "../../../tests/data/mod.rs"]
mod data;
#[path = "../../protocol/mod.rs"]
mod protocol;

mod hard;
mod llguidance;
mod tally;

use clap::{Parser, ValueEnum};
use protocol::{Contender, Failure, Run, Tokenmask};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use tally::Tally;
use tokenmask::{Margin, Options, Order, Vocabulary};

/// Run tokenmask and llguidance over a corpus.
#[derive(Parser)]
struct Arguments {
    /// A `.jsonl` or `.jsonl.gz` file; without one: the corpus of `TOKENMASK_DATA`.
    file: Option<PathBuf>,
    /// One schema alone.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// Every Nth schema.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Each time is the smallest of so many passes.
    #[arg(long, value_name = "N", default_value_t = 3)]
    passes: usize,
    /// A built-in vocabulary.
    #[arg(long, value_name = "NAME", default_value = "llama3")]
    vocab: String,
    /// In which order tokenmask lets names stand; llguidance always keeps the declared one.
    #[arg(long, value_enum, default_value_t = OrderArgument::Any)]
    order: OrderArgument,
    /// Also print the schemas on which tokenmask loses most time.
    #[arg(long, value_name = "N", default_value_t = 0)]
    slowest: usize,
    /// llguidance over the hard schemas instead: `small`, `default`, `large`, with commas between.
    #[arg(long, value_name = "SCALES")]
    hard: Option<String>,
    /// Time limit of one hard schema, in seconds.
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    seconds: f64,
    /// Run the hard schema at this path.
    #[arg(long, hide = true)]
    hard_child: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderArgument {
    Any,
    Declared,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(path) = &arguments.hard_child {
        return hard::child(path, &Vocabulary::builtin(&arguments.vocab)?);
    }
    if let Some(scales) = &arguments.hard {
        let limit = Duration::from_secs_f64(arguments.seconds);
        return hard::run(scales, &arguments.vocab, limit);
    }
    let file = arguments.file.clone().or_else(|| data::find(data::CORPUS, "the corpus"));
    let Some(file) = file else { return Ok(()) };
    let vocabulary = Vocabulary::builtin(&arguments.vocab)?;
    let mut options = Options::default();
    options.policy.margin = Margin::Both;
    options.policy.order = match arguments.order {
        OrderArgument::Any => Order::Any,
        OrderArgument::Declared => Order::Declared,
    };
    let theirs = llguidance::Llguidance::new(&vocabulary)?;
    let ours = Tokenmask::new(vocabulary, options)?;
    let mut tally = Tally::default();
    for (index, record) in data::records(&file)?.iter().enumerate() {
        match &arguments.only {
            Some(only) if *only != record.id => continue,
            None if index % arguments.every.max(1) != 0 => continue,
            _ => {}
        }
        let encode = |test: &data::Instance| Ok(ours.vocabulary.encode(&test.text)?.ids);
        let texts = record.tests.iter().map(encode).collect::<tokenmask::Result<Vec<_>>>()?;
        let (mut mine, mut other) = (None, None);
        for _ in 0..arguments.passes.max(1) {
            pass(&ours, record, &texts, &mut mine);
            pass(&theirs, record, &texts, &mut other);
        }
        if let (Some(mine), Some(other)) = (mine, other) {
            tally.add(record, &mine, &other);
        }
    }
    tally.print(arguments.slowest);
    Ok(())
}

/// What became of one schema under one engine: the fastest times, or why there are none.
type Outcome = Result<Run, Failure>;

fn pass<C: Contender>(
    contender: &C,
    record: &data::Record,
    texts: &[Vec<u32>],
    fastest: &mut Option<Outcome>,
) {
    let (run, bound) = protocol::run(contender, record.schema.get(), texts);
    match (fastest, bound) {
        (Some(Ok(before)), _) => before.keep_fastest(&run),
        (Some(Err(_)), _) => {}
        (empty @ None, bound) => *empty = Some(bound.map(|_| run)),
    }
}
