//! The hot loop: a configuration stepped along the trie.
//!
//! Nodes are visited in depth-first order, which is their order in memory; a refused byte skips its
//! whole subtree. [`Ancestors`] hold the configuration at each node above.

use super::entry::Source;
use crate::automaton::{
    Atom, Automaton, Config, Decoder, Ending, Full, Level, Reading, StringAtom, StringLevel,
};
use crate::base::SmallBits;
use crate::vocab::{Ancestors, ClassText, FreeText, Quoted, Trie};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub(super) source: Source<'a>,
    pub(super) trie: &'a Trie,
    /// What the trie knows of strings that begin below its root.
    pub(super) quoted: &'a Quoted,
    /// The tokens found.
    pub(super) added: Vec<u32>,
    /// Masks of further ones, where whoever walks takes masks.
    pub(super) masks: Option<Vec<Arc<[u32]>>>,
    /// Tokens that each document has to look at for itself, where that is left out.
    pub(super) recheck: Vec<u32>,
    /// The nodes at which a key of a volatile object begins, where those are left out.
    pub(super) resume: Option<Vec<u32>>,
    /// Nodes at which a known key is closed: they are walked for themselves.
    pub(super) apart: FxHashSet<u32>,
    /// How many shortcuts are nested, one in the subtree of another.
    nested: u32,
}

/// Below a node with more nodes than this, classes of characters are worth asking for.
pub(super) const LARGE: u32 = 400;

/// Shortcuts nest this deep at most: a token may be as long as it likes.
const MAX_NESTED: u32 = 32;

impl<'a> Walk<'a> {
    pub(super) fn new(source: Source<'a>, trie: &'a Trie, quoted: &'a Quoted) -> Self {
        let (added, recheck) = (Vec::new(), Vec::new());
        Walk {
            source,
            trie,
            quoted,
            added,
            masks: None,
            recheck,
            resume: None,
            apart: FxHashSet::default(),
            nested: 0,
        }
    }

    /// Adds the tokens at `node`, which `config` has reached, and those below it.
    pub(super) fn from(&mut self, node: u32, config: &Config) -> Result<(), Full> {
        self.take(node, config);
        self.below(node, config)
    }

    /// Adds the tokens at each of `nodes` and below, to which the bytes of their paths lead from
    /// `start`, which `config` has reached.
    pub(super) fn resume_at(
        &mut self,
        start: u32,
        config: &Config,
        nodes: impl IntoIterator<Item = u32>,
    ) -> Result<(), Full> {
        let before = self.trie.path(start).len();
        for node in nodes {
            let mut next = config.clone();
            let path = self.trie.path(node);
            if self.source.automaton.steps(&mut next, &path[before..])?.is_none() {
                self.from(node, &next)?;
            }
        }
        Ok(())
    }

    /// Adds the tokens that end at `node`.
    fn take(&mut self, node: u32, config: &Config) {
        let tokens = self.trie.tokens_at(node);
        if config.is_doubtful() {
            self.recheck.extend_from_slice(tokens);
        } else if !tokens.is_empty() && self.source.automaton.can_spell(config, self.source.costs) {
            self.added.extend_from_slice(tokens);
        }
    }

    /// Adds the tokens below `start`, which `config` has reached.
    pub(super) fn below(&mut self, start: u32, config: &Config) -> Result<(), Full> {
        if self.trie.skip(start) == start + 1 {
            return Ok(());
        }
        if self.has_shortcut(config) {
            self.nested += 1;
            let done = match &config.top {
                Level::String(level) => self.string(start, config, level),
                Level::Number(level) => self.number(start, config, level),
                Level::Key(level) => self.key(start, config, level),
                _ => Ok(()),
            };
            self.nested -= 1;
            return done;
        }
        self.plain(start, config)
    }

    /// The same by nothing but steps.
    pub(super) fn plain(&mut self, start: u32, config: &Config) -> Result<(), Full> {
        let end = self.trie.skip(start);
        let mut open: Ancestors<Config> = Ancestors::new();
        let mut node = start + 1;
        while node < end {
            let skip = self.trie.skip(node);
            let before = open.above(node).unwrap_or(config);
            let Some(next) = self.step_to(node, before)? else {
                node = skip;
                continue;
            };
            self.take(node, &next);
            if skip == node + 1 {
                node = skip;
            } else if self.has_shortcut(&next) {
                self.below(node, &next)?;
                node = skip;
            } else {
                open.note(skip, next);
                node += 1;
            }
        }
        Ok(())
    }

    /// The configuration at `node`, if its byte may follow `before`. A key that is left to each
    /// document is noted instead.
    pub(super) fn step_to(&mut self, node: u32, before: &Config) -> Result<Option<Config>, Full> {
        let byte = self.trie.byte(node);
        if self.leaves_out_key(before, byte) {
            self.resume.get_or_insert_default().push(node);
            return Ok(None);
        }
        if !before.top.may_take(byte) {
            return Ok(None);
        }
        let mut next = before.clone();
        Ok(self.source.automaton.step(&mut next, byte)?.then_some(next))
    }

