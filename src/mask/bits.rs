//! The mask itself: one bit for each token.

use crate::error::{Error, ErrorKind, Result};

/// A token mask: bit `i % 32` of word `i / 32` stands for token `i`, 1 = allowed. This is the layout
/// of llguidance, XGrammar and vLLM, so that existing kernels take the words as they are.
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
    words: Vec<u32>,
    width: usize,
}

impl Mask {
    /// A mask of `width` tokens that allows none.
    pub(crate) fn new(width: usize) -> Mask {
        Mask { words: vec![0; width.div_ceil(32)], width }
    }

    /// The words; those bits of the last one that stand for no token are 0.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
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
        for (chunk, &word) in known.chunks_mut(32).zip(&self.words) {
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

/// What a filled mask holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    pub(crate) allowed: usize,
    pub(crate) single: Option<u32>,
}

impl Filled {
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
    /// Starts from a base mask of `count` tokens; words beyond it are cleared.
    pub(super) fn new(words: &'w mut [u32], base: Option<(&[u32], usize)>) -> Filling<'w> {
        let (base, allowed) = base.unwrap_or((&[], 0));
        words[..base.len()].copy_from_slice(base);
        words[base.len()..].fill(0);
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

    /// Forbids tokens.
    pub(super) fn remove(&mut self, ids: &[u32]) {
        for &id in ids {
            let (word, bit) = (&mut self.words[id as usize / 32], 1 << (id % 32));
            self.allowed -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    pub(super) fn done(self) -> Filled {
        let single = (self.allowed == 1).then(|| {
            let known = self.words.get(self.last as usize / 32);
            if known.is_some_and(|word| word >> (self.last % 32) & 1 == 1) {
                return self.last;
            }
            let word = self.words.iter().position(|&word| word != 0).unwrap_or(0);
            word as u32 * 32 + self.words[word].trailing_zeros()
        });
        Filled { allowed: self.allowed, single }
    }
}
