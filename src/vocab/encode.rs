//! From text to tokens.
//!
//! A tokenizer's own encoding is the one that a model has learnt, but it may add, change or drop
//! bytes, or take a text for a special token. So its answer is compared with the text, and what
//! does not fit is cut anew by the longest match in the trie.

#[cfg(feature = "hf-tokenizers")]
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};

use super::Vocabulary;
use super::trie::Trie;

/// A text cut into tokens: [`Vocabulary::encode`](crate::Vocabulary::encode).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// The tokens. Their bytes together are the text.
    pub ids: Vec<u32>,
    /// Whether the cut is the tokenizer's own. If not, some stretch or all of it was cut by greedy
    /// longest match: because the tokenizer's algorithm is not at hand, the text is not UTF-8, or
    /// the tokenizer would change its bytes or use a token that is never allowed.
    pub exact: bool,
}

/// How a vocabulary's tokenizer cuts text.
#[derive(Clone)]
pub(super) enum Encoder {
    /// The longest match; `optimal` where that is the only way to cut.
    Greedy { optimal: bool },
    /// An embedded tokenizer.
    #[cfg(feature = "builtin-vocabularies")]
    Tiktoken(&'static tiktoken::CoreBpe),
    /// A tokenizer from its file, made when first used: that takes up to a second.
    #[cfg(feature = "hf-tokenizers")]
    HuggingFace(Arc<HuggingFace>),
}

/// A token as the tokenizer gave it, and where it says that it begins in the text.
type Piece = (u32, Option<usize>);

/// The text of a `tokenizer.json` and, once needed, the tokenizer that it makes.
#[cfg(feature = "hf-tokenizers")]
pub(super) struct HuggingFace {
    source: Vec<u8>,
    tokenizer: OnceLock<Option<Box<tokenizers::Tokenizer>>>,
}

#[cfg(feature = "hf-tokenizers")]
impl HuggingFace {
    pub(super) fn new(source: Vec<u8>) -> Self {
        HuggingFace { source, tokenizer: OnceLock::new() }
    }

    /// None where the tokenizer cannot be made or refuses the text.
    fn encode(&self, text: &str) -> Option<Vec<Piece>> {
        let make = || {
            let mut tokenizer = tokenizers::Tokenizer::from_bytes(&self.source).ok()?;
            tokenizer.set_encode_special_tokens(true);
            // The file may ask for both; neither is part of a text.
            tokenizer.with_truncation(None).ok()?;
            tokenizer.with_padding(None);
            Some(Box::new(tokenizer))
        };
        let encoding = self.tokenizer.get_or_init(make).as_ref()?.encode(text, false).ok()?;
        let starts = encoding.get_offsets().iter().map(|&(start, _)| Some(start));
        Some(encoding.get_ids().iter().copied().zip(starts).collect())
    }
}

impl Encoder {
    /// Where the longest match is all that is known: whether that is the only way to cut.
    fn greedy(&self) -> Option<bool> {
        match *self {
            Encoder::Greedy { optimal } => Some(optimal),
            #[cfg(any(feature = "builtin-vocabularies", feature = "hf-tokenizers"))]
            _ => None,
        }
    }

    /// The tokenizer's own cut of a text; none where it is not known.
    #[cfg_attr(
        not(any(feature = "builtin-vocabularies", feature = "hf-tokenizers")),
        expect(unused_variables, reason = "without a tokenizer at hand no text is looked at")
    )]
    fn pieces(&self, text: &str) -> Option<Vec<Piece>> {
        match self {
            Encoder::Greedy { .. } => None,
            #[cfg(feature = "builtin-vocabularies")]
            Encoder::Tiktoken(bpe) => {
                Some(bpe.encode(text).into_iter().map(|id| (id, None)).collect())
            }
            #[cfg(feature = "hf-tokenizers")]
            Encoder::HuggingFace(tokenizer) => tokenizer.encode(text),
        }
    }
}

/// See [`Vocabulary::encode`].
pub(super) fn encode(vocabulary: &Vocabulary, text: &[u8]) -> Result<Encoded> {
    if let Some(exact) = vocabulary.encoder().greedy() {
        return Ok(Encoded { ids: greedy(vocabulary.trie(), text)?, exact });
    }
    match piecewise(vocabulary, text) {
        Some(encoded) => Ok(encoded),
        // Another cut may spell what the tokenizer's, kept in part, leaves over.
        None => Ok(Encoded { ids: greedy(vocabulary.trie(), text)?, exact: false }),
    }
}

