//! Which numbers of a set begin with given digits, and which the number forms can spell.

use super::lattice::is_multiple;
use super::{NumberEnd, NumberShape};
use crate::base::Decimal;
use crate::options::Numbers;
use num_bigint::{BigInt, BigUint};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The most digits of a number's mantissa in the form `any`.
pub(crate) const ANY_DIGITS: i64 = 1_024;
/// The largest exponent in the form `any`.
pub(crate) const ANY_EXPONENT: i64 = 9_999;
/// How far from the size of its constants the powers of ten of a set's numbers are tried.
const NEAR: i64 = 40;

impl NumberShape {
    /// The least number of a set without negative ones that begins with the digits of `prefix`
    /// (lies in `prefix`·10^`power` ..< (`prefix` + 1)·10^`power`) and is a multiple of 10^`grid`.
    pub(crate) fn first_in(&self, prefix: &BigUint, power: i64, grid: i64) -> Option<Decimal> {
        let start = Decimal::new(&prefix.clone().into(), power);
        let end = Decimal::new(&BigInt::from(prefix.clone() + 1u32), power);
        if let Some(values) = &self.values {
            let inside = &values[values.partition_point(|v| *v < start)..];
            let mut inside = inside.iter().take_while(|v| **v < end);
            return inside.find(|v| v.is_zero() || v.exponent() >= grid).cloned();
        }
        let is_past = |high: &NumberEnd| high.at < start || high.at == start && high.open;
        if self.high.as_ref().is_some_and(is_past)
            || self.low.as_ref().is_some_and(|low| low.at >= end)
        {
            return None;
        }
        self.least(start, grid).filter(|first| *first < end)
    }

    /// The least number from `start` on that is a multiple of 10^`grid`.
    fn least(&self, start: Decimal, grid: i64) -> Option<Decimal> {
        let lattice = self.lattice(Some(grid))?;
        let start = NumberEnd { at: start, open: false };
        let low = self.low.as_ref().filter(|low| low.at >= start.at).unwrap_or(&start);
        let first = Decimal::new(&lattice.at_or_after(lattice.from(low))?, lattice.exponent);
        let is_before = |high: &NumberEnd| first < high.at || first == high.at && !high.open;
        self.high.as_ref().is_none_or(is_before).then_some(first)
    }

    /// How many digits before and behind the point the plain form needs for the constants of a set
    /// without negative numbers (and without values), and for its shortest number. `None`: the
    /// form has no text for any of its numbers.
    pub(crate) fn plain_digits(&self) -> Option<(i64, i64)> {
        let ends = [&self.low, &self.high].into_iter().flatten().map(|end| end.at.clone());
        let constants: Vec<Decimal> = ends.chain(self.step()).collect();
        let mut places = constants.iter().map(Decimal::places).max().unwrap_or(0);
        // This many more find a number between two ends, beside any others.
        let (mut few, mut enough) = (0, places.max(self.other_places()) + 4);
        while few < enough {
            let middle = (few + enough) / 2;
            match self.least(Decimal::zero(), -middle) {
                Some(_) => enough = middle,
                None => few = middle + 1,
            }
        }
        places = places.max(few);
        let least = self.least(Decimal::zero(), -few).filter(Decimal::has_plain_text)?;
        let whole = constants.iter().chain([&least]).map(|d| d.magnitude().max(1)).max()?;
        let whole = whole.min(Decimal::PLAIN_DIGITS);
        Some((whole, places.min(Decimal::PLAIN_DIGITS - least.magnitude().max(1))))
    }

    fn other_places(&self) -> i64 {
        self.others.iter().map(Decimal::places).max().unwrap_or(0)
    }

    /// A number of a set without negative ones, as `prefix` and up to `digits` more digits behind
    /// it, times a power of ten, where the digits of the prefix alone are times one of `powers`.
    /// That power is returned with it.
    pub(crate) fn first_scaled(
        &self,
        prefix: &BigUint,
        digits: i64,
        powers: RangeInclusive<i64>,
    ) -> Option<(Decimal, i64)> {
        let is_zero = *prefix == BigUint::ZERO;
        let len = if is_zero { 0 } else { prefix.to_str_radix(10).len() as i64 };
        let at = |number: &Decimal| number.magnitude() - len;
        let mut candidates: Vec<RangeInclusive<i64>> = Vec::new();
        if is_zero && self.contains(&Decimal::zero()) {
            return powers.into_iter().min_by_key(|p| p.abs()).map(|p| (Decimal::zero(), p));
        }
        if let Some(values) = &self.values {
            let least = if is_zero { *powers.start() } else { i64::MIN };
            let at = |value: &Decimal| at(value).max(least);
            candidates.extend(values.iter().filter(|v| !v.is_zero()).map(|v| at(v)..=at(v)));
        } else {
            let positive = self.low.as_ref().filter(|low| !low.at.is_zero());
            let low = positive.map_or(*powers.start(), |low| at(&low.at));
            let above = |high: &NumberEnd| at(&high.at) + i64::from(is_zero);
            let high = self.high.as_ref().map_or(*powers.end(), above);
            let (low, high) = (low.max(*powers.start()), high.min(*powers.end()));
            // Inside, powers differ only near those of the multiples; one far from them will do.
            let units = self.others.iter().chain(&self.step()).map(at).collect::<Vec<_>>();
            for near in [low, high, 0].into_iter().chain(units) {
                let (from, to) = (near - NEAR - len, near + NEAR + len);
                candidates.push(from.max(low)..=to.min(high));
            }
        }
        small_ones_first(candidates)
            .filter(|power| powers.contains(power))
            .find_map(|power| Some((self.first_in(prefix, power, power - digits)?, power)))
    }

