//! From a Hugging Face `tokenizer.json` to a vocabulary: what its strings spell, which tokens are
//! text, and which end an output.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::vocab::encode::Encoder;
use crate::vocab::tokens::{MAX_TOKENS, TokenClass, TokenTable};
use crate::vocab::{Parts, Vocabulary, policy};

use super::bytes::Spelling;
use super::end_tokens;
use super::file::{Model, TokenizerFile};

/// What a file gives.
pub(super) struct Loaded {
    /// Without end tokens.
    pub(super) vocabulary: Vocabulary,
    /// End tokens by their names.
    pub(super) end_ids: Vec<u32>,
    pub(super) added: Vec<AddedToken>,
}

/// One of the file's added tokens.
#[derive(Clone, Debug)]
pub(super) struct AddedToken {
    pub(super) id: u32,
    pub(super) content: String,
    pub(super) class: TokenClass,
}

/// Reads the text of a file.
///
/// # Errors
/// `vocabulary`: as for [`Vocabulary::from_huggingface`].
pub(super) fn load(text: &[u8], name: &str) -> Result<Loaded> {
    let file = TokenizerFile::parse(text)?;
    let model = file.model.ok_or_else(|| invalid("the file has no `model`"))?;
    model.check_kind()?;
    let spelling = spelling(&file.decoder, &file.pre_tokenizer, model.byte_fallback)?;
    let mut added = added_tokens(&file.added_tokens, spelling)?;
    if let Some(id) = model.unknown_id().filter(|&id| added.iter().all(|token| token.id != id)) {
        let content = model.unknown.clone().unwrap_or_default();
        added.push(AddedToken { id, content, class: TokenClass::Special });
    }
    let (tokens, classes) = table(&model, &added, spelling)?;
    let vocabulary = Vocabulary::assemble(Parts {
        name: name.into(),
        width: tokens.len(),
        tokens: Arc::new(tokens),
        classes,
        end_ids: Vec::new(),
        encoder: encoder(text),
    });
    Ok(Loaded { vocabulary, end_ids: end_ids(&model, &added), added })
}

#[cfg(feature = "hf-tokenizers")]
fn encoder(text: &[u8]) -> Encoder {
    Encoder::HuggingFace(Arc::new(crate::vocab::encode::HuggingFace::new(text.to_vec())))
}

#[cfg(not(feature = "hf-tokenizers"))]
fn encoder(_: &[u8]) -> Encoder {
    Encoder::Greedy { optimal: false }
}

/// End tokens by their names: of the added tokens, else of the model's own.
fn end_ids(model: &Model, added: &[AddedToken]) -> Vec<u32> {
    let ids = end_tokens::guess(added);
    if !ids.is_empty() {
        return ids;
    }
    let own = model.entries().filter(|(content, _)| content.starts_with(['<', '[']));
    let own = own.map(|(content, id)| AddedToken {
        id,
        content: content.to_owned(),
        class: TokenClass::Special,
    });
    end_tokens::guess(&own.collect::<Vec<_>>())
}

/// The bytes and classes of all ids: the model's tokens, with the added ones over them.
fn table(
    model: &Model,
    added: &[AddedToken],
    spelling: Spelling,
) -> Result<(TokenTable, Vec<TokenClass>)> {
    let ids = model.entries().map(|(_, id)| id).chain(added.iter().map(|token| token.id));
    let highest = ids.max().ok_or_else(|| invalid("the file has no tokens"))? as usize;
    if highest >= MAX_TOKENS {
        return Err(invalid(format!("the id {highest} is not below {MAX_TOKENS}")));
    }
    let mut own: Vec<Option<&str>> = vec![None; highest + 1];
    for (content, id) in model.entries() {
        if let Some(other) = own[id as usize].replace(content) {
            return Err(invalid(format!("`{other}` and `{content}` have the same id {id}")));
        }
    }
    let mut over: Vec<Option<&AddedToken>> = vec![None; highest + 1];
    for token in added {
        if let Some(other) = over[token.id as usize].replace(token)
            && other.content != token.content
        {
            let (a, b, id) = (&other.content, &token.content, token.id);
            return Err(invalid(format!("the added tokens `{a}` and `{b}` have the same id {id}")));
        }
    }
    let mut tokens = TokenTable::with_capacity(highest + 1);
    let mut classes = Vec::with_capacity(highest + 1);
    for (own, over) in own.iter().zip(over) {
        let (bytes, class) = match (over, own) {
            (Some(token), _) => (spelling.added_token(&token.content), token.class),
            (None, Some(content)) => spelling.model_token(content),
            (None, None) => (Default::default(), TokenClass::Text),
        };
        tokens.push(&bytes)?;
        classes.push(class);
    }
    Ok((tokens, classes))
}

