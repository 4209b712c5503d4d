//! From constraints to shapes: branches chosen, keywords of one type joined.

use super::schema::{self, Constraint, NodeId};
use super::shape::{ArraySet, ConjId, NumberSet, ObjectSet, Sets, Shape};
use super::solver::Rules;
use super::text::TextSet;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// One way to choose a branch of each `anyOf`: the constraints in order of traversal.
#[derive(Clone)]
struct Alternative {
    constraints: Vec<(NodeId, usize)>,
    taken: BTreeMap<(NodeId, usize), usize>,
    types: u8,
}

impl Sets {
    /// The shapes of a conjunction before it is known which members are possible.
    pub(super) fn raw(&self, conjunction: ConjId) -> Rc<Vec<Shape>> {
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
                Constraint::Machines(some) => machines.extend(some.iter().copied()),
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
        self.texts.is_possible(&open).then_some(open)
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
        // Names that a keyword declares, by properties or by a literal, in the order of the
        // keywords; then names that are only required.
        for rank in 0..2 {
            for constraint in all {
                match constraint {
                    Constraint::Members(members) | Constraint::Properties(members) if rank == 0 => {
                        order.extend(members.iter().map(|m| &m.0))
                    }
                    Constraint::Required(names) if rank == 1 => {
                        order.extend(names);
                        required.extend(names.iter().cloned());
                    }
                    _ => {}
                }
            }
        }
        let mut mentioned = BTreeSet::new();
        order.retain(|&name| mentioned.insert(name));
        let keys = self.key_texts(all);
        let named = |name: &String| {
            let possible = keys.iter().any(|set| self.texts.contains(set, name));
            let matches = |machine| self.texts.contains(&TextSet::of(machine), name);
            possible.then(|| self.value_of(all, Some(name), &matches))
        };
        let names = order.into_iter().map(|name| (name.clone(), named(name))).collect();
        let mut others: Vec<(TextSet, ConjId)> = Vec::new();
        let closed = all.iter().any(|constraint| matches!(constraint, Constraint::Closed));
        for (set, holding) in self.key_kinds(all, keys) {
            if closed && !opens(all, &holding) {
                continue;
            }
            others.push((set, self.value_of(all, None, &|machine| holding.contains(&machine))));
        }
        ObjectSet { names, required, others }
    }

    /// The conjunction of the values of a key, which the machines of `matches` accept.
    fn value_of(
        &self,
        all: &[&Constraint],
        name: Option<&String>,
        matches: &dyn Fn(usize) -> bool,
    ) -> ConjId {
        let mut nodes: Vec<NodeId> = Vec::new();
        for constraint in all {
            match constraint {
                Constraint::Members(members) | Constraint::Properties(members) => {
                    nodes.extend(members.iter().find(|m| Some(&m.0) == name).map(|m| m.1));
                }
                Constraint::Patterns(patterns) => {
                    let holding = patterns.iter().filter(|(machine, _)| matches(*machine));
                    nodes.extend(holding.map(|(_, node)| *node));
                }
                Constraint::Additional { known, patterns, schema } => {
                    let known = name.is_some_and(|name| known.contains(name));
                    if !known && !patterns.iter().any(|&machine| matches(machine)) {
                        nodes.push(*schema);
                    }
                }
                _ => {}
            }
        }
        self.conjunction(&nodes)
    }

    /// The strings that all constraints on keys allow, as a union.
    fn key_texts(&self, all: &[&Constraint]) -> Vec<TextSet> {
        let start =
            Alternative { constraints: Vec::new(), taken: BTreeMap::new(), types: schema::ALL };
        let mut alternatives = vec![start];
        for constraint in all {
            if let Constraint::KeyNames(node) = constraint {
                alternatives = self.add_node(alternatives, *node, &mut Vec::new());
            }
        }
        let text = |alternative: &Alternative| {
            let parts = &alternative.constraints;
            let all: Vec<_> = parts.iter().map(|&(node, i)| &self.schema.nodes[node][i]).collect();
            self.text_set(&all).filter(|_| alternative.types & schema::TEXT != 0)
        };
        alternatives.iter().filter_map(text).collect()
    }

    /// The keys of `sets`, taken apart by the patterns that accept them: each kind that has any,
    /// with the machines of its patterns.
    fn key_kinds(&self, all: &[&Constraint], sets: Vec<TextSet>) -> Vec<(TextSet, Vec<usize>)> {
        let mut machines = BTreeSet::new();
        for constraint in all {
            match constraint {
                Constraint::Patterns(patterns) => machines.extend(patterns.iter().map(|p| p.0)),
                Constraint::Additional { patterns, .. } => machines.extend(patterns),
                _ => {}
            }
        }
        let mut kinds: Vec<(TextSet, Vec<usize>)> =
            sets.into_iter().map(|set| (set, Vec::new())).collect();
        for machine in machines {
            let mut split = Vec::new();
            for (set, holding) in kinds {
                let with = [holding.as_slice(), &[machine]].concat();
                split.extend(self.texts.and(&set, machine).map(|set| (set, with)));
                // The machine behind it is that of all other strings.
                split.extend(self.texts.and(&set, machine + 1).map(|set| (set, holding)));
            }
            kinds = split;
        }
        kinds
    }
}

/// Whether a pattern lets keys come that the policy would not.
fn opens(all: &[&Constraint], holding: &[usize]) -> bool {
    all.iter().any(|constraint| match constraint {
        Constraint::Patterns(patterns) => patterns.iter().any(|(p, _)| holding.contains(p)),
        _ => false,
    })
}

fn number_set(all: &[&Constraint], integer: bool) -> Option<NumberSet> {
    let mut rules = Rules { integer, ..Rules::default() };
    for constraint in all {
        match constraint {
            // Several values hold at once only if they are one.
            Constraint::Number(value) if rules.values.iter().any(|other| other != value) => {
                return None;
            }
            Constraint::Number(value) => rules.values = vec![value.clone()],
            Constraint::Low(at, open) => rules.low.push((at.clone(), *open)),
            Constraint::High(at, open) => rules.high.push((at.clone(), *open)),
            Constraint::Multiple(of) => rules.multiples.push(of.clone()),
            _ => {}
        }
    }
    rules.is_possible().then_some(NumberSet(rules))
}
