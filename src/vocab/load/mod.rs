//! From files to vocabularies: what format a file has, and what the files beside it say.

mod bytes;
mod end_tokens;
mod file;
mod huggingface;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

use super::Vocabulary;

/// The largest tokenizer file that is read; the largest known has 33 MB.
const MAX_FILE: u64 = 1 << 30;

/// The largest configuration file that is read.
const MAX_CONFIG: u64 = 1 << 24;

/// The vocabulary of the text of a `tokenizer.json`.
pub(super) fn huggingface(text: &[u8], name: &str) -> Result<Vocabulary> {
    let loaded = huggingface::load(text, name)?;
    let end_ids = loaded.end_ids;
    loaded.vocabulary.with_end_tokens(&end_ids)
}

/// See [`Vocabulary::from_file`].
pub(super) fn file(path: &Path) -> Result<Vocabulary> {
    let path = if path.is_dir() { path.join("tokenizer.json") } else { path.to_path_buf() };
    let name = path.display().to_string();
    let text = read(&path, MAX_FILE)?;
    if let Some(format) = other_format(&text) {
        let message = format!("{format} is not supported; a Hugging Face `tokenizer.json` is");
        return Err(Error::new(ErrorKind::Vocabulary, message).at(name));
    }
    let located = |error: Error| error.at(&name);
    let loaded = huggingface::load(&text, &name).map_err(located)?;
    let vocabulary = loaded.vocabulary;
    let beside = Beside::read(&path)?;
    let vocabulary = match beside.width {
        Some(width) => vocabulary.with_width(width).map_err(located)?,
        None => vocabulary,
    };
    let mut end_ids = loaded.end_ids;
    end_ids.extend(beside.end_ids);
    for content in beside.end_contents {
        end_ids.extend(loaded.added.iter().filter(|a| a.content == content).map(|a| a.id));
    }
    vocabulary.with_end_tokens(&end_ids).map_err(located)
}

/// The name of a format that is known but not read, by the first bytes of a file.
fn other_format(text: &[u8]) -> Option<&'static str> {
    if text.starts_with(b"GGUF") {
        return Some("a GGUF file");
    }
    match text.trim_ascii_start().first() {
        Some(b'{') => None,
        _ if text.starts_with(&[0x0a]) => Some("a SentencePiece model"),
        _ => Some("this format"),
    }
}

/// What the configuration files in the folder of a tokenizer say.
#[derive(Debug, Default)]
struct Beside {
    width: Option<usize>,
    end_ids: Vec<u32>,
    /// End tokens that are named by what they are called.
    end_contents: Vec<String>,
}

impl Beside {
    /// Reads those files that exist.
    ///
    /// # Errors
    /// `input`: one cannot be read. `vocabulary`: one is not JSON.
    fn read(tokenizer: &Path) -> Result<Beside> {
        let mut beside = Beside::default();
        let folder = tokenizer.parent().unwrap_or(Path::new("."));
        if let Some(config) = config(folder.join("config.json"))? {
            // Models of several kinds of input have the text model's settings apart.
            for part in [Some(&config), config.get("text_config")].into_iter().flatten() {
                beside.width = vocab_size(part).or(beside.width);
                beside.end_ids.extend(ids(part.get("eos_token_id")));
            }
        }
        if let Some(config) = config(folder.join("generation_config.json"))? {
            beside.end_ids.extend(ids(config.get("eos_token_id")));
        }
        if let Some(config) = config(folder.join("tokenizer_config.json"))? {
            let token = config.get("eos_token");
            let content = token.and_then(|token| token.get("content")).or(token);
            beside.end_contents.extend(content.and_then(Value::as_str).map(str::to_owned));
        }
        Ok(beside)
    }
}

fn vocab_size(config: &Value) -> Option<usize> {
    config.get("vocab_size")?.as_u64().and_then(|size| usize::try_from(size).ok())
}

/// An id or a list of ids; everything else is none.
fn ids(value: Option<&Value>) -> Vec<u32> {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(id).collect(),
        Some(single) => id(single).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A configuration file as JSON; none where it does not exist.
fn config(path: PathBuf) -> Result<Option<Value>> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read(&path, MAX_CONFIG)?;
    let parsed = serde_json::from_slice(&text).map_err(|error| {
        let message = format!("the configuration is not JSON: {error}");
        Error::new(ErrorKind::Vocabulary, message).at(path.display().to_string()).caused_by(error)
    })?;
    Ok(Some(parsed))
}

/// The bytes of a file of at most `limit`.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let unreadable =
        |message: String| Error::new(ErrorKind::Input, message).at(path.display().to_string());
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut text)).map_err(
        |error| unreadable(format!("the file cannot be read: {error}")).caused_by(error),
    )?;
    if text.len() as u64 > limit {
        return Err(unreadable(format!("the file has more than {limit} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_or_many() {
        let value = serde_json::json!({"one": 7, "many": [1, 2, -3, "x"], "none": null});
        assert_eq!(ids(value.get("one")), [7]);
        assert_eq!(ids(value.get("many")), [1, 2]);
        assert_eq!(ids(value.get("none")), [0; 0]);
        assert_eq!(ids(value.get("absent")), [0; 0]);
    }

    #[test]
    fn other_formats_are_named() {
        assert_eq!(other_format(b" {\"model\": 1}"), None);
        assert_eq!(other_format(b"GGUF\x03\0\0\0"), Some("a GGUF file"));
        assert_eq!(other_format(b"\n\x0e\n\x05<unk>"), Some("a SentencePiece model"));
        assert_eq!(other_format(b"IQ== 0\n"), Some("this format"));
    }
}
