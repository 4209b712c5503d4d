//! The whitespace closure of a trie node: what a run of JSON whitespace leads to from there.
//!
//! Where whitespace may stand, a walk would visit every token that begins with some (more than a
//! thousand nodes in a usual vocabulary); with this it takes the blank tokens from a list and goes
//! on from the few nodes at which the run ends with the byte that it is looking for.

use super::trie::Trie;
use crate::base::is_blank;

/// A node reached by a run of whitespace and then one other byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlankExit {
    /// The node of that other byte.
    pub(crate) node: u32,
    /// Bytes of whitespace before it; 0 for a child of the node that the closure starts at.
    pub(crate) run: u32,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct BlankClosure {
    /// Tokens of whitespace alone, the shortest first.
    blanks: Vec<u32>,
    /// `up_to[n]`: how many of them have at most `n` bytes.
    up_to: Vec<usize>,
    /// The exits by their byte, `exits[starts[b]..starts[b + 1]]`, the shortest run first.
    exits: Vec<BlankExit>,
    starts: Vec<usize>,
}

impl BlankClosure {
    /// The closure of `start`, whose own tokens are not part of it.
    pub(crate) fn of(trie: &Trie, start: u32) -> BlankClosure {
        let mut blanks: Vec<(u32, u32)> = Vec::new();
        let mut exits: Vec<(u8, BlankExit)> = Vec::new();
        let mut open = vec![(start, 0u32)];
        while let Some((node, run)) = open.pop() {
            for child in trie.children(node) {
                if is_blank(trie.byte(child)) {
                    blanks.extend(trie.tokens_at(child).iter().map(|&id| (run + 1, id)));
                    open.push((child, run + 1));
                } else {
                    exits.push((trie.byte(child), BlankExit { node: child, run }));
                }
            }
        }
        blanks.sort_unstable();
        exits.sort_unstable_by_key(|&(byte, exit)| (byte, exit.run, exit.node));
        let longest = blanks.last().map_or(0, |&(len, _)| len);
        BlankClosure {
            up_to: (0..=longest)
                .map(|len| blanks.partition_point(|&(other, _)| other <= len))
                .collect(),
            blanks: blanks.into_iter().map(|(_, id)| id).collect(),
            starts: (0..=256u16)
                .map(|byte| exits.partition_point(|&(other, _)| u16::from(other) < byte))
                .collect(),
            exits: exits.into_iter().map(|(_, exit)| exit).collect(),
        }
    }

    /// The tokens of whitespace alone that have at most `len` bytes, the shortest first.
    pub(crate) fn blanks_up_to(&self, len: u32) -> &[u32] {
        let known = self.up_to.len() - 1;
        &self.blanks[..self.up_to[known.min(len as usize)]]
    }

    /// The nodes at which a run of whitespace (or none) has ended with `byte`, the shortest run
    /// first; none for a byte of whitespace.
    pub(crate) fn exits(&self, byte: u8) -> &[BlankExit] {
        let byte = usize::from(byte);
        &self.exits[self.starts[byte]..self.starts[byte + 1]]
    }

    /// The exits at whose byte's token at most `run` bytes of whitespace stand.
    pub(crate) fn exits_up_to(&self, byte: u8, run: u32) -> &[BlankExit] {
        let exits = self.exits(byte);
        &exits[..exits.partition_point(|exit| exit.run <= run)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_what_ends_them() {
        let tokens = [" ", "  ", "\n", "\n\t ", " {", "{", "  {\"", "{ ", "\n\n\"a", "a"];
        let trie = Trie::build(tokens.iter().zip(0..).map(|(s, id)| (s.as_bytes(), id)));
        let closure = BlankClosure::of(&trie, Trie::ROOT);
        assert_eq!(closure.blanks_up_to(0), [0; 0]);
        assert_eq!(closure.blanks_up_to(1), [0, 2]);
        assert_eq!(closure.blanks_up_to(2), [0, 2, 1]);
        assert_eq!(closure.blanks_up_to(u32::MAX), [0, 2, 1, 3]);
        let path = |e: &BlankExit| (trie.path(e.node).to_vec(), e.run);
        let braces: Vec<_> = closure.exits(b'{').iter().map(path).collect();
        assert_eq!(braces, [(b"{".to_vec(), 0), (b" {".to_vec(), 1), (b"  {".to_vec(), 2)]);
        assert_eq!(closure.exits_up_to(b'{', 1).len(), 2);
        assert_eq!(
            closure.exits(b'"').iter().map(path).collect::<Vec<_>>(),
            [(b"\n\n\"".to_vec(), 2)]
        );
        assert_eq!(closure.exits(b' '), []);
        assert_eq!(closure.exits(255), []);
    }

    #[test]
    fn nothing_below_a_leaf() {
        let trie = Trie::build([]);
        let closure = BlankClosure::of(&trie, Trie::ROOT);
        assert_eq!(closure.blanks_up_to(9), [0; 0]);
        assert_eq!(closure.exits(b'{'), []);
    }
}
