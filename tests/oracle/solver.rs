//! Sets of numbers by exact arithmetic: what is complete, and whether a beginning can be finished.
//!
//! The question is put plainly: is there, among the numbers that begin so and have at most so many
//! places, a multiple of everything between the ends? For the form `any`, of which exponents move
//! the point, it is put for every power of ten that is not far beyond all constants: farther out
//! the answers repeat.

use super::json::Decimal;
use super::number::{Parts, parts};
use num_bigint::BigInt;
use num_integer::Integer;

/// The most digits of a mantissa, and the largest exponent, in the form `any`.
const ANY_DIGITS: i64 = 1024;
const ANY_EXPONENT: i64 = 9999;

/// Everything that numbers have to fulfil.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rules {
    pub integer: bool,
    /// Lower and upper ends, with whether they are open.
    pub low: Vec<(Decimal, bool)>,
    pub high: Vec<(Decimal, bool)>,
    pub multiples: Vec<Decimal>,
    pub values: Vec<Decimal>,
}

/// The numbers of one sign, as magnitudes, in units of 10^-`scale`; ends belong to it.
struct Side {
    scale: i64,
    low: BigInt,
    high: Option<BigInt>,
    /// All numbers are multiples of it; without one they lie dense.
    step: Option<BigInt>,
    values: Option<Vec<BigInt>>,
}

