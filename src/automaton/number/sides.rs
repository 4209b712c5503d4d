//! Bounds and multiples in the plain form: digits, and perhaps a point, but no exponent.
//!
//! A number is read as a magnitude. Whether it can still get into the interval depends, for each
//! end, on how the digits so far compare with the end's own first digits, and on how many there
//! are; for multiples on a residue. Only where the digits so far *are* an end's first digits is the
//! number itself needed: there it is known, and the question is put to the exact set. What can no
//! longer be told apart is forgotten, so that the inside of an interval has few states.

use super::free::{INTEGER_DIGITS, NUMBER_DIGITS};
use super::lexer::{Lex, NumberPhase};
use super::period::Period;
use super::{DigitRun, Verdict};
use crate::base::Decimal;
use crate::options::Numbers;
use crate::values::{ANY_DIGITS, NumberEnd, NumberShape, Spelling};
use num_bigint::{BigInt, BigUint};
use std::cmp::Ordering;

/// A shape ready for stepping: its numbers above and below zero.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    sides: [Option<Side>; 2],
    /// Digits alone are no text; nothing else is one.
    pointed: bool,
    period: Option<Period>,
    /// It has multiples, but too large ones for residues: the digits are kept instead.
    pub(super) registers: bool,
}

/// The numbers of one sign, as magnitudes.
#[derive(Clone, Debug)]
struct Side {
    set: NumberShape,
    low: Option<Bound>,
    high: Option<Bound>,
    /// The most digits before the point, and in all where there is a point (0: there is none).
    whole: u32,
    total: u32,
    /// Zero may be spelled without a point.
    bare_zero: bool,
}

/// An end's digits.
#[derive(Clone, Debug)]
struct Bound {
    /// Before the point; at least one.
    whole: u32,
    /// Values of the digits, those before the point first, without final zeros.
    digits: Box<[u8]>,
    open: bool,
}

/// How what has been read compares with the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Progress {
    low: Ordering,
    high: Ordering,
    residue: u64,
    /// A digit that is not zero stands beyond the places of all multiples.
    off: bool,
}

impl Progress {
    pub(super) const START: Progress =
        Progress { low: Ordering::Equal, high: Ordering::Equal, residue: 0, off: false };
}

/// Where what has been read, with as many digits as are planned, stands to the interval.
enum Place {
    Outside,
    Inside,
    /// The digits so far are the first of an end's; these.
    Edge(BigUint),
}

impl Bound {
    fn new(end: &NumberEnd) -> Bound {
        let magnitude = end.at.magnitude();
        let zeros = if end.at.is_zero() { 1 } else { (1 - magnitude).max(0) };
        let digits = end.at.digits().iter().map(|digit| digit - b'0');
        Bound {
            whole: magnitude.max(1) as u32,
            digits: std::iter::repeat_n(0, zeros as usize).chain(digits).collect(),
            open: end.open,
        }
    }

    fn digit(&self, index: u32) -> u8 {
        self.digits.get(index as usize).copied().unwrap_or(0)
    }

    /// The first digits as a number.
    fn prefix(&self, len: u32) -> BigUint {
        let digits: Vec<u8> = (0..len).map(|index| self.digit(index)).collect();
        BigUint::from_radix_be(&digits, 10).unwrap_or_default()
    }

    /// How a number of `whole` digits before the point, whose digits so far compare as `digits`,
    /// compares with the end; equal: as far as it goes.
    fn compare(&self, whole: u32, digits: Ordering) -> Ordering {
        whole.cmp(&self.whole).then(digits)
    }

    /// The same for the value itself, of which there are `read` digits.
    fn compare_value(&self, whole: u32, read: u32, digits: Ordering) -> Ordering {
        let rest = if self.digits.len() > read as usize { Ordering::Less } else { Ordering::Equal };
        self.compare(whole, digits).then(rest)
    }
}