    /// Whether the subtree is walked with a state smaller than a configuration.
    fn has_shortcut(&self, config: &Config) -> bool {
        let small = match &config.top {
            Level::String(_) => true,
            Level::Key(_) if self.source.automaton.is_item_short(config) => false,
            Level::Key(level) => !level.free || level.is_fresh(),
            // It matters what its value is.
            Level::Number(_) if self.source.automaton.tracks(config) => false,
            Level::Number(_) if self.source.automaton.is_number_marked(config) => false,
            Level::Number(level) => level.atoms.len() == 1,
            _ => false,
        };
        let doubtful = config.is_doubtful() && !matches!(config.top, Level::String(_));
        small && !doubtful && self.source.costs.is_none() && self.nested < MAX_NESTED
    }

    /// Whether `byte` begins a key that is left to each document.
    pub(super) fn leaves_out_key(&self, config: &Config, byte: u8) -> bool {
        byte == b'"'
            && self.resume.is_some()
            && matches!(&config.top, Level::Object(object) if self.source.automaton.is_volatile(object))
    }

    /// Inside a string.
    fn string(&mut self, start: u32, config: &Config, level: &StringLevel) -> Result<(), Full> {
        let inside = self.text(start, config, level)?;
        self.add(&inside);
        Ok(())
    }

    /// Adds what is allowed inside a text.
    pub(super) fn add(&mut self, inside: &Inside<'_>) {
        let (within, most) = match inside {
            Inside::Added => return,
            Inside::Free(text, most) => (text.within(), *most),
            Inside::Class(text, most) => (text.within(), *most),
        };
        let tokens = within.up_to(most);
        match &mut self.masks {
            // Above one token for a word, the words are less to read.
            Some(masks) if tokens.len() > self.source.masks.words() => {
                masks.push(within.mask(most).0);
            }
            _ => self.added.extend_from_slice(tokens),
        }
    }

