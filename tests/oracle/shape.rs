//! Sets of values: a *conjunction* is a list of nodes that a value satisfies together. It expands to
//! *shapes*, one for each type and each way to choose branches; empty ones are removed.

use super::number;
use super::schema::{NEVER, NodeId, Schema};
use super::solver::Rules;
use super::text::{TextSet, Texts};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// An interned conjunction.
pub type ConjId = u32;
/// An interned shape.
pub type ShapeId = u32;

/// Values of one type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    Null,
    Bool(bool),
    Number(NumberSet),
    Text(TextSet),
    Array(ArraySet),
    Object(ObjectSet),
}

/// Numbers that fulfil all rules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberSet(pub Rules);

impl NumberSet {
    /// The texts of a value in the plain form.
    fn texts(&self, any: bool) -> Option<BTreeSet<Vec<u8>>> {
        let value = self.0.values.first().filter(|_| !any)?;
        Some(value.texts(self.0.integer))
    }

    /// Nothing but the type restricts it.
    fn is_free(&self) -> bool {
        self.0 == Rules { integer: self.0.integer, ..Rules::default() }
    }

    /// Whether a number of the set begins with `text`.
    pub fn live(&self, text: &[u8], any: bool) -> bool {
        match self.texts(any) {
            Some(texts) => texts.iter().any(|t| t.starts_with(text)),
            None if any || !self.is_free() => self.0.live(text, any),
            None if self.0.integer => number::integer_live(text),
            None => number::number_live(text),
        }
    }

    /// Whether `text` is a number of the set.
    pub fn complete(&self, text: &[u8], any: bool) -> bool {
        match self.texts(any) {
            Some(texts) => texts.contains(text),
            None if any || !self.is_free() => self.0.complete(text, any),
            None if self.0.integer => number::integer_complete(text),
            None => number::number_complete(text),
        }
    }
}

/// Arrays. Where the shape is not raw, each item up to `max` is possible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArraySet {
    pub prefix: Vec<ConjId>,
    pub rest: ConjId,
    pub min: u64,
    pub max: Option<u64>,
}

impl ArraySet {
    pub fn item(&self, index: u64) -> ConjId {
        usize::try_from(index).ok().and_then(|i| self.prefix.get(i)).copied().unwrap_or(self.rest)
    }
}

/// Objects. Where the shape is not raw, what is impossible is `None`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectSet {
    /// The declared names in their order.
    pub names: Vec<(String, Option<ConjId>)>,
    pub required: BTreeSet<String>,
    /// Other keys, each kind with the values that it has.
    pub others: Vec<(TextSet, ConjId)>,
}

/// A schema's sets, found out as they are asked for.
pub struct Sets {
    pub(super) schema: Schema,
    pub texts: Texts,
    pub(super) conjunctions: RefCell<Vec<Vec<NodeId>>>,
    conjunction_ids: RefCell<HashMap<Vec<NodeId>, ConjId>>,
    pub(super) raw: RefCell<HashMap<ConjId, Rc<Vec<Shape>>>>,
    possible: RefCell<HashMap<ConjId, bool>>,
    shapes: RefCell<Vec<Rc<Shape>>>,
    shape_ids: RefCell<BTreeMap<Rc<Shape>, ShapeId>>,
    expanded: RefCell<HashMap<ConjId, Rc<Vec<ShapeId>>>>,
}

impl Sets {
    pub fn new(schema: Schema, texts: Texts) -> Sets {
        Sets {
            schema,
            texts,
            conjunctions: RefCell::default(),
            conjunction_ids: RefCell::default(),
            raw: RefCell::default(),
            possible: RefCell::default(),
            shapes: RefCell::default(),
            shape_ids: RefCell::default(),
            expanded: RefCell::default(),
        }
    }

    /// The conjunction of these nodes; the first mention of each counts, nodes without constraints do not.
    pub fn conjunction(&self, nodes: &[NodeId]) -> ConjId {
        let mut list = Vec::new();
        for &node in nodes {
            if !self.schema.nodes[node].is_empty() && !list.contains(&node) {
                list.push(node);
            }
        }
        if list.contains(&NEVER) {
            list = vec![NEVER];
        }
        *self.conjunction_ids.borrow_mut().entry(list.clone()).or_insert_with(|| {
            let mut all = self.conjunctions.borrow_mut();
            all.push(list);
            (all.len() - 1) as ConjId
        })
    }

    pub fn shape(&self, id: ShapeId) -> Rc<Shape> {
        self.shapes.borrow()[id as usize].clone()
    }

