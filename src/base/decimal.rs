//! Exact decimal numbers: JSON number texts compared by value, at any magnitude.

use num_bigint::{BigInt, BigUint, Sign};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// An exact decimal: sign · digits · 10^exponent, in the one normal form of its value, so that
/// equality and hashing go by value (`1` = `1.0` = `1e0`, `-0` = `0`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    /// ASCII digits without leading or trailing zeros; empty for zero.
    digits: SmallVec<[u8; 16]>,
    /// The power of ten of the last digit; 0 for zero.
    exponent: i64,
}

impl Decimal {
    /// The longest text that [`Decimal::to_plain_text`] makes, in digits.
    pub(crate) const PLAIN_DIGITS: i64 = 10_000;
    /// Exponents beyond this are not read, so that sums of an exponent and a length never overflow.
    const EXPONENT_BOUND: i64 = i64::MAX / 4;

    /// Reads the text of a JSON number. `None` where `text` is none, or where its exponent is
    /// beyond about 2^61 (and its value is not zero).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !all_digits(whole) || !all_digits(fraction) || leading_zero {
            return None;
        }
        if let Some(p) = power
            && !all_digits(p.strip_prefix(['+', '-']).unwrap_or(p))
        {
            return None;
        }
        let mut digits: SmallVec<[u8; 16]> =
            whole.bytes().chain(fraction.bytes()).skip_while(|&b| b == b'0').collect();
        let significant = digits.iter().rposition(|&b| b != b'0').map_or(0, |last| last + 1);
        if significant == 0 {
            return Some(Decimal::zero());
        }
        let dropped = i64::try_from(digits.len() - significant).ok()?;
        digits.truncate(significant);
        let power: i64 = power.map_or(Ok(0), str::parse).ok()?;
        let exponent = power.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let exponent = exponent.checked_add(dropped)?;
        (exponent.abs() <= Self::EXPONENT_BOUND).then_some(Decimal { negative, digits, exponent })
    }

    /// Zero.
    pub(crate) fn zero() -> Self {
        Decimal { negative: false, digits: SmallVec::new(), exponent: 0 }
    }

    /// Whether the value is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether the value is below zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether the value has no fraction.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// `units` · 10^`exponent`.
    pub(crate) fn new(units: &BigInt, exponent: i64) -> Self {
        let text = units.magnitude().to_str_radix(10);
        let Some(last) = text.bytes().rposition(|b| b != b'0') else { return Decimal::zero() };
        let zeros = text.len() - 1 - last;
        Decimal {
            negative: units.sign() == Sign::Minus,
            digits: text.as_bytes()[..=last].into(),
            exponent: exponent.saturating_add(i64::try_from(zeros).unwrap_or(i64::MAX)),
        }
    }

    /// The value with the other sign.
    pub(crate) fn negated(mut self) -> Self {
        self.negative = !self.negative && !self.is_zero();
        self
    }

    /// The value times 10^`exponent`.
    pub(crate) fn scaled(mut self, exponent: i64) -> Self {
        if !self.is_zero() {
            self.exponent = self.exponent.saturating_add(exponent);
        }
        self
    }

    /// ASCII digits without leading or trailing zeros; empty for zero.
    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// The power of ten of the last digit; 0 for zero.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The digits behind the point.
    pub(crate) fn places(&self) -> i64 {
        self.exponent.min(0).saturating_neg()
    }

    /// The largest integer of which 10^`exponent` times is at most the value. The caller keeps the
    /// distance of `exponent` and the value's digits small.
    pub(crate) fn floor_units(&self, exponent: i64) -> BigInt {
        let (units, exact) = self.truncated(exponent);
        if self.negative && !exact { units - 1 } else { units }
    }

    /// The smallest integer of which 10^`exponent` times is at least the value.
    pub(crate) fn ceil_units(&self, exponent: i64) -> BigInt {
        let (units, exact) = self.truncated(exponent);
        if !self.negative && !exact { units + 1 } else { units }
    }

    /// The units of 10^`exponent` in the value, towards zero, and whether they are all of it.
    fn truncated(&self, exponent: i64) -> (BigInt, bool) {
        let shift = self.exponent.saturating_sub(exponent);
        let len = self.digits.len();
        let kept = match usize::try_from(shift.saturating_neg()) {
            Ok(dropped) => len.saturating_sub(dropped),
            Err(_) => len,
        };
        let units = BigUint::parse_bytes(&self.digits[..kept], 10).unwrap_or_default();
        let units = units * power_of_ten(shift);
        let sign = if self.negative { Sign::Minus } else { Sign::Plus };
        (BigInt::from_biguint(sign, units), kept == len)
    }

    /// The value, where it is an integer in the range of `u64`.
    pub(crate) fn to_u64(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let mut value = 0u64;
        for &digit in &self.digits {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        }
        if value == 0 {
            return Some(0);
        }
        let scale = 10u64.checked_pow(u32::try_from(self.exponent).ok()?)?;
        value.checked_mul(scale)
    }

    /// Whether [`Decimal::to_plain_text`] has a text.
    pub(crate) fn has_plain_text(&self) -> bool {
        self.is_zero() || self.plain_digits() <= Self::PLAIN_DIGITS
    }

    /// The digits of the canonical text.
    fn plain_digits(&self) -> i64 {
        self.magnitude().max(1).saturating_sub(self.exponent.min(0))
    }

    /// The canonical text without an exponent: `100`, `-0.25`, `0`. `None` where it would have
    /// more than [`Decimal::PLAIN_DIGITS`] digits.
    pub(crate) fn to_plain_text(&self) -> Option<String> {
        if self.is_zero() {
            return Some("0".to_owned());
        }
        let (magnitude, total) = (self.magnitude(), self.plain_digits());
        if total > Self::PLAIN_DIGITS {
            return None;
        }
        let mut text = String::with_capacity(usize::try_from(total).ok()? + 2);
        if self.negative {
            text.push('-');
        }
        let mut digits = self.digits.iter().map(|&b| char::from(b));
        match usize::try_from(magnitude) {
            Ok(whole) if whole > 0 => {
                let zeros = whole.saturating_sub(self.digits.len());
                text.extend(digits.by_ref().take(whole));
                text.extend(std::iter::repeat_n('0', zeros));
            }
            _ => text.push('0'),
        }
        if self.exponent < 0 {
            text.push('.');
            let zeros = usize::try_from(magnitude.min(0).checked_neg()?).ok()?;
            text.extend(std::iter::repeat_n('0', zeros));
            text.extend(digits);
        }
        Some(text)
    }

    /// The number of digits before the point; zero or negative below one tenth.
    pub(crate) fn magnitude(&self) -> i64 {
        // Digits come from a text of less than 2^60 bytes, and the exponent is bounded.
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }

    fn compare_magnitudes(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self
                .magnitude()
                .cmp(&other.magnitude())
                .then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

/// 10^`exponent`; 1 where that is negative.
pub(crate) fn power_of_ten(exponent: i64) -> BigUint {
    BigUint::from(10u32).pow(u32::try_from(exponent.max(0)).unwrap_or(u32::MAX))
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitudes(other),
            (true, true) => other.compare_magnitudes(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn spellings_of_one_value_are_equal() {
        for (a, b) in [("1", "1.0"), ("1", "1e0"), ("-0", "0"), ("100", "1E+2"), ("0.5", "5e-1")] {
            assert_eq!(decimal(a), decimal(b), "{a} {b}");
        }
        assert_eq!(decimal("0e99999999999999999999999"), Decimal::zero());
    }

    #[test]
    fn no_number_is_refused() {
        for text in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1e99999999999999999999", "1 "] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn order_is_by_value() {
        let sorted =
            ["-1e400", "-10", "-9.5", "-1e-400", "0", "1e-400", "0.99", "1", "1.5", "12", "123"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(decimal(a).cmp(&decimal(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn plain_text_is_canonical() {
        for (text, plain) in [
            ("1e2", "100"),
            ("-0.250", "-0.25"),
            ("12.5", "12.5"),
            ("5e-3", "0.005"),
            ("-0", "0"),
            ("120", "120"),
        ] {
            assert_eq!(decimal(text).to_plain_text().as_deref(), Some(plain));
        }
        assert_eq!(decimal("1e10000").to_plain_text(), None);
        assert_eq!(decimal("1e-1000000000").to_plain_text(), None);
        assert_eq!(decimal("1e9999").to_plain_text().map(|t| t.len()), Some(10_000));
    }

    #[test]
    fn units_are_rounded_by_value() {
        for (text, exponent, floor, ceil) in [
            ("1.25", -1, 12, 13),
            ("-1.25", -1, -13, -12),
            ("1.25", -2, 125, 125),
            ("-1.25", -3, -1250, -1250),
            ("3e2", 0, 300, 300),
            ("0.001", 0, 0, 1),
            ("-0.001", 0, -1, 0),
            ("0", 5, 0, 0),
        ] {
            let value = decimal(text);
            assert_eq!(value.floor_units(exponent), BigInt::from(floor), "{text}");
            assert_eq!(value.ceil_units(exponent), BigInt::from(ceil), "{text}");
        }
        assert_eq!(Decimal::new(&BigInt::from(-1500), -2), decimal("-15"));
        assert_eq!(decimal("0").negated(), decimal("0"));
        assert_eq!(decimal("-1.5").negated(), decimal("1.5"));
    }

    #[test]
    fn integers_and_lengths() {
        assert!(decimal("2.0").is_integer() && decimal("1e300").is_integer());
        assert!(!decimal("2.5").is_integer() && !decimal("1e-1").is_integer());
        assert_eq!(decimal("2.0").to_u64(), Some(2));
        assert_eq!(decimal("18446744073709551615").to_u64(), Some(u64::MAX));
        assert_eq!(decimal("18446744073709551616").to_u64(), None);
        assert_eq!((decimal("-1").to_u64(), decimal("0").to_u64()), (None, Some(0)));
    }
}
