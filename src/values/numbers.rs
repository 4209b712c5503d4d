//! Sets of numbers: an algebra closed under `and` and `not`, in exact decimal arithmetic.
//!
//! In: conjunctions of bounds, multiples and values. Out: the same in normal form, or nothing where
//! no number is left. A set is a *lattice* if all its numbers are multiples of one; what is no
//! lattice is dense, and only its ends and the lattices taken out of it matter.
//!
//! An excluded value is no constraint of its own: leaving out `v` makes two shapes, one below `v`
//! and one above. So the constraints are few, and each is decided by arithmetic. That a number that
//! is not a multiple of any of n others comes within 2^n steps of a lattice, if there is one at
//! all, is a theorem (Crittenden and Vanden Eynden: n congruences that cover 2^n consecutive
//! integers cover all).

use crate::base::Decimal;
use crate::options::Numbers;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The most digits of a least common multiple; a multiple that would need more is left out.
const MULTIPLE_DIGITS: i64 = 1_000;
/// The most numbers that a shape's values are no multiples of.
const MOST_OTHERS: usize = 6;
/// No text of any number form has a digit at a power of ten beyond ± this.
const REACH: i64 = 12_000;

/// The most digits of a number's mantissa in the form `any`.
pub(crate) const ANY_DIGITS: i64 = 1_024;
/// The largest exponent in the form `any`.
pub(crate) const ANY_EXPONENT: i64 = 9_999;
/// How far from the size of its constants the powers of ten of a set's numbers are tried.
const NEAR: i64 = 40;

/// One end of an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberEnd {
    pub(crate) at: Decimal,
    /// The end itself is not in the interval.
    pub(crate) open: bool,
}

/// Which spellings of a value count: in draft 4, `1.0` is no integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spelling {
    Any,
    /// Only digits: neither a point nor an exponent.
    Digits,
    /// All others.
    Other,
}

/// A set of numbers: everything that holds at once. In normal form it holds a number, and equal
/// constraints are equal shapes; only this module makes shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberShape {
    integer: bool,
    spelling: Spelling,
    /// Only these values, ascending; nothing but `integer` and `spelling` stands beside them.
    values: Option<Arc<[Decimal]>>,
    low: Option<NumberEnd>,
    high: Option<NumberEnd>,
    /// Only multiples of this; of an integer `None` stands for 1.
    multiple: Option<Decimal>,
    /// No multiples of these, ascending.
    others: Vec<Decimal>,
    /// A limit was met: a constraint is left out.
    partial: bool,
}

impl NumberShape {
    /// Every number.
    pub(crate) const ANY: NumberShape = NumberShape {
        integer: false,
        spelling: Spelling::Any,
        values: None,
        low: None,
        high: None,
        multiple: None,
        others: Vec::new(),
        partial: false,
    };

    /// Every integer; `digits`: only those spelled by digits alone.
    pub(crate) fn integers(digits: bool) -> NumberShape {
        let spelling = if digits { Spelling::Digits } else { Spelling::Any };
        NumberShape { integer: true, spelling, ..NumberShape::ANY }
    }

    /// The numbers from `at` on, itself left out if `open`.
    pub(crate) fn at_least(at: Decimal, open: bool) -> Option<NumberShape> {
        NumberShape { low: Some(NumberEnd { at, open }), ..NumberShape::ANY }.normal()
    }

    /// The numbers up to `at`, itself left out if `open`.
    pub(crate) fn at_most(at: Decimal, open: bool) -> Option<NumberShape> {
        NumberShape { high: Some(NumberEnd { at, open }), ..NumberShape::ANY }.normal()
    }

    /// The multiples of a number above zero.
    pub(crate) fn multiples_of(multiple: Decimal) -> Option<NumberShape> {
        NumberShape { multiple: Some(multiple), ..NumberShape::ANY }.normal()
    }

    /// Finitely many numbers.
    pub(crate) fn of_values(mut values: Vec<Decimal>) -> Option<NumberShape> {
        values.sort();
        values.dedup();
        NumberShape { values: Some(values.into()), ..NumberShape::ANY }.normal()
    }

