//! The decoder of the inside of a JSON string: one byte at a time, after the opening quote.
//!
//! A state is one packed `u32`: the low four bits say what is pending, the others hold the hex
//! digits and the high surrogate read so far. Raw bytes are checked against RFC 3629, escapes
//! against RFC 8259, and surrogates must come in pairs. Everything is refused at the first byte
//! that no string can have there.

use smallvec::{SmallVec, smallvec};

/// Inclusive code point ranges, ascending, surrogates excluded.
pub(crate) type CharRanges = SmallVec<[(u32, u32); 3]>;

const TAG_BITS: u32 = 4;
const TAG_MASK: u32 = (1 << TAG_BITS) - 1;
const ESCAPE: u32 = 8;
const HEX: u32 = 9;
/// A high surrogate is complete; `\` must follow.
const HIGH: u32 = 10;
/// A high surrogate and `\`; `u` must follow.
const HIGH_ESCAPE: u32 = 11;
/// A high surrogate and `\u`, then 0 to 3 digits of the low one.
const LOW: u32 = 12;
const DIGITS_SHIFT: u32 = 4;
const HIGH_SHIFT: u32 = 8;
const VALUE_SHIFT: u32 = 18;

/// How many bytes the sequences of the raw tags 1..=7 still need, and the range of the next one.
/// The tag after that byte is that of the plain tail of one byte less.
const RAW: [(u8, u8, u8); 8] = [
    (0, 0, 0),
    (1, 0x80, 0xBF), // one continuation byte
    (2, 0x80, 0xBF),
    (3, 0x80, 0xBF),
    (2, 0xA0, 0xBF), // after E0: no overlong form
    (2, 0x80, 0x9F), // after ED: no surrogate
    (3, 0x90, 0xBF), // after F0: no overlong form
    (3, 0x80, 0x8F), // after F4: up to U+10FFFF
];

/// What the decoder is in the middle of. Equal states behave alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextState(u32);

/// What one byte means inside a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextStep {
    /// No string has this byte here.
    Refuse,
    /// Inside an escape; nothing is decoded yet. `first`: this byte (a `\`) begins a character.
    Pending { first: bool, state: TextState },
    /// A byte of a character that stands for itself: the language reads this byte.
    /// `first`: it begins the character.
    Raw { first: bool, state: TextState },
    /// An escape, or the second of a surrogate pair, is complete and means this character.
    Char(char, TextState),
    /// The closing quote.
    Close,
}

impl TextState {
    /// Between characters: nothing is pending.
    pub(crate) const START: TextState = TextState(0);

    /// How many distinct values [`TextState::raw_index`] has.
    pub(crate) const RAW_STATES: usize = 8;

    fn escape(tag: u32, digits: u32, value: u32, high: u32) -> TextState {
        TextState(tag | digits << DIGITS_SHIFT | high << HIGH_SHIFT | value << VALUE_SHIFT)
    }

    fn tag(self) -> u32 {
        self.0 & TAG_MASK
    }

    fn digits(self) -> u32 {
        self.0 >> DIGITS_SHIFT & 3
    }

    fn high(self) -> u32 {
        self.0 >> HIGH_SHIFT & 0x3FF
    }

    fn value(self) -> u32 {
        self.0 >> VALUE_SHIFT
    }

    /// Between characters: nothing is pending.
    #[inline]
    pub(crate) fn is_boundary(self) -> bool {
        self.0 == 0
    }

    /// Inside the raw UTF-8 sequence of a character.
    #[inline]
    pub(crate) fn is_raw_partial(self) -> bool {
        (1..ESCAPE).contains(&self.0)
    }

    /// Inside an escape.
    #[inline]
    pub(crate) fn is_escape_partial(self) -> bool {
        self.0 >= ESCAPE
    }

    /// A dense index below [`TextState::RAW_STATES`] of a boundary (0) or a raw partial state.
    pub(crate) fn raw_index(self) -> Option<usize> {
        (self.0 < ESCAPE).then_some(self.0 as usize)
    }

    /// The state whose [`TextState::raw_index`] is `index`; the boundary for any other index.
    pub(crate) fn from_raw_index(index: usize) -> TextState {
        TextState(if index < Self::RAW_STATES { index as u32 } else { 0 })
    }

    /// The bytes that can follow inside a raw sequence: an inclusive range.
    pub(crate) fn raw_next(self) -> Option<(u8, u8)> {
        let (_, low, high) = RAW[self.raw_index()?];
        self.is_raw_partial().then_some((low, high))
    }

