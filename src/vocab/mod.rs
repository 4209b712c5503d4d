//! Vocabularies: token id → bytes, and what masks need to know of them.
//!
//! In go the files of a tokenizer, an embedded vocabulary or a list of byte strings; out comes a
//! [`Vocabulary`]: the table of bytes, the class of each id, the end tokens, and, made when first
//! asked for, the trie over all tokens that may be text.
//!
//! Invariants:
//! * The trie holds exactly the ids that are text, have bytes, lie within the width and end
//!   nothing. Nothing else decides what a mask may allow besides the end tokens.
//! * Bytes come from the tokenizer's own table, never from decoding: decoders strip and join.
//! * Several ids may share their bytes. All of them are listed, and a mask allows all or none.
//!
//! Rejected: a hash map from bytes to id for the encoder (it cannot hold duplicates, and the trie
//! is there), and one boolean "special" (added markers that are not special need a third class,
//! which callers may overrule, as they may not for special tokens).

mod blank;
#[cfg(feature = "builtin-vocabularies")]
mod builtin;
mod class;
mod encode;
mod facts;
mod load;
mod policy;
mod text;
mod tokens;
mod trie;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::base::ByteSet;
use crate::error::{Error, ErrorKind, Result};
use crate::language::Alphabet;

pub(crate) use blank::BlankClosure;
pub(crate) use class::ClassText;
pub use encode::Encoded;
use encode::Encoder;
pub(crate) use facts::Facts;
pub use facts::VocabularyStats;
pub(crate) use text::{Exit, FreeText, Quoted, TextTables};
pub(crate) use tokens::{MAX_TOKENS, TokenClass, TokenTable};
pub(crate) use trie::{Ancestors, Trie};

/// The tokens of a language model: what bytes each id stands for, and which ids end an output.
///
/// Cheap to clone, `Send` and `Sync`. An id is of one kind: *text* (a mask may allow it), *special*
/// (never allowed), an *end* token (allowed exactly where a document may end), or a *hole* without
/// bytes (never allowed).
///
/// ```
/// use tokenmask::Vocabulary;
/// let vocabulary = Vocabulary::from_parts(
///     vec![b"{".to_vec(), b"}".to_vec(), b"<end>".to_vec(), b"<pad>".to_vec()],
///     &[2],
///     &[2, 3],
/// )?
/// .with_width(8)?;
/// assert_eq!((vocabulary.len(), vocabulary.width()), (4, 8));
/// assert_eq!(vocabulary.token_bytes(1), Some(&b"}"[..]));
/// assert_eq!(vocabulary.end_ids(), [2]);
/// assert!(vocabulary.is_special(3) && !vocabulary.is_special(0));
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone)]
pub struct Vocabulary(Arc<Inner>);

struct Inner {
    parts: Parts,
    derived: OnceLock<Derived>,
    blanks: OnceLock<BlankClosure>,
    /// For all escapes, and for minimal ones.
    text: [OnceLock<Arc<TextTables>>; 2],
}

/// What a vocabulary is made from; cheap to copy but for the classes.
#[derive(Clone)]
struct Parts {
    name: Arc<str>,
    tokens: Arc<TokenTable>,
    /// One class per id of the table.
    classes: Vec<TokenClass>,
    /// Sorted, without repetition.
    end_ids: Vec<u32>,
    width: usize,
    encoder: Encoder,
}

/// What is computed from the parts.
struct Derived {
    trie: Trie,
    facts: Facts,
}

/// Constructors.
impl Vocabulary {
    /// A vocabulary of the 256 single bytes (each id is its byte) and the end token 256.
    ///
    /// ```
    /// let vocabulary = tokenmask::Vocabulary::bytes();
    /// assert_eq!(vocabulary.token_bytes(65), Some(&b"A"[..]));
    /// assert_eq!((vocabulary.len(), vocabulary.end_ids()), (257, &[256][..]));
    /// ```
    pub fn bytes() -> Vocabulary {
        let mut tokens = TokenTable::with_capacity(257);
        for byte in 0..=255u8 {
            tokens.push(&[byte]).expect("257 tokens are below the bound");
        }
        tokens.push(b"").expect("257 tokens are below the bound");
        let mut classes = vec![TokenClass::Text; 257];
        classes[256] = TokenClass::Special;
        Vocabulary::assemble(Parts {
            name: "bytes".into(),
            tokens: Arc::new(tokens),
            classes,
            end_ids: vec![256],
            width: 257,
            encoder: Encoder::Greedy { optimal: true },
        })
    }

