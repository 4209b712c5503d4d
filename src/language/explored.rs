//! Several factors read at once, followed completely: the states in which they can be together, and
//! where in a character each can stand.

use super::automaton::{Full, LangState, LanguageLimit};
use super::decode::TextState;
use super::factor::common_classes;
use super::graph::Reversed;
use super::spell::{BOUNDARY, Spell, SpellNode};
use super::stepped::Stepped;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// No state.
pub(super) const DEAD: u32 = u32::MAX;

/// A factor's place in a state where no continuation is in it any more.
pub(super) const GONE: LangState = LangState(u32::MAX);

/// States inside characters for each between them that a product may have.
const INSIDE: usize = 10;

/// The nodes of [`Spell::any_utf8`].
const NODES: usize = TextState::RAW_STATES;

/// What each factor is in.
type Tuple = SmallVec<[LangState; 2]>;

/// Several factors read at once, explored. The first state is the start.
#[derive(Debug)]
pub(super) struct Explored {
    pub(super) classes: [u8; 256],
    pub(super) stride: usize,
    pub(super) states: Vec<Tuple>,
    /// By state and class.
    pub(super) next: Vec<u32>,
    /// (state, place in a UTF-8 sequence), as far as reachable; the first is the start.
    pub(super) pairs: Vec<(u32, SpellNode)>,
    /// By state and place: where it stands in `pairs`, or [`DEAD`].
    pair_of: Vec<[u32; NODES]>,
    moves: Moves,
}

/// By place in a UTF-8 sequence: the classes of the bytes that may follow, each with a byte and the
/// place behind it.
type Moves = [SmallVec<[Move; 8]>; NODES];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    class: usize,
    byte: u8,
    place: SpellNode,
}

fn moves(classes: &[u8; 256]) -> Moves {
    std::array::from_fn(|node| {
        let mut moves: SmallVec<[Move; 8]> = SmallVec::new();
        for edge in Spell::any_utf8().edges(node as SpellNode) {
            let (mut seen, place) = ([false; 256], edge.next);
            for byte in edge.low..=edge.high {
                let class = usize::from(classes[usize::from(byte)]);
                if !std::mem::replace(&mut seen[class], true) {
                    moves.push(Move { class, byte, place });
                }
            }
        }
        moves
    })
}

impl Explored {
    /// Follows all factors at once. A state lives as long as `lives` holds for each factor's place
    /// in it, [`GONE`] included.
    ///
    /// # Errors
    /// `language_states`, where there are more than `max_states` states between characters or
    /// [`INSIDE`] times as many in all.
    pub(super) fn run(
        factors: &[Stepped],
        max_states: usize,
        lives: impl Fn(usize, LangState) -> bool,
    ) -> Result<Explored, LanguageLimit> {
        let (classes, stride) = common_classes(factors.iter().map(Stepped::classes));
        let explored = Explored {
            classes,
            stride,
            states: Vec::new(),
            next: Vec::new(),
            pairs: Vec::new(),
            pair_of: Vec::new(),
            moves: moves(&classes),
        };
        let mut search = Search { factors, explored, known: FxHashMap::default(), last: DEAD };
        let start = search.intern(factors.iter().map(Stepped::start).collect());
        search.reach(start, BOUNDARY);
        let (mut done, mut between) = (0, 1);
        let max_all = max_states.saturating_mul(INSIDE);
        while let Some(&(state, node)) = search.explored.pairs.get(done) {
            done += 1;
            for at in 0..search.explored.moves[node as usize].len() {
                let step = search.explored.moves[node as usize][at];
                let next =
                    search.step(state, step, &lives).map_err(|Full| LanguageLimit::STATES)?;
                if next != DEAD && search.reach(next, step.place) {
                    between += usize::from(step.place == BOUNDARY);
                }
            }
            if between > max_states || search.explored.states.len() > max_all {
                return Err(LanguageLimit::STATES);
            }
        }
        Ok(search.explored)
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

    /// Where each character that goes on from a pair leads by its next byte.
    pub(super) fn after(&self, (state, node): (u32, SpellNode)) -> impl Iterator<Item = u32> + '_ {
        let row = state as usize * self.stride;
        self.moves[node as usize].iter().map(move |step| self.next[row + step.class])
    }

    /// The pairs, backwards.
    pub(super) fn reversed(&self) -> Reversed {
        Reversed::new(self.pairs.len(), |pair, visit| {
            let (state, node) = self.pairs[pair];
            for (next, step) in self.after((state, node)).zip(&self.moves[node as usize]) {
                if next != DEAD {
                    visit(self.pair_of[next as usize][step.place as usize] as usize);
                }
            }
        })
    }
}

/// What is explored so far.
struct Search<'f> {
    factors: &'f [Stepped],
    explored: Explored,
    known: FxHashMap<Tuple, u32>,
    /// The state that was met last: neighbouring classes mostly lead to the same.
    last: u32,
}

impl Search<'_> {
    /// Whether a pair is reached for the first time.
    fn reach(&mut self, state: u32, node: SpellNode) -> bool {
        let pairs = &mut self.explored.pairs;
        let known = &mut self.explored.pair_of[state as usize][node as usize];
        let fresh = *known == DEAD;
        if fresh {
            *known = pairs.len() as u32;
            pairs.push((state, node));
        }
        fresh
    }

    fn step(
        &mut self,
        state: u32,
        Move { class, byte, .. }: Move,
        lives: impl Fn(usize, LangState) -> bool,
    ) -> Result<u32, Full> {
        let cell = state as usize * self.explored.stride + class;
        if self.explored.next[cell] != DEAD {
            return Ok(self.explored.next[cell]);
        }
        let mut tuple = Tuple::with_capacity(self.factors.len());
        let froms = &self.explored.states[state as usize];
        for (index, (dfa, &from)) in self.factors.iter().zip(froms).enumerate() {
            let next = if from == GONE { None } else { dfa.step(from, byte)? };
            let next = next.unwrap_or(GONE);
            if !lives(index, next) {
                return Ok(DEAD);
            }
            tuple.push(next);
        }
        let next = self.intern(tuple);
        self.explored.next[cell] = next;
        Ok(next)
    }

    fn intern(&mut self, tuple: Tuple) -> u32 {
        let explored = &mut self.explored;
        if explored.states.get(self.last as usize) == Some(&tuple) {
            return self.last;
        }
        self.last = match self.known.get(&tuple) {
            Some(&state) => state,
            None => {
                let state = explored.states.len() as u32;
                explored.states.push(tuple.clone());
                explored.next.resize(explored.next.len() + explored.stride, DEAD);
                explored.pair_of.push([DEAD; NODES]);
                self.known.insert(tuple, state);
                state
            }
        };
        self.last
    }
}

/// Whether a factor accepts in its place of a state.
pub(super) fn accepts_in(dfa: &Stepped, state: LangState) -> bool {
    state != GONE && dfa.accepts(state)
}
