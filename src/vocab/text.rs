//! What a vocabulary knows of free text, made once for all its grammars.
//!
//! Inside a string that anything may follow, nearly every token is allowed, and which ones are does
//! not depend on the grammar. The rest contain the closing quote: what they may go on with is a
//! question to the grammar, asked once for all of them, since they differ only in what stands
//! before the quote.

use super::Vocabulary;
use super::trie::{Ancestors, Trie};
use crate::language::{Alphabet, TextState, TextStep};
use std::sync::OnceLock;

/// A node at which the closing quote of a string has just been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) node: u32,
    /// Characters before the quote.
    pub(crate) chars: u32,
}

/// The tables of one vocabulary for one escape policy.
#[derive(Debug)]
pub(crate) struct TextTables {
    width: usize,
    /// The tokens that stay inside a string, by characters: `within[..up_to[n]]` begin at most `n`.
    within: Vec<u32>,
    up_to: Vec<usize>,
    /// `words[n]`: their mask.
    words: Vec<OnceLock<Box<[u32]>>>,
    /// By characters.
    exits: Vec<Exit>,
    /// What follows the quote, over all exits; a token stands at its suffix.
    suffixes: Trie,
}

impl TextTables {
    /// The tables; `alphabet` decides what a token that ends inside a character may go on with.
    pub(crate) fn new(vocabulary: &Vocabulary, alphabet: &Alphabet) -> TextTables {
        let trie = vocabulary.trie();
        let mut found = Found::default();
        // Decoder state and characters begun.
        let mut open: Ancestors<(TextState, u32)> = Ancestors::new();
        let mut node = Trie::ROOT + 1;
        while node < trie.skip(Trie::ROOT) {
            let (state, chars) = open.above(node).copied().unwrap_or((TextState::START, 0));
            let next = match state.step(trie.byte(node), alphabet.minimal()) {
                TextStep::Refuse => None,
                TextStep::Close => {
                    found.exits.push(Exit { node, chars });
                    None
                }
                TextStep::Pending { first, state } | TextStep::Raw { first, state } => {
                    Some((state, chars + u32::from(first)))
                }
                TextStep::Char(_, state) => Some((state, chars)),
            };
            let Some((state, chars)) = next else {
                node = trie.skip(node);
                continue;
            };
            let tokens = trie.tokens_at(node);
            if !tokens.is_empty() && alphabet.can_finish(state) {
                found.within.extend(tokens.iter().map(|&id| (chars, id)));
            }
            open.note(trie.skip(node), (state, chars));
            node += 1;
        }
        found.tables(vocabulary)
    }

    /// The most characters that a token can begin before the string ends.
    pub(crate) fn max_chars(&self) -> u64 {
        let within = self.up_to.len() as u64 - 1;
        within.max(self.exits.last().map_or(0, |exit| u64::from(exit.chars)))
    }

    /// The mask of the tokens that stay inside a string and begin at most `chars` characters, and
    /// how many they are.
    pub(crate) fn within(&self, chars: u64) -> (&[u32], usize) {
        let index = usize::try_from(chars).unwrap_or(usize::MAX).min(self.up_to.len() - 1);
        let words = self.words[index].get_or_init(|| {
            let mut words = vec![0; self.width.div_ceil(32)];
            for &id in &self.within[..self.up_to[index]] {
                words[id as usize / 32] |= 1 << (id % 32);
            }
            words.into()
        });
        (words, self.up_to[index])
    }

    /// The nodes at which a string ends, those with the fewest characters first.
    pub(crate) fn exits(&self) -> &[Exit] {
        &self.exits
    }

    /// The suffixes behind the closing quotes, as one trie.
    pub(crate) fn suffixes(&self) -> &Trie {
        &self.suffixes
    }
}

/// What the walk collects.
#[derive(Default)]
struct Found {
    /// (characters, token)
    within: Vec<(u32, u32)>,
    exits: Vec<Exit>,
}

impl Found {
    fn tables(mut self, vocabulary: &Vocabulary) -> TextTables {
        self.within.sort_unstable();
        self.exits.sort_unstable_by_key(|exit| (exit.chars, exit.node));
        let most = self.within.last().map_or(0, |&(chars, _)| chars);
        let trie = vocabulary.trie();
        let mut suffixes: Vec<(&[u8], u32)> = Vec::new();
        for exit in &self.exits {
            let before = trie.path(exit.node).len();
            let ids = trie.tokens_below(exit.node).iter();
            suffixes
                .extend(ids.filter_map(|&id| Some((&vocabulary.text_bytes(id)?[before..], id))));
        }
        TextTables {
            width: vocabulary.width(),
            up_to: (0..=most)
                .map(|n| self.within.partition_point(|&(chars, _)| chars <= n))
                .collect(),
            words: (0..=most).map(|_| OnceLock::new()).collect(),
            within: self.within.into_iter().map(|(_, id)| id).collect(),
            exits: self.exits,
            suffixes: Trie::build(suffixes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_split_into_those_that_stay_and_those_that_leave() {
        let tokens: [&[u8]; 9] =
            [b"a", b"ab", b"a\"", b"\"", b"\",", b"x\"}", b"\n", b"\\", "é".as_bytes()];
        let tokens = tokens.iter().map(|t| t.to_vec()).chain([Vec::new()]).collect();
        let vocabulary = Vocabulary::from_parts(tokens, &[9], &[]).unwrap();
        let tables = TextTables::new(&vocabulary, &Alphabet::full(false));
        let ids = |n| {
            let (words, count) = tables.within(n);
            let ids: Vec<u32> = (0..32).filter(|i| words[0] >> i & 1 == 1).collect();
            assert_eq!(ids.len(), count);
            ids
        };
        assert_eq!(ids(0), [0u32; 0]);
        assert_eq!(ids(1), [0, 7, 8]);
        assert_eq!(ids(9), [0, 1, 7, 8]);
        assert_eq!(tables.max_chars(), 2);
        let chars: Vec<u32> = tables.exits().iter().map(|e| e.chars).collect();
        assert_eq!(chars, [0, 1, 1]);
        let suffixes = tables.suffixes();
        assert_eq!(suffixes.tokens_at(Trie::ROOT), [2, 3]);
        assert_eq!(suffixes.tokens_below(suffixes.child(Trie::ROOT, b',').unwrap()), [4]);
    }
}
