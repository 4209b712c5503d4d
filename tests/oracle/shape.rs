//! Sets of values: a *conjunction* is a list of nodes that a value satisfies together. It expands to
//! *shapes*, one for each type and each way to choose branches; empty ones are removed.

use super::lex::Pending;
use super::schema::{self, Constraint, NEVER, NodeId, Schema};
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

/// Numbers: these texts alone, or all in plain form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NumberSet {
    Texts(BTreeSet<Vec<u8>>),
    Integers,
    Numbers,
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
    /// The values of other keys.
    pub free: Option<ConjId>,
}

/// One way to choose a branch of each `anyOf`: the constraints in order of traversal.
#[derive(Clone)]
struct Alternative {
    constraints: Vec<(NodeId, usize)>,
    taken: BTreeMap<(NodeId, usize), usize>,
    types: u8,
}

/// A schema's sets, found out as they are asked for.
pub struct Sets {
    schema: Schema,
    pub texts: Texts,
    conjunctions: RefCell<Vec<Vec<NodeId>>>,
    conjunction_ids: RefCell<HashMap<Vec<NodeId>, ConjId>>,
    raw: RefCell<HashMap<ConjId, Rc<Vec<Shape>>>>,
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
                set.free = set.free.filter(|&conj| self.possible(conj));
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

    /// The shapes of a conjunction before it is known which members are possible.
    fn raw(&self, conjunction: ConjId) -> Rc<Vec<Shape>> {
        if let Some(known) = self.raw.borrow().get(&conjunction) {
            return known.clone();
        }
        let nodes = self.conjunctions.borrow()[conjunction as usize].clone();
        let start =
            Alternative { constraints: Vec::new(), taken: BTreeMap::new(), types: schema::ALL };
        let mut alternatives = vec![start];
        for node in nodes {
            alternatives = self.add_node(alternatives, node, &mut Vec::new());
        }
        let shapes: BTreeSet<Shape> = alternatives.iter().flat_map(|a| self.shapes_of(a)).collect();
        let shapes = Rc::new(shapes.into_iter().collect::<Vec<_>>());
        self.raw.borrow_mut().insert(conjunction, shapes.clone());
        shapes
    }

    /// Adds what `node` demands. A node inside itself, with nothing between, has no value.
    fn add_node(
        &self,
        from: Vec<Alternative>,
        node: NodeId,
        path: &mut Vec<NodeId>,
    ) -> Vec<Alternative> {
        if path.contains(&node) {
            return Vec::new();
        }
        path.push(node);
        let mut all = from;
        for (index, constraint) in self.schema.nodes[node].iter().enumerate() {
            match constraint {
                Constraint::AllOf(nodes) => {
                    for &inner in nodes {
                        all = self.add_node(all, inner, path);
                    }
                }
                Constraint::AnyOf(nodes) => {
                    let place = (node, index);
                    let (mut done, fresh): (Vec<_>, Vec<_>) =
                        all.into_iter().partition(|a| a.taken.contains_key(&place));
                    for (branch, &inner) in nodes.iter().enumerate() {
                        let mut some = fresh.clone();
                        for alternative in &mut some {
                            alternative.taken.insert(place, branch);
                        }
                        done.extend(self.add_node(some, inner, path));
                    }
                    all = done;
                }
                other => {
                    for alternative in &mut all {
                        if let Constraint::Types(types) = other {
                            alternative.types &= types;
                        }
                        if !alternative.constraints.contains(&(node, index)) {
                            alternative.constraints.push((node, index));
                        }
                    }
                    all.retain(|a| a.types != 0);
                }
            }
        }
        path.pop();
        all
    }

    fn shapes_of(&self, alternative: &Alternative) -> Vec<Shape> {
        let all: Vec<&Constraint> =
            alternative.constraints.iter().map(|&(node, i)| &self.schema.nodes[node][i]).collect();
        let has = |bits: u8| alternative.types & bits != 0;
        let mut shapes = Vec::new();
        if has(schema::NULL) {
            shapes.push(Shape::Null);
        }
        if has(schema::BOOL) {
            let literal = |c: &&&Constraint| matches!(c, Constraint::Bool(_));
            let fits = |b: bool| {
                all.iter().filter(literal).all(|c| matches!(c, Constraint::Bool(x) if *x == b))
            };
            shapes.extend([false, true].into_iter().filter(|&b| fits(b)).map(Shape::Bool));
        }
        if has(schema::INTEGER | schema::FRACTION) {
            shapes.extend(number_set(&all, !has(schema::FRACTION)).map(Shape::Number));
        }
        if has(schema::TEXT) {
            shapes.extend(self.text_set(&all).map(Shape::Text));
        }
        if has(schema::ARRAY) {
            shapes.push(Shape::Array(self.array_set(&all)));
        }
        if has(schema::OBJECT) {
            shapes.push(Shape::Object(self.object_set(&all)));
        }
        shapes
    }

