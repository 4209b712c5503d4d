//! The eager product of several factors, asked for or excluded, or of one beside a length range:
//! explored completely, trimmed by backward liveness.

use super::alphabet::Alphabet;
use super::automaton::{Full, LangState, LanguageLimit};
use super::decode::TextState;
use super::factor::{backward, joint_classes};
use super::lengths::{CharGraph, Lengths};
use super::spell::{BOUNDARY, Spell, SpellEdge, SpellNode};
use super::stepped::Stepped;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::VecDeque;

const DEAD: u32 = u32::MAX;

/// A factor's place in a state where no continuation is in it any more.
const GONE: LangState = LangState(u32::MAX);

/// States inside characters for each between them that a product may have.
const INSIDE: usize = 10;

/// Bytes tried while the characters of all states are followed, at most.
const CHAR_FUEL: usize = 20_000_000;

/// A length range in code points: `min..=max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

impl Range {
    pub(super) const ANY: Range = Range { min: 0, max: None };

    pub(super) fn contains(self, count: u64) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }
}

#[derive(Debug)]
pub(super) struct Product {
    classes: [u8; 256],
    stride: usize,
    /// By state and class; [`DEAD`] where no continuation accepts.
    next: Vec<u32>,
    accepts: FixedBitSet,
    liveness: Liveness,
    range: Range,
    /// States from which no text leads out of the language, lengths aside.
    immortal: FixedBitSet,
    /// The accepting state that every text leads back to.
    universal: Option<u32>,
}

/// From which states, at which lengths, the language can still be met.
#[derive(Debug)]
enum Liveness {
    /// There is no length range.
    Reachable(FixedBitSet),
    Lengths(Lengths),
}

/// What each factor is in.
type Tuple = SmallVec<[LangState; 2]>;

/// Several factors read at once, explored.
#[derive(Debug)]
pub(super) struct Explored {
    classes: [u8; 256],
    stride: usize,
    pub(super) states: Vec<Tuple>,
    known: FxHashMap<Tuple, u32>,
    next: Vec<u32>,
    /// (state, place in a UTF-8 sequence), as far as reachable; the first is the start.
    pairs: Vec<(u32, SpellNode)>,
}

impl Product {
    /// The start state.
    pub(super) const START: LangState = LangState(0);

    /// Explores the product: of the `factors`, the first `wanted` are asked for, and the others
    /// excluded.
    ///
    /// # Errors
    /// `language_states`, where it has more than `max_states` states between characters or
    /// [`INSIDE`] times as many in all, or its lengths repeat too late.
    pub(super) fn new(
        factors: &[Stepped],
        wanted: usize,
        range: Range,
        alphabet: &Alphabet,
        max_states: usize,
    ) -> Result<Product, LanguageLimit> {
        let is_wanted = |index: usize| index < wanted;
        let explored = Explored::run(factors, max_states, |index, state| match state {
            GONE => !is_wanted(index),
            state => is_wanted(index) || !factors[index].is_universal(state),
        })?;
        let accepts = explored.each(|tuple| {
            let mut parts = tuple.iter().zip(factors).enumerate();
            parts.all(|(i, (&state, dfa))| accepts_in(dfa, state) == is_wanted(i))
        });
        Self::trimmed(&explored, accepts, range, alphabet)
    }

    /// No string at all.
    pub(super) fn empty() -> Product {
        Product {
            classes: [0; 256],
            stride: 1,
            next: vec![DEAD],
            accepts: FixedBitSet::with_capacity(1),
            liveness: Liveness::Reachable(FixedBitSet::with_capacity(1)),
            range: Range::ANY,
            immortal: FixedBitSet::with_capacity(1),
            universal: None,
        }
    }

