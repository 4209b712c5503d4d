//! Token masks: which tokens of a vocabulary may come next.
//!
//! In: an [`Automaton`] and a [`Vocabulary`](crate::Vocabulary). Out: for a configuration, an
//! [`Entry`] (a shared base mask and the tokens added to it), and from that the words of a
//! [`Mask`].
//!
//! Invariants:
//! * A token is in the mask exactly if stepping its bytes from the configuration succeeds (and,
//!   over a poor vocabulary, the rest can be spelled). The shortcuts below give the same bits.
//! * Entries are immutable and shared by all matchers of an engine; dropping them never changes a
//!   mask. What depends on one document alone is not in them ([`Entry::resume`]).
//!
//! The shortcuts: whitespace is taken from the vocabulary's closure; inside free text the base mask
//! is the vocabulary's, and what follows the closing quote is walked once for all tokens; a free key
//! is free text, corrected where it spells a name; a pattern and digits take the tokens of a class of
//! characters from the vocabulary, and are walked where a token leaves the class. Of several candidates
//! for one string each is asked for itself. Inside a key the mask is that of an object which forgot
//! which keys have come; the tokens that would close one of those are taken away for each document.

mod bits;
mod cache;
mod chained;
mod entry;
mod kept;
mod keys;
mod numbers;
mod walk;

pub use bits::{Filled, Mask, MaskRef};
pub(crate) use cache::{Masks, memory_cap};
