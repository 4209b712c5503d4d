//! Small parts that every stage may use: checked ids, interner, byte set, bit set, short lists, exact decimals, route records.

mod bits;
mod byte_set;
mod chain;
mod decimal;
mod few;
mod finding;
mod id;
mod intern;
mod route;

pub(crate) use bits::SmallBits;
pub use byte_set::ByteSet;
pub(crate) use byte_set::is_blank;
pub(crate) use chain::Chain;
pub(crate) use decimal::{Decimal, power_of_ten};
pub(crate) use few::Few;
pub use finding::Finding;
pub(crate) use id::define_id;
pub(crate) use intern::Interner;
pub use route::Route;
