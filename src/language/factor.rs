//! A factor: the language of one pattern or format as an NFA over UTF-8 bytes, with what is
//! known of each NFA state once and for all.
//!
//! A pattern is searched: it may begin anywhere and be followed by anything. The loop before it
//! is the NFA's unanchored prefix; there is none after it, because a set that holds a match
//! accepts every continuation ([`StateSet::Universal`]).

use super::ecma::{self, Look as Assertion, Pattern, PatternError};
use super::evaluate;
use super::extent::extent;
use super::graph::backward;
use super::lazy::LazyDfa;
use super::neighbours;
use super::spell::{BOUNDARY, Spell};
use super::table::Table;
use crate::options::Limits;
use fixedbitset::FixedBitSet;
use regex_automata::nfa::thompson::{NFA, State, WhichCaptures};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::{Class, ClassUnicode, Hir, Repetition};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock, OnceLock};

/// The language of one pattern or format.
#[derive(Debug)]
pub(crate) struct Factor {
    nfa: NFA,
    /// What its assertions look for, if it has any; then the search is part of all the NFAs.
    looks: Vec<LookBody>,
    is_exact: bool,
    lenient: Option<Box<str>>,
    /// States that accept if the text ends here (not at its very beginning).
    ends: FixedBitSet,
    /// States from which some text accepts (not at its very beginning).
    coaccessible: FixedBitSet,
    /// A larger language with fewer states, for where a limit would be met.
    wide: Option<Wide>,
    /// Its own product with others is not worth trying.
    huge: bool,
    /// Whether it is known that no text makes the search fail.
    searches: bool,
    /// The fewest and the most code points.
    extent: OnceLock<(u64, Option<u64>)>,
    /// Its whole automaton, where one is to be kept.
    table: Option<OnceLock<Option<Arc<Table>>>>,
    /// Its automaton as far as products have followed it, where that is to be kept. The two hold
    /// each other, so this is for what lives as long as the process.
    followed: Option<OnceLock<Option<Arc<LazyDfa>>>>,
}

/// A factor that is made when it is asked for.
pub(super) type Wide =
    LazyLock<Option<Arc<Factor>>, Box<dyn FnOnce() -> Option<Arc<Factor>> + Send>>;

/// The body of an assertion.
#[derive(Debug)]
pub(super) struct LookBody {
    pub(super) nfa: NFA,
    /// Whether it must end where the assertion stands; if not, it begins there.
    pub(super) behind: bool,
}

/// A determinised state: what an NFA can be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StateSet {
    /// It has matched: every continuation is accepted.
    Universal,
    /// The states that read a byte and can still accept, ascending, and whether the text may end.
    Members { members: Vec<u32>, accepts: bool },
}

impl StateSet {
    pub(super) fn is_dead(&self) -> bool {
        matches!(self, StateSet::Members { members, accepts: false } if members.is_empty())
    }

    pub(super) fn as_closed(&self) -> Closed<'_> {
        match self {
            StateSet::Universal => Closed::Universal,
            StateSet::Members { members, accepts } => {
                Closed::Members { members, accepts: *accepts }
            }
        }
    }
}

/// A [`StateSet`] that stands in working memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closed<'s> {
    Universal,
    Members { members: &'s [u32], accepts: bool },
}

impl Closed<'_> {
    fn to_set(self) -> StateSet {
        match self {
            Closed::Universal => StateSet::Universal,
            Closed::Members { members, accepts } => {
                StateSet::Members { members: members.to_vec(), accepts }
            }
        }
    }
}

/// Working memory of closures.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    stack: Vec<StateID>,
    seen: FixedBitSet,
    visited: Vec<StateID>,
    members: Vec<u32>,
}

impl Factor {
    /// The language of an ECMA-262 pattern, searched.
    ///
    /// # Errors
    /// See [`PatternError`].
    pub(crate) fn pattern(text: &str, limits: &Limits) -> Result<Arc<Factor>, PatternError> {
        let pattern = ecma::parse(text)?;
        let bytes = limits.pattern_bytes;
        let mut factor = if pattern.looks.is_empty() {
            Self::from_hir(&pattern.hir, bytes)?
        } else {
            Self::by_neighbours(&pattern, bytes)
                .map_or_else(|| Self::with_looks(&pattern, bytes), Ok)?
        };
        (factor.is_exact, factor.lenient) = (pattern.is_exact, pattern.lenient);
        Ok(Arc::new(factor))
    }

