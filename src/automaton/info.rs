//! Shapes made ready for stepping: empty members resolved, names indexed.

use super::kinds::Kinds;
use super::members::MemberInfo;
use super::string::At;
use super::unique::Hashes;
use crate::language::Chosen;
use crate::options::Order;
use crate::values::{
    ArrayId, Emptiness, ItemPlan, ObjectId, Places, SetId, Sets, StringId, Strings,
};
use std::sync::{Arc, OnceLock};

/// A set of arrays, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) struct ArrayInfo {
    prefix: Arc<[SetId]>,
    rest: SetId,
    pub(crate) min: u64,
    /// The most items: no item stands where its set is empty.
    pub(crate) max: Option<u64>,
    /// How it is finished, where it counts items.
    pub(crate) plan: Option<ItemPlan>,
    /// No item equals another one, and the mask sees to that.
    pub(crate) unique: bool,
    /// Where items differ: it is not enough to refuse their last bytes, since they may be arrays or
    /// objects to which nothing can be added.
    pub(crate) watched: bool,
    /// Where items differ, the least maximum that a string among them has.
    pub(crate) longest: Option<u64>,
    /// The hashes of the values at each place, where those are few and items differ.
    pub(crate) places: Option<Places<u128>>,
}

impl ArrayInfo {
    pub(super) fn new(
        sets: &Sets,
        id: ArrayId,
        emptiness: &Emptiness,
        hashes: Hashes,
    ) -> ArrayInfo {
        let (shape, unique) = (sets.array(id), sets.unique_most(id));
        let gap = shape.prefix.iter().position(|&set| emptiness.is_empty(set));
        let gap = gap.or_else(|| emptiness.is_empty(shape.rest).then_some(shape.prefix.len()));
        let max = [shape.max, gap.map(|gap| gap as u64), unique].into_iter().flatten().min();
        ArrayInfo {
            prefix: shape.prefix.clone(),
            rest: shape.rest,
            min: shape.min,
            max,
            plan: sets.item_plan(id, |set| !emptiness.is_empty(set)),
            unique: unique.is_some(),
            watched: unique.is_some() && sets.has_narrow_items(id, emptiness),
            longest: unique.and_then(|_| least_longest(sets, id)),
            places: sets.unique_places(id).map(|p| p.map(|scalar| hashes.scalar(scalar))),
        }
    }

    /// The set of the item at `index`.
    pub(crate) fn item(&self, index: u64) -> SetId {
        let named = usize::try_from(index).ok().and_then(|i| self.prefix.get(i));
        named.copied().unwrap_or(self.rest)
    }

    /// How many items have a set of their own: a mask depends on the index up to here.
    pub(crate) fn named(&self) -> u64 {
        self.prefix.len() as u64
    }

    /// Whether an item may stand at `index`.
    pub(crate) fn takes(&self, index: u64) -> bool {
        self.max.is_none_or(|max| index < max)
    }
}

/// The least maximum of a string among the items that an array may have.
fn least_longest(sets: &Sets, id: ArrayId) -> Option<u64> {
    let most = |set: SetId| {
        let strings = sets.get(set).strings.iter();
        let most = strings.filter_map(|&id| match sets.strings(id) {
            Strings::Free { max, .. } => *max,
            Strings::Finite(_) | Strings::Language(_) => None,
        });
        most.min()
    };
    let shape = sets.array(id);
    let named = shape.prefix.iter().chain([&shape.rest]).filter_map(|&set| most(set)).min();
    // Of items that are counted, any may be of some smaller set.
    if sets.item_ways(id).is_some() { Some(0) } else { named }
}

/// A name of an object, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) struct NameInfo {
    pub(crate) text: Arc<str>,
    pub(crate) set: SetId,
    pub(crate) required: bool,
    /// Its set is empty, or that of a name which it needs: the key must not come.
    pub(crate) forbidden: bool,
}

/// Keys that are read as one string.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) string: StringId,
    /// Which they are, where they are not free.
    pub(crate) chosen: Option<Chosen>,
}

