//! A corpus under two engines, interleaved schema by schema: one table.

use crate::Arguments;
use crate::data::Record;
use crate::llguidance::Llguidance;
use crate::protocol::{self, Contender, Failure, Run, Tokenmask};
use crate::tally::Tally;
use crate::xgrammar::XGrammar;
use clap::Args;
use std::error::Error;
use tokenmask::Vocabulary;

/// Which schemas of a corpus, and in which order.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub struct Selection {
    /// One schema alone.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// Every Nth schema.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// So many schemas at random, in the order of the corpus.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// In a random order.
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Of the sample.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
}

impl Selection {
    pub fn select(&self, mut records: Vec<Record>) -> Vec<Record> {
        if let Some(only) = &self.only {
            records.retain(|record| record.id == *only);
        }
        records = records.into_iter().step_by(self.every.max(1)).collect();
        if let Some(sample) = self.sample {
            let mut random = fastrand::Rng::with_seed(self.seed);
            let mut chosen = random.choose_multiple(0..records.len(), sample);
            chosen.sort_unstable();
            let mut index = 0..;
            records
                .retain(|_| index.next().is_some_and(|index| chosen.binary_search(&index).is_ok()));
        }
        if let Some(seed) = self.shuffle {
            fastrand::Rng::with_seed(seed).shuffle(&mut records);
        }
        records
    }
}

/// What became of one schema under one engine: the fastest times, or why there are none.
pub type Outcome = Result<Run, Failure>;

/// The engine beside tokenmask.
pub enum Peer {
    Llguidance(Llguidance),
    XGrammar(XGrammar),
}

impl Peer {
    pub fn name(&self) -> &'static str {
        match self {
            Peer::Llguidance(_) => "llguidance",
            Peer::XGrammar(_) => "XGrammar",
        }
    }

    fn run(&mut self, schema: &str, texts: &[Vec<u32>]) -> Outcome {
        match self {
            Peer::Llguidance(engine) => once(engine, schema, texts),
            Peer::XGrammar(engine) => engine.run(schema, texts),
        }
    }
}

/// One pass of one schema.
pub fn once<C: Contender>(contender: &C, schema: &str, texts: &[Vec<u32>]) -> Outcome {
    let (run, bound) = protocol::run(contender, schema, texts);
    bound.map(|_| run)
}

/// The token ids of a schema's texts.
pub fn encode(vocabulary: &Vocabulary, record: &Record) -> tokenmask::Result<Vec<Vec<u32>>> {
    record.tests.iter().map(|test| Ok(vocabulary.encode(&test.text)?.ids)).collect()
}

/// The table over all selected schemas.
///
/// # Errors
///
/// Where the corpus, the vocabulary or a peer cannot be read or run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let records = arguments.records()?;
    let vocabulary = arguments.vocabulary()?;
    let mut peer = arguments.peer(&vocabulary)?;
    let ours = arguments.ours(&vocabulary)?;
    let mut tally = Tally::new(peer.name());
    for record in &records {
        let (schema, texts) = (record.schema.get(), encode(&vocabulary, record)?);
        let (mine, other) = fastest(&ours, &mut peer, schema, &texts, arguments.passes);
        tally.add(record, &mine, &other);
    }
    if let Peer::XGrammar(engine) = &peer {
        println!("{engine}");
    }
    tally.print(arguments.slowest);
    Ok(())
}

/// One schema under both engines, in passes that take turns.
pub fn fastest(
    ours: &Tokenmask,
    peer: &mut Peer,
    schema: &str,
    texts: &[Vec<u32>],
    passes: usize,
) -> (Outcome, Outcome) {
    let mut mine = once(ours, schema, texts);
    let mut other = peer.run(schema, texts);
    for _ in 1..passes {
        keep_fastest(&mut mine, once(ours, schema, texts));
        // XGrammar compiles each schema once, as it may take seconds, and passes over its texts alone.
        if let Peer::Llguidance(engine) = peer {
            keep_fastest(&mut other, once(engine, schema, texts));
        }
    }
    (mine, other)
}

fn keep_fastest(fastest: &mut Outcome, outcome: Outcome) {
    if let (Ok(before), Ok(run)) = (fastest, outcome) {
        before.keep_fastest(&run);
    }
}
