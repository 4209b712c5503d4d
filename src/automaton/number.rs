//! Numbers in the plain form: a lexer that all candidates share, and what each adds.
//!
//! The lexer knows JSON's number syntax (RFC 8259 section 6) and counts digits; an atom says which
//! of its states it allows. Every allowed state can be completed.

use super::level::NumberLevel;
use crate::base::SmallBits;
use crate::values::{NumberId, NumberShape};
use std::sync::Arc;

/// The most digits of an integer: `i64` reads it back.
const INTEGER_DIGITS: u32 = 18;
/// The most digits of a number before and after the point: `f64` reads it back.
const NUMBER_DIGITS: u32 = 17;
/// The most digits of an exponent.
const EXPONENT_DIGITS: u8 = 3;
/// Magnitudes stay within 1e-307 and 1e307.
const MAGNITUDE: i32 = 307;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lex {
    pub(crate) phase: NumberPhase,
    negative: bool,
    exponent_negative: bool,
    exponent_digits: u8,
    exponent: u16,
    /// Digits before the point and after it.
    digits: u32,
    /// The decimal exponent of the first digit that is not zero; 0 while there is none.
    magnitude: i32,
    /// Whether such a digit has come.
    nonzero: bool,
    /// Whether it was a one, and all others are zeros: the mantissa is a power of ten.
    power: bool,
    /// Digits behind the point.
    fraction: u32,
    /// Bytes read.
    bytes: u32,
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
    };

    /// One more byte; `None` where JSON's syntax does not allow it here.
    fn step(mut self, byte: u8) -> Option<Lex> {
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
            _ => return None,
        };
        Some(self)
    }

    /// Whether the text so far is an integer in the plain form, or the beginning of one.
    fn plain_integer(&self) -> Verdict {
        match self.phase {
            NumberPhase::Start | NumberPhase::Minus => Verdict::Live,
            NumberPhase::Zero if !self.negative => Verdict::Accept,
            NumberPhase::Integer if self.digits <= INTEGER_DIGITS => Verdict::Accept,
            _ => Verdict::Dead,
        }
    }

    /// The same for a number. `-0` alone is no text of the integer zero.
    fn plain_number(&self) -> Verdict {
        let digits = self.digits <= NUMBER_DIGITS;
        match self.phase {
            NumberPhase::Start | NumberPhase::Minus => Verdict::Live,
            NumberPhase::Zero if self.negative => Verdict::Live,
            NumberPhase::Zero | NumberPhase::Integer | NumberPhase::Fraction if digits => {
                Verdict::Accept
            }
            NumberPhase::Point if self.digits < NUMBER_DIGITS => Verdict::Live,
            // An exponent of zero is always within the bounds.
            NumberPhase::E | NumberPhase::Sign => Verdict::Live,
            NumberPhase::Exponent if self.exponent_digits <= EXPONENT_DIGITS => {
                let magnitude = if self.nonzero { self.magnitude } else { 0 };
                let most = if self.exponent_negative {
                    MAGNITUDE + magnitude
                } else {
                    // Only the power of ten itself reaches the bound.
                    MAGNITUDE - i32::from(!self.power) - magnitude
                };
                if i32::from(self.exponent) <= most { Verdict::Accept } else { Verdict::Dead }
            }
            _ => Verdict::Dead,
        }
    }

    /// The ends, shortest first, of a number that has no fixed values.
    fn ends(&self, integer: bool) -> &'static [&'static [u8]] {
        const DIGITS: &[&[u8]] =
            &[b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"-1", b"-2", b"-5"];
        match self.phase {
            NumberPhase::Start => DIGITS,
            NumberPhase::Minus => &DIGITS[1..10],
            NumberPhase::Zero if self.negative && !integer => {
                &[b"e0", b".0", b"E0", b"e1", b".1", b"e2", b".2"]
            }
            NumberPhase::Point | NumberPhase::E | NumberPhase::Sign => &DIGITS[..10],
            _ => &[b""],
        }
    }
}

/// Whether a text is refused, can be completed, or is complete (and can perhaps go on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Dead,
    Live,
    Accept,
}

/// A set of numbers, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) enum NumberInfo {
    /// Every integer, or every number.
    Any { integer: bool },
    /// The texts of finitely many values, without trailing zeros, in byte order.
    Finite { integer: bool, texts: Arc<[Box<str>]> },
}

impl NumberInfo {
    pub(crate) fn new(shape: &NumberShape) -> NumberInfo {
        let Some(values) = shape.values() else {
            return NumberInfo::Any { integer: shape.is_integer() };
        };
        let mut texts: Vec<Box<str>> = Vec::with_capacity(values.len());
        for value in values.iter() {
            texts.extend(value.to_plain_text().map(String::into_boxed_str));
            if value.is_zero() && !shape.is_integer() {
                texts.push("-0.0".into());
            }
        }
        texts.sort_unstable();
        NumberInfo::Finite { integer: shape.is_integer(), texts: texts.into() }
    }
}

