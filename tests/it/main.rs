//! The integration tests: one binary, one module for each subject.

mod cached_masks;
#[cfg(feature = "cli")]
mod cli;
mod poor;
#[cfg(feature = "cli")]
mod readme;
mod tidy;
