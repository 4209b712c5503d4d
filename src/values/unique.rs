//! `uniqueItems`: where the mask can enforce it, and how many items it leaves room for.
//!
//! No dead end may come of it: wherever a decode stands, some item must be left that equals none of
//! those before. For scalars that is looked for among the values that go on from a text. In an array
//! or object one is always left as long as a part can come of which there are many values; behind
//! the last such part what is left is few, and is looked for. What is many, and whether what is few
//! can be looked for, is said by [`Rooms`]. Whatever is not of these kinds is left to the check, and
//! so are arrays that ask for values of a small set at certain places or for certain counts, where
//! these are not scalars.

use super::rooms::{Rooms, Scalars, is_endless, is_open};
use super::sets::{Builder, Sets, Widened};
use super::shape::{
    ArrayId, ArrayShape, ItemWays, ObjectId, ObjectShape, Position, SetId, StringId, Strings,
};
use super::{Emptiness, NumberShape};
use crate::base::{Decimal, Route};
use crate::language::{Chosen, Joint, Language};
use crate::options::Order;
use crate::schema::Kw;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

/// The most items of an array whose items are kept to be compared: what the surface policy states.
pub(crate) const SEEN_VALUES: u64 = 100_000;

/// Strings of a language that are counted exactly.
const COUNTED: u64 = 9_999;

/// Beside patterns, the longest length range that becomes a pattern.
const LENGTHS: u64 = 256;

/// Why the keyword is left to the check.
const LEFT_OUT: &str =
    "the items are of sets whose values the mask cannot tell apart; they are compared afterwards";

/// The items of an array that are told apart by the mask.
#[derive(Clone, Debug, Default)]
pub(super) struct UniqueItems {
    /// How many scalars there are; `None`: many.
    scalars: Option<u64>,
    /// If one of these holds a value, they are not counted.
    arrays: Vec<ArrayId>,
    objects: Vec<ObjectId>,
    /// Some of its places have few values.
    placed: bool,
    /// The sets of its items that have arrays or objects.
    sets: Vec<SetId>,
    /// Of these there must be many values.
    wants_many: bool,
}

/// A value of a small set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    /// By its first byte.
    Literal(u8),
    Number(Decimal),
    Text(Box<str>),
}

/// By index, the values of small sets; `None` where there are many.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    prefix: Box<[Option<Arc<[T]>>]>,
    rest: Option<Arc<[T]>>,
}

/// Places, and values of one place, between which an assignment is looked for.
const PLACES: u64 = 64;
const PLACED: u64 = 1_000;

/// The unique arrays of a grammar.
#[derive(Debug, Default)]
pub(super) struct UniqueArrays {
    arrays: FxHashMap<ArrayId, UniqueItems>,
    /// By array: the most items.
    most: FxHashMap<ArrayId, u64>,
    /// What their strings can still become, and those in their items.
    strings: FxHashMap<StringId, Chosen>,
    /// The scalars of the sets in their items.
    scalars: Scalars,
    rooms: Rooms,
    /// Where it may turn out that values are too few: what has to be routed then.
    routes: FxHashMap<ArrayId, Vec<Widened>>,
}

