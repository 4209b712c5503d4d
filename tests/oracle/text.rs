//! Sets of strings, how far a text has come in one, and whether it can still finish.

use super::lex::{Pending, Ranges};
use super::regex::Machine;
use regex_automata::util::primitives::StateID;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A set of strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextSet {
    /// These alone (patterns and lengths already applied).
    Finite(BTreeSet<String>),
    /// All that every machine accepts, with a number of code points within the bounds.
    Open { machines: Vec<usize>, min: u64, max: Option<u64> },
}

impl TextSet {
    /// The strings that one machine accepts.
    pub fn of(machine: usize) -> TextSet {
        TextSet::Open { machines: vec![machine], min: 0, max: None }
    }
}

/// How far a text has come, at a character boundary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    Finite(String),
    Open { count: u64, states: Vec<StateID> },
}

/// Characters `low..=high` lead to the states.
type Edges = Rc<Vec<(u32, u32, Vec<StateID>)>>;
/// Machines and one state of each.
type Product = (Vec<usize>, Vec<StateID>);
/// A product with how many more characters there must and may be.
type Window = (Product, u64, Option<u64>);

/// The machines of a schema with what was found out about them.
#[derive(Default)]
pub struct Texts {
    machines: Vec<Machine>,
    edges: RefCell<HashMap<(Product, u8), Edges>>,
    live: RefCell<HashMap<Window, bool>>,
    partial: RefCell<HashMap<(Window, Pending), bool>>,
}

impl Texts {
    pub fn new(machines: Vec<Machine>) -> Texts {
        Texts { machines, ..Texts::default() }
    }

    pub fn start(&self, set: &TextSet) -> Progress {
        match set {
            TextSet::Finite(_) => Progress::Finite(String::new()),
            TextSet::Open { machines, .. } => {
                let states = machines.iter().map(|&m| self.machines[m].start()).collect();
                Progress::Open { count: 0, states }
            }
        }
    }

