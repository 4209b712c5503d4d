//! The hot loop: a configuration stepped along the trie.
//!
//! Nodes are visited in depth-first order, which is their order in memory; a refused byte skips its
//! whole subtree. `open` holds the configuration of each ancestor.

use crate::automaton::{At, Automaton, Config, Costs, Level, StringAtom, StringLevel, StringStep};
use crate::base::SmallBits;
use crate::language::{Full, TextState, TextStep};
use crate::values::Strings;
use crate::vocab::Trie;
use smallvec::SmallVec;

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
            } else if matches!(&next.top, Level::String(_)) {
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

    /// Inside a string the state is a few words for each candidate, and what follows the closing
    /// quote depends only on which of them accept.
    fn string(&mut self, start: u32, config: &Config, level: &StringLevel) -> Result<(), Full> {
        let reader = Reader {
            strings: level.atoms.iter().map(|a| self.automaton.strings(a.state.id)).collect(),
            level,
            minimal: self.automaton.is_minimal(),
        };
        let mut closed: Vec<(SmallBits, Config)> = Vec::new();
        // The candidates of all open nodes, one behind the other.
        let mut states: Vec<(u32, At)> =
            (0u32..).zip(&level.atoms).map(|(index, atom)| (index, atom.state.at)).collect();
        let first = Cursor {
            text: level.text,
            count: level.count,
            decoded: level.decoded,
            states: (0, states.len() as u32),
        };
        let end = self.trie.skip(start);
        let mut open: Vec<(u32, Cursor)> = Vec::new();
        let mut node = start + 1;
        while node < end {
            while open.last().is_some_and(|&(end, _)| node >= end) {
                open.pop();
            }
            let mut cursor = open.last().map_or(first, |&(_, cursor)| cursor);
            states.truncate(cursor.states.1 as usize);
            let (byte, skip) = (self.trie.byte(node), self.trie.skip(node));
            match reader.step(&mut cursor, &mut states, byte)? {
                StringStep::Dead => node = skip,
                StringStep::Closed(tags) => {
                    let known = closed.iter().position(|(of, _)| *of == tags);
                    let index = known.unwrap_or_else(|| {
                        let after = self.automaton.close_string(config, &tags);
                        closed.push((tags, after));
                        closed.len() - 1
                    });
                    self.from(node, &closed[index].1)?;
                    node = skip;
                }
                StringStep::Stay => {
                    self.added.extend_from_slice(self.trie.tokens_at(node));
                    if skip > node + 1 {
                        open.push((skip, cursor));
                    }
                    node += 1;
                }
            }
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

/// The part of a string's state that differs from node to node.
#[derive(Clone, Copy)]
struct Cursor {
    text: TextState,
    count: u64,
    decoded: u32,
    /// Where its candidates stand in the list of all.
    states: (u32, u32),
}

/// What does not differ.
struct Reader<'l> {
    level: &'l StringLevel,
    strings: SmallVec<[&'l Strings; 2]>,
    minimal: bool,
}

impl Reader<'_> {
    /// Reads `byte`; the candidates that live on are added behind all others.
    #[inline]
    fn step(
        &self,
        cursor: &mut Cursor,
        states: &mut Vec<(u32, At)>,
        byte: u8,
    ) -> Result<StringStep, Full> {
        let mut buffer = [0; 4];
        let (bytes, text): (&[u8], TextState) = match cursor.text.step(byte, self.minimal) {
            TextStep::Refuse => return Ok(StringStep::Dead),
            TextStep::Close => return Ok(self.close(cursor, states)),
            TextStep::Pending { first, state } => {
                cursor.count += u64::from(first);
                cursor.text = state;
                let ranges = state.pending_chars(self.minimal);
                let Cursor { count, decoded, .. } = *cursor;
                return self.keep(cursor, states, |atom, strings| {
                    Ok(atom.pending(strings, &ranges, decoded, count))
                });
            }
            TextStep::Raw { first, state } => {
                cursor.count += u64::from(first);
                buffer[0] = byte;
                (&buffer[..1], state)
            }
            TextStep::Char(c, state) => (c.encode_utf8(&mut buffer).as_bytes(), state),
        };
        let (depth, count) = (cursor.decoded, cursor.count);
        cursor.text = text;
        cursor.decoded = depth.saturating_add(bytes.len() as u32);
        self.keep(cursor, states, |atom, strings| atom.feed(strings, bytes, depth, count))
    }

    /// Adds those candidates that `live` keeps, as it changed them.
    #[inline]
    fn keep(
        &self,
        cursor: &mut Cursor,
        states: &mut Vec<(u32, At)>,
        live: impl Fn(&mut StringAtom, &Strings) -> Result<bool, Full>,
    ) -> Result<StringStep, Full> {
        let from = states.len() as u32;
        for position in cursor.states.0..cursor.states.1 {
            let (index, at) = states[position as usize];
            let mut atom = StringAtom { id: self.level.atoms[index as usize].state.id, at };
            if live(&mut atom, self.strings[index as usize])? {
                states.push((index, atom.at));
            }
        }
        cursor.states = (from, states.len() as u32);
        Ok(if states.len() as u32 == from { StringStep::Dead } else { StringStep::Stay })
    }

    fn close(&self, cursor: &Cursor, states: &[(u32, At)]) -> StringStep {
        let mut tags = SmallBits::default();
        for &(index, at) in &states[cursor.states.0 as usize..cursor.states.1 as usize] {
            let atom = &self.level.atoms[index as usize];
            let state = StringAtom { id: atom.state.id, at };
            if state.accepts(self.strings[index as usize], cursor.decoded, cursor.count) {
                tags.union(&atom.tags);
            }
        }
        if tags.is_empty() { StringStep::Dead } else { StringStep::Closed(tags) }
    }
}