    /// The text of a string or key below `start`, which `config` has reached. What is allowed inside
    /// it is added, or returned where the vocabulary knows it; what lies behind it is added.
    pub(super) fn text(
        &mut self,
        start: u32,
        config: &Config,
        level: &StringLevel,
    ) -> Result<Inside<'a>, Full> {
        let whole = start == Trie::ROOT && std::ptr::eq(self.trie, self.source.vocabulary.trie());
        let quoted = if whole {
            Some(self.source.text.free())
        } else {
            self.quoted.at(start).filter(|_| level.decoder == Decoder::START)
        };
        if self.source.automaton.is_text_marked(config, level) {
            self.each_text(start, config, level, false)?;
            return Ok(Inside::Added);
        }
        if self.source.automaton.tracks(config) {
            if let Some(text) = quoted.filter(|_| self.outlasts_token(level)) {
                self.exact_exits(start, config, text)?;
                return Ok(Inside::Free(text, u64::MAX));
            }
            self.plain(start, config)?;
            return Ok(Inside::Added);
        }
        if let Some(text) = quoted
            && self.is_free(level)
            && matches!(config.top, Level::String(_))
        {
            return Ok(Inside::Free(text, self.free_exits(config, level, text)?));
        }
        if let Some(text) = quoted
            && self.never_dies(level)
        {
            self.exact_exits(start, config, text)?;
            return Ok(Inside::Free(text, u64::MAX));
        }
        if whole || self.trie.skip(start) - start > LARGE {
            if matches!(config.top, Level::String(_)) && self.one_by_one(start, config, level)? {
                return Ok(Inside::Added);
            }
            if let Some((text, most)) = self.chained(start, config, level)? {
                return Ok(Inside::Class(text, most));
            }
        }
        self.each_text(start, config, level, false)?;
        Ok(Inside::Added)
    }

    /// The same for several candidates, each of which lives and ends for itself: what one of them
    /// allows is allowed. Languages are asked one by one, finite sets together. `false`: there are
    /// no languages among several, and nothing was added.
    fn one_by_one(
        &mut self,
        start: u32,
        config: &Config,
        level: &StringLevel,
    ) -> Result<bool, Full> {
        let is_finite = |atom: &&Atom<_>| self.source.automaton.is_finite_text(&atom.state);
        let (texts, languages): (Vec<_>, Vec<_>) = level.atoms.iter().partition(is_finite);
        if level.atoms.len() < 2 || languages.is_empty() {
            return Ok(false);
        }
        let alone = languages.into_iter().map(|atom| vec![atom]);
        for atoms in alone.chain([texts]).filter(|atoms| !atoms.is_empty()) {
            let atoms = atoms.into_iter().cloned().collect();
            let only = StringLevel { decoder: level.decoder, atoms };
            let mut alone = config.clone();
            alone.top = Level::String(only.clone());
            self.string(start, &alone, &only)?;
        }
        Ok(true)
    }

    /// The same byte by byte: the state is a few words for each candidate, and what follows the
    /// closing quote depends only on which of them accept; or, if `exact`, on the text as well. Where
    /// no candidate may have a value left, the tokens are tried out for each document.
    pub(super) fn each_text(
        &mut self,
        start: u32,
        config: &Config,
        level: &StringLevel,
        exact: bool,
    ) -> Result<(), Full> {
        let (automaton, trie) = (self.source.automaton, self.trie);
        let minimal = automaton.is_minimal();
        let strings = |index: u32| automaton.strings(level.atoms[index as usize].state.id);
        let mut closings = Closings::default();
        // The candidates of all open nodes, one node's behind the other's.
        let mut states: Vec<(u32, StringAtom)> =
            (0u32..).zip(&level.atoms).map(|(index, atom)| (index, atom.state)).collect();
        let (marked, doubtful) = (automaton.is_text_marked(config, level), config.is_doubtful());
        let first = Cursor { decoder: level.decoder, states: (0, states.len()), doubtful };
        let end = trie.skip(start);
        let mut open: Ancestors<Cursor> = Ancestors::new();
        let mut node = start + 1;
        while node < end {
            let mut cursor = open.above(node).copied().unwrap_or(first);
            let (from, to) = cursor.states;
            states.truncate(to);
            let skip = trie.skip(node);
            let reading = cursor.decoder.read(trie.byte(node), minimal);
            if reading == Reading::Close {
                if self.apart.contains(&node) {
                    node = skip;
                    continue;
                }
                let at = states[from..to].iter().copied();
                if cursor.doubtful {
                    self.recheck.extend_from_slice(trie.tokens_below(node));
                } else if exact {
                    self.resume_at(start, config, [node])?;
                } else if let Some(after) =
                    closings.of(automaton, config, level, &cursor.decoder, at)
                {
                    self.from(node, after)?;
                }
                node = skip;
                continue;
            }
            for position in from..to {
                let (index, mut state) = states[position];
                if state.follow(strings(index), reading, &cursor.decoder, minimal)? {
                    states.push((index, state));
                }
            }
            if states.len() == to {
                node = skip;
                continue;
            }
            cursor.doubtful |= marked
                && automaton.may_texts_be_spent(config, level, &states[to..], &cursor.decoder);
            let found = if cursor.doubtful { &mut self.recheck } else { &mut self.added };
            found.extend_from_slice(trie.tokens_at(node));
            if skip > node + 1 {
                cursor.states = (to, states.len());
                open.note(skip, cursor);
            }
            node += 1;
        }
        Ok(())
    }

    /// The length range of a candidate that takes any text.
    pub(super) fn bounds(&self, atom: &StringAtom) -> (u64, Option<u64>) {
        self.source.automaton.free_lengths(atom).unwrap_or((0, Some(0)))
    }

    /// Whether any text may go on here, a maximum length aside.
    pub(super) fn is_free(&self, level: &StringLevel) -> bool {
        level.decoder.text.is_boundary()
            && level
                .atoms
                .iter()
                .all(|atom| self.source.automaton.free_lengths(&atom.state).is_some())
    }

    /// Whether any text may go on here, whatever it is, because one candidate takes it.
    pub(super) fn never_dies(&self, level: &StringLevel) -> bool {
        level.decoder.text.is_boundary()
            && level.atoms.iter().any(|atom| self.source.automaton.never_dies(&atom.state))
    }

    /// Whether any text goes on behind any token.
    pub(super) fn outlasts_token(&self, level: &StringLevel) -> bool {
        let reach = level.decoder.count.saturating_add(self.source.text.free().max_chars());
        let outlasts = |atom: &Atom<StringAtom>| {
            let lengths = self.source.automaton.free_text(&atom.state);
            lengths.is_some_and(|max| max.is_none_or(|max| reach < max))
        };
        level.decoder.text.is_boundary() && level.atoms.iter().any(outlasts)
    }

    /// Free text of bounded length: adds what lies behind the closing quotes. Returned is how many
    /// more characters may begin.
    pub(super) fn free_exits(
        &mut self,
        config: &Config,
        level: &StringLevel,
        text: &FreeText,
    ) -> Result<u64, Full> {
        let read = level.decoder.count;
        let mut last: Option<(SmallBits, Config)> = None;
        for exits in text.exits().chunk_by(|a, b| a.chars == b.chars) {
            let count = read.saturating_add(u64::from(exits[0].chars));
            let mut tags = SmallBits::default();
            for atom in &level.atoms {
                let (min, max) = self.bounds(&atom.state);
                if count >= min && max.is_none_or(|max| count <= max) {
                    tags.union(&atom.tags);
                }
            }
            if tags.is_empty() {
                continue;
            }
            if last.as_ref().is_none_or(|(known, _)| *known != tags) {
                let after = self.source.automaton.close_scalar(config, &tags);
                last = Some((tags, after));
            }
            let Some((_, after)) = &last else { continue };
            for exit in exits {
                self.from(exit.node, after)?;
            }
        }
        let left = level.atoms.iter().map(|atom| match self.bounds(&atom.state).1 {
            Some(max) => max.saturating_sub(read),
            None => u64::MAX,
        });
        Ok(left.max().unwrap_or(0))
    }

    /// Adds what lies behind the closing quotes below `start`, which `config` has reached, where it
    /// matters which text is closed.
    pub(super) fn exact_exits(
        &mut self,
        start: u32,
        config: &Config,
        text: &FreeText,
    ) -> Result<(), Full> {
        self.resume_at(start, config, text.exits().iter().map(|exit| exit.node))
    }

    /// Adds those of `ids` whose bytes, stepped from `config`, are allowed.
    pub(super) fn check(
        &mut self,
        config: &Config,
        ids: impl Iterator<Item = u32>,
        bytes: impl Fn(u32) -> Option<&'a [u8]>,
    ) -> Result<(), Full> {
        // The token before, and what its bytes led to, as far as they were taken: the next one often
        // begins alike.
        let (mut last, mut open): (&[u8], Vec<Config>) = (&[], Vec::new());
        for id in ids {
            let Some(bytes) = bytes(id) else { continue };
            let same = last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let refused = same > open.len();
            last = if refused { last } else { bytes };
            if refused {
                continue;
            }
            open.truncate(same);
            while let Some(&byte) = bytes.get(open.len()) {
                let mut next = open.last().unwrap_or(config).clone();
                if !self.source.automaton.step(&mut next, byte)? {
                    break;
                }
                open.push(next);
            }
            let at = open.last().unwrap_or(config);
            if open.len() == bytes.len() && self.source.automaton.can_spell(at, self.source.costs) {
                self.added.push(id);
            }
        }
        Ok(())
    }
}

