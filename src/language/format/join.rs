//! Several languages as one factor: products, written as NFAs that are deterministic up to where one
//! part ends and the next begins.

use super::super::{Alphabet, Factor, Language, PatternError};
use crate::base::ByteSet;
use crate::options::Limits;
use regex_automata::nfa::thompson::{BuildError, Builder, NFA, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// States of a product, far above what the rows take.
const STATES: usize = 100_000;

/// The texts of some parts in a row, each of them in every factor of its list.
///
/// # Errors
/// A limit, where a product is too large.
pub(super) fn join(parts: &[Vec<Arc<Factor>>]) -> Result<Factor, PatternError> {
    let limit = || PatternError::Limit { name: "language_states" };
    let limits = Limits { language_states: STATES, ..Limits::default() };
    let alphabet = Alphabet::shared(ByteSet::FULL, false);
    let languages = parts
        .iter()
        .map(|part| Language::compile(part, &[], 0, None, &alphabet, &limits).map_err(|_| limit()));
    let nfa = write(&languages.collect::<Result<Vec<_>, _>>()?).ok_or_else(limit)?;
    Ok(Factor::from_nfa(nfa))
}

/// `parts` in a row as an NFA that is anchored at both ends; `None` where its ids run out.
fn write(parts: &[Language]) -> Option<NFA> {
    let mut builder = Builder::new();
    builder.set_utf8(true);
    builder.start_pattern().ok()?;
    let matched = builder.add_match().ok()?;
    let mut next = builder.add_look(matched, Look::End).ok()?;
    for part in parts.iter().rev() {
        next = write_part(&mut builder, part, next).ok()?;
    }
    let start = builder.add_look(next, Look::Start).ok()?;
    builder.finish_pattern(start).ok()?;
    builder.build(start, start).ok()
}

impl From<BuildError> for PatternError {
    fn from(_: BuildError) -> PatternError {
        PatternError::Limit { name: "pattern_bytes" }
    }
}

/// The states of `language`, followed by `after`: where they start.
pub(super) fn write_part(
    builder: &mut Builder,
    language: &Language,
    after: StateID,
) -> Result<StateID, PatternError> {
    // Each state stands for itself as an empty one, which is patched to what it does.
    let start = builder.add_empty()?;
    let mut known = FxHashMap::from_iter([(language.start(), start)]);
    let mut queue = vec![(language.start(), start)];
    while let Some((state, id)) = queue.pop() {
        let mut transitions: Vec<Transition> = Vec::new();
        for byte in 0..=255u8 {
            let Ok(Some(next)) = language.step_byte(state, byte) else { continue };
            let next = match known.get(&next) {
                Some(&id) => id,
                None => {
                    let id = builder.add_empty()?;
                    known.insert(next, id);
                    queue.push((next, id));
                    id
                }
            };
            extend(&mut transitions, byte, next);
        }
        let reads = builder.add_sparse(transitions)?;
        let does = match language.accepts_at(state, 0) {
            true => builder.add_union(vec![reads, after])?,
            false => reads,
        };
        builder.patch(id, does)?;
    }
    Ok(start)
}

/// Adds `byte` → `next`, to the last range where it fits.
pub(super) fn extend(transitions: &mut Vec<Transition>, byte: u8, next: StateID) {
    match transitions.last_mut() {
        Some(last) if last.next == next && last.end.checked_add(1) == Some(byte) => {
            last.end = byte;
        }
        _ => transitions.push(Transition { start: byte, end: byte, next }),
    }
}
