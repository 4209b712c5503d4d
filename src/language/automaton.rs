//! The language of a string: an intersection of factors and complements of factors, and a length
//! range.

use super::alphabet::Alphabet;
use super::factor::Factor;
use super::lazy::LazyDfa;
use super::product::{Product, Range};
use super::simplify::Parts;
use super::stepped::Stepped;
use crate::options::Limits;
use regex_syntax::utf8::{Utf8Sequence, Utf8Sequences};
use std::sync::{Arc, LazyLock};

/// Pairs of NFA state and spelling place that liveness over a restricted alphabet may take.
const MAX_LIVE_PAIRS: usize = 1 << 23;

/// Bytes of states for each state that the limit allows: bounds memory, and the time of steps,
/// where state sets are large.
const LAZY_BYTES_PER_STATE: usize = 512;
const EAGER_BYTES_PER_STATE: usize = 4096;

/// A state of a [`Language`]; it means nothing to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LangState(pub(super) u32);

/// A lazy automaton has as many states as `Limits::lazy_states` allows and needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A limit met while compiling a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LanguageLimit {
    /// The field of [`Limits`].
    pub(crate) name: &'static str,
    /// What passes it.
    pub(crate) what: &'static str,
}

impl LanguageLimit {
    pub(super) const STATES: LanguageLimit =
        LanguageLimit { name: "language_states", what: "the product of patterns" };
    pub(super) const LENGTHS: LanguageLimit =
        LanguageLimit { name: "language_states", what: "a length range beside a pattern" };
    const START: LanguageLimit =
        LanguageLimit { name: "lazy_states", what: "the start of a pattern" };
    const LIVENESS: LanguageLimit =
        LanguageLimit { name: "pattern_bytes", what: "a pattern over a partial alphabet" };
}

/// A language of decoded strings. Immutable to the outside, `Send + Sync`.
#[derive(Debug)]
pub(crate) struct Language {
    pub(super) mode: Mode,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would cost every step a load")]
pub(super) enum Mode {
    /// One factor, at the most with a longest length.
    Lazy(LazyDfa),
    /// Anything else. It is made at once, unless it is known that it can be and that it holds a
    /// string.
    Eager(LazyLock<Product, MakeProduct>),
}

/// Makes a product.
pub(super) type MakeProduct = Box<dyn FnOnce() -> Product + Send>;

impl Language {
    /// The strings in every factor of `within`, in none of `without`, whose length in code points
    /// is in `min..=max`.
    ///
    /// # Errors
    /// The limit that is met; with fewer factors or without the range it may not be.
    pub(crate) fn compile(
        within: &[Arc<Factor>],
        without: &[Arc<Factor>],
        min: u64,
        max: Option<u64>,
        alphabet: &Arc<Alphabet>,
        limits: &Limits,
    ) -> Result<Language, LanguageLimit> {
        let range = Range { min, max };
        let parts = Parts { within: distinct(within), without: distinct(without), range };
        let Some(Parts { within, without, range }) = parts.simplify(limits) else {
            return Ok(Language::eager(Product::empty()));
        };
        let is_lazy = |factor: &Factor| factor.looks().is_empty() && range == Range::ANY;
        if let ([factor], true) = (&within[..], without.is_empty())
            && is_lazy(factor)
        {
            return Ok(Language { mode: Mode::Lazy(lazy(factor, alphabet, limits)?) });
        }
        if let ([factor], [], Range { min: 0, max: Some(max) }) = (&within[..], &without[..], range)
            && factor.looks().is_empty()
            && alphabet.is_full()
        {
            let bytes = limits.lazy_states.saturating_mul(LAZY_BYTES_PER_STATE);
            let capped = LazyDfa::capped(Arc::clone(factor), max, limits.lazy_states, bytes);
            if let Some(dfa) = capped.map_err(|Full| LanguageLimit::START)? {
                return Ok(Language { mode: Mode::Lazy(dfa) });
            }
        }
        let (wanted, states) = (within.len(), allowed(within.iter().chain(&without), limits));
        let dfas = stepped(within.into_iter().chain(without), limits)?;
        let product = Product::new(&dfas, wanted, range, alphabet, states)?;
        Ok(Language::eager(product))
    }

    pub(super) fn eager(product: Product) -> Language {
        let made = LazyLock::new(Box::new(|| product) as MakeProduct);
        LazyLock::force(&made);
        Language { mode: Mode::Eager(made) }
    }

    /// The whole automaton, where it is explored.
    pub(super) fn product(&self) -> Option<&Product> {
        match &self.mode {
            Mode::Lazy(_) => None,
            Mode::Eager(product) => Some(product),
        }
    }

    /// The state before the first byte.
    pub(crate) fn start(&self) -> LangState {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.start(),
            Mode::Eager(_) => Product::START,
        }
    }

    /// Whether no string that the alphabet can spell is in the language.
    pub(crate) fn is_empty(&self) -> bool {
        !self.live(self.start(), 0)
    }

