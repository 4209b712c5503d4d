//! Numbers in the plain form that nothing restricts: digits and exponents are counted.

use super::lexer::{Lex, NumberPhase};
use super::{DigitRun, Verdict};

/// The most digits of an integer: `i64` reads it back.
pub(super) const INTEGER_DIGITS: u32 = 18;
/// The most digits of a number before and after the point: `f64` reads it back.
pub(super) const NUMBER_DIGITS: u32 = 17;
/// The most digits of an exponent.
const EXPONENT_DIGITS: u8 = 3;
/// Magnitudes stay within 1e-307 and 1e307.
const MAGNITUDE: i32 = 307;

/// Every number of the plain form, or every integer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free {
    pub(super) integer: bool,
    /// Digits alone are no text.
    pub(super) pointed: bool,
}

impl Free {
    #[inline]
    pub(super) fn verdict(&self, lex: &Lex) -> Verdict {
        if self.integer { integer(lex) } else { self.number(lex) }
    }

    /// `-0` alone is no text of the integer zero.
    fn number(&self, lex: &Lex) -> Verdict {
        let few = lex.digits <= NUMBER_DIGITS;
        match lex.phase {
            NumberPhase::Start | NumberPhase::Minus => Verdict::Live,
            NumberPhase::Zero if lex.negative || self.pointed => Verdict::Live,
            NumberPhase::Integer if self.pointed && few => Verdict::Live,
            NumberPhase::Integer if self.pointed => Verdict::Dead,
            NumberPhase::Zero | NumberPhase::Integer => integer(lex),
            NumberPhase::Fraction if few => Verdict::Accept,
            NumberPhase::Point if lex.digits < NUMBER_DIGITS => Verdict::Live,
            // An exponent of zero is always within the bounds.
            NumberPhase::E | NumberPhase::Sign if few => Verdict::Live,
            NumberPhase::Exponent if lex.exponent_digits <= EXPONENT_DIGITS => {
                let magnitude = if lex.nonzero { lex.magnitude } else { 0 };
                let most = if lex.exponent_negative {
                    MAGNITUDE + magnitude
                } else {
                    // Only the power of ten itself reaches the bound.
                    MAGNITUDE - i32::from(!lex.power) - magnitude
                };
                if i32::from(lex.exponent) <= most { Verdict::Accept } else { Verdict::Dead }
            }
            _ => Verdict::Dead,
        }
    }

    /// Behind a digit that is not the first zero: as many as are left to come.
    pub(super) fn digit_run(&self, lex: &Lex) -> Option<DigitRun> {
        let most = match lex.phase {
            NumberPhase::Integer if !self.pointed => INTEGER_DIGITS.checked_sub(lex.digits)?,
            NumberPhase::Fraction => NUMBER_DIGITS.checked_sub(lex.digits)?,
            _ => return None,
        };
        Some(DigitRun { most, depends: false })
    }

    /// The ends of such a number, shortest first.
    pub(super) fn ends(&self, lex: &Lex) -> &'static [&'static [u8]] {
        const DIGITS: &[&[u8]] =
            &[b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"-1", b"-2", b"-5"];
        const POINTED: &[&[u8]] = &[b"e0", b".0", b"E0", b"e1", b".1", b"e2", b".2"];
        const WHOLE: &[&[u8]] = &[
            b"0.0", b"0e0", b"0E0", b"1.1", b"1e1", b"1E1", b"2.2", b"2e2", b"3.3", b"4.4", b"5.5",
            b"6.6", b"7.7", b"8.8", b"9.9",
        ];
        match lex.phase {
            NumberPhase::Start | NumberPhase::Minus if self.pointed => WHOLE,
            NumberPhase::Start => DIGITS,
            NumberPhase::Minus => &DIGITS[1..10],
            NumberPhase::Zero | NumberPhase::Integer if self.pointed => POINTED,
            NumberPhase::Zero if lex.negative && !self.integer => POINTED,
            NumberPhase::Point | NumberPhase::E | NumberPhase::Sign => &DIGITS[..10],
            _ => &[b""],
        }
    }
}

/// Whether the text so far is an integer of digits alone, or the beginning of one.
fn integer(lex: &Lex) -> Verdict {
    match lex.phase {
        NumberPhase::Start | NumberPhase::Minus => Verdict::Live,
        NumberPhase::Zero if !lex.negative => Verdict::Accept,
        NumberPhase::Integer if lex.digits <= INTEGER_DIGITS => Verdict::Accept,
        _ => Verdict::Dead,
    }
}