impl Builder<'_> {
    /// Decides for every array with `uniqueItems` whether the mask enforces it.
    pub(super) fn settle_unique(&mut self) -> UniqueArrays {
        let mut unique = UniqueArrays::default();
        let mut refused = FxHashSet::default();
        let holders: Vec<SetId> = self.expanded_sets().collect();
        for holder in holders {
            for id in self.expanded(holder).map(|set| set.arrays.clone()).unwrap_or_default() {
                if !self.array_shape(id).unique {
                    continue;
                }
                if !unique.arrays.contains_key(&id) && !refused.contains(&id) {
                    match self.unique_items(id, &mut unique.strings) {
                        Some(items) => drop(unique.arrays.insert(id, items)),
                        None => drop(refused.insert(id)),
                    }
                }
                if refused.contains(&id) {
                    let routes = self.unique_routes(holder);
                    self.widened.extend(routes);
                } else if unique.arrays.get(&id).is_some_and(|items| !items.sets.is_empty()) {
                    unique.routes.entry(id).or_default().extend(self.unique_routes(holder));
                }
            }
        }
        self.look_into_items(&mut unique);
        unique
    }

    /// Counts the scalars of all sets that items of `unique` arrays lead to.
    fn look_into_items(&mut self, unique: &mut UniqueArrays) {
        let mut queue: Vec<SetId> = unique.arrays.values().flat_map(|i| i.sets.clone()).collect();
        let mut known = FxHashSet::default();
        while let Some(id) = queue.pop() {
            let Some(set) = self.expanded(id).cloned().filter(|_| known.insert(id)) else {
                continue;
            };
            if let Some(items) = self.distinct(id, &mut unique.strings) {
                unique.scalars.insert(id, items.scalars);
            }
            for id in set.arrays {
                if !self.is_roomy_array(self.array_shape(id)) {
                    let shape = self.array_shape(id);
                    queue.extend(shape.prefix.iter().copied().chain([shape.rest]));
                    queue.extend(self.ways_of(id).into_iter().flat_map(ItemWays::sets));
                }
            }
            for id in set.objects.iter().filter(|id| !is_roomy_object(self.object_shape(**id))) {
                queue.extend(self.member_sets(*id));
            }
        }
    }

    /// What it takes to route the `uniqueItems` of a set's subschemas.
    fn unique_routes(&mut self, holder: SetId) -> Vec<Widened> {
        let schema = self.schema.clone();
        let mut routes = Vec::new();
        for node in self.nodes_of(holder) {
            for node in self.in_place_closure(node) {
                let keywords = schema.node(node).keywords().iter().enumerate();
                for (index, _) in keywords.filter(|(_, k)| k.kw == Some(Kw::UniqueItems)) {
                    routes.push(Widened {
                        node,
                        index,
                        route: Route::Check,
                        reason: LEFT_OUT.into(),
                        limit: Some("unique_values"),
                        position: Some(Position::Positive),
                    });
                }
            }
        }
        routes
    }

    /// The items of an array, if the mask can tell them apart.
    fn unique_items(
        &mut self,
        id: ArrayId,
        strings: &mut FxHashMap<StringId, Chosen>,
    ) -> Option<UniqueItems> {
        let shape: ArrayShape = self.array_shape(id).clone();
        if shape.min > SEEN_VALUES {
            return None;
        }
        if shape.prefix.is_empty() && shape.counts.is_empty() {
            return self.distinct(shape.rest, strings);
        }
        let mut sets: Vec<SetId> = shape.prefix.iter().copied().chain([shape.rest]).collect();
        sets.extend(self.ways_of(id).into_iter().flat_map(ItemWays::sets));
        let (mut placed, mut many) = (false, Vec::new());
        for &set in &sets {
            let mut items = self.distinct(set, strings)?;
            many.append(&mut items.sets);
            let Some(scalars) = items.scalars.filter(|_| !many.contains(&set)) else { continue };
            if scalars > PLACED {
                return None;
            }
            placed |= scalars > 0;
            let is_rest = set == shape.rest && scalars > 0;
            if is_rest && shape.min > PLACES || !self.is_listed(set) {
                return None;
            }
        }
        if placed && (!shape.counts.is_empty() || shape.prefix.len() as u64 > PLACES) {
            return None;
        }
        Some(UniqueItems { placed, sets: many, wants_many: true, ..UniqueItems::default() })
    }

    /// Whether the strings of a small set are listed.
    fn is_listed(&self, set: SetId) -> bool {
        let language = |id: &StringId| {
            let strings = &self.compiled_strings[id.index()].strings;
            matches!(strings, Some(Strings::Language(_)))
        };
        self.expanded(set).is_some_and(|set| !set.strings.iter().any(language))
    }

    /// The values of a set, as far as they matter here; `None` where they cannot be told apart.
    fn distinct(
        &mut self,
        set: SetId,
        strings: &mut FxHashMap<StringId, Chosen>,
    ) -> Option<UniqueItems> {
        let (id, set) = (set, self.expanded(set)?.clone());
        let literals = [super::Literals::NULL, super::Literals::TRUE, super::Literals::FALSE];
        let literals = literals.iter().filter(|one| set.literals.contains(**one)).count() as u64;
        let numbers = self.distinct_numbers(&set.numbers)?;
        let texts = self.distinct_strings(&set.strings, strings)?;
        let total = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let scalars = total(total(Some(literals), numbers), texts);
        let has_containers = !set.arrays.is_empty() || !set.objects.is_empty();
        let sets = has_containers.then_some(id).into_iter().collect();
        let (arrays, objects) = (set.arrays, set.objects);
        Some(UniqueItems { scalars, arrays, objects, sets, ..UniqueItems::default() })
    }

    /// How many numbers there are (`None`: many), if that can be told.
    fn distinct_numbers(&self, ids: &[super::NumberId]) -> Option<Option<u64>> {
        let mut values = BTreeSet::new();
        let mut many = false;
        for &id in ids {
            let shape = self.number_shape(id);
            if shape.is_integer() && shape.step().is_none() && is_wide(shape, 0) {
                // No list is made of them.
                many = true;
                continue;
            }
            match shape.values_up_to(SEEN_VALUES as usize) {
                Some(few) => values.extend(few),
                None if is_many(shape) => many = true,
                None => return None,
            }
        }
        Some((!many).then_some(values.len() as u64))
    }

    /// The same for strings.
    fn distinct_strings(
        &mut self,
        ids: &[StringId],
        chosen: &mut FxHashMap<StringId, Chosen>,
    ) -> Option<Option<u64>> {
        let (mut texts, mut counted) = (BTreeSet::new(), 0);
        let (mut many, mut unknown) = (false, false);
        for &id in ids {
            match self.compiled_strings[id.index()].strings.clone()? {
                Strings::Free { max: Some(0), .. } => drop(texts.insert(Box::from(""))),
                Strings::Free { .. } => many = true,
                Strings::Finite(few) => texts.extend(few.iter().cloned()),
                Strings::Language(language) => {
                    let own = match chosen.get(&id) {
                        Some(own) => own.clone(),
                        None => self.chosen_string(id, &language)?,
                    };
                    if own.outnumbers(SEEN_VALUES * 2) {
                        many = true;
                    } else if ids.len() > 1 || own.outnumbers(COUNTED) {
                        unknown = true;
                    } else {
                        counted = own.count().unwrap_or(COUNTED);
                    }
                    // The states that the automaton steps through are those of this one.
                    let language = Strings::Language(own.language().clone());
                    self.compiled_strings[id.index()].strings = Some(language);
                    chosen.insert(id, own);
                }
            }
        }
        (many || !unknown).then_some((!many).then_some(texts.len() as u64 + counted))
    }

    /// Whether to an array of the shape, wherever it stands, any number of items may be added.
    fn is_roomy_array(&self, shape: &ArrayShape) -> bool {
        let has_scalar = |id: SetId| {
            self.expanded(id).is_some_and(|set| {
                !set.literals.is_empty() || !set.numbers.is_empty() || !set.strings.is_empty()
            })
        };
        let repeats = shape.rest == SetId::ANY || has_scalar(shape.rest) && !shape.unique;
        let named = shape.prefix.iter().all(|&id| has_scalar(id));
        repeats && named && shape.max.is_none() && shape.counts.is_empty()
    }

    /// A language of strings in the form that says which strings go on from a state.
    fn chosen_string(&mut self, id: StringId, language: &Language) -> Option<Chosen> {
        let (shape, compiled) = (self.strings.get(id.index()), &self.compiled_strings[id.index()]);
        let whole = compiled.limit.is_none()
            && compiled.dropped_factors.is_empty()
            && shape.values.is_none();
        let (min, max) = (shape.min, shape.max);
        if !whole || min.max(max.unwrap_or(0)) > LENGTHS || language.lengths() != (min, max) {
            return None;
        }
        let shape = shape.clone();
        let mut within = shape.factors;
        if (min, max) != (0, None) {
            within.push(self.length_factor(min, max).ok()?);
        }
        let ids = within.iter().chain(&shape.without);
        let factors: Vec<_> = ids.map(|id| self.factors[id.index()].clone()).collect();
        if factors.iter().any(|factor| !factor.is_exact()) {
            return None;
        }
        let joint = Arc::new(Joint::compile(&factors, &self.options.limits).ok()?);
        let within = within.len();
        joint.restrict(|index| {
            let holds = &joint.combinations()[index];
            (0..factors.len()).all(|factor| holds.contains(factor) == (factor < within))
        })
    }
}