    /// One byte further. `minimal`: an escape may only stand for a character that JSON does not
    /// allow raw (`"`, `\`, U+0000 to U+001F), in any of its spellings.
    #[inline]
    pub(crate) fn step(self, byte: u8, minimal: bool) -> TextStep {
        if self.is_boundary() {
            return Self::step_boundary(byte);
        }
        if self.is_raw_partial() {
            let (left, low, high) = RAW[(self.0 & 7) as usize];
            if byte < low || byte > high {
                return TextStep::Refuse;
            }
            return TextStep::Raw { first: false, state: TextState(u32::from(left) - 1) };
        }
        self.step_escape(byte, minimal)
    }

    #[inline]
    fn step_boundary(byte: u8) -> TextStep {
        let tag = match byte {
            b'"' => return TextStep::Close,
            b'\\' => return TextStep::Pending { first: true, state: TextState(ESCAPE) },
            0x20..=0x7F => 0,
            0xC2..=0xDF => 1,
            0xE0 => 4,
            0xED => 5,
            0xE1..=0xEF => 2,
            0xF0 => 6,
            0xF1..=0xF3 => 3,
            0xF4 => 7,
            _ => return TextStep::Refuse,
        };
        TextStep::Raw { first: true, state: TextState(tag) }
    }

    fn step_escape(self, byte: u8, minimal: bool) -> TextStep {
        let pending = |state| TextStep::Pending { first: false, state };
        match self.tag() {
            ESCAPE if byte == b'u' => pending(TextState(HEX)),
            ESCAPE => match short_escape(byte) {
                Some(c) if !minimal || needs_escape(u32::from(c)) => {
                    TextStep::Char(c, TextState::START)
                }
                _ => TextStep::Refuse,
            },
            HIGH if byte == b'\\' => pending(Self::escape(HIGH_ESCAPE, 0, 0, self.high())),
            HIGH_ESCAPE if byte == b'u' => pending(Self::escape(LOW, 0, 0, self.high())),
            HEX | LOW => self.step_hex(byte, minimal),
            _ => TextStep::Refuse,
        }
    }

    fn step_hex(self, byte: u8, minimal: bool) -> TextStep {
        let Some(digit) = (byte as char).to_digit(16) else { return TextStep::Refuse };
        let (tag, value, digits) = (self.tag(), self.value() << 4 | digit, self.digits() + 1);
        if digits < 4 {
            let next = Self::escape(tag, digits, value, self.high());
            return if next.pending_chars(minimal).is_empty() {
                TextStep::Refuse
            } else {
                TextStep::Pending { first: false, state: next }
            };
        }
        let code = match (tag, value) {
            (HEX, 0xD800..=0xDBFF) if !minimal => {
                let state = Self::escape(HIGH, 0, 0, value - 0xD800);
                return TextStep::Pending { first: false, state };
            }
            (HEX, _) => value,
            (_, 0xDC00..=0xDFFF) => 0x1_0000 + (self.high() << 10) + (value - 0xDC00),
            _ => return TextStep::Refuse,
        };
        match char::from_u32(code) {
            Some(c) if !minimal || needs_escape(code) => TextStep::Char(c, TextState::START),
            _ => TextStep::Refuse,
        }
    }

    /// The characters that the pending escape can still become; empty outside an escape.
    pub(crate) fn pending_chars(self, minimal: bool) -> CharRanges {
        let shift = 4 * (4 - self.digits());
        let (low, high) = (self.value() << shift, ((self.value() + 1) << shift) - 1);
        let supplementary = |high: u32| 0x1_0000 + (high << 10);
        let mut ranges: CharRanges = match self.tag() {
            ESCAPE => smallvec![(0, 0xD7FF), (0xE000, 0x10_FFFF)],
            HEX => {
                let mut ranges = CharRanges::new();
                let mut push = |low: u32, high: u32| {
                    if low <= high {
                        ranges.push((low, high));
                    }
                };
                push(low, high.min(0xD7FF));
                push(low.max(0xE000), high);
                let (first, last) = (low.max(0xD800), high.min(0xDBFF));
                if first <= last {
                    push(supplementary(first - 0xD800), supplementary(last - 0xD800) + 0x3FF);
                }
                ranges
            }
            HIGH | HIGH_ESCAPE => {
                smallvec![(supplementary(self.high()), supplementary(self.high()) + 0x3FF)]
            }
            LOW => {
                let (low, high) = (low.max(0xDC00), high.min(0xDFFF));
                let base = supplementary(self.high());
                if low <= high {
                    smallvec![(base + low - 0xDC00, base + high - 0xDC00)]
                } else {
                    CharRanges::new()
                }
            }
            _ => CharRanges::new(),
        };
        if minimal {
            ranges = minimal_part(&ranges);
        }
        ranges
    }

