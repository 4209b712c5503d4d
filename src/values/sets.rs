//! The value sets that a schema's root can reach: built once, read only afterwards.

use super::draft::{Draft, How};
use super::finish_items::ItemPlan;
use super::finish_members::Demands;
use super::keys::OtherKeys;
use super::numbers::NumberShape;
use super::shape::{
    ArrayId, ArrayShape, FactorId, ItemWays, MemberWays, NumberId, ObjectId, ObjectShape, Position,
    Set, SetId, StringId, StringShape, Strings,
};
use super::strings::CompiledString;
use super::terms::{Term, nodes_of};
use super::unique::UniqueArrays;
use crate::base::{ByteSet, Finding, Interner, Route};
use crate::error::{Error, Result};
use crate::language::{Alphabet, Chosen, Factor, Format, Joint, LanguageLimit};
use crate::options::{Escapes, Options};
use crate::schema::{Kw, NodeId, Place, Schema};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

/// A keyword that the mask does not enforce, or not wholly, and why.
#[derive(Clone, Debug)]
pub(crate) struct Widened {
    pub(crate) node: NodeId,
    /// Which keyword of the node.
    pub(crate) index: usize,
    pub(crate) route: Route,
    pub(crate) reason: String,
    /// The limit that was met.
    pub(crate) limit: Option<&'static str>,
    /// Where it stands in this position; `None`: in any.
    pub(crate) position: Option<Position>,
}

/// The value sets of one schema.
#[derive(Debug)]
pub(crate) struct Sets {
    root: SetId,
    terms: Interner<Box<[Term]>>,
    unions: Interner<Box<[SetId]>>,
    /// By [`SetId`]; `None` for conjunctions that were met on the way but that nothing reaches.
    sets: Vec<Option<Set>>,
    numbers: Interner<NumberShape>,
    strings: Interner<StringShape>,
    compiled_strings: Vec<CompiledString>,
    arrays: Interner<ArrayShape>,
    objects: Interner<ObjectShape>,
    /// By [`ObjectId`]: what its rules make of keys.
    other_keys: Vec<Option<OtherKeys>>,
    /// By [`ArrayId`]: the ways of its items, where it counts them.
    item_ways: Vec<Option<ItemWays>>,
    /// By [`ObjectId`]: the ways of its members, where some must satisfy a constraint.
    member_ways: Vec<Option<MemberWays>>,
    node_sets: Vec<(NodeId, SetId)>,
    pub(super) unique: UniqueArrays,
    widened: Vec<Widened>,
    findings: Vec<Finding>,
}

impl Sets {
    /// Builds every set that the root of `schema` reaches.
    ///
    /// # Errors
    /// `invalid-pattern`; `limit` where `value_sets` is passed.
    pub(crate) fn compile(schema: Arc<Schema>, options: &Options) -> Result<Sets> {
        let mut builder = Builder::new(schema, options);
        let root = builder.schema.scopes().root(&builder.schema);
        let root = builder.node_set(root);
        builder.survey(root)?;
        let unique = builder.settle_unique();
        let mut sets = builder.finish(root, unique);
        UniqueArrays::limit(&mut sets, options.policy.order);
        Ok(sets)
    }

    pub(crate) fn root(&self) -> SetId {
        self.root
    }

    /// The shapes of a set that the root reaches; others have none.
    pub(crate) fn get(&self, id: SetId) -> &Set {
        const NONE: &Set = &Set {
            literals: super::Literals::NONE,
            numbers: Vec::new(),
            strings: Vec::new(),
            arrays: Vec::new(),
            objects: Vec::new(),
        };
        self.sets.get(id.index()).and_then(Option::as_ref).unwrap_or(NONE)
    }