    /// What the formats `int32` and `int64` of OpenAPI allow: the integers of so many bits, and every
    /// number that is no integer. `None`: another format.
    pub(crate) fn of_format(name: &str) -> Option<Vec<NumberShape>> {
        let (low, high) = match name {
            "int32" => (i32::MIN.into(), i32::MAX.into()),
            "int64" => (i64::MIN, i64::MAX),
            _ => return None,
        };
        let end = |at: i64| Some(NumberEnd { at: Decimal::new(&at.into(), 0), open: false });
        let inside = NumberShape { low: end(low), high: end(high), ..NumberShape::integers(false) };
        let others = NumberShape { others: vec![one()], ..NumberShape::ANY };
        Some([inside, others].into_iter().filter_map(NumberShape::normal).collect())
    }

    /// Only integers.
    pub(crate) fn is_integer(&self) -> bool {
        self.integer
    }

    pub(crate) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// The values, ascending, of a set that is given by them.
    pub(crate) fn values(&self) -> Option<&Arc<[Decimal]>> {
        self.values.as_ref()
    }

    pub(crate) fn low(&self) -> Option<&NumberEnd> {
        self.low.as_ref()
    }

    pub(crate) fn high(&self) -> Option<&NumberEnd> {
        self.high.as_ref()
    }

    /// What all numbers of a lattice are multiples of.
    pub(crate) fn step(&self) -> Option<Decimal> {
        self.multiple.clone().or_else(|| self.integer.then(one))
    }

    /// What no number is a multiple of.
    pub(crate) fn others(&self) -> &[Decimal] {
        &self.others
    }

    /// Whether neither bounds nor multiples nor values restrict it.
    pub(crate) fn is_free(&self) -> bool {
        let NumberShape {
            integer: _,
            spelling: _,
            values,
            low,
            high,
            multiple,
            others,
            partial: _,
        } = self;
        values.is_none()
            && low.is_none()
            && high.is_none()
            && multiple.is_none()
            && others.is_empty()
    }

    /// Whether a limit has left a constraint out; the same shape without the mark.
    pub(crate) fn take_partial(mut self) -> (NumberShape, bool) {
        let partial = std::mem::replace(&mut self.partial, false);
        (self, partial)
    }

    /// The numbers that are in both; `None`: there are none.
    pub(crate) fn intersect(&self, other: &NumberShape) -> Option<NumberShape> {
        let spelling = match (self.spelling, other.spelling) {
            (Spelling::Any, one) | (one, Spelling::Any) => one,
            (a, b) if a == b => a,
            _ => return None,
        };
        let mut partial = self.partial || other.partial;
        let values = match (&self.values, &other.values) {
            (None, None) => None,
            (Some(x), None) | (None, Some(x)) => Some(x.clone()),
            (Some(x), Some(y)) => {
                Some(x.iter().filter(|v| y.binary_search(v).is_ok()).cloned().collect())
            }
        };
        let multiple = match (&self.multiple, &other.multiple) {
            (None, None) => None,
            (Some(x), None) | (None, Some(x)) => Some(x.clone()),
            (Some(x), Some(y)) => Some(common_multiple(x, y).unwrap_or_else(|| {
                partial = true;
                x.max(y).clone()
            })),
        };
        let joined = NumberShape {
            integer: self.integer || other.integer,
            spelling,
            values,
            low: tighter(&self.low, &other.low, Ordering::Greater),
            high: tighter(&self.high, &other.high, Ordering::Less),
            multiple,
            others: [self.others.as_slice(), other.others.as_slice()].concat(),
            partial,
        };
        joined.normal()
    }