/// The keys that an object takes and does not name.
#[derive(Clone, Debug)]
pub(crate) struct OtherInfo {
    /// All of them.
    pub(crate) keys: Keys,
    /// Where it depends on what has come which of them may come: their kinds.
    pub(super) kinds: Option<Kinds>,
    values: Values,
}

/// The sets of their values.
#[derive(Clone, Debug)]
enum Values {
    One(SetId),
    ByKey {
        /// Tells the combination.
        chosen: Chosen,
        /// By combination: the set, where such keys may come.
        sets: Box<[Option<SetId>]>,
        /// By combination: its keys alone, found when first asked for.
        only: Box<[OnceLock<Option<Chosen>>]>,
    },
}

impl OtherInfo {
    /// The set of the value of a key that ends at `at`.
    pub(crate) fn set(&self, at: At) -> Option<SetId> {
        match (&self.values, at) {
            (Values::One(set), _) => Some(*set),
            (Values::ByKey { chosen, sets, .. }, At::Language(state)) => {
                sets.get(chosen.combination(state)).copied().flatten()
            }
            (Values::ByKey { .. }, _) => None,
        }
    }

    /// The combination of a key that ends at `at`, if such keys may come.
    pub(crate) fn combination(&self, at: At) -> Option<usize> {
        match (&self.values, at) {
            (Values::One(_), _) => Some(0),
            (Values::ByKey { chosen, sets, .. }, At::Language(state)) => {
                let combination = chosen.combination(state);
                sets.get(combination)?.map(|_| combination)
            }
            (Values::ByKey { .. }, _) => None,
        }
    }

    /// The combinations of keys that may come, with the sets of their values.
    pub(crate) fn combinations(&self) -> impl Iterator<Item = (usize, SetId)> + '_ {
        let sets = match &self.values {
            Values::One(set) => std::slice::from_ref(set).iter().map(|set| Some(*set)).collect(),
            Values::ByKey { sets, .. } => sets.to_vec(),
        };
        sets.into_iter().enumerate().filter_map(|(index, set)| Some((index, set?)))
    }

    /// One more than the largest combination.
    pub(crate) fn combinations_len(&self) -> usize {
        match &self.values {
            Values::One(_) => 1,
            Values::ByKey { sets, .. } => sets.len(),
        }
    }

    /// The keys, where they are not free.
    pub(crate) fn chosen(&self) -> Option<&Chosen> {
        self.keys.chosen.as_ref()
    }

    /// Those of one combination.
    pub(crate) fn only(&self, combination: usize) -> Option<&Chosen> {
        let Values::ByKey { chosen, only, .. } = &self.values else { return None };
        only.get(combination)?.get_or_init(|| chosen.only(combination)).as_ref()
    }

    /// Those that are read as `string`.
    pub(crate) fn read_as(&self, string: StringId) -> &Keys {
        let some = self.kinds.iter().flat_map(Kinds::unions);
        some.into_iter().find(|keys| keys.string == string).unwrap_or(&self.keys)
    }

    /// Whether there are more keys than `some`, whatever has come.
    pub(crate) fn outnumbers(&self, some: u64) -> bool {
        let all = self.kinds.iter().flat_map(Kinds::unions).chain([&self.keys]);
        all.filter_map(|keys| keys.chosen.as_ref()).all(|chosen| chosen.outnumbers(some))
    }
}

/// A set of objects, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) struct ObjectInfo {
    /// In declared order.
    pub(crate) names: Arc<[NameInfo]>,
    /// The other keys; `None` where there are none.
    pub(crate) other: Option<OtherInfo>,
    pub(crate) required: u32,
    /// By position in the declared order: the first required name from there on, or the length.
    next_required: Box<[u32]>,
    /// By position: the first name from there on that is not forbidden, or the length.
    next_allowed: Box<[u32]>,
    /// Names that are not forbidden.
    pub(crate) allowed: u32,
    order: Order,
    /// What it asks of its members together, if anything.
    pub(super) members: Option<Box<MemberInfo>>,
}

