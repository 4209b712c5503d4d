//! The masks of one engine: kept by fingerprint, bounded in bytes.

use super::bits::{Filled, Filling};
use super::entry::{Behind, Entry, Source};
use crate::automaton::{Automaton, Clip, Config, Costs, Fingerprint, Full};
use crate::error::{Error, ErrorKind, Result};
use crate::vocab::{TextTables, Vocabulary};
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Makes masks and keeps those that other documents can use.
#[derive(Debug)]
pub(crate) struct Masks {
    vocabulary: Vocabulary,
    text: Arc<TextTables>,
    /// Over a poor vocabulary: what can be spelled.
    costs: Option<Arc<Costs>>,
    clip: Clip,
    limit: usize,
    kept: RwLock<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: FxHashMap<Fingerprint, Arc<Entry>>,
    /// By the configuration behind the quote.
    behind: FxHashMap<Fingerprint, Arc<Behind>>,
    bytes: usize,
}

impl Kept {
    /// Makes room for `size` bytes, by dropping everything; `false` where that is not enough.
    fn make_room(&mut self, size: usize, limit: usize) -> bool {
        if self.bytes + size > limit {
            *self = Kept::default();
        }
        let fits = size <= limit;
        self.bytes += if fits { size } else { 0 };
        fits
    }
}

impl Masks {
    /// Masks over `vocabulary`, of which at most `limit` bytes are kept.
    pub(crate) fn new(
        vocabulary: Vocabulary,
        text: Arc<TextTables>,
        costs: Option<Arc<Costs>>,
        limit: usize,
    ) -> Masks {
        let facts = vocabulary.facts();
        let clip = Clip::new(
            facts.max_token_len as usize,
            facts.max_commas as usize,
            facts.max_closers as usize,
        );
        Masks { vocabulary, text, costs, clip, limit, kept: RwLock::default() }
    }

    /// How many masks are kept.
    pub(crate) fn len(&self) -> usize {
        let kept = self.read();
        kept.entries.len() + kept.behind.len()
    }

    /// Drops all kept masks.
    pub(crate) fn clear(&self) {
        *self.write() = Kept::default();
    }

    /// Fills `words` with the mask at `config`.
    ///
    /// # Errors
    /// `mask` where a pattern meets its memory cap.
    pub(crate) fn fill(
        &self,
        automaton: &Automaton,
        config: &Config,
        words: &mut [u32],
    ) -> Result<Filled> {
        self.try_fill(automaton, config, words).map_err(|Full| memory_cap())
    }

    /// Fills `words` with the end tokens alone.
    pub(crate) fn fill_end(&self, words: &mut [u32]) -> Filled {
        let mut filling = Filling::new(words, None);
        filling.add(self.vocabulary.end_ids());
        filling.done()
    }

    fn try_fill(
        &self,
        automaton: &Automaton,
        config: &Config,
        words: &mut [u32],
    ) -> Result<Filled, Full> {
        let source = Source {
            automaton,
            vocabulary: &self.vocabulary,
            text: &self.text,
            costs: self.costs.as_deref(),
            masks: self,
        };
        let (entry, relaxed) = self.entry(source, config)?;
        let base = entry.base.as_ref().map(|base| (&*base.words, base.count));
        let mut filling = Filling::new(words, base);
        filling.add(&entry.added);
        filling.add(&source.for_this_document(config, relaxed.as_ref(), &entry)?);
        if relaxed.is_some() {
            let (closing, allowed) = source.closing_items(config)?;
            filling.remove(&closing);
            filling.add(&allowed);
        }
        Ok(filling.done())
    }

    /// What is kept, or made, for `config`, and for which configuration it is, where that is one
    /// that forgets which items have come.
    fn entry(
        &self,
        source: Source<'_>,
        config: &Config,
    ) -> Result<(Arc<Entry>, Option<Config>), Full> {
        let automaton = source.automaton;
        let relaxed = match self.costs {
            None => automaton.relaxed(config, &self.clip),
            Some(_) => None,
        };
        let entry = |config: &Config| match self.key(automaton, config) {
            None => source.entry(config, false).map(Arc::new),
            Some(key) => self.kept(source, config, key),
        };
        if let Some(relaxed) = relaxed {
            return Ok((entry(&relaxed)?, Some(relaxed)));
        }
        Ok((entry(config)?, None))
    }

    /// The key of what is kept for `config`; `None` where it depends on this document alone.
    fn key(&self, automaton: &Automaton, config: &Config) -> Option<Fingerprint> {
        if self.costs.is_some() && automaton.has_seen_ruled_keys(config) {
            return None;
        }
        automaton.fingerprint(config, &self.clip)
    }

    fn kept(
        &self,
        source: Source<'_>,
        config: &Config,
        key: Fingerprint,
    ) -> Result<Arc<Entry>, Full> {
        if let Some(entry) = self.read().entries.get(&key).cloned() {
            return Ok(entry);
        }
        let entry = Arc::new(source.entry(config, true)?);
        let mut kept = self.write();
        if !kept.entries.contains_key(&key) && kept.make_room(entry.size(), self.limit) {
            kept.entries.insert(key, entry.clone());
        }
        Ok(entry)
    }

    /// What may follow a closing quote after which the configuration is `after`.
    pub(super) fn behind(&self, source: Source<'_>, after: &Config) -> Result<Arc<Behind>, Full> {
        let Some(key) = self.key(source.automaton, after) else {
            return source.behind(after).map(Arc::new);
        };
        if let Some(behind) = self.read().behind.get(&key).cloned() {
            return Ok(behind);
        }
        let behind = Arc::new(source.behind(after)?);
        let mut kept = self.write();
        if !kept.behind.contains_key(&key) && kept.make_room(behind.size(), self.limit) {
            kept.behind.insert(key, behind.clone());
        }
        Ok(behind)
    }

    fn read(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error where a pattern has more states than its limit allows.
pub(crate) fn memory_cap() -> Error {
    Error::new(
        ErrorKind::Mask,
        "a pattern met the limit `lazy_states`: raise it, or simplify the pattern",
    )
}
