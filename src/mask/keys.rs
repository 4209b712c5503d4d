//! Keys: walked beside the names that may come, not over the whole trie.
//!
//! Of a closed object only names may come, so a node is visited only where some name goes on with
//! its byte. In an open object any text may; what has to be found beside the names is where a key is
//! closed that is a name, or has come already, since those go on otherwise than all the rest.

use super::entry::Source;
use super::walk::{Inside, Walk};
use crate::automaton::{Automaton, Config, Full, KeyLevel, KeyStep, Level, ObjectLevel};
use crate::vocab::{Exit, FreeText, Trie};

/// The nodes below some node along which a key becomes a known one.
#[derive(Default)]
struct Known {
    /// The key can still become one.
    inside: Vec<u32>,
    /// It was one, and its closing quote has just been read.
    exits: Vec<(u32, KeyLevel)>,
    /// Somewhere a key could have become another one, had they not all come.
    exhausted: bool,
}

/// Follows the keys of `object` that begin with `key` and are names or have come already.
fn known_keys(
    automaton: &Automaton,
    trie: &Trie,
    start: u32,
    object: &ObjectLevel,
    key: &KeyLevel,
) -> Result<Known, Full> {
    let mut known = Known::default();
    let mut full = false;
    let mut open = vec![(start, key.clone())];
    while let Some((node, key)) = open.pop() {
        let mut visit = |child: u32| {
            if automaton.refuses_text(&key.string, trie.byte(child)) {
                return;
            }
            let mut next = key.clone();
            let step = automaton.step_key_level(object, &mut next, trie.byte(child));
            match step.unwrap_or_else(|Full| {
                full = true;
                KeyStep::Dead
            }) {
                // Quotes are looked for below.
                KeyStep::Dead | KeyStep::Closed => {}
                KeyStep::Exhausted | KeyStep::Thinned => known.exhausted = true,
                KeyStep::Stay if automaton.may_be_known_key(object, &next) => {
                    known.inside.push(child);
                    if trie.skip(child) > child + 1 {
                        open.push((child, next));
                    }
                }
                KeyStep::Stay => {}
            }
        };
        let text = key.string.decoder.text;
        if text.is_escape_partial() {
            trie.children(node).for_each(&mut visit);
            continue;
        }
        let mut bytes = automaton.known_key_bytes(object, &key);
        if text.is_boundary() {
            bytes.insert(b'\\');
        }
        bytes.iter().filter_map(|byte| trie.child(node, byte)).for_each(&mut visit);
        if text.is_boundary()
            && let Some(child) = trie.child(node, b'"')
            && automaton.is_known_key(object, &key)
        {
            known.exits.push((child, key));
        }
    }
    if full { Err(Full) } else { Ok(known) }
}

impl<'a> Walk<'a> {
    /// Inside a key.
    pub(super) fn key(
        &mut self,
        start: u32,
        config: &Config,
        level: &KeyLevel,
    ) -> Result<(), Full> {
        let quoted = self.quoted.at(start).filter(|_| level.is_fresh());
        let followed = level.is_open() && self.source.automaton.tracks(config);
        if let Some(text) = quoted
            && self.source.automaton.is_free_key(level)
        {
            self.added.extend_from_slice(text.within().up_to(u64::MAX));
            if followed {
                return self.exact_exits(start, config, text);
            }
            return self.free_key(start, config, level, text);
        }
        if level.free || followed {
            return self.plain(start, config);
        }
        if level.is_open() {
            let inside = self.ruled_key(start, config, level)?;
            self.add(&inside);
            return Ok(());
        }
        let Some(Level::Object(object)) = config.parent() else { return Ok(()) };
        let known = known_keys(self.source.automaton, self.trie, start, object, level)?;
        for node in known.inside {
            self.added.extend_from_slice(self.trie.tokens_at(node));
        }
        self.close_known(config, known.exits)
    }

