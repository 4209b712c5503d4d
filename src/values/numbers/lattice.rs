//! Multiples: the lattices that numbers lie on.

use super::{NumberEnd, REACH};
use crate::base::Decimal;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;

/// The most digits of a least common multiple; a multiple that would need more is left out.
pub(super) const MULTIPLE_DIGITS: i64 = 1_000;
/// The multiples of `step` that are not multiples of any of `others`, in units of 10^`exponent`.
pub(super) struct Lattice {
    pub(super) exponent: i64,
    pub(super) step: BigInt,
    pub(super) others: Vec<BigInt>,
}

impl Lattice {
    /// The first whole unit from a lower end on.
    pub(super) fn from(&self, low: &NumberEnd) -> BigInt {
        let units = low.at.ceil_units(self.exponent);
        if low.open && Decimal::new(&units, self.exponent) == low.at { units + 1 } else { units }
    }

    /// The first number from `units` on; `None`: there is none at all.
    pub(super) fn at_or_after(&self, units: BigInt) -> Option<BigInt> {
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

pub(super) fn one() -> Decimal {
    Decimal::new(&BigInt::from(1), 0)
}

/// Whether `value` is a whole multiple of `multiple`, which is above zero.
pub(super) fn is_multiple(value: &Decimal, multiple: &Decimal) -> bool {
    if value.is_zero() {
        return true;
    }
    // The digits end with none of the zeros that a larger unit would need.
    let Ok(shift) = u64::try_from(value.exponent().saturating_sub(multiple.exponent())) else {
        return false;
    };
    if multiple.digits() == b"1" {
        return true;
    }
    let digits = |d: &Decimal| BigUint::parse_bytes(d.digits(), 10).unwrap_or_default();
    let (value, modulus) = (digits(value), digits(multiple));
    let zeros = BigUint::from(10u32).modpow(&BigUint::from(shift), &modulus);
    (value * zeros).is_multiple_of(&modulus)
}

/// The least common multiple of `step` and 10^`grid`. Powers of ten are long: it looks only at the
/// twos and fives that the step lacks.
pub(super) fn on_grid(step: &Decimal, grid: i64) -> Decimal {
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
pub(super) fn common_multiple(a: &Decimal, b: &Decimal) -> Option<Decimal> {
    let exponent = a.exponent().min(b.exponent());
    let spread = a.magnitude().max(b.magnitude()).saturating_sub(exponent);
    if spread > 2 * MULTIPLE_DIGITS.max(REACH) {
        return None;
    }
    let common = Decimal::new(&a.floor_units(exponent).lcm(&b.floor_units(exponent)), exponent);
    (common.magnitude() <= MULTIPLE_DIGITS).then_some(common)
}