    /// The numbers that the number form has a text for, as far as that can be told by their sign;
    /// `None`: it has none for any.
    pub(crate) fn spelled(self, numbers: Numbers) -> Option<NumberShape> {
        if let Some(values) = &self.values {
            let kept: Arc<[_]> =
                values.iter().filter(|v| is_spelled(v, numbers)).cloned().collect();
            return if kept.len() == values.len() { Some(self) } else { self.only(kept) };
        }
        if self.is_free() {
            return Some(self);
        }
        let spells = |side: &NumberShape| match (&side.values, numbers) {
            (Some(values), _) => values.iter().any(|v| is_spelled(v, numbers)),
            (None, Numbers::Plain) => side.plain_digits().is_some(),
            (None, Numbers::Any) => {
                let digits = ANY_DIGITS - 1;
                let first = |digit: u32| {
                    let most = if digit == 0 { ANY_EXPONENT } else { ANY_EXPONENT + digits };
                    side.first_scaled(&digit.into(), digits, -ANY_EXPONENT..=most)
                };
                (0..=9).any(|digit| first(digit).is_some())
            }
        };
        let [above, below] = [false, true]
            .map(|negative| self.magnitudes(negative, true).is_none_or(|s| spells(&s)));
        let zero = Decimal::zero();
        let shape =
            if above { self } else { self.intersect(&NumberShape::at_most(zero.clone(), true)?)? };
        if below { Some(shape) } else { shape.intersect(&NumberShape::at_least(zero, false)?) }
    }

    /// An exponent within `exponents` by which `mantissa`, which is not negative, is in the set.
    pub(crate) fn scaled(&self, mantissa: &Decimal, exponents: RangeInclusive<i64>) -> Option<i64> {
        let by = |exponent: i64| mantissa.clone().scaled(exponent);
        let allows = |exponent: &i64| self.contains(&by(*exponent));
        let least = *exponents.start();
        if mantissa.is_zero() {
            return Some(least).filter(allows);
        }
        let at = |number: &Decimal| number.magnitude() - mantissa.magnitude();
        if let Some(values) = &self.values {
            let mut powers = values.iter().filter(|v| !v.is_zero()).map(at);
            return powers.find(|power| exponents.contains(power) && allows(power));
        }
        let low = self.low.as_ref().filter(|low| !low.at.is_zero()).map(|low| at(&low.at));
        let high = self.high.as_ref().map(|high| at(&high.at));
        // Between the ends, the larger powers are multiples, and the smaller are none of others.
        let mut few = low.map_or(least, |low| least.max(low + 1));
        let last = high.map_or(*exponents.end(), |high| (high - 1).min(*exponents.end()));
        let mut enough = last;
        let on_step = |exponent| self.step().is_none_or(|step| is_multiple(&by(exponent), &step));
        while few < enough {
            let middle = few + (enough - few) / 2;
            if on_step(middle) { enough = middle } else { few = middle + 1 }
        }
        let ends = [low, high].into_iter().flatten().filter(|end| exponents.contains(end));
        std::iter::once(few).filter(|&few| few <= last).chain(ends).find(allows)
    }
}

/// The numbers of some ranges, each once, by how far they are from zero.
fn small_ones_first(mut ranges: Vec<RangeInclusive<i64>>) -> impl Iterator<Item = i64> {
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut next = i64::MIN;
    for range in &mut ranges {
        *range = next.max(*range.start())..=*range.end();
        next = next.max(range.end().saturating_add(1));
    }
    let below = ranges.clone().into_iter().rev();
    let below = below.flat_map(|range| (*range.start()..=(*range.end()).min(-1)).rev());
    let above = ranges.into_iter().flat_map(|range| (*range.start()).max(0)..=*range.end());
    let (mut below, mut above) = (below.peekable(), above.peekable());
    std::iter::from_fn(move || match (below.peek(), above.peek()) {
        (Some(low), Some(high)) if -low <= *high => below.next(),
        (_, Some(_)) => above.next(),
        (_, None) => below.next(),
    })
}

/// Whether a number form has a text for a value.
fn is_spelled(value: &Decimal, numbers: Numbers) -> bool {
    let digits = value.digits().len() as i64;
    match numbers {
        Numbers::Plain => value.has_plain_text(),
        Numbers::Any => {
            let exponents = -ANY_EXPONENT - (ANY_DIGITS - 1)..=ANY_EXPONENT + ANY_DIGITS - digits;
            digits <= ANY_DIGITS && exponents.contains(&value.exponent())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::small_ones_first;

    #[test]
    fn ranges_are_walked_from_zero_on() {
        let empty = 5..=*(4..=4).end();
        let all: Vec<i64> = small_ones_first(vec![-1..=2, 7..=7, -9..=-7, 1..=3, empty]).collect();
        assert_eq!(all, [0, -1, 1, 2, 3, -7, 7, -8, -9]);
        assert_eq!(small_ones_first(vec![3..=4, 3..=3]).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(small_ones_first(Vec::new()).next(), None);
    }
}