impl Side {
    fn new(set: NumberShape, point: bool, bare_zero: bool, numbers: Numbers) -> Option<Side> {
        let end = |at: &Decimal| NumberEnd { at: at.clone(), open: false };
        let (low, high) = match set.values() {
            Some(values) => (values.first().map(end), values.last().map(end)),
            None => (set.low().cloned(), set.high().cloned()),
        };
        let (whole, places) = match set.values() {
            Some(values) => {
                let whole = values.iter().map(|v| v.magnitude().max(1)).max()?;
                (whole, values.iter().map(Decimal::places).max()?)
            }
            None => set.plain_digits()?,
        };
        let (least, total) = match numbers {
            Numbers::Plain => (INTEGER_DIGITS, NUMBER_DIGITS),
            Numbers::Any => (ANY_DIGITS as u32, ANY_DIGITS as u32),
        };
        let from_zero = |low: &NumberEnd| low.at.is_zero() && !low.open;
        Some(Side {
            low: low.filter(|low| !from_zero(low)).map(|low| Bound::new(&low)),
            high: high.map(|high| Bound::new(&high)),
            whole: least.max(whole as u32),
            total: if point { total.max((whole + places) as u32) } else { 0 },
            set,
            bare_zero,
        })
    }

    /// The digits that fractions may have behind so many before the point.
    fn places(&self, whole: u32) -> u32 {
        self.total.saturating_sub(whole)
    }

    /// The numbers of digits before the point that can lead into the interval.
    fn wholes(&self, lex: &Lex) -> std::ops::RangeInclusive<u32> {
        if lex.phase != NumberPhase::Integer {
            return lex.whole()..=lex.whole();
        }
        let least = self.low.as_ref().map_or(1, |low| low.whole);
        let most = self.high.as_ref().map_or(self.whole, |high| high.whole);
        lex.digits.max(least)..=most.min(self.whole)
    }

    fn place(&self, lex: &Lex, progress: &Progress, whole: u32) -> Place {
        let low = self.low.as_ref().map(|low| (low, low.compare(whole, progress.low)));
        let high = self.high.as_ref().map(|high| (high, high.compare(whole, progress.high)));
        match (low, high) {
            (Some((_, Ordering::Less)), _) | (_, Some((_, Ordering::Greater))) => Place::Outside,
            (Some((end, Ordering::Equal)), _) | (_, Some((end, Ordering::Equal))) => {
                Place::Edge(end.prefix(lex.digits))
            }
            _ => Place::Inside,
        }
    }
}

impl Sides {
    pub(super) fn new(shape: &NumberShape, numbers: Numbers) -> Sides {
        let digits = shape.spelling() == Spelling::Digits;
        let point = !shape.is_integer() && !digits;
        let bare = numbers == Numbers::Any;
        let side = |negative: bool| {
            let set = shape.magnitudes(negative, !negative || point || bare)?;
            Side::new(set, point, !negative || bare, numbers)
        };
        let period = Period::new(shape);
        Sides {
            sides: [side(false), side(true)],
            pointed: shape.spelling() == Spelling::Other,
            registers: period.is_none(),
            period,
        }
    }

    fn side(&self, lex: &Lex) -> Option<&Side> {
        self.sides[usize::from(lex.negative)].as_ref()
    }

    /// Takes in a byte, by which the lexer went to `lex`.
    pub(super) fn step(&self, progress: &mut Progress, lex: &Lex, byte: u8) {
        let Some(side) = self.side(lex) else { return };
        let ends = [(&side.low, &mut progress.low), (&side.high, &mut progress.high)];
        if byte.is_ascii_digit() {
            let (index, digit) = (lex.digits - 1, byte - b'0');
            for (end, order) in ends {
                if let (Some(end), Ordering::Equal) = (end, *order) {
                    *order = digit.cmp(&end.digit(index));
                }
                // Longer than the end, it is above whatever its digits are.
                if end.as_ref().is_some_and(|end| lex.whole() > end.whole) {
                    *order = Ordering::Greater;
                }
            }
            let place = (lex.phase == NumberPhase::Fraction).then_some(lex.fraction);
            match &self.period {
                Some(period) if place.is_none_or(|place| place <= period.places()) => {
                    progress.residue = period.step(progress.residue, digit, place);
                }
                Some(period) => progress.off |= digit != 0 && !period.is_trivial(),
                None => {}
            }
        } else if byte == b'.' {
            for (end, order) in ends {
                *order = end.as_ref().map_or(*order, |end| end.compare(lex.whole(), *order));
            }
        }
    }