    /// The ids of all reachable sets, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = SetId> + '_ {
        let reached = self.sets.iter().enumerate().filter(|(_, set)| set.is_some());
        reached.map(|(index, _)| SetId::new(index))
    }

    /// One more than the largest set id.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    pub(crate) fn number(&self, id: NumberId) -> &NumberShape {
        self.numbers.get(id.index())
    }

    pub(crate) fn number_count(&self) -> usize {
        self.numbers.len()
    }

    /// The strings of a shape under the full alphabet.
    pub(crate) fn strings(&self, id: StringId) -> &Strings {
        const NONE: &Strings = &Strings::Free { min: 1, max: Some(0) };
        self.compiled_strings[id.index()].strings.as_ref().unwrap_or(NONE)
    }

    pub(crate) fn string_count(&self) -> usize {
        self.strings.len()
    }

    pub(crate) fn array(&self, id: ArrayId) -> &ArrayShape {
        self.arrays.get(id.index())
    }

    pub(crate) fn array_count(&self) -> usize {
        self.arrays.len()
    }

    pub(crate) fn object(&self, id: ObjectId) -> &ObjectShape {
        self.objects.get(id.index())
    }

    /// What the rules of a shape make of the keys that it does not name; `None` where it has none.
    pub(crate) fn other_keys(&self, id: ObjectId) -> Option<&OtherKeys> {
        self.other_keys[id.index()].as_ref()
    }

    /// The ways of the items of a shape that counts them; `None` for others.
    pub(crate) fn item_ways(&self, id: ArrayId) -> Option<&ItemWays> {
        self.item_ways[id.index()].as_ref()
    }

    /// The most items of an array whose items must differ, where the mask sees to that.
    pub(crate) fn unique_most(&self, id: ArrayId) -> Option<u64> {
        self.unique.most(id)
    }

    /// What the strings of a language can become that are items which must differ.
    pub(crate) fn unique_string(&self, id: StringId) -> Option<&Chosen> {
        self.unique.string(id)
    }

    /// The plan by which an array that counts its items is finished; `None` for others.
    pub(crate) fn item_plan(
        &self,
        id: ArrayId,
        usable: impl Fn(SetId) -> bool,
    ) -> Option<ItemPlan> {
        let (mut shape, ways) = (Cow::Borrowed(self.array(id)), self.item_ways(id)?);
        if let Some(most) = self.unique_most(id) {
            let shape = shape.to_mut();
            shape.max = Some(shape.max.map_or(most, |max| max.min(most)));
        }
        Some(ItemPlan::new(&shape, ways, usable))
    }

    /// The ways of the members of a shape of which some must satisfy a constraint; `None` for others.
    pub(crate) fn member_ways(&self, id: ObjectId) -> Option<&MemberWays> {
        self.member_ways[id.index()].as_ref()
    }

    /// What a shape asks of its members together; `None` for those whose members are taken one by one.
    pub(crate) fn demands(&self, id: ObjectId) -> Option<Demands> {
        Demands::new(self.object(id), self.other_keys(id), self.member_ways(id))
    }

    pub(crate) fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// The keywords that are not enforced, or not wholly.
    pub(crate) fn widened(&self) -> &[Widened] {
        &self.widened
    }

    /// Routes keywords that turn out not to be enforced.
    pub(super) fn widen(&mut self, more: Vec<Widened>) {
        self.widened.extend(more);
    }

    /// What a reader of the schema should know about its patterns.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Each subschema that stands for a value of its own (the root, members, items), with its set.
    pub(crate) fn node_sets(&self) -> &[(NodeId, SetId)] {
        &self.node_sets
    }

    /// The subschemas that a set is made of, complements included.
    pub(crate) fn nodes(&self, id: SetId) -> impl Iterator<Item = NodeId> + '_ {
        nodes_of(&self.terms, &self.unions, self.terms.get(id.index())).into_iter()
    }

    /// Whether the root reaches a set.
    pub(crate) fn is_reached(&self, id: SetId) -> bool {
        self.sets.get(id.index()).is_some_and(Option::is_some)
    }

    /// The sets of the members and items that a set speaks of.
    pub(crate) fn children(&self, set: &Set) -> Vec<SetId> {
        let mut children = Vec::new();
        for &id in &set.arrays {
            let array = self.array(id);
            children.extend(array.prefix.iter().copied());
            children.push(array.rest);
            children.extend(self.item_ways(id).into_iter().flat_map(ItemWays::sets));
        }
        for &id in &set.objects {
            children.extend(self.object(id).names.iter().map(|name| name.set));
            children.extend(self.other_sets(id));
            children.extend(self.member_ways(id).into_iter().flat_map(MemberWays::sets));
        }
        children
    }

    /// The sets of the values of keys that an object does not name.
    pub(crate) fn other_sets(&self, id: ObjectId) -> impl Iterator<Item = SetId> + '_ {
        other_sets(self.object(id), self.other_keys(id))
    }
}

