//! Several languages read at once: for each string, which of them hold it.
//!
//! What a key of an object may be, and what its value must be, depends on which patterns match it.
//! The joint automaton knows all combinations that occur; restricted to those that are allowed it
//! is a [`Language`] like any other, whose states still tell the combination.

use super::alphabet::Alphabet;
use super::automaton::{LangState, Language, LanguageLimit, Mode, stepped};
use super::factor::Factor;
use super::product::{Explored, Product, Range, accepts_in};
use crate::base::ByteSet;
use crate::options::Limits;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Several languages, read at once.
#[derive(Debug)]
pub(crate) struct Joint {
    explored: Explored,
    /// By state: the combination of a string that ends there.
    combination_of: Vec<u32>,
    /// The combinations: which languages hold the string.
    combinations: Vec<FixedBitSet>,
}

impl Joint {
    /// Reads all of `factors` at once.
    ///
    /// # Errors
    /// `language_states`, where too many states are needed.
    pub(crate) fn compile(
        factors: &[Arc<Factor>],
        limits: &Limits,
    ) -> Result<Joint, LanguageLimit> {
        let dfas = stepped(factors.iter().cloned(), limits)?;
        let explored = Explored::run(&dfas, limits.language_states, |_, _| true)?;
        let mut known: FxHashMap<FixedBitSet, u32> = FxHashMap::default();
        let mut combinations = Vec::new();
        let mut combination_of = Vec::with_capacity(explored.states.len());
        for tuple in &explored.states {
            let mut holds = FixedBitSet::with_capacity(dfas.len());
            for (index, (dfa, &state)) in dfas.iter().zip(tuple).enumerate() {
                holds.set(index, accepts_in(dfa, state));
            }
            combination_of.push(*known.entry(holds.clone()).or_insert_with(|| {
                combinations.push(holds);
                combinations.len() as u32 - 1
            }));
        }
        Ok(Joint { explored, combination_of, combinations })
    }

    /// Which languages hold a string, for each combination that occurs.
    pub(crate) fn combinations(&self) -> &[FixedBitSet] {
        &self.combinations
    }

    /// The combination of a string that ends in `state`.
    pub(crate) fn combination(&self, state: LangState) -> usize {
        self.combination_of.get(state.0 as usize).map_or(0, |&index| index as usize)
    }

    /// The strings of the combinations that are `allowed`; `None` where there are none.
    pub(crate) fn restrict(&self, allowed: impl Fn(usize) -> bool) -> Option<Language> {
        let mut accepts = FixedBitSet::with_capacity(self.combination_of.len());
        for (state, &index) in self.combination_of.iter().enumerate() {
            accepts.set(state, allowed(index as usize));
        }
        let alphabet = Alphabet::shared(ByteSet::FULL, false);
        // Without lengths and over all bytes nothing can be too large.
        let product = Product::trimmed(&self.explored, accepts, Range::ANY, &alphabet).ok()?;
        let language = Language { mode: Mode::Eager(product) };
        (!language.is_empty()).then_some(language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_and_their_strings() {
        let limits = Limits::default();
        let factors = ["^x", "y$"].map(|text| Factor::pattern(text, &limits).unwrap());
        let joint = Joint::compile(&factors, &limits).unwrap();
        let holds = |text: &str| {
            let all = joint.restrict(|_| true).unwrap();
            let step = |state, byte| all.step_byte(state, byte).unwrap().unwrap();
            let end = text.bytes().fold(all.start(), step);
            joint.combinations()[joint.combination(end)].ones().collect::<Vec<_>>()
        };
        assert_eq!(holds(""), [0usize; 0]);
        assert_eq!(holds("xa"), [0]);
        assert_eq!(holds("ay"), [1]);
        assert_eq!(holds("xéy"), [0, 1]);
        let neither = joint.restrict(|i| joint.combinations()[i].is_clear()).unwrap();
        for (text, expected) in [("", true), ("a", true), ("x", false), ("ay", false), ("é", true)]
        {
            assert_eq!(neither.matches(text), expected, "{text}");
        }
        assert!(joint.restrict(|_| false).is_none());
        let all = joint.restrict(|_| true).unwrap();
        assert!(all.never_dies(all.start()));
    }
}
