//! The lazy automaton of one factor: states are made when they are first stepped into.
//!
//! A hit is one lookup of the state and one atomic load; only a miss takes the lock. States are
//! never dropped, so ids stay good. Liveness needs no search: a set is live iff one of its NFA
//! states is.

use super::automaton::{Full, LangState};
use super::extent::fewest_each;
use super::factor::{Closed, Factor, Scratch};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state after a match.
const UNIVERSAL: LangState = LangState(0);

/// Transitions: not computed yet; no text; anything else is a state and [`FIRST`].
const UNKNOWN: u32 = 0;
const DEAD: u32 = 1;
const FIRST: u32 = 2;

#[derive(Debug)]
pub(super) struct LazyDfa {
    factor: Arc<Factor>,
    /// NFA states that are live over the alphabet; `None`: all that are co-accessible.
    live: Option<FixedBitSet>,
    classes: [u8; 256],
    stride: usize,
    states: boxcar::Vec<LazyState>,
    building: Mutex<Building>,
    max_states: usize,
    max_bytes: usize,
    start: LangState,
    never_dies: bool,
    cap: Option<Cap>,
}

/// A most number of characters.
#[derive(Debug)]
struct Cap {
    max: u64,
    /// By NFA state: the fewest characters that begin from there on up to the end of a text;
    /// `u64::MAX` where there is no end.
    fewest: Vec<u64>,
}

#[derive(Debug)]
struct LazyState {
    members: Arc<[u32]>,
    accepts: bool,
    live: bool,
    /// Whether it is live by further characters.
    goes_on: bool,
    /// By how many, at least; 0 where there is no most number of them.
    fewest: u64,
    next: Box<[AtomicU32]>,
}

#[derive(Debug, Default)]
struct Building {
    /// By whether they accept, by their members.
    known: [FxHashMap<Arc<[u32]>, LangState>; 2],
    scratch: Scratch,
    bytes: usize,
}

impl LazyDfa {
    /// The automaton of `factor`; `live`: the NFA states that count as live.
    ///
    /// # Errors
    /// [`Full`] where not even the start state fits.
    pub(super) fn new(
        factor: Arc<Factor>,
        live: Option<FixedBitSet>,
        max_states: usize,
        max_bytes: usize,
    ) -> Result<Self, Full> {
        let classes = factor.byte_classes();
        let stride = classes.iter().map(|&c| usize::from(c) + 1).max().unwrap_or(1);
        let never_dies = live.is_none() && factor.never_dies();
        let mut dfa = LazyDfa {
            factor,
            live,
            never_dies,
            classes,
            stride,
            states: boxcar::Vec::new(),
            building: Mutex::default(),
            max_states,
            max_bytes,
            start: UNIVERSAL,
            cap: None,
        };
        dfa.states.push(LazyState {
            members: Arc::new([]),
            accepts: true,
            live: true,
            goes_on: true,
            fewest: 0,
            next: Box::new([]),
        });
        let mut building = Building::default();
        let set = dfa.factor.start_set(&mut building.scratch);
        dfa.start = dfa.intern(&mut building, set.as_closed())?;
        dfa.building = Mutex::new(building);
        Ok(dfa)
    }

    /// The automaton of the texts of `factor` of at most `max` characters, over all bytes; `None`
    /// where it is not known how short the texts can be from each state.
    ///
    /// # Errors
    /// As for [`LazyDfa::new`].
    pub(super) fn capped(
        factor: Arc<Factor>,
        max: u64,
        max_states: usize,
        max_bytes: usize,
    ) -> Result<Option<Self>, Full> {
        let Some(fewest) = fewest_each(&factor) else { return Ok(None) };
        let mut dfa = Self::new(factor, None, max_states, max_bytes)?;
        dfa.cap = Some(Cap { max, fewest });
        dfa.never_dies = false;
        // The start was made without it.
        let members = dfa.members(dfa.start).to_vec();
        let fewest = dfa.fewest(&members);
        if let Some(start) = dfa.states.get_mut(dfa.start.0 as usize) {
            start.fewest = fewest;
        }
        Ok(Some(dfa))
    }

    /// The most characters, if there is a bound.
    pub(super) fn max(&self) -> Option<u64> {
        self.cap.as_ref().map(|cap| cap.max)
    }

    /// From how many possible further characters on their number makes no difference.
    pub(super) fn horizon(&self) -> u64 {
        let known = self.cap.iter().flat_map(|cap| &cap.fewest).filter(|&&n| n != u64::MAX);
        known.max().map_or(0, |most| most + 1)
    }

    /// The fewest characters from some of `members` on to the end of a text.
    fn fewest(&self, members: &[u32]) -> u64 {
        let Some(cap) = &self.cap else { return 0 };
        let fewest = members.iter().filter_map(|&q| cap.fewest.get(q as usize));
        fewest.copied().min().unwrap_or(u64::MAX)
    }

    /// The fewest characters from NFA state `q` on to the end of a text, if they are counted.
    pub(super) fn fewest_from(&self, q: u32) -> u64 {
        self.cap.as_ref().and_then(|cap| cap.fewest.get(q as usize)).copied().unwrap_or(0)
    }

    /// How many characters may follow `count`; `None`: that is too many already.
    pub(super) fn left(&self, count: u64) -> Option<u64> {
        match &self.cap {
            Some(cap) => cap.max.checked_sub(count),
            None => Some(u64::MAX),
        }
    }

    pub(super) fn start(&self) -> LangState {
        self.start
    }

