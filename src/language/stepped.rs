//! The automaton of one factor as a product explores it, with assertions or without.

use super::alternating::Alternating;
use super::automaton::{Full, LangState};
use super::factor::Factor;
use super::lazy::LazyDfa;
use super::table::Table;
use std::sync::Arc;

/// How much is kept of the automaton of a factor that keeps it. No format has that many states: an
/// automaton that is shared must not meet a limit because of what others have asked it.
const FOLLOWED_STATES: usize = 1 << 20;
const FOLLOWED_BYTES: usize = 64 << 20;

/// The automaton of one factor.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there are a few of them, and not for long")]
pub(super) enum Stepped {
    Plain(LazyDfa),
    Followed(Arc<LazyDfa>),
    Table(Arc<Table>),
    Looks(Alternating),
}

impl Stepped {
    /// The automaton of `factor`.
    ///
    /// # Errors
    /// [`Full`] where not even the start state fits.
    pub(super) fn new(
        factor: Arc<Factor>,
        max_states: usize,
        max_bytes: usize,
    ) -> Result<Self, Full> {
        if let Some(table) = factor.table() {
            return Ok(Stepped::Table(Arc::clone(table)));
        }
        let make = || LazyDfa::new(Arc::clone(&factor), None, FOLLOWED_STATES, FOLLOWED_BYTES).ok();
        if factor.looks().is_empty()
            && let Some(dfa) = factor.followed(make)
        {
            return Ok(Stepped::Followed(Arc::clone(dfa)));
        }
        Ok(if factor.looks().is_empty() {
            Stepped::Plain(LazyDfa::new(factor, None, max_states, max_bytes)?)
        } else {
            Stepped::Looks(Alternating::new(factor, max_states)?)
        })
    }

    pub(super) fn start(&self) -> LangState {
        match self {
            Stepped::Plain(dfa) => dfa.start(),
            Stepped::Followed(dfa) => dfa.start(),
            Stepped::Table(table) => table.start(),
            Stepped::Looks(automaton) => automaton.start(),
        }
    }

    pub(super) fn classes(&self) -> &[u8; 256] {
        match self {
            Stepped::Plain(dfa) => dfa.classes(),
            Stepped::Followed(dfa) => dfa.classes(),
            Stepped::Table(table) => table.classes(),
            Stepped::Looks(automaton) => automaton.classes(),
        }
    }

    /// The state after `byte`; `None` where no text is accepted any more.
    pub(super) fn step(&self, state: LangState, byte: u8) -> Result<Option<LangState>, Full> {
        match self {
            Stepped::Plain(dfa) => dfa.step(state, byte),
            Stepped::Followed(dfa) => dfa.step(state, byte),
            Stepped::Table(table) => Ok(table.step(state, byte)),
            Stepped::Looks(automaton) => automaton.step(state, byte),
        }
    }

    pub(super) fn accepts(&self, state: LangState) -> bool {
        match self {
            Stepped::Plain(dfa) => dfa.accepts(state),
            Stepped::Followed(dfa) => dfa.accepts(state),
            Stepped::Table(table) => table.accepts(state),
            Stepped::Looks(automaton) => automaton.accepts(state),
        }
    }

    /// Whether every continuation of `state` is accepted. `false` may mean that it is not known.
    pub(super) fn is_universal(&self, state: LangState) -> bool {
        match self {
            Stepped::Plain(dfa) => dfa.is_universal(state),
            Stepped::Followed(dfa) => dfa.is_universal(state),
            Stepped::Table(_) => false,
            Stepped::Looks(automaton) => automaton.is_universal(state),
        }
    }
}
