//! What a vocabulary can spell: which characters, how, and at what cost.

use super::decode::{CharRanges, TextState, needs_escape, short_letter};
use super::spell::Spell;
use crate::base::ByteSet;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The bytes that can be spelled one by one, and whether escapes are minimal.
///
/// Liveness and emptiness of languages count only characters that can be spelled, raw or by an
/// escape, over these bytes.
#[derive(Debug)]
pub(crate) struct Alphabet {
    bytes: ByteSet,
    minimal: bool,
    /// Whether `\uXXXX` can be spelled for any digits.
    all_hex: bool,
    spell: Spell,
    /// `pending_chars` where some hex digit is missing, which takes an enumeration.
    pending: Mutex<FxHashMap<TextState, CharRanges>>,
}

impl Alphabet {
    /// The alphabet of these bytes; `minimal`: see [`TextState::step`].
    pub(crate) fn new(bytes: ByteSet, minimal: bool) -> Self {
        let all_hex = bytes.contains(b'\\')
            && bytes.contains(b'u')
            && (0..16).all(|digit| hex_digit(&bytes, digit).is_some());
        let mut alphabet = Alphabet {
            bytes,
            minimal,
            all_hex,
            spell: Spell::default(),
            pending: Mutex::new(FxHashMap::default()),
        };
        alphabet.spell = Spell::new(&alphabet);
        alphabet
    }

    /// The alphabet of all bytes.
    pub(crate) fn full(minimal: bool) -> Self {
        Self::new(ByteSet::FULL, minimal)
    }

    /// The alphabet of these bytes; that of all bytes is made once per process.
    pub(crate) fn shared(bytes: ByteSet, minimal: bool) -> Arc<Self> {
        static FULL: [OnceLock<Arc<Alphabet>>; 2] = [OnceLock::new(), OnceLock::new()];
        if bytes != ByteSet::FULL {
            return Arc::new(Self::new(bytes, minimal));
        }
        FULL[usize::from(minimal)].get_or_init(|| Arc::new(Self::full(minimal))).clone()
    }

    /// The bytes that can be spelled.
    pub(crate) fn bytes(&self) -> &ByteSet {
        &self.bytes
    }

    /// Whether escapes are minimal.
    pub(crate) fn minimal(&self) -> bool {
        self.minimal
    }

    /// Whether every byte that JSON text can need is there, so that nothing need be analysed.
    pub(crate) fn is_full(&self) -> bool {
        [0x09, 0x0A, 0x0D]
            .into_iter()
            .chain(0x20..=0x7F)
            .chain(0x80..=0xBF)
            .chain(0xC2..=0xF4)
            .all(|b| self.bytes.contains(b))
    }

    /// Whether any `\uXXXX` can be spelled.
    pub(super) fn has_all_hex(&self) -> bool {
        self.all_hex
    }

    pub(super) fn spell(&self) -> &Spell {
        &self.spell
    }

    /// Whether `c` can be spelled, raw or by an escape.
    pub(crate) fn can_spell(&self, c: char) -> bool {
        self.can_spell_raw(c) || self.can_escape(c)
    }

    pub(super) fn can_spell_raw(&self, c: char) -> bool {
        !needs_escape(u32::from(c))
            && c.encode_utf8(&mut [0; 4]).bytes().all(|b| self.bytes.contains(b))
    }

    pub(super) fn can_escape(&self, c: char) -> bool {
        if !self.bytes.contains(b'\\') || (self.minimal && !needs_escape(u32::from(c))) {
            return false;
        }
        self.all_hex
            || short_letter(c).is_some_and(|letter| self.bytes.contains(letter))
            || self.spell_hex(c).is_some()
    }

