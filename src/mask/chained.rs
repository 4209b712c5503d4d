//! Strings of languages: as long as a text keeps to one class of characters, its state is known
//! without the vocabulary, and the vocabulary knows the tokens of the class without the language.

use super::walk::{Closings, LARGE, Walk};
use crate::automaton::{Atom, CharChain, Config, Decoder, Full, Level, StringAtom, StringLevel};
use crate::base::Few;
use crate::vocab::{Ancestors, ClassText};
use std::sync::Arc;

impl<'a> Walk<'a> {
    /// The text below `start`, which `config` has reached, by classes: walked are only the tokens
    /// that leave the class. Returned are those inside it, of which as many characters are allowed,
    /// for the caller to add. `None` where that is no use.
    pub(super) fn chained(
        &mut self,
        start: u32,
        config: &Config,
        level: &StringLevel,
    ) -> Result<Option<(Arc<ClassText>, u64)>, Full> {
        let vocabulary = self.source.vocabulary;
        let knows = std::ptr::eq(self.trie, vocabulary.trie()) && self.source.costs.is_none();
        let ([only], true) = (level.atoms.as_slice(), knows) else {
            return Ok(None);
        };
        let (automaton, reach) = (self.source.automaton, self.source.text.free().max_chars());
        let Some(chain) = automaton.char_chain(&only.state, &level.decoder, reach)? else {
            return Ok(None);
        };
        let text = self.source.text.class(vocabulary, start, chain.class.clone());
        self.leaving(config, level, &chain, &text)?;
        if chain.is_cut() {
            self.longer(start, config, &chain, &text)?;
        }
        Ok(Some((text, chain.most())))
    }

    /// Adds the tokens that leave the class, as far as the chain reaches.
    fn leaving(
        &mut self,
        config: &Config,
        level: &StringLevel,
        chain: &CharChain,
        text: &ClassText,
    ) -> Result<(), Full> {
        let automaton = self.source.automaton;
        let Some(only) = level.atoms.first() else { return Ok(()) };
        let mut closings = Closings::default();
        let mut inside = config.clone();
        for group in text.leaving() {
            let place = automaton.along(chain, &only.state, &level.decoder, group.chars);
            let Some((at, state)) = place else { continue };
            if group.bytes.bytes() == b"\"" {
                let ends = std::iter::once((0, state));
                if let Some(after) = closings.of(automaton, config, level, &at, ends) {
                    for &node in &group.nodes {
                        if !self.apart.contains(&node) {
                            self.from(node, after)?;
                        }
                    }
                }
                continue;
            }
            let mut place = Some((at, state));
            for &byte in group.bytes.bytes() {
                let Some((at, state)) = place else { break };
                place = automaton.follow_byte(&state, &at, byte)?;
            }
            let Some((decoder, state)) = place else { continue };
            self.added.extend_from_slice(&group.tokens);
            let atoms = Few::one(Atom { tags: only.tags.clone(), state });
            let string = StringLevel { decoder, atoms };
            inside.top = match &config.top {
                Level::Key(key) => Level::Key(key.unknown(string)),
                _ => Level::String(string),
            };
            let is_plain = matches!(config.top, Level::String(_)) && !config.is_doubtful();
            for &node in &group.nodes {
                if is_plain && self.trie.skip(node) - node <= LARGE {
                    self.one_text(node, config, level, (decoder, state), &mut closings)?;
                } else {
                    self.from(node, &inside)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the tokens at `node` and below, at which the only candidate of the text of `config` stands
    /// at `place`.
    fn one_text(
        &mut self,
        node: u32,
        config: &Config,
        level: &StringLevel,
        place: (Decoder, StringAtom),
        closings: &mut Closings,
    ) -> Result<(), Full> {
        let (automaton, trie) = (self.source.automaton, self.trie);
        self.added.extend_from_slice(trie.tokens_at(node));
        let mut open: Ancestors<(Decoder, StringAtom)> = Ancestors::new();
        let (mut node, end) = (node + 1, trie.skip(node));
        while node < end {
            let (at, state) = open.above(node).copied().unwrap_or(place);
            let (byte, skip) = (trie.byte(node), trie.skip(node));
            if byte == b'"' && at.text.is_boundary() {
                let ends = std::iter::once((0, state));
                if let Some(after) = closings.of(automaton, config, level, &at, ends) {
                    self.from(node, after)?;
                }
                node = skip;
                continue;
            }
            let Some(next) = automaton.follow_byte(&state, &at, byte)? else {
                node = skip;
                continue;
            };
            self.added.extend_from_slice(trie.tokens_at(node));
            if skip > node + 1 {
                open.note(skip, next);
            }
            node += 1;
        }
        Ok(())
    }

    /// The few tokens that are longer than the chain, each looked at for itself. Behind a closing
    /// quote may stand a key, which is a matter of the document.
    fn longer(
        &mut self,
        start: u32,
        config: &Config,
        chain: &CharChain,
        text: &ClassText,
    ) -> Result<(), Full> {
        let (vocabulary, before) = (self.source.vocabulary, self.trie.path(start).len());
        let most = chain.most();
        let mut longer = Vec::new();
        for group in text.leaving().iter().filter(|group| u64::from(group.chars) > most) {
            longer.extend_from_slice(&group.tokens);
            let below = group.nodes.iter().flat_map(|&node| self.trie.tokens_below(node));
            longer.extend(below);
        }
        let within = text.within();
        longer.extend_from_slice(&within.up_to(u64::MAX)[within.up_to(most).len()..]);
        let rest = |id| vocabulary.text_bytes(id).and_then(|bytes| bytes.get(before..));
        if self.resume.is_some() {
            let closes = |id: &u32| rest(*id).is_some_and(|bytes| bytes.contains(&b'"'));
            let (recheck, inside): (Vec<u32>, Vec<u32>) = longer.into_iter().partition(closes);
            self.recheck.extend(recheck);
            longer = inside;
        }
        self.check(config, longer.into_iter(), rest)
    }
}
