//! Strings of languages: as long as a text keeps to one class of characters, its state is known
//! without the vocabulary, and the vocabulary knows the tokens of the class without the language.

use super::walk::{Closings, Walk};
use crate::automaton::{Atom, CharChain, Config, Full, Level, StringLevel};
use crate::base::Few;
use crate::vocab::ClassText;
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
        let ([only], true) = (level.atoms.as_slice(), knows && level.decoder.text.is_boundary())
        else {
            return Ok(None);
        };
        let (automaton, reach) = (self.source.automaton, self.source.text.free().max_chars());
        let Some(chain) = automaton.char_chain(&only.state, &level.decoder, reach)? else {
            return Ok(None);
        };
        let text = self.source.text.class(vocabulary, start, chain.class);
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
        let mut closings = Closings::default();
        let mut inside = config.clone();
        for group in text.leaving() {
            let Some((at, state)) = chain.after(group.chars) else { continue };
            let after = if group.byte == b'"' {
                closings.of(automaton, config, level, &at, std::iter::once((0, state)))
            } else {
                let next = automaton.follow_byte(&state, &at, group.byte)?;
                next.map(|(decoder, state)| {
                    let atoms = Few::one(Atom { tags: level.atoms[0].tags.clone(), state });
                    let string = StringLevel { decoder, atoms };
                    inside.top = match &config.top {
                        Level::Key(key) => Level::Key(key.unknown(string)),
                        _ => Level::String(string),
                    };
                    &inside
                })
            };
            let Some(after) = after else { continue };
            for &node in &group.nodes {
                if group.byte != b'"' || !self.apart.contains(&node) {
                    self.from(node, after)?;
                }
            }
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
        let groups = text.leaving().iter().filter(|group| u64::from(group.chars) > most);
        let nodes = groups.flat_map(|group| group.nodes.iter());
        let mut longer: Vec<u32> =
            nodes.flat_map(|&node| self.trie.tokens_below(node)).copied().collect();
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
