//! The trie of a vocabulary: its byte strings in order, laid out flat in depth-first order.
//!
//! A node's subtree is the range `node..skip(node)`, and since token ids are listed in the same
//! order, the tokens below a node are one contiguous slice: allowing a whole subtree is a copy.
//! The first child of a node, if any, is the next node; its next sibling is where its own subtree
//! ends. Children stand in ascending order of their bytes. Where there are many, a table of 256
//! entries finds one in a single load.
//!
//! Byte, subtree end and tokens share one 16-byte record rather than lying in arrays of their own:
//! a mask visits few nodes far apart, and each should cost one cache miss.

use smallvec::SmallVec;

/// A node with more children than this gets a table of them.
const WIDE: usize = 16;

/// The most tables (of 1 KiB) for wide nodes.
const MAX_TABLES: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The node after this one's subtree.
    skip: u32,
    /// Where the tokens of this node's subtree begin.
    token_start: u32,
    parent: u32,
    /// One more than the index of this node's table, 0 where it has none.
    table: u16,
    byte: u8,
}

const _: () = assert!(size_of::<Node>() == 16);

/// Byte strings with the token ids that have them. Node 0 is the root, the empty string.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    /// All nodes, and one more that ends the token list.
    nodes: Vec<Node>,
    /// Token ids in depth-first order; equal byte strings in ascending order of ids.
    tokens: Vec<u32>,
    /// For wide nodes: the child of each byte, 0 where there is none.
    tables: Vec<[u32; 256]>,
}

/// A string with its first bytes as a number: most comparisons need nothing else.
#[derive(Clone, Copy)]
struct Item<'a> {
    key: u64,
    bytes: &'a [u8],
    id: u32,
}

impl Trie {
    /// The root: the empty byte string.
    pub(crate) const ROOT: u32 = 0;