    /// A vocabulary from the bytes of each id, in the order of the ids; no bytes make a hole.
    ///
    /// `end_ids` end an output; `special_ids` are never text. An id may be in both, and end tokens
    /// need no bytes. The width is the number of tokens; [`with_width`](Self::with_width) changes
    /// it.
    ///
    /// ```
    /// use tokenmask::{ErrorKind, Vocabulary};
    /// let tokens = vec![b"ab".to_vec(), b"a".to_vec(), b"b".to_vec(), vec![]];
    /// let vocabulary = Vocabulary::from_parts(tokens, &[3], &[])?;
    /// assert_eq!(vocabulary.encode("abb")?.ids, [0, 2]);
    /// let error = Vocabulary::from_parts(vec![b"a".to_vec()], &[1], &[]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Vocabulary);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: an end or special id is not below the number of tokens, or the tokens are too
    /// many (16,777,216) or too long (256 MiB together).
    pub fn from_parts(
        tokens: Vec<Vec<u8>>,
        end_ids: &[u32],
        special_ids: &[u32],
    ) -> Result<Vocabulary> {
        let mut table = TokenTable::with_capacity(tokens.len());
        for bytes in &tokens {
            table.push(bytes)?;
        }
        let mut classes = vec![TokenClass::Text; table.len()];
        for &id in special_ids {
            let class = classes
                .get_mut(id as usize)
                .ok_or_else(|| outside("special id", id, table.len()))?;
            *class = TokenClass::Special;
        }
        let width = table.len();
        let parts = Parts {
            name: "parts".into(),
            tokens: Arc::new(table),
            classes,
            end_ids: Vec::new(),
            width,
            encoder: Encoder::Greedy { optimal: false },
        };
        Vocabulary::assemble(parts).with_end_tokens(end_ids)
    }

    /// A vocabulary embedded in this crate: see [`builtin_names`](Self::builtin_names).
    ///
    /// Special and end ids are those of the models. The width is the tokenizer's own, except where
    /// all models of the name have a wider one (`deepseek_v3`: 129,280); for another, call
    /// [`with_width`](Self::with_width).
    ///
    /// ```
    /// let vocabulary = tokenmask::Vocabulary::builtin("llama3")?;
    /// assert_eq!(vocabulary.end_ids(), [128_001, 128_008, 128_009]);
    /// assert!(vocabulary.encode("{\"name\": \"Ada\"}")?.exact);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: there is none of that name.
    #[cfg(feature = "builtin-vocabularies")]
    pub fn builtin(name: &str) -> Result<Vocabulary> {
        builtin::load(name)
    }

