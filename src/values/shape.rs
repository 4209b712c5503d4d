//! Shapes: conjunctions of constraints on one value of one JSON type.

use crate::base::define_id;
use crate::schema::Place;
use std::sync::Arc;

define_id!(
    /// An interned conjunction of subschemas and literal values.
    SetId
);
define_id!(
    /// An interned [`NumberShape`](super::NumberShape).
    NumberId
);
define_id!(
    /// An interned [`StringShape`].
    StringId
);
define_id!(
    /// An interned [`ArrayShape`].
    ArrayId
);
define_id!(
    /// An interned [`ObjectShape`].
    ObjectId
);
define_id!(
    /// A string language that a keyword names: a pattern or a format.
    FactorId
);

impl SetId {
    /// Every JSON value: the empty conjunction.
    pub(crate) const ANY: SetId = SetId(0);
    /// No value.
    pub(crate) const NEVER: SetId = SetId(1);
}

/// Under how many negations a keyword stands, modulo two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// An even number: a wider set makes a wider mask.
    Positive,
    /// An odd number (inside `not`, the condition of `if`, …): a narrower set does.
    Negative,
}

impl Position {
    /// The position inside one more negation.
    pub(crate) fn flip(self) -> Position {
        match self {
            Position::Positive => Position::Negative,
            Position::Negative => Position::Positive,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Position::Positive => "positive",
            Position::Negative => "negative",
        }
    }
}

/// Which of `null`, `true` and `false` are in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Literals(u8);

impl Literals {
    pub(crate) const NULL: Literals = Literals(1);
    pub(crate) const TRUE: Literals = Literals(2);
    pub(crate) const FALSE: Literals = Literals(4);
    pub(crate) const BOOLEANS: Literals = Literals(6);
    pub(crate) const ALL: Literals = Literals(7);
    pub(crate) const NONE: Literals = Literals(0);

    pub(crate) fn and(self, other: Literals) -> Literals {
        Literals(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Literals) -> Literals {
        Literals(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Literals) -> Literals {
        Literals(self.0 & !other.0)
    }

    pub(crate) fn contains(self, one: Literals) -> bool {
        self.0 & one.0 == one.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A set of strings: everything that holds at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct StringShape {
    /// Languages it must be in, ascending and distinct.
    pub(crate) factors: Vec<FactorId>,
    /// Languages it must not be in, ascending and distinct.
    pub(crate) without: Vec<FactorId>,
    /// Only these strings, in code point order and distinct.
    pub(crate) values: Option<Arc<[Box<str>]>>,
    /// The fewest code points.
    pub(crate) min: u64,
    /// The most code points.
    pub(crate) max: Option<u64>,
}

/// What a [`StringShape`] has become once its languages are compiled.
#[derive(Clone, Debug)]
pub(crate) enum Strings {
    /// Every string with a number of code points in the range.
    Free { min: u64, max: Option<u64> },
    /// These strings, in byte order.
    Finite(Arc<[Box<str>]>),
    /// The strings of a language (lengths included).
    Language(Arc<crate::language::Language>),
}

/// A set of arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayShape {
    /// The sets of the first items.
    pub(crate) prefix: Arc<[SetId]>,
    /// The set of every further item.
    pub(crate) rest: SetId,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    /// How many items must be in certain sets.
    pub(crate) counts: Arc<[ItemCount]>,
    /// No two items are equal.
    pub(crate) unique: bool,
    /// Some two items are equal. That is left out of interned shapes.
    pub(crate) repeats: bool,
    /// What is in none of these: complements wait until all that holds beside them is known, since
    /// most are empty then. Interned shapes have none.
    pub(crate) without: Arc<[Arc<ArrayShape>]>,
    /// The items that subschemas have evaluated, where `unevaluatedItems` asks for them.
    pub(crate) evaluated: Option<Arc<EvaluatedItems>>,
}

/// A constraint on how many items count: `contains`, its negation, and that of items' sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ItemCount {
    /// By index: an item counts if it is in this set.
    pub(crate) prefix: Arc<[SetId]>,
    /// The same for every further item.
    pub(crate) rest: SetId,
    /// The fewest items that count.
    pub(crate) min: u64,
    /// The most items that count.
    pub(crate) max: Option<u64>,
}

impl ItemCount {
    /// The set in which the item at `index` counts.
    pub(crate) fn item(&self, index: usize) -> SetId {
        self.prefix.get(index).copied().unwrap_or(self.rest)
    }
}

/// Items that count as evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct EvaluatedItems {
    /// So many of the first; `u64::MAX` for all.
    pub(crate) first: u64,
    /// Those in one of these sets.
    pub(crate) sets: Vec<SetId>,
}

impl ArrayShape {
    pub(crate) fn any() -> ArrayShape {
        ArrayShape {
            prefix: Arc::default(),
            rest: SetId::ANY,
            min: 0,
            max: None,
            counts: Arc::default(),
            unique: false,
            repeats: false,
            without: Arc::default(),
            evaluated: None,
        }
    }

