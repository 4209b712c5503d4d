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

mod lattice;
mod search;
#[cfg(test)]
mod tests;

use crate::base::Decimal;
use lattice::{Lattice, MULTIPLE_DIGITS, common_multiple, is_multiple, on_grid, one};
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::sync::Arc;

pub(crate) use search::{ANY_DIGITS, ANY_EXPONENT};

/// The most numbers that a shape's values are no multiples of.
const MOST_OTHERS: usize = 6;
/// No text of any number form has a digit at a power of ten beyond ± this.
const REACH: i64 = 12_000;

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

    /// The other numbers of the set: those below `value`, and those above it.
    pub(crate) fn without(&self, value: &Decimal) -> impl Iterator<Item = NumberShape> + use<> {
        let ends =
            [NumberShape::at_most(value.clone(), true), NumberShape::at_least(value.clone(), true)];
        ends.map(|end| self.intersect(&end?)).into_iter().flatten()
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

/// The end that leaves less: the one that compares as `wins`, an open one of two alike.
fn tighter(a: &Option<NumberEnd>, b: &Option<NumberEnd>, wins: Ordering) -> Option<NumberEnd> {
    let (Some(x), Some(y)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    let order = x.at.cmp(&y.at);
    let first = order == wins || order == Ordering::Equal && x.open;
    Some(if first { x.clone() } else { y.clone() })
}