    /// The language that searches for `hir`.
    ///
    /// # Errors
    /// A limit, where the NFA would take more than `bytes`.
    pub(super) fn from_hir(hir: &Hir, bytes: usize) -> Result<Factor, PatternError> {
        Ok(Self::from_nfa(compile(hir, WhichCaptures::None, bytes)?))
    }

    /// The language that searches by `nfa`.
    pub(super) fn from_nfa(nfa: NFA) -> Factor {
        Self::new(nfa, Vec::new())
    }

    /// The same where assertions ask for a neighbour only; `None` where they ask for more.
    fn by_neighbours(pattern: &Pattern, bytes: usize) -> Option<Factor> {
        let sets = neighbours::asked(&pattern.looks)?;
        let hir = Hir::concat(vec![anything(), pattern.hir.clone()]);
        let nfa = compile(&hir, WhichCaptures::All, bytes).ok()?;
        let resolved = neighbours::resolve(&nfa, &pattern.looks, sets, bytes)?;
        let mut factor = Self::from_nfa(resolved.nfa);
        factor.searches = resolved.never_dies;
        Some(factor)
    }

    /// The same with assertions. They are asked between characters only, so the search goes by
    /// characters.
    pub(super) fn with_looks(pattern: &Pattern, bytes: usize) -> Result<Factor, PatternError> {
        let mut left = bytes;
        let mut build = |hir: &Hir, searched: bool| {
            let hir =
                if searched { Hir::concat(vec![anything(), hir.clone()]) } else { hir.clone() };
            let nfa = compile(&hir, WhichCaptures::All, left)?;
            left = left.saturating_sub(nfa.memory_usage());
            Ok::<_, PatternError>(nfa)
        };
        let nfa = build(&pattern.hir, true)?;
        let body = |Assertion { body, behind }: &Assertion| {
            Ok::<_, PatternError>(LookBody { nfa: build(body, *behind)?, behind: *behind })
        };
        let looks = pattern.looks.iter().map(body).collect::<Result<_, _>>()?;
        Ok(Self::new(nfa, looks))
    }

    fn new(nfa: NFA, looks: Vec<LookBody>) -> Factor {
        let (ends, coaccessible) = (FixedBitSet::new(), FixedBitSet::new());
        let (is_exact, lenient, wide, huge) = (true, None, None, false);
        let (searches, extent, table, followed) = (false, OnceLock::new(), None, None);
        let mut factor = Factor {
            nfa,
            looks,
            is_exact,
            lenient,
            ends,
            coaccessible,
            wide,
            huge,
            searches,
            extent,
            table,
            followed,
        };
        factor.analyse();
        factor
    }

    /// Whether this is the pattern's own language; otherwise it is a superset.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// What the pattern has that is legal without the `u` flag only, and how it was read.
    pub(crate) fn lenient(&self) -> Option<&str> {
        self.lenient.as_deref()
    }

    pub(super) fn nfa(&self) -> &NFA {
        &self.nfa
    }

    pub(super) fn looks(&self) -> &[LookBody] {
        &self.looks
    }

    /// The same with a larger language to fall back on, at once beside others if this is `huge`.
    pub(super) fn with_wide(self, wide: Option<Wide>, huge: bool) -> Factor {
        Factor { wide, huge, ..self }
    }

    /// The same, which keeps its whole automaton for the products that it takes part in.
    pub(super) fn with_table(self) -> Factor {
        Factor { table: Some(OnceLock::new()), ..self }
    }

    /// The same, which keeps its automaton as far as products follow it; only for what lives as long
    /// as the process.
    pub(super) fn with_followed(self) -> Factor {
        Factor { followed: Some(OnceLock::new()), ..self }
    }

    /// Its automaton as far as products have followed it, if it keeps one; `make` makes it.
    pub(super) fn followed(&self, make: impl FnOnce() -> Option<LazyDfa>) -> Option<&Arc<LazyDfa>> {
        self.followed.as_ref()?.get_or_init(|| make().map(Arc::new)).as_ref()
    }

    /// Its whole automaton, if it keeps one.
    pub(super) fn table(&self) -> Option<&Arc<Table>> {
        let table = self.table.as_ref()?;
        table.get_or_init(|| Table::new(self).map(Arc::new)).as_ref()
    }

