//! tokenmask
#![allow(dead_code, unused)]
mod base;
mod error;
mod language;
mod options;
mod schema;
pub use base::{ByteSet, Route};
pub use error::{Error, ErrorKind, Result};
pub use options::*;
