//! tokenmask
#![allow(dead_code, unused)]
mod base;
mod error;
mod options;
mod vocab;
pub use base::{ByteSet, Route};
pub use error::{Error, ErrorKind, Result};
pub use options::*;
pub use vocab::{Encoded, Vocabulary, VocabularyStats};
