//! The characters that an alphabet can spell, as a small automaton over their UTF-8 bytes whose
//! edges carry the cost of the spelling.
//!
//! Node 0 lies between characters; nodes 1 to 7 are inside a raw sequence and have the indices
//! of [`TextState::raw_index`]; further nodes are inside a character that is spelled by an
//! escape, which the language still reads as UTF-8.

use super::alphabet::{Alphabet, collect_ranges};
use super::decode::{TextState, TextStep};
use regex_syntax::utf8::Utf8Sequences;
use std::sync::LazyLock;

/// A node of [`Spell`]; 0 is the boundary between characters.
pub(super) type SpellNode = u32;

/// The node between characters.
pub(super) const BOUNDARY: SpellNode = 0;

/// Bytes `low..=high` lead to `next`; `cost` in bytes of JSON text, then in dislike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpellEdge {
    pub(super) low: u8,
    pub(super) high: u8,
    pub(super) cost: Cost,
    pub(super) next: SpellNode,
}

/// Bytes of JSON text, and, among equals, how far from plain printable ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    pub(super) bytes: u32,
    pub(super) dislike: u32,
}

impl Cost {
    pub(super) fn plus(self, other: Cost) -> Cost {
        Cost {
            bytes: self.bytes.saturating_add(other.bytes),
            dislike: self.dislike.saturating_add(other.dislike),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Spell {
    nodes: Vec<Vec<SpellEdge>>,
}

impl Spell {
    /// What `alphabet` can spell.
    pub(super) fn new(alphabet: &Alphabet) -> Spell {
        let mut spell = Spell { nodes: vec![Vec::new(); TextState::RAW_STATES] };
        spell.add_ascii(alphabet);
        spell.add_raw(|b| alphabet.bytes().contains(b));
        let raw_complete = (0x80..=0xBF).chain(0xC2..=0xF4).all(|b| alphabet.bytes().contains(b));
        if !raw_complete && !alphabet.minimal() && alphabet.bytes().contains(b'\\') {
            spell.add_escaped(alphabet);
        }
        spell
    }

    /// Every scalar value as raw UTF-8, whatever JSON says of it.
    pub(super) fn any_utf8() -> &'static Spell {
        static ANY: LazyLock<Spell> = LazyLock::new(|| {
            let mut spell = Spell { nodes: vec![Vec::new(); TextState::RAW_STATES] };
            let cost = byte_cost(1);
            spell.push(BOUNDARY, SpellEdge { low: 0, high: 0x7F, cost, next: BOUNDARY });
            spell.add_raw(|_| true);
            spell
        });
        &ANY
    }

    pub(super) fn edges(&self, node: SpellNode) -> &[SpellEdge] {
        self.nodes.get(node as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn push(&mut self, node: SpellNode, edge: SpellEdge) {
        let edges = &mut self.nodes[node as usize];
        match edges.last_mut() {
            Some(last)
                if (last.cost, last.next) == (edge.cost, edge.next)
                    && last.high.checked_add(1) == Some(edge.low) =>
            {
                last.high = edge.high;
            }
            _ => edges.push(edge),
        }
    }

    fn add_ascii(&mut self, alphabet: &Alphabet) {
        for byte in 0..0x80u8 {
            let c = char::from(byte);
            let Some(spelling) = alphabet.cheapest_spelling(c) else { continue };
            let dislike = match c {
                'a'..='z' => 0,
                '0'..='9' => 1,
                'A'..='Z' => 2,
                ' '..='~' => 3,
                _ => 4,
            };
            let cost = Cost { bytes: spelling.len() as u32, dislike };
            self.push(BOUNDARY, SpellEdge { low: byte, high: byte, cost, next: BOUNDARY });
        }
    }

    /// The raw sequences of more than one byte, as far as `keep` has their bytes.
    fn add_raw(&mut self, keep: impl Fn(u8) -> bool) {
        for node in 0..TextState::RAW_STATES {
            for byte in 0x80..=0xFFu8 {
                let TextStep::Raw { state, .. } = TextState::from_raw_index(node).step(byte, false)
                else {
                    continue;
                };
                if let Some(next) = state.raw_index().filter(|_| keep(byte)) {
                    let cost = Cost { bytes: 1, dislike: 4 };
                    let next = next as SpellNode;
                    self.push(node as SpellNode, SpellEdge { low: byte, high: byte, cost, next });
                }
            }
        }
    }

    /// Characters beyond ASCII by `\uXXXX`: read as UTF-8, paid for at the first byte.
    fn add_escaped(&mut self, alphabet: &Alphabet) {
        let beyond = [(0x80, 0xD7FF), (0xE000, 0x10_FFFF)];
        let ranges = if alphabet.has_all_hex() {
            beyond.as_slice().into()
        } else {
            collect_ranges(&beyond, |c| alphabet.can_escape(c))
        };
        let mut tails = rustc_hash::FxHashMap::default();
        for (low, high) in ranges {
            let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high)) else {
                continue;
            };
            for sequence in Utf8Sequences::new(low, high) {
                let bytes = sequence.as_slice();
                let mut next = BOUNDARY;
                for range in bytes.iter().skip(1).rev() {
                    next = *tails.entry((range.start, range.end, next)).or_insert_with(|| {
                        let cost = Cost::default();
                        let edge = SpellEdge { low: range.start, high: range.end, cost, next };
                        self.nodes.push(vec![edge]);
                        (self.nodes.len() - 1) as SpellNode
                    });
                }
                let cost = byte_cost(if bytes.len() == 4 { 12 } else { 6 });
                let (low, high) = (bytes[0].start, bytes[0].end);
                self.push(BOUNDARY, SpellEdge { low, high, cost, next });
            }
        }
    }
}

fn byte_cost(bytes: u32) -> Cost {
    Cost { bytes, dislike: 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::decode::needs_escape;

    /// The cheapest cost of reading exactly these bytes from boundary to boundary.
    fn cost(spell: &Spell, text: &str) -> Option<u32> {
        let mut reached = vec![(BOUNDARY, 0)];
        for byte in text.bytes() {
            reached = reached
                .iter()
                .flat_map(|&(node, cost)| spell.edges(node).iter().map(move |edge| (edge, cost)))
                .filter(|(edge, _)| (edge.low..=edge.high).contains(&byte))
                .map(|(edge, cost)| (edge.next, cost + edge.cost.bytes))
                .collect();
        }
        reached.iter().filter(|(node, _)| *node == BOUNDARY).map(|&(_, cost)| cost).min()
    }

    #[test]
    fn costs_are_those_of_the_cheapest_spelling() {
        let alphabets = [
            Alphabet::full(false),
            Alphabet::full(true),
            Alphabet::new((0x20..0x7F).collect(), false),
            Alphabet::new((0x20..0x7F).collect(), true),
            Alphabet::new(b"\\u0189dDbce".iter().copied().collect(), false),
            Alphabet::new((0x20..=0xC3).collect(), false),
        ];
        for alphabet in alphabets {
            for code in (0..0x3000).chain((0x3000..0x11_0000).step_by(251)) {
                let Some(c) = char::from_u32(code) else { continue };
                let expected = alphabet.cheapest_spelling(c).map(|s| s.len() as u32);
                assert_eq!(cost(alphabet.spell(), &c.to_string()), expected, "{code:x}");
            }
        }
        assert!(needs_escape(0x22));
    }
}
