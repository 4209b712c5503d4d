//! What a vocabulary knows of free text, made once for all its grammars.
//!
//! Inside a string that anything may follow, nearly every token is allowed, and which ones are does
//! not depend on the grammar. The rest contain the closing quote: what they may go on with is a
//! question to the grammar, asked once for all of them, since they differ only in what stands
//! before the quote.

use super::Vocabulary;
use super::class::{ClassText, Classes, Marks};
use super::trie::{Ancestors, Trie};
use crate::language::{Alphabet, CharClass, TextState, TextStep};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A node at which the closing quote of a string has just been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) node: u32,
    /// Characters before the quote.
    pub(crate) chars: u32,
}

/// Tokens by how many characters they begin.
#[derive(Debug)]
pub(crate) struct ByChars {
    width: usize,
    /// Those with the fewest first.
    ids: Vec<u32>,
    /// `ids[..up_to[n]]` begin at most `n` characters.
    up_to: Vec<usize>,
    /// `words[n]`: their mask, once it was asked for.
    words: Vec<OnceLock<Arc<[u32]>>>,
    /// How many more masks are kept; others are made anew.
    more: AtomicUsize,
}

impl ByChars {
    /// Of `tokens`, each behind the characters that it begins; `width` is that of a mask, of which at
    /// most `masks` are kept.
    pub(super) fn new(tokens: &[(u32, u32)], width: usize, masks: usize) -> ByChars {
        let most = tokens.iter().map(|&(chars, _)| chars as usize).max().unwrap_or(0);
        let mut up_to = vec![0; most + 1];
        tokens.iter().for_each(|&(chars, _)| up_to[chars as usize] += 1);
        let mut sum = 0;
        // Where the next token of so many characters goes.
        let mut next: Vec<usize> = Vec::with_capacity(most + 1);
        for count in &mut up_to {
            next.push(sum);
            sum += *count;
            *count = sum;
        }
        let mut ids = vec![0; tokens.len()];
        for &(chars, id) in tokens {
            let place = &mut next[chars as usize];
            ids[*place] = id;
            *place += 1;
        }
        let words = up_to.iter().map(|_| OnceLock::new()).collect();
        ByChars { width, ids, up_to, words, more: AtomicUsize::new(masks) }
    }

    /// The tokens that begin at most `chars` characters.
    pub(crate) fn up_to(&self, chars: u64) -> &[u32] {
        &self.ids[..self.up_to[self.clip(chars)]]
    }

    /// The mask of these tokens, and how many they are.
    pub(crate) fn mask(&self, chars: u64) -> (Arc<[u32]>, usize) {
        let ids = self.up_to(chars);
        let slot = &self.words[self.clip(chars)];
        if let Some(words) = slot.get() {
            return (words.clone(), ids.len());
        }
        let mut words = vec![0; self.width.div_ceil(32)];
        ids.iter().for_each(|&id| words[id as usize / 32] |= 1 << (id % 32));
        let words: Arc<[u32]> = words.into();
        let take = |more: usize| more.checked_sub(1);
        if self.more.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            slot.get_or_init(|| words.clone());
        }
        (words, ids.len())
    }

    /// The most characters that one of the tokens begins.
    pub(crate) fn most(&self) -> u64 {
        self.up_to.len() as u64 - 1
    }

    /// Bytes, with as many masks as may still be kept.
    pub(super) fn size(&self) -> usize {
        let masks = self.more.load(Ordering::Relaxed).min(self.up_to.len());
        4 * self.ids.len() + self.up_to.len() * 64 + masks * (self.width / 8)
    }

    fn clip(&self, chars: u64) -> usize {
        usize::try_from(chars).unwrap_or(usize::MAX).min(self.up_to.len() - 1)
    }
}

/// The tokens below a trie node at which a string has just begun, as far as they are free text.
#[derive(Debug)]
pub(crate) struct FreeText {
    /// The tokens that stay inside the string.
    within: ByChars,
    /// The nodes at which the string ends, by characters.
    exits: Vec<Exit>,
}

impl FreeText {
    /// Walks the trie below `start`; `alphabet` decides what a token that ends inside a character
    /// may go on with.
    pub(super) fn below(
        trie: &Trie,
        start: u32,
        alphabet: &Alphabet,
        width: usize,
        mut marks: Option<&mut Marks>,
    ) -> FreeText {
        let (mut within, mut exits) = (Vec::new(), Vec::new());
        // Decoder state and characters begun.
        let mut open: Ancestors<(TextState, u32)> = Ancestors::new();
        let mut node = start + 1;
        while node < trie.skip(start) {
            let (state, chars) = open.above(node).copied().unwrap_or((TextState::START, 0));
            let next = match state.step(trie.byte(node), alphabet.minimal()) {
                TextStep::Refuse => None,
                TextStep::Close => {
                    exits.push(Exit { node, chars });
                    None
                }
                TextStep::Pending { first, state } => Some((state, chars + u32::from(first))),
                TextStep::Raw { first, state } => {
                    let chars = chars + u32::from(first);
                    if let Some(marks) = &mut marks {
                        marks.note(trie, node, chars, first, state.is_boundary());
                    }
                    Some((state, chars))
                }
                TextStep::Char(_, state) => Some((state, chars)),
            };
            let Some((state, chars)) = next else {
                node = trie.skip(node);
                continue;
            };
            let tokens = trie.tokens_at(node);
            if !tokens.is_empty() && alphabet.can_finish(state) {
                within.extend(tokens.iter().map(|&id| (chars, id)));
            }
            if trie.skip(node) > node + 1 {
                open.note(trie.skip(node), (state, chars));
            }
            node += 1;
        }
        exits.sort_unstable_by_key(|exit| (exit.chars, exit.node));
        FreeText { within: ByChars::new(&within, width, usize::MAX), exits }
    }

