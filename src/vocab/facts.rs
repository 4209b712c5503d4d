//! What masks ask of a vocabulary as a whole, and what the command line shows of it.

use crate::base::{ByteSet, is_blank};

use super::trie::Trie;

/// Bounds over all tokens that may be text. Distances to a bound of the document need not be told
/// apart beyond them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The most bytes in one token.
    pub(crate) max_token_len: u32,
    /// The most bytes `}` and `]` in one token.
    pub(crate) max_closers: u32,
    /// The most bytes `,` in one token.
    pub(crate) max_commas: u32,
    /// The most bytes in a token of JSON whitespace alone.
    pub(crate) max_blank: u32,
    /// The bytes that are a token of their own.
    pub(crate) spellable: ByteSet,
}

impl Facts {
    /// The facts of the given tokens' bytes.
    pub(crate) fn of<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Facts {
        let mut facts = Facts::default();
        for bytes in tokens {
            let (mut closers, mut commas, mut blanks) = (0, 0, 0);
            for &byte in bytes {
                closers += u32::from(matches!(byte, b'}' | b']'));
                commas += u32::from(byte == b',');
                blanks += u32::from(is_blank(byte));
            }
            facts.max_token_len = facts.max_token_len.max(bytes.len() as u32);
            facts.max_closers = facts.max_closers.max(closers);
            facts.max_commas = facts.max_commas.max(commas);
            if blanks as usize == bytes.len() {
                facts.max_blank = facts.max_blank.max(blanks);
            }
            if let &[byte] = bytes {
                facts.spellable.insert(byte);
            }
        }
        facts
    }
}

/// Figures about a vocabulary, for people: [`Vocabulary::stats`](crate::Vocabulary::stats).
///
/// Unless a field says otherwise, it counts the tokens that may be text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VocabularyStats {
    /// Ids of the tokenizer, with holes, special and end tokens.
    pub size: usize,
    /// Ids that a mask covers: the width of the logits.
    pub width: usize,
    /// Tokens that may be text.
    pub text: usize,
    /// Ids that are never text: special tokens, end tokens among them, and control tokens.
    pub special: usize,
    /// End tokens.
    pub end: usize,
    /// Ids of the tokenizer that have no bytes and are not special.
    pub holes: usize,
    /// Tokens that are not valid UTF-8 on their own: they hold parts of characters.
    pub partial_character_tokens: usize,
    /// Tokens that have the same bytes as one with a smaller id.
    pub duplicate_byte_strings: usize,
    /// Bytes of the longest token.
    pub longest: usize,
    /// Bytes of all tokens together.
    pub total_bytes: usize,
    /// Nodes of the trie but its root: distinct beginnings of tokens.
    pub trie_nodes: usize,
    /// Bytes that are a token of their own; 256 where every text can be spelled.
    pub spellable_bytes: usize,
}

/// Counts the tokens that repeat the bytes of another.
pub(crate) fn duplicates(trie: &Trie) -> usize {
    (0..trie.len() as u32).map(|node| trie.tokens_at(node).len().saturating_sub(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_bounds_over_all_tokens() {
        let facts = Facts::of([&b"}]},"[..], b",,", b" \n\t", b" a", b"x", b"\xff"]);
        assert_eq!((facts.max_token_len, facts.max_closers), (4, 3));
        assert_eq!((facts.max_commas, facts.max_blank), (2, 3));
        assert_eq!(facts.spellable.iter().collect::<Vec<_>>(), b"x\xff");
        assert_eq!(Facts::of([]), Facts::default());
    }

    #[test]
    fn duplicates_count_all_but_the_first() {
        let trie = Trie::build([(&b"a"[..], 1), (b"a", 2), (b"a", 3), (b"ab", 4)]);
        assert_eq!(duplicates(&trie), 2);
    }
}
