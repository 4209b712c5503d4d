//! String languages over the decoded string, and the JSON string decoder.
//!
//! In: ECMA-262 patterns, formats, length ranges, the bytes that a vocabulary can spell. Out: a
//! [`Language`], a deterministic automaton over the UTF-8 bytes of the decoded string that knows
//! in each state whether it can still finish.
//!
//! Invariants: languages are fed valid UTF-8 only (the decoder sees to that); a state that
//! `step` returns has an accepting continuation, lengths and spelling aside; `live` answers
//! exactly, without search, from what compiling has computed; what compiling need not know (the
//! strings of some combinations of a [`Joint`]) is computed when it is first asked for.
//!
//! Not taken: regex-automata's own DFAs, which report matches one byte late and know nothing of
//! liveness or products (they are the oracle of the tests); a loop `any*` after the pattern,
//! since a set that holds a match accepts whatever follows and collapses to one state.

mod alphabet;
mod alternating;
mod automaton;
mod char_chain;
mod char_class;
mod completion;
mod count;
mod decode;
mod ecma;
mod evaluate;
mod explored;
mod extent;
mod factor;
mod format;
mod graph;
mod joint;
mod lazy;
mod lengths;
mod neighbours;
mod product;
mod shortest;
mod simplify;
mod spell;
mod stepped;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use alphabet::Alphabet;
pub(crate) use automaton::{Full, LangState, Language, LanguageLimit};
pub(crate) use char_chain::CharChain;
pub(crate) use char_class::{Begun, CharClass};
pub(crate) use decode::{TextState, TextStep};
pub(crate) use ecma::PatternError;
pub(crate) use factor::Factor;
pub(crate) use format::Format;
#[cfg(feature = "check")]
pub(crate) use format::formats;
#[cfg(all(test, feature = "check"))]
pub(crate) use format::samples::SAMPLES;
pub(crate) use joint::{Chosen, Joint};
