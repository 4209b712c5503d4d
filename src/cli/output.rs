//! Standard output for data, standard error for talk.

use super::exit::Failure;
use serde_json::Value;
use std::io::{self, BufWriter, Write};

/// The two streams of a run.
pub(crate) struct Output {
    data: BufWriter<io::StdoutLock<'static>>,
}

impl Output {
    /// Locks standard output for the whole run.
    pub(crate) fn new() -> Self {
        Output { data: BufWriter::new(io::stdout().lock()) }
    }

    /// Writes a line of data.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.data.write_all(text.as_bytes())?;
        self.data.write_all(b"\n")?;
        Ok(())
    }

    /// Writes text as it is, which ends with its own line break.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.data.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            self.data.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes a JSON value on one line.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        self.line(&value.to_string())
    }

    /// Hands everything to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.data.flush()?;
        Ok(())
    }

    /// Writes a line of talk; a closed standard error stops nothing.
    pub(crate) fn talk(&mut self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Bytes for people: text as it is, with escapes for quotes, control characters and bytes that are
/// no text.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => text.push_str("\\\""),
                character if character.is_control() => text.extend(character.escape_default()),
                character => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text.push('"');
    text
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_readably() {
        assert_eq!(quoted("a\"\n é".as_bytes()), "\"a\\\"\\n é\"");
        assert_eq!(quoted(&[0xf0, b'x']), "\"\\xf0x\"");
        assert_eq!(hexadecimal(&[0, 255, 10]), "00ff0a");
    }
}