/// A candidate inside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberAtom {
    pub(crate) id: NumberId,
    /// The texts that begin with what has been read (finite sets).
    lo: u32,
    hi: u32,
    /// A whole text has been read, and then only a point or zeros that add nothing.
    tail: bool,
}

impl NumberAtom {
    pub(crate) fn new(id: NumberId, info: &NumberInfo) -> NumberAtom {
        let hi = match info {
            NumberInfo::Any { .. } => 0,
            NumberInfo::Finite { texts, .. } => texts.len() as u32,
        };
        NumberAtom { id, lo: 0, hi, tail: false }
    }

    /// Reads `byte`, by which the lexer went to `lex`.
    fn step(&mut self, info: &NumberInfo, lex: &Lex, byte: u8) -> bool {
        match info {
            NumberInfo::Any { .. } => self.verdict(info, lex) != Verdict::Dead,
            NumberInfo::Finite { integer, texts } => {
                let depth = lex.bytes as usize - 1;
                let whole = texts[self.range()].first().is_some_and(|t| t.len() == depth);
                let zeros = match byte {
                    b'.' => true,
                    b'0' => matches!(lex.phase, NumberPhase::Fraction),
                    _ => false,
                };
                self.tail = !integer && zeros && (self.tail || whole);
                self.narrow(texts, depth, byte);
                self.verdict(info, lex) != Verdict::Dead
            }
        }
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.lo as usize..self.hi as usize
    }

    /// Keeps the texts whose byte at `depth` is `byte`.
    fn narrow(&mut self, texts: &[Box<str>], depth: usize, byte: u8) {
        let inside = &texts[self.range()];
        let at = |text: &str| text.as_bytes().get(depth).copied();
        let lo = inside.partition_point(|t| at(t) < Some(byte));
        let hi = inside.partition_point(|t| at(t) <= Some(byte));
        (self.lo, self.hi) = (self.lo + lo as u32, self.lo + hi as u32);
    }

    fn verdict(&self, info: &NumberInfo, lex: &Lex) -> Verdict {
        match info {
            NumberInfo::Any { integer: true } => lex.plain_integer(),
            NumberInfo::Any { integer: false } => lex.plain_number(),
            NumberInfo::Finite { texts, .. } => {
                let whole = texts[self.range()].first();
                if whole.is_some_and(|t| t.len() == lex.bytes as usize) {
                    return Verdict::Accept;
                }
                let tail = match (self.tail, lex.phase) {
                    (true, NumberPhase::Point) if lex.digits < NUMBER_DIGITS => Verdict::Live,
                    (true, NumberPhase::Fraction) if lex.digits <= NUMBER_DIGITS => Verdict::Accept,
                    _ => Verdict::Dead,
                };
                if tail == Verdict::Dead && self.lo < self.hi { Verdict::Live } else { tail }
            }
        }
    }

    /// The shortest end of the number that can be spelled.
    pub(crate) fn shortest_end(
        &self,
        info: &NumberInfo,
        lex: &Lex,
        spells: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        match info {
            NumberInfo::Any { integer } => {
                lex.ends(*integer).iter().find(|end| spells(end)).map(|end| end.to_vec())
            }
            NumberInfo::Finite { texts, .. } => {
                if self.verdict(info, lex) == Verdict::Accept {
                    return Some(Vec::new());
                }
                let ends = texts[self.range()].iter().map(|t| &t.as_bytes()[lex.bytes as usize..]);
                let zero = self.tail.then_some(&b"0"[..]);
                let ends = ends.chain(zero).filter(|end| spells(end));
                ends.min_by_key(|end| end.len()).map(<[u8]>::to_vec)
            }
        }
    }
}

/// One candidate's whole state: small, so that a walk can copy it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberCursor {
    pub(crate) lex: Lex,
    pub(crate) atom: NumberAtom,
}

impl NumberCursor {
    /// Reads one byte of the number; `false` where the candidate does not allow it.
    pub(super) fn step(&mut self, infos: &[NumberInfo], byte: u8) -> bool {
        let Some(lex) = self.lex.step(byte) else { return false };
        self.lex = lex;
        self.atom.step(&infos[self.atom.id.index()], &lex, byte)
    }

    /// Whether the text so far is a whole number.
    pub(super) fn is_complete(&self, infos: &[NumberInfo]) -> bool {
        self.atom.verdict(&infos[self.atom.id.index()], &self.lex) == Verdict::Accept
    }
}

/// Whether numbers are made of such bytes; any other ends one.
pub(crate) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

