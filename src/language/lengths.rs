//! Exact lengths: at how many further characters a state can accept.
//!
//! Layer 0 holds the accepting states, layer n + 1 the states with a one-character step into
//! layer n. Layers of a finite automaton are ultimately periodic, so finitely many say all. For
//! each state the layers that hold it are kept as runs.

use super::automaton::{LangState, LanguageLimit};
use super::graph::backward;
use fixedbitset::FixedBitSet;

/// Edges looked at while layers are made, at most.
const FUEL: usize = 60_000_000;
/// Runs kept, at most.
const MAX_RUNS: usize = 2_000_000;

/// Where one character leads.
#[derive(Debug)]
pub(super) struct CharGraph {
    /// From a state between characters: one whole character. Otherwise: the rest of one.
    targets: Vec<Vec<u32>>,
    boundary: FixedBitSet,
}

impl CharGraph {
    pub(super) fn new(states: usize) -> Self {
        CharGraph {
            targets: vec![Vec::new(); states],
            boundary: FixedBitSet::with_capacity(states),
        }
    }

    /// Adds the targets of `state`. A state that stands both between and inside characters (a
    /// loop over any byte) behaves alike in both, and counts as between.
    pub(super) fn add(&mut self, state: u32, boundary: bool, targets: impl Iterator<Item = u32>) {
        let state = state as usize;
        if self.boundary.contains(state) && !boundary {
            return;
        }
        if boundary && !self.boundary.put(state) {
            self.targets[state].clear();
        }
        self.targets[state].extend(targets);
        self.targets[state].sort_unstable();
        self.targets[state].dedup();
    }

    /// The states from which an accepting one can be reached.
    pub(super) fn reachable(&self, accepts: &FixedBitSet) -> FixedBitSet {
        backward(
            self.targets.len(),
            |q| self.boundary.contains(q) && accepts.contains(q),
            |q, visit| self.targets[q].iter().for_each(|&to| visit(to as usize)),
        )
    }

    /// The layer after `layer`.
    fn next_layer(&self, layer: &FixedBitSet) -> FixedBitSet {
        let mut next = FixedBitSet::with_capacity(self.targets.len());
        for q in self.boundary.ones() {
            next.set(q, self.targets[q].iter().any(|&to| layer.contains(to as usize)));
        }
        next
    }

    fn first_layer(&self, accepts: &FixedBitSet) -> FixedBitSet {
        let mut layer = accepts.clone();
        layer.grow(self.targets.len());
        layer.intersect_with(&self.boundary);
        layer
    }

    fn edges(&self) -> usize {
        self.boundary.ones().map(|q| self.targets[q].len() + 1).sum()
    }

    /// For states inside characters, where the rest of the character leads.
    fn into_rests(self) -> Vec<Box<[u32]>> {
        let boundary = self.boundary;
        let rests = self.targets.into_iter().enumerate();
        rests
            .map(|(q, targets)| if boundary.contains(q) { Box::default() } else { targets.into() })
            .collect()
    }
}

#[derive(Debug)]
pub(super) struct Lengths {
    /// Layers from here on repeat with the period; there is none where `period` is 0.
    preperiod: u64,
    period: u64,
    /// How many layers are kept.
    layers: u64,
    /// For each state between characters the runs of layers that hold it: inclusive, ascending.
    runs: Vec<Box<[(u64, u64)]>>,
    /// For each state inside a character the states at its end: it is in their layers.
    rests: Vec<Box<[u32]>>,
    /// The first layer that holds each state; none holds it where this is `u64::MAX`.
    first: Vec<u64>,
    /// The last of these layers.
    last_first: u64,
    /// The last layer that holds a state which no later one holds.
    last_end: u64,
}

impl Lengths {
    /// The layers of `graph` up to `max`, or until they repeat.
    ///
    /// # Errors
    /// `language_states`, where they do not repeat within the fuel.
    pub(super) fn new(
        graph: CharGraph,
        accepts: &FixedBitSet,
        max: Option<u64>,
    ) -> Result<Lengths, LanguageLimit> {
        let mut builder = Runs::new(accepts.len());
        let mut layer = graph.first_layer(accepts);
        // Brent's search for a cycle: `saved` is the layer of the last power of two.
        let (mut saved, mut saved_at, mut n) = (layer.clone(), 0u64, 0u64);
        let (edges, mut fuel) = (graph.edges(), FUEL);
        let (preperiod, period) = loop {
            builder.add(n, &layer)?;
            if max == Some(n) {
                break (n + 1, 0);
            }
            fuel = fuel.checked_sub(edges).ok_or(LanguageLimit::LENGTHS)?;
            layer = graph.next_layer(&layer);
            n += 1;
            if layer == saved {
                break (saved_at, n - saved_at);
            }
            if n.is_power_of_two() {
                (saved, saved_at) = (layer.clone(), n);
            }
        };
        let layers = if period == 0 { n + 1 } else { n };
        let (runs, rests) = (builder.finish(layers), graph.into_rests());
        let begin = |q: u32| runs[q as usize].first().map_or(u64::MAX, |&(start, _)| start);
        let first: Vec<u64> = (0u32..)
            .zip(&rests)
            .map(|(q, rest)| match &rest[..] {
                [] => begin(q),
                ends => ends.iter().map(|&end| begin(end)).min().unwrap_or(u64::MAX),
            })
            .collect();
        let last_first = first.iter().copied().filter(|&n| n != u64::MAX).max().unwrap_or(0);
        let ends = runs.iter().filter_map(|runs| runs.last().map(|&(_, end)| end));
        let last_end = ends.filter(|&end| period == 0 || end < preperiod).max().unwrap_or(0);
        Ok(Lengths { preperiod, period, layers, runs, rests, first, last_first, last_end })
    }