    /// The set of the item at `index`.
    pub(crate) fn item(&self, index: u64) -> SetId {
        usize::try_from(index).ok().and_then(|i| self.prefix.get(i).copied()).unwrap_or(self.rest)
    }

    /// The sets of the items that must be there: those of the prefix, then perhaps the rest.
    pub(crate) fn needed(&self) -> impl Iterator<Item = SetId> + '_ {
        let prefix = self.prefix.len().min(usize::try_from(self.min).unwrap_or(usize::MAX));
        let rest = (self.min > self.prefix.len() as u64).then_some(self.rest);
        self.prefix[..prefix].iter().copied().chain(rest)
    }
}

/// Where a name stands in the declared order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Where the keyword stands that declares it (`properties`, a literal).
    Declared,
    /// Behind those, where `required` names it.
    Required,
    /// Among the keys that no keyword names: only a complement or a dependency mentions it.
    Loose,
}

/// One name of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) text: Arc<str>,
    pub(crate) rank: Rank,
    pub(crate) required: bool,
    /// The set of its value.
    pub(crate) set: SetId,
}

/// Keys: those in every language of `within` and in none of `without`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KeySet {
    pub(crate) within: Vec<FactorId>,
    pub(crate) without: Vec<FactorId>,
}

/// A constraint on the values of the keys that an object does not name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyRule {
    /// It speaks of the keys in one of these, or, where it is `negated`, in none of them.
    pub(crate) keys: Vec<KeySet>,
    pub(crate) negated: bool,
    /// The set of their values.
    pub(crate) set: SetId,
    /// It names keys (`patternProperties`): they may come where the policy closes the object.
    pub(crate) opens: bool,
}

impl KeyRule {
    /// Whether it speaks of a key, of which is known in which languages it is.
    pub(crate) fn holds(&self, is_in: impl Fn(FactorId) -> bool) -> bool {
        let in_one = self.keys.iter().any(|keys| {
            keys.within.iter().all(|&f| is_in(f)) && !keys.without.iter().any(|&f| is_in(f))
        });
        in_one != self.negated
    }

    /// The languages that it asks for.
    pub(crate) fn factors(&self) -> impl Iterator<Item = FactorId> + '_ {
        self.keys.iter().flat_map(|keys| keys.within.iter().chain(&keys.without).copied())
    }
}

/// A constraint that some member must satisfy: what is left of a negated constraint on all members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SomeMember {
    /// A member with one of these keys does if its value is in the set; ascending by key.
    pub(crate) names: Arc<[(Arc<str>, SetId)]>,
    /// One with another key if its value is in this set,
    pub(crate) other: SetId,
    /// or in that of a rule which speaks of its key.
    pub(crate) rules: Arc<[KeyRule]>,
}

/// Where one name stands, another must: `dependentRequired`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Implication {
    pub(crate) name: Arc<str>,
    pub(crate) needs: Arc<str>,
}

/// Members that count as evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct EvaluatedKeys {
    pub(crate) all: bool,
    /// These names, ascending,
    pub(crate) names: Vec<Arc<str>>,
    /// and the keys in one of these.
    pub(crate) keys: Vec<KeySet>,
}

/// A set of objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectShape {
    /// The declared names in the order of first mention, then the names that are only required, then
    /// the loose ones, ascending. Every name that `implies` mentions is among them.
    pub(crate) names: Arc<[Name]>,
    /// The set of every other key's value, the rules aside.
    pub(crate) other: SetId,
    /// What else holds for other keys.
    pub(crate) rules: Arc<[KeyRule]>,
    /// Subschemas that every key must satisfy. They have become rules when a shape is interned.
    pub(crate) key_nodes: Arc<[Place]>,
    /// The policy closes it: no other keys, though the schema would allow them.
    pub(crate) closed: bool,
    /// The fewest keys.
    pub(crate) min: u64,
    /// The most keys.
    pub(crate) max: Option<u64>,
    /// Each of these is satisfied by some member.
    pub(crate) some: Arc<[SomeMember]>,
    /// Ascending and distinct.
    pub(crate) implies: Arc<[Implication]>,
    /// What is in none of these; interned shapes have none.
    pub(crate) without: Arc<[Arc<ObjectShape>]>,
    /// The members that subschemas have evaluated, where `unevaluatedProperties` asks for them.
    pub(crate) evaluated: Option<Arc<EvaluatedKeys>>,
}

