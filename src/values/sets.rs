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
use super::unique::UniqueArrays;
use crate::base::{ByteSet, Finding, Interner, Route, define_id};
use crate::error::{Error, Result};
use crate::language::{Alphabet, Chosen, Factor, Format, Joint, LanguageLimit};
use crate::options::{Escapes, Options};
use crate::schema::{
    Body, DocId, JsonId, JsonRef, Keyword, Kw, NodeId, Place, Role, Schema, Status,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

/// Sets nest in the complements of others no deeper.
const MOST_NESTED: u32 = 100;

/// One conjunct of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Node(Place),
    Literal(DocId, JsonId),
    /// What is not in the set.
    Not(SetId),
    /// What is in one of the sets.
    Union(UnionId),
    Never,
}

define_id!(
    /// An interned list of sets, ascending, whose union is meant.
    UnionId
);

impl Term {
    pub(super) fn node(&self) -> Option<NodeId> {
        match self {
            Term::Node(place) => Some(place.node),
            _ => None,
        }
    }
}

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
        UniqueArrays::limit(&mut sets);
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

/// The state of [`Sets::compile`].
pub(super) struct Builder<'o> {
    pub(super) schema: Arc<Schema>,
    pub(super) options: &'o Options,
    pub(super) drafts: FxHashMap<(Place, How), Arc<Draft>>,
    set_drafts: FxHashMap<(SetId, Position), Arc<Draft>>,
    /// From how deep it was looked at, and whether it is empty.
    pub(super) plainly_empty: FxHashMap<SetId, (u32, bool)>,
    /// Subschemas of keys whose drafts are being made.
    pub(super) open_keys: FxHashSet<Place>,
    /// How deep sets are nested in complements just now.
    nesting: u32,
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
    unions: Interner<Box<[SetId]>>,
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
    node_sets: Vec<(NodeId, SetId)>,
    known_nodes: FxHashSet<Place>,
    pub(super) widened: Vec<Widened>,
    /// Keywords that met a limit.
    known_limits: FxHashSet<(NodeId, usize, &'static str)>,
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

    /// The subschemas that a set speaks of.
    pub(super) fn nodes_of(&self, id: SetId) -> Vec<NodeId> {
        self.term_nodes(self.terms.get(id.index()))
    }

    /// The set of a subschema that stands for a value of its own.
    pub(super) fn node_set(&mut self, place: Place) -> SetId {
        let set = self.conjunct(place);
        if self.known_nodes.insert(place) {
            self.node_sets.push((place.node, set));
        }
        set
    }

    /// The set of a subschema. One that only refers to another is that other.
    fn conjunct(&mut self, place: Place) -> SetId {
        let schema = self.schema.clone();
        let mut place = place;
        loop {
            let keywords = match &schema.node(place.node).body {
                Body::Boolean(true) => return SetId::ANY,
                Body::Boolean(false) => return SetId::NEVER,
                Body::Keywords(keywords) => keywords,
            };
            let mut asserting = keywords.iter().filter(|k| asserts(k));
            let only = match (asserting.next(), asserting.next()) {
                (None, _) => return SetId::ANY,
                (Some(only), None) => only,
                _ => return self.intern(Box::from([Term::Node(place)])),
            };
            match only.kw {
                Some(Kw::Ref | Kw::DynamicRef | Kw::RecursiveRef) => {
                    match schema.scopes().target(&schema, place, only) {
                        Some(target) => place = target,
                        None => return SetId::ANY,
                    }
                }
                _ => return self.intern(Box::from([Term::Node(place)])),
            }
        }
    }

    /// The set that holds one literal value.
    pub(super) fn literal_set(&mut self, doc: DocId, value: JsonRef<'_>) -> SetId {
        self.intern(Box::from([Term::Literal(doc, value.id())]))
    }

    /// The conjunction of two sets, `a` mentioned first.
    pub(super) fn join_sets(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::ANY || a == SetId::NEVER {
            return a;
        }
        if a == SetId::ANY || b == SetId::NEVER {
            return b;
        }
        let (first, second) = (self.terms.get(a.index()), self.terms.get(b.index()));
        let mut terms = first.to_vec();
        terms.extend(second.iter().filter(|term| !first.contains(term)));
        let contradicts = |term: &Term| {
            let Term::Not(negated) = term else { return false };
            self.terms.get(negated.index()).iter().all(|term| terms.contains(term))
        };
        if terms.iter().any(contradicts) {
            return SetId::NEVER;
        }
        self.intern(terms.into())
    }

    /// The complement of a set.
    pub(super) fn negated(&mut self, set: SetId) -> SetId {
        match (set, &self.terms.get(set.index())[..]) {
            (SetId::ANY, _) => SetId::NEVER,
            (SetId::NEVER, _) => SetId::ANY,
            (_, [Term::Not(negated)]) => *negated,
            (_, &[Term::Union(union)]) => {
                let sets = self.unions.get(union.index()).clone();
                let negated: Vec<SetId> = sets.iter().map(|&set| self.negated(set)).collect();
                negated.into_iter().fold(SetId::ANY, |all, set| self.join_sets(all, set))
            }
            _ => self.intern(Box::from([Term::Not(set)])),
        }
    }

    /// The union of two sets.
    pub(super) fn union_sets(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::NEVER || a == SetId::ANY {
            return a;
        }
        if a == SetId::NEVER || b == SetId::ANY {
            return b;
        }
        let mut sets = Vec::new();
        for set in [a, b] {
            match self.terms.get(set.index())[..] {
                [Term::Union(union)] => sets.extend_from_slice(self.unions.get(union.index())),
                _ => sets.push(set),
            }
        }
        sets.sort_unstable();
        sets.dedup();
        let union = UnionId::new(self.unions.intern(sets.into()).0);
        self.intern(Box::from([Term::Union(union)]))
    }

    fn intern(&mut self, terms: Box<[Term]>) -> SetId {
        SetId::new(self.terms.intern(terms).0)
    }

    /// Records that a keyword met a limit and is enforced only in part, or not at all.
    pub(super) fn widen(&mut self, node: NodeId, index: usize, limit: &'static str) {
        if !self.known_limits.insert((node, index, limit)) {
            return;
        }
        self.widened.push(Widened {
            node,
            index,
            route: Route::MaskCheck,
            reason: format!("the limit `{limit}` was met: the mask leaves it out in places"),
            limit: Some(limit),
            position: None,
        });
    }

    /// The shapes of a conjunction.
    fn expand(&mut self, id: SetId) -> Result<Set> {
        let draft = self.set_draft(id, Position::Positive)?;
        let terms = self.terms.get(id.index()).clone();
        self.intern_draft((*draft).clone(), &terms)
    }

    /// The draft of a conjunction.
    pub(super) fn set_draft(&mut self, id: SetId, position: Position) -> Result<Arc<Draft>> {
        if let Some(known) = self.set_drafts.get(&(id, position)) {
            return Ok(known.clone());
        }
        let terms = self.terms.get(id.index()).clone();
        if self.nesting == MOST_NESTED {
            self.widen_terms(&terms, "value_sets", |_| true);
            return Ok(Arc::new(match position {
                Position::Positive => Draft::any(),
                Position::Negative => Draft::never(),
            }));
        }
        self.nesting += 1;
        let all = self.meet_terms(&terms, position);
        self.nesting -= 1;
        let all = all?;
        self.set_drafts.insert((id, position), all.clone());
        Ok(all)
    }

    fn meet_terms(&mut self, terms: &[Term], position: Position) -> Result<Arc<Draft>> {
        let mut all: Option<Arc<Draft>> = None;
        for term in terms {
            let draft = self.term_draft(term, position)?;
            let Some(before) = all.take() else {
                all = Some(draft);
                continue;
            };
            let mut both = (*before).clone();
            if !self.try_meet(&mut both, &draft) {
                for node in self.term_nodes(std::slice::from_ref(term)) {
                    self.widen_node(node);
                }
                if position == Position::Negative {
                    both = Draft::never();
                }
            }
            all = Some(Arc::new(both));
        }
        let mut all = all.unwrap_or_else(|| Arc::new(Draft::any()));
        if all.waits() {
            let mut made = (*all).clone();
            if !self.make_complements(&mut made, position)? {
                self.widen_terms(terms, "set_shapes", |kw| {
                    matches!(kw, Kw::Not | Kw::OneOf | Kw::If)
                });
            }
            all = Arc::new(made);
        }
        Ok(all)
    }

    fn term_draft(&mut self, term: &Term, position: Position) -> Result<Arc<Draft>> {
        Ok(match *term {
            Term::Never => Arc::new(Draft::never()),
            Term::Literal(doc, value) => {
                let schema = self.schema.clone();
                Arc::new(self.literals(doc, [schema.document(doc).value(value)]))
            }
            Term::Node(place) => self.draft(place, How::plain(position))?,
            Term::Not(set) => {
                let inner = self.set_draft(set, position.flip())?;
                let left = self.difference(&Draft::any(), &inner);
                Arc::new(left.unwrap_or_else(|| {
                    for node in self.term_nodes(std::slice::from_ref(term)) {
                        self.widen_node(node);
                    }
                    match position {
                        Position::Positive => Draft::any(),
                        Position::Negative => Draft::never(),
                    }
                }))
            }
            Term::Union(union) => {
                let sets = self.unions.get(union.index()).clone();
                let drafts: Result<Vec<Arc<Draft>>> =
                    sets.iter().map(|&set| self.set_draft(set, position)).collect();
                Arc::new(Draft::union(drafts?.iter().map(|draft| &**draft)))
            }
        })
    }

    /// Whether a set is one string, at most.
    pub(super) fn is_one_string(&self, set: SetId) -> bool {
        self.one_string(set).is_some()
    }

    /// The string that a set is at most, where a constant makes it so.
    pub(super) fn one_string(&self, set: SetId) -> Option<Box<str>> {
        let text = |term: &Term| -> Option<Box<str>> {
            let value = match *term {
                Term::Literal(doc, value) => self.schema.document(doc).value(value),
                Term::Node(place) => {
                    self.schema.value(self.schema.node(place.node).active(Kw::Const)?)
                }
                _ => return None,
            };
            value.as_str().map(Box::from)
        };
        self.terms.get(set.index()).iter().find_map(text)
    }

    /// Whether `const` or `enum` leaves a set a few strings at most.
    pub(super) fn is_few_strings(&self, set: SetId) -> bool {
        const FEW: usize = 64;
        let is_string = |value: JsonRef<'_>| value.as_str().is_some();
        self.terms.get(set.index()).iter().any(|term| match *term {
            Term::Literal(doc, value) => is_string(self.schema.document(doc).value(value)),
            Term::Node(place) => {
                let node = self.schema.node(place.node);
                let value = |kw| node.active(kw).map(|keyword| self.schema.value(keyword));
                value(Kw::Const).is_some_and(is_string)
                    || value(Kw::Enum).is_some_and(|values| {
                        values.items().take(FEW + 1).count() <= FEW && values.items().all(is_string)
                    })
            }
            _ => false,
        })
    }

    /// A whole conjunct is left out of one set: none of its keywords is enforced everywhere.
    pub(super) fn widen_node(&mut self, node: NodeId) {
        self.widen_closure(node, "set_shapes", |_| true);
    }

    /// Marks those keywords of a subschema, and of those that apply in place, that `wanted` names.
    pub(super) fn widen_closure(
        &mut self,
        node: NodeId,
        limit: &'static str,
        wanted: impl Fn(Kw) -> bool,
    ) {
        let schema = self.schema.clone();
        for node in self.in_place_closure(node) {
            for (index, keyword) in schema.node(node).keywords().iter().enumerate() {
                if asserts(keyword) && keyword.kw.is_some_and(&wanted) {
                    self.widen(node, index, limit);
                }
            }
        }
    }

    /// The same for all the subschemas of `terms`, complements and unions included.
    pub(super) fn widen_terms(
        &mut self,
        terms: &[Term],
        limit: &'static str,
        wanted: impl Fn(Kw) -> bool + Copy,
    ) {
        for node in self.term_nodes(terms) {
            self.widen_closure(node, limit, wanted);
        }
    }

    /// The subschemas of `terms`, complements and unions included.
    pub(super) fn term_nodes(&self, terms: &[Term]) -> Vec<NodeId> {
        nodes_of(&self.terms, &self.unions, terms)
    }

    /// `node` and every subschema that applies in place below it.
    pub(super) fn in_place_closure(&self, node: NodeId) -> Vec<NodeId> {
        let (mut closure, mut next) = (vec![node], 0);
        while next < closure.len() {
            for child in self.in_place(closure[next]) {
                if !closure.contains(&child) {
                    closure.push(child);
                }
            }
            next += 1;
        }
        closure
    }

    /// The id of a number shape; `None` where the number form spells none of its numbers.
    fn intern_number(&mut self, shape: NumberShape, terms: &[Term]) -> Option<NumberId> {
        let (shape, partial) = shape.take_partial();
        if partial {
            for node in terms.iter().filter_map(Term::node) {
                self.widen_closure(node, "multiple_digits", |kw| {
                    matches!(kw, Kw::MultipleOf | Kw::Not)
                });
            }
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
            objects.push(self.intern_object(object, terms));
        }
        Ok(Set { literals: draft.literals, numbers, strings, arrays, objects })
    }

    fn intern_array(&mut self, mut array: ArrayShape, terms: &[Term]) -> ArrayId {
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

/// The subschemas of `terms`, complements and unions included.
fn nodes_of(
    all: &Interner<Box<[Term]>>,
    unions: &Interner<Box<[SetId]>>,
    terms: &[Term],
) -> Vec<NodeId> {
    let (mut nodes, mut known) = (Vec::new(), FxHashSet::default());
    let mut open: Vec<Term> = terms.iter().rev().copied().collect();
    while let Some(term) = open.pop() {
        let sets: &[SetId] = match &term {
            Term::Node(place) => {
                nodes.push(place.node);
                &[]
            }
            Term::Not(set) => std::slice::from_ref(set),
            Term::Union(union) => unions.get(union.index()),
            Term::Literal(..) | Term::Never => &[],
        };
        for set in sets.iter().filter(|set| known.insert(**set)) {
            open.extend(all.get(set.index()).iter().rev());
        }
    }
    nodes
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

/// Whether a keyword is active and can narrow a set.
fn asserts(keyword: &Keyword) -> bool {
    keyword.status == Status::Active && keyword.kw.is_some_and(narrows)
}

/// Whether a keyword can narrow a set.
pub(super) fn narrows(kw: Kw) -> bool {
    matches!(kw.spec().role, Role::Assertion | Role::Applicator | Role::Reference)
        || matches!(kw, Kw::ContentEncoding | Kw::ContentMediaType)
}