    /// The trie of the given byte strings, in any order; several ids may share one, and the empty
    /// string stands at the root. Together they must be shorter than 2³² bytes, which the bounds
    /// of a vocabulary ensure.
    pub(crate) fn build<'a>(items: impl IntoIterator<Item = (&'a [u8], u32)>) -> Trie {
        let mut items: Vec<Item<'a>> =
            items.into_iter().map(|(bytes, id)| Item { key: key(bytes), bytes, id }).collect();
        items.sort_unstable_by_key(|item| item.key);
        for alike in items.chunk_by_mut(|a, b| a.key == b.key) {
            alike.sort_unstable_by_key(|item| (item.bytes, item.id));
        }
        let mut nodes = vec![Node { skip: 0, token_start: 0, parent: 0, table: 0, byte: 0 }];
        let mut tokens = Vec::with_capacity(items.len());
        // The nodes on the way to `previous`, the root left out.
        let mut path: Vec<u32> = Vec::new();
        let mut previous = Item { key: 0, bytes: &[], id: 0 };
        for item in items {
            let shared = previous.shares_with(&item);
            for closed in path.drain(shared..) {
                nodes[closed as usize].skip = nodes.len() as u32;
            }
            for &byte in &item.bytes[shared..] {
                let parent = path.last().copied().unwrap_or(Trie::ROOT);
                path.push(nodes.len() as u32);
                let token_start = tokens.len() as u32;
                nodes.push(Node { skip: 0, token_start, parent, table: 0, byte });
            }
            tokens.push(item.id);
            previous = item;
        }
        let end = nodes.len() as u32;
        nodes[0].skip = end;
        for closed in path {
            nodes[closed as usize].skip = end;
        }
        let token_start = tokens.len() as u32;
        nodes.push(Node { skip: end, token_start, parent: 0, table: 0, byte: 0 });
        let mut trie = Trie { nodes, tokens, tables: Vec::new() };
        trie.index_wide_nodes();
        trie
    }

    /// Makes the tables of the root and of all wide nodes.
    fn index_wide_nodes(&mut self) {
        for node in 0..self.len() as u32 {
            let large = (self.skip(node) - node) as usize > WIDE;
            let wide = large && self.children(node).nth(WIDE).is_some();
            if (wide || node == Trie::ROOT) && self.tables.len() < MAX_TABLES {
                let mut table = [0; 256];
                self.children(node).for_each(|c| table[usize::from(self.byte(c))] = c);
                self.tables.push(table);
                self.nodes[node as usize].table = self.tables.len() as u16;
            }
        }
    }

    /// How many nodes there are, the root included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The last byte of a node's string; 0 for the root.
    pub(crate) fn byte(&self, node: u32) -> u8 {
        self.nodes[node as usize].byte
    }

    /// The node after the subtree of `node`: its next sibling, if it has the same parent.
    pub(crate) fn skip(&self, node: u32) -> u32 {
        self.nodes[node as usize].skip
    }

    /// The node of the string without its last byte; the root is its own parent.
    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.nodes[node as usize].parent
    }

    /// The ids whose bytes are exactly the node's string, in ascending order.
    pub(crate) fn tokens_at(&self, node: u32) -> &[u32] {
        let index = node as usize;
        let (start, end) = (self.nodes[index].token_start, self.nodes[index + 1].token_start);
        &self.tokens[start as usize..end as usize]
    }

    /// The ids whose bytes begin with the node's string, the node's own first.
    pub(crate) fn tokens_below(&self, node: u32) -> &[u32] {
        let Node { skip, token_start, .. } = self.nodes[node as usize];
        &self.tokens[token_start as usize..self.nodes[skip as usize].token_start as usize]
    }

    /// The children of a node, in ascending order of their bytes.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let end = self.skip(node);
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.skip(child);
                child
            })
        })
    }

    /// The child of a node by its byte.
    pub(crate) fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let table = self.nodes[node as usize].table;
        if table != 0 {
            let child = self.tables[usize::from(table) - 1][usize::from(byte)];
            return (child != 0).then_some(child);
        }
        self.children(node).find(|&c| self.byte(c) >= byte).filter(|&c| self.byte(c) == byte)
    }

    /// The node of a byte string, read from `node` on.
    #[cfg(test)]
    pub(crate) fn descend(&self, node: u32, bytes: &[u8]) -> Option<u32> {
        bytes.iter().try_fold(node, |node, &byte| self.child(node, byte))
    }

    /// The string of a node.
    pub(crate) fn path(&self, mut node: u32) -> SmallVec<[u8; 16]> {
        let mut path = SmallVec::new();
        while node != Trie::ROOT {
            path.push(self.byte(node));
            node = self.parent(node);
        }
        path.reverse();
        path
    }
}

/// The first eight bytes as a number that sorts as they do.
fn key(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = bytes.len().min(8);
    first[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(first)
}

impl Item<'_> {
    /// How many bytes the two begin with alike.
    fn shares_with(&self, other: &Item<'_>) -> usize {
        let (a, b) = (self.bytes, other.bytes);
        if self.key == other.key {
            return a.iter().zip(b).take_while(|(a, b)| a == b).count();
        }
        // Behind the end of a string its key has zeros, which the other one may have as well.
        let alike = (self.key ^ other.key).leading_zeros() as usize / 8;
        alike.min(a.len()).min(b.len())
    }
}

/// What a walk in depth-first order knows at the ancestors of the node that it has come to.
pub(crate) struct Ancestors<T> {
    /// (end of the subtree, what is known there)
    open: Vec<(u32, T)>,
}

impl<T> Ancestors<T> {
    pub(crate) fn new() -> Self {
        Ancestors { open: Vec::new() }
    }

    /// What is known at the nearest ancestor of `node` that was noted.
    pub(crate) fn above(&mut self, node: u32) -> Option<&T> {
        while self.open.last().is_some_and(|(end, _)| node >= *end) {
            self.open.pop();
        }
        self.open.last().map(|(_, known)| known)
    }

