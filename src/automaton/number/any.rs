//! Every spelling that JSON has for a number, up to counts of digits.
//!
//! The digits are kept in the lexer's register. A beginning leads to all numbers that begin with
//! its digits, times a power of ten that further digits and the exponent can choose; once the
//! exponent has begun, to one mantissa times some powers. Both are asked of the exact set.

use super::Verdict;
use super::lexer::{Lex, NumberPhase};
use crate::base::Decimal;
use crate::values::{ANY_DIGITS, ANY_EXPONENT, NumberShape, Spelling};
use num_bigint::{BigInt, BigUint};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// The most digits of an exponent.
const EXPONENT_DIGITS: u8 = 4;

/// A shape ready for stepping: its numbers above and below zero, as magnitudes.
#[derive(Clone, Debug)]
pub(super) struct AnyForm {
    sides: [Option<NumberShape>; 2],
    /// Digits alone are no text.
    pointed: bool,
    /// Nothing restricts the numbers.
    free: bool,
}

impl AnyForm {
    pub(super) fn new(shape: &NumberShape) -> AnyForm {
        AnyForm {
            sides: [false, true].map(|negative| shape.magnitudes(negative, true)),
            pointed: shape.spelling() == Spelling::Other,
            free: shape.is_free() && !shape.is_integer(),
        }
    }

    /// Whether the lexer has to keep the digits.
    pub(super) fn registers(&self) -> bool {
        !self.free
    }

    pub(super) fn verdict(&self, lex: &Lex) -> Verdict {
        let left = ANY_DIGITS - i64::from(lex.digits);
        let counts = match lex.phase {
            NumberPhase::Start => return Verdict::Live,
            NumberPhase::Point => left > 0,
            NumberPhase::Exponent => lex.exponent_digits <= EXPONENT_DIGITS,
            _ => left >= 0,
        };
        let Some(side) = self.side(lex).filter(|_| counts) else {
            return Verdict::Dead;
        };
        let digits = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer);
        let whole = lex.is_whole() && !(self.pointed && digits);
        if whole && (self.free || side.contains(&value(lex))) {
            Verdict::Accept
        } else if self.free || lex.phase == NumberPhase::Minus || is_live(side, lex) {
            Verdict::Live
        } else {
            Verdict::Dead
        }
    }

    /// A short end of a number that has begun with a digit.
    pub(super) fn end(&self, lex: &Lex) -> Option<Vec<u8>> {
        if self.verdict(lex) == Verdict::Accept {
            return Some(Vec::new());
        }
        if self.free {
            let pointed = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer);
            return Some(if pointed { b"e0" } else { &b"0"[..] }.to_vec());
        }
        self.end_within(self.side(lex)?, lex)
    }

    /// The numbers of the sign that has been read.
    fn side(&self, lex: &Lex) -> Option<&NumberShape> {
        self.sides[usize::from(lex.negative)].as_ref()
    }

    /// Whether of the sign that has been read there is no largest number.
    pub(super) fn is_endless(&self, lex: &Lex) -> bool {
        self.side(lex).is_some_and(|side| side.values().is_none() && side.high().is_none())
    }

    /// The ends of a number that has begun with a digit, one of each value, until one is `wanted`:
    /// behind each that is found, the values below and above its own are left.
    pub(super) fn find_end(&self, lex: &Lex, mut wanted: impl FnMut(&[u8]) -> bool) -> bool {
        let mut left = VecDeque::from_iter(self.side(lex).cloned());
        if self.verdict(lex) == Verdict::Accept {
            if wanted(b"") {
                return true;
            }
            left = left.iter().flat_map(|side| side.without(&value(lex))).collect();
        }
        while let Some(part) = left.pop_front() {
            let Some(end) = self.end_within(&part, lex) else { continue };
            if wanted(&end) {
                return true;
            }
            let whole = end.iter().try_fold(lex.clone(), |lex, &byte| lex.step(byte));
            left.extend(whole.into_iter().flat_map(|lex| part.without(&value(&lex))));
        }
        false
    }

    /// A short end that makes a number of `side`.
    fn end_within(&self, side: &NumberShape, lex: &Lex) -> Option<Vec<u8>> {
        if lex.is_behind_e() {
            return exponent_end(side, lex);
        }
        let (number, power) = side.first_scaled(&digits(lex), left(lex), powers(lex))?;
        let mut end = mantissa_end(lex, &number, power);
        let plain = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer)
            && end.iter().all(u8::is_ascii_digit);
        if self.pointed && plain {
            end.extend(b"e0");
        }
        Some(end)
    }
}