    /// A key for which an object has rules: read as the string of a language, whose text is not
    /// known; the tokens that end a key which somebody names, or which has come, are walked for
    /// themselves.
    pub(super) fn ruled_key(
        &mut self,
        start: u32,
        config: &Config,
        level: &KeyLevel,
    ) -> Result<Inside<'a>, Full> {
        let (automaton, trie) = (self.source.automaton, self.trie);
        let Some(Level::Object(object)) = config.parent() else { return Ok(Inside::Added) };
        let known = known_keys(automaton, trie, start, object, level)?;
        if known.exhausted {
            // It matters everywhere which keys have come.
            self.plain(start, config)?;
            return Ok(Inside::Added);
        }
        self.apart.extend(known.exits.iter().map(|(node, _)| *node));
        let outer = self.leave_out_keys();
        let inside = if automaton.outlasts(object, self.source.most_keys()) {
            self.text(start, config, &level.string)?
        } else {
            // Another key may be the last.
            self.each_text(start, config, &level.string, true)?;
            Inside::Added
        };
        self.keys_left_out(outer);
        for node in known.inside {
            self.added.extend_from_slice(trie.tokens_at(node));
        }
        self.close_known(config, known.exits)?;
        Ok(inside)
    }

    /// A free key that begins at `start`, the inside of which was added: a key that nobody names, and
    /// that has not come, closes like any other.
    fn free_key(
        &mut self,
        start: u32,
        config: &Config,
        level: &KeyLevel,
        text: &FreeText,
    ) -> Result<(), Full> {
        let Some(Level::Object(object)) = config.parent() else { return Ok(()) };
        let mut known = known_keys(self.source.automaton, self.trie, start, object, level)?.exits;
        known.sort_unstable_by_key(|&(node, _)| node);
        let is_known = |exit: &Exit| known.binary_search_by_key(&exit.node, |&(n, _)| n).is_ok();
        let unknown = level.unknown(level.string.clone());
        if let Some(after) = self.source.automaton.close_key(config, &unknown) {
            let outer = self.leave_out_keys();
            for exit in text.exits().iter().filter(|exit| !is_known(exit)) {
                self.from(exit.node, &after)?;
            }
            self.keys_left_out(outer);
        }
        self.close_known(config, known)
    }

    /// Behind a key of which the text is not known, a further one is a matter of the document: from
    /// here on such keys are left out. Returned is what [`Walk::keys_left_out`] wants back.
    fn leave_out_keys(&mut self) -> Option<Vec<u32>> {
        self.resume.replace(Vec::new())
    }

    /// Leaves the keys that were left out to whoever asks for this document.
    fn keys_left_out(&mut self, outer: Option<Vec<u32>>) {
        let nodes = std::mem::replace(&mut self.resume, outer).unwrap_or_default();
        match &mut self.resume {
            Some(resume) => resume.extend(nodes),
            None => {
                let tokens = nodes.into_iter().flat_map(|node| self.trie.tokens_below(node));
                self.recheck.extend(tokens);
            }
        }
    }

    /// Adds what lies behind keys that are known.
    fn close_known(&mut self, config: &Config, exits: Vec<(u32, KeyLevel)>) -> Result<(), Full> {
        for (node, key) in exits {
            if let Some(after) = self.source.automaton.close_key(config, &key) {
                self.from(node, &after)?;
            }
        }
        Ok(())
    }
}

impl Source<'_> {
    /// The most keys that one token can hold: the shortest member is `"":1,`.
    fn most_keys(self) -> u64 {
        self.text.free().max_chars() / 5 + 2
    }

    /// The configuration inside a key that forgets which other keys have come, and the tokens that
    /// close one of those, which it allows all the same. `None` where nothing depends on them, or
    /// more than where a key is closed.
    pub(super) fn forget_keys(self, config: &Config) -> Result<Option<(Config, Vec<u32>)>, Full> {
        let (automaton, trie) = (self.automaton, self.vocabulary.trie());
        let Some(forgetful) = automaton.forget_keys(config, self.most_keys()) else {
            return Ok(None);
        };
        let (Level::Key(key), Some(Level::Object(object))) = (&config.top, config.parent()) else {
            return Ok(None);
        };
        let known = known_keys(automaton, trie, Trie::ROOT, object, key)?;
        let refused =
            known.exits.iter().filter(|(_, key)| automaton.close_key(config, key).is_none());
        let tokens = refused.flat_map(|(node, _)| trie.tokens_below(*node)).copied().collect();
        Ok((!known.exhausted).then_some((forgetful, tokens)))
    }

    /// A free key from a character's border on: free text; a key that nobody names closes like any
    /// other; the tokens that close one which somebody names, or which has come, are walked for
    /// themselves.
    pub(super) fn free_key(
        self,
        walk: &mut Walk<'_>,
        config: &Config,
        key: &KeyLevel,
    ) -> Result<(), Full> {
        let Some(Level::Object(object)) = config.parent() else { return Ok(()) };
        let unknown = key.unknown(key.string.clone());
        if let Some(after) = self.automaton.close_key(config, &unknown) {
            let behind = self.masks.behind(self, &after)?;
            walk.added.extend_from_slice(&behind.added);
            walk.recheck.extend_from_slice(&behind.recheck);
            let suffixes = self.text.suffixes();
            let tokens = behind.resume.iter().flat_map(|&node| suffixes.tokens_below(node));
            walk.recheck.extend(tokens);
        }
        let trie = self.vocabulary.trie();
        let known = known_keys(self.automaton, trie, Trie::ROOT, object, key)?.exits;
        if known.is_empty() {
            return Ok(());
        }
        let mut tokens: Vec<u32> =
            known.iter().flat_map(|(node, _)| trie.tokens_below(*node)).copied().collect();
        tokens.sort_unstable();
        walk.added.retain(|id| tokens.binary_search(id).is_err());
        walk.recheck.retain(|id| tokens.binary_search(id).is_err());
        walk.close_known(config, known)
    }
}
