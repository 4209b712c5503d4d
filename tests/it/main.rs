//! The integration tests: one binary, one module for each subject.

#[path = "../oracle/mod.rs"]
mod oracle;

#[cfg(feature = "cli")]
#[path = "../data/mod.rs"]
mod data;
#[cfg(feature = "cli")]
#[path = "../data/suite.rs"]
mod suite_data;

#[cfg(feature = "cli")]
mod account;
#[cfg(feature = "check")]
#[cfg(feature = "cli")]
mod arrays;
#[cfg(feature = "parallel")]
#[cfg(feature = "cli")]
mod batch;
#[cfg(feature = "cli")]
mod cache_modes;
mod cached_masks;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cuts;
#[cfg(feature = "cli")]
mod differential;
#[cfg(feature = "cli")]
mod formats;
#[cfg(feature = "cli")]
mod generate;
mod generator;
#[cfg(feature = "cli")]
mod grammars;
#[cfg(feature = "cli")]
mod keys;
#[cfg(feature = "cli")]
mod leaves;
#[cfg(feature = "cli")]
mod masks;
#[cfg(feature = "cli")]
mod matcher;
#[cfg(feature = "cli")]
mod mutations;
mod numbers;
#[cfg(feature = "cli")]
mod objects;
mod oracle_random;
mod oracle_selftest;
#[cfg(feature = "cli")]
mod pattern_masks;
#[cfg(feature = "cli")]
mod patterns;
mod poor;
#[cfg(feature = "cli")]
mod readme;
#[cfg(feature = "cli")]
mod shared;
#[cfg(feature = "cli")]
mod support;
mod tidy;
#[cfg(feature = "cli")]
mod unique;
#[cfg(feature = "cli")]
mod widening;
#[cfg(feature = "cli")]
mod zod;
