//! ECMA-262 regular expressions with the `u` flag, read into [`regex_syntax::hir::Hir`].
//!
//! Where the `u` grammar refuses a text that schemas in the wild rely on, the lenient reading of
//! ECMA-262 Annex B holds: `\-` and other escapes of what is no letter stand for themselves,
//! braces and brackets that open nothing are literal, `[\w-.]` has a literal hyphen. What is
//! legal but not regular, or not here yet, is told apart from what is no pattern at all.

mod class;
mod escape;
mod parse;
mod tree;

use std::fmt;

pub(super) use parse::parse;

/// Why a pattern does not become a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// Not an ECMA-262 pattern; `offset` in bytes of the pattern.
    Invalid { offset: usize, reason: &'static str },
    /// A legal pattern that cannot be compiled yet; `what` is the feature.
    Unsupported { what: &'static str },
    /// It passes the limit of this name.
    Limit { name: &'static str },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternError::Invalid { offset, reason } => write!(f, "{reason} at byte {offset}"),
            PatternError::Unsupported { what } => write!(f, "{what} cannot be compiled"),
            PatternError::Limit { name } => write!(f, "it passes the limit `{name}`"),
        }
    }
}