    /// The part of `explored` from which one of the states that `accepts` holds can be reached.
    pub(super) fn trimmed(
        explored: &Explored,
        accepts: FixedBitSet,
        range: Range,
        alphabet: &Alphabet,
    ) -> Result<Product, LanguageLimit> {
        let mut product = Product {
            classes: explored.classes,
            stride: explored.stride,
            next: explored.next.clone(),
            accepts,
            liveness: Liveness::Reachable(FixedBitSet::new()),
            range,
            immortal: FixedBitSet::new(),
            universal: None,
        };
        let alive = product.trim(&explored.pairs);
        if range == Range::ANY && alphabet.is_full() {
            product.find_immortal(&explored.pairs);
            product.liveness = Liveness::Reachable(alive);
            return Ok(product);
        }
        let graph = product.char_graph(&explored.pairs, alphabet)?;
        product.liveness = if range == Range::ANY {
            Liveness::Reachable(graph.reachable(&product.accepts))
        } else {
            Liveness::Lengths(Lengths::new(graph, &product.accepts, range.max)?)
        };
        Ok(product)
    }

    pub(super) fn len(&self) -> usize {
        self.accepts.len()
    }

    /// Cuts the transitions into states from which nothing is accepted; the others.
    fn trim(&mut self, pairs: &[(u32, SpellNode)]) -> FixedBitSet {
        let accepts = &self.accepts;
        let alive_pairs = self.leading_to(pairs, |(state, node)| {
            node == BOUNDARY && accepts.contains(state as usize)
        });
        let mut alive = FixedBitSet::with_capacity(self.len());
        for i in alive_pairs.ones() {
            alive.insert(pairs[i].0 as usize);
        }
        for next in &mut self.next {
            if !alive.contains(*next as usize) {
                *next = DEAD;
            }
        }
        alive
    }

    /// Which of `pairs` lead to one that is a seed.
    fn leading_to(
        &self,
        pairs: &[(u32, SpellNode)],
        is_seed: impl Fn((u32, SpellNode)) -> bool,
    ) -> FixedBitSet {
        let utf8 = Spell::any_utf8();
        let index: FxHashMap<(u32, SpellNode), usize> =
            pairs.iter().copied().enumerate().map(|(i, pair)| (pair, i)).collect();
        backward(
            pairs.len(),
            |i| is_seed(pairs[i]),
            |i, visit| {
                let (state, node) = pairs[i];
                for edge in utf8.edges(node) {
                    self.each_next(state, edge.low, edge.high, |_, next| {
                        if let Some(&to) = index.get(&(next, edge.next)) {
                            visit(to);
                        }
                    });
                }
            },
        )
    }

    /// Finds the states that no text kills, and the one in which everything is accepted.
    fn find_immortal(&mut self, pairs: &[(u32, SpellNode)]) {
        let utf8 = Spell::any_utf8();
        let all = |(state, node): (u32, SpellNode), wanted: &dyn Fn(u32) -> bool| {
            let mut bytes = utf8.edges(node).iter().flat_map(|edge| edge.low..=edge.high);
            bytes.all(|byte| {
                let class = usize::from(self.classes[usize::from(byte)]);
                self.next.get(state as usize * self.stride + class).copied().is_some_and(wanted)
            })
        };
        let mortal = self.leading_to(pairs, |pair| !all(pair, &|next| next != DEAD));
        let mut immortal = FixedBitSet::with_capacity(self.len());
        immortal.insert_range(..);
        let mut moves = FixedBitSet::with_capacity(self.len());
        for (i, &(state, node)) in pairs.iter().enumerate() {
            if mortal.contains(i) {
                immortal.set(state as usize, false);
            }
            if !all((state, node), &|next| next == state) {
                moves.insert(state as usize);
            }
        }
        let stays = |&state: &usize| !moves.contains(state);
        self.universal = self.accepts.ones().find(stays).map(|state| state as u32);
        self.immortal = immortal;
    }

