//! Compile a JSON Schema into token masks; whatever a mask cannot enforce is listed, described to
//! the model, and checked afterwards.
#![warn(missing_docs)]

mod automaton;
mod base;
#[cfg(feature = "check")]
pub mod check;
mod compile;
mod error;
mod language;
mod mask;
mod matcher;
mod options;
mod report;
pub mod sample;
mod schema;
mod values;
mod vocab;

pub use base::{ByteSet, Finding, Route};
pub use compile::Grammar;
pub use error::{Error, ErrorKind, Result};
pub use mask::{Filled, Mask};
pub use matcher::{Engine, Matcher};
pub use options::{
    Dialect, Escapes, Formats, Limits, Margin, Numbers, Objects, Options, Order, SurfacePolicy,
    Whitespace,
};
pub use report::{Entry, Report, Use};
pub use vocab::{Encoded, Vocabulary, VocabularyStats};
