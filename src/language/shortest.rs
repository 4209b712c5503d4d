//! The cheapest JSON spelling that completes a string: Dijkstra over (state of the language,
//! place in the spelling of a character).

use super::spell::{BOUNDARY, Cost, Spell, SpellEdge, SpellNode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// What can be read byte by byte.
pub(super) trait Readable {
    type State: Copy + Eq + Hash + Ord;

    /// Whether the text may end here, between characters.
    fn accepts(&self, state: Self::State) -> bool;

    /// States reached without a byte.
    fn epsilons(&self, state: Self::State, out: &mut Vec<Self::State>);

    /// States reached by bytes of `edge`, each with such a byte; `first`: the byte begins a
    /// character.
    fn read(
        &self,
        state: Self::State,
        edge: &SpellEdge,
        first: bool,
        out: &mut Vec<(u8, Self::State)>,
    );
}

/// Where the search begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<S> {
    pub(super) state: S,
    pub(super) node: SpellNode,
    pub(super) cost: Cost,
    /// The character that a pending escape became.
    pub(super) escaped: Option<char>,
}

/// The cheapest way to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found<S> {
    /// Where it ends.
    pub(super) state: S,
    pub(super) escaped: Option<char>,
    /// The bytes of the decoded text, from the origin on.
    pub(super) bytes: Vec<u8>,
}

/// Why nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is no way to the end.
    Nothing,
    /// The search took more steps than it may.
    Fuel,
}

struct Step<S> {
    state: S,
    node: SpellNode,
    /// Index of the step before, and the byte that led here.
    before: Option<u32>,
    byte: Option<u8>,
    escaped: Option<char>,
}

/// The cheapest text that is accepted from one of the origins, within `fuel` settled places.
pub(super) fn cheapest<R: Readable>(
    language: &R,
    spell: &Spell,
    origins: &[Origin<R::State>],
    fuel: usize,
) -> Result<Found<R::State>, Missing> {
    let mut search =
        Search { steps: Vec::new(), heap: BinaryHeap::new(), best: FxHashMap::default() };
    for origin in origins {
        let Origin { state, node, cost, escaped } = *origin;
        search.offer(cost, Step { state, node, before: None, byte: None, escaped });
    }
    let mut settled = FxHashSet::default();
    let (mut read, mut silent) = (Vec::new(), Vec::new());
    while let Some(Reverse((cost, index))) = search.heap.pop() {
        let Step { state, node, escaped, .. } = search.steps[index as usize];
        if !settled.insert((state, node)) {
            continue;
        }
        if node == BOUNDARY && language.accepts(state) {
            return Ok(search.trace(index));
        }
        if settled.len() > fuel {
            return Err(Missing::Fuel);
        }
        let before = Some(index);
        language.epsilons(state, &mut silent);
        for state in silent.drain(..) {
            search.offer(cost, Step { state, node, before, byte: None, escaped });
        }
        for edge in spell.edges(node) {
            language.read(state, edge, node == BOUNDARY, &mut read);
            for (byte, state) in read.drain(..) {
                let step = Step { state, node: edge.next, before, byte: Some(byte), escaped };
                search.offer(cost.plus(edge.cost), step);
            }
        }
    }
    Err(Missing::Nothing)
}

struct Search<S> {
    steps: Vec<Step<S>>,
    heap: BinaryHeap<Reverse<(Cost, u32)>>,
    best: FxHashMap<(S, SpellNode), Cost>,
}

impl<S: Copy + Eq + Hash> Search<S> {
    fn offer(&mut self, cost: Cost, step: Step<S>) {
        let key = (step.state, step.node);
        if self.best.get(&key).is_some_and(|&known| known <= cost) {
            return;
        }
        let Ok(index) = u32::try_from(self.steps.len()) else { return };
        self.best.insert(key, cost);
        self.steps.push(step);
        self.heap.push(Reverse((cost, index)));
    }

    fn trace(&self, mut index: u32) -> Found<S> {
        let Step { state, escaped, .. } = self.steps[index as usize];
        let mut bytes = Vec::new();
        loop {
            let step = &self.steps[index as usize];
            bytes.extend(step.byte);
            match step.before {
                Some(before) => index = before,
                None => break,
            }
        }
        bytes.reverse();
        Found { state, escaped, bytes }
    }
}
