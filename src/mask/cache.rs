//! The masks of one engine: made when they are asked for, kept by fingerprint.

use super::bits::{Filled, Filling, zeros};
use super::entry::{Behind, Entry, Source};
use super::kept::{Kept, Size, Table};
use crate::automaton::{Automaton, Clip, Config, Costs, Fingerprint, Full};
use crate::error::{Error, ErrorKind, Result};
use crate::vocab::{TextTables, Vocabulary};
use std::sync::{Arc, OnceLock};

/// Makes masks and keeps those that other documents can use.
#[derive(Debug)]
pub(crate) struct Masks {
    vocabulary: Vocabulary,
    text: Arc<TextTables>,
    /// Over a poor vocabulary: what can be spelled.
    costs: Option<Arc<Costs>>,
    clip: Clip,
    kept: Kept<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    masks: Table<Known>,
    /// By the configuration behind the quote.
    behind: Table<Behind>,
}

/// A mask that is kept.
#[derive(Debug)]
struct Known {
    entry: Entry,
    /// All its words, where no document adds to them: they are made when it is asked for again.
    dense: OnceLock<Dense>,
}

/// The words of a mask, for anybody to read.
#[derive(Clone, Debug)]
struct Dense {
    words: Arc<[u32]>,
    filled: Filled,
}

impl Known {
    fn new(entry: Entry) -> Known {
        let known = Known { entry, dense: OnceLock::new() };
        let base = known.entry.base.as_ref();
        if let Some(base) = base.filter(|_| known.is_settled() && known.entry.added.is_empty()) {
            let filled = Filled::of(&base.words, base.count, 0);
            known.dense.get_or_init(|| Dense { words: base.words.clone(), filled });
        }
        known
    }

    /// Whether the mask is the same for all documents.
    fn is_settled(&self) -> bool {
        let Entry { base: _, added: _, resume, resume_behind, recheck } = &self.entry;
        resume.is_empty() && resume_behind.is_empty() && recheck.is_empty()
    }
}

impl Size for Known {
    fn size(&self) -> usize {
        let is_base =
            |words| self.entry.base.as_ref().is_some_and(|b| Arc::ptr_eq(&b.words, words));
        let dense = self.dense.get().filter(|dense| !is_base(&dense.words));
        let rest = size_of::<Known>() - size_of::<Entry>();
        self.entry.size() + rest + dense.map_or(0, |dense| 4 * dense.words.len())
    }
}

impl Size for Behind {
    fn size(&self) -> usize {
        Behind::size(self)
    }
}

/// A mask that is asked for.
struct Asked<'a> {
    source: Source<'a>,
    config: &'a Config,
    /// What the mask was made for, where that is a configuration that forgets which items have come.
    relaxed: Option<&'a Config>,
    /// The tokens that close a key which has come, where it is one that forgets the keys seen.
    closing_keys: Vec<u32>,
    known: &'a Known,
    /// It is kept, so others may ask for it.
    kept: bool,
    /// Not for the first time.
    again: bool,
}

impl Asked<'_> {
    /// All words of the mask, if they are kept; they are from now on if `worthwhile`, and memory is
    /// to spare.
    fn dense(&self, worthwhile: bool) -> Result<Option<&Dense>, Full> {
        let (dense, masks) = (&self.known.dense, self.source.masks);
        if self.relaxed.is_some() || !self.closing_keys.is_empty() || !self.known.is_settled() {
            return Ok(None);
        }
        if dense.get().is_none() {
            if !worthwhile || !masks.kept.has_spare(4 * masks.words()) {
                return Ok(None);
            }
            let made = self.put_together()?;
            dense.get_or_init(|| made);
        }
        Ok(dense.get())
    }

    /// The mask to begin with, and how many tokens it allows.
    fn base(&self) -> Option<(&[u32], usize)> {
        self.known.entry.base.as_ref().map(|base| (&*base.words, base.count))
    }

    /// All words of the mask.
    fn put_together(&self) -> Result<Dense, Full> {
        let (mut words, count) = match self.base() {
            Some((base, count)) => (base.into(), count),
            None => (zeros(self.source.masks.words()), 0),
        };
        let filled = self.patch(Filling::on(Arc::make_mut(&mut words), count))?;
        Ok(Dense { words, filled })
    }

    /// Brings what is added to the base, and what this document adds and takes away.
    fn patch(&self, mut filling: Filling<'_>) -> Result<Filled, Full> {
        let entry = &self.known.entry;
        filling.add(&entry.added);
        if !self.known.is_settled() {
            filling.add(&self.source.for_this_document(self.config, self.relaxed, entry)?);
        }
        filling.remove(&self.closing_keys);
        if self.relaxed.is_some() {
            let (closing, allowed) = self.source.closing_items(self.config)?;
            filling.remove(&closing);
            filling.add(&allowed);
        }
        Ok(filling.done())
    }
}