/// Whether to an object of the shape, wherever it stands, any number of members may be added.
fn is_roomy_object(shape: &ObjectShape) -> bool {
    let open = !shape.closed && shape.max.is_none() && shape.other == SetId::ANY;
    open && shape.rules.is_empty() && shape.key_nodes.is_empty() && shape.some.is_empty()
}

/// Whether a set of numbers of which no list was made has more than are ever kept.
fn is_many(shape: &NumberShape) -> bool {
    let Some(large) = Decimal::parse("1e9") else { return false };
    if shape.step().is_some_and(|step| step > large) {
        return false;
    }
    let (Some(low), Some(high)) = (shape.low(), shape.high()) else { return true };
    // Seven places are within the digits that such a number has.
    let small = |at: &Decimal| at.clone() < large && at.clone().negated() < large;
    // Of multiples a list would have been made.
    let listed = shape.is_integer() || shape.step().is_some();
    listed || small(&low.at) && small(&high.at) && is_wide(shape, -7)
}

/// Whether between the ends there are more units of `10^exponent` than items are ever kept.
fn is_wide(shape: &NumberShape, exponent: i64) -> bool {
    let (Some(low), Some(high)) = (shape.low(), shape.high()) else { return false };
    let units = high.at.floor_units(exponent) - low.at.floor_units(exponent);
    shape.values().is_none() && shape.others().is_empty() && units > (SEEN_VALUES * 2).into()
}

