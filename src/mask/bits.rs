//! The mask itself: one bit for each token.

use crate::error::{Error, ErrorKind, Result};
use std::ops::Deref;
use std::sync::Arc;

/// A token mask: bit `i % 32` of word `i / 32` stands for token `i`, 1 = allowed. This is the layout
/// of llguidance, XGrammar and vLLM, so that existing kernels take the words as they are. A clone shares the words until one of the two
/// is filled.
///
/// ```
/// use tokenmask::{Grammar, Vocabulary};
/// let engine = Grammar::any_object().bind(&Vocabulary::bytes())?;
/// let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
/// assert_eq!(matcher.fill_mask(&mut mask)?.single(), Some(u32::from(b'{')));
/// assert!(mask.allows(u32::from(b'{')) && !mask.allows(u32::from(b'[')));
/// assert_eq!(mask.iter().collect::<Vec<_>>(), [u32::from(b'{')]);
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Arc<[u32]>,
    width: usize,
}

/// So many words without a token.
pub(super) fn zeros(words: usize) -> Arc<[u32]> {
    std::iter::repeat_n(0, words).collect()
}

impl Mask {
    /// A mask of `width` tokens that allows none.
    pub(crate) fn new(width: usize) -> Mask {
        Mask { words: zeros(width.div_ceil(32)), width }
    }

    /// The words; those bits of the last one that stand for no token are 0.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// All words, each to be written anew: what a clone still reads is left to it.
    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        if Arc::get_mut(&mut self.words).is_none() {
            self.words = zeros(self.words.len());
        }
        Arc::make_mut(&mut self.words)
    }

    /// How many tokens the mask stands for: the width of the logits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a token is allowed; ids beyond the width never are.
    pub fn allows(&self, id: u32) -> bool {
        self.words.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
    }

    /// The allowed tokens, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    index as u32 * 32 + bit
                })
            })
        })
    }

    /// Sets the logits of all tokens that are not allowed to −∞; a longer slice also in its tail.
    ///
    /// # Errors
    /// `mask` where `logits` is shorter than the width: a vocabulary that does not fit the model.
    ///
    /// ```
    /// use tokenmask::{Grammar, Vocabulary};
    /// let engine = Grammar::any_object().bind(&Vocabulary::bytes())?;
    /// let mut mask = engine.new_mask();
    /// engine.matcher().fill_mask(&mut mask)?;
    /// let mut logits = vec![0.5; 300];
    /// mask.apply(&mut logits)?;
    /// assert_eq!(logits[usize::from(b'{')], 0.5);
    /// assert_eq!(logits.iter().filter(|l| l.is_finite()).count(), 1);
    /// assert!(mask.apply(&mut logits[..100]).is_err());
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn apply(&self, logits: &mut [f32]) -> Result<()> {
        if logits.len() < self.width {
            return Err(Error::new(
                ErrorKind::Mask,
                format!(
                    "{} logits, but the vocabulary has {} tokens: give it the model's width",
                    logits.len(),
                    self.width
                ),
            ));
        }
        let (known, tail) = logits.split_at_mut(self.width);
        tail.fill(f32::NEG_INFINITY);
        for (chunk, &word) in known.chunks_mut(32).zip(&*self.words) {
            if word == u32::MAX {
                continue;
            }
            for (bit, logit) in chunk.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *logit = f32::NEG_INFINITY;
                }
            }
        }
        Ok(())
    }
}

/// A mask that is lent: where the engine keeps its words, they are read where they lie, and no word
/// is copied. It stays as it is whatever becomes of the matcher, and reads as a [`Mask`].
///
/// ```
/// use tokenmask::{Grammar, Mask, Vocabulary};
/// let engine = Grammar::any_object().bind(&Vocabulary::bytes())?;
/// let mut matcher = engine.matcher();
/// let mask = matcher.mask()?;
/// assert_eq!((mask.allowed(), mask.single()), (1, Some(u32::from(b'{'))));
/// matcher.accept(u32::from(b'{'))?;
/// assert!(mask.allows(u32::from(b'{')) && matcher.mask()?.allows(u32::from(b'}')));
/// let mask: Mask = mask.into();
/// assert_eq!(mask.words().len(), 257usize.div_ceil(32));
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskRef {
    mask: Mask,
    filled: Filled,
}

