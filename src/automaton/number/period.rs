//! Multiples, as residues of the digits so far.
//!
//! Which numbers of a lattice (and none of other lattices) a beginning leads to depends, away from
//! the ends of the interval, on one residue: that of its value in units of the last place that any
//! of the multiples has.

use crate::base::{Decimal, power_of_ten};
use crate::values::NumberShape;
use num_bigint::BigInt;
use num_integer::Integer;

/// The largest period: ten residues and nine more fit into 64 bits.
const MOST: u64 = 900_000_000_000_000_000;
/// A block of so many digits holds whole periods of every kind.
const LONG: u32 = 38;

/// The multiples of a shape.
#[derive(Clone, Debug)]
pub(super) struct Period {
    /// Units are 10^-`places`.
    places: u32,
    /// A multiple of everything below, and of the units in one.
    modulus: u64,
    /// The same without the units in one.
    core: u64,
    step: Option<u64>,
    others: Vec<u64>,
    /// Powers of ten by the modulus.
    powers: Vec<u64>,
}

impl Period {
    /// `None`: the shape has multiples that are too large for this.
    pub(super) fn new(shape: &NumberShape) -> Option<Period> {
        let step = shape.step();
        let all = || shape.others().iter().chain(&step);
        let places = all().map(Decimal::places).max().unwrap_or(0);
        let units = |of: &Decimal| {
            // The cheap test keeps the exact one small.
            let small = of.magnitude().saturating_add(places) <= 20;
            small.then(|| of.floor_units(-places)).and_then(|n| u64::try_from(n).ok())
        };
        let core =
            all().try_fold(BigInt::from(1), |core, of| Some(core.lcm(&units(of)?.into())))?;
        let one = BigInt::from(power_of_ten(places));
        let modulus = u64::try_from(core.lcm(&one)).ok().filter(|&modulus| modulus <= MOST)?;
        let mut powers = vec![1 % modulus];
        for _ in 0..LONG {
            powers.push(powers[powers.len() - 1] * 10 % modulus);
        }
        Some(Period {
            places: u32::try_from(places).ok()?,
            modulus,
            core: u64::try_from(core).ok()?,
            step: step.as_ref().and_then(units),
            others: shape.others().iter().filter_map(units).collect(),
            powers,
        })
    }

    pub(super) fn places(&self) -> u32 {
        self.places
    }

    /// Whether there are no multiples.
    pub(super) fn is_trivial(&self) -> bool {
        self.step.is_none() && self.others.is_empty()
    }

    /// The residue after one more digit before the point, or the `place`th behind it.
    pub(super) fn step(&self, residue: u64, digit: u8, place: Option<u32>) -> u64 {
        let power = self.places - place.unwrap_or(0);
        let digit = u64::from(digit) * self.powers[power as usize];
        (if place.is_some() { residue } else { residue * 10 } + digit) % self.modulus
    }

    /// What of a residue matters, where the digits behind the point are never too few.
    pub(super) fn essence(&self, residue: u64) -> u64 {
        residue % self.core
    }

    /// Whether a value of this residue is in the set; `off`: it has places beyond the units.
    pub(super) fn allows(&self, residue: u64, off: bool) -> bool {
        if off {
            return self.step.is_none();
        }
        self.step.is_none_or(|step| residue.is_multiple_of(step))
            && self.others.iter().all(|other| !residue.is_multiple_of(*other))
    }

    /// Whether some number of the set goes on with any `more` digits before the point (`None`: it
    /// has come, and `read` digits behind it), and has at most `places` digits behind it.
    pub(super) fn reaches(
        &self,
        (residue, off): (u64, bool),
        more: Option<u32>,
        read: u32,
        places: u32,
    ) -> bool {
        if self.step.is_none() && (off || places > self.places.max(read)) {
            return true;
        }
        if off {
            return false;
        }
        let (base, len) = match more {
            Some(more) if more >= LONG => return true,
            Some(more) => {
                let power = u128::from(self.powers[more as usize]);
                let base = u128::from(residue) * power % u128::from(self.modulus);
                (base as u64, more + self.places)
            }
            None => (residue, self.places.saturating_sub(read)),
        };
        let grid = 10u64.pow(self.places.saturating_sub(places));
        let step = self.step.unwrap_or(1).lcm(&grid);
        let block = 10u128.saturating_pow(len.min(LONG));
        let mut next = u128::from((step - base % step) % step);
        for _ in 0..1u32 << self.others.len() {
            if next >= block {
                return false;
            }
            let value = u128::from(base) + next;
            if self.others.iter().all(|&other| value % u128::from(other) != 0) {
                return true;
            }
            next += u128::from(step);
        }
        false
    }
}
