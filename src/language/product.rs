//! The eager product of several factors, asked for or excluded, or of one beside a length range:
//! explored completely, trimmed by backward liveness.

use super::alphabet::Alphabet;
use super::automaton::{LangState, LanguageLimit};
use super::decode::TextState;
use super::explored::{DEAD, Explored, GONE, accepts_in};
use super::graph::Reversed;
use super::lengths::{CharGraph, Lengths};
use super::spell::{BOUNDARY, SpellEdge, SpellNode};
use super::stepped::Stepped;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::collections::VecDeque;

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

impl Product {
    /// The start state.
    pub(super) const START: LangState = LangState(0);

    /// Explores the product: of the `factors`, the first `wanted` are asked for, and the others
    /// excluded.
    ///
    /// # Errors
    /// `language_states`, as for [`Explored::run`] or where its lengths repeat too late.
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
    fn trimmed(
        explored: &Explored,
        accepts: FixedBitSet,
        range: Range,
        alphabet: &Alphabet,
    ) -> Result<Product, LanguageLimit> {
        let mut product = Self::live_part(explored, accepts);
        if range == Range::ANY && alphabet.is_full() {
            return Ok(product);
        }
        let graph = product.char_graph(&explored.pairs, alphabet)?;
        product.range = range;
        product.liveness = if range == Range::ANY {
            Liveness::Reachable(graph.reachable(&product.accepts))
        } else {
            Liveness::Lengths(Lengths::new(graph, &product.accepts, range.max)?)
        };
        product.immortal.clear();
        product.universal = None;
        Ok(product)
    }

    /// The same, whatever the length, over all bytes.
    pub(super) fn live_part(explored: &Explored, accepts: FixedBitSet) -> Product {
        let reversed = explored.reversed();
        let mut alive = FixedBitSet::with_capacity(accepts.len());
        let ends =
            |(state, node): (u32, SpellNode)| node == BOUNDARY && accepts.contains(state as usize);
        for pair in reversed.leading_to(|pair| ends(explored.pairs[pair])).ones() {
            alive.insert(explored.pairs[pair].0 as usize);
        }
        // A state that is not alive leads to none that is.
        let is_alive = |next: u32| next != DEAD && alive.contains(next as usize);
        let trim = |&next: &u32| if is_alive(next) { next } else { DEAD };
        let dies = |pair| explored.after(pair).any(|next| !is_alive(next));
        let mut immortal = FixedBitSet::with_capacity(accepts.len());
        immortal.insert_range(..);
        for pair in reversed.leading_to(|pair| dies(explored.pairs[pair])).ones() {
            immortal.set(explored.pairs[pair].0 as usize, false);
        }
        let mut moves = FixedBitSet::with_capacity(accepts.len());
        for &(state, node) in &explored.pairs {
            if explored.after((state, node)).any(|next| !is_alive(next) || next != state) {
                moves.insert(state as usize);
            }
        }
        let stays = |&state: &usize| !moves.contains(state);
        Product {
            classes: explored.classes,
            stride: explored.stride,
            next: explored.next.iter().map(trim).collect(),
            universal: accepts.ones().find(stays).map(|state| state as u32),
            liveness: Liveness::Reachable(alive),
            range: Range::ANY,
            immortal,
            accepts,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.accepts.len()
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
        let reversed = self.reversed();
        let mut distances = vec![u32::MAX; self.len()];
        let mut queue: VecDeque<usize> = self.accepts.ones().collect();
        queue.iter().for_each(|&state| distances[state] = 0);
        while let Some(state) = queue.pop_front() {
            for &from in reversed.before(state) {
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
        let reversed = self.reversed();
        let mut open: Vec<usize> =
            (0..self.len()).map(|state| self.successors(state as u32).count()).collect();
        // What leads only to such states is one.
        let mut finite = FixedBitSet::with_capacity(self.len());
        let mut queue: Vec<usize> = (0..self.len()).filter(|&state| open[state] == 0).collect();
        while let Some(state) = queue.pop() {
            finite.insert(state);
            for &from in reversed.before(state) {
                open[from as usize] -= 1;
                if open[from as usize] == 0 {
                    queue.push(from as usize);
                }
            }
        }
        finite
    }

    fn reversed(&self) -> Reversed {
        Reversed::new(self.len(), |state, visit| {
            self.successors(state as u32).for_each(|next| visit(next as usize));
        })
    }

    /// The live states that one byte leads to, by class.
    pub(super) fn successors(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        let row = self.next.iter().skip(state as usize * self.stride).take(self.stride);
        row.copied().filter(|&next| next != DEAD)
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

/// The spelling node of a decoder state, if it is not inside an escape.
pub(super) fn spell_node(text: TextState) -> Option<SpellNode> {
    text.raw_index().map(|index| index as SpellNode)
}
