//! Text of one class of characters: which tokens stay inside it, and where the others leave it.
//!
//! A pattern keeps to few classes (`[a-z0-9-]`, `.`), and as long as a text does, its state moves
//! along a chain that can be followed without the vocabulary. So the tokens over a class are found
//! once, by a walk of the nodes inside it, and shared by all patterns that use it.

use super::text::ByChars;
use super::trie::{Ancestors, Trie};
use crate::language::{Begun, CharClass, TextState, TextStep};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Where texts leave their class, alike in what leads out.
#[derive(Debug)]
pub(crate) struct Leaving {
    /// Characters of the class before.
    pub(crate) chars: u32,
    /// The bytes behind them: the last one decides that no character of the class can come any more,
    /// whether a string may have that byte or not; or it leaves that open.
    pub(crate) bytes: Begun,
    /// The nodes of the last byte, where it decides.
    pub(crate) nodes: Box<[u32]>,
    /// The tokens that end with it, where it does not.
    pub(crate) tokens: Box<[u32]>,
}

/// What a vocabulary has for texts of one class below a node.
#[derive(Debug)]
pub(crate) struct ClassText {
    within: ByChars,
    leaving: Vec<Leaving>,
}

/// Where a text of a class stands.
#[derive(Clone, Copy, Default)]
struct Place {
    text: TextState,
    /// Characters begun, without that of `begun`.
    chars: u32,
    /// The bytes of a character that may be of the class, or not.
    begun: Begun,
}

/// What a node of a trie is to raw text from the root on, whatever its class.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Characters begun; 0 where the text is not raw.
    chars: u32,
    /// A character begins with the last byte.
    begins: bool,
    /// The last character is complete.
    complete: bool,
}

/// The marks of a trie, by node.
#[derive(Debug)]
pub(super) struct Marks(Box<[Mark]>);

impl Marks {
    /// Those of a trie before anything is known but the root.
    pub(super) fn new(trie: &Trie) -> Marks {
        let mut marks = vec![Mark::default(); trie.len() + 1];
        marks[Trie::ROOT as usize].complete = true;
        Marks(marks.into())
    }

    /// The last byte of `node` is raw; there are so many characters then, if all before is raw, too.
    pub(super) fn note(
        &mut self,
        trie: &Trie,
        node: u32,
        chars: u32,
        begins: bool,
        complete: bool,
    ) {
        let above = trie.parent(node);
        if above == Trie::ROOT || self.at(above).chars > 0 {
            self.0[node as usize] = Mark { chars, begins, complete };
        }
    }

    fn at(&self, node: u32) -> Mark {
        self.0[node as usize]
    }
}

/// A search for the tokens of a class.
struct Search<'a> {
    trie: &'a Trie,
    class: &'a CharClass,
    /// Those inside, each behind the characters that it begins.
    within: Vec<(u32, u32)>,
    leaving: FxHashMap<(Begun, u32), [Vec<u32>; 2]>,
}