    /// Visits the distinct runs of transitions of `state` over `low..=high`: a byte of each run
    /// and where it leads.
    fn each_next(&self, state: u32, low: u8, high: u8, mut visit: impl FnMut(u8, u32)) {
        let row = state as usize * self.stride;
        let mut last = DEAD;
        for byte in low..=high {
            let class = usize::from(self.classes[usize::from(byte)]);
            let next = self.next.get(row + class).copied().unwrap_or(DEAD);
            if next != last && next != DEAD {
                visit(byte, next);
            }
            last = next;
        }
    }

    /// Where one spellable character leads from each state that stands between characters, and
    /// where the rest of one leads from each state inside a character.
    fn char_graph(
        &self,
        pairs: &[(u32, SpellNode)],
        alphabet: &Alphabet,
    ) -> Result<CharGraph, LanguageLimit> {
        let (spell, mut fuel) = (alphabet.spell(), CHAR_FUEL);
        let mut graph = CharGraph::new(self.len());
        let mut targets = FxHashSet::default();
        for &(state, node) in pairs {
            targets.clear();
            let mut stack = vec![(state, node)];
            let mut seen = FxHashSet::default();
            while let Some((from, place)) = stack.pop() {
                for edge in spell.edges(place) {
                    let width = usize::from(edge.high - edge.low) + 1;
                    fuel = fuel.checked_sub(width).ok_or(LanguageLimit::LENGTHS)?;
                    self.each_next(from, edge.low, edge.high, |_, next| {
                        if edge.next == BOUNDARY {
                            targets.insert(next);
                        } else if seen.insert((next, edge.next)) {
                            stack.push((next, edge.next));
                        }
                    });
                }
            }
            graph.add(state, node == BOUNDARY, targets.iter().copied());
        }
        Ok(graph)
    }

    #[inline]
    pub(super) fn step(&self, state: LangState, byte: u8) -> Option<LangState> {
        let class = usize::from(self.classes[usize::from(byte)]);
        match self.next.get(state.0 as usize * self.stride + class) {
            Some(&next) if next != DEAD => Some(LangState(next)),
            _ => None,
        }
    }

    pub(super) fn classes(&self) -> &[u8; 256] {
        &self.classes
    }

    #[inline]
    pub(super) fn accepts(&self, state: LangState) -> bool {
        self.accepts.contains(state.0 as usize)
    }

    /// Whether every continuation of `state` is accepted.
    #[inline]
    pub(super) fn is_universal(&self, state: LangState) -> bool {
        self.universal == Some(state.0)
    }

    /// Whether no text that follows `state` ends its life.
    #[inline]
    pub(super) fn never_dies(&self, state: LangState) -> bool {
        self.immortal.contains(state.0 as usize)
    }

    pub(super) fn range(&self) -> Range {
        self.range
    }

    #[inline]
    pub(super) fn live(&self, state: LangState, count: u64) -> bool {
        match &self.liveness {
            Liveness::Reachable(live) => live.contains(state.0 as usize),
            Liveness::Lengths(lengths) => {
                let Some(max) = self.range.max.map_or(Some(u64::MAX), |max| max.checked_sub(count))
                else {
                    return false;
                };
                lengths.any_in(state, self.range.min.saturating_sub(count), max)
            }
        }
    }

    /// From how many further characters on their number makes no difference, once the minimum is
    /// reached.
    pub(super) fn horizon(&self) -> u64 {
        match &self.liveness {
            Liveness::Reachable(_) => 0,
            Liveness::Lengths(lengths) => lengths.horizon(),
        }
    }

    /// From how many necessary characters on their number makes no difference, without a maximum.
    pub(super) fn floor(&self) -> u64 {
        match &self.liveness {
            Liveness::Reachable(_) => 0,
            Liveness::Lengths(lengths) => lengths.floor(),
        }
    }

