//! Which of the allowed tokens to take.

use super::lexicon::Lexicon;
use super::position::{LONGEST_STRING, Position};
use super::random::Random;
use crate::vocab::Vocabulary;

/// From so many allowed tokens on, a string takes any text.
const FREE_TEXT: usize = 2000;
/// Below so many allowed tokens after an opened key, the names are declared.
const FEW_NAMES: usize = 400;
/// Below so many allowed tokens inside a string, each first byte has an equal chance.
const FEW: usize = 100;
/// A small vocabulary spells free text with at least this share of its tokens.
const FREE_SHARE: usize = 4;
/// Free text is seldom shorter, in characters.
const SHORTEST_TEXT: usize = 3;
/// Words tried before all allowed tokens are weighed.
const TRIES: usize = 24;

/// The allowed tokens of one step.
pub(crate) struct Choice<'a> {
    vocabulary: &'a Vocabulary,
    lexicon: &'a Lexicon,
    words: &'a [u32],
    allowed: usize,
}

impl<'a> Choice<'a> {
    pub(crate) fn new(vocabulary: &'a Vocabulary, lexicon: &'a Lexicon, words: &'a [u32]) -> Self {
        let allowed = words.iter().map(|word| word.count_ones() as usize).sum();
        Choice { vocabulary, lexicon, words, allowed }
    }

    /// Whether fewer than `count` tokens are allowed, and fewer than free text needs.
    fn is_few(&self, count: usize) -> bool {
        self.allowed < count.min(self.vocabulary.len() / FREE_SHARE)
    }

    /// A token that looks like data at `position`; `None` where only end tokens are allowed.
    pub(crate) fn pick(&self, position: &mut Position, random: &mut Random) -> Option<u32> {
        if position.at_key_start() && self.is_few(FEW_NAMES) {
            position.names_are_declared();
        }
        if self.is_free_text(position) {
            let quick = if position.is_long_enough() {
                self.closing(position, random)
            } else {
                self.word(position, random)
            };
            if quick.is_some() {
                return quick;
            }
        }
        self.weighed(self.ids(), position, random)
    }

    /// Whether the string at hand takes many texts and is long enough, yet must not close: a
    /// pattern waits for something that chance hardly brings.
    pub(crate) fn is_stuck(&self, position: &Position) -> bool {
        self.is_free_text(position)
            && position.is_long_enough()
            && !self.lexicon.quotes.iter().any(|&id| self.allows(id) && self.closes(id))
    }

    fn is_free_text(&self, position: &Position) -> bool {
        position.in_plain_string()
            && self.allowed >= FREE_TEXT.min(self.vocabulary.len() / FREE_SHARE)
    }

    fn closes(&self, id: u32) -> bool {
        self.vocabulary.token_bytes(id).is_some_and(|bytes| bytes.first() == Some(&b'"'))
    }

    fn allows(&self, id: u32) -> bool {
        let word = self.words.get(id as usize / 32).copied().unwrap_or(0);
        word >> (id % 32) & 1 == 1
    }