/// The tokenizer's cut where it fits; none where it leaves over what cannot be spelled.
fn piecewise(vocabulary: &Vocabulary, text: &[u8]) -> Option<Encoded> {
    let mut encoded = Encoded { ids: Vec::with_capacity(text.len() / 3), exact: true };
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        let pieces = if valid.is_empty() { None } else { vocabulary.encoder().pieces(valid) };
        match pieces {
            Some(pieces) => reconcile(vocabulary, valid.as_bytes(), &pieces, &mut encoded)?,
            None => cut(vocabulary, valid.as_bytes(), &mut encoded)?,
        }
        cut(vocabulary, chunk.invalid(), &mut encoded)?;
    }
    Some(encoded)
}

/// Takes the pieces that fit the text, and cuts what lies between them by the longest match.
fn reconcile(
    vocabulary: &Vocabulary,
    text: &[u8],
    pieces: &[Piece],
    encoded: &mut Encoded,
) -> Option<()> {
    let mut position = 0;
    let mut next = 0;
    while let Some(&(id, _)) = pieces.get(next) {
        next += 1;
        match vocabulary.token_bytes(id) {
            Some(bytes) if text[position..].starts_with(bytes) => {
                if vocabulary.text_bytes(id).is_some() {
                    encoded.ids.push(id);
                } else {
                    cut(vocabulary, bytes, encoded)?;
                }
                position += bytes.len();
            }
            // Something else stands there: go on at the next piece that begins here or further on.
            _ => {
                encoded.exact = false;
                let further = |&(_, start): &Piece| start.is_some_and(|start| start >= position);
                let skipped = pieces[next..].iter().position(further);
                next = skipped.map_or(pieces.len(), |skipped| next + skipped);
                let start = pieces.get(next).and_then(|&(_, start)| start);
                let end = start.unwrap_or(text.len()).min(text.len());
                cut(vocabulary, &text[position..end], encoded)?;
                position = end;
            }
        }
    }
    cut(vocabulary, &text[position..], encoded)
}

/// Cuts a stretch by the longest match; none where that cannot spell it.
fn cut(vocabulary: &Vocabulary, stretch: &[u8], encoded: &mut Encoded) -> Option<()> {
    if !stretch.is_empty() {
        encoded.ids.extend(greedy(vocabulary.trie(), stretch).ok()?);
        encoded.exact = false;
    }
    Some(())
}

/// The longest tokens of a text, from the left; shorter ones where the longest lead nowhere.
///
/// # Errors
/// `vocabulary`, with the offset of the first byte that no cut reaches.
pub(super) fn greedy(trie: &Trie, text: &[u8]) -> Result<Vec<u32>> {
    let mut ids = Vec::with_capacity(text.len() / 3);
    let mut position = 0;
    while position < text.len() {
        match longest(trie, &text[position..], |_| true) {
            Some((id, len)) => {
                ids.push(id);
                position += len;
            }
            None => return greedy_with_foresight(trie, text),
        }
    }
    Ok(ids)
}

/// The same, knowing from which positions the rest can be spelled.
fn greedy_with_foresight(trie: &Trie, text: &[u8]) -> Result<Vec<u32>> {
    let mut spelled = vec![false; text.len() + 1];
    spelled[text.len()] = true;
    for position in (0..text.len()).rev() {
        spelled[position] =
            longest(trie, &text[position..], |len| spelled[position + len]).is_some();
    }
    let mut ids = Vec::new();
    let mut position = 0;
    while position < text.len() {
        let Some((id, len)) = longest(trie, &text[position..], |len| spelled[position + len])
        else {
            return Err(unspellable(trie, text));
        };
        ids.push(id);
        position += len;
    }
    Ok(ids)
}

/// The longest token at the start of a text among those whose length is accepted.
fn longest(trie: &Trie, text: &[u8], accepted: impl Fn(usize) -> bool) -> Option<(u32, usize)> {
    let mut node = Trie::ROOT;
    let mut best = None;
    for (index, &byte) in text.iter().enumerate() {
        let Some(child) = trie.child(node, byte) else { break };
        node = child;
        if let Some(&id) = trie.tokens_at(node).first()
            && accepted(index + 1)
        {
            best = Some((id, index + 1));
        }
    }
    best
}