impl ObjectShape {
    pub(crate) fn any() -> ObjectShape {
        ObjectShape {
            names: Arc::default(),
            other: SetId::ANY,
            rules: Arc::default(),
            key_nodes: Arc::default(),
            closed: false,
            min: 0,
            max: None,
            some: Arc::default(),
            implies: Arc::default(),
            without: Arc::default(),
            evaluated: None,
        }
    }

    /// Whether its members can be taken one by one: nothing is asked of them together, and each name
    /// has its place in the declared order.
    pub(crate) fn is_plain(&self) -> bool {
        let counts = self.min > 0 || self.max.is_some();
        let loose = self.names.last().is_some_and(|name| name.rank == Rank::Loose);
        !counts && !loose && self.some.is_empty() && self.implies.is_empty()
    }

    /// Whether it says nothing of any key, the policy aside.
    pub(crate) fn is_any(&self) -> bool {
        let ObjectShape { names, other, rules, key_nodes, closed: _, .. } = self;
        let ObjectShape { min, max, some, implies, without, evaluated, .. } = self;
        let of_keys = !names.is_empty() || !rules.is_empty() || !key_nodes.is_empty();
        let together = !some.is_empty() || !implies.is_empty() || !without.is_empty();
        let counted = *min > 0 || max.is_some() || evaluated.is_some();
        *other == SetId::ANY && !of_keys && !together && !counted
    }
}

/// One way for an item or a member: what its value is in, and which of the container's constraints
/// (bits, in their order) it counts for. The first way of all counts for none. The set of a way that
/// does not count for a constraint with a maximum excludes the values that would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) counts: u64,
    pub(crate) set: SetId,
}

/// The ways of the items of an array shape with `counts`.
#[derive(Clone, Debug)]
pub(crate) struct ItemWays {
    /// By index.
    pub(crate) prefix: Box<[Box<[Way]>]>,
    /// For every further item.
    pub(crate) rest: Box<[Way]>,
}

impl ItemWays {
    /// The sets of all ways.
    pub(crate) fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        self.prefix.iter().chain([&self.rest]).flat_map(|ways| ways.iter().map(|way| way.set))
    }
}

impl MemberWays {
    /// The sets of all ways.
    pub(crate) fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        self.names.iter().chain(&self.others).flat_map(|ways| ways.iter().map(|way| way.set))
    }
}

/// The ways of the members of an object shape with `some`.
#[derive(Clone, Debug)]
pub(crate) struct MemberWays {
    /// By name.
    pub(crate) names: Box<[Box<[Way]>]>,
    /// For other keys, by combination of [`OtherKeys`](super::keys::OtherKeys); one entry where it has no
    /// rules. Empty where no such key may come.
    pub(crate) others: Box<[Box<[Way]>]>,
}

/// A set of JSON values: a union of shapes for each type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Set {
    pub(crate) literals: Literals,
    pub(crate) numbers: Vec<NumberId>,
    pub(crate) strings: Vec<StringId>,
    pub(crate) arrays: Vec<ArrayId>,
    pub(crate) objects: Vec<ObjectId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_items_are_those_below_the_minimum() {
        let shape = |min| ArrayShape {
            prefix: Arc::new([SetId::new(5), SetId::new(6)]),
            rest: SetId::new(7),
            min,
            ..ArrayShape::any()
        };
        let needed = |min| shape(min).needed().map(SetId::index).collect::<Vec<_>>();
        assert_eq!(needed(0), [0usize; 0]);
        assert_eq!(needed(1), [5]);
        assert_eq!(needed(2), [5, 6]);
        assert_eq!(needed(2_000_000_000), [5, 6, 7]);
        assert_eq!(shape(0).item(1).index(), 6);
        assert_eq!(shape(0).item(u64::MAX).index(), 7);
    }
}