    pub(super) fn verdict(&self, lex: &Lex, progress: &Progress) -> Verdict {
        if lex.phase == NumberPhase::Start {
            return Verdict::Live;
        }
        let Some(side) = self.side(lex) else { return Verdict::Dead };
        if self.is_complete(side, lex, progress) {
            Verdict::Accept
        } else if self.is_live(side, lex, progress) {
            Verdict::Live
        } else {
            Verdict::Dead
        }
    }

    fn is_complete(&self, side: &Side, lex: &Lex, progress: &Progress) -> bool {
        let (whole, read) = (lex.whole(), lex.digits);
        let fits = match lex.phase {
            NumberPhase::Zero if !side.bare_zero => false,
            NumberPhase::Zero | NumberPhase::Integer => !self.pointed && whole <= side.whole,
            NumberPhase::Fraction => read <= side.total,
            _ => false,
        };
        let end = |end: &Option<Bound>, order, outside| {
            end.as_ref().is_none_or(|end| match end.compare_value(whole, read, order) {
                Ordering::Equal => !end.open,
                order => order != outside,
            })
        };
        fits && end(&side.low, progress.low, Ordering::Less)
            && end(&side.high, progress.high, Ordering::Greater)
            && match (&self.period, &lex.register) {
                (Some(period), _) => period.allows(progress.residue, progress.off),
                (None, Some(digits)) => {
                    let digits = BigInt::from((**digits).clone());
                    side.set.contains(&Decimal::new(&digits, -i64::from(lex.fraction)))
                }
                (None, None) => false,
            }
    }

    fn is_live(&self, side: &Side, lex: &Lex, progress: &Progress) -> bool {
        match lex.phase {
            NumberPhase::Minus => true,
            NumberPhase::E | NumberPhase::Sign | NumberPhase::Exponent => false,
            _ => side
                .wholes(lex)
                .any(|whole| self.reaches(side, lex, progress, whole, side.places(whole))),
        }
    }

