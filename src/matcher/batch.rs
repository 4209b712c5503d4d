//! Many sequences at once.

use super::Matcher;
use crate::error::Result;
use crate::mask::Filled;
use rayon::prelude::*;

/// [`Matcher::fill_bitmask`] for each pair of a matcher and its words, in parallel. The results
/// stand in the order of the pairs; an error of one sequence is no matter of the others. The
/// matchers may belong to different engines.
///
/// It runs in the rayon pool in which it is called: by default the global one, and in one of the
/// caller's by `pool.install(|| fill_bitmasks(…))`.
///
/// ```
/// use tokenmask::{Grammar, Vocabulary, fill_bitmasks};
/// let engine = Grammar::any_object().bind(&Vocabulary::bytes())?;
/// let (mut first, mut second) = (engine.matcher(), engine.matcher());
/// second.accept_bytes(b"{}")?;
/// let mut words = vec![0; 2 * 9];
/// let (one, two) = words.split_at_mut(9);
/// let filled = fill_bitmasks(&mut [(&mut first, one), (&mut second, two)]);
/// let filled: Vec<_> = filled.into_iter().collect::<Result<_, _>>()?;
/// assert_eq!(filled[0].single(), Some(u32::from(b'{')));
/// assert_eq!(filled[1].single(), Some(256)); // the end
/// # Ok::<(), tokenmask::Error>(())
/// ```
pub fn fill_bitmasks(sequences: &mut [(&mut Matcher, &mut [u32])]) -> Vec<Result<Filled>> {
    sequences.par_iter_mut().map(|(matcher, words)| matcher.fill_bitmask(words)).collect()
}