/// One of so many steps may be taken by second attempts.
const SECOND: usize = 8;

/// The state of [`Sets::compile`].
pub(super) struct Builder<'o> {
    pub(super) schema: Arc<Schema>,
    pub(super) options: &'o Options,
    pub(super) drafts: FxHashMap<(Place, How), Arc<Draft>>,
    pub(super) set_drafts: FxHashMap<(SetId, Position), Arc<Draft>>,
    /// From how deep it was looked at, and whether it is empty.
    pub(super) plainly_empty: FxHashMap<SetId, (u32, bool)>,
    /// Subschemas of keys whose drafts are being made.
    pub(super) open_keys: FxHashSet<Place>,
    /// Steps of work that are left.
    pub(super) steps: usize,
    /// Those of them that second attempts may take, where combining sets at once met a limit.
    pub(super) second_steps: usize,
    /// How deep sets are nested in complements just now.
    pub(super) nesting: u32,
    /// How deep plain emptiness looks just now.
    pub(super) depth: u32,
    pub(super) terms: Interner<Box<[Term]>>,
    sets: Vec<Option<Set>>,
    pub(super) numbers: Interner<NumberShape>,
    pub(super) strings: Interner<StringShape>,
    pub(super) compiled_strings: Vec<CompiledString>,
    arrays: Interner<ArrayShape>,
    objects: Interner<ObjectShape>,
    other_keys: Vec<Option<OtherKeys>>,
    item_ways: Vec<Option<ItemWays>>,
    member_ways: Vec<Option<MemberWays>>,
    pub(super) unions: Interner<Box<[SetId]>>,
    /// By pattern text or format name.
    pub(super) factor_ids: FxHashMap<(Kw, Box<str>), FactorId>,
    pub(super) factors: Vec<Arc<Factor>>,
    /// Those that were made from literal values.
    pub(super) literal_factors: FxHashSet<FactorId>,
    /// By their ids: languages read at once.
    pub(super) joints: FxHashMap<Box<[FactorId]>, std::result::Result<Arc<Joint>, LanguageLimit>>,
    /// The formats among them.
    pub(super) format_ids: FxHashMap<FactorId, &'static Format>,
    pub(super) alphabet: Arc<Alphabet>,
    /// Subschemas that stand for a value of their own, with their sets.
    pub(super) node_sets: Vec<(NodeId, SetId)>,
    pub(super) known_nodes: FxHashSet<Place>,
    pub(super) widened: Vec<Widened>,
    /// Keywords that met a limit.
    pub(super) known_limits: FxHashSet<(NodeId, usize, &'static str)>,
    pub(super) findings: Vec<Finding>,
}