/// The error for a text that no cut spells: it names the furthest byte that a cut reaches.
fn unspellable(trie: &Trie, text: &[u8]) -> Error {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut furthest = 0;
    for position in 0..text.len() {
        if reached[position] {
            furthest = position;
            let mut node = Trie::ROOT;
            for (index, &byte) in text[position..].iter().enumerate() {
                let Some(child) = trie.child(node, byte) else { break };
                node = child;
                reached[position + index + 1] |= !trie.tokens_at(node).is_empty();
            }
        }
    }
    let byte = text[furthest];
    let message = format!("no token of the vocabulary spells the byte {byte:#04x} there");
    Error::new(ErrorKind::Vocabulary, message).at_offset(furthest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(tokens: &[&[u8]], special: &[u32]) -> Vocabulary {
        let tokens = tokens.iter().map(|t| t.to_vec()).collect();
        Vocabulary::from_parts(tokens, &[], special).unwrap()
    }

    fn spelled(vocabulary: &Vocabulary, ids: &[u32]) -> Vec<u8> {
        ids.iter().flat_map(|&id| vocabulary.text_bytes(id).unwrap()).copied().collect()
    }

    #[test]
    fn the_longest_match_wins_and_the_smallest_id() {
        let v = vocabulary(&[b"b", b"a", b"ab", b"ab", b"abc"], &[]);
        assert_eq!(v.greedy(b"abab").unwrap(), [2, 2]);
        assert_eq!(v.greedy(b"abcb").unwrap(), [4, 0]);
        assert_eq!(v.greedy(b"").unwrap(), [0; 0]);
    }

    #[test]
    fn shorter_tokens_where_the_longest_lead_nowhere() {
        // "ab" then "c" fails: there is no "c" alone.
        let v = vocabulary(&[b"a", b"ab", b"bc"], &[]);
        assert_eq!(v.greedy(b"abc").unwrap(), [0, 2]);
    }

    #[test]
    fn what_cannot_be_spelled_is_an_error_with_its_offset() {
        let v = vocabulary(&[b"a", b"ab", b"bc"], &[]);
        let error = v.greedy(b"abcc").unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Vocabulary, Some(3)));
        assert_eq!(v.greedy(b"x").unwrap_err().offset(), Some(0));
        assert_eq!(v.encode("aax").unwrap_err().offset(), Some(2));
    }

    #[test]
    fn pieces_that_do_not_fit_are_cut_anew() {
        let v = vocabulary(&[b"<s>", b"<", b"s", b">", b" a", b"a", b"bb", b"b"], &[0]);
        let run = |text: &str, pieces: &[Piece]| {
            let mut encoded = Encoded { ids: Vec::new(), exact: true };
            reconcile(&v, text.as_bytes(), pieces, &mut encoded).unwrap();
            assert_eq!(spelled(&v, &encoded.ids), text.as_bytes());
            (encoded.ids, encoded.exact)
        };
        assert_eq!(run("bba", &[(6, None), (5, None)]), (vec![6, 5], true));
        // A token that is never allowed, where the text only looks like it.
        assert_eq!(run("b<s>b", &[(7, None), (0, None), (7, None)]), (vec![7, 1, 2, 3, 7], false));
        // A prefix blank that the text does not have; the rest keeps its cut.
        assert_eq!(run("abb", &[(4, Some(0)), (7, Some(1)), (7, Some(2))]), (vec![5, 7, 7], false));
        // The tokenizer drops the end, or adds what is not there, or knows no offsets.
        assert_eq!(run("bba", &[(6, Some(0))]), (vec![6, 5], false));
        assert_eq!(run("b", &[(7, Some(0)), (5, Some(1))]), (vec![7], false));
        assert_eq!(run("bbb", &[(4, Some(0)), (6, Some(0)), (7, Some(2))]), (vec![6, 7], false));
        assert_eq!(run("abb", &[(4, None), (6, None)]), (vec![5, 6], false));
        assert_eq!(run("b", &[(99, Some(7))]), (vec![7], false));
    }

    proptest::proptest! {
        #[test]
        fn a_text_is_cut_exactly_where_tokens_can_spell_it(
            tokens in proptest::collection::vec(proptest::collection::vec(0..3u8, 1..4), 1..6),
            text in proptest::collection::vec(0..3u8, 0..12),
        ) {
            let v = Vocabulary::from_parts(tokens.clone(), &[], &[]).unwrap();
            let mut reached = vec![false; text.len() + 1];
            reached[0] = true;
            for at in 0..text.len() {
                if reached[at] {
                    for token in tokens.iter().filter(|token| text[at..].starts_with(token)) {
                        reached[at + token.len()] = true;
                    }
                }
            }
            match v.greedy(&text) {
                Ok(ids) => assert_eq!(spelled(&v, &ids), text),
                Err(error) => {
                    assert!(!reached[text.len()]);
                    assert_eq!(error.offset(), reached.iter().rposition(|&r| r));
                }
            }
        }
    }
}
