//! Text of one class of characters: which tokens stay inside it, and where the others leave it.
//!
//! A pattern keeps to few classes (`[a-z0-9-]`, `.`), and as long as a text does, its state moves
//! along a chain that can be followed without the vocabulary. So the tokens over a class are found
//! once, by a walk of the nodes inside it, and shared by all patterns that use it.

use super::text::{ByChars, at};
use super::trie::{Ancestors, Trie};
use crate::language::{CharClass, TextState, TextStep};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Nodes at which a text leaves its class, alike in what leads out.
#[derive(Debug)]
pub(crate) struct Leaving {
    /// The first byte that is not of the class, whether a string may have it or not.
    pub(crate) byte: u8,
    /// Characters before it.
    pub(crate) chars: u32,
    /// The nodes of that byte.
    pub(crate) nodes: Box<[u32]>,
}

/// What a vocabulary has for texts of one class below a node.
#[derive(Debug)]
pub(crate) struct ClassText {
    within: ByChars,
    leaving: Vec<Leaving>,
}

impl ClassText {
    fn new(trie: &Trie, start: u32, class: CharClass, width: usize) -> ClassText {
        let mut within = Vec::new();
        let mut leaving: Vec<Vec<Vec<u32>>> = vec![Vec::new(); 256];
        // Decoder state and characters begun.
        let mut open: Ancestors<(TextState, u32)> = Ancestors::new();
        let mut node = start + 1;
        while node < trie.skip(start) {
            let (state, chars) = open.above(node).copied().unwrap_or((TextState::START, 0));
            let (byte, skip) = (trie.byte(node), trie.skip(node));
            let inside = !state.is_boundary() || class.contains(byte);
            match state.step(byte, true) {
                TextStep::Raw { first, state } if inside => {
                    let chars = chars + u32::from(first);
                    at(&mut within, chars).extend_from_slice(trie.tokens_at(node));
                    open.note(skip, (state, chars));
                    node += 1;
                    continue;
                }
                TextStep::Refuse if !state.is_boundary() => {}
                _ => at(&mut leaving[usize::from(byte)], chars).push(node),
            }
            node = skip;
        }
        let groups = (0..=255).zip(leaving).flat_map(|(byte, by_chars)| {
            (0..)
                .zip(by_chars)
                .filter(|(_, nodes)| !nodes.is_empty())
                .map(move |(chars, nodes)| Leaving { byte, chars, nodes: nodes.into() })
        });
        // Only a whole text is a mask; elsewhere its tokens are added to others.
        let masks = if start == Trie::ROOT { MOST_MASKS } else { 0 };
        ClassText { within: ByChars::new(&within, width, masks), leaving: groups.collect() }
    }

    /// The tokens inside the class.
    pub(crate) fn within(&self) -> &ByChars {
        &self.within
    }

    /// Where the others leave it.
    pub(crate) fn leaving(&self) -> &[Leaving] {
        &self.leaving
    }

    /// Bytes that it takes at most, when it is new.
    fn size(&self) -> usize {
        let nodes: usize = self.leaving.iter().map(|group| group.nodes.len()).sum();
        self.within.size() + 4 * nodes + size_of::<Leaving>() * self.leaving.len()
    }
}

/// Masks that are kept of one class: of bounded texts there may be as many as a token has characters.
const MOST_MASKS: usize = 8;

/// The classes that were asked for.
#[derive(Debug, Default)]
pub(super) struct Classes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    texts: FxHashMap<(u32, CharClass), Arc<ClassText>>,
    bytes: usize,
}

/// Bytes of classes that a vocabulary keeps; beyond it they are made anew.
const MOST_BYTES: usize = 64 << 20;

impl Classes {
    /// The text of a class below a node, made when it is first asked for.
    pub(super) fn get(
        &self,
        trie: &Trie,
        start: u32,
        class: CharClass,
        width: usize,
    ) -> Arc<ClassText> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.texts.get(&(start, class)) {
            return text.clone();
        }
        let text = Arc::new(ClassText::new(trie, start, class, width));
        let size = text.size();
        known.bytes += size;
        if known.bytes > MOST_BYTES {
            *known = Known { bytes: size, ..Known::default() };
        }
        known.texts.insert((start, class), text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of each group of those that leave.
    fn leaving(trie: &Trie, text: &ClassText) -> Vec<(u8, u32, Vec<u32>)> {
        let tokens = |group: &Leaving| {
            group.nodes.iter().flat_map(|&node| trie.tokens_below(node)).copied().collect()
        };
        text.leaving().iter().map(|group| (group.byte, group.chars, tokens(group))).collect()
    }

    #[test]
    fn tokens_stay_inside_a_class_or_leave_it() {
        let tokens = ["a", "ab", "abc-", "a\"", "aé", "\u{e9}", "-", "b\\n", "a\n", "C"];
        let trie = Trie::build(tokens.iter().zip(0..).map(|(s, id)| (s.as_bytes(), id)));
        let letters = CharClass::all().filter(|byte| byte.is_ascii_lowercase());
        let text = ClassText::new(&trie, Trie::ROOT, letters, 10);
        assert_eq!(text.within().up_to(1), [0]);
        assert_eq!(text.within().up_to(9), [0, 1]);
        assert_eq!(
            leaving(&trie, &text),
            [
                (b'\n', 1, vec![8]),
                (b'"', 1, vec![3]),
                (b'-', 0, vec![6]),
                (b'-', 3, vec![2]),
                (b'C', 0, vec![9]),
                (b'\\', 1, vec![7]),
                (0xC3, 0, vec![5]),
                (0xC3, 1, vec![4]),
            ]
        );
        let wide = CharClass::all().filter(|byte| byte.is_ascii_lowercase() || byte == 0xC3);
        let wide = ClassText::new(&trie, Trie::ROOT, wide, 10);
        assert_eq!(wide.within().up_to(9), [0, 5, 1, 4]);
        assert_eq!(leaving(&trie, &wide).len(), 6);
        let below = ClassText::new(&trie, trie.child(Trie::ROOT, b'a').unwrap(), letters, 10);
        assert_eq!(below.within().up_to(9), [1]);
        assert_eq!(leaving(&trie, &below)[2], (b'-', 2, vec![2]));
    }

    #[test]
    fn a_class_is_made_once() {
        let trie = Trie::build([(&b"a"[..], 0)]);
        let classes = Classes::default();
        let class = CharClass::all();
        let first = classes.get(&trie, Trie::ROOT, class, 1);
        assert!(Arc::ptr_eq(&first, &classes.get(&trie, Trie::ROOT, class, 1)));
        assert_eq!(first.within().mask(7).1, 1);
    }
}
