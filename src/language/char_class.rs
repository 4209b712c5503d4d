//! Classes of raw characters, as far as masks tell them apart: by their first bytes.

use crate::base::ByteSet;

/// The raw characters of a string that begin with one of these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CharClass(ByteSet);

impl CharClass {
    /// Every character that a string may hold raw.
    pub(crate) fn all() -> CharClass {
        let raw = (b' '..=0x7F).chain(0xC2..=0xF4);
        CharClass(raw.filter(|byte| !matches!(byte, b'"' | b'\\')).collect())
    }

    /// Those of the class whose first byte is as asked.
    pub(crate) fn filter(self, mut keep: impl FnMut(u8) -> bool) -> CharClass {
        CharClass(self.0.iter().filter(|&byte| keep(byte)).collect())
    }

    /// Whether the characters that begin with `byte` are in the class.
    pub(crate) fn contains(self, byte: u8) -> bool {
        self.0.contains(byte)
    }

    /// Its ASCII characters.
    pub(crate) fn ascii(self) -> impl Iterator<Item = u8> {
        (0..0x80).filter(move |&byte| self.contains(byte))
    }

    /// The first bytes of its other characters.
    pub(crate) fn leads(self) -> impl Iterator<Item = u8> {
        (0x80..=0xFF).filter(move |&byte| self.contains(byte))
    }
}
