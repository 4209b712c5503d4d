//! How a text goes through the masks, token by token.

use std::sync::LazyLock;
use tokenmask::{Engine, Matcher, Vocabulary};

/// The names of [`vocabularies`], to be had without loading them.
#[cfg(feature = "cli")]
pub const VOCABULARIES: [&str; 2] = ["bytes", "llama3"];

/// The vocabularies that every document is cut for, loaded once: single bytes, and Llama 3's.
pub fn vocabularies() -> &'static [Vocabulary] {
    static ALL: LazyLock<Vec<Vocabulary>> = LazyLock::new(|| {
        vec![
            Vocabulary::bytes(),
            #[cfg(feature = "builtin-vocabularies")]
            Vocabulary::builtin("llama3").expect("llama3 is built in"),
        ]
    });
    &ALL
}

/// The bytes of a line or string of the data: those in hexadecimal behind `hex:`, or its own.
pub fn bytes(line: &str) -> Vec<u8> {
    let Some(digits) = line.strip_prefix("hex:") else { return line.as_bytes().to_vec() };
    let pair = |index| u8::from_str_radix(&digits[index..index + 2], 16).expect("pairs of digits");
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Feeds a whole document. `Err`: the first byte that no document can have there, the text's length
/// where only the end is refused.
pub fn feed(engine: &Engine, text: &[u8]) -> Result<(), usize> {
    let mut matcher = engine.matcher();
    feed_part(&mut matcher, text)?;
    if may_end(&matcher) { Ok(()) } else { Err(text.len()) }
}

/// Feeds the next part of a document, cut as the vocabulary's tokenizer cuts it. `Err`: the offset
/// of the byte that is refused.
///
/// # Panics
///
/// Where mask and matcher disagree, or nothing at all may come next.
pub fn feed_part(matcher: &mut Matcher, part: &[u8]) -> Result<(), usize> {
    let encoded = matcher.engine().vocabulary().encode(part).expect("every byte can be spelled");
    encoded.ids.into_iter().try_for_each(|token| feed_token(matcher, token))
}

/// Feeds one token.
///
/// # Panics
///
/// As [`feed_part`].
pub fn feed_token(matcher: &mut Matcher, token: u32) -> Result<(), usize> {
    let mut mask = matcher.engine().new_mask();
    let filled = matcher.fill_mask(&mut mask).expect("a mask");
    assert!(filled.allowed() > 0, "dead end at byte {}", matcher.offset());
    let allowed = mask.allows(token);
    match matcher.accept(token) {
        Ok(()) => assert!(allowed, "token {token} is accepted, but not in the mask"),
        Err(error) => {
            assert!(!allowed, "token {token} is in the mask, but not accepted: {error}");
            return Err(error.offset().expect("a refusal has an offset"));
        }
    }
    Ok(())
}

/// Whether the document may end here.
///
/// # Panics
///
/// Where the mask and the matcher, or two end tokens, disagree.
pub fn may_end(matcher: &Matcher) -> bool {
    let mut mask = matcher.engine().new_mask();
    matcher.fill_mask(&mut mask).expect("a mask");
    let may_end = matcher.is_accepting();
    for &id in matcher.engine().vocabulary().end_ids() {
        assert_eq!(mask.allows(id), may_end, "end token {id} and the matcher disagree");
    }
    may_end
}