    /// States that a product with this one may have beyond the limit, which is meant for what a
    /// schema makes: a format's size is known.
    pub(super) fn allowance(&self) -> usize {
        self.table().map_or(0, |table| 2 * table.len())
    }

    /// Whether the larger language stands for this one wherever others stand beside it.
    pub(crate) fn is_huge(&self) -> bool {
        self.huge
    }

    /// A larger language with fewer states, if there is one.
    pub(crate) fn wide(&self) -> Option<&Arc<Factor>> {
        self.wide.as_deref()?.as_ref()
    }

    /// The fewest and the most code points of a string, or less and more; `None`: there may be no
    /// most.
    pub(super) fn extent(&self) -> (u64, Option<u64>) {
        *self.extent.get_or_init(|| extent(self))
    }

    /// Whether every string has `min` code points at least.
    pub(crate) fn has_length(&self, min: u64) -> bool {
        min == 0 || self.extent().0 >= min
    }

    fn analyse(&mut self) {
        let len = self.len();
        let states = self.nfa.states();
        self.ends = backward(
            len,
            |q| matches!(states[q], State::Match { .. }),
            |q, visit| {
                epsilons(&states[q], |next| visit(next.as_usize()));
                if let State::Look { look: Look::End, next } = &states[q] {
                    visit(next.as_usize());
                }
            },
        );
        self.coaccessible = backward(
            len,
            |q| self.accepts_here(q),
            |q, visit| {
                epsilons(&states[q], |next| visit(next.as_usize()));
                byte_edges(&states[q], |_, _, next| visit(next.as_usize()));
            },
        );
    }

    /// How many NFA states there are.
    pub(super) fn len(&self) -> usize {
        self.nfa.states().len()
    }

    /// Whether NFA state `q` itself is where a text is accepted.
    pub(super) fn accepts_here(&self, q: usize) -> bool {
        match self.nfa.states().get(q) {
            Some(State::Match { .. }) => true,
            Some(State::Look { look: Look::End, next }) => self.ends.contains(next.as_usize()),
            _ => false,
        }
    }

    /// Whether a text that ends in NFA state `q` is accepted.
    pub(super) fn ends(&self, q: u32) -> bool {
        self.ends.contains(q as usize)
    }

    pub(super) fn coaccessible(&self) -> &FixedBitSet {
        &self.coaccessible
    }

    /// Whether NFA state `q` can lead to a match.
    pub(super) fn may_accept(&self, q: u32) -> bool {
        self.coaccessible.contains(q as usize)
    }

    /// Whether no text can make the search fail: a match may begin anywhere, so the loop before the
    /// pattern is in every set and can accept.
    pub(super) fn never_dies(&self) -> bool {
        let start = self.nfa.start_unanchored();
        let mut never_dies = self.searches;
        epsilons(self.nfa.state(start), |next| {
            let state = self.nfa.state(next);
            let mut loops = false;
            byte_edges(state, |low, high, to| loops |= (low, high, to) == (0, 255, start));
            never_dies |= loops && self.coaccessible.contains(next.as_usize());
        });
        never_dies
    }

    /// Whether `q` is the loop before a pattern that is searched for.
    pub(super) fn is_search(&self, q: u32) -> bool {
        let start = self.nfa.start_unanchored();
        let mut loops = false;
        self.byte_edges(q, |low, high, to| loops |= (low, high, to) == (0, 255, start.as_u32()));
        loops
    }

    pub(super) fn is_match(&self, q: u32) -> bool {
        matches!(self.nfa.states().get(q as usize), Some(State::Match { .. }))
    }

    /// The states after `q` without a byte.
    pub(super) fn epsilons(&self, q: u32, mut visit: impl FnMut(u32)) {
        if let Some(state) = self.nfa.states().get(q as usize) {
            epsilons(state, |next| visit(next.as_u32()));
        }
    }

    /// The same as [`Factor::byte_edges`], by the NFA's ids.
    pub(super) fn each_edge(&self, q: u32, visit: impl FnMut(u8, u8, StateID)) {
        if let Some(state) = self.nfa.states().get(q as usize) {
            byte_edges(state, visit);
        }
    }

    /// The byte ranges that `q` reads, and where they lead.
    pub(super) fn byte_edges(&self, q: u32, mut visit: impl FnMut(u8, u8, u32)) {
        if let Some(state) = self.nfa.states().get(q as usize) {
            byte_edges(state, |low, high, next| visit(low, high, next.as_u32()));
        }
    }