impl NumberLevel {
    /// Reads one byte of the number; `false` where no candidate allows it.
    pub(crate) fn step(&mut self, infos: &[NumberInfo], byte: u8) -> bool {
        let Some(lex) = self.lex.step(byte) else { return false };
        self.lex = lex;
        self.atoms.retain(|atom| {
            let info = &infos[atom.state.id.index()];
            atom.state.step(info, &lex, byte)
        });
        !self.atoms.is_empty()
    }

    /// What has been read, as far as the candidates can tell it apart.
    pub(crate) fn relevant_lex(&self, infos: &[NumberInfo]) -> Lex {
        let mut lex = self.lex;
        let all = |wanted: fn(&NumberInfo) -> bool| {
            self.atoms.iter().all(|atom| wanted(&infos[atom.state.id.index()]))
        };
        // Only texts of finite sets are compared byte by byte.
        if all(|info| matches!(info, NumberInfo::Any { .. })) {
            lex.bytes = 0;
        }
        // Only numbers without fixed values have exponents, to which the mantissa's size matters.
        if all(|info| !matches!(info, NumberInfo::Any { integer: false })) {
            (lex.magnitude, lex.nonzero, lex.power, lex.fraction) = (0, false, false, 0);
        }
        if lex.nonzero {
            lex.fraction = 0;
        }
        lex
    }

    /// What the candidates of which the text so far is a whole number serve.
    pub(crate) fn complete(&self, infos: &[NumberInfo]) -> SmallBits {
        let done = |state: &NumberAtom| {
            state.verdict(&infos[state.id.index()], &self.lex) == Verdict::Accept
        };
        let mut tags = SmallBits::default();
        let whole = self.atoms.iter().filter(|atom| done(&atom.state));
        whole.for_each(|atom| tags.union(&atom.tags));
        tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::level::{Atom, Atoms};
    use crate::base::Decimal;

    fn accepts(shape: &NumberShape, text: &str) -> Option<bool> {
        let infos = [NumberInfo::new(shape)];
        let atom = NumberAtom::new(NumberId::new(0), &infos[0]);
        let atoms = Atoms::from_iter([Atom { tags: SmallBits::single(0), state: atom }]);
        let mut level = NumberLevel { lex: Lex::START, atoms };
        text.bytes().all(|b| level.step(&infos, b)).then(|| !level.complete(&infos).is_empty())
    }

    /// `true` accepted, `false` only a beginning, `None` refused.
    #[test]
    fn plain_integers() {
        let integer = NumberShape::integers(false);
        for text in ["0", "7", "-1", "123456789012345678", "-999999999999999999"] {
            assert_eq!(accepts(&integer, text), Some(true), "{text}");
        }
        assert_eq!(accepts(&integer, "-"), Some(false));
        for text in ["-0", "00", "01", "1.", "1e", "1234567890123456789", "+1"] {
            assert_eq!(accepts(&integer, text), None, "{text}");
        }
    }

    #[test]
    fn plain_numbers() {
        let number = NumberShape::ANY;
        for text in [
            "0",
            "1.50",
            "-0.0",
            "-0e1",
            "1e306",
            "9.99E+306",
            "1e-307",
            "0.001e-304",
            "0e307",
            "1e007",
        ] {
            let expected = if text == "0e307" { None } else { Some(true) };
            assert_eq!(accepts(&number, text), expected, "{text}");
        }
        for text in ["-0", "1.", "1e", "1e-", "-"] {
            assert_eq!(accepts(&number, text), Some(false), "{text}");
        }
        let long = [
            "2e307",
            "1e308",
            "10.1e306",
            "0.001e-305",
            "1e0000",
            "01",
            "1.2.3",
            "123456789012345678",
        ];
        for text in long.iter().chain(&["0.12345678901234567", "1234567890123456.78"]) {
            assert_eq!(accepts(&number, text), None, "{text}");
        }
    }

    #[test]
    fn finite_values_by_value() {
        let values = |integer, texts: &[&str]| {
            let values = texts.iter().map(|t| Decimal::parse(t).unwrap()).collect();
            let values = NumberShape::of_values(values).unwrap();
            if integer { values.intersect(&NumberShape::integers(false)).unwrap() } else { values }
        };
        let some = values(false, &["1", "1.05", "0", "-2e2", "12"]);
        for text in
            ["1", "1.0", "1.000", "1.05", "1.0500", "0", "0.0", "-0.0", "-200", "-200.0", "12"]
        {
            assert_eq!(accepts(&some, text), Some(true), "{text}");
        }
        for text in ["1.", "-", "-0", "-0.", "-2", "-20"] {
            assert_eq!(accepts(&some, text), Some(false), "{text}");
        }
        for text in ["2", "1.1", "1e", "1.06", "-1", "-201", "1.00000000000000000"] {
            assert_eq!(accepts(&some, text), None, "{text}");
        }
        let integers = values(true, &["1", "20"]);
        assert_eq!(accepts(&integers, "1.0"), None);
        assert_eq!(accepts(&integers, "20"), Some(true));
    }
}
