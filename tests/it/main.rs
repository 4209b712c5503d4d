//! The integration tests: one binary, one module for each subject.

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod readme;
mod tidy;