    /// The class of each byte; bytes of one class behave alike.
    pub(super) fn byte_classes(&self) -> [u8; 256] {
        let classes = self.nfa.byte_classes();
        std::array::from_fn(|byte| classes.get(byte as u8))
    }

    /// Whether it holds `text`, without making states.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if !self.looks.is_empty() {
            return evaluate::matches(&self.nfa, &self.looks, text);
        }
        let mut scratch = Scratch::default();
        let mut set = self.start_set(&mut scratch);
        for byte in text.bytes() {
            match &set {
                StateSet::Universal => return true,
                StateSet::Members { members, .. } => {
                    set = self.step_set(members, byte, &mut scratch);
                }
            }
        }
        !matches!(set, StateSet::Members { accepts: false, .. })
    }

    /// The set at the beginning of a text.
    pub(super) fn start_set(&self, scratch: &mut Scratch) -> StateSet {
        scratch.begin(self.len());
        scratch.stack.push(self.nfa.start_unanchored());
        let accepts = self.accepts_empty(scratch);
        scratch.begin(self.len());
        scratch.stack.push(self.nfa.start_unanchored());
        match self.close(scratch, true) {
            Closed::Members { members, .. } => Closed::Members { members, accepts }.to_set(),
            Closed::Universal => StateSet::Universal,
        }
    }

    fn accepts_empty(&self, scratch: &mut Scratch) -> bool {
        while let Some(id) = scratch.stack.pop() {
            if scratch.see(id) {
                continue;
            }
            match self.nfa.state(id) {
                State::Match { .. } => return true,
                State::Look { look: Look::Start | Look::End, next } => scratch.stack.push(*next),
                state => epsilons(state, |next| scratch.stack.push(next)),
            }
        }
        false
    }

    /// The set after `byte`.
    fn step_set(&self, members: &[u32], byte: u8, scratch: &mut Scratch) -> StateSet {
        self.step_range(members, byte, byte, scratch).to_set()
    }

    /// What the set can be in after some byte of `low..=high`.
    pub(super) fn step_range<'s>(
        &self,
        members: &[u32],
        low: u8,
        high: u8,
        scratch: &'s mut Scratch,
    ) -> Closed<'s> {
        scratch.begin(self.len());
        for &member in members {
            if let Some(state) = self.nfa.states().get(member as usize) {
                byte_edges(state, |from, to, next| {
                    if from <= high && low <= to {
                        scratch.stack.push(next);
                    }
                });
            }
        }
        self.close(scratch, false)
    }

    /// The set that `state` alone leads to, not at the beginning of a text.
    pub(super) fn close_one(&self, state: StateID, scratch: &mut Scratch) -> StateSet {
        scratch.begin(self.len());
        scratch.stack.push(state);
        self.close(scratch, false).to_set()
    }

    /// The closure of the stack, without what cannot accept any more.
    fn close<'s>(&self, scratch: &'s mut Scratch, at_start: bool) -> Closed<'s> {
        let mut accepts = false;
        while let Some(id) = scratch.stack.pop() {
            if scratch.see(id) {
                continue;
            }
            match self.nfa.state(id) {
                State::Match { .. } => {
                    scratch.stack.clear();
                    return Closed::Universal;
                }
                State::Look { look: Look::Start, next } if at_start => scratch.stack.push(*next),
                State::Look { look: Look::End, next } => {
                    accepts |= self.ends.contains(next.as_usize());
                }
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    if self.coaccessible.contains(id.as_usize()) {
                        scratch.members.push(id.as_u32());
                    }
                }
                state => epsilons(state, |next| scratch.stack.push(next)),
            }
        }
        scratch.members.sort_unstable();
        Closed::Members { members: &scratch.members, accepts }
    }

    /// NFA states from which a text over `spell` accepts, wherever in a character they stand;
    /// `None` if that takes more than `max` pairs of states.
    pub(super) fn live_over(&self, spell: &Spell, max: usize) -> Option<FixedBitSet> {
        let (len, nodes) = (self.len(), spell.len());
        let pairs = len.checked_mul(nodes).filter(|&pairs| pairs <= max)?;
        let boundary = BOUNDARY as usize;
        let live = backward(
            pairs,
            |pair| pair % nodes == boundary && self.accepts_here(pair / nodes),
            |pair, visit| {
                let (q, node) = ((pair / nodes) as u32, pair % nodes);
                self.epsilons(q, |next| visit(next as usize * nodes + node));
                for edge in spell.edges(node as u32) {
                    if self.is_match(q) {
                        visit(q as usize * nodes + edge.next as usize);
                    }
                    self.byte_edges(q, |low, high, next| {
                        if low <= edge.high && edge.low <= high {
                            visit(next as usize * nodes + edge.next as usize);
                        }
                    });
                }
            },
        );
        let mut states = FixedBitSet::with_capacity(len);
        for pair in live.ones() {
            states.insert(pair / nodes);
        }
        Some(states)
    }
}