    /// The numbers that are not in the set: a union of shapes, which may overlap. `None`: a limit
    /// has widened the set, so that of no number it is known to be outside.
    pub(crate) fn negate(&self) -> Option<Vec<NumberShape>> {
        if self.partial {
            return None;
        }
        let any = || NumberShape::ANY;
        let mut union = Vec::new();
        match (self.spelling, self.integer) {
            (Spelling::Digits, _) => union.push(NumberShape { spelling: Spelling::Other, ..any() }),
            (Spelling::Other, _) => union.push(NumberShape::integers(true)),
            (Spelling::Any, true) => union.push(NumberShape { others: vec![one()], ..any() }),
            (Spelling::Any, false) => {}
        }
        let flipped = |end: &NumberEnd| Some(NumberEnd { at: end.at.clone(), open: !end.open });
        if let Some(low) = &self.low {
            union.push(NumberShape { high: flipped(low), ..any() });
        }
        if let Some(high) = &self.high {
            union.push(NumberShape { low: flipped(high), ..any() });
        }
        if let Some(multiple) = &self.multiple {
            union.push(NumberShape { others: vec![multiple.clone()], ..any() });
        }
        let multiples = |other: &Decimal| NumberShape { multiple: Some(other.clone()), ..any() };
        union.extend(self.others.iter().map(multiples));
        if let Some(values) = &self.values {
            let end = |at: &Decimal| Some(NumberEnd { at: at.clone(), open: true });
            let lows = std::iter::once(None).chain(values.iter().map(end));
            let highs = values.iter().map(end).chain(std::iter::once(None));
            union.extend(lows.zip(highs).map(|(low, high)| NumberShape { low, high, ..any() }));
        }
        Some(union.into_iter().filter_map(NumberShape::normal).collect())
    }

    /// Whether a value is in the set, however it is spelled.
    pub(crate) fn contains(&self, value: &Decimal) -> bool {
        self.values.as_ref().is_none_or(|values| values.binary_search(value).is_ok())
            && self.low.as_ref().is_none_or(|low| low.at < *value || low.at == *value && !low.open)
            && self.high.as_ref().is_none_or(|end| *value < end.at || *value == end.at && !end.open)
            && (!self.integer || value.is_integer())
            && self.multiple.as_ref().is_none_or(|multiple| is_multiple(value, multiple))
            && !self.others.iter().any(|other| is_multiple(value, other))
    }

    /// The values in order, if there are at most `limit`.
    #[cfg_attr(not(test), expect(dead_code, reason = "`uniqueItems` and `contains` count by it"))]
    pub(crate) fn values_up_to(&self, limit: usize) -> Option<Vec<Decimal>> {
        if let Some(values) = &self.values {
            return (values.len() <= limit).then(|| values.to_vec());
        }
        let (low, high, lattice) = (self.low.as_ref()?, self.high.as_ref()?, self.lattice(None)?);
        let (mut next, last) =
            (low.at.ceil_units(lattice.exponent), high.at.floor_units(lattice.exponent));
        let mut values = Vec::new();
        while let Some(value) = lattice.at_or_after(next).filter(|value| *value <= last) {
            if values.len() == limit {
                return None;
            }
            values.push(Decimal::new(&value, lattice.exponent));
            next = value + 1;
        }
        Some(values)
    }

    /// The set's numbers of one sign, as magnitudes; zero is among them if `zero`.
    pub(crate) fn magnitudes(&self, negative: bool, zero: bool) -> Option<NumberShape> {
        let shape = if negative { self.mirrored() } else { self.clone() };
        shape.intersect(&NumberShape::at_least(Decimal::zero(), !zero)?)
    }