    fn ids(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(self.words).flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(index * 32 + bit)
            })
        })
    }

    /// A word at random, in most cases after a space.
    fn word(&self, position: &Position, random: &mut Random) -> Option<u32> {
        for _ in 0..TRIES {
            let &id = self.lexicon.words.get(random.below(self.lexicon.words.len()))?;
            let bytes = self.vocabulary.token_bytes(id)?;
            let spaced = bytes.first() == Some(&b' ');
            let first = position.length() == 0 || position.last() == b' ';
            let odd = if first { spaced } else { !spaced && random.below(6) != 0 };
            let long = position.length() as usize + bytes.len() > LONGEST_STRING as usize - 2;
            if !odd && !long && self.allows(id) {
                return Some(id);
            }
        }
        None
    }

    /// A token that closes the string.
    fn closing(&self, position: &Position, random: &mut Random) -> Option<u32> {
        let quotes = self.lexicon.quotes.iter().copied();
        self.weighed(quotes.filter(|&id| self.allows(id) && self.closes(id)), position, random)
    }

    /// One of `ids`, weighed by what each would make of the text.
    fn weighed(
        &self,
        ids: impl Iterator<Item = u32>,
        position: &Position,
        random: &mut Random,
    ) -> Option<u32> {
        let mut tokens: Vec<(u32, u8)> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for id in ids {
            let Some(bytes) = self.vocabulary.token_bytes(id).filter(|bytes| !bytes.is_empty())
            else {
                continue;
            };
            if self.vocabulary.is_end(id) {
                continue;
            }
            tokens.push((id, kind(bytes, position.in_string())));
            weights.push(self.worth(bytes, position));
        }
        let equal_bytes = position.in_string() && self.is_few(FEW);
        if equal_bytes || !position.in_string() {
            balance(&tokens, &mut weights);
        }
        let index = random.weighted(&weights)?;
        tokens.get(index).map(|&(id, _)| id)
    }

    fn worth(&self, bytes: &[u8], position: &Position) -> f64 {
        let mut next = position.clone();
        let text = position.in_string();
        // Where a text is fixed, no letter is odder than another: only escapes and ends count.
        let fixed = text && self.is_few(FEW) && !bytes.contains(&b'"');
        let worth =
            if fixed { if bytes.contains(&b'\\') { 1e-4 } else { 1.0 } } else { next.read(bytes) };
        let quote = bytes.iter().position(|&byte| byte == b'"');
        let early = quote.is_some_and(|at| position.length() as usize + at < SHORTEST_TEXT)
            && self.is_free_text(position);
        let worth = if early || holds_short_text(bytes, text) { worth * 1e-4 } else { worth };
        // Long tokens spell a fixed text in fewer steps, as a model would.
        let length = bytes.len().min(if fixed { 16 } else { 4 }) as f64;
        if fixed { worth * length * length } else { worth * length }
    }
}

/// What a token begins: inside a string its first byte, elsewhere the kind of its first part.
fn kind(bytes: &[u8], in_string: bool) -> u8 {
    let blank = |byte: &&u8| !in_string && matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    match bytes.iter().find(|byte| !blank(byte)) {
        None => b' ',
        Some(b'0'..=b'9' | b'-') if !in_string => b'0',
        Some(b't' | b'f') if !in_string => b't',
        Some(&byte) => byte,
    }
}

/// Gives each kind its share once, however many tokens it has: thousands of digit tokens must not
/// drown one quote.
fn balance(tokens: &[(u32, u8)], weights: &mut [f64]) {
    let mut sums = [0.0f64; 256];
    let mut tops = [0.0f64; 256];
    for (&(_, kind), &weight) in tokens.iter().zip(weights.iter()) {
        sums[usize::from(kind)] += weight;
        tops[usize::from(kind)] = tops[usize::from(kind)].max(weight);
    }
    for (&(_, kind), weight) in tokens.iter().zip(weights.iter_mut()) {
        let sum = sums[usize::from(kind)];
        if sum > 0.0 {
            *weight *= tops[usize::from(kind)] / sum;
        }
    }
}

/// Whether a token opens a text and closes it after less than [`SHORTEST_TEXT`] bytes. `in_string`:
/// its first quote closes the text before.
fn holds_short_text(bytes: &[u8], in_string: bool) -> bool {
    let quotes = (0..bytes.len()).filter(|&at| bytes[at] == b'"').skip(usize::from(in_string));
    let quotes: Vec<usize> = quotes.collect();
    quotes.chunks_exact(2).any(|pair| pair[1] - pair[0] <= SHORTEST_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_seen_inside_tokens() {
        for (token, in_string, expected) in [
            (r#" "","#, false, true),
            (r#"":""#, false, true),
            (r#"":""#, true, false),
            (r#"","","#, true, true),
            (r#""abc""#, false, false),
            (r#"""#, false, false),
        ] {
            assert_eq!(holds_short_text(token.as_bytes(), in_string), expected, "{token}");
        }
    }

    #[test]
    fn kinds_look_past_blanks_outside_strings() {
        assert_eq!(kind(b" \"", false), b'"');
        assert_eq!(kind(b" \"", true), b' ');
        assert_eq!(kind(b"12", false), kind(b"-", false));
        assert_eq!(kind(b"  ", false), b' ');
    }

    #[test]
    fn balance_gives_each_kind_one_share() {
        let tokens = [(0, b'0'), (1, b'0'), (2, b'"')];
        let mut weights = [1.0, 1.0, 1.0];
        balance(&tokens, &mut weights);
        assert_eq!(weights, [0.5, 0.5, 1.0]);
    }
}