/// The NFA of `hir`.
fn compile(hir: &Hir, captures: WhichCaptures, bytes: usize) -> Result<NFA, PatternError> {
    let config = NFA::config().utf8(true).which_captures(captures).nfa_size_limit(Some(bytes));
    let nfa = NFA::compiler().configure(config).build_from_hir(hir);
    nfa.map_err(|_| PatternError::Limit { name: "pattern_bytes" })
}

/// Any characters.
fn anything() -> Hir {
    let mut any = ClassUnicode::empty();
    any.negate();
    let sub = Box::new(Hir::class(Class::Unicode(any)));
    Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub })
}

impl Scratch {
    fn begin(&mut self, len: usize) {
        if self.seen.len() < len {
            self.seen = FixedBitSet::with_capacity(len);
            self.visited.clear();
        }
        for id in self.visited.drain(..) {
            self.seen.set(id.as_usize(), false);
        }
        self.stack.clear();
        self.members.clear();
    }

    /// Marks a state; whether it was marked before.
    fn see(&mut self, id: StateID) -> bool {
        let before = self.seen.put(id.as_usize());
        if !before {
            self.visited.push(id);
        }
        before
    }
}

/// The unconditional successors of a state that reads nothing.
pub(super) fn epsilons(state: &State, mut visit: impl FnMut(StateID)) {
    match state {
        State::Union { alternates } => alternates.iter().for_each(|&next| visit(next)),
        State::BinaryUnion { alt1, alt2 } => {
            visit(*alt1);
            visit(*alt2);
        }
        State::Capture { next, .. } => visit(*next),
        _ => {}
    }
}

pub(super) fn byte_edges(state: &State, mut visit: impl FnMut(u8, u8, StateID)) {
    match state {
        State::ByteRange { trans } => visit(trans.start, trans.end, trans.next),
        State::Sparse(sparse) => {
            sparse.transitions.iter().for_each(|t| visit(t.start, t.end, t.next));
        }
        State::Dense(dense) => {
            for (byte, &next) in (0..=255u8).zip(dense.transitions.iter()) {
                if next != StateID::ZERO {
                    visit(byte, byte, next);
                }
            }
        }
        _ => {}
    }
}

/// The common refinement of several partitions of all bytes, and how many classes it has; `key`:
/// the class of a byte in each of them.
pub(super) fn joint_classes(key: impl Fn(u8) -> SmallVec<[u8; 4]>) -> ([u8; 256], usize) {
    let mut known: FxHashMap<SmallVec<[u8; 4]>, u8> = FxHashMap::default();
    let classes = std::array::from_fn(|byte| {
        // At most 256 keys: the largest class is 255.
        let fresh = known.len() as u8;
        *known.entry(key(byte as u8)).or_insert(fresh)
    });
    (classes, known.len())
}

/// The same of whole partitions.
pub(super) fn common_classes<'c>(
    partitions: impl Iterator<Item = &'c [u8; 256]>,
) -> ([u8; 256], usize) {
    let (mut classes, mut count) = ([0; 256], 1);
    for partition in partitions {
        let mut known: FxHashMap<(u8, u8), u8> = FxHashMap::default();
        let mut last = None;
        for (class, &part) in classes.iter_mut().zip(partition) {
            let pair = (*class, part);
            *class = match last {
                // Neighbours are mostly of one class.
                Some((before, class)) if before == pair => class,
                _ => {
                    let fresh = known.len() as u8;
                    *known.entry(pair).or_insert(fresh)
                }
            };
            last = Some((pair, *class));
        }
        count = known.len();
    }
    (classes, count)
}