impl UniqueArrays {
    /// How many items each array has room for, and which arrays are left to the check after all.
    pub(super) fn limit(sets: &mut Sets, order: Order) {
        loop {
            Self::bound(sets);
            let unique = &sets.unique;
            let items: Vec<SetId> =
                unique.arrays.values().flat_map(|items| items.sets.iter().copied()).collect();
            if items.is_empty() {
                return;
            }
            let emptiness = Emptiness::decide(sets);
            let rooms = Rooms::of(sets, &emptiness, order, &items, &unique.scalars);
            let has_room = |id: ArrayId, items: &UniqueItems| {
                items.sets.iter().filter(|&&set| !emptiness.is_empty(set)).all(|&set| {
                    let enough = rooms.least(set) >= sets.array(id).min && !items.wants_many;
                    rooms.is_clear(set) && (enough || rooms.is_many(set))
                })
            };
            let refused = unique.arrays.iter().filter(|(id, items)| !has_room(**id, items));
            let refused: Vec<ArrayId> = refused.map(|(&id, _)| id).collect();
            if refused.is_empty() {
                sets.unique.rooms = rooms;
                return;
            }
            for id in refused {
                sets.unique.arrays.remove(&id);
                let routes = sets.unique.routes.remove(&id);
                sets.widen(routes.unwrap_or_default());
            }
        }
    }

    /// How many items each array has room for. Whether there are values of arrays and objects may
    /// depend on that in turn, so it is asked until nothing changes.
    fn bound(sets: &mut Sets) {
        if sets.unique.arrays.is_empty() {
            sets.unique.most.clear();
            return;
        }
        loop {
            let emptiness = Emptiness::decide(sets);
            let most = |id: ArrayId, items: &UniqueItems| {
                if items.placed {
                    return if sets.fills_places(id) { SEEN_VALUES } else { 0 };
                }
                let many = items.arrays.iter().any(|&id| emptiness.has_array(id))
                    || items.objects.iter().any(|&id| emptiness.has_object(id));
                items.scalars.filter(|_| !many).unwrap_or(SEEN_VALUES).min(SEEN_VALUES)
            };
            let most =
                sets.unique.arrays.iter().map(|(&id, items)| (id, most(id, items))).collect();
            if most == sets.unique.most {
                return;
            }
            sets.unique.most = most;
        }
    }

    /// The most items of an array whose items the mask keeps apart; `None` for others.
    pub(super) fn most(&self, id: ArrayId) -> Option<u64> {
        self.most.get(&id).copied()
    }

    /// What a string of such an array can become, where it is of a language.
    pub(super) fn string(&self, id: StringId) -> Option<&Chosen> {
        self.strings.get(&id)
    }
}

impl Sets {
    /// Whether a set in an item that must differ has more values than are ever kept.
    pub(crate) fn has_room(&self, set: SetId) -> bool {
        self.unique.rooms.is_many(set)
    }

    /// Whether the items of an array whose items differ may be arrays or objects to which no further
    /// part can be added.
    pub(crate) fn has_narrow_items(&self, id: ArrayId, emptiness: &Emptiness) -> bool {
        let narrow = |&id: &SetId| {
            let set = self.get(id);
            let arrays = set.arrays.iter().filter(|&&id| emptiness.has_array(id));
            let mut objects = set.objects.iter().filter(|&&id| emptiness.has_object(id));
            arrays.into_iter().any(|&id| !is_endless(self, emptiness, id))
                || objects.any(|&id| !is_open(self, emptiness, id))
        };
        self.unique.arrays.get(&id).is_some_and(|items| items.sets.iter().any(narrow))
    }