    /// Whether every continuation of `state` is in the language, of whatever length. `false`
    /// may mean that it is not known.
    #[inline]
    pub(crate) fn is_universal(&self, state: LangState) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.is_universal(state) && dfa.max().is_none(),
            Mode::Eager(product) => product.is_universal(state),
        }
    }

    /// Whether whatever follows `state` can be completed. `false` may mean that it is not known.
    #[inline]
    pub(crate) fn never_dies(&self, state: LangState) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.never_dies() || self.is_universal(state),
            Mode::Eager(product) => product.never_dies(state),
        }
    }

    /// The state after a byte of the decoded string; `None` where no continuation is accepted,
    /// lengths and spelling aside.
    ///
    /// # Errors
    /// [`Full`] where a lazy automaton would pass its limit.
    #[inline]
    pub(crate) fn step_byte(&self, state: LangState, byte: u8) -> Result<Option<LangState>, Full> {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.step(state, byte),
            Mode::Eager(product) => Ok(product.step(state, byte)),
        }
    }

    /// Bytes of one class are alike in every state.
    pub(crate) fn byte_classes(&self) -> &[u8; 256] {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.classes(),
            Mode::Eager(product) => product.classes(),
        }
    }

    /// [`Language::step_byte`] for all bytes of `c`.
    #[cfg(test)]
    pub(crate) fn step_char(&self, state: LangState, c: char) -> Result<Option<LangState>, Full> {
        let mut state = state;
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            match self.step_byte(state, byte)? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    /// Whether a string that ends in `state`, between characters, is accepted, lengths aside.
    #[cfg(test)]
    pub(crate) fn accepts(&self, state: LangState) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.accepts(state),
            Mode::Eager(product) => product.accepts(state),
        }
    }

    /// Whether a string of `count` characters that ends in `state` is in the language.
    #[inline]
    pub(crate) fn accepts_at(&self, state: LangState, count: u64) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.accepts(state) && dfa.left(count).is_some(),
            Mode::Eager(product) => product.accepts(state) && product.range().contains(count),
        }
    }

    /// Whether `state` can be completed so that the length is in range; `count` characters were
    /// read, a partly read one included. Inside a character, it must be possible to finish it
    /// ([`Alphabet::can_finish`]).
    #[inline]
    pub(crate) fn live(&self, state: LangState, count: u64) -> bool {
        match &self.mode {
            Mode::Lazy(dfa) => dfa.live(state, count),
            Mode::Eager(product) => product.live(state, count),
        }
    }

    /// Whether, `state` standing between characters, some character of the inclusive `ranges`
    /// leads to a state that is live with `count + 1` characters.
    pub(crate) fn live_char(&self, state: LangState, count: u64, ranges: &[(u32, u32)]) -> bool {
        let any = ranges == [(0, 0xD7FF), (0xE000, 0x10_FFFF)];
        match &self.mode {
            Mode::Lazy(_) if self.is_universal(state) => !ranges.is_empty(),
            Mode::Lazy(dfa) if any => dfa.goes_on(state, count),
            Mode::Lazy(dfa) => dfa.live_after(state, count.saturating_add(1), sequences(ranges)),
            Mode::Eager(product) => {
                let known = if any { product.goes_on(state, count) } else { None };
                let count = count.saturating_add(1);
                known.unwrap_or_else(|| product.live_after(state, count, sequences(ranges)))
            }
        }
    }

    /// Whether the decoded string `text` is in the language, its length included.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut state = self.start();
        for byte in text.bytes() {
            match self.step_byte(state, byte) {
                Ok(Some(next)) => state = next,
                Ok(None) => return false,
                Err(Full) => {
                    let count = text.chars().count() as u64;
                    return matches!(&self.mode, Mode::Lazy(dfa)
                        if dfa.left(count).is_some() && dfa.factor().matches(text));
                }
            }
        }
        self.accepts_at(state, text.chars().count() as u64)
    }
}

/// The factors without repeats.
fn distinct(factors: &[Arc<Factor>]) -> Vec<Arc<Factor>> {
    let mut distinct: Vec<Arc<Factor>> = Vec::new();
    for factor in factors {
        if !distinct.iter().any(|known| Arc::ptr_eq(known, factor)) {
            distinct.push(Arc::clone(factor));
        }
    }
    distinct
}

/// How many states the product of `factors` may have.
pub(super) fn allowed<'f>(
    factors: impl Iterator<Item = &'f Arc<Factor>>,
    limits: &Limits,
) -> usize {
    factors.map(|factor| factor.allowance()).fold(limits.language_states, usize::saturating_add)
}

/// The automata of factors that are to be explored together. A step of one may be lost where
/// another dies: that leaves them room.
pub(super) fn stepped(
    factors: impl Iterator<Item = Arc<Factor>>,
    limits: &Limits,
) -> Result<Vec<Stepped>, LanguageLimit> {
    let cap = limits.language_states.saturating_mul(16);
    let bytes = limits.language_states.saturating_mul(EAGER_BYTES_PER_STATE);
    factors
        .map(|factor| Stepped::new(factor, cap, bytes))
        .collect::<Result<_, Full>>()
        .map_err(|Full| LanguageLimit::STATES)
}

/// The lazy automaton of one factor, with its liveness over the alphabet.
fn lazy(
    factor: &Arc<Factor>,
    alphabet: &Alphabet,
    limits: &Limits,
) -> Result<LazyDfa, LanguageLimit> {
    let live = if alphabet.is_full() {
        None
    } else {
        let live = factor.live_over(alphabet.spell(), MAX_LIVE_PAIRS);
        Some(live.ok_or(LanguageLimit::LIVENESS)?)
    };
    let bytes = limits.lazy_states.saturating_mul(LAZY_BYTES_PER_STATE);
    LazyDfa::new(Arc::clone(factor), live, limits.lazy_states, bytes)
        .map_err(|Full| LanguageLimit::START)
}

/// The UTF-8 byte ranges of inclusive code point ranges, surrogates left out.
pub(super) fn sequences(ranges: &[(u32, u32)]) -> impl Iterator<Item = Utf8Sequence> + '_ {
    let parts = ranges
        .iter()
        .flat_map(|&(low, high)| [(low, high.min(0xD7FF)), (low.max(0xE000), high.min(0x10_FFFF))]);
    parts
        .filter(|(low, high)| low <= high)
        .filter_map(|(low, high)| Some((char::from_u32(low)?, char::from_u32(high)?)))
        .flat_map(|(low, high)| Utf8Sequences::new(low, high))
}