    /// By state: the fewest bytes after which a state accepts; `u32::MAX` where none does.
    pub(super) fn distances(&self) -> Vec<u32> {
        let mut before = vec![Vec::new(); self.len()];
        for state in 0..self.len() as u32 {
            self.each_next(state, 0, 255, |_, next| before[next as usize].push(state));
        }
        let mut distances = vec![u32::MAX; self.len()];
        let mut queue: VecDeque<usize> = self.accepts.ones().collect();
        queue.iter().for_each(|&state| distances[state] = 0);
        while let Some(state) = queue.pop_front() {
            for &from in &before[state] {
                if distances[from as usize] == u32::MAX {
                    distances[from as usize] = distances[state] + 1;
                    queue.push_back(from as usize);
                }
            }
        }
        distances
    }

    /// The states that lead to no loop.
    pub(super) fn finite_states(&self) -> FixedBitSet {
        let mut before = vec![Vec::new(); self.len()];
        let mut open = vec![0usize; self.len()];
        for state in 0..self.len() as u32 {
            for next in self.successors(state) {
                open[state as usize] += 1;
                before[next as usize].push(state as usize);
            }
        }
        // What leads only to such states is one.
        let mut finite = FixedBitSet::with_capacity(self.len());
        let mut queue: Vec<usize> = (0..self.len()).filter(|&state| open[state] == 0).collect();
        while let Some(state) = queue.pop() {
            finite.insert(state);
            for &from in &before[state] {
                open[from] -= 1;
                if open[from] == 0 {
                    queue.push(from);
                }
            }
        }
        finite
    }

    /// The live states that one byte leads to.
    pub(super) fn successors(&self, state: u32) -> Vec<u32> {
        let mut next = Vec::new();
        self.each_next(state, 0, 255, |_, to| next.push(to));
        next
    }

    /// The fewest further characters after which `state` is accepted in range, `count` read.
    /// `None` where there are none, or where there is no length range.
    pub(super) fn fewest(&self, state: LangState, count: u64) -> Option<u64> {
        let Liveness::Lengths(lengths) = &self.liveness else { return None };
        let max = self.range.max.map_or(Some(u64::MAX), |max| max.checked_sub(count))?;
        lengths.first_in(state, self.range.min.saturating_sub(count), max)
    }

    /// Whether `state` accepts after exactly `more` characters.
    pub(super) fn accepts_after(&self, state: LangState, more: u64) -> bool {
        matches!(&self.liveness, Liveness::Lengths(lengths) if lengths.any_in(state, more, more))
    }

    /// Whether some further character leads to a state that is live at `count + 1`; `None` where
    /// it is not known at once.
    pub(super) fn goes_on(&self, state: LangState, count: u64) -> Option<bool> {
        let Liveness::Lengths(lengths) = &self.liveness else { return None };
        let max = self.range.max.map_or(Some(u64::MAX), |max| max.checked_sub(count));
        let min = self.range.min.saturating_sub(count).max(1);
        Some(max.is_some_and(|max| lengths.any_in(state, min, max)))
    }

    /// Whether some character of the byte range sequences leads to a state live at `count`.
    pub(super) fn live_after(
        &self,
        state: LangState,
        count: u64,
        sequences: impl Iterator<Item = regex_syntax::utf8::Utf8Sequence>,
    ) -> bool {
        for sequence in sequences {
            let mut states: SmallVec<[u32; 8]> = SmallVec::from_slice(&[state.0]);
            for range in sequence.as_slice() {
                let mut after = SmallVec::new();
                for &from in &states {
                    self.each_next(from, range.start, range.end, |_, next| after.push(next));
                }
                after.sort_unstable();
                after.dedup();
                states = after;
            }
            if states.iter().any(|&to| self.live(LangState(to), count)) {
                return true;
            }
        }
        false
    }

    /// The successors over a spelling edge, with a byte that leads there.
    pub(super) fn read(&self, state: u32, edge: &SpellEdge, visit: impl FnMut(u8, u32)) {
        self.each_next(state, edge.low, edge.high, visit);
    }
}