impl MaskRef {
    pub(crate) fn new((words, filled): (Arc<[u32]>, Filled), width: usize) -> MaskRef {
        MaskRef { mask: Mask { words, width }, filled }
    }

    /// How many tokens are allowed; never 0.
    pub fn allowed(&self) -> usize {
        self.filled.allowed()
    }

    /// The only allowed token, if there is just one.
    pub fn single(&self) -> Option<u32> {
        self.filled.single()
    }
}

impl Deref for MaskRef {
    type Target = Mask;

    fn deref(&self) -> &Mask {
        &self.mask
    }
}

impl From<MaskRef> for Mask {
    /// Copies no word.
    fn from(lent: MaskRef) -> Mask {
        lent.mask
    }
}

/// What a filled mask holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    pub(crate) allowed: usize,
    pub(crate) single: Option<u32>,
}

impl Filled {
    /// Of words that allow so many tokens, `last` perhaps among them.
    pub(super) fn of(words: &[u32], allowed: usize, last: u32) -> Filled {
        let single = (allowed == 1).then(|| {
            let known = words.get(last as usize / 32);
            if known.is_some_and(|word| word >> (last % 32) & 1 == 1) {
                return last;
            }
            let word = words.iter().position(|&word| word != 0).unwrap_or(0);
            word as u32 * 32 + words[word].trailing_zeros()
        });
        Filled { allowed, single }
    }

    /// How many tokens are allowed; never 0.
    pub fn allowed(&self) -> usize {
        self.allowed
    }

    /// The only allowed token, if there is just one.
    pub fn single(&self) -> Option<u32> {
        self.single
    }
}

/// Words that are being filled, with a count.
pub(super) struct Filling<'w> {
    words: &'w mut [u32],
    allowed: usize,
    last: u32,
}

impl<'w> Filling<'w> {
    /// Starts from a base mask of `count` tokens; words beyond it are cleared. Each word is written
    /// once.
    pub(super) fn new(words: &'w mut [u32], base: Option<(&[u32], usize)>) -> Filling<'w> {
        let (base, allowed) = base.unwrap_or((&[], 0));
        let (known, rest) = words.split_at_mut(base.len());
        known.copy_from_slice(base);
        rest.fill(0);
        Filling { words, allowed, last: 0 }
    }

    /// Goes on with words that allow so many tokens.
    pub(super) fn on(words: &'w mut [u32], allowed: usize) -> Filling<'w> {
        Filling { words, allowed, last: 0 }
    }

    /// Allows tokens; one that is allowed already does not count twice.
    pub(super) fn add(&mut self, ids: &[u32]) {
        for &id in ids {
            let (word, bit) = (&mut self.words[id as usize / 32], 1 << (id % 32));
            self.allowed += usize::from(*word & bit == 0);
            *word |= bit;
            self.last = id;
        }
    }

    /// The same for the tokens of a mask of the same width.
    pub(super) fn add_mask(&mut self, mask: &[u32]) {
        for (word, more) in self.words.iter_mut().zip(mask) {
            self.allowed += (more & !*word).count_ones() as usize;
            *word |= more;
        }
    }

    /// Forbids tokens.
    pub(super) fn remove(&mut self, ids: &[u32]) {
        for &id in ids {
            let (word, bit) = (&mut self.words[id as usize / 32], 1 << (id % 32));
            self.allowed -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    pub(super) fn done(self) -> Filled {
        Filled::of(self.words, self.allowed, self.last)
    }
}
