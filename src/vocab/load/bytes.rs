//! How the strings of a tokenizer file spell bytes.

use std::borrow::Cow;

use crate::vocab::tokens::TokenClass;

/// The way of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Each character of the 256-character alphabet of GPT-2 is one byte.
    ByteLevel,
    /// UTF-8 with this character for a space, and `<0xNN>` for single bytes.
    ByteFallback { space: char },
}

impl Spelling {
    /// The bytes and the class of a string of the model's own vocabulary.
    pub(super) fn model_token<'a>(self, content: &'a str) -> (Cow<'a, [u8]>, TokenClass) {
        match self {
            Spelling::ByteLevel => match byte_level(content) {
                Some(bytes) => (bytes.into(), TokenClass::Text),
                // A special token kept verbatim: no text is ever cut into it.
                None => (content.as_bytes().into(), TokenClass::Special),
            },
            Spelling::ByteFallback { space } => (byte_fallback(content, space), TokenClass::Text),
        }
    }

    /// The bytes of an added token: literal text, in which a file with another character for the
    /// space has it all the same.
    pub(super) fn added_token<'a>(self, content: &'a str) -> Cow<'a, [u8]> {
        match self {
            Spelling::ByteLevel => content.as_bytes().into(),
            Spelling::ByteFallback { space } => byte_fallback(content, space),
        }
    }

    /// Whether a string stands for a single byte by its number.
    pub(super) fn is_single_byte(self, content: &str) -> bool {
        matches!(self, Spelling::ByteFallback { .. }) && single_byte(content).is_some()
    }
}

fn byte_level(content: &str) -> Option<Vec<u8>> {
    content.chars().map(byte_of).collect()
}

/// The byte of a character of GPT-2's alphabet: the visible characters of Latin-1 are themselves,
/// the other 68 bytes are U+0100 and following, in order.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match code {
        33..=126 | 161..=172 | 174..=255 => u8::try_from(code).ok(),
        0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        0x121..=0x142 => u8::try_from(code - 0x121 + 127).ok(),
        0x143 => Some(173),
        _ => None,
    }
}

fn byte_fallback(content: &str, space: char) -> Cow<'_, [u8]> {
    if let Some(byte) = single_byte(content) {
        return vec![byte].into();
    }
    if content.contains(space) {
        return content.replace(space, " ").into_bytes().into();
    }
    content.as_bytes().into()
}

/// The byte that `<0xNN>` stands for.
fn single_byte(content: &str) -> Option<u8> {
    let digits = content.strip_prefix("<0x")?.strip_suffix('>')?;
    let hex = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if hex { u8::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alphabet_has_each_byte_once() {
        let mut bytes: Vec<u8> = ('\0'..'\u{400}').filter_map(byte_of).collect();
        assert_eq!(bytes.len(), 256);
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255u8).collect::<Vec<_>>());
        assert_eq!(byte_level("Ġaé"), Some(b" a\xe9".to_vec()));
        assert_eq!(byte_level("ĊčĉŁł"), Some(vec![b'\n', b'\r', b'\t', 0x9f, 0xa0]));
        assert_eq!(byte_level("a b"), None);
    }

    #[test]
    fn single_bytes_need_two_hex_digits() {
        let spelling = Spelling::ByteFallback { space: '▁' };
        let bytes = |content| spelling.model_token(content).0.into_owned();
        assert_eq!(bytes("<0xE2>"), [0xe2]);
        assert_eq!(bytes("<0x+1>"), b"<0x+1>");
        assert_eq!(bytes("<0x1>"), b"<0x1>");
        assert!(spelling.is_single_byte("<0x0A>") && !spelling.is_single_byte("<0x>"));
        assert!(!Spelling::ByteLevel.is_single_byte("<0x0A>"));
        assert_eq!(bytes("▁a▁"), b" a ");
        assert_eq!(spelling.added_token("▁▁").as_ref(), b"  ");
        assert_eq!(Spelling::ByteLevel.added_token("é▁").as_ref(), "é▁".as_bytes());
    }
}