    fn spell_hex(&self, c: char) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(12);
        for &mut unit in c.encode_utf16(&mut [0; 2]) {
            bytes.extend_from_slice(b"\\u");
            for shift in [12, 8, 4, 0] {
                bytes.push(hex_digit(&self.bytes, unit >> shift & 15)?);
            }
        }
        bytes.iter().all(|&b| self.bytes.contains(b)).then_some(bytes)
    }

    /// The shortest spelling of `c` over these bytes: raw, else the short escape, else `\uXXXX`.
    /// `None` if it cannot be spelled.
    pub(crate) fn cheapest_spelling(&self, c: char) -> Option<Vec<u8>> {
        if self.can_spell_raw(c) {
            return Some(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec());
        }
        if !self.can_escape(c) {
            return None;
        }
        match short_letter(c) {
            Some(letter) if self.bytes.contains(letter) => Some(vec![b'\\', letter]),
            _ => self.spell_hex(c),
        }
    }

    /// [`TextState::pending_chars`], without what these bytes cannot finish.
    pub(crate) fn pending_chars(&self, text: TextState) -> CharRanges {
        let ranges = text.pending_chars(self.minimal);
        if self.all_hex || ranges.is_empty() {
            return ranges;
        }
        let Ok(mut cache) = self.pending.lock() else { return CharRanges::new() };
        cache
            .entry(text)
            .or_insert_with(|| collect_ranges(&ranges, |c| self.complete(text, Some(c)).is_some()))
            .clone()
    }

    /// Whether the pending raw sequence or escape can be finished over these bytes.
    pub(crate) fn can_finish(&self, text: TextState) -> bool {
        text.is_boundary() || self.is_full() || self.complete(text, None).is_some()
    }

    /// [`TextState::completion`] over these bytes; `want` restricts the character of an escape.
    pub(crate) fn complete(&self, text: TextState, want: Option<char>) -> Option<Vec<u8>> {
        if text.is_raw_partial() {
            return self.complete_raw(text);
        }
        let want = match want {
            None if text.is_escape_partial() && !self.all_hex => {
                char::from_u32(self.pending_chars(text).first()?.0)
            }
            want => want,
        };
        let mut bytes = text.completion(want, self.minimal)?;
        let short = bytes.len() == 1 && text == escape_state();
        if short && !self.bytes.contains(bytes[0]) {
            bytes = self.spell_hex(want?)?.split_off(1);
        }
        for byte in &mut bytes {
            if !self.bytes.contains(*byte) {
                *byte = byte.to_ascii_uppercase();
            }
        }
        bytes.iter().all(|&b| self.bytes.contains(b)).then_some(bytes)
    }

    /// The spelling of decoded bytes that end a string which stands at `text`: `escaped` is what a
    /// pending escape becomes; else the first bytes may be the rest of a raw character.
    pub(crate) fn spell_end(
        &self,
        text: TextState,
        escaped: Option<char>,
        bytes: &[u8],
    ) -> Option<Vec<u8>> {
        let mut spelled = match escaped {
            Some(c) => self.complete(text, Some(c))?,
            None => Vec::new(),
        };
        let pending = bytes.iter().take_while(|&&b| b & 0xC0 == 0x80).count();
        let (rest, chars) = bytes.split_at(pending);
        if !rest.iter().all(|&byte| self.bytes.contains(byte)) {
            return None;
        }
        spelled.extend_from_slice(rest);
        for c in std::str::from_utf8(chars).ok()?.chars() {
            spelled.extend(self.cheapest_spelling(c)?);
        }
        Some(spelled)
    }

    fn complete_raw(&self, mut text: TextState) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some((low, high)) = text.raw_next() {
            let byte = (low..=high).find(|&b| self.bytes.contains(b))?;
            bytes.push(byte);
            match text.step(byte, self.minimal) {
                super::decode::TextStep::Raw { state, .. } => text = state,
                _ => return None,
            }
        }
        Some(bytes)
    }
}

/// The state after `\`.
fn escape_state() -> TextState {
    match TextState::START.step(b'\\', false) {
        super::decode::TextStep::Pending { state, .. } => state,
        _ => TextState::START,
    }
}

/// A hex digit in either case, the lower one first.
fn hex_digit(bytes: &ByteSet, digit: u16) -> Option<u8> {
    let lower = char::from_digit(u32::from(digit), 16)? as u8;
    [lower, lower.to_ascii_uppercase()].into_iter().find(|&b| bytes.contains(b))
}

/// The characters of `ranges` that `keep` accepts, as ranges.
pub(super) fn collect_ranges(
    ranges: &[(u32, u32)],
    mut keep: impl FnMut(char) -> bool,
) -> CharRanges {
    let mut out = CharRanges::new();
    for c in ranges.iter().flat_map(|&(low, high)| low..=high) {
        if !char::from_u32(c).is_some_and(&mut keep) {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.1 + 1 == c => last.1 = c,
            _ => out.push((c, c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_full_alphabet() {
        let all = Alphabet::full(false);
        assert!(all.is_full() && all.can_spell('\0') && all.can_spell('😀'));
        let spelling = |c| String::from_utf8(all.cheapest_spelling(c).unwrap()).unwrap();
        assert_eq!(spelling('a'), "a");
        assert_eq!(spelling('"'), "\\\"");
        assert_eq!(spelling('\n'), "\\n");
        assert_eq!(spelling('\u{1}'), "\\u0001");
        assert_eq!(spelling('é'), "é");
    }

    #[test]
    fn restricted_alphabets() {
        let ascii = Alphabet::new((0x20..=0x7E).collect(), false);
        assert!(!ascii.is_full() && ascii.can_spell('é'));
        assert_eq!(ascii.cheapest_spelling('😀').unwrap(), b"\\ud83d\\ude00");
        let minimal = Alphabet::new((0x20..=0x7E).collect(), true);
        assert!(!minimal.can_spell('é') && minimal.can_spell('\u{7}'));
        let upper: ByteSet = b"\\u0123456789ABCDEF".iter().copied().collect();
        let upper = Alphabet::new(upper, false);
        assert_eq!(upper.cheapest_spelling('\n').unwrap(), b"\\u000A");
        assert_eq!(upper.complete(escape_state(), Some('\n')).unwrap(), b"u000A");
        let few: ByteSet = b"\\u01".iter().copied().collect();
        let few = Alphabet::new(few, false);
        assert_eq!(few.pending_chars(escape_state())[0], (0, 1));
        assert!(few.can_spell('\u{1011}') && !few.can_spell('\u{2}') && !few.can_spell('2'));
        assert_eq!(few.complete(escape_state(), None).unwrap(), b"u0000");
        assert_eq!(few.cheapest_spelling('"'), None);
    }

    #[test]
    fn raw_completions_keep_to_the_bytes() {
        let bytes: ByteSet = [0xC3, 0xA9].into_iter().collect();
        let alphabet = Alphabet::new(bytes, false);
        let super::super::decode::TextStep::Raw { state, .. } = TextState::START.step(0xC3, false)
        else {
            panic!("C3 begins a character")
        };
        assert_eq!(alphabet.complete(state, None).unwrap(), [0xA9]);
        assert!(alphabet.can_finish(state));
        let none = Alphabet::new([0xC3].into_iter().collect(), false);
        assert!(!none.can_finish(state));
    }
}
