//! The command line: arguments in, data on standard output, talk on standard error.
//!
//! One file per verb; each returns [`Exit`] or a [`Failure`]. It uses the library's public API
//! alone. A broken pipe is no error: whoever reads the output has seen enough.

mod accepts;
mod args;
mod exit;
mod explain;
mod generate;
mod mask;
mod output;
mod source;
mod vocab;

use args::{Args, Verb};
use clap::Parser;
use exit::{Exit, Failure};
use output::Output;
use std::process::ExitCode;

/// Runs the command line of this process.
pub(crate) fn run() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are answers, not errors; a pipe that breaks below them is neither.
            let code = if error.use_stderr() { Exit::Error } else { Exit::Yes };
            let _ = error.print();
            return code.into();
        }
    };
    let mut output = Output::new();
    let result = dispatch(&args, &mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    finish(result, &args, &mut output).into()
}

fn dispatch(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    match &args.verb {
        Verb::Generate(verb) => generate::run(verb, output),
        Verb::Explain(verb) => explain::run(verb, output),
        Verb::Accepts(verb) => accepts::run(verb, output),
        Verb::Mask(verb) => mask::run(verb, output),
        Verb::Vocab(verb) => vocab::run(verb, output),
    }
}

/// Tells what went wrong, on standard output too where JSON was asked for.
fn finish(result: Result<Exit, Failure>, args: &Args, output: &mut Output) -> Exit {
    let failure = match result {
        Ok(exit) => return exit,
        Err(Failure::BrokenPipe) => return Exit::Yes,
        Err(failure) => failure,
    };
    if args.verb.wants_json()
        && let Some(value) = failure.to_json()
    {
        let written = output.json(&value).and_then(|()| output.flush());
        if let Err(Failure::BrokenPipe) = written {
            return Exit::Yes;
        }
    }
    output.talk(&failure.to_string());
    Exit::Error
}