impl ObjectInfo {
    /// `strings` gets the language of its other keys, where they have one; `free` is any string.
    pub(crate) fn new(
        sets: &Sets,
        id: ObjectId,
        emptiness: &Emptiness,
        order: Order,
        strings: &mut Vec<Strings>,
        free: StringId,
    ) -> ObjectInfo {
        let (shape, keys, demands) = (sets.object(id), sets.other_keys(id), sets.demands(id));
        let is_empty = |name: usize| emptiness.is_empty(shape.names[name].set);
        let needs = |name| demands.as_ref().map_or(&[][..], |demands| demands.needs(name));
        let names = shape.names.iter().enumerate().map(|(index, name)| NameInfo {
            text: name.text.clone(),
            set: name.set,
            required: name.required,
            forbidden: is_empty(index) || needs(index).iter().any(|&need| is_empty(need as usize)),
        });
        let names: Arc<[NameInfo]> = names.collect();
        let next = |wanted: &dyn Fn(&NameInfo) -> bool| -> Box<[u32]> {
            let mut next = vec![names.len() as u32; names.len() + 1];
            for (index, name) in names.iter().enumerate().rev() {
                next[index] = if wanted(name) { index as u32 } else { next[index + 1] };
            }
            next.into()
        };
        let count = |wanted: &dyn Fn(&NameInfo) -> bool| {
            names.iter().filter(|name| wanted(name)).count() as u32
        };
        let members = demands.map(|mut demands| {
            demands.narrow(|set| !emptiness.is_empty(set));
            let ways = sets.member_ways(id);
            Box::new(MemberInfo::new(demands, shape, &names, ways, emptiness, order))
        });
        let other = match keys {
            None => {
                let open = !shape.closed && !emptiness.is_empty(shape.other);
                let keys = Keys { string: free, chosen: None };
                let values = Values::One(shape.other);
                open.then_some(OtherInfo { keys, kinds: None, values })
            }
            Some(keys) => {
                let inhabited = |set: &Option<SetId>| set.filter(|&set| !emptiness.is_empty(set));
                let sets: Box<[_]> = keys.sets.iter().map(inhabited).collect();
                let mut read = |allowed: &dyn Fn(usize) -> bool| {
                    let chosen =
                        keys.joint.restrict(|index| sets[index].is_some() && allowed(index))?;
                    let string = StringId::new(strings.len());
                    strings.push(Strings::Language(chosen.language().clone()));
                    Some(Keys { string, chosen: Some(chosen) })
                };
                let all = read(&|_| true);
                let kinds = members.as_ref().and_then(|of| {
                    let come = (0..sets.len()).filter(|&index| sets[index].is_some());
                    Kinds::new(of, come, &mut read)
                });
                let only = sets.iter().map(|_| OnceLock::new()).collect();
                all.and_then(|keys| {
                    let values = Values::ByKey { chosen: keys.chosen.clone()?, sets, only };
                    Some(OtherInfo { keys, kinds, values })
                })
            }
        };
        ObjectInfo {
            next_required: next(&|name| name.required),
            next_allowed: next(&|name| !name.forbidden),
            required: count(&|name| name.required),
            allowed: count(&|name| !name.forbidden),
            members,
            other,
            names,
            order,
        }
    }

    /// The other keys, where it has rules for them.
    pub(crate) fn chosen(&self) -> Option<&Chosen> {
        self.other.as_ref()?.chosen()
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    /// In declared order, the first required name at `position` or behind, or the length.
    pub(crate) fn next_required(&self, position: u32) -> u32 {
        self.next_required[position as usize]
    }

    /// In declared order, the names that may come next: from the first allowed one up to the next
    /// required one, that included.
    pub(crate) fn window(&self, position: u32) -> std::ops::Range<u32> {
        let last = self.next_required(position).saturating_add(1).min(self.names.len() as u32);
        self.next_allowed[position as usize].min(last)..last
    }
}
