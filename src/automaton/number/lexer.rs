//! JSON's number syntax (RFC 8259 section 6), byte by byte, with counts of digits.

use num_bigint::BigUint;
use std::sync::Arc;

/// Where in a number the lexer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumberPhase {
    Start,
    Minus,
    /// The integer part is `0`.
    Zero,
    Integer,
    Point,
    Fraction,
    /// Behind `e`.
    E,
    /// Behind the exponent's sign.
    Sign,
    Exponent,
}

/// What has been read of a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lex {
    pub(crate) phase: NumberPhase,
    pub(super) negative: bool,
    pub(super) exponent_negative: bool,
    pub(super) exponent_digits: u8,
    pub(super) exponent: u16,
    /// Digits before the point and after it.
    pub(super) digits: u32,
    /// The decimal exponent of the first digit that is not zero; 0 while there is none.
    pub(super) magnitude: i32,
    /// Whether such a digit has come.
    pub(super) nonzero: bool,
    /// Whether it was a one, and all others are zeros: the mantissa is a power of ten.
    pub(super) power: bool,
    /// Digits behind the point.
    pub(super) fraction: u32,
    /// Bytes read.
    pub(super) bytes: u32,
    /// The digits before and behind the point as one number, where some candidate asks for it.
    pub(super) register: Option<Arc<BigUint>>,
}

impl Lex {
    pub(crate) const START: Lex = Lex {
        phase: NumberPhase::Start,
        negative: false,
        exponent_negative: false,
        exponent_digits: 0,
        exponent: 0,
        digits: 0,
        magnitude: 0,
        nonzero: false,
        power: false,
        fraction: 0,
        bytes: 0,
        register: None,
    };

    /// Before a number of which the digits are kept.
    pub(crate) fn registering() -> Lex {
        Lex { register: Some(Arc::default()), ..Lex::START }
    }

    /// After one more byte; `None` where JSON's syntax does not allow it here.
    pub(super) fn step(mut self, byte: u8) -> Option<Lex> {
        self.advance(byte).then_some(self)
    }

    /// Reads one more byte; where JSON's syntax does not allow it here, `false`, and the rest is
    /// spoiled.
    #[inline]
    pub(super) fn advance(&mut self, byte: u8) -> bool {
        use NumberPhase::*;
        self.bytes = self.bytes.saturating_add(1);
        self.phase = match (self.phase, byte) {
            (Start, b'-') => {
                self.negative = true;
                Minus
            }
            (Start | Minus, b'0') => {
                self.digits = 1;
                Zero
            }
            (Start | Minus, b'1'..=b'9') => {
                (self.digits, self.nonzero, self.power) = (1, true, byte == b'1');
                Integer
            }
            (Integer, b'0'..=b'9') => {
                self.digits = self.digits.saturating_add(1);
                self.magnitude = self.magnitude.saturating_add(1);
                self.power &= byte == b'0';
                Integer
            }
            (Zero | Integer, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => {
                self.digits = self.digits.saturating_add(1);
                self.fraction = self.fraction.saturating_add(1);
                if self.nonzero {
                    self.power &= byte == b'0';
                } else if byte != b'0' {
                    (self.nonzero, self.power) = (true, byte == b'1');
                    self.magnitude = -i32::try_from(self.fraction).unwrap_or(i32::MAX);
                }
                Fraction
            }
            (Zero | Integer | Fraction, b'e' | b'E') => E,
            (E, b'+' | b'-') => {
                self.exponent_negative = byte == b'-';
                Sign
            }
            (E | Sign | Exponent, b'0'..=b'9') => {
                self.exponent_digits = self.exponent_digits.saturating_add(1);
                let digit = u16::from(byte - b'0');
                self.exponent = self.exponent.saturating_mul(10).saturating_add(digit);
                Exponent
            }
            _ => return false,
        };
        if let Some(digits) = &mut self.register
            && matches!(self.phase, Zero | Integer | Fraction)
        {
            *digits = Arc::new(&**digits * 10u32 + u32::from(byte - b'0'));
        }
        true
    }

    /// Digits before the point.
    pub(super) fn whole(&self) -> u32 {
        self.digits - self.fraction
    }

    /// Whether the mantissa is complete, and its exponent has begun.
    pub(super) fn is_behind_e(&self) -> bool {
        matches!(self.phase, NumberPhase::E | NumberPhase::Sign | NumberPhase::Exponent)
    }

    /// Whether the bytes so far are a whole number as JSON spells them.
    pub(super) fn is_whole(&self) -> bool {
        use NumberPhase::*;
        matches!(self.phase, Zero | Integer | Fraction | Exponent)
    }
}
