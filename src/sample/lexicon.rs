//! What the sampler knows of a vocabulary: its words, and the tokens that hold a quote.

use crate::vocab::Vocabulary;

/// Token lists of one vocabulary, made once for each.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    fingerprint: (usize, usize, u64),
    /// Tokens of two to nine letters, perhaps after a space, with a capital at most in front.
    pub(crate) words: Vec<u32>,
    /// Tokens that hold a quote: those that may close a string.
    pub(crate) quotes: Vec<u32>,
}

impl Lexicon {
    /// The lists of `vocabulary`.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut lexicon = Lexicon { fingerprint: fingerprint(vocabulary), ..Lexicon::default() };
        for id in ids(vocabulary) {
            let Some(bytes) = vocabulary.token_bytes(id) else { continue };
            if vocabulary.is_special(id) {
                continue;
            }
            if bytes.contains(&b'"') {
                lexicon.quotes.push(id);
            } else if is_word(bytes) {
                lexicon.words.push(id);
            }
        }
        lexicon
    }

    /// Whether the lists are those of `vocabulary`. A chance match would only cost taste: masks
    /// are asked before a token is taken.
    pub(crate) fn fits(&self, vocabulary: &Vocabulary) -> bool {
        self.fingerprint == fingerprint(vocabulary)
    }
}

fn ids(vocabulary: &Vocabulary) -> std::ops::Range<u32> {
    0..u32::try_from(vocabulary.width()).unwrap_or(u32::MAX)
}

fn fingerprint(vocabulary: &Vocabulary) -> (usize, usize, u64) {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let stride = vocabulary.width() / 64 + 1;
    for id in ids(vocabulary).step_by(stride) {
        for &byte in vocabulary.token_bytes(id).unwrap_or(b"\xff") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    (vocabulary.len(), vocabulary.width(), hash)
}

fn is_word(bytes: &[u8]) -> bool {
    let letters = bytes.strip_prefix(b" ").unwrap_or(bytes);
    let Some((first, rest)) = letters.split_first() else { return false };
    (2..=9).contains(&letters.len())
        && first.is_ascii_alphabetic()
        && rest.iter().all(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_perhaps_after_a_space() {
        for word in ["order", " order", " Paris", "is"] {
            assert!(is_word(word.as_bytes()), "{word:?}");
        }
        for other in ["", " ", "a", "getName", "a1", "né", "  two", "abcdefghij", "a b"] {
            assert!(!is_word(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn single_bytes_have_no_words() {
        let vocabulary = Vocabulary::bytes();
        let lexicon = Lexicon::new(&vocabulary);
        assert!(lexicon.words.is_empty());
        assert_eq!(lexicon.quotes.len(), 1);
        assert!(lexicon.fits(&vocabulary));
    }
}
