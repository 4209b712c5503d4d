//! A grammar bound to a vocabulary: what all matchers of the pair share.

use super::Matcher;
use crate::automaton::{Automaton, Config, Costs, Unspellable};
use crate::base::Finding;
use crate::error::{Error, ErrorKind, Result};
use crate::mask::{Mask, Masks};
use crate::options::Limits;
use crate::vocab::Vocabulary;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A grammar bound to a vocabulary. Cheap to clone, `Send` and `Sync`; owns the caches that all
/// matchers of the pair share.
///
/// ```
/// use tokenmask::{Grammar, Vocabulary};
/// let engine = Grammar::any_json().bind(&Vocabulary::bytes())?;
/// assert_eq!(engine.new_mask().words().len(), 257usize.div_ceil(32));
/// assert!(engine.findings().is_empty());
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    automaton: Arc<Automaton>,
    vocabulary: Vocabulary,
    limits: Limits,
    masks: Masks,
    /// Over a poor vocabulary: what can be spelled.
    poor: Option<Arc<Costs>>,
    costs: OnceLock<Arc<Costs>>,
    findings: Vec<Finding>,
}

impl Engine {
    /// Binds an automaton to a vocabulary. Where every byte of JSON text is a token of its own,
    /// nothing is analysed.
    ///
    /// # Errors
    /// `vocabulary` without an end token, or where no document can be spelled at all.
    pub(crate) fn bind(
        automaton: Arc<Automaton>,
        vocabulary: &Vocabulary,
        limits: Limits,
        describe: &dyn Fn(&[Unspellable]) -> Vec<Finding>,
    ) -> Result<Engine> {
        vocabulary.require_end()?;
        let alphabet = vocabulary.alphabet(automaton.is_minimal());
        let poor = (!alphabet.is_full()).then(|| Arc::new(automaton.costs(alphabet.clone())));
        let findings =
            poor.as_deref().map_or_else(Vec::new, |costs| describe(&automaton.unspellable(costs)));
        if !automaton.can_spell(&automaton.start(), poor.as_deref()) {
            let message = "the vocabulary lacks single-byte tokens for a part that every document \
                           must have";
            let place = findings.last().map_or("#", |finding| &finding.location);
            return Err(Error::new(ErrorKind::Vocabulary, message).at(place));
        }
        let text = vocabulary.text(&alphabet);
        let masks = Masks::new(vocabulary.clone(), text, poor.clone(), limits.cache_bytes);
        Ok(Engine(Arc::new(Inner {
            automaton,
            vocabulary: vocabulary.clone(),
            limits,
            masks,
            costs: poor.clone().map(OnceLock::from).unwrap_or_default(),
            poor,
            findings,
        })))
    }

    /// A matcher at the beginning of a document.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(self.clone())
    }

    /// A mask of the vocabulary's width that allows nothing.
    pub fn new_mask(&self) -> Mask {
        Mask::new(self.vocabulary().width())
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.0.vocabulary
    }

    /// How many masks and other things are shared between the matchers of this engine: what a
    /// document may add to, and what [`Limits::cache_bytes`] bounds.
    pub fn shared_states(&self) -> usize {
        self.0.masks.len() + self.0.automaton.table_count()
    }

    /// Drops the shared masks. No mask changes by it.
    pub fn clear_cache(&self) {
        self.0.masks.clear();
    }

    /// What the vocabulary cannot spell: findings of kind `unspellable`, with their locations.
    /// Empty where every byte of JSON text is a token of its own.
    pub fn findings(&self) -> &[Finding] {
        &self.0.findings
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.0.automaton
    }

    pub(crate) fn masks(&self) -> &Masks {
        &self.0.masks
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The costs of all sets, for completions.
    pub(crate) fn costs(&self) -> &Costs {
        self.0.costs.get_or_init(|| {
            let alphabet = self.vocabulary().alphabet(self.0.automaton.is_minimal());
            Arc::new(self.0.automaton.costs(alphabet))
        })
    }

    /// Whether the document can be finished over the vocabulary's bytes.
    pub(crate) fn can_spell(&self, config: &Config) -> bool {
        self.0.automaton.can_spell(config, self.0.poor.as_deref())
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("vocabulary", &self.vocabulary().name())
            .field("shared_states", &self.shared_states())
            .finish_non_exhaustive()
    }
}