    fn text_set(&self, all: &[&Constraint]) -> Option<TextSet> {
        let (mut min, mut max) = (0, None);
        let mut machines = BTreeSet::new();
        let mut finite: Option<BTreeSet<String>> = None;
        for constraint in all {
            match constraint {
                Constraint::Length { min: low, max: high } => {
                    min = min.max(*low);
                    max = [max, *high].into_iter().flatten().min();
                }
                Constraint::Machine(machine) => drop(machines.insert(*machine)),
                Constraint::Texts(texts) => {
                    let known = finite.unwrap_or_else(|| texts.clone());
                    finite = Some(known.intersection(texts).cloned().collect());
                }
                _ => {}
            }
        }
        let open = TextSet::Open { machines: machines.into_iter().collect(), min, max };
        if let Some(finite) = finite {
            let kept = self.texts.filter(finite, &open);
            return (!kept.is_empty()).then_some(TextSet::Finite(kept));
        }
        let possible = max.is_none_or(|max| min <= max)
            && self.texts.live(&open, &self.texts.start(&open), Pending::None, false);
        possible.then_some(open)
    }

    fn array_set(&self, all: &[&Constraint]) -> ArraySet {
        let (mut min, mut max, mut width) = (0, None, 0);
        for constraint in all {
            match constraint {
                Constraint::Items { min: low, max: high } => {
                    min = min.max(*low);
                    max = [max, *high].into_iter().flatten().min();
                }
                Constraint::Prefix(nodes) => width = width.max(nodes.len()),
                Constraint::Rest(from, _) => width = width.max(*from),
                _ => {}
            }
        }
        let item = |index: usize| {
            let nodes: Vec<NodeId> = all
                .iter()
                .filter_map(|constraint| match constraint {
                    Constraint::Prefix(nodes) => nodes.get(index).copied(),
                    Constraint::Rest(from, node) => (index >= *from).then_some(*node),
                    _ => None,
                })
                .collect();
            self.conjunction(&nodes)
        };
        ArraySet { prefix: (0..width).map(item).collect(), rest: item(width), min, max }
    }

    fn object_set(&self, all: &[&Constraint]) -> ObjectSet {
        let mut order: Vec<&String> = Vec::new();
        let mut required = BTreeSet::new();
        // Literal members first, then properties, then names that are only required.
        for rank in 0..3 {
            for constraint in all {
                match constraint {
                    Constraint::Members(members) if rank == 0 => {
                        order.extend(members.iter().map(|m| &m.0))
                    }
                    Constraint::Properties(members) if rank == 1 => {
                        order.extend(members.iter().map(|m| &m.0))
                    }
                    Constraint::Required(names) if rank == 2 => {
                        order.extend(names);
                        required.extend(names.iter().cloned());
                    }
                    _ => {}
                }
            }
        }
        let mut mentioned = BTreeSet::new();
        order.retain(|&name| mentioned.insert(name));
        let value = |key: Option<&String>| {
            let nodes: Vec<NodeId> = all
                .iter()
                .filter_map(|constraint| match constraint {
                    Constraint::Members(members) | Constraint::Properties(members) => {
                        members.iter().find(|m| Some(&m.0) == key).map(|m| m.1)
                    }
                    Constraint::Additional { known, schema } => {
                        (!key.is_some_and(|key| known.contains(key))).then_some(*schema)
                    }
                    _ => None,
                })
                .collect();
            Some(self.conjunction(&nodes))
        };
        let names = order.into_iter().map(|name| (name.clone(), value(Some(name)))).collect();
        ObjectSet { names, required, free: value(None) }
    }
}

fn number_set(all: &[&Constraint], integer_only: bool) -> Option<NumberSet> {
    let mut values = all.iter().filter_map(|constraint| match constraint {
        Constraint::Number(value) => Some(value),
        _ => None,
    });
    let Some(value) = values.next() else {
        return Some(if integer_only { NumberSet::Integers } else { NumberSet::Numbers });
    };
    if values.any(|other| other != value) || integer_only && !value.is_integer() {
        return None;
    }
    Some(NumberSet::Texts(value.texts(integer_only)))
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
        _ => true,
    };
    sized && needed.into_iter().all(known)
}
