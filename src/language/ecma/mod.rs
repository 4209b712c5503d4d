//! ECMA-262 regular expressions with the `u` flag, read into [`regex_syntax::hir::Hir`].
//!
//! In: a pattern's text. Out: [`Pattern`], the HIR of what is searched for, in which an empty
//! capture group stands where an assertion does ([`Look::slot`]), and the bodies of the
//! assertions, inner ones first. `\b`, `\B` and the multiline `^`, `$` are assertions like others.
//!
//! Where the `u` grammar refuses a text, the lenient reading of ECMA-262 Annex B holds, still by
//! code points and with `\p{…}` and `\u{…}`: `\-` and other escapes stand for themselves, braces
//! and brackets that open nothing are literal, `[\w-.]` has a literal hyphen, a look-ahead may be
//! repeated. Inline flags at the beginning (`(?i)`) are no ECMAScript at all, but common enough.
//! Whatever was read so is told ([`Pattern::lenient`]).
//!
//! `parse` reads the text, with `escape`, `set` (brackets), `group` and `name`; `class` has the
//! characters, `tree` is what is built, `reference` replaces the back-references in it.

mod class;
mod escape;
mod group;
mod name;
mod parse;
mod reference;
mod set;
#[cfg(test)]
mod tests;
mod tree;

use regex_automata::nfa::thompson::State;
use regex_syntax::hir::Hir;
use std::fmt;

pub(super) use parse::parse;

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Pattern {
    /// What is searched for.
    pub(super) hir: Hir,
    /// The bodies of its assertions; one may hold those before it.
    pub(super) looks: Vec<Look>,
    /// Whether the language is the pattern's own; otherwise it is a superset.
    pub(super) is_exact: bool,
    /// What the `u` flag forbids, and how it was read.
    pub(super) lenient: Option<Box<str>>,
}

/// What assertions look for: `(?=body)` and `(?!body)`, or the same backwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) body: Hir,
    pub(super) behind: bool,
}

impl Look {
    /// The capture group that stands for an assertion of look `index`.
    pub(super) fn slot(index: usize, negative: bool) -> u32 {
        (2 * index + usize::from(negative) + 1) as u32
    }

    /// The look that a state asks, and whether its assertion is negative: only the beginning of a
    /// group stands for one.
    pub(super) fn of_state(state: &State) -> Option<(usize, bool)> {
        let State::Capture { group_index, slot, .. } = state else { return None };
        let slot = (slot.as_usize() % 2 == 0).then(|| group_index.as_usize().checked_sub(1))??;
        Some((slot / 2, slot % 2 == 1))
    }
}

/// Why a pattern does not become a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// Not an ECMA-262 pattern; `offset` in bytes of the pattern.
    Invalid { offset: usize, reason: &'static str },
    /// It passes the limit of this name.
    Limit { name: &'static str },
}

impl PatternError {
    /// Too long, too large or nested too deep.
    const SIZE: PatternError = PatternError::Limit { name: "pattern_bytes" };
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternError::Invalid { offset, reason } => write!(f, "{reason} at byte {offset}"),
            PatternError::Limit { name } => write!(f, "it passes the limit `{name}`"),
        }
    }
}