    /// The non-empty shapes of a conjunction.
    pub fn shapes(&self, conjunction: ConjId) -> Rc<Vec<ShapeId>> {
        if let Some(known) = self.expanded.borrow().get(&conjunction) {
            return known.clone();
        }
        let mut ids = BTreeSet::new();
        for shape in self.raw(conjunction).iter() {
            if let Some(shape) = self.refine(shape) {
                ids.insert(self.intern(shape));
            }
        }
        let ids = Rc::new(ids.into_iter().collect::<Vec<_>>());
        self.expanded.borrow_mut().insert(conjunction, ids.clone());
        ids
    }

    fn intern(&self, shape: Shape) -> ShapeId {
        let shape = Rc::new(shape);
        *self.shape_ids.borrow_mut().entry(shape.clone()).or_insert_with(|| {
            let mut all = self.shapes.borrow_mut();
            all.push(shape);
            (all.len() - 1) as ShapeId
        })
    }

    /// The shape with what is impossible taken out; `None` where it is empty.
    fn refine(&self, shape: &Shape) -> Option<Shape> {
        let mut shape = shape.clone();
        match &mut shape {
            Shape::Array(set) => {
                let bound = first_impossible(set, |conj| self.possible(conj));
                set.max = [set.max, bound].into_iter().flatten().min();
                set.max.is_none_or(|max| set.min <= max).then_some(shape)
            }
            Shape::Object(set) => {
                for (_, value) in &mut set.names {
                    *value = value.filter(|&conj| self.possible(conj));
                }
                set.others.retain(|(_, conj)| self.possible(*conj));
                let missing =
                    set.names.iter().any(|(n, v)| v.is_none() && set.required.contains(n));
                (!missing).then_some(shape)
            }
            _ => Some(shape),
        }
    }

    /// Whether some value satisfies the conjunction: the least fixpoint over all that it reaches.
    pub fn possible(&self, conjunction: ConjId) -> bool {
        if let Some(&known) = self.possible.borrow().get(&conjunction) {
            return known;
        }
        let mut found = BTreeMap::new();
        let mut open = vec![conjunction];
        while let Some(conj) = open.pop() {
            if self.possible.borrow().contains_key(&conj) || found.contains_key(&conj) {
                continue;
            }
            let shapes = self.raw(conj);
            shapes.iter().for_each(|shape| children(shape, &mut open));
            found.insert(conj, shapes);
        }
        let mut proven = BTreeSet::new();
        loop {
            let before = proven.len();
            for (&conj, shapes) in &found {
                let known = |conj| {
                    proven.contains(&conj) || self.possible.borrow().get(&conj) == Some(&true)
                };
                if shapes.iter().any(|shape| satisfiable(shape, known)) {
                    proven.insert(conj);
                }
            }
            if proven.len() == before {
                break;
            }
        }
        let answers = found.into_keys().map(|conj| (conj, proven.contains(&conj)));
        self.possible.borrow_mut().extend(answers);
        proven.contains(&conjunction)
    }
}

/// The index of the first item that no value fits.
fn first_impossible(set: &ArraySet, possible: impl Fn(ConjId) -> bool) -> Option<u64> {
    let index = set.prefix.iter().position(|&conj| !possible(conj));
    let rest = || (!possible(set.rest)).then_some(set.prefix.len());
    index.or_else(rest).map(|index| index as u64)
}

/// The conjunctions on which it depends whether the shape has a value.
fn children(shape: &Shape, found: &mut Vec<ConjId>) {
    match shape {
        Shape::Array(set) => {
            let within = set.prefix.iter().zip(0..set.min).map(|(&conj, _)| conj);
            found.extend(within);
            if set.min > set.prefix.len() as u64 {
                found.push(set.rest);
            }
        }
        Shape::Object(set) => {
            let needed = set.names.iter().filter(|(name, _)| set.required.contains(name));
            found.extend(needed.filter_map(|(_, value)| *value));
        }
        _ => {}
    }
}

fn satisfiable(shape: &Shape, known: impl Fn(ConjId) -> bool) -> bool {
    let mut needed = Vec::new();
    children(shape, &mut needed);
    let sized = match shape {
        Shape::Array(set) => set.max.is_none_or(|max| set.min <= max),
        Shape::Object(set) => {
            !set.names.iter().any(|(n, v)| v.is_none() && set.required.contains(n))
        }
        _ => true,
    };
    sized && needed.into_iter().all(known)
}
