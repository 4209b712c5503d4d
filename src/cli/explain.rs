//! `explain`: where each keyword of a schema is enforced.

use super::args::Explain;
use super::exit::{Exit, Failure};
use super::output::Output;
use super::source;
use tokenmask::Grammar;

/// Prints the report. Exit 1 where the mask alone does not enforce the schema; with `--strict`
/// also where there is a finding.
pub(crate) fn run(args: &Explain, output: &mut Output) -> Result<Exit, Failure> {
    let options = args.common.options()?;
    let grammar = Grammar::compile(&source::read_text(&args.schema)?, &options)?;
    let report = grammar.report();
    let text = if args.json { report.to_json() } else { report.to_string() };
    output.text(&text)?;
    let clean = report.is_exact() && (!args.strict || report.findings().is_empty());
    Ok(Exit::from_answer(clean))
}
