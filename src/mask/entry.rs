//! One mask in the form in which it is kept: a shared base and the tokens added to it.

use super::bits::{Filling, zeros};
use super::cache::Masks;
use super::walk::{Inside, Walk, all_tags};
use crate::automaton::{Automaton, Config, Costs, Full, Level, StringLevel, is_number_byte};
use crate::vocab::{TextTables, Trie, Vocabulary};
use std::sync::Arc;

/// The words of a mask.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) words: Arc<[u32]>,
    /// How many tokens it allows.
    pub(super) count: usize,
    /// The vocabulary's own: other masks share it.
    is_shared: bool,
}

impl Base {
    fn shared((words, count): (Arc<[u32]>, usize)) -> Base {
        Base { words, count, is_shared: true }
    }
}

/// A mask as what is added to some base.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// A mask to begin with.
    pub(super) base: Option<Base>,
    pub(super) added: Box<[u32]>,
    /// Nodes at which a key of a volatile object begins: what lies from there on is asked for each
    /// document anew.
    pub(super) resume: Box<[u32]>,
    /// The same for what follows the closing quote of a string: nodes of the suffixes' trie.
    pub(super) resume_behind: Box<[u32]>,
    /// Tokens that may hold such a key behind another one.
    pub(super) recheck: Box<[u32]>,
}

impl Entry {
    /// Bytes that the entry takes.
    pub(super) fn size(&self) -> usize {
        let own = self.base.as_ref().filter(|base| !base.is_shared);
        let words = own.map_or(0, |base| base.words.len());
        let lists = [&self.added, &self.resume, &self.resume_behind, &self.recheck];
        size_of::<Entry>() + 4 * (words + lists.iter().map(|list| list.len()).sum::<usize>())
    }
}

/// What may follow the closing quote of a string or key: the same for every text before it.
#[derive(Debug, Default)]
pub(super) struct Behind {
    pub(super) added: Box<[u32]>,
    /// Nodes of the suffixes' trie at which a key of a volatile object begins.
    pub(super) resume: Box<[u32]>,
    /// Tokens that each document has to look at for itself.
    pub(super) recheck: Box<[u32]>,
}

impl Behind {
    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of::<Behind>() + 4 * (self.added.len() + self.resume.len() + self.recheck.len())
    }
}

/// What masks are made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) automaton: &'a Automaton,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) text: &'a TextTables,
    /// Over a poor vocabulary: what can be spelled.
    pub(super) costs: Option<&'a Costs>,
    /// What is kept.
    pub(super) masks: &'a Masks,
}

