//! Value sets: every subschema denotes a set of JSON values, kept as a union of *shapes*.
//!
//! In: a [`Schema`](crate::schema::Schema). Out: [`Sets`]: for each [`SetId`] that the root can
//! reach, its [`Set`] of interned shapes; whether it is empty; what could not be compiled.
//!
//! A set id is an interned *conjunction*: a list of subschemas and literal values that all must
//! hold. Children of a shape are again such ids, so an intersection of recursive schemas ties its
//! own knot: the pair of two recursive ids is met again and found in the interner. The order of the
//! list is the order in which the schema's text mentions the conjuncts, and so the id carries the
//! key order beside the set: `{a, b}` and `{b, a}` are two ids with equal sets.
//!
//! Invariants:
//! * A set never loses a value that the schema allows: what is not compiled is widened
//!   (it becomes everything; below a negation the whole negation does) and listed in
//!   [`Sets::widened`].
//! * Shapes are hash-consed; equal shapes have equal ids, whatever subschema they come from.
//! * After [`Sets::compile`] nothing grows: decode-time code only reads.
//!
//! Rejected: sets as canonical terms with memoised binary operations. Conjunction lists need no
//! memo table, and their number is bounded by what the schema's text can combine.

mod absorb;
mod branches;
mod combine;
mod conflict;
mod draft;
mod emptiness;
mod finish_items;
mod finish_members;
mod finite;
mod intersect;
mod items;
mod keys;
mod kinds;
mod literals;
mod members;
mod needs;
mod negate;
mod numbers;
mod plain;
mod plan_members;
mod rooms;
mod sets;
mod shape;
mod some;
mod strings;
mod terms;
mod unevaluated;
mod unique;
mod ways;
mod widen;

pub(crate) use emptiness::Emptiness;
pub(crate) use finish_items::{Counts, ItemPlan};
pub(crate) use finish_members::{Demands, Members, Progress};
pub(crate) use kinds::upper_sets;
pub(crate) use needs::{Needs, Shape};
pub(crate) use numbers::{ANY_DIGITS, ANY_EXPONENT, NumberEnd, NumberShape, Spelling};
pub(crate) use plan_members::{Member, Weigh};
pub(crate) use sets::{Sets, Widened};
pub(crate) use shape::{
    ArrayId, Literals, MemberWays, NumberId, ObjectId, ObjectShape, Position, Rank, Set, SetId,
    StringId, Strings, Way,
};
pub(crate) use strings::{FormatUse, encoding_use, format_use};
pub(crate) use unique::{Places, SEEN_VALUES, Scalar};
