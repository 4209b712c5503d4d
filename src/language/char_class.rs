//! Classes of raw characters, as far as masks tell them apart.

/// A set of characters that a string may hold raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CharClass {
    /// Bit `c` stands for the ASCII character `c`; those that need an escape are never in it.
    pub(crate) ascii: u128,
    /// Whether all characters beyond ASCII are in it; else none is.
    pub(crate) wide: bool,
}

impl CharClass {
    /// Every raw character.
    pub(crate) fn all() -> CharClass {
        let raw = (b' '..=0x7F).filter(|byte| !matches!(byte, b'"' | b'\\'));
        CharClass { ascii: raw.fold(0, |set, byte| set | 1 << byte), wide: true }
    }

    /// Whether a character that begins with `byte` is in the set.
    pub(crate) fn contains(self, byte: u8) -> bool {
        if byte.is_ascii() { self.ascii >> byte & 1 == 1 } else { self.wide }
    }

    /// The ASCII characters.
    pub(crate) fn ascii(self) -> impl Iterator<Item = u8> {
        (0..128).filter(move |&byte| self.contains(byte))
    }
}