impl<'a> Source<'a> {
    /// The mask at `config`. `shared`: for other documents, too, so what depends on this one alone
    /// is left out.
    pub(super) fn entry(self, config: &Config, shared: bool) -> Result<Entry, Full> {
        let trie = self.vocabulary.trie();
        let mut walk = Walk::new(self, trie, self.text.quoted());
        walk.masks = Some(Vec::new());
        if shared {
            walk.resume = Some(Vec::new());
        }
        let mut entry = Entry::default();
        let free = |chars| Base::shared(self.text.free().within().mask(chars));
        match &config.top {
            Level::String(level) if self.automaton.is_text_marked(config, level) => {
                walk.each_text(Trie::ROOT, config, level, false)?;
            }
            _ if config.is_doubtful() => walk.plain(Trie::ROOT, config)?,
            Level::String(level) if self.automaton.tracks(config) => {
                if self.costs.is_none() && walk.outlasts_token(level) {
                    entry.base = Some(free(u64::MAX));
                    walk.exact_exits(Trie::ROOT, config, self.text.free())?;
                } else {
                    walk.plain(Trie::ROOT, config)?;
                }
            }
            Level::Key(key) if self.automaton.tracks(config) && key.is_open() => {
                let text = key.string.decoder.text;
                if self.costs.is_none() && key.free && text.is_boundary() {
                    entry.base = Some(free(u64::MAX));
                    walk.exact_exits(Trie::ROOT, config, self.text.free())?;
                } else {
                    walk.plain(Trie::ROOT, config)?;
                }
            }
            Level::String(level) if walk.is_free(level) => {
                let (left, behind) = self.free_string(&mut walk, config, level)?;
                entry.base = self.spells(config).then(|| free(left));
                entry.resume_behind = behind;
            }
            Level::String(level) if self.costs.is_none() => {
                entry.base = self.inside(walk.text(Trie::ROOT, config, level)?);
            }
            Level::Key(key)
                if self.automaton.is_free_key(key)
                    && key.string.decoder.text.is_boundary()
                    && self.spells(config) =>
            {
                entry.base = Some(free(u64::MAX));
                self.free_key(&mut walk, config, key)?;
            }
            Level::Key(key) if key.is_open() && self.costs.is_none() && !key.free => {
                entry.base = self.inside(walk.ruled_key(Trie::ROOT, config, key)?);
            }
            Level::String(_) => walk.below(Trie::ROOT, config)?,
            Level::Key(_) | Level::Literal(_) => walk.below(Trie::ROOT, config)?,
            Level::Number(_) => {
                self.number(&mut walk, config)?;
                if let Some(after) = self.automaton.close_number(config) {
                    self.structure(&mut walk, &after)?;
                }
            }
            Level::Value(_) | Level::Object(_) | Level::Array(_) | Level::End(_) => {
                self.structure(&mut walk, config)?;
            }
        }
        if self.automaton.can_end(config) {
            walk.added.extend_from_slice(self.vocabulary.end_ids());
        }
        let masks = walk.masks.unwrap_or_default();
        let words = self.masks.words();
        if walk.added.len() > words || !masks.is_empty() {
            let mut dense = zeros(words);
            let base = entry.base.as_ref().map(|base| (&*base.words, base.count));
            let mut filling = Filling::new(Arc::make_mut(&mut dense), base);
            masks.iter().for_each(|mask| filling.add_mask(mask));
            filling.add(&walk.added);
            let count = filling.done().allowed();
            entry.base = Some(Base { words: dense, count, is_shared: false });
        } else {
            entry.added = walk.added.into();
        }
        entry.recheck = walk.recheck.into();
        entry.resume = walk.resume.unwrap_or_default().into();
        Ok(entry)
    }

    /// The mask of what is allowed inside a text, where it was not added.
    fn inside(self, inside: Inside<'_>) -> Option<Base> {
        match inside {
            Inside::Added => None,
            Inside::Free(text, most) => Some(Base::shared(text.within().mask(most))),
            Inside::Class(text, most) => Some(Base::shared(text.within().mask(most))),
        }
    }

    pub(super) fn spells(self, config: &Config) -> bool {
        self.automaton.can_spell(config, self.costs)
    }

    /// Free text: the base mask, and what may follow the closing quote. Returned are the base's
    /// bound in characters, and the suffixes' nodes to resume at.
    fn free_string(
        self,
        walk: &mut Walk<'a>,
        config: &Config,
        level: &StringLevel,
    ) -> Result<(u64, Box<[u32]>), Full> {
        let read = level.decoder.count;
        let reach = read.saturating_add(self.text.free().max_chars());
        let everywhere = level.atoms.iter().all(|atom| {
            let (min, max) = walk.bounds(&atom.state);
            min <= read && max.is_none_or(|max| reach <= max)
        });
        if everywhere {
            let after = self.automaton.close_scalar(config, &all_tags(level));
            let behind = self.masks.behind(self, &after)?;
            walk.added.extend_from_slice(&behind.added);
            walk.recheck.extend_from_slice(&behind.recheck);
            return Ok((u64::MAX, behind.resume.clone()));
        }
        let left = walk.free_exits(config, level, self.text.free())?;
        Ok((left, Box::default()))
    }