    /// The tokens that stay inside the string.
    pub(crate) fn within(&self) -> &ByChars {
        &self.within
    }

    /// The nodes at which the string ends, those with the fewest characters first.
    pub(crate) fn exits(&self) -> &[Exit] {
        &self.exits
    }

    /// The most characters that a token can begin before the string ends.
    pub(crate) fn max_chars(&self) -> u64 {
        let last = self.exits.last().map_or(0, |exit| u64::from(exit.chars));
        self.within.most().max(last)
    }
}

/// A trie, and what it knows of free text behind its quotes.
#[derive(Debug)]
pub(crate) struct Quoted {
    /// By the node of the opening quote, where something stands below it.
    opened: FxHashMap<u32, FreeText>,
}

impl Quoted {
    fn new(trie: &Trie, alphabet: &Alphabet, width: usize) -> Quoted {
        let quotes = (1..trie.len() as u32).filter(|&node| trie.byte(node) == b'"');
        let opened = quotes
            .filter(|&node| trie.skip(node) > node + 1)
            .map(|node| (node, FreeText::below(trie, node, alphabet, width, None)))
            .collect();
        Quoted { opened }
    }

    /// The free text of a string that begins at `node`; `None` for nodes without a quote.
    pub(crate) fn at(&self, node: u32) -> Option<&FreeText> {
        self.opened.get(&node)
    }
}

/// The tables of one vocabulary for one escape policy.
#[derive(Debug)]
pub(crate) struct TextTables {
    /// Below the root: of a string in progress.
    free: FreeText,
    /// What follows the quote, over all exits; a token stands at its suffix.
    suffixes: Trie,
    /// Strings that begin within a token.
    quoted: Quoted,
    quoted_suffixes: Quoted,
    classes: Classes,
    /// Of the vocabulary's trie.
    marks: Marks,
}

impl TextTables {
    /// The tables; `alphabet` decides what a token that ends inside a character may go on with.
    pub(crate) fn new(vocabulary: &Vocabulary, alphabet: &Alphabet) -> TextTables {
        let (trie, width) = (vocabulary.trie(), vocabulary.width());
        let mut marks = Marks::new(trie);
        let free = FreeText::below(trie, Trie::ROOT, alphabet, width, Some(&mut marks));
        let mut suffixes: Vec<(&[u8], u32)> = Vec::new();
        for exit in &free.exits {
            let before = trie.path(exit.node).len();
            let ids = trie.tokens_below(exit.node).iter();
            suffixes
                .extend(ids.filter_map(|&id| Some((&vocabulary.text_bytes(id)?[before..], id))));
        }
        let suffixes = Trie::build(suffixes);
        TextTables {
            quoted: Quoted::new(trie, alphabet, width),
            quoted_suffixes: Quoted::new(&suffixes, alphabet, width),
            classes: Classes::default(),
            marks,
            free,
            suffixes,
        }
    }

    /// What `vocabulary`, of which these are the tables, has for texts of a class below a node.
    pub(crate) fn class(
        &self,
        vocabulary: &Vocabulary,
        start: u32,
        class: CharClass,
    ) -> Arc<ClassText> {
        self.classes.get(vocabulary.trie(), &self.marks, start, class, vocabulary.width())
    }

    /// The same for digits.
    pub(crate) fn digits(&self, vocabulary: &Vocabulary, start: u32) -> Arc<ClassText> {
        let digits = CharClass::all().ascii_of((b'0'..=b'9').collect());
        self.class(vocabulary, start, digits)
    }

    /// The free text below the root: of a string in progress.
    pub(crate) fn free(&self) -> &FreeText {
        &self.free
    }

    /// The suffixes behind the closing quotes, as one trie.
    pub(crate) fn suffixes(&self) -> &Trie {
        &self.suffixes
    }

    /// The strings that begin within a token.
    pub(crate) fn quoted(&self) -> &Quoted {
        &self.quoted
    }

    /// The same within a suffix.
    pub(crate) fn quoted_suffixes(&self) -> &Quoted {
        &self.quoted_suffixes
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
            let (words, count) = tables.free().within().mask(n);
            let ids: Vec<u32> = (0..32).filter(|i| words[0] >> i & 1 == 1).collect();
            assert_eq!(ids.len(), count);
            ids
        };
        assert_eq!(ids(0), [0u32; 0]);
        assert_eq!(ids(1), [0, 7, 8]);
        assert_eq!(ids(9), [0, 1, 7, 8]);
        assert_eq!(tables.free().max_chars(), 2);
        let chars: Vec<u32> = tables.free().exits().iter().map(|e| e.chars).collect();
        assert_eq!(chars, [0, 1, 1]);
        let suffixes = tables.suffixes();
        assert_eq!(suffixes.tokens_at(Trie::ROOT), [2, 3]);
        assert_eq!(suffixes.tokens_below(suffixes.child(Trie::ROOT, b',').unwrap()), [4]);
    }
}