impl Search<'_> {
    /// Adds what is below `start`, at which raw text stands between two characters.
    fn raw(&mut self, marks: &Marks, start: u32) {
        let (trie, class) = (self.trie, self.class);
        let (whole, before) = (class.next(Begun::default()), marks.at(start).chars);
        let mut node = start + 1;
        while node < trie.skip(start) {
            let (byte, mark) = (trie.byte(node), marks.at(node));
            if mark.chars > 0 && (!mark.begins || whole.contains(byte)) {
                let tokens = trie.tokens_at(node).iter();
                self.within.extend(tokens.map(|&id| (mark.chars - before, id)));
                node += 1;
                continue;
            }
            let above = marks.at(trie.parent(node));
            if above.complete {
                let (chars, begun) = (above.chars - before, Begun::default().then(byte));
                if class.has_part(begun) {
                    let place = Place { chars, ..Place::default() };
                    self.each(node..trie.skip(node), place);
                } else {
                    self.leaving.entry((begun, chars)).or_default()[0].push(node);
                }
            }
            node = trie.skip(node);
        }
    }

    /// Adds what is at `nodes`, some siblings with their subtrees, before which a text stands at
    /// `place`.
    fn each(&mut self, nodes: Range<u32>, place: Place) {
        let (trie, class) = (self.trie, self.class);
        let mut open: Ancestors<Place> = Ancestors::new();
        let mut node = nodes.start;
        while node < nodes.end {
            let Place { text, chars, begun } = open.above(node).copied().unwrap_or(place);
            let (byte, skip) = (trie.byte(node), trie.skip(node));
            let decided = !text.is_boundary() && begun == Begun::default();
            let is_inside = decided || class.next(begun).contains(byte);
            let group = (begun.then(byte), chars);
            match text.step(byte, true) {
                TextStep::Raw { state: text, .. } if is_inside => {
                    let chars = chars + u32::from(!decided);
                    self.within.extend(trie.tokens_at(node).iter().map(|&id| (chars, id)));
                    open.note(skip, Place { text, chars, begun: Begun::default() });
                    node += 1;
                    continue;
                }
                TextStep::Raw { state: text, .. } if class.has_part(begun.then(byte)) => {
                    let tokens = trie.tokens_at(node);
                    if !tokens.is_empty() {
                        self.leaving.entry(group).or_default()[1].extend_from_slice(tokens);
                    }
                    open.note(skip, Place { text, chars, begun: begun.then(byte) });
                    node += 1;
                    continue;
                }
                TextStep::Refuse if !text.is_boundary() => {}
                _ => self.leaving.entry(group).or_default()[0].push(node),
            }
            node = skip;
        }
    }
}