    /// Whether some number goes on from here with `whole` digits before the point and at most
    /// `places` behind it.
    fn reaches(
        &self,
        side: &Side,
        lex: &Lex,
        progress: &Progress,
        whole: u32,
        places: u32,
    ) -> bool {
        let before = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer);
        let needs_point = self.pointed || !lex.nonzero && !side.bare_zero;
        let enough = match lex.phase {
            NumberPhase::Zero | NumberPhase::Integer => {
                whole <= side.whole && !(needs_point && places == 0)
            }
            NumberPhase::Point => places > 0,
            _ => places >= lex.fraction,
        };
        if !enough {
            return false;
        }
        let more = whole - lex.whole();
        let (digits, period) = match (side.place(lex, progress, whole), &self.period) {
            (Place::Outside, _) => return false,
            (Place::Inside, Some(period)) => {
                let state = (progress.residue, progress.off);
                return period.reaches(state, before.then_some(more), lex.fraction, places);
            }
            (Place::Edge(digits), period) => (Some(digits), period),
            (Place::Inside, None) => (None, &None),
        };
        debug_assert!(period.is_none() || digits.is_some());
        let Some(digits) = digits.or_else(|| lex.register.as_deref().cloned()) else {
            return false;
        };
        let power = i64::from(more) - i64::from(lex.fraction);
        side.set.first_in(&digits, power, -i64::from(places)).is_some()
    }

    /// Where no multiples are asked for, and no further digit leads out of the interval but by how
    /// many they are.
    pub(super) fn digit_run(&self, lex: &Lex, progress: &Progress) -> Option<DigitRun> {
        let side = self.side(lex)?;
        let plain = self.period.as_ref().is_some_and(Period::is_trivial) && !self.pointed;
        if !plain || !self.is_complete(side, lex, progress) {
            return None;
        }
        if lex.phase == NumberPhase::Fraction {
            // The ends are compared with the digits before the point, so the orders are whole.
            let inside = (side.low.is_none() || progress.low == Ordering::Greater)
                && (side.high.is_none() || progress.high == Ordering::Less);
            let most = side.total.checked_sub(lex.digits).filter(|_| inside)?;
            return Some(DigitRun { most, depends: false });
        }
        // A further digit makes it larger than an end of as many digits that it is not below.
        let most = side.whole.checked_sub(lex.digits)?;
        Some(match side.high.as_ref().map(|high| high.whole) {
            Some(high) if high <= side.whole => {
                let most = high.saturating_sub(lex.digits).saturating_sub(1);
                DigitRun { most, depends: high > lex.digits }
            }
            _ => DigitRun { most, depends: false },
        })
    }

    /// The shortest end of a number that has begun with a digit.
    pub(super) fn end(&self, lex: &Lex, progress: &Progress) -> Option<Vec<u8>> {
        let side = self.side(lex)?;
        let (whole, places) = self.plan(side, lex, progress)?;
        let (mut lex, mut progress, mut end) = (lex.clone(), *progress, Vec::new());
        while lex.whole() < whole || lex.fraction < places {
            let in_whole = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer);
            let bytes = if in_whole && lex.whole() == whole { b'.'..=b'.' } else { b'0'..=b'9' };
            let (byte, next, after) = bytes.into_iter().find_map(|byte| {
                let next = lex.clone().step(byte)?;
                let mut after = progress;
                self.step(&mut after, &next, byte);
                self.reaches(side, &next, &after, whole, places).then_some((byte, next, after))
            })?;
            (lex, progress) = (next, after);
            end.push(byte);
        }
        Some(end)
    }

    /// The fewest digits before and behind the point that lead to a number.
    fn plan(&self, side: &Side, lex: &Lex, progress: &Progress) -> Option<(u32, u32)> {
        let reaches = |whole, places| self.reaches(side, lex, progress, whole, places);
        let mut best: Option<(u32, u32, u32)> = None;
        for whole in side.wholes(lex) {
            let bytes = whole - lex.whole();
            if best.is_some_and(|(least, ..)| least <= bytes) {
                break;
            }
            let (mut few, mut enough) = (lex.fraction, side.places(whole));
            if !reaches(whole, enough) {
                continue;
            }
            while few < enough {
                let middle = (few + enough) / 2;
                if reaches(whole, middle) { enough = middle } else { few = middle + 1 }
            }
            let point = u32::from(
                few > 0 && !matches!(lex.phase, NumberPhase::Point | NumberPhase::Fraction),
            );
            let bytes = bytes + point + few - lex.fraction;
            if best.is_none_or(|(least, ..)| bytes < least) {
                best = Some((bytes, whole, few));
            }
        }
        best.map(|(_, whole, places)| (whole, places))
    }

    /// What of a progress masks depend on.
    pub(super) fn essence(&self, lex: &Lex, progress: &Progress) -> Progress {
        let mut essence = *progress;
        if let (Some(period), Some(side)) = (&self.period, self.side(lex)) {
            let whole = side.wholes(lex).end().to_owned().max(lex.whole());
            if side.total == 0 || side.places(whole) >= period.places() {
                essence.residue = period.essence(progress.residue);
            }
        }
        essence
    }

    /// The places behind the point that multiples tell apart.
    pub(super) fn places(&self) -> u32 {
        self.period.as_ref().map_or(u32::MAX, Period::places)
    }
}