    /// What follows a closing quote after which the configuration is `after`, for all tokens that
    /// hold one.
    pub(super) fn behind(self, after: &Config) -> Result<Behind, Full> {
        let mut walk = Walk::new(self, self.text.suffixes(), self.text.quoted_suffixes());
        walk.resume = Some(Vec::new());
        walk.from(Trie::ROOT, after)?;
        let resume = walk.resume.unwrap_or_default().into();
        Ok(Behind { added: walk.added.into(), resume, recheck: walk.recheck.into() })
    }

    /// What an entry leaves to each document. `relaxed`: what the entry was made for, where that is
    /// not `config` itself.
    pub(super) fn for_this_document(
        self,
        config: &Config,
        relaxed: Option<&Config>,
        entry: &Entry,
    ) -> Result<Vec<u32>, Full> {
        let asked = relaxed.unwrap_or(config);
        let mut walk = Walk::new(self, self.vocabulary.trie(), self.text.quoted());
        walk.resume_at(Trie::ROOT, asked, entry.resume.iter().copied())?;
        if let (Level::String(level), false) = (&config.top, entry.resume_behind.is_empty()) {
            let after = self.automaton.close_scalar(asked, &all_tags(level));
            let mut behind = Walk::new(self, self.text.suffixes(), self.text.quoted_suffixes());
            behind.resume_at(Trie::ROOT, &after, entry.resume_behind.iter().copied())?;
            walk.added.append(&mut behind.added);
            walk.recheck.append(&mut behind.recheck);
        }
        let bytes = |id| self.vocabulary.text_bytes(id);
        let own = std::mem::take(&mut walk.recheck);
        walk.check(config, entry.recheck.iter().copied().chain(own), bytes)?;
        Ok(walk.added)
    }

    /// The tokens that close the string at the top as an item that has come, and those of them that
    /// are allowed all the same.
    pub(super) fn closing_items(self, config: &Config) -> Result<(Vec<u32>, Vec<u32>), Full> {
        let (automaton, trie) = (self.automaton, self.vocabulary.trie());
        let mut closing = Vec::new();
        if !automaton.is_text_compared(config) {
            return Ok((closing, Vec::new()));
        }
        for exit in self.text.free().exits() {
            let text = trie.path(exit.node);
            if automaton.is_text_refused(config, &text[..text.len() - 1]) {
                closing.extend_from_slice(trie.tokens_below(exit.node));
            }
        }
        let mut walk = Walk::new(self, trie, self.text.quoted());
        walk.check(config, closing.iter().copied(), |id| self.vocabulary.text_bytes(id))?;
        Ok((closing, walk.added))
    }

    /// The tokens that begin with a further byte of the number.
    fn number(self, walk: &mut Walk<'a>, config: &Config) -> Result<(), Full> {
        let trie = self.vocabulary.trie();
        for node in trie.children(Trie::ROOT).filter(|&node| is_number_byte(trie.byte(node))) {
            let mut next = config.clone();
            if self.automaton.step(&mut next, trie.byte(node))? {
                walk.from(node, &next)?;
            }
        }
        Ok(())
    }

    /// Between the parts of JSON: blank tokens from the vocabulary's list, and for each byte that
    /// may come, the nodes at which a run of blanks has ended with it.
    fn structure(self, walk: &mut Walk<'a>, config: &Config) -> Result<(), Full> {
        let Some(gap) = config.top.gap().filter(|gap| gap.is_plain()) else {
            return walk.below(Trie::ROOT, config);
        };
        let blanks = self.vocabulary.blanks();
        if self.spells(config) {
            walk.added.extend_from_slice(blanks.blanks_up_to(u32::from(gap.left)));
        }
        for byte in config.top.first_bytes().iter() {
            let exits = blanks.exits_up_to(byte, u32::from(gap.left));
            if exits.is_empty() {
                continue;
            }
            if walk.leaves_out_key(config, byte) {
                walk.resume.get_or_insert_default().extend(exits.iter().map(|exit| exit.node));
                continue;
            }
            let mut next = config.clone();
            if self.automaton.step(&mut next, byte)? {
                for exit in exits {
                    walk.from(exit.node, &next)?;
                }
            }
        }
        Ok(())
    }
}