    pub(super) fn factor(&self) -> &Arc<Factor> {
        &self.factor
    }

    pub(super) fn classes(&self) -> &[u8; 256] {
        &self.classes
    }

    /// Whether every continuation of `state` is accepted, lengths aside.
    #[inline]
    pub(super) fn is_universal(&self, state: LangState) -> bool {
        state == UNIVERSAL
    }

    /// Whether some continuation of every text is accepted.
    #[inline]
    pub(super) fn never_dies(&self) -> bool {
        self.never_dies
    }

    #[inline]
    pub(super) fn step(&self, state: LangState, byte: u8) -> Result<Option<LangState>, Full> {
        if state == UNIVERSAL {
            return Ok(Some(UNIVERSAL));
        }
        let class = usize::from(self.classes[usize::from(byte)]);
        let Some(entry) = self.states.get(state.0 as usize) else { return Ok(None) };
        match entry.next.get(class).map_or(DEAD, |next| next.load(Ordering::Acquire)) {
            UNKNOWN => self.step_slow(entry, byte, class),
            DEAD => Ok(None),
            next => Ok(Some(LangState(next - FIRST))),
        }
    }

    #[cold]
    fn step_slow(
        &self,
        entry: &LazyState,
        byte: u8,
        class: usize,
    ) -> Result<Option<LangState>, Full> {
        let mut building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut building.scratch);
        let next = match self.factor.step_range(&entry.members, byte, byte, &mut scratch) {
            Closed::Members { members: [], accepts: false } => Ok(None),
            set => self.intern(&mut building, set).map(Some),
        };
        building.scratch = scratch;
        let next = next?;
        let code = next.map_or(DEAD, |state| state.0 + FIRST);
        if let Some(cell) = entry.next.get(class) {
            cell.store(code, Ordering::Release);
        }
        Ok(next)
    }

    fn intern(&self, building: &mut Building, set: Closed<'_>) -> Result<LangState, Full> {
        let Closed::Members { members, accepts } = set else { return Ok(UNIVERSAL) };
        if let Some(&state) = building.known[usize::from(accepts)].get(members) {
            return Ok(state);
        }
        let bytes = 4 * (members.len() + self.stride) + 64;
        let known: usize = building.known.iter().map(FxHashMap::len).sum();
        if known >= self.max_states || building.bytes + bytes > self.max_bytes {
            return Err(Full);
        }
        building.bytes += bytes;
        let members = Arc::<[u32]>::from(members);
        let goes_on = members.iter().any(|&q| self.is_live_nfa(q));
        let fewest = self.fewest(&members);
        let index = self.states.push(LazyState {
            members: members.clone(),
            accepts,
            live: accepts || goes_on,
            goes_on,
            fewest,
            next: (0..self.stride).map(|_| AtomicU32::new(UNKNOWN)).collect(),
        });
        let state = LangState(u32::try_from(index).map_err(|_| Full)?);
        building.known[usize::from(accepts)].insert(members, state);
        Ok(state)
    }

    fn is_live_nfa(&self, q: u32) -> bool {
        let live = self.live.as_ref().unwrap_or_else(|| self.factor.coaccessible());
        live.contains(q as usize)
    }

    #[inline]
    pub(super) fn accepts(&self, state: LangState) -> bool {
        state == UNIVERSAL || self.states.get(state.0 as usize).is_some_and(|s| s.accepts)
    }

    /// Whether `state` can be completed, `count` characters being read.
    #[inline]
    pub(super) fn live(&self, state: LangState, count: u64) -> bool {
        let Some(left) = self.left(count) else { return false };
        let live = |s: &LazyState| s.live && (s.accepts || s.fewest <= left);
        state == UNIVERSAL || self.states.get(state.0 as usize).is_some_and(live)
    }

    /// Whether some further character leads to a live set; `state` stands between characters.
    #[inline]
    pub(super) fn goes_on(&self, state: LangState, count: u64) -> bool {
        let Some(left) = self.left(count) else { return false };
        let goes_on = |s: &LazyState| s.goes_on && s.fewest <= left;
        if state == UNIVERSAL {
            return left > 0;
        }
        self.states.get(state.0 as usize).is_some_and(goes_on)
    }

    /// The NFA states of `state`.
    pub(super) fn members(&self, state: LangState) -> &[u32] {
        self.states.get(state.0 as usize).map_or(&[], |s| &s.members)
    }

    /// Whether some character of the byte range sequence leads to a set that is live at `count`.
    pub(super) fn live_after(
        &self,
        state: LangState,
        count: u64,
        sequences: impl Iterator<Item = regex_syntax::utf8::Utf8Sequence>,
    ) -> bool {
        let Some(left) = self.left(count) else { return false };
        if state == UNIVERSAL {
            return true;
        }
        let mut scratch = Scratch::default();
        for sequence in sequences {
            let mut members = self.members(state).to_vec();
            let (mut accepts, mut universal) = (false, false);
            for range in sequence.as_slice() {
                match self.factor.step_range(&members, range.start, range.end, &mut scratch) {
                    Closed::Universal => universal = true,
                    Closed::Members { members: next, accepts: ends } => {
                        (members, accepts) = (next.to_vec(), ends);
                    }
                }
            }
            let goes_on = |&q: &u32| self.is_live_nfa(q) && self.fewest_from(q) <= left;
            if universal || accepts || members.iter().any(goes_on) {
                return true;
            }
        }
        false
    }
}