    /// One more character; whether the result is live is another question.
    pub fn advance(&self, set: &TextSet, from: &Progress, c: char) -> Option<Progress> {
        match (set, from) {
            (TextSet::Open { machines, .. }, Progress::Open { count, states }) => {
                let mut states = states.clone();
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    states = self.step(machines, &states, byte)?;
                }
                Some(Progress::Open { count: count + 1, states })
            }
            (_, Progress::Finite(text)) => Some(Progress::Finite(format!("{text}{c}"))),
            _ => None,
        }
    }

    /// Whether the text may end here.
    pub fn complete(&self, set: &TextSet, at: &Progress) -> bool {
        match (set, at) {
            (TextSet::Finite(all), Progress::Finite(text)) => all.contains(text),
            (TextSet::Open { machines, min, max }, Progress::Open { count, states }) => {
                count >= min
                    && max.is_none_or(|max| *count <= max)
                    && self.accepts(machines, states)
            }
            _ => false,
        }
    }

    /// Whether some string of the set begins so, with a next character that `pending` can become.
    pub fn live(&self, set: &TextSet, at: &Progress, pending: Pending, minimal: bool) -> bool {
        let (machines, states, low, high) = match (set, at) {
            (TextSet::Finite(all), Progress::Finite(text)) => {
                return any_begins(all.iter(), text, pending, minimal);
            }
            (TextSet::Open { machines, min, max }, Progress::Open { count, states }) => {
                if max.is_some_and(|max| max < *count) {
                    return false;
                }
                (machines, states, min.saturating_sub(*count), max.map(|max| max - count))
            }
            _ => return false,
        };
        if machines.is_empty() {
            return pending == Pending::None || high != Some(0);
        }
        let product = (machines.clone(), states.clone());
        if pending == Pending::None {
            return self.reaches(product, low, high);
        }
        if high == Some(0) {
            return false;
        }
        let key = ((product, low, high), pending);
        if let Some(&known) = self.partial.borrow().get(&key) {
            return known;
        }
        let ranges = pending.ranges(minimal);
        let edges = self.edges(&key.0.0);
        let found = edges.iter().any(|(from, to, next)| {
            overlaps(&ranges, *from, *to)
                && self.reaches(
                    (machines.clone(), next.clone()),
                    low.saturating_sub(1),
                    high.map(|high| high - 1),
                )
        });
        self.partial.borrow_mut().insert(key, found);
        found
    }

    /// Whether from this product state between `low` and `high` more characters lead to acceptance.
    fn reaches(&self, from: Product, low: u64, high: Option<u64>) -> bool {
        let key = (from, low, high);
        if let Some(&known) = self.live.borrow().get(&key) {
            return known;
        }
        let found = if low == 0 && high.is_none() {
            self.reaches_somehow(&key.0)
        } else {
            self.reaches_within(&key.0, low, high)
        };
        self.live.borrow_mut().insert(key, found);
        found
    }

    /// Whether any characters lead to acceptance: depth first.
    fn reaches_somehow(&self, from: &Product) -> bool {
        let mut seen = HashSet::from([from.1.clone()]);
        let mut open = vec![from.1.clone()];
        while let Some(states) = open.pop() {
            if self.accepts(&from.0, &states) {
                return true;
            }
            for (_, _, next) in self.edges(&(from.0.clone(), states)).iter() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        false
    }

    /// Breadth first, one layer for each number of characters.
    fn reaches_within(&self, from: &Product, low: u64, high: Option<u64>) -> bool {
        let machines = &from.0;
        let mut layer = BTreeSet::from([from.1.clone()]);
        let mut seen = HashSet::new();
        let mut length = 0;
        loop {
            if length >= low {
                if layer.iter().any(|states| self.accepts(machines, states)) {
                    return true;
                }
                if high == Some(length) || !seen.insert(layer.clone()) {
                    return false;
                }
            }
            let mut next = BTreeSet::new();
            for states in &layer {
                let edges = self.edges(&(machines.clone(), states.clone()));
                next.extend(edges.iter().map(|(_, _, to)| to.clone()));
            }
            if next.is_empty() {
                return false;
            }
            // A layer that repeats itself does so until `low`.
            length = if next == layer { (length + 1).max(low) } else { length + 1 };
            layer = next;
        }
    }

    /// Where each character leads.
    fn edges(&self, from: &Product) -> Edges {
        let key = (from.clone(), 0);
        if let Some(known) = self.edges.borrow().get(&key) {
            return known.clone();
        }
        let mut edges = Vec::new();
        for lead in 0..=0xF4_u8 {
            let (left, least, code) = match lead {
                0..=0x7F => (0, 0, u32::from(lead)),
                0xC2..=0xDF => (1, 0x80, u32::from(lead & 0x1F)),
                0xE0..=0xEF => (2, 0x800, u32::from(lead & 0x0F)),
                0xF0..=0xF4 => (3, 0x1_0000, u32::from(lead & 0x07)),
                _ => continue,
            };
            let Some(next) = self.step(&from.0, &from.1, lead) else { continue };
            let base = code << (6 * left);
            for (low, high, to) in self.tails(&(from.0.clone(), next), left).iter() {
                for (low, high) in valid(base + low, base + high, least) {
                    push_edge(&mut edges, low, high, to);
                }
            }
        }
        let edges = Rc::new(edges);
        self.edges.borrow_mut().insert(key, edges.clone());
        edges
    }

    /// Where `left` continuation bytes lead, by the bits that they carry.
    fn tails(&self, from: &Product, left: u8) -> Edges {
        if left == 0 {
            return Rc::new(vec![(0, 0, from.1.clone())]);
        }
        let key = (from.clone(), left);
        if let Some(known) = self.edges.borrow().get(&key) {
            return known.clone();
        }
        let mut edges = Vec::new();
        for byte in 0x80..=0xBF_u8 {
            let Some(next) = self.step(&from.0, &from.1, byte) else { continue };
            let base = u32::from(byte & 0x3F) << (6 * (left - 1));
            for (low, high, to) in self.tails(&(from.0.clone(), next), left - 1).iter() {
                push_edge(&mut edges, base + low, base + high, to);
            }
        }
        let edges = Rc::new(edges);
        self.edges.borrow_mut().insert(key, edges.clone());
        edges
    }

    fn step(&self, machines: &[usize], states: &[StateID], byte: u8) -> Option<Vec<StateID>> {
        machines.iter().zip(states).map(|(&m, &state)| self.machines[m].step(state, byte)).collect()
    }

    fn accepts(&self, machines: &[usize], states: &[StateID]) -> bool {
        machines.iter().zip(states).all(|(&m, &state)| self.machines[m].accepts(state))
    }

    /// Whether the set has a string.
    pub fn is_possible(&self, set: &TextSet) -> bool {
        let fits = match set {
            TextSet::Open { min, max, .. } => max.is_none_or(|max| *min <= max),
            TextSet::Finite(_) => true,
        };
        fits && self.live(set, &self.start(set), Pending::None, false)
    }

    /// The strings of the set that `machine` accepts, too; `None` where there are none.
    pub fn and(&self, set: &TextSet, machine: usize) -> Option<TextSet> {
        let both = match set {
            TextSet::Finite(all) => {
                TextSet::Finite(self.filter(all.clone(), &TextSet::of(machine)))
            }
            TextSet::Open { machines, min, max } => {
                let machines = [machines.as_slice(), &[machine]].concat();
                TextSet::Open { machines, min: *min, max: *max }
            }
        };
        self.is_possible(&both).then_some(both)
    }

    /// How far `text` leads; `None` where the set has nothing that begins so.
    pub fn after(&self, set: &TextSet, text: &str) -> Option<Progress> {
        text.chars().try_fold(self.start(set), |at, c| self.advance(set, &at, c))
    }

    pub fn contains(&self, set: &TextSet, text: &str) -> bool {
        self.after(set, text).is_some_and(|end| self.complete(set, &end))
    }

    /// Whether some string of the set that is not `taken` begins with `text` and a next character
    /// that `pending` can become.
    pub fn live_beside(
        &self,
        set: &TextSet,
        text: &str,
        taken: &BTreeSet<&String>,
        (pending, minimal): (Pending, bool),
    ) -> bool {
        let Some(at) = self.after(set, text) else { return false };
        if !self.live(set, &at, pending, minimal) {
            return false;
        }
        // The characters with which those that are taken go on.
        let near: BTreeSet<u32> = taken
            .iter()
            .filter_map(|one| one.strip_prefix(text)?.chars().next())
            .map(|c| c as u32)
            .collect();
        if pending == Pending::None && self.complete(set, &at) && !taken.iter().any(|t| *t == text)
        {
            return true;
        }
        if near.is_empty() && (pending != Pending::None || !taken.iter().any(|t| *t == text)) {
            return true;
        }
        let ranges = pending.ranges(minimal && pending != Pending::None);
        let fits = |c: u32| overlaps(&ranges, c, c);
        let longer = |c: u32| {
            let c = char::from_u32(c).expect("part of a string");
            self.live_beside(set, &format!("{text}{c}"), taken, (Pending::None, minimal))
        };
        if near.iter().any(|&c| fits(c) && longer(c)) {
            return true;
        }
        match (set, at) {
            (TextSet::Finite(all), _) => all.iter().any(|one| {
                let next = one.strip_prefix(text).and_then(|rest| rest.chars().next());
                next.is_some_and(|c| fits(c as u32)) && !taken.contains(one)
            }),
            (TextSet::Open { machines, min, max }, Progress::Open { count, states }) => {
                if max.is_some_and(|max| max <= count) {
                    return false;
                }
                let low = min.saturating_sub(count + 1);
                let high = max.map(|max| max - count - 1);
                self.edges(&(machines.clone(), states)).iter().any(|(from, to, next)| {
                    let free = super::lex::clip(&ranges, &[(*from, *to)]);
                    let free = free.iter().any(|&(from, to)| {
                        near.range(from..=to).count() < (to - from) as usize + 1
                    });
                    free && self.reaches((machines.clone(), next.clone()), low, high)
                })
            }
            _ => false,
        }
    }

    /// The set of these strings that every machine accepts and whose length is within the bounds.
    pub fn filter(&self, all: BTreeSet<String>, set: &TextSet) -> BTreeSet<String> {
        all.into_iter().filter(|text| self.contains(set, text)).collect()
    }
}