/// The added tokens of a file, with their classes.
fn added_tokens(list: &Value, spelling: Spelling) -> Result<Vec<AddedToken>> {
    let list = match list {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err(invalid("`added_tokens` is no array")),
    };
    let token = |value: &Value| {
        let id = value.get("id")?.as_u64().and_then(|id| u32::try_from(id).ok())?;
        let content = value.get("content")?.as_str()?.to_owned();
        let special = value.get("special").and_then(Value::as_bool).unwrap_or(false);
        let class = match policy::added_token(&content, special) {
            // `<0x0A>` looks like a marker.
            TokenClass::Control if spelling.is_single_byte(&content) => TokenClass::Text,
            class => class,
        };
        Some(AddedToken { id, class, content })
    };
    list.iter()
        .enumerate()
        .map(|(index, value)| {
            let missing = || invalid(format!("added token {index} has no `id` or no `content`"));
            token(value).ok_or_else(missing)
        })
        .collect()
}

/// How the file's strings spell bytes: the decoder says so, else the pre-tokenizer, else the model.
fn spelling(decoder: &Value, pre_tokenizer: &Value, byte_fallback: bool) -> Result<Spelling> {
    let decoder = parts(decoder, "decoders");
    for part in &decoder {
        match kind(part) {
            "ByteLevel" | "ByteFallback" | "Replace" | "Metaspace" | "Fuse" | "Strip" => {}
            other => return Err(invalid(format!("the decoder `{other}` is not supported"))),
        }
    }
    let pre_tokenizer = parts(pre_tokenizer, "pretokenizers");
    for part in decoder.iter().chain(&pre_tokenizer) {
        match kind(part) {
            "ByteLevel" => return Ok(Spelling::ByteLevel),
            "ByteFallback" => return replaced_space(&decoder),
            // A pre-tokenizer that splits or replaces says nothing about bytes.
            "Replace" if part.get("content").is_some_and(|c| c == " ") => {
                return replaced_space(&decoder);
            }
            "Metaspace" => return metaspace(part),
            _ => {}
        }
    }
    if byte_fallback {
        return replaced_space(&decoder);
    }
    Err(invalid("neither decoder nor pre-tokenizer says how the tokens spell bytes"))
}

/// The character that the decoder replaces by a space, `▁` where it names none.
fn replaced_space(decoder: &[&Value]) -> Result<Spelling> {
    let mut space = '▁';
    for part in decoder.iter().filter(|part| kind(part) == "Replace") {
        let pattern = part.get("pattern").and_then(|p| p.get("String")).and_then(Value::as_str);
        let mut characters = pattern.unwrap_or_default().chars();
        match (characters.next(), characters.next(), part.get("content")) {
            (Some(one), None, Some(content)) if content == " " => space = one,
            _ => return Err(invalid("the decoder replaces more than a character by a space")),
        }
    }
    match decoder.iter().find(|part| kind(part) == "Metaspace") {
        Some(part) => metaspace(part),
        None => Ok(Spelling::ByteFallback { space }),
    }
}

fn metaspace(part: &Value) -> Result<Spelling> {
    let replacement = part.get("replacement").and_then(Value::as_str).unwrap_or("▁");
    let mut characters = replacement.chars();
    match (characters.next(), characters.next()) {
        (Some(space), None) => Ok(Spelling::ByteFallback { space }),
        _ => Err(invalid("`Metaspace` has a replacement that is not one character")),
    }
}

/// The parts of a decoder or pre-tokenizer, in order, sequences (of sequences) taken apart.
fn parts<'a>(value: &'a Value, list: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value.get(list).and_then(Value::as_array) {
            Some(inner) => open.extend(inner.iter().rev()),
            None if value.is_null() => {}
            None => found.push(value),
        }
    }
    found
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or("")
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Vocabulary, message)
}
