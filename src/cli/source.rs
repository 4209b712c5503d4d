//! Reading schemas, documents and TEXT arguments.

use super::exit::Failure;
use std::fs;
use std::io::{self, Read};

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let read = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    read.map_err(|error| input(path, error.to_string()))
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn read_text(path: &str) -> Result<String, Failure> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        input(path, format!("is not UTF-8 at byte {offset}"))
    })
}

fn input(path: &str, message: String) -> Failure {
    let location = if path == "-" { "standard input" } else { path };
    Failure::Input { location: location.to_owned(), message }
}

/// The text without one final LF or CRLF.
pub(crate) fn without_line_end(bytes: &[u8]) -> &[u8] {
    let Some(text) = bytes.strip_suffix(b"\n") else { return bytes };
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// The lines of a text, each without its LF or CRLF; a final line break begins no further line.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').map(without_line_end)
}

/// The bytes of a TEXT argument: after `hex:` hexadecimal digits, after `text:` the rest as it is.
pub(crate) fn text_argument(text: &str) -> Result<Vec<u8>, Failure> {
    if let Some(literal) = text.strip_prefix("text:") {
        return Ok(literal.as_bytes().to_vec());
    }
    let Some(digits) = text.strip_prefix("hex:") else { return Ok(text.as_bytes().to_vec()) };
    let bytes: Option<Vec<u8>> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
            _ => None,
        })
        .collect();
    bytes.ok_or_else(|| {
        Failure::Usage(format!("`{text}`: after `hex:` stand pairs of hexadecimal digits"))
    })
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_cut() {
        assert_eq!(without_line_end(b"a\r\n"), b"a");
        assert_eq!(without_line_end(b"a\n\n"), b"a\n");
        assert_eq!(without_line_end(b"a\r"), b"a\r");
        assert_eq!(lines(b"a\r\n\nb").collect::<Vec<_>>(), [&b"a"[..], b"", b"b"]);
        assert_eq!(lines(b"a\n").count(), 1);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn texts_may_be_hexadecimal() {
        assert_eq!(text_argument("hex:7b0A").unwrap(), [0x7b, 0x0a]);
        assert_eq!(text_argument("hex:").unwrap(), b"");
        assert_eq!(text_argument("text:hex:7b").unwrap(), b"hex:7b");
        assert_eq!(text_argument("{\"a\"").unwrap(), b"{\"a\"");
        for wrong in ["hex:7", "hex:zz", "hex:7b 0a", "hex:é"] {
            assert!(matches!(text_argument(wrong), Err(Failure::Usage(_))), "{wrong}");
        }
    }
}