/// Masks to which more tokens than one for so many words are added are copied rather than put
/// together, once they are kept as words.
const WORDS_PER_PATCH: usize = 16;

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
        Masks { vocabulary, text, costs, clip, kept: Kept::new(limit) }
    }

    /// How many masks are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.now().sum(|tables| tables.masks.len() + tables.behind.len())
    }

    /// Drops all kept masks.
    pub(crate) fn clear(&self) {
        self.kept.clear();
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
        self.ask(automaton, config, |asked| {
            let patches = asked.known.entry.added.len();
            let worthwhile = asked.again && patches > words.len() / WORDS_PER_PATCH;
            if let Some(dense) = asked.dense(worthwhile)? {
                let whole = Some((&*dense.words, dense.filled.allowed()));
                Filling::new(words, whole);
                return Ok(dense.filled);
            }
            asked.patch(Filling::new(words, asked.base()))
        })
    }

    /// The words of the mask at `config`: those that are kept, if there are any.
    ///
    /// # Errors
    /// `mask` where a pattern meets its memory cap.
    pub(crate) fn lend(
        &self,
        automaton: &Automaton,
        config: &Config,
    ) -> Result<(Arc<[u32]>, Filled)> {
        // They have to be put together anyway.
        let dense = self.ask(automaton, config, |asked| match asked.dense(asked.kept)? {
            Some(dense) => Ok(dense.clone()),
            None => asked.put_together(),
        })?;
        Ok((dense.words, dense.filled))
    }

    /// Fills `words` with the end tokens alone.
    pub(crate) fn fill_end(&self, words: &mut [u32]) -> Filled {
        let mut filling = Filling::new(words, None);
        filling.add(self.vocabulary.end_ids());
        filling.done()
    }

    /// The words of the end tokens alone.
    pub(crate) fn lend_end(&self) -> (Arc<[u32]>, Filled) {
        let mut words = zeros(self.words());
        let filled = self.fill_end(Arc::make_mut(&mut words));
        (words, filled)
    }

    /// How many words a mask has.
    pub(super) fn words(&self) -> usize {
        self.vocabulary.width().div_ceil(32)
    }

    /// Finds or makes what `config` has in common with other documents, and answers from it.
    fn ask<T>(
        &self,
        automaton: &Automaton,
        config: &Config,
        answer: impl FnOnce(Asked<'_>) -> Result<T, Full>,
    ) -> Result<T> {
        let source = Source {
            automaton,
            vocabulary: &self.vocabulary,
            text: &self.text,
            costs: self.costs.as_deref(),
            masks: self,
        };
        let relaxed = match self.costs {
            None => automaton.relaxed(config, &self.clip),
            Some(_) => None,
        };
        let relaxed = relaxed.as_ref();
        let forgetful = match (relaxed, &self.costs) {
            (None, None) => source.forget_keys(config).map_err(memory_cap)?,
            _ => None,
        };
        let (forgetful, closing_keys) = forgetful.unzip();
        let closing_keys = closing_keys.unwrap_or_default();
        let shared = relaxed.or(forgetful.as_ref()).unwrap_or(config);
        let key = self.key(automaton, shared);
        let now = self.kept.now();
        let found = key.and_then(|key| self.kept.find(&now, |tables| &tables.masks, key));
        let again = found.is_some();
        let made;
        let known = match found {
            Some(known) => known,
            None => {
                // Keys behind one that forgets are a matter of the document, kept or not.
                let leaves_out = key.is_some() || forgetful.is_some();
                let entry = source.entry(shared, leaves_out).map_err(memory_cap)?;
                made = Arc::new(Known::new(entry));
                if let Some(key) = key {
                    self.kept.insert(|tables| &tables.masks, key, &made);
                }
                &made
            }
        };
        let kept = key.is_some();
        answer(Asked { source, config, relaxed, closing_keys, known, kept, again })
            .map_err(memory_cap)
    }

    /// The key of what is kept for `config`; `None` where it depends on this document alone.
    fn key(&self, automaton: &Automaton, config: &Config) -> Option<Fingerprint> {
        if self.costs.is_some() && automaton.has_seen_ruled_keys(config) {
            return None;
        }
        automaton.fingerprint(config, &self.clip)
    }

    /// What may follow a closing quote after which the configuration is `after`.
    pub(super) fn behind(&self, source: Source<'_>, after: &Config) -> Result<Arc<Behind>, Full> {
        let Some(key) = self.key(source.automaton, after) else {
            return source.behind(after).map(Arc::new);
        };
        if let Some(behind) = self.kept.find(&self.kept.now(), |tables| &tables.behind, key) {
            return Ok(behind.clone());
        }
        let behind = Arc::new(source.behind(after)?);
        self.kept.insert(|tables| &tables.behind, key, &behind);
        Ok(behind)
    }
}

/// The error where a pattern has more states than its limit allows.
pub(crate) fn memory_cap(Full: Full) -> Error {
    Error::new(
        ErrorKind::Mask,
        "a pattern met the limit `lazy_states`: raise it, or simplify the pattern",
    )
}