    /// The names that [`builtin`](Self::builtin) knows.
    #[cfg(feature = "builtin-vocabularies")]
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::names()
    }

    /// A vocabulary from the text of a Hugging Face `tokenizer.json`: byte-level BPE, or BPE with
    /// byte fallback in the manner of SentencePiece.
    ///
    /// Added tokens: special ones are never text. Others that look like markers (`[INST]`,
    /// `<think>`) are not either, unless listed with
    /// [`with_allowed_tokens`](Self::with_allowed_tokens); plain HTML tags and the rest are text.
    /// The file does not say which tokens end an output, so well-known names are taken
    /// (`<|im_end|>`, `</s>`, …); where that is not right, call
    /// [`with_end_tokens`](Self::with_end_tokens). Where none is found,
    /// [`end_ids`](Self::end_ids) is empty, and binding a grammar is an error.
    ///
    /// ```
    /// let text = r#"{
    ///     "model": {"type": "BPE", "vocab": {"{": 0, "Ġ}": 1}, "merges": []},
    ///     "added_tokens": [{"id": 2, "content": "</s>", "special": true}],
    ///     "decoder": {"type": "ByteLevel"}
    /// }"#;
    /// let vocabulary = tokenmask::Vocabulary::from_huggingface(text)?;
    /// assert_eq!(vocabulary.token_bytes(1), Some(&b" }"[..]));
    /// assert_eq!(vocabulary.end_ids(), [2]);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: the text is no such JSON, or its model is of another kind (Unigram, WordPiece).
    pub fn from_huggingface(tokenizer_json: impl AsRef<[u8]>) -> Result<Vocabulary> {
        load::huggingface(tokenizer_json.as_ref(), "tokenizer.json")
    }

    /// A vocabulary from a file: a Hugging Face `tokenizer.json`, or the folder that holds it.
    ///
    /// Files beside it tell more, where they exist: the end tokens of `generation_config.json`,
    /// `config.json` and `tokenizer_config.json` are added to those with well-known names, and
    /// `vocab_size` in `config.json` is the width.
    ///
    /// # Errors
    /// `input`: a file cannot be read. `vocabulary`: it cannot be understood; see
    /// [`from_huggingface`](Self::from_huggingface). Both have the path as location.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Vocabulary> {
        load::file(path.as_ref())
    }

    /// The same vocabulary with other end tokens: they replace those known before.
    ///
    /// What was an end token before is never text, as its class may be unknown.
    ///
    /// ```
    /// let vocabulary = tokenmask::Vocabulary::bytes().with_end_tokens(&[4, 3])?;
    /// assert_eq!(vocabulary.end_ids(), [3, 4]);
    /// assert!(vocabulary.is_special(256) && !vocabulary.is_end(256));
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: an id is not below the width.
    pub fn with_end_tokens(&self, ids: &[u32]) -> Result<Vocabulary> {
        let mut parts = self.0.parts.clone();
        if let Some(&id) = ids.iter().find(|&&id| id as usize >= parts.width) {
            return Err(outside("end id", id, parts.width));
        }
        for &id in &parts.end_ids {
            if let Some(class) = parts.classes.get_mut(id as usize) {
                *class = TokenClass::Special;
            }
        }
        parts.end_ids = ids.to_vec();
        parts.end_ids.sort_unstable();
        parts.end_ids.dedup();
        Ok(Vocabulary::assemble(parts))
    }

    /// The same vocabulary for logits of another width.
    ///
    /// Wider than the tokenizer: the further ids are never allowed. Narrower: the ids beyond it
    /// are never allowed.
    ///
    /// ```
    /// use tokenmask::Vocabulary;
    /// assert_eq!(Vocabulary::bytes().with_width(512)?.width(), 512);
    /// assert!(Vocabulary::bytes().with_width(200).is_err(), "the end token is 256");
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: an end id is not below the width, or the width is 0 or above 16,777,216.
    pub fn with_width(&self, width: usize) -> Result<Vocabulary> {
        if width == 0 || width > MAX_TOKENS {
            let message = format!("the width {width} is not between 1 and {MAX_TOKENS}");
            return Err(Error::new(ErrorKind::Vocabulary, message));
        }
        let mut parts = self.0.parts.clone();
        if let Some(&id) = parts.end_ids.iter().find(|&&id| id as usize >= width) {
            return Err(outside("end id", id, width));
        }
        parts.width = width;
        Ok(Vocabulary::assemble(parts))
    }

    /// The same vocabulary with the listed added tokens as text, whatever they look like.
    ///
    /// ```
    /// use tokenmask::{ErrorKind, Vocabulary};
    /// let error = Vocabulary::bytes().with_allowed_tokens(&[256]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Vocabulary);
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: an id is special, an end token, has no bytes, or is not below the width.
    pub fn with_allowed_tokens(&self, ids: &[u32]) -> Result<Vocabulary> {
        let mut parts = self.0.parts.clone();
        for &id in ids {
            let never = |why| Error::new(ErrorKind::Vocabulary, format!("token {id} {why}"));
            if id as usize >= parts.width {
                return Err(outside("allowed id", id, parts.width));
            }
            if parts.end_ids.binary_search(&id).is_ok() {
                return Err(never("is an end token and cannot be text"));
            }
            if parts.tokens.get(id).is_none() {
                return Err(never("has no bytes and cannot be text"));
            }
            match parts.classes.get_mut(id as usize) {
                Some(TokenClass::Special) | None => {
                    return Err(never("is special and cannot be text"));
                }
                Some(class) => *class = TokenClass::Text,
            }
        }
        Ok(Vocabulary::assemble(parts))
    }

    fn assemble(parts: Parts) -> Vocabulary {
        Vocabulary(Arc::new(Inner {
            parts,
            derived: OnceLock::new(),
            blanks: OnceLock::new(),
            text: Default::default(),
        }))
    }
}

