//! The reader of Hugging Face `tokenizer.json` files.
//!
//! Most of such a file is its vocabulary and the merges. The merges are skipped unread, the
//! vocabulary goes into one string; what is small (decoder, added tokens) is read as JSON values.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::Result;

use super::huggingface::invalid;

/// The members of a file that matter.
#[derive(Default)]
pub(super) struct TokenizerFile {
    pub(super) model: Option<Model>,
    pub(super) added_tokens: Value,
    pub(super) decoder: Value,
    pub(super) pre_tokenizer: Value,
}

impl TokenizerFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// `vocabulary`: it is no JSON object, or a member that matters is of another kind.
    pub(super) fn parse(text: &[u8]) -> Result<TokenizerFile> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        let file = reader.deserialize_map(FileVisitor);
        file.and_then(|file| reader.end().map(|()| file)).map_err(|error| {
            invalid(format!("this is no `tokenizer.json`: {error}")).caused_by(error)
        })
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = TokenizerFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with a `model`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TokenizerFile, A::Error> {
        let mut file = TokenizerFile::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "model" => file.model = Some(map.next_value_seed(ModelSeed)?),
                "added_tokens" => file.added_tokens = map.next_value()?,
                "decoder" => file.decoder = map.next_value()?,
                "pre_tokenizer" => file.pre_tokenizer = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(file)
    }
}

/// The member `model`.
#[derive(Default)]
pub(super) struct Model {
    kind: Option<String>,
    vocab: Option<Entries>,
    pub(super) byte_fallback: bool,
    pub(super) unknown: Option<String>,
    /// What a model appends to the last token of a word: no part of a text.
    end_of_word: Option<String>,
    /// What a model puts before all tokens of a word but the first: no part of a text either.
    continuing: Option<String>,
}

impl Model {
    /// An error unless the model is BPE with a vocabulary whose strings spell bytes.
    pub(super) fn check_kind(&self) -> Result<()> {
        let unigram = matches!(self.vocab, Some(Entries::List));
        let kind = self.kind.as_deref().unwrap_or(if unigram { "Unigram" } else { "BPE" });
        if kind != "BPE" || unigram {
            let message = format!("the model `{kind}` is not supported, only `BPE` is");
            return Err(invalid(message));
        }
        if self.vocab.is_none() {
            return Err(invalid("the model has no `vocab`"));
        }
        for affix in [&self.end_of_word, &self.continuing].into_iter().flatten() {
            if !affix.is_empty() {
                let message = format!("tokens with the affix `{affix}` do not spell their bytes");
                return Err(invalid(message));
            }
        }
        Ok(())
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, u32)> {
        let entries = match &self.vocab {
            Some(Entries::Map { text, ends }) => Some((text, ends)),
            _ => None,
        };
        entries.into_iter().flat_map(|(text, ends)| {
            let starts = std::iter::once(0).chain(ends.iter().map(|&(end, _)| end));
            starts.zip(ends).map(|(start, &(end, id))| (&text[start..end], id))
        })
    }

    /// The id of the token for what the model cannot spell.
    pub(super) fn unknown_id(&self) -> Option<u32> {
        let unknown = self.unknown.as_deref()?;
        self.entries().find(|&(content, _)| content == unknown).map(|(_, id)| id)
    }
}

struct ModelSeed;

impl<'de> DeserializeSeed<'de> for ModelSeed {
    type Value = Model;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Model, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ModelSeed {
    type Value = Model;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Model, A::Error> {
        let mut model = Model::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => model.kind = map.next_value()?,
                "vocab" => model.vocab = Some(map.next_value_seed(EntriesSeed)?),
                "byte_fallback" => {
                    model.byte_fallback = map.next_value::<Option<bool>>()?.unwrap_or(false);
                }
                "unk_token" => model.unknown = map.next_value()?,
                "end_of_word_suffix" => model.end_of_word = map.next_value()?,
                "continuing_subword_prefix" => model.continuing = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(model)
    }
}

/// The member `vocab` of a model.
enum Entries {
    /// String → id: the strings one after the other, and where each ends.
    Map { text: String, ends: Vec<(usize, u32)> },
    /// Strings with scores, as Unigram has them; not kept.
    List,
}

struct EntriesSeed;

impl<'de> DeserializeSeed<'de> for EntriesSeed {
    type Value = Entries;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Entries, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EntriesSeed {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map from tokens to ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        while map.next_key_seed(Append(&mut text))?.is_some() {
            ends.push((text.len(), map.next_value()?));
        }
        Ok(Entries::Map { text, ends })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Entries::List)
    }
}

/// Reads a string onto the end of another, without a copy of its own.
struct Append<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a token")
    }

    fn visit_str<E: de::Error>(self, token: &str) -> Result<(), E> {
        self.0.push_str(token);
        Ok(())
    }
}