    /// The shortest bytes that finish the pending raw sequence or escape, lower-case hex.
    /// Inside an escape it becomes `want`, or, without one, some character that `minimal` allows.
    /// `None`: it cannot become `want`.
    pub(crate) fn completion(self, want: Option<char>, minimal: bool) -> Option<Vec<u8>> {
        if !self.is_escape_partial() {
            let mut bytes = Vec::new();
            let mut state = self;
            while let Some((low, _)) = state.raw_next() {
                bytes.push(low);
                state = TextState(u32::from(RAW[(state.0 & 7) as usize].0) - 1);
            }
            return Some(bytes);
        }
        let ranges = self.pending_chars(minimal);
        let allows = |c: char| {
            let code = u32::from(c);
            ranges.iter().any(|&(low, high)| (low..=high).contains(&code))
        };
        let want = match want {
            Some(c) => c,
            None if self.tag() == ESCAPE => '\n',
            None if allows('a') => 'a',
            None => char::from_u32(ranges.first()?.0)?,
        };
        if !allows(want) {
            return None;
        }
        Some(self.spell_rest(want))
    }

    /// The rest of the escape for a character in `pending_chars`.
    fn spell_rest(self, want: char) -> Vec<u8> {
        let mut units = [0u16; 2];
        let units = want.encode_utf16(&mut units);
        let hex = |unit: u16| format!("{unit:04x}").into_bytes();
        let low = |bytes: &mut Vec<u8>, prefix: &[u8]| {
            if let Some(&unit) = units.get(1) {
                bytes.extend_from_slice(prefix);
                bytes.extend(hex(unit));
            }
        };
        let mut bytes = Vec::new();
        match self.tag() {
            ESCAPE => match short_letter(want) {
                Some(letter) => bytes.push(letter),
                None => {
                    bytes.push(b'u');
                    bytes.extend(hex(units[0]));
                    low(&mut bytes, b"\\u");
                }
            },
            HEX => {
                bytes.extend(hex(units[0]).into_iter().skip(self.digits() as usize));
                low(&mut bytes, b"\\u");
            }
            HIGH => low(&mut bytes, b"\\u"),
            HIGH_ESCAPE => low(&mut bytes, b"u"),
            _ => {
                low(&mut bytes, b"");
                bytes.drain(..self.digits() as usize);
            }
        }
        bytes
    }
}

/// Whether JSON does not allow this character raw.
pub(crate) fn needs_escape(code: u32) -> bool {
    code < 0x20 || code == 0x22 || code == 0x5C
}

fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{C}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// The letter of a character's two-byte escape.
pub(crate) fn short_letter(c: char) -> Option<u8> {
    Some(match c {
        '"' => b'"',
        '\\' => b'\\',
        '/' => b'/',
        '\u{8}' => b'b',
        '\u{C}' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        _ => return None,
    })
}