    fn mirrored(&self) -> NumberShape {
        let mirror = |end: &Option<NumberEnd>| {
            end.as_ref().map(|end| NumberEnd { at: end.at.clone().negated(), open: end.open })
        };
        let values = self.values.as_ref();
        NumberShape {
            low: mirror(&self.high),
            high: mirror(&self.low),
            values: values.map(|v| v.iter().rev().map(|v| v.clone().negated()).collect()),
            ..self.clone()
        }
    }

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
        let mut candidates: Vec<i64> = Vec::new();
        if is_zero && self.contains(&Decimal::zero()) {
            return powers.into_iter().min_by_key(|p| p.abs()).map(|p| (Decimal::zero(), p));
        }
        if let Some(values) = &self.values {
            let least = if is_zero { *powers.start() } else { i64::MIN };
            candidates.extend(values.iter().filter(|v| !v.is_zero()).map(|v| at(v).max(least)));
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
                candidates.extend(from.max(low)..=to.min(high));
            }
        }
        candidates.retain(|power| powers.contains(power));
        candidates.sort_unstable_by_key(|&power| (power.abs(), power));
        candidates.dedup();
        candidates
            .into_iter()
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

    /// The numbers of the set among the multiples of 10^`grid`; `None`: the set is no lattice.
    fn lattice(&self, grid: Option<i64>) -> Option<Lattice> {
        let step = match (self.step(), grid) {
            (Some(step), Some(grid)) => on_grid(&step, grid),
            (Some(step), None) => step,
            (None, grid) => one().scaled(grid?),
        };
        let exponents = self.others.iter().chain([&step]).map(Decimal::exponent);
        let exponent = exponents.min()?;
        let units = |of: &Decimal| of.floor_units(exponent);
        Some(Lattice {
            exponent,
            step: units(&step),
            others: self.others.iter().map(units).collect(),
        })
    }

    /// The normal form; `None` where no number is left.
    fn normal(mut self) -> Option<NumberShape> {
        self.integer |= self.spelling == Spelling::Digits;
        if let Some(values) = &self.values {
            let kept: Arc<[_]> = values.iter().filter(|v| self.contains(v)).cloned().collect();
            return self.only(kept);
        }
        self.settle_multiples()?;
        self.clamp()?;
        if let Some(lattice) = self.lattice(None) {
            self.tighten(&lattice)?;
        } else {
            let is_other = |at: &Decimal| self.others.iter().any(|other| is_multiple(at, other));
            let (low, high) = (&self.low, &self.high);
            let opens = [low, high].map(|end| end.as_ref().is_some_and(|end| is_other(&end.at)));
            for (end, opens) in [&mut self.low, &mut self.high].into_iter().zip(opens) {
                end.iter_mut().for_each(|end| end.open |= opens);
            }
        }
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return Some(self) };
        match low.at.cmp(&high.at) {
            Ordering::Less => Some(self),
            Ordering::Equal if !low.open && !high.open => {
                let only = Arc::from([low.at.clone()]);
                self.only(only)
            }
            _ => None,
        }
    }

    /// The shape of finitely many values that are known to be in it.
    fn only(self, values: Arc<[Decimal]>) -> Option<NumberShape> {
        let NumberShape { integer, spelling, partial, .. } = self;
        let values = (!values.is_empty()).then_some(values)?;
        Some(NumberShape { integer, spelling, partial, values: Some(values), ..NumberShape::ANY })
    }

    /// The multiples in normal form; `None` where they exclude each other.
    fn settle_multiples(&mut self) -> Option<()> {
        let fits = |d: &Decimal| d.places() <= REACH && d.magnitude() <= MULTIPLE_DIGITS;
        if self.integer
            && let Some(multiple) = &self.multiple
        {
            match common_multiple(multiple, &one()) {
                Some(multiple) => self.multiple = Some(multiple),
                None => (self.multiple, self.partial) = (None, true),
            }
        }
        if self.multiple.as_ref().is_some_and(|m| !fits(m)) {
            (self.multiple, self.partial) = (None, true);
        }
        if self.integer && self.multiple.as_ref() == Some(&one()) {
            self.multiple = None;
        }
        let step = self.step();
        let mut others = Vec::new();
        for other in std::mem::take(&mut self.others) {
            let met =
                step.as_ref().map_or(Some(other.clone()), |step| common_multiple(step, &other));
            match met.filter(fits) {
                Some(met) if step.as_ref() == Some(&met) => return None,
                Some(met) => others.push(met),
                None => self.partial = true,
            }
        }
        others.sort();
        for other in others {
            // A multiple of one that is kept says nothing more.
            if self.others.iter().any(|kept| is_multiple(&other, kept)) {
                continue;
            }
            match self.others.len() < MOST_OTHERS {
                true => self.others.push(other),
                false => self.partial = true,
            }
        }
        Some(())
    }

    /// Brings the ends to where texts reach; no text has a value between an end and its clamp.
    fn clamp(&mut self) -> Option<()> {
        let far = |end: &NumberEnd| end.at.magnitude() > REACH;
        if let Some(low) = self.low.take_if(|low| far(low))
            && !low.at.is_negative()
        {
            return None;
        }
        if let Some(high) = self.high.take_if(|high| far(high))
            && high.at.is_negative()
        {
            return None;
        }
        let fine = |end: &&mut NumberEnd| end.at.places() > REACH;
        if let Some(low) = self.low.as_mut().filter(fine) {
            *low = NumberEnd { at: Decimal::new(&low.at.ceil_units(-REACH), -REACH), open: false };
        }
        if let Some(high) = self.high.as_mut().filter(fine) {
            *high =
                NumberEnd { at: Decimal::new(&high.at.floor_units(-REACH), -REACH), open: false };
        }
        Some(())
    }

    /// Moves the ends to numbers of the set.
    fn tighten(&mut self, lattice: &Lattice) -> Option<()> {
        let end = |units: BigInt| {
            Some(NumberEnd { at: Decimal::new(&units, lattice.exponent), open: false })
        };
        if let Some(low) = &self.low {
            self.low = end(lattice.at_or_after(lattice.from(low))?);
        }
        if let Some(high) = &self.high {
            let mirror = NumberEnd { at: high.at.clone().negated(), open: high.open };
            self.high = end(-lattice.at_or_after(lattice.from(&mirror))?);
        }
        Some(())
    }
}

