//! The token table: token id → bytes and class, flat.

use crate::error::{Error, ErrorKind, Result};

/// The most ids (and the widest logits) that a vocabulary may have: 64 times the largest known.
pub(crate) const MAX_TOKENS: usize = 1 << 24;

/// The most bytes that all tokens of a vocabulary may have together.
pub(crate) const MAX_BYTES: usize = 1 << 28;

/// What an id may stand for in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenClass {
    /// Its bytes are text.
    Text,
    /// An added token that looks like markup for the model: never text unless listed.
    Control,
    /// Never text.
    Special,
}

/// Token id → bytes: one run of bytes per id, an empty run for an id without any (a hole).
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenTable {
    bytes: Vec<u8>,
    /// `ends[id]`: where the bytes of `id` end in `bytes`; they begin where those of `id - 1` end.
    ends: Vec<u32>,
}

impl TokenTable {
    /// An empty table with room for `tokens` ids.
    pub(crate) fn with_capacity(tokens: usize) -> Self {
        let tokens = tokens.min(MAX_TOKENS);
        TokenTable { bytes: Vec::with_capacity(tokens * 8), ends: Vec::with_capacity(tokens) }
    }

    /// Adds the bytes of the next id; none make it a hole.
    ///
    /// # Errors
    /// `vocabulary`: the table would pass [`MAX_TOKENS`] or [`MAX_BYTES`].
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.ends.len() >= MAX_TOKENS {
            return Err(too_large(format!("more than {MAX_TOKENS} tokens")));
        }
        if bytes.len() > MAX_BYTES - self.bytes.len() {
            return Err(too_large(format!("more than {MAX_BYTES} bytes of tokens")));
        }
        self.bytes.extend_from_slice(bytes);
        // MAX_BYTES fits in 32 bits.
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    /// How many ids there are, holes included.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of an id; none for a hole and for an id outside the table.
    pub(crate) fn get(&self, id: u32) -> Option<&[u8]> {
        let index = id as usize;
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        (start < end).then(|| &self.bytes[start..end])
    }

    /// All ids that have bytes, with them, by id.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.ends.len() as u32).filter_map(|id| Some((id, self.get(id)?)))
    }
}

fn too_large(what: String) -> Error {
    Error::new(ErrorKind::Vocabulary, format!("the vocabulary is too large: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_have_no_bytes() {
        let mut table = TokenTable::default();
        for bytes in [&b"ab"[..], b"", b"c"] {
            table.push(bytes).unwrap();
        }
        assert_eq!(table.len(), 3);
        assert_eq!(table.get(0), Some(&b"ab"[..]));
        assert_eq!(table.get(1), None);
        assert_eq!(table.get(2), Some(&b"c"[..]));
        assert_eq!(table.get(3), None);
        assert_eq!(table.get(u32::MAX), None);
        assert_eq!(table.iter().map(|(id, _)| id).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn too_many_bytes_are_an_error() {
        let mut table = TokenTable::default();
        let half = vec![b'a'; MAX_BYTES / 2 + 1];
        table.push(&half).unwrap();
        assert_eq!(table.push(&half).unwrap_err().kind(), ErrorKind::Vocabulary);
        assert_eq!(table.len(), 1);
    }
}