impl ClassText {
    /// The text below `start`; `marks` are those of the trie.
    fn new(trie: &Trie, marks: &Marks, start: u32, class: &CharClass, width: usize) -> ClassText {
        let (within, leaving) = (Vec::new(), FxHashMap::default());
        let mut search = Search { trie, class, within, leaving };
        if marks.at(start).complete {
            search.raw(marks, start);
        } else {
            search.each(start + 1..trie.skip(start), Place::default());
        }
        let Search { within, leaving, .. } = search;
        let mut leaving: Vec<_> = leaving.into_iter().collect();
        leaving.sort_unstable_by_key(|(key, _)| *key);
        let groups = leaving.into_iter().map(|((bytes, chars), [nodes, tokens])| Leaving {
            chars,
            bytes,
            nodes: nodes.into(),
            tokens: tokens.into(),
        });
        // Where they are few, they are added to the masks of others.
        let is_mask = start == Trie::ROOT || within.len() > width / 32;
        let masks = if is_mask { MOST_MASKS } else { 0 };
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
        let lengths = self.leaving.iter().map(|group| group.nodes.len() + group.tokens.len());
        let nodes: usize = lengths.sum();
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
        marks: &Marks,
        start: u32,
        class: CharClass,
        width: usize,
    ) -> Arc<ClassText> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (start, class);
        if let Some(text) = known.texts.get(&key) {
            return text.clone();
        }
        let text = Arc::new(ClassText::new(trie, marks, start, &key.1, width));
        let size = text.size();
        known.bytes += size;
        if known.bytes > MOST_BYTES {
            known.texts.clear();
            known.bytes = size;
        }
        known.texts.insert(key, text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::FreeText;
    use super::*;
    use crate::base::ByteSet;
    use crate::language::Alphabet;

    /// Bytes, characters before them, tokens below, tokens that end with them.
    type Group = (Vec<u8>, u32, Vec<u32>, Vec<u32>);

    /// The tokens of each group of those that leave, and those that end before it is decided.
    fn leaving(trie: &Trie, text: &ClassText) -> Vec<Group> {
        let tokens = |group: &Leaving| {
            group.nodes.iter().flat_map(|&node| trie.tokens_below(node)).copied().collect()
        };
        let group = |group: &Leaving| {
            (group.bytes.bytes().to_vec(), group.chars, tokens(group), group.tokens.to_vec())
        };
        text.leaving().iter().map(group).collect()
    }

    fn marks(trie: &Trie) -> Marks {
        let mut marks = Marks::new(trie);
        FreeText::below(trie, Trie::ROOT, &Alphabet::full(false), 1, Some(&mut marks));
        marks
    }

    /// The text by marks, which is that without them.
    fn class_text(trie: &Trie, start: u32, class: &CharClass, width: usize) -> ClassText {
        let marks = marks(trie);
        assert!(marks.at(start).complete);
        let text = ClassText::new(trie, &marks, start, class, width);
        let mut none = Marks::new(trie);
        none.0[Trie::ROOT as usize].complete = false;
        let plain = ClassText::new(trie, &none, start, class, width);
        assert_eq!(text.within().up_to(99), plain.within().up_to(99));
        assert_eq!(leaving(trie, &text), leaving(trie, &plain));
        text
    }

    fn letters() -> CharClass {
        CharClass::all().ascii_of((b'a'..=b'z').collect())
    }

    #[test]
    fn tokens_stay_inside_a_class_or_leave_it() {
        let tokens = ["a", "ab", "abc-", "a\"", "aé", "\u{e9}", "-", "b\\n", "a\n", "C", "a\0"];
        let trie = Trie::build(tokens.iter().zip(0..).map(|(s, id)| (s.as_bytes(), id)));
        let text = class_text(&trie, Trie::ROOT, &letters(), 10);
        assert_eq!(text.within().up_to(1), [0]);
        assert_eq!(text.within().up_to(9), [0, 1]);
        assert_eq!(
            leaving(&trie, &text),
            [
                (vec![0], 1, vec![10], vec![]),
                (b"\n".to_vec(), 1, vec![8], vec![]),
                (b"\"".to_vec(), 1, vec![3], vec![]),
                (b"-".to_vec(), 0, vec![6], vec![]),
                (b"-".to_vec(), 3, vec![2], vec![]),
                (b"C".to_vec(), 0, vec![9], vec![]),
                (b"\\".to_vec(), 1, vec![7], vec![]),
                (vec![0xC3], 0, vec![5], vec![]),
                (vec![0xC3], 1, vec![4], vec![]),
            ]
        );
        let mut wide = letters();
        wide.insert(Begun::default(), ByteSet::of(&[0xC3]));
        let wide = class_text(&trie, Trie::ROOT, &wide, 10);
        assert_eq!(wide.within().up_to(9), [0, 5, 1, 4]);
        assert_eq!(leaving(&trie, &wide).len(), 7);
        let below = class_text(&trie, trie.child(Trie::ROOT, b'a').unwrap(), &letters(), 10);
        assert_eq!(below.within().up_to(9), [1]);
        assert_eq!(leaving(&trie, &below)[3], (b"-".to_vec(), 2, vec![2], vec![]));
    }

    #[test]
    fn a_character_is_decided_by_the_byte_that_tells_it_apart() {
        // U+2019 is of the class, U+201C and U+20AC are not; U+2030 shares two bytes with none.
        let tokens: [&[u8]; 7] = [
            "\u{2019}".as_bytes(),
            "a\u{201c}".as_bytes(),
            "\u{20ac}".as_bytes(),
            b"\xE2",
            b"a\xE2\x80",
            "\u{2019}s".as_bytes(),
            b"\xE2\x80\x99-",
        ];
        let trie = Trie::build(tokens.iter().zip(0..).map(|(bytes, id)| (*bytes, id)));
        let mut class = letters();
        let quotes = Begun::default().then(0xE2).then(0x80);
        class.insert(quotes, ByteSet::of(&[0x99]));
        let text = class_text(&trie, Trie::ROOT, &class, 7);
        assert_eq!(text.within().up_to(1), [0]);
        assert_eq!(text.within().up_to(2), [0, 5]);
        assert_eq!(
            leaving(&trie, &text),
            [
                (b"-".to_vec(), 1, vec![6], vec![]),
                (vec![0xE2], 0, vec![], vec![3]),
                (vec![0xE2, 0x80], 1, vec![], vec![4]),
                (vec![0xE2, 0x82], 0, vec![2], vec![]),
                (vec![0xE2, 0x80, 0x9C], 1, vec![1], vec![]),
            ]
        );
    }

    #[test]
    fn a_class_is_made_once() {
        let trie = Trie::build([(&b"a"[..], 0)]);
        let classes = Classes::default();
        let class = CharClass::all();
        let marks = marks(&trie);
        let first = classes.get(&trie, &marks, Trie::ROOT, class.clone(), 1);
        assert!(Arc::ptr_eq(&first, &classes.get(&trie, &marks, Trie::ROOT, class, 1)));
        assert_eq!(first.within().mask(7).1, 1);
    }
}
