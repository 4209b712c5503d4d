//! What a string holds: `contentEncoding` and `contentMediaType` as the report understands them.

use crate::language::Format;
use crate::options::{Content, Dialect};
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Value};

/// Sets up how content is checked.
pub(super) fn choose<'a>(
    builder: ValidationOptions<'a>,
    content: Content,
) -> ValidationOptions<'a> {
    match content {
        // The crate would check what the report calls an annotation.
        Content::Annotate => builder
            .without_content_media_type_support("application/json")
            .without_content_encoding_support("base64"),
        Content::Enforce => builder
            .with_keyword("contentEncoding", |_, name, _| {
                Ok(Box::new(Holds { encoding: text_of(name), json: false }))
            })
            .with_keyword("contentMediaType", |beside: &Map<String, Value>, name, _| {
                let encoding = beside.get("contentEncoding").and_then(text_of);
                Ok(Box::new(Holds { encoding, json: name == "application/json" }))
            }),
    }
}

fn text_of(name: &Value) -> Option<String> {
    name.as_str().map(str::to_ascii_lowercase)
}

/// That a string can be decoded, and perhaps that what it holds is JSON.
struct Holds {
    encoding: Option<String>,
    json: bool,
}

impl Keyword<'_> for Holds {
    fn validate<'i>(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        let wanted = if self.json { "JSON" } else { "text in this encoding" };
        match self.is_valid(instance) {
            true => Ok(()),
            false => Err(ValidationError::custom(format!("the string holds no {wanted}"))),
        }
    }

    fn is_valid(&self, instance: &Value) -> bool {
        let Some(text) = instance.as_str() else { return true };
        match (self.json, &self.encoding) {
            (false, None) => true,
            (false, Some(name)) => is_encoded(name, text).unwrap_or(true),
            (true, None) => is_json(text.as_bytes()),
            // What cannot be decoded is the encoding's fault.
            (true, Some(name)) => decode(name, text).is_none_or(|bytes| is_json(&bytes)),
        }
    }
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// The alphabet of an encoding, and its bits per character.
fn alphabet(name: &str) -> Option<(&'static str, u32)> {
    const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const BASE64_URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    match name {
        "base64" => Some((BASE64, 6)),
        "base64url" => Some((BASE64_URL, 6)),
        "base32" => Some(("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5)),
        "base16" => Some(("0123456789ABCDEF", 4)),
        _ => None,
    }
}

/// Whether `text` is in a known encoding.
fn is_encoded(name: &str, text: &str) -> Option<bool> {
    alphabet(name)?;
    Format::lookup(name, Dialect::Draft202012).map(|format| format.matches(text))
}

/// The bytes of `text`, if it is in a known encoding (RFC 4648). A group that is cut short gives
/// the bytes that it has.
pub(super) fn decode(name: &str, text: &str) -> Option<Vec<u8>> {
    let (alphabet, bits) = alphabet(name)?;
    let (mut bytes, mut held, mut count) = (Vec::new(), 0u32, 0);
    for c in text.trim_end_matches('=').chars() {
        let c = if bits == 4 { c.to_ascii_uppercase() } else { c };
        held = (held << bits | alphabet.find(c)? as u32) & 0xFFFF;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push((held >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_decode() {
        for (name, text, bytes) in [
            ("base64", "Zm9vYg==", "foob"),
            ("base64", "Zm9vYmFy", "foobar"),
            ("base64url", "Zm9vYmE", "fooba"),
            ("base32", "MZXW6YTB", "fooba"),
            ("base32", "MZXW6===", "foo"),
            ("base16", "666F6f", "foo"),
        ] {
            assert_eq!(decode(name, text).as_deref(), Some(bytes.as_bytes()), "{name} {text}");
            assert_eq!(is_encoded(name, text), Some(true), "{name} {text}");
        }
        assert_eq!(decode("base64", "Zm9v%g=="), None);
        assert_eq!(decode("quoted-printable", "a"), None);
        assert_eq!(is_encoded("base64", "Zg="), Some(false));
        assert_eq!(is_encoded("base32", "MZXW6"), Some(false));
    }
}