fn minimal_part(ranges: &[(u32, u32)]) -> CharRanges {
    let mut out = CharRanges::new();
    for &(low, high) in ranges {
        for (first, last) in [(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)] {
            let (low, high) = (low.max(first), high.min(last));
            if low <= high {
                out.push((low, high));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoded text of the content bytes and whether they end at the closing quote.
    fn decode(bytes: &[u8], minimal: bool) -> Option<String> {
        let (mut state, mut raw, mut chars) = (TextState::START, Vec::new(), 0usize);
        for &byte in bytes {
            let first;
            (first, state) = match state.step(byte, minimal) {
                TextStep::Refuse | TextStep::Close => return None,
                TextStep::Pending { first, state } => (first, state),
                TextStep::Raw { first, state } => {
                    raw.push(byte);
                    (first, state)
                }
                TextStep::Char(c, state) => {
                    raw.extend(c.encode_utf8(&mut [0; 4]).bytes());
                    (false, state)
                }
            };
            chars += usize::from(first);
        }
        let text = state.is_boundary().then(|| String::from_utf8(raw).unwrap())?;
        assert_eq!(chars, text.chars().count());
        Some(text)
    }

    fn serde(bytes: &[u8]) -> Option<String> {
        let mut json = vec![b'"'];
        json.extend_from_slice(bytes);
        json.push(b'"');
        serde_json::from_slice(&json).ok()
    }

    #[test]
    fn raw_strings_as_serde_json() {
        for a in 0..=255u8 {
            assert_eq!(decode(&[a], false), serde(&[a]), "{a:x}");
            for b in 0..=255u8 {
                assert_eq!(decode(&[a, b], false), serde(&[a, b]), "{a:x} {b:x}");
            }
        }
        let edges = [0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2];
        for a in 0xC0..=255u8 {
            for b in edges {
                for c in edges {
                    assert_eq!(decode(&[a, b, c], false), serde(&[a, b, c]));
                    for d in edges {
                        assert_eq!(decode(&[a, b, c, d], false), serde(&[a, b, c, d]));
                    }
                }
            }
        }
    }

    #[test]
    fn escapes_as_serde_json() {
        for a in 0..=255u8 {
            assert_eq!(decode(&[b'\\', a], false), serde(&[b'\\', a]));
        }
        for code in 0..=0xFFFFu32 {
            let text = format!("\\u{code:04X}");
            assert_eq!(decode(text.as_bytes(), false), serde(text.as_bytes()), "{text}");
            let minimal = needs_escape(code).then(|| char::from_u32(code).unwrap().to_string());
            assert_eq!(decode(text.as_bytes(), true), minimal, "{text}");
        }
        for (high, low) in [(0xD800, 0xDC00), (0xDBFF, 0xDFFF), (0xD83D, 0xDE00), (0xD83D, 0xE000)]
        {
            let text = format!("\\u{high:04x}\\u{low:04X}!");
            assert_eq!(decode(text.as_bytes(), false), serde(text.as_bytes()), "{text}");
        }
        assert_eq!(decode(b"\\/", true), None);
    }

    /// Feeds all of `bytes`; the state, or `None` where one is refused.
    fn state_after(bytes: &[u8], minimal: bool) -> Option<TextState> {
        bytes.iter().try_fold(TextState::START, |state, &b| match state.step(b, minimal) {
            TextStep::Pending { state, .. } | TextStep::Raw { state, .. } => Some(state),
            TextStep::Char(_, state) => Some(state),
            _ => None,
        })
    }

    #[test]
    fn refused_as_early_as_possible() {
        for text in ["\\uDC", "\\uDd", "\\uD83D\\uE", "\\uD83Dx", "\\uD83D\\n", "\\uD83D\\uDB"] {
            let (last, before) = text.as_bytes().split_last().unwrap();
            assert!(state_after(before, false).is_some(), "{text}");
            assert!(state_after(text.as_bytes(), false).is_none(), "{text} {last}");
        }
        for text in ["\\u1", "\\u01", "\\u003", "\\u0023", "\\u005d", "\\uD"] {
            let (_, before) = text.as_bytes().split_last().unwrap();
            assert!(state_after(before, true).is_some(), "{text}");
            assert!(state_after(text.as_bytes(), true).is_none(), "{text}");
        }
    }

    #[test]
    fn pending_ranges_are_what_can_come() {
        let pending = |text: &str, minimal| {
            state_after(text.as_bytes(), minimal).unwrap().pending_chars(minimal).to_vec()
        };
        assert_eq!(pending("\\", false), [(0, 0xD7FF), (0xE000, 0x10FFFF)]);
        assert_eq!(pending("\\", true), [(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]);
        assert_eq!(pending("\\u00", false), [(0, 0xFF)]);
        assert_eq!(pending("\\u002", true), [(0x22, 0x22)]);
        assert_eq!(pending("\\uD", false), [(0xD000, 0xD7FF), (0x10000, 0x10FFFF)]);
        assert_eq!(pending("\\uD8", false), [(0x10000, 0x4FFFF)]);
        assert_eq!(pending("\\uD83D", false), [(0x1F400, 0x1F7FF)]);
        assert_eq!(pending("\\uD83D\\uDE0", false), [(0x1F600, 0x1F60F)]);
        assert_eq!(pending("é", false), []);
    }

    #[test]
    fn completions_finish() {
        for text in
            ["\\", "\\u", "\\u0", "\\u00", "\\u002", "\\ud", "\\uD83D", "\\uD83D\\", "\\uD83D\\uDE"]
        {
            for minimal in [false, true] {
                let Some(state) = state_after(text.as_bytes(), minimal) else { continue };
                let ranges = state.pending_chars(minimal);
                for want in ranges.iter().flat_map(|&(a, b)| [a, b, a.midpoint(b)]) {
                    let want = char::from_u32(want).unwrap();
                    let mut bytes = text.as_bytes().to_vec();
                    bytes.extend(state.completion(Some(want), minimal).unwrap());
                    assert_eq!(decode(&bytes, minimal), Some(want.to_string()), "{text}");
                }
                let mut bytes = text.as_bytes().to_vec();
                bytes.extend(state.completion(None, minimal).unwrap());
                assert!(decode(&bytes, minimal).is_some(), "{text}");
            }
        }
        for raw in [&[0xE0][..], &[0xED], &[0xF0, 0x90], &[0xF4], &[0xC2], &[0xF1]] {
            let mut bytes = raw.to_vec();
            bytes.extend(state_after(raw, false).unwrap().completion(None, false).unwrap());
            assert!(decode(&bytes, false).is_some());
        }
        assert_eq!(state_after(b"\\u00", false).unwrap().completion(Some('é'), true), None);
    }
}