    /// If none, or one, must come: from how many possible further characters on their number makes
    /// no difference. Within so many each state accepts that ever does.
    pub(super) fn horizon(&self) -> u64 {
        self.last_first + 1
    }

    /// If any number may come: from how many necessary further characters on their number makes no
    /// difference. Those states that accept after so many accept after arbitrarily many.
    pub(super) fn floor(&self) -> u64 {
        self.last_end + 1
    }

    /// Whether `state` accepts after some number of characters in `low..=high`.
    #[inline]
    pub(super) fn any_in(&self, state: LangState, low: u64, high: u64) -> bool {
        if low == 0 {
            let first = self.first.get(state.0 as usize).copied().unwrap_or(u64::MAX);
            return first != u64::MAX && first <= high;
        }
        let any = |state: u32| {
            self.runs.get(state as usize).is_some_and(|runs| self.any_in_runs(runs, low, high))
        };
        match self.rests.get(state.0 as usize) {
            Some(rest) if !rest.is_empty() => rest.iter().any(|&end| any(end)),
            _ => any(state.0),
        }
    }

    fn any_in_runs(&self, runs: &[(u64, u64)], low: u64, high: u64) -> bool {
        if runs.is_empty() || low > high {
            return false;
        }
        if low < self.layers && any_run(runs, low, high.min(self.layers - 1)) {
            return true;
        }
        if self.period == 0 || high < self.layers {
            return false;
        }
        let low = low.max(self.layers);
        let fold = |n: u64| self.preperiod + (n - self.preperiod) % self.period;
        if high - low >= self.period - 1 {
            return any_run(runs, self.preperiod, self.layers - 1);
        }
        let (low, high) = (fold(low), fold(high));
        if low <= high {
            any_run(runs, low, high)
        } else {
            any_run(runs, low, self.layers - 1) || any_run(runs, self.preperiod, high)
        }
    }
}

impl Lengths {
    /// The least number of characters in `low..=high` after which `state` accepts.
    pub(super) fn first_in(&self, state: LangState, low: u64, high: u64) -> Option<u64> {
        let first = |state: u32| self.first_in_runs(self.runs.get(state as usize)?, low, high);
        match self.rests.get(state.0 as usize) {
            Some(rest) if !rest.is_empty() => rest.iter().filter_map(|&end| first(end)).min(),
            _ => first(state.0),
        }
    }

    fn first_in_runs(&self, runs: &[(u64, u64)], low: u64, high: u64) -> Option<u64> {
        if low < self.layers
            && let Some(n) = first_in_runs(runs, low, high.min(self.layers - 1))
        {
            return Some(n);
        }
        if self.period == 0 {
            return None;
        }
        // Beyond the layers kept: one period, from where `low` folds to.
        let low = low.max(self.layers);
        let folded = self.preperiod + (low - self.preperiod) % self.period;
        let last = self.layers - 1;
        let ahead = match first_in_runs(runs, folded, last) {
            Some(n) => n - folded,
            None => {
                let n = first_in_runs(runs, self.preperiod, folded)?;
                (n - self.preperiod) + (self.layers - folded)
            }
        };
        low.checked_add(ahead).filter(|&n| n <= high)
    }
}

/// The first layer of `low..=high` in some run.
fn first_in_runs(runs: &[(u64, u64)], low: u64, high: u64) -> Option<u64> {
    let &(start, _) = runs.get(runs.partition_point(|&(_, end)| end < low))?;
    Some(start.max(low)).filter(|&n| n <= high)
}

/// Whether some run meets `low..=high`.
#[inline]
fn any_run(runs: &[(u64, u64)], low: u64, high: u64) -> bool {
    let first = runs.partition_point(|&(_, end)| end < low);
    runs.get(first).is_some_and(|&(start, _)| start <= high)
}

/// Runs while layers come in ascending order.
struct Runs {
    runs: Vec<Vec<(u64, u64)>>,
    open: FixedBitSet,
    count: usize,
}

impl Runs {
    fn new(states: usize) -> Self {
        let open = FixedBitSet::with_capacity(states);
        Runs { runs: vec![Vec::new(); states], open, count: 0 }
    }

    fn add(&mut self, n: u64, layer: &FixedBitSet) -> Result<(), LanguageLimit> {
        for q in layer.difference(&self.open) {
            self.runs[q].push((n, n));
            self.count += 1;
        }
        for q in self.open.difference(layer) {
            if let Some(run) = self.runs[q].last_mut() {
                run.1 = n - 1;
            }
        }
        self.open = layer.clone();
        if self.count > MAX_RUNS { Err(LanguageLimit::LENGTHS) } else { Ok(()) }
    }

    fn finish(mut self, layers: u64) -> Vec<Box<[(u64, u64)]>> {
        for q in self.open.ones() {
            if let Some(run) = self.runs[q].last_mut() {
                run.1 = layers - 1;
            }
        }
        self.runs.into_iter().map(Vec::into_boxed_slice).collect()
    }
}
