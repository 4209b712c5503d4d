//! The plain number form: which texts are complete, and which can still become complete.

use num_bigint::BigInt;

/// Most digits of an integer.
const INTEGER_DIGITS: usize = 18;
/// Most digits before and after the point together.
const MANTISSA_DIGITS: usize = 17;
/// Most digits of an exponent.
const EXPONENT_DIGITS: usize = 3;

/// Whether `text` is an integer in plain form.
pub fn integer_complete(text: &[u8]) -> bool {
    integer_live(text) && text.last().is_some_and(u8::is_ascii_digit)
}

/// Whether some integer in plain form begins with `text`.
pub fn integer_live(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let zero = digits.starts_with(b"0");
    digits.iter().all(u8::is_ascii_digit)
        && digits.len() <= INTEGER_DIGITS
        && (!zero || text == b"0")
}

/// The parts of a number text, of which the last may be unfinished.
pub struct Parts<'a> {
    pub whole: &'a [u8],
    pub fraction: Option<&'a [u8]>,
    pub exponent: Option<&'a [u8]>,
}

/// Splits `text`; `None` where no JSON number begins so.
pub fn parts(text: &[u8]) -> Option<Parts<'_>> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let digits = |from: usize| {
        text[from..].iter().position(|b| !b.is_ascii_digit()).map_or(text.len(), |n| from + n)
    };
    let mut at = digits(0);
    let whole = &text[..at];
    if whole.len() > 1 && whole[0] == b'0' || whole.is_empty() && !text.is_empty() {
        return None;
    }
    let mut parts = Parts { whole, fraction: None, exponent: None };
    if text.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        parts.fraction = Some(&text[at + 1..end]);
        at = end;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) && parts.fraction != Some(b"") {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        parts.exponent = Some(&text[at + 1..end]);
        at = end;
    }
    (at == text.len()).then_some(parts)
}

impl Parts<'_> {
    /// The digits before and behind the point as one number.
    pub fn digits(&self) -> BigInt {
        let all = [self.whole, self.fraction.unwrap_or(b"")].concat();
        BigInt::parse_bytes(&all, 10).unwrap_or_default()
    }

    /// The digits of the exponent, and whether it is negative.
    fn signed_exponent(&self) -> Option<(&[u8], bool)> {
        let exponent = self.exponent?;
        let digits = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+"));
        Some((digits.unwrap_or(exponent), exponent.starts_with(b"-")))
    }

    /// The digits of the exponent that are there.
    pub fn exponent_digits(&self) -> usize {
        self.signed_exponent().map_or(0, |(digits, _)| digits.len())
    }

    /// The exponent of a complete text, of at most 4 digits.
    pub fn exponent_value(&self) -> Option<i64> {
        let Some((digits, negative)) = self.signed_exponent() else { return Some(0) };
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        let value = digits.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
        Some(if negative { -value } else { value })
    }

    /// Every exponent of at most 4 digits that begins as the text's does.
    pub fn open_exponents(&self) -> Vec<i64> {
        let Some((begun, negative)) = self.signed_exponent() else { return Vec::new() };
        let both = self.exponent == Some(b"");
        let mut found = Vec::new();
        let mut open = vec![begun.to_vec()];
        while let Some(digits) = open.pop() {
            if !digits.is_empty() && digits.len() <= 4 {
                let value = digits.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
                found.extend((!negative).then_some(value));
                found.extend((negative || both).then_some(-value));
            }
            if digits.len() < 4 {
                open.extend((b'0'..=b'9').map(|digit| [digits.as_slice(), &[digit]].concat()));
            }
        }
        found
    }

    pub fn mantissa_digits(&self) -> usize {
        self.whole.len() + self.fraction.map_or(0, <[u8]>::len)
    }

    /// Digits alone: an integer's text.
    fn is_bare(&self) -> bool {
        self.fraction.is_none() && self.exponent.is_none()
    }

    /// The decimal exponent of the first digit that counts.
    fn adjusted(&self) -> i64 {
        let fraction = self.fraction.unwrap_or(b"");
        if self.whole != b"0" {
            return self.whole.len() as i64 - 1;
        }
        fraction.iter().position(|&b| b != b'0').map_or(0, |zeros| -(zeros as i64 + 1))
    }

    /// Whether the mantissa with this exponent (`[+-]?[0-9]*`) is a complete number.
    fn complete_with(&self, exponent: &[u8]) -> bool {
        let digits =
            exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent);
        if digits.is_empty() || digits.len() > EXPONENT_DIGITS {
            return false;
        }
        let value = digits.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
        let value = if exponent.starts_with(b"-") { -value } else { value };
        // 1e307 is the largest magnitude: only a one and zeros may have that exponent.
        let fraction = self.fraction.unwrap_or(b"");
        let counting: Vec<u8> =
            self.whole.iter().chain(fraction).copied().skip_while(|&b| b == b'0').collect();
        let power = counting.first() == Some(&b'1') && counting[1..].iter().all(|&b| b == b'0');
        (-307..=306 + i64::from(power)).contains(&(self.adjusted() + value))
    }
}

/// Whether `text` is a number in plain form.
pub fn number_complete(text: &[u8]) -> bool {
    let Some(parts) = parts(text) else { return false };
    if parts.whole.is_empty() || parts.fraction == Some(b"") || text == b"-0" {
        return false;
    }
    parts.mantissa_digits() <= MANTISSA_DIGITS + usize::from(parts.is_bare())
        && parts.exponent.is_none_or(|exponent| parts.complete_with(exponent))
}

/// Whether some number in plain form begins with `text`.
pub fn number_live(text: &[u8]) -> bool {
    let Some(parts) = parts(text) else { return false };
    let bare = usize::from(parts.is_bare());
    let most = MANTISSA_DIGITS + bare - usize::from(parts.fraction == Some(b""));
    if parts.mantissa_digits() > most {
        return false;
    }
    let Some(exponent) = parts.exponent else { return true };
    let mut open = vec![exponent.to_vec()];
    if exponent.is_empty() {
        open.extend([b"+".to_vec(), b"-".to_vec()]);
    }
    // Every way to go on is tried: there are few.
    while let Some(exponent) = open.pop() {
        if parts.complete_with(&exponent) {
            return true;
        }
        if exponent.iter().filter(|b| b.is_ascii_digit()).count() < EXPONENT_DIGITS {
            open.extend((b'0'..=b'9').map(|digit| [exponent.as_slice(), &[digit]].concat()));
        }
    }
    false
}