fn digits(lex: &Lex) -> BigUint {
    lex.register.as_deref().cloned().unwrap_or_default()
}

/// The digits so far as a number, the exponent aside.
fn mantissa(lex: &Lex) -> Decimal {
    Decimal::new(&BigInt::from(digits(lex)), -i64::from(lex.fraction))
}

fn value(lex: &Lex) -> Decimal {
    let exponent = i64::from(lex.exponent);
    mantissa(lex).scaled(if lex.exponent_negative { -exponent } else { exponent })
}

/// How many digits can still come behind those of the mantissa.
fn left(lex: &Lex) -> i64 {
    ANY_DIGITS - i64::from(lex.digits)
}

/// The powers of ten that the digits so far can stand for.
fn powers(lex: &Lex) -> RangeInclusive<i64> {
    let more = if lex.phase == NumberPhase::Integer { left(lex) } else { 0 };
    let read = i64::from(lex.fraction);
    -ANY_EXPONENT - read..=ANY_EXPONENT + more - read
}

/// The exponents that can come of what has been read of one, by further digits; the sign comes
/// first where there is none.
fn exponents(lex: &Lex) -> Vec<(Option<u8>, u32, RangeInclusive<i64>)> {
    let mut signs = vec![(None, lex.exponent_negative)];
    if lex.phase == NumberPhase::E {
        signs.extend([(Some(b'-'), true), (Some(b'+'), false)]);
    }
    let mut ranges = Vec::new();
    for (sign, negative) in signs {
        let least = u32::from(lex.phase != NumberPhase::Exponent);
        for more in least..=u32::from(EXPONENT_DIGITS - lex.exponent_digits) {
            let power = 10i64.pow(more);
            let (low, high) =
                (i64::from(lex.exponent) * power, (i64::from(lex.exponent) + 1) * power - 1);
            ranges.push((sign, more, if negative { -high..=-low } else { low..=high }));
        }
    }
    ranges
}

fn is_live(side: &NumberShape, lex: &Lex) -> bool {
    match lex.phase {
        NumberPhase::E | NumberPhase::Sign | NumberPhase::Exponent => {
            let mantissa = mantissa(lex);
            exponents(lex).into_iter().any(|(_, _, range)| side.scaled(&mantissa, range).is_some())
        }
        _ => side.first_scaled(&digits(lex), left(lex), powers(lex)).is_some(),
    }
}

fn exponent_end(side: &NumberShape, lex: &Lex) -> Option<Vec<u8>> {
    let mantissa = mantissa(lex);
    let ends = exponents(lex).into_iter().filter_map(|(sign, more, range)| {
        let exponent = side.scaled(&mantissa, range)?.unsigned_abs();
        let digits = format!("{exponent:04}");
        let mut end = Vec::from_iter(sign);
        end.extend(&digits.as_bytes()[digits.len() - more as usize..]);
        Some(end)
    });
    ends.min_by_key(Vec::len)
}

/// What spells `number`, of which the digits so far stand for themselves times 10^`power`.
fn mantissa_end(lex: &Lex, number: &Decimal, power: i64) -> Vec<u8> {
    let mut count = if number.is_zero() { 0 } else { (power - number.exponent()).max(0) };
    let integer = lex.phase == NumberPhase::Integer;
    // What the exponent cannot say, zeros do.
    if integer {
        count = count.max(power - ANY_EXPONENT);
    }
    if lex.phase == NumberPhase::Point || lex.phase == NumberPhase::Zero && !number.is_zero() {
        count = count.max(1);
    }
    let units = number.floor_units(power - count);
    let begun = BigInt::from(digits(lex)) * BigInt::from(crate::base::power_of_ten(count));
    let width = count as usize;
    let more =
        if count > 0 { format!("{:0>width$}", (units - begun).to_string()) } else { String::new() };
    // `split` of the digits come before the point.
    let (split, exponent) = match lex.phase {
        NumberPhase::Integer if (0..=count).contains(&power) => (power, 0),
        NumberPhase::Integer if power - count < -ANY_EXPONENT => (0, power),
        NumberPhase::Integer => (count, power - count),
        _ => (0, power + i64::from(lex.fraction)),
    };
    let (before, behind) = more.split_at(split as usize);
    let point =
        if (integer || lex.phase == NumberPhase::Zero) && !behind.is_empty() { "." } else { "" };
    let exponent =
        if exponent == 0 || number.is_zero() { String::new() } else { format!("e{exponent}") };
    format!("{before}{point}{behind}{exponent}").into_bytes()
}
