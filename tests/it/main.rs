//! The integration tests: one binary, one module for each subject.

mod cached_masks;
mod poor;
mod tidy;