    /// Notes what is known at a node whose subtree ends at `end`.
    pub(crate) fn note(&mut self, end: u32, known: T) {
        self.open.push((end, known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Trie {
        let items = ["b", "a", "abc", "ab", "a", "\0", "\0\0", "abd", "é"];
        Trie::build(items.iter().zip(10..).map(|(s, id)| (s.as_bytes(), id)))
    }

    #[test]
    fn subtrees_are_ranges_of_nodes_and_tokens() {
        let trie = sample();
        let a = trie.child(Trie::ROOT, b'a').unwrap();
        assert_eq!(trie.tokens_at(a), [11, 14]);
        assert_eq!(trie.tokens_below(a), [11, 14, 13, 12, 17]);
        let ab = trie.child(a, b'b').unwrap();
        assert_eq!(ab, a + 1);
        assert_eq!(trie.tokens_at(ab), [13]);
        assert_eq!(trie.children(ab).map(|c| trie.byte(c)).collect::<Vec<_>>(), b"cd");
        assert_eq!(trie.skip(a), trie.child(Trie::ROOT, b'b').unwrap());
        assert_eq!(trie.tokens_below(Trie::ROOT).len(), 9);
        assert_eq!(trie.tokens_at(Trie::ROOT), [0; 0]);
        assert_eq!(trie.len(), 10);
        assert_eq!(trie.skip(Trie::ROOT) as usize, trie.len());
    }

    #[test]
    fn zero_bytes_sort_after_the_end() {
        let trie = sample();
        let zero = trie.child(Trie::ROOT, 0).unwrap();
        assert_eq!(trie.tokens_at(zero), [15]);
        assert_eq!(trie.tokens_below(zero), [15, 16]);
        // A padded first word is no proof of equality.
        let trie = Trie::build([(&b"a\0\0"[..], 1), (b"a", 2), (b"a\0", 3)]);
        assert_eq!(trie.tokens_below(Trie::ROOT), [2, 3, 1]);
    }

    #[test]
    fn paths_lead_back() {
        let trie = sample();
        for node in 0..trie.len() as u32 {
            assert_eq!(trie.descend(Trie::ROOT, &trie.path(node)), Some(node));
        }
        assert_eq!(trie.descend(Trie::ROOT, b"abe"), None);
        assert_eq!(trie.child(trie.child(Trie::ROOT, b'b').unwrap(), b'a'), None);
    }

    #[test]
    fn wide_nodes_have_tables() {
        let pairs: Vec<[u8; 2]> = (0..=255u8).step_by(3).map(|b| [7, b]).collect();
        let trie = Trie::build(pairs.iter().zip(0..).map(|(p, id)| (&p[..], id)));
        assert_eq!(trie.tables.len(), 2);
        let seven = trie.child(Trie::ROOT, 7).unwrap();
        for byte in 0..=255u8 {
            let found = trie.child(seven, byte).map(|c| trie.tokens_at(c).to_vec());
            assert_eq!(found, (byte % 3 == 0).then(|| vec![u32::from(byte) / 3]));
        }
    }

    #[test]
    fn an_empty_trie_and_an_empty_string() {
        let none = Trie::build([]);
        assert_eq!((none.len(), none.tokens_below(Trie::ROOT)), (1, &[][..]));
        assert_eq!(none.child(Trie::ROOT, b'a'), None);
        let empty = Trie::build([(&b""[..], 4), (b"x", 3)]);
        assert_eq!(empty.tokens_at(Trie::ROOT), [4]);
        assert_eq!(empty.tokens_below(Trie::ROOT), [4, 3]);
    }

    proptest::proptest! {
        #[test]
        fn subtrees_hold_what_begins_with_their_path(
            strings in proptest::collection::vec(proptest::collection::vec(0..4u8, 0..5), 0..40),
        ) {
            let trie = Trie::build(strings.iter().zip(0..).map(|(s, id)| (&s[..], id)));
            for node in 0..trie.len() as u32 {
                let path = trie.path(node);
                let ids = |of: &dyn Fn(&[u8]) -> bool| -> Vec<u32> {
                    (0..).zip(&strings).filter(|(_, s)| of(s)).map(|(id, _)| id).collect()
                };
                let mut below = trie.tokens_below(node).to_vec();
                below.sort_unstable();
                assert_eq!(below, ids(&|s| s.starts_with(&path)));
                assert_eq!(trie.tokens_at(node), ids(&|s| s == &path[..]));
                assert_eq!(trie.descend(Trie::ROOT, &path), Some(node));
                assert!(trie.children(node).all(|child| trie.parent(child) == node));
            }
        }
    }
}