    /// Whether to an object, wherever it stands, any number of members may be added.
    pub(crate) fn is_open(&self, id: ObjectId, emptiness: &Emptiness) -> bool {
        is_open(self, emptiness, id)
    }

    /// The values by index of an array whose items differ, where some of them are few.
    pub(crate) fn unique_places(&self, id: ArrayId) -> Option<Places<Scalar>> {
        self.unique.arrays.get(&id).filter(|items| items.placed)?;
        let shape = self.array(id);
        let prefix = shape.prefix.iter().map(|&set| self.few_values(set)).collect();
        Some(Places { prefix, rest: self.few_values(shape.rest) })
    }

    /// Whether the items that must come can differ.
    fn fills_places(&self, id: ArrayId) -> bool {
        let Some(places) = self.unique_places(id) else { return true };
        let mut known: FxHashMap<Scalar, u32> = FxHashMap::default();
        let places = places.map(|scalar| {
            let next = known.len() as u32;
            *known.entry(scalar.clone()).or_insert(next)
        });
        places.can_fill(0, self.array(id).min, &|_| false)
    }

    /// The values of a set of few scalars.
    fn few_values(&self, set: SetId) -> Option<Arc<[Scalar]>> {
        let set = self.get(set);
        if !set.arrays.is_empty() || !set.objects.is_empty() {
            return None;
        }
        let words = [
            (super::Literals::NULL, b'n'),
            (super::Literals::TRUE, b't'),
            (super::Literals::FALSE, b'f'),
        ];
        let words = words.into_iter().filter(|(literal, _)| set.literals.contains(*literal));
        let mut values: Vec<Scalar> = words.map(|(_, byte)| Scalar::Literal(byte)).collect();
        for &id in &set.numbers {
            let few = self.number(id).values_up_to(PLACED as usize)?;
            values.extend(few.into_iter().map(Scalar::Number));
        }
        for &id in &set.strings {
            match self.strings(id) {
                Strings::Free { max: Some(0), .. } => values.push(Scalar::Text("".into())),
                Strings::Finite(few) => values.extend(few.iter().cloned().map(Scalar::Text)),
                Strings::Free { .. } | Strings::Language(_) => return None,
            }
        }
        Some(values.into())
    }
}

impl<T> Places<T> {
    pub(crate) fn map<U>(&self, mut value: impl FnMut(&T) -> U) -> Places<U> {
        let mut list = |list: &Option<Arc<[T]>>| -> Option<Arc<[U]>> {
            list.as_ref().map(|list| list.iter().map(&mut value).collect())
        };
        Places { prefix: self.prefix.iter().map(&mut list).collect(), rest: list(&self.rest) }
    }

    /// The values of the item at `index`; `None`: many.
    pub(crate) fn at(&self, index: u64) -> Option<&[T]> {
        let named = usize::try_from(index).ok().and_then(|index| self.prefix.get(index));
        named.unwrap_or(&self.rest).as_deref()
    }
}

impl<T: Copy + Eq + Hash> Places<T> {
    /// Whether the items from `index` up to `min` can all differ, and be none that is `taken`:
    /// whether the places of few values have a matching that covers them.
    pub(crate) fn can_fill(&self, index: u64, min: u64, taken: &dyn Fn(T) -> bool) -> bool {
        let named = self.prefix.len() as u64;
        let rest = self.rest.as_ref().map_or(0, |_| min.saturating_sub(index.max(named)));
        let places = (index..min.min(named)).chain(named..named + rest.min(PLACES + 1));
        let lists: Vec<&[T]> = places.filter_map(|place| self.at(place)).collect();
        let mut holder: FxHashMap<T, usize> = FxHashMap::default();
        (0..lists.len()).all(|place| {
            let mut tried = FxHashSet::default();
            assign(place, &lists, taken, &mut holder, &mut tried)
        })
    }
}

/// Gives `place` a value, perhaps one of another place that gets another one. Places are few.
fn assign<T: Copy + Eq + Hash>(
    place: usize,
    lists: &[&[T]],
    taken: &dyn Fn(T) -> bool,
    holder: &mut FxHashMap<T, usize>,
    tried: &mut FxHashSet<T>,
) -> bool {
    lists[place].iter().any(|&value| {
        if taken(value) || !tried.insert(value) {
            return false;
        }
        let free = match holder.get(&value) {
            None => true,
            Some(&other) => assign(other, lists, taken, holder, tried),
        };
        if free {
            holder.insert(value, place);
        }
        free
    })
}
