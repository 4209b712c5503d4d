//! Exit codes, and what leads to the code 2.

use serde_json::{Value, json};
use std::fmt;
use std::io;
use std::process::ExitCode;
use tokenmask::Error;

/// The answer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: yes, or done.
    Yes,
    /// 1: no.
    No,
    /// 2: the question could not be answered.
    Error,
}

impl Exit {
    /// `Yes` where `yes` holds, else `No`.
    pub(crate) fn from_answer(yes: bool) -> Self {
        if yes { Exit::Yes } else { Exit::No }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Error => 2,
        })
    }
}

/// Why a run has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library's error.
    Library(Error),
    /// A file, or standard input, cannot be read.
    Input {
        /// The path, `-` for standard input.
        location: String,
        /// Why.
        message: String,
    },
    /// The command line contradicts itself.
    Usage(String),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Nobody reads standard output any more: the run is over, and well.
    BrokenPipe,
}

impl Failure {
    /// The failure as `{"error": {"kind", "location", "message"}}`.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let (kind, location, message) = match self {
            Failure::Library(error) => (error.kind().name(), error.location(), error.message()),
            Failure::Input { location, message } => ("input", Some(location.as_str()), &**message),
            Failure::Usage(message) => ("option", None, &**message),
            Failure::Output(_) | Failure::BrokenPipe => return None,
        };
        Some(json!({"error": {"kind": kind, "location": location, "message": message}}))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Library(error) => write!(f, "error: {error}"),
            Failure::Input { location, message } => {
                write!(f, "error: input: {location}: {message}")
            }
            Failure::Usage(message) => write!(f, "error: option: {message}"),
            Failure::Output(error) => write!(f, "error: standard output: {error}"),
            Failure::BrokenPipe => f.write_str("standard output was closed"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Library(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Output(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_is_told_apart() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(matches!(Failure::from(broken), Failure::BrokenPipe));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(Failure::from(full), Failure::Output(_)));
    }

    #[test]
    fn failures_are_json_objects() {
        let failure = Failure::Input { location: "a.json".into(), message: "no such file".into() };
        let expected = r#"{"error":{"kind":"input","location":"a.json","message":"no such file"}}"#;
        assert_eq!(failure.to_json().unwrap().to_string(), expected);
    }
}
