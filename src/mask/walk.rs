//! The hot loop: a configuration stepped along the trie.
//!
//! Nodes are visited in depth-first order, which is their order in memory; a refused byte skips its
//! whole subtree. `open` holds the configuration of each ancestor.

use crate::automaton::{
    At, Automaton, Config, Costs, Full, Level, StringLevel, Strings, TextState, TextStep,
};
use crate::base::SmallBits;
use crate::vocab::Trie;

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub(super) automaton: &'a Automaton,
    pub(super) trie: &'a Trie,
    /// Over a poor vocabulary: what can be spelled.
    pub(super) costs: Option<&'a Costs>,
    /// The tokens found.
    pub(super) added: Vec<u32>,
    /// The nodes at which a key of a volatile object begins, where those are left out.
    pub(super) resume: Option<Vec<u32>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(automaton: &'a Automaton, trie: &'a Trie, costs: Option<&'a Costs>) -> Self {
        Walk { automaton, trie, costs, added: Vec::new(), resume: None }
    }

    /// Adds the tokens at `node`, which `config` has reached, and those below it.
    pub(super) fn from(&mut self, node: u32, config: &Config) -> Result<(), Full> {
        self.take(node, config);
        self.below(node, config)
    }

    /// Adds the tokens that end at `node`.
    fn take(&mut self, node: u32, config: &Config) {
        let tokens = self.trie.tokens_at(node);
        if !tokens.is_empty()
            && self.costs.is_none_or(|costs| self.automaton.can_spell(config, costs))
        {
            self.added.extend_from_slice(tokens);
        }
    }

    /// Adds the tokens below `start`, which `config` has reached.
    pub(super) fn below(&mut self, start: u32, config: &Config) -> Result<(), Full> {
        if let Level::String(level) = &config.top
            && level.atoms.len() == 1
            && self.costs.is_none()
        {
            return self.string(start, config, level);
        }
        let end = self.trie.skip(start);
        let mut open: Vec<(u32, Config)> = Vec::new();
        let mut node = start + 1;
        while node < end {
            while open.last().is_some_and(|(end, _)| node >= *end) {
                open.pop();
            }
            let current = open.last().map_or(config, |(_, config)| config);
            let (byte, skip) = (self.trie.byte(node), self.trie.skip(node));
            if self.leaves_out_key(current, byte) {
                self.resume.get_or_insert_default().push(node);
                node = skip;
                continue;
            }
            let mut next = current.clone();
            if !self.automaton.step(&mut next, byte)? {
                node = skip;
                continue;
            }
            self.take(node, &next);
            if skip == node + 1 {
                node = skip;
            } else if matches!(&next.top, Level::String(level) if level.atoms.len() == 1) {
                self.below(node, &next)?;
                node = skip;
            } else {
                open.push((skip, next));
                node += 1;
            }
        }
        Ok(())
    }

    /// Whether `byte` begins a key that is left to each document.
    pub(super) fn leaves_out_key(&self, config: &Config, byte: u8) -> bool {
        byte == b'"'
            && self.resume.is_some()
            && matches!(&config.top, Level::Object(object) if self.automaton.is_volatile(object))
    }

    /// Inside a string with one candidate the state is a few words, and what follows the closing
    /// quote is the same wherever it comes.
    fn string(&mut self, start: u32, config: &Config, level: &StringLevel) -> Result<(), Full> {
        #[derive(Clone, Copy)]
        struct Cursor {
            text: TextState,
            count: u64,
            decoded: u32,
            at: At,
        }
        let [atom] = level.atoms.as_slice() else { return Ok(()) };
        let strings: &Strings = self.automaton.strings(atom.state.id);
        let minimal = self.automaton.is_minimal();
        let first = Cursor {
            text: level.text,
            count: level.count,
            decoded: level.decoded,
            at: atom.state.at,
        };
        let mut closed: Option<Config> = None;
        let end = self.trie.skip(start);
        let mut open: Vec<(u32, Cursor)> = Vec::new();
        let mut node = start + 1;
        while node < end {
            while open.last().is_some_and(|&(end, _)| node >= end) {
                open.pop();
            }
            let mut cursor = open.last().map_or(first, |&(_, cursor)| cursor);
            let (byte, skip) = (self.trie.byte(node), self.trie.skip(node));
            let mut state = atom.state;
            state.at = cursor.at;
            let mut buffer = [0; 4];
            let step = cursor.text.step(byte, minimal);
            let live = match step {
                TextStep::Refuse => false,
                TextStep::Close => {
                    if state.accepts(strings, cursor.decoded, cursor.count) {
                        let closed = closed
                            .get_or_insert_with(|| self.automaton.close_string(config, &atom.tags));
                        self.from(node, &closed.clone())?;
                    }
                    node = skip;
                    continue;
                }
                TextStep::Pending { first, state: text } => {
                    cursor.count += u64::from(first);
                    cursor.text = text;
                    let ranges = text.pending_chars(minimal);
                    state.pending(strings, &ranges, cursor.decoded, cursor.count)
                }
                TextStep::Raw { first, state: text } => {
                    cursor.count += u64::from(first);
                    cursor.text = text;
                    cursor.decoded = cursor.decoded.saturating_add(1);
                    state.feed(strings, &[byte], cursor.decoded - 1, cursor.count)?
                }
                TextStep::Char(c, text) => {
                    cursor.text = text;
                    let bytes = c.encode_utf8(&mut buffer).as_bytes();
                    let depth = cursor.decoded;
                    cursor.decoded = depth.saturating_add(bytes.len() as u32);
                    state.feed(strings, bytes, depth, cursor.count)?
                }
            };
            if !live {
                node = skip;
                continue;
            }
            cursor.at = state.at;
            self.added.extend_from_slice(self.trie.tokens_at(node));
            if skip > node + 1 {
                open.push((skip, cursor));
            }
            node += 1;
        }
        Ok(())
    }

    /// Adds `config`-less tokens whose bytes, stepped from `config`, are allowed.
    pub(super) fn check(
        &mut self,
        config: &Config,
        ids: impl Iterator<Item = u32>,
        bytes: impl Fn(u32) -> Option<&'a [u8]>,
    ) -> Result<(), Full> {
        for id in ids {
            let Some(bytes) = bytes(id) else { continue };
            let mut next = config.clone();
            if self.automaton.steps(&mut next, bytes)?.is_none()
                && self.costs.is_none_or(|costs| self.automaton.can_spell(&next, costs))
            {
                self.added.push(id);
            }
        }
        Ok(())
    }
}

/// The tags of all candidates of a string.
pub(super) fn all_tags(level: &StringLevel) -> SmallBits {
    let mut tags = SmallBits::default();
    level.atoms.iter().for_each(|atom| tags.union(&atom.tags));
    tags
}