/// Accessors.
impl Vocabulary {
    /// The name: of an embedded vocabulary, the path of a file, `bytes` or `parts`.
    pub fn name(&self) -> &str {
        &self.0.parts.name
    }

    /// How many ids the tokenizer has, holes included.
    #[expect(clippy::len_without_is_empty, reason = "an empty vocabulary has no use")]
    pub fn len(&self) -> usize {
        self.0.parts.tokens.len()
    }

    /// How many ids a mask covers: the width of the logits.
    pub fn width(&self) -> usize {
        self.0.parts.width
    }

    /// The bytes of a token, also of special ones (there, what they are called); none for holes
    /// and unknown ids.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.0.parts.tokens.get(id)
    }

    /// Whether a token is never text: special, an end token, or an added token that looks like a
    /// marker and was not listed. Masks allow none of them but end tokens.
    ///
    /// ```
    /// let vocabulary = tokenmask::Vocabulary::bytes();
    /// assert!(vocabulary.is_special(256) && !vocabulary.is_special(255));
    /// ```
    pub fn is_special(&self, id: u32) -> bool {
        self.is_end(id)
            || self.0.parts.classes.get(id as usize).is_some_and(|&c| c != TokenClass::Text)
    }

    /// The tokens that end an output, in ascending order.
    pub fn end_ids(&self) -> &[u32] {
        &self.0.parts.end_ids
    }

    /// Whether a token ends an output.
    pub fn is_end(&self, id: u32) -> bool {
        self.0.parts.end_ids.binary_search(&id).is_ok()
    }

    /// The bytes that are a token of their own. Where that is every byte, every text can be
    /// spelled.
    ///
    /// ```
    /// assert_eq!(tokenmask::Vocabulary::bytes().spellable(), tokenmask::ByteSet::FULL);
    /// ```
    pub fn spellable(&self) -> ByteSet {
        self.facts().spellable
    }

    /// Figures for people: sizes, parts of characters, duplicates.
    ///
    /// ```
    /// let stats = tokenmask::Vocabulary::bytes().stats();
    /// assert_eq!((stats.size, stats.text, stats.end), (257, 256, 1));
    /// assert_eq!(stats.partial_character_tokens, 128);
    /// ```
    pub fn stats(&self) -> VocabularyStats {
        let parts = &self.0.parts;
        let text = || parts.text_tokens().map(|(bytes, _)| bytes);
        VocabularyStats {
            size: self.len(),
            width: self.width(),
            text: text().count(),
            special: (0..self.len().max(self.width()) as u32)
                .filter(|&id| self.is_special(id))
                .count(),
            end: parts.end_ids.len(),
            holes: (0..self.len() as u32)
                .filter(|&id| parts.tokens.get(id).is_none() && !self.is_special(id))
                .count(),
            partial_character_tokens: text().filter(|b| std::str::from_utf8(b).is_err()).count(),
            duplicate_byte_strings: facts::duplicates(self.trie()),
            longest: self.facts().max_token_len as usize,
            total_bytes: text().map(<[u8]>::len).sum(),
            trie_nodes: self.trie().len() - 1,
            spellable_bytes: self.spellable().len(),
        }
    }

    /// The tokens of a text as the tokenizer would cut it, where that is known; see [`Encoded`].
    ///
    /// The bytes of the tokens are always the text's, and all tokens are text.
    ///
    /// ```
    /// let encoded = tokenmask::Vocabulary::bytes().encode("hé")?;
    /// assert_eq!(encoded.ids, [0x68, 0xc3, 0xa9]);
    /// assert!(encoded.exact);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// `vocabulary`: the tokens cannot spell the text; the offset is that of the first byte that
    /// none can.
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Encoded> {
        encode::encode(self, text.as_ref())
    }

    /// The tokens of a text, the longest at each position (the smallest id of those with the same
    /// bytes), unless only shorter ones can spell the rest.
    ///
    /// ```
    /// let tokens = ["a", "ab", "bc"].map(|token| token.as_bytes().to_vec()).to_vec();
    /// let vocabulary = tokenmask::Vocabulary::from_parts(tokens, &[], &[])?;
    /// assert_eq!(vocabulary.greedy(b"aba")?, [1, 0]);
    /// assert_eq!(vocabulary.greedy(b"abc")?, [0, 2]);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`encode`](Self::encode).
    pub fn greedy(&self, text: &[u8]) -> Result<Vec<u32>> {
        encode::greedy(self.trie(), text)
    }

    /// The bytes of a token that may be text; none for every id that a mask never allows as text.
    pub(crate) fn text_bytes(&self, id: u32) -> Option<&[u8]> {
        self.0.parts.text_bytes(id)
    }

    /// The trie of all tokens that may be text.
    pub(crate) fn trie(&self) -> &Trie {
        &self.derived().trie
    }

    /// Bounds over all tokens that may be text.
    pub(crate) fn facts(&self) -> &Facts {
        &self.derived().facts
    }

    /// The whitespace closure of the trie's root.
    pub(crate) fn blanks(&self) -> &BlankClosure {
        self.0.blanks.get_or_init(|| BlankClosure::of(self.trie(), Trie::ROOT))
    }

    /// What this vocabulary can spell byte by byte.
    pub(crate) fn alphabet(&self, minimal: bool) -> Arc<Alphabet> {
        Alphabet::shared(self.spellable(), minimal)
    }

    /// The tables of free text for an alphabet of this vocabulary.
    pub(crate) fn text(&self, alphabet: &Alphabet) -> Arc<TextTables> {
        let tables = &self.0.text[usize::from(alphabet.minimal())];
        tables.get_or_init(|| Arc::new(TextTables::new(self, alphabet))).clone()
    }

    /// Whether two handles are of the same vocabulary, not merely of equal ones.
    #[cfg(test)]
    pub(crate) fn is_same(&self, other: &Vocabulary) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// An error unless some token ends an output: without any, no mask could allow to stop.
    pub(crate) fn require_end(&self) -> Result<()> {
        if self.end_ids().is_empty() {
            let message = "no end token is known: name them with `with_end_tokens`";
            return Err(Error::new(ErrorKind::Vocabulary, message).at(self.name()));
        }
        Ok(())
    }

    fn encoder(&self) -> &Encoder {
        &self.0.parts.encoder
    }

    fn derived(&self) -> &Derived {
        self.0.derived.get_or_init(|| {
            let parts = &self.0.parts;
            Derived {
                trie: Trie::build(parts.text_tokens()),
                facts: Facts::of(parts.text_tokens().map(|(bytes, _)| bytes)),
            }
        })
    }
}

impl Parts {
    fn text_bytes(&self, id: u32) -> Option<&[u8]> {
        let text = (id as usize) < self.width
            && self.classes.get(id as usize) == Some(&TokenClass::Text)
            && self.end_ids.binary_search(&id).is_err();
        if text { self.tokens.get(id) } else { None }
    }

    fn text_tokens(&self) -> impl Iterator<Item = (&[u8], u32)> {
        (0..self.tokens.len() as u32).filter_map(|id| Some((self.text_bytes(id)?, id)))
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("name", &self.name())
            .field("len", &self.len())
            .field("width", &self.width())
            .field("end_ids", &self.end_ids())
            .finish_non_exhaustive()
    }
}

fn outside(what: &str, id: u32, bound: usize) -> Error {
    Error::new(ErrorKind::Vocabulary, format!("the {what} {id} is not below {bound}"))
}

#[cfg(test)]
mod tests;