/// The multiples of `step` that are not multiples of any of `others`, in units of 10^`exponent`.
struct Lattice {
    exponent: i64,
    step: BigInt,
    others: Vec<BigInt>,
}

impl Lattice {
    /// The first whole unit from a lower end on.
    fn from(&self, low: &NumberEnd) -> BigInt {
        let units = low.at.ceil_units(self.exponent);
        if low.open && Decimal::new(&units, self.exponent) == low.at { units + 1 } else { units }
    }

    /// The first number from `units` on; `None`: there is none at all.
    fn at_or_after(&self, units: BigInt) -> Option<BigInt> {
        let mut next = units.next_multiple_of(&self.step);
        for _ in 0..1u32 << self.others.len() {
            if !self.others.iter().any(|other| next.is_multiple_of(other)) {
                return Some(next);
            }
            next += &self.step;
        }
        None
    }
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

fn one() -> Decimal {
    Decimal::new(&BigInt::from(1), 0)
}

/// The end that leaves less: the one that compares as `wins`, an open one of two alike.
fn tighter(a: &Option<NumberEnd>, b: &Option<NumberEnd>, wins: Ordering) -> Option<NumberEnd> {
    let (Some(x), Some(y)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    let order = x.at.cmp(&y.at);
    let first = order == wins || order == Ordering::Equal && x.open;
    Some(if first { x.clone() } else { y.clone() })
}

/// Whether `value` is a whole multiple of `multiple`, which is above zero.
fn is_multiple(value: &Decimal, multiple: &Decimal) -> bool {
    if value.is_zero() {
        return true;
    }
    // The digits end with none of the zeros that a larger unit would need.
    let Ok(shift) = u64::try_from(value.exponent().saturating_sub(multiple.exponent())) else {
        return false;
    };
    let digits = |d: &Decimal| BigUint::parse_bytes(d.digits(), 10).unwrap_or_default();
    let (value, modulus) = (digits(value), digits(multiple));
    let zeros = BigUint::from(10u32).modpow(&BigUint::from(shift), &modulus);
    (value * zeros).is_multiple_of(&modulus)
}

/// The least common multiple of `step` and 10^`grid`. Powers of ten are long: it looks only at the
/// twos and fives that the step lacks.
fn on_grid(step: &Decimal, grid: i64) -> Decimal {
    let Ok(lack) = u64::try_from(grid.saturating_sub(step.exponent())) else { return step.clone() };
    let mut units = BigUint::parse_bytes(step.digits(), 10).unwrap_or_default();
    let twos = units.trailing_zeros().unwrap_or(0).min(lack);
    units >>= twos;
    let five = BigUint::from(5u32);
    for _ in 0..lack {
        let (fifth, rest) = units.div_rem(&five);
        if rest != BigUint::ZERO {
            break;
        }
        units = fifth;
    }
    Decimal::new(&units.into(), grid)
}

/// The least common multiple; `None` where it would have too many digits.
fn common_multiple(a: &Decimal, b: &Decimal) -> Option<Decimal> {
    let exponent = a.exponent().min(b.exponent());
    let spread = a.magnitude().max(b.magnitude()).saturating_sub(exponent);
    if spread > 2 * MULTIPLE_DIGITS.max(REACH) {
        return None;
    }
    let common = Decimal::new(&a.floor_units(exponent).lcm(&b.floor_units(exponent)), exponent);
    (common.magnitude() <= MULTIPLE_DIGITS).then_some(common)
}

#[cfg(test)]
mod tests;