impl<'o> Builder<'o> {
    fn new(schema: Arc<Schema>, options: &'o Options) -> Self {
        let mut terms = Interner::default();
        terms.intern(Box::from([]));
        terms.intern(Box::from([Term::Never]));
        Builder {
            schema,
            options,
            drafts: FxHashMap::default(),
            set_drafts: FxHashMap::default(),
            plainly_empty: FxHashMap::default(),
            open_keys: FxHashSet::default(),
            steps: options.limits.set_steps,
            second_steps: options.limits.set_steps / SECOND,
            nesting: 0,
            depth: 0,
            terms,
            sets: Vec::new(),
            numbers: Interner::default(),
            strings: Interner::default(),
            compiled_strings: Vec::new(),
            arrays: Interner::default(),
            objects: Interner::default(),
            other_keys: Vec::new(),
            item_ways: Vec::new(),
            member_ways: Vec::new(),
            unions: Interner::default(),
            factor_ids: FxHashMap::default(),
            factors: Vec::new(),
            literal_factors: FxHashSet::default(),
            joints: FxHashMap::default(),
            format_ids: FxHashMap::default(),
            alphabet: Alphabet::shared(ByteSet::FULL, options.policy.escapes == Escapes::Minimal),
            node_sets: Vec::new(),
            known_nodes: FxHashSet::default(),
            widened: Vec::new(),
            known_limits: FxHashSet::default(),
            findings: Vec::new(),
        }
    }

    fn finish(self, root: SetId, unique: UniqueArrays) -> Sets {
        Sets {
            root,
            terms: self.terms,
            unions: self.unions,
            sets: self.sets,
            numbers: self.numbers,
            strings: self.strings,
            compiled_strings: self.compiled_strings,
            arrays: self.arrays,
            objects: self.objects,
            other_keys: self.other_keys,
            item_ways: self.item_ways,
            member_ways: self.member_ways,
            node_sets: self.node_sets,
            unique,
            widened: self.widened,
            findings: self.findings,
        }
    }

    /// Expands `root` and every set that it reaches.
    fn survey(&mut self, root: SetId) -> Result<()> {
        let limit = self.options.limits.value_sets;
        let mut queue = vec![root];
        while let Some(id) = queue.pop() {
            if self.sets.len() < self.terms.len() {
                self.sets.resize(self.terms.len(), None);
            }
            if self.sets[id.index()].is_some() {
                continue;
            }
            let set = self.expand(id)?;
            for &array in &set.arrays {
                let ways = self.item_ways[array.index()].as_ref();
                queue.extend(ways.into_iter().flat_map(ItemWays::sets));
                let array = self.arrays.get(array.index());
                queue.extend(array.prefix.iter().copied());
                queue.push(array.rest);
            }
            for &object in &set.objects {
                let ways = self.member_ways[object.index()].as_ref();
                queue.extend(ways.into_iter().flat_map(MemberWays::sets));
                let keys = self.other_keys[object.index()].as_ref();
                let object = self.objects.get(object.index());
                queue.extend(object.names.iter().map(|name| name.set));
                queue.extend(other_sets(object, keys));
            }
            self.sets[id.index()] = Some(set);
            if self.terms.len() > limit / 2 {
                // Combinations of subschemas are left out before the error comes.
                self.steps = 0;
            }
            if self.terms.len() > limit {
                let mut nodes = self.terms.get(id.index()).iter().filter_map(Term::node);
                let term = nodes.next().map(|node| self.schema.location(node));
                let error = Error::limit_met("value_sets", limit, "the number of value sets");
                return Err(error.at(term.unwrap_or_else(|| "#".into())));
            }
        }
        self.sets.resize(self.terms.len(), None);
        Ok(())
    }

    pub(super) fn expanded_sets(&self) -> impl Iterator<Item = SetId> + use<> {
        let reached = self.sets.iter().enumerate().filter(|(_, set)| set.is_some());
        reached.map(|(index, _)| SetId::new(index)).collect::<Vec<_>>().into_iter()
    }

    /// The shapes of a set that was expanded.
    pub(super) fn expanded(&self, id: SetId) -> Option<&Set> {
        self.sets.get(id.index())?.as_ref()
    }

    pub(super) fn array_shape(&self, id: ArrayId) -> &ArrayShape {
        self.arrays.get(id.index())
    }

    pub(super) fn object_shape(&self, id: ObjectId) -> &ObjectShape {
        self.objects.get(id.index())
    }

