//! The whole automaton of a factor whose NFA is deterministic already: made once, shared by all
//! products that it takes part in, and stepped by one look-up.

use super::automaton::LangState;
use super::factor::{Factor, Scratch, StateSet};
use fixedbitset::FixedBitSet;
use regex_automata::util::primitives::StateID;
use rustc_hash::FxHashMap;

const DEAD: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Table {
    classes: [u8; 256],
    stride: usize,
    /// By state and class; the first state is the start.
    next: Vec<u32>,
    accepts: FixedBitSet,
}

impl Table {
    /// The automaton of `factor`; `None` where it would be in several NFA states at once, or
    /// accepts what a text goes on with.
    pub(super) fn new(factor: &Factor) -> Option<Table> {
        let classes = factor.byte_classes();
        let stride = classes.iter().map(|&c| usize::from(c) + 1).max().unwrap_or(1);
        let mut table = Table { classes, stride, next: Vec::new(), accepts: FixedBitSet::new() };
        let mut known = FxHashMap::default();
        let mut states: Vec<Option<u32>> = Vec::new();
        let mut scratch = Scratch::default();
        table.add(&mut known, &mut states, factor.start_set(&mut scratch))?;
        let mut targets: FxHashMap<StateID, u32> = FxHashMap::default();
        let mut done = 0;
        while let Some(&member) = states.get(done) {
            let mut edges = Vec::new();
            if let Some(q) = member {
                factor.each_edge(q, |low, high, next| edges.push((low, high, next)));
            }
            for (low, high, next) in edges {
                let to = match targets.get(&next) {
                    Some(&to) => to,
                    None => {
                        let set = factor.close_one(next, &mut scratch);
                        let dead = set.is_dead();
                        let to =
                            if dead { DEAD } else { table.add(&mut known, &mut states, set)? };
                        targets.insert(next, to);
                        to
                    }
                };
                for byte in low..=high {
                    let class = usize::from(classes[usize::from(byte)]);
                    table.next[done * stride + class] = to;
                }
            }
            done += 1;
        }
        Some(table)
    }

    fn add(
        &mut self,
        known: &mut FxHashMap<(Option<u32>, bool), u32>,
        states: &mut Vec<Option<u32>>,
        set: StateSet,
    ) -> Option<u32> {
        let StateSet::Members { members, accepts } = set else { return None };
        if members.len() > 1 {
            return None;
        }
        let member = members.first().copied();
        Some(*known.entry((member, accepts)).or_insert_with(|| {
            let state = states.len();
            states.push(member);
            self.next.resize((state + 1) * self.stride, DEAD);
            self.accepts.grow(state + 1);
            self.accepts.set(state, accepts);
            state as u32
        }))
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.accepts.len()
    }

    pub(super) fn start(&self) -> LangState {
        LangState(0)
    }

    pub(super) fn classes(&self) -> &[u8; 256] {
        &self.classes
    }

    /// The state after `byte`; `None` where no text is accepted any more.
    pub(super) fn step(&self, state: LangState, byte: u8) -> Option<LangState> {
        let class = usize::from(self.classes[usize::from(byte)]);
        let next = self.next.get(state.0 as usize * self.stride + class);
        next.copied().filter(|&next| next != DEAD).map(LangState)
    }

    pub(super) fn accepts(&self, state: LangState) -> bool {
        self.accepts.contains(state.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use crate::language::Format;
    use crate::options::Dialect;

    #[test]
    fn the_table_is_the_language() {
        for name in ["time", "date-time"] {
            let format = Format::lookup(name, Dialect::Draft202012).unwrap();
            let factor = format.factor().unwrap();
            let table = factor.table().unwrap();
            let day = if name == "time" { "" } else { "2016-12-31T" };
            for text in ["23:59:60Z", "00:00:60+00:01", "00:00:60-00:01", "24:00:00Z", "1:00:00Z"] {
                let text = format!("{day}{text}");
                let step = |state, byte| table.step(state, byte);
                let state = text.bytes().try_fold(table.start(), step);
                let holds = state.is_some_and(|state| table.accepts(state));
                assert_eq!(holds, format.matches(&text), "{text}");
            }
            assert!((10_000..13_000).contains(&table.len()), "{}", table.len());
        }
        let plain = Format::lookup("uuid", Dialect::Draft202012).unwrap().factor().unwrap();
        assert!(plain.table().is_none());
    }
}