/// What is allowed inside a text.
pub(super) enum Inside<'a> {
    /// It was added.
    Added,
    /// Any text of at most so many characters.
    Free(&'a FreeText, u64),
    /// Any text of at most so many characters of a class.
    Class(Arc<ClassText>, u64),
}

/// Which candidates of a text end, and how.
type Ends = SmallVec<[(u32, Ending); 1]>;

/// What follows the closing quote of a string or key, by how it may end.
#[derive(Default)]
pub(super) struct Closings {
    known: Vec<(Ends, Option<Config>)>,
}

impl Closings {
    /// The configuration behind the quote, where the candidates of `level` stand `at` these states;
    /// `None` where none can end.
    pub(super) fn of(
        &mut self,
        automaton: &Automaton,
        config: &Config,
        level: &StringLevel,
        decoder: &Decoder,
        at: impl Iterator<Item = (u32, StringAtom)> + Clone,
    ) -> Option<&Config> {
        let end = |(index, state): (u32, StringAtom)| {
            let tags = &level.atoms[index as usize].tags;
            Some((index, automaton.ending(config, tags, &state, decoder)?))
        };
        let ends: Ends = at.clone().filter_map(end).collect();
        let known = self.known.iter().position(|(known, _)| *known == ends);
        let place = known.unwrap_or_else(|| {
            let after = close(automaton, config, level, decoder, &ends, at);
            self.known.push((ends, after));
            self.known.len() - 1
        });
        self.known[place].1.as_ref()
    }
}

fn close(
    automaton: &Automaton,
    config: &Config,
    level: &StringLevel,
    decoder: &Decoder,
    ends: &[(u32, Ending)],
    at: impl Iterator<Item = (u32, StringAtom)>,
) -> Option<Config> {
    if ends.is_empty() {
        return None;
    }
    let Level::Key(key) = &config.top else {
        let mut tags = SmallBits::default();
        ends.iter().for_each(|&(index, _)| tags.union(&level.atoms[index as usize].tags));
        return Some(automaton.close_scalar(config, &tags));
    };
    let atom = |(index, state): (u32, StringAtom)| {
        let tags = level.atoms[index as usize].tags.clone();
        Atom { tags, state }
    };
    let string = StringLevel { decoder: *decoder, atoms: at.map(atom).collect() };
    automaton.close_key(config, &key.unknown(string))
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
    decoder: Decoder,
    /// Where its candidates stand in the list of all.
    states: (usize, usize),
    /// Perhaps none of them has a value left.
    doubtful: bool,
}