/// Whether one of the strings begins with `text` and then a character that `pending` can become.
pub fn any_begins<'a>(
    mut all: impl Iterator<Item = &'a String>,
    text: &str,
    pending: Pending,
    minimal: bool,
) -> bool {
    let ranges = if pending == Pending::None { Ranges::new() } else { pending.ranges(minimal) };
    all.any(|one| {
        let Some(rest) = one.strip_prefix(text) else { return false };
        let next = rest.chars().next().map(|c| c as u32);
        pending == Pending::None || next.is_some_and(|c| overlaps(&ranges, c, c))
    })
}

fn overlaps(ranges: &Ranges, low: u32, high: u32) -> bool {
    ranges.iter().any(|&(from, to)| from <= high && low <= to)
}

/// `low..=high` without surrogates, overlong spellings and what lies above U+10FFFF.
fn valid(low: u32, high: u32, least: u32) -> Ranges {
    super::lex::clip(&[(low, high)], &[(least, 0xD7FF), (least.max(0xE000), 0x10FFFF)])
}

fn push_edge(edges: &mut Vec<(u32, u32, Vec<StateID>)>, low: u32, high: u32, to: &Vec<StateID>) {
    match edges.last_mut() {
        Some((_, end, states)) if *end + 1 == low && states == to => *end = high,
        _ => edges.push((low, high, to.clone())),
    }
}