fn ten(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

impl Rules {
    /// Whether a number fulfils them, in either form.
    pub fn is_possible(&self) -> bool {
        [false, true].into_iter().any(|negative| {
            let side = self.side(negative, 1);
            side.least(&BigInt::ZERO, &side.grid(side.scale)).is_some()
        })
    }

    fn constants(&self) -> impl Iterator<Item = &Decimal> {
        let ends = self.low.iter().chain(&self.high).map(|(at, _)| at);
        ends.chain(&self.multiples).chain(&self.values)
    }

    /// `finer`: places beyond those of all constants.
    fn side(&self, negative: bool, finer: i64) -> Side {
        let scale = self.constants().map(Decimal::places).max().unwrap_or(0) + finer;
        let sign = BigInt::from(if negative { -1 } else { 1 });
        let units = |number: &Decimal| number.units(scale);
        let (lows, highs) =
            if negative { (&self.high, &self.low) } else { (&self.low, &self.high) };
        // In these units an open end is the same as the closed one beside it.
        let low = lows.iter().map(|(at, open)| units(at) * &sign + i32::from(*open)).max();
        let high = highs.iter().map(|(at, open)| units(at) * &sign - i32::from(*open)).min();
        let whole = self.integer.then(|| ten(scale));
        let step = self.multiples.iter().map(units).chain(whole).reduce(|a, b| a.lcm(&b));
        let values = self.values.iter().map(|v| units(v) * &sign).collect::<Vec<_>>();
        let values = (!values.is_empty()).then_some(values);
        Side { scale, low: low.unwrap_or_default().max(BigInt::ZERO), high, step, values }
    }

    fn has(&self, value: &BigInt, negative: bool, scale: i64) -> bool {
        let side = self.side(negative, 0.max(scale));
        let value = value * ten(side.scale - scale);
        side.least(&value, &BigInt::from(1)) == Some(value)
    }

    /// Whether `text` is a number of the set in a number form.
    pub fn complete(&self, text: &[u8], any: bool) -> bool {
        let Some(parts) = parts(text) else { return false };
        let fraction = parts.fraction.map_or(0, <[u8]>::len) as i64;
        let unfinished = parts.whole.is_empty() || parts.fraction == Some(b"");
        let negative = text.first() == Some(&b'-');
        let digits = parts.digits();
        if unfinished {
            return false;
        }
        if any {
            let Some(exponent) = parts.exponent_value() else { return false };
            return parts.mantissa_digits() as i64 <= ANY_DIGITS
                && self.has_scaled(&digits, exponent - fraction, negative);
        }
        let (whole, total) = self.counts(negative);
        parts.exponent.is_none()
            && !(parts.fraction.is_some() && self.integer)
            && match parts.fraction {
                None => text != b"-0" && parts.whole.len() as i64 <= whole,
                Some(_) => parts.mantissa_digits() as i64 <= total,
            }
            && self.has(&digits, negative, fraction)
    }

    fn has_scaled(&self, digits: &BigInt, exponent: i64, negative: bool) -> bool {
        let (digits, exponent) =
            if exponent > 0 { (digits * ten(exponent), 0) } else { (digits.clone(), exponent) };
        self.has(&digits, negative, -exponent)
    }

    /// Whether some number of the set begins with `text`.
    pub fn live(&self, text: &[u8], any: bool) -> bool {
        if self.complete(text, any) {
            return true;
        }
        if text == b"-" {
            return (b'0'..=b'9').any(|digit| self.live(&[b'-', digit], any));
        }
        let Some(parts) = parts(text) else { return false };
        let negative = text.first() == Some(&b'-');
        if any && *self == Rules::default() {
            // Nothing but the counts restricts it.
            let left = ANY_DIGITS - parts.mantissa_digits() as i64;
            return left >= i64::from(parts.fraction == Some(b"")) && parts.exponent_digits() <= 4;
        }
        if any { self.live_any(&parts, negative) } else { self.live_plain(&parts, negative) }
    }

    fn live_plain(&self, parts: &Parts<'_>, negative: bool) -> bool {
        if parts.exponent.is_some() || parts.fraction.is_some() && self.integer {
            return false;
        }
        let side = self.side(negative, 1);
        let (whole, total) = self.counts(negative);
        let begun = parts.whole.len() as i64;
        let read = parts.fraction.map_or(0, <[u8]>::len) as i64;
        let digits = parts.digits();
        if parts.fraction.is_some() {
            let places = total - begun;
            return places >= read.max(1) && side.begins(&digits, -read, places);
        }
        let longest = if parts.whole == b"0" { begun } else { whole };
        (begun..=longest).any(|len| {
            let places = if self.integer { 0 } else { (total - len).max(0) };
            // A zero with a sign needs a point.
            !(negative && places == 0 && digits == BigInt::ZERO)
                && side.begins(&digits, len - begun, places)
        })
    }

    fn live_any(&self, parts: &Parts<'_>, negative: bool) -> bool {
        let side = self.side(negative, 1);
        let count = parts.mantissa_digits() as i64;
        let read = parts.fraction.map_or(0, <[u8]>::len) as i64;
        let left = ANY_DIGITS - count;
        if left < i64::from(parts.fraction == Some(b"")) {
            return false;
        }
        let digits = parts.digits();
        // Beyond this the constants are far away.
        let far = count + 48 + self.constants().map(Decimal::reach).max().unwrap_or(0);
        if parts.exponent.is_some() {
            let exponents = parts.open_exponents();
            let mut exponents: Vec<i64> =
                exponents.into_iter().map(|e| e.clamp(-far, far)).collect();
            exponents.sort_unstable();
            exponents.dedup();
            return exponents.into_iter().any(|e| self.has_scaled(&digits, e - read, negative));
        }
        let more = if parts.fraction.is_none() && parts.whole != b"0" { left } else { 0 };
        let (low, high) = (-ANY_EXPONENT - read, ANY_EXPONENT + more - read);
        (low.max(-far)..=high.min(far)).any(|power| side.begins(&digits, power, left - power))
    }

    /// The digits that the plain form grants before the point, and in all.
    fn counts(&self, negative: bool) -> (i64, i64) {
        let side = self.side(negative, 1);
        let length = |units: &BigInt| (units / ten(side.scale)).to_string().len() as i64;
        let places = |units: &BigInt| {
            (0..=side.scale).find(|p| (units % ten(side.scale - p)) == BigInt::ZERO).unwrap_or(0)
        };
        let few = (0..=side.scale).find(|&p| side.least(&BigInt::ZERO, &side.grid(p)).is_some());
        let least = few.and_then(|p| side.least(&BigInt::ZERO, &side.grid(p)));
        let (Some(few), Some(least)) = (few, least) else { return (0, 0) };
        let ends = self.ends(negative, &side);
        let constants = || ends.iter().chain(&side.step);
        let whole = constants().chain([&least]).map(length).max().unwrap_or(1);
        let places = constants().map(places).max().unwrap_or(0).max(few);
        (whole.max(18), (whole + places).max(17))
    }

    /// The ends as they stand in the schema; of multiples the first and the last one.
    fn ends(&self, negative: bool, side: &Side) -> Vec<BigInt> {
        if side.step.is_some() {
            let first = side.least(&BigInt::ZERO, &BigInt::from(1));
            let last = side
                .high
                .as_ref()
                .zip(side.step.as_ref())
                .map(|(high, step)| high - high.mod_floor(step));
            return first.into_iter().chain(last).collect();
        }
        let (lows, highs) =
            if negative { (&self.high, &self.low) } else { (&self.low, &self.high) };
        let units = |(at, _): &(Decimal, bool)| {
            let units = at.units(side.scale);
            if negative { -units } else { units }
        };
        let low = lows.iter().map(units).max().filter(|low| *low > BigInt::ZERO);
        low.into_iter().chain(highs.iter().map(units).min()).collect()
    }
}

impl Side {
    /// The unit of so many places.
    fn grid(&self, places: i64) -> BigInt {
        ten(self.scale - places)
    }

    /// The least number from `from` on that is a multiple of `grid`.
    fn least(&self, from: &BigInt, grid: &BigInt) -> Option<BigInt> {
        if let Some(values) = &self.values {
            let fits = |v: &&BigInt| {
                *v >= from
                    && **v >= self.low
                    && self.high.as_ref().is_none_or(|high| *v <= high)
                    && v.is_multiple_of(grid)
                    && self.step.as_ref().is_none_or(|s| v.is_multiple_of(s))
            };
            return values.iter().filter(fits).min().cloned();
        }
        let step = self.step.as_ref().map_or(grid.clone(), |step| step.lcm(grid));
        let first = from.max(&self.low).next_multiple_of(&step);
        self.high.as_ref().is_none_or(|high| first <= *high).then_some(first)
    }

    /// Whether a number lies in `digits`·10^`power` ..< (`digits` + 1)·10^`power`, and is a multiple
    /// of 10^-`places`.
    fn begins(&self, digits: &BigInt, power: i64, places: i64) -> bool {
        let scale = self.scale.max(places).max(-power);
        let finer = ten(scale - self.scale);
        let scaled = |units: &BigInt| units * &finer;
        let side = Side {
            scale,
            low: scaled(&self.low),
            high: self.high.as_ref().map(scaled),
            step: self.step.as_ref().map(scaled),
            values: self.values.as_ref().map(|values| values.iter().map(scaled).collect()),
        };
        let (start, end) = (digits * ten(power + scale), (digits + 1) * ten(power + scale));
        side.least(&start, &ten(scale - places)).is_some_and(|first| first < end)
    }
}
