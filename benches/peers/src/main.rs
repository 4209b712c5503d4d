//! tokenmask and other engines over the same schemas, the same token ids, and the same machine,
//! interleaved schema by schema. `benches/README.md` tells how to run it.

#[path = "../../../tests/data/mod.rs"]
mod data;
#[path = "../../protocol/mod.rs"]
mod protocol;
#[path = "../../schemas/mod.rs"]
mod schemas;

mod corpus;
mod fresh;
mod generate;
mod hard;
mod llguidance;
mod stress;
mod tally;
mod xgrammar;

use clap::{Parser, ValueEnum};
use protocol::Tokenmask;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokenmask::{Margin, Options, Order, Vocabulary};

/// Run tokenmask beside other engines. Without a mode: over a corpus.
#[derive(Parser)]
struct Arguments {
    /// A `.jsonl` or `.jsonl.gz` file; without one: the corpus of `TOKENMASK_DATA`.
    file: Option<PathBuf>,
    #[command(flatten)]
    selection: corpus::Selection,
    /// Each time is the smallest of so many passes.
    #[arg(long, value_name = "N", default_value_t = 3)]
    passes: usize,
    /// A built-in vocabulary, or a `tokenizer.json` file.
    #[arg(long, value_name = "NAME|FILE", default_value = "llama3")]
    vocab: String,
    /// In which order tokenmask lets names stand; the others always keep the declared one.
    #[arg(long, value_enum, default_value_t = OrderArgument::Any)]
    order: OrderArgument,
    /// tokenmask compiles and binds anew for each text; the peer is set up as ever.
    #[arg(long)]
    rebuild: bool,
    /// Also print the schemas that cost tokenmask most: first mask, dearest mask, loss to the peer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    slowest: usize,
    /// Time limit of one hard schema, and of one schema under XGrammar, in seconds.
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    seconds: f64,

    /// XGrammar instead of llguidance.
    #[arg(long, help_heading = "XGrammar")]
    xgrammar: bool,
    /// XGrammar takes whitespace anywhere, instead of one space behind `,` and `:`.
    #[arg(long, help_heading = "XGrammar")]
    any_whitespace: bool,
    /// The Python that has XGrammar.
    #[arg(long, value_name = "FILE", default_value = "python3", help_heading = "XGrammar")]
    python: PathBuf,

    /// Each selected schema and engine in a process of its own.
    #[arg(long, help_heading = "Modes")]
    fresh: bool,
    /// llguidance over the hard schemas: `small`, `default`, `large`, with commas between.
    #[arg(long, value_name = "SCALES", help_heading = "Modes")]
    hard: Option<String>,
    /// Schemas and documents that are large in one respect, and the slowest patterns of the corpus.
    #[arg(long, help_heading = "Modes")]
    stress: bool,
    /// Whole documents of the selected schemas, written under the same rule of choice.
    #[arg(long, help_heading = "Modes")]
    generate: bool,
    /// So many threads that read the masks of one engine.
    #[arg(long, value_name = "N", help_heading = "Modes")]
    threads: Option<usize>,

    /// Run the hard schema at this path.
    #[arg(long, hide = true)]
    hard_child: Option<PathBuf>,
    /// Run the schema of the input under this engine.
    #[arg(long, hide = true)]
    fresh_child: Option<fresh::Engine>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderArgument {
    Any,
    Declared,
}

impl Arguments {
    fn options(&self) -> Options {
        let mut options = Options::default();
        options.policy.margin = Margin::Both;
        options.policy.order = match self.order {
            OrderArgument::Any => Order::Any,
            OrderArgument::Declared => Order::Declared,
        };
        options
    }

    fn vocabulary(&self) -> tokenmask::Result<Vocabulary> {
        match Vocabulary::builtin_names().any(|name| name == self.vocab) {
            true => Vocabulary::builtin(&self.vocab),
            false => Vocabulary::from_file(Path::new(&self.vocab)),
        }
    }

    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// tokenmask over the vocabulary.
    fn ours(&self, vocabulary: &Vocabulary) -> tokenmask::Result<Tokenmask> {
        let ours = Tokenmask::new(vocabulary.clone(), self.options())?;
        Ok(Tokenmask { rebuild: self.rebuild, ..ours })
    }

    /// The engine beside it.
    fn peer(&self, vocabulary: &Vocabulary) -> Result<corpus::Peer, Box<dyn Error>> {
        if !self.xgrammar {
            return Ok(corpus::Peer::Llguidance(llguidance::Llguidance::new(vocabulary)?));
        }
        let (whitespace, passes) = (self.any_whitespace, self.passes);
        let limit = self.limit();
        let xgrammar =
            xgrammar::XGrammar::new(&self.python, vocabulary, whitespace, passes, limit)?;
        Ok(corpus::Peer::XGrammar(xgrammar))
    }

    /// The selected schemas of the corpus; none where there is no corpus.
    fn records(&self) -> Result<Vec<data::Record>, Box<dyn Error>> {
        let file = self.file.clone().or_else(|| data::find(data::CORPUS, "the corpus"));
        let Some(file) = file else { return Ok(Vec::new()) };
        Ok(self.selection.select(data::records(&file)?))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(path) = &arguments.hard_child {
        return hard::child(path, &arguments.vocabulary()?);
    }
    if let Some(engine) = arguments.fresh_child {
        return fresh::child(engine, &arguments);
    }
    if let Some(scales) = &arguments.hard {
        return hard::run(scales, &arguments.vocab, arguments.limit());
    }
    if let Some(threads) = arguments.threads {
        return generate::threads(&arguments, threads);
    }
    match () {
        () if arguments.fresh => fresh::run(&arguments),
        () if arguments.stress => stress::run(&arguments),
        () if arguments.generate => generate::run(&arguments),
        () => corpus::run(&arguments),
    }
}