    pub(super) fn number_shape(&self, id: NumberId) -> &NumberShape {
        self.numbers.get(id.index())
    }

    pub(super) fn ways_of(&self, id: ArrayId) -> Option<&ItemWays> {
        self.item_ways[id.index()].as_ref()
    }

    /// The sets of an object's members.
    pub(super) fn member_sets(&self, id: ObjectId) -> Vec<SetId> {
        let (shape, keys) = (self.object_shape(id), self.other_keys[id.index()].as_ref());
        let ways = self.member_ways[id.index()].as_ref();
        let names = shape.names.iter().map(|name| name.set).chain(other_sets(shape, keys));
        names.chain(ways.into_iter().flat_map(MemberWays::sets)).collect()
    }

    /// The subschemas that a set speaks of.
    pub(super) fn nodes_of(&self, id: SetId) -> Vec<NodeId> {
        self.term_nodes(self.terms.get(id.index()))
    }

    /// The shapes of a conjunction.
    fn expand(&mut self, id: SetId) -> Result<Set> {
        let draft = self.set_draft(id, Position::Positive)?;
        let terms = self.terms.get(id.index()).clone();
        self.intern_draft((*draft).clone(), &terms)
    }

    /// The id of a number shape; `None` where the number form spells none of its numbers.
    fn intern_number(&mut self, shape: NumberShape, terms: &[Term]) -> Option<NumberId> {
        let (shape, partial) = shape.take_partial();
        if partial {
            let of_multiples = |kw| matches!(kw, Kw::MultipleOf | Kw::Not | Kw::OneOf | Kw::If);
            self.widen_terms(terms, "multiple_digits", of_multiples);
        }
        let shape = shape.spelled(self.options.policy.numbers)?;
        Some(NumberId::new(self.numbers.intern(shape).0))
    }

    fn intern_draft(&mut self, draft: Draft, terms: &[Term]) -> Result<Set> {
        let strings =
            draft.strings.into_iter().filter_map(|s| self.intern_string(s, terms)).collect();
        let numbers =
            draft.numbers.into_iter().filter_map(|n| self.intern_number(n, terms)).collect();
        let arrays = draft.arrays.into_iter().map(|a| self.intern_array(a, terms)).collect();
        let mut objects = Vec::with_capacity(draft.objects.len());
        for mut object in draft.objects {
            self.resolve_key_nodes(&mut object, Position::Positive)?;
            self.mention_names(&mut object);
            for object in self.split_some(object) {
                objects.push(self.intern_object(object, terms));
            }
        }
        Ok(Set { literals: draft.literals, numbers, strings, arrays, objects })
    }

    fn intern_array(&mut self, mut array: ArrayShape, terms: &[Term]) -> ArrayId {
        if std::mem::take(&mut array.repeats) {
            self.leave_out_repeats(terms);
        }
        let ways = self.make_item_ways(&mut array, terms);
        let (index, new) = self.arrays.intern(array);
        if new {
            self.item_ways.push(ways);
        }
        ArrayId::new(index)
    }

    fn intern_object(&mut self, mut object: ObjectShape, terms: &[Term]) -> ObjectId {
        self.mention_names(&mut object);
        let mut keys = self.other_keys(&mut object, terms);
        self.bound_members(&mut object, keys.as_mut(), terms);
        let ways = self.make_member_ways(&mut object, keys.as_ref(), terms);
        let (index, new) = self.objects.intern(object);
        if new {
            self.other_keys.push(keys);
            self.member_ways.push(ways);
        }
        ObjectId::new(index)
    }
}

/// The sets of the values of keys that an object does not name.
fn other_sets<'a>(
    object: &'a ObjectShape,
    keys: Option<&'a OtherKeys>,
) -> impl Iterator<Item = SetId> + 'a {
    let free = (keys.is_none() && !object.closed).then_some(object.other);
    let ruled = keys.into_iter().flat_map(|keys| keys.sets.iter().copied().flatten());
    free.into_iter().chain(ruled)
}