impl Explored {
    /// Follows all factors at once. A state lives as long as `lives` holds for each factor's place
    /// in it, [`GONE`] included.
    ///
    /// # Errors
    /// As for [`Product::new`].
    pub(super) fn run(
        factors: &[Stepped],
        max_states: usize,
        lives: impl Fn(usize, LangState) -> bool,
    ) -> Result<Explored, LanguageLimit> {
        let (classes, stride) = joint_classes(|byte| {
            factors.iter().map(|dfa| dfa.classes()[usize::from(byte)]).collect()
        });
        let mut explored = Explored {
            classes,
            stride,
            states: Vec::new(),
            known: FxHashMap::default(),
            next: Vec::new(),
            pairs: vec![(0, BOUNDARY)],
        };
        explored.intern(factors.iter().map(Stepped::start).collect());
        let utf8 = Spell::any_utf8();
        let mut seen: FxHashSet<(u32, SpellNode)> = FxHashSet::from_iter([(0, BOUNDARY)]);
        let (mut done, mut between) = (0, 1);
        let max_all = max_states.saturating_mul(INSIDE);
        while let Some(&(state, node)) = explored.pairs.get(done) {
            done += 1;
            for edge in utf8.edges(node) {
                let mut last = None;
                for byte in edge.low..=edge.high {
                    let class = classes[usize::from(byte)];
                    if last.replace(class) == Some(class) {
                        continue;
                    }
                    let next = explored
                        .step(factors, state, byte, usize::from(class), &lives)
                        .map_err(|Full| LanguageLimit::STATES)?;
                    if next != DEAD && seen.insert((next, edge.next)) {
                        between += usize::from(edge.next == BOUNDARY);
                        explored.pairs.push((next, edge.next));
                    }
                }
            }
            if between > max_states || explored.states.len() > max_all {
                return Err(LanguageLimit::STATES);
            }
        }
        Ok(explored)
    }

    fn step(
        &mut self,
        factors: &[Stepped],
        state: u32,
        byte: u8,
        class: usize,
        lives: impl Fn(usize, LangState) -> bool,
    ) -> Result<u32, Full> {
        let cell = state as usize * self.stride + class;
        if self.next[cell] != DEAD {
            return Ok(self.next[cell]);
        }
        let mut tuple = Tuple::new();
        for (index, (dfa, &from)) in factors.iter().zip(&self.states[state as usize]).enumerate() {
            let next = if from == GONE { None } else { dfa.step(from, byte)? };
            let next = next.unwrap_or(GONE);
            if !lives(index, next) {
                return Ok(DEAD);
            }
            tuple.push(next);
        }
        let next = self.intern(tuple);
        self.next[cell] = next;
        Ok(next)
    }

    fn intern(&mut self, tuple: Tuple) -> u32 {
        if let Some(&state) = self.known.get(&tuple) {
            return state;
        }
        let state = self.states.len() as u32;
        self.states.push(tuple.clone());
        self.known.insert(tuple, state);
        self.next.resize(self.next.len() + self.stride, DEAD);
        state
    }

    /// The states in which a string may end.
    pub(super) fn ends(&self) -> FixedBitSet {
        let ends = self.pairs.iter().filter(|(_, node)| *node == BOUNDARY);
        ends.map(|&(state, _)| state as usize).collect()
    }

    /// The states for which `holds`.
    pub(super) fn each(&self, holds: impl Fn(&[LangState]) -> bool) -> FixedBitSet {
        let mut states = FixedBitSet::with_capacity(self.states.len());
        for (index, tuple) in self.states.iter().enumerate() {
            states.set(index, holds(tuple));
        }
        states
    }
}

/// Whether a factor accepts in its place of a state.
pub(super) fn accepts_in(dfa: &Stepped, state: LangState) -> bool {
    state != GONE && dfa.accepts(state)
}

/// The spelling node of a decoder state, if it is not inside an escape.
pub(super) fn spell_node(text: TextState) -> Option<SpellNode> {
    text.raw_index().map(|index| index as SpellNode)
}
