//! Shortest completions of a language: what a search begins with, and how its result is spelled.

use super::alphabet::Alphabet;
use super::automaton::{LangState, Language, Mode, sequences};
use super::decode::TextState;
use super::factor::Factor;
use super::lazy::LazyDfa;
use super::product::{Product, spell_node};
use super::shortest::{Found, Missing, Origin, Readable, cheapest};
use super::spell::{BOUNDARY, Cost, SpellEdge};
use rustc_hash::FxHashMap;

/// Places that a search among lengths settles before it goes on character by character.
const SEARCH_FUEL: usize = 20_000;

impl Language {
    /// The cheapest JSON spelling that completes the string: content bytes, no closing quote.
    ///
    /// `text` is the decoder's state, `state` the language's, `count` the characters read, a
    /// partly read one included. Where a length range makes the search too long, the spelling
    /// has the fewest characters, each as cheap as can be. `None` where there is none.
    pub(crate) fn shortest(
        &self,
        alphabet: &Alphabet,
        state: LangState,
        text: TextState,
        count: u64,
    ) -> Option<Vec<u8>> {
        Completion { language: self, alphabet }.shortest(state, text, count)
    }
}

/// A language, completed over an alphabet.
struct Completion<'a> {
    language: &'a Language,
    alphabet: &'a Alphabet,
}

impl Completion<'_> {
    fn shortest(&self, state: LangState, text: TextState, count: u64) -> Option<Vec<u8>> {
        match &self.language.mode {
            Mode::Lazy(dfa) if dfa.is_universal(state) => self.alphabet.complete(text, None),
            Mode::Lazy(dfa) if dfa.max().is_some() => self.shortest_capped(dfa, state, text, count),
            Mode::Lazy(dfa) => {
                if text.is_boundary() && dfa.accepts(state) {
                    return Some(Vec::new());
                }
                let reader = NfaReader { factor: dfa.factor() };
                let members = dfa.members(state).iter();
                let origins: Vec<Origin<u32>> =
                    members.flat_map(|&q| self.origins(&reader, q, text)).collect();
                let found = cheapest(&reader, self.alphabet.spell(), &origins, usize::MAX).ok()?;
                self.alphabet.spell_end(text, found.escaped, &found.bytes)
            }
            Mode::Eager(product) => {
                let reader = ProductReader { product };
                let origins = self.origins(&reader, (state.0, reader.clip(count)), text);
                let fuel = if reader.is_bounded() { SEARCH_FUEL } else { usize::MAX };
                match cheapest(&reader, self.alphabet.spell(), &origins, fuel) {
                    Ok(found) => self.alphabet.spell_end(text, found.escaped, &found.bytes),
                    Err(Missing::Nothing) => None,
                    Err(Missing::Fuel) => self.fewest_chars(product, &origins, text),
                }
            }
        }
    }

    /// The cheapest completion with few enough characters; where the search is long, that of the
    /// fewest, each as cheap as can be.
    fn shortest_capped(
        &self,
        dfa: &LazyDfa,
        state: LangState,
        text: TextState,
        count: u64,
    ) -> Option<Vec<u8>> {
        if text.is_boundary() && dfa.accepts(state) {
            return Some(Vec::new());
        }
        let reader = CappedReader { dfa, nfa: NfaReader { factor: dfa.factor() } };
        let left = dfa.left(count)?;
        let members = dfa.members(state).iter();
        let origins: Vec<Origin<(u32, u64)>> =
            members.flat_map(|&q| self.origins(&reader, (q, left), text)).collect();
        let spell = self.alphabet.spell();
        match cheapest(&reader, spell, &origins, SEARCH_FUEL) {
            Ok(found) => return self.alphabet.spell_end(text, found.escaped, &found.bytes),
            Err(Missing::Nothing) => return None,
            Err(Missing::Fuel) => {}
        }
        // With no more characters left than are needed, every step has to bring the end nearer.
        let fewest = origins.iter().map(|o| dfa.fewest_from(o.state.0)).min()?;
        let origins: Vec<Origin<(u32, u64)>> = origins
            .into_iter()
            .filter(|o| dfa.fewest_from(o.state.0) == fewest)
            .map(|o| Origin { state: (o.state.0, fewest), ..o })
            .collect();
        let found = cheapest(&reader, spell, &origins, usize::MAX).ok()?;
        self.alphabet.spell_end(text, found.escaped, &found.bytes)
    }

    /// Where a search from `state` begins, the decoder being in `text`.
    fn origins<R: Readable>(
        &self,
        reader: &R,
        state: R::State,
        text: TextState,
    ) -> Vec<Origin<R::State>> {
        if let Some(node) = spell_node(text) {
            return vec![Origin { state, node, cost: Cost::default(), escaped: None }];
        }
        let mut origins: FxHashMap<R::State, Origin<R::State>> = FxHashMap::default();
        for (state, c) in self.after_escape(reader, state, text) {
            let Some(rest) = self.alphabet.complete(text, Some(c)) else { continue };
            let cost = Cost { bytes: rest.len() as u32, dislike: 0 };
            let origin = Origin { state, node: BOUNDARY, cost, escaped: Some(c) };
            let known = origins.entry(state).or_insert(origin);
            if cost < known.cost {
                *known = origin;
            }
        }
        origins.into_values().collect()
    }

    /// The states after a character that the pending escape can become, each with some: letters
    /// first, and the short escapes, which may cost less, apart.
    fn after_escape<R: Readable>(
        &self,
        reader: &R,
        state: R::State,
        text: TextState,
    ) -> Vec<(R::State, char)> {
        let ranges = self.alphabet.pending_chars(text);
        let short = ['"', '\\', '/', '\u{8}', '\u{C}', '\n', '\r', '\t'].map(u32::from);
        let within = |c: u32| ranges.iter().any(|&(low, high)| (low..=high).contains(&c));
        let single = |c: u32| within(c).then_some((c, c));
        let letters = (0x61..=0x7A).filter_map(single);
        let short = short.into_iter().filter_map(single);
        let ranges: Vec<(u32, u32)> = letters.chain(ranges.iter().copied()).chain(short).collect();
        let mut found = Vec::new();
        let mut read = Vec::new();
        for sequence in sequences(&ranges) {
            let mut reached = vec![(state, [0u8; 4])];
            for (place, range) in sequence.as_slice().iter().enumerate() {
                let (low, high) = (range.start, range.end);
                let edge = SpellEdge { low, high, cost: Cost::default(), next: BOUNDARY };
                let mut after = Vec::new();
                for (from, mut bytes) in reached {
                    reader.read(from, &edge, false, &mut read);
                    for (byte, next) in read.drain(..) {
                        bytes[place] = byte;
                        after.push((next, bytes));
                    }
                }
                after.sort_unstable();
                after.dedup_by_key(|&mut (next, _)| next);
                reached = close(reader, after);
            }
            let len = sequence.len();
            found.extend(reached.into_iter().filter_map(|(state, bytes)| {
                let c = std::str::from_utf8(&bytes[..len]).ok()?.chars().next()?;
                Some((state, c))
            }));
        }
        found
    }

    /// The completion of the fewest characters, each as cheap as can be.
    fn fewest_chars(
        &self,
        product: &Product,
        origins: &[Origin<(u32, u64)>],
        text: TextState,
    ) -> Option<Vec<u8>> {
        let spell = self.alphabet.spell();
        let left = |o: &Origin<(u32, u64)>| product.fewest(LangState(o.state.0), o.state.1);
        let mut left = origins.iter().filter_map(left).min()?;
        let origins: Vec<Origin<(u32, bool)>> = origins
            .iter()
            .map(|&Origin { state: (q, _), node, cost, escaped }| Origin {
                state: (q, true),
                node,
                cost,
                escaped,
            })
            .collect();
        let first = cheapest(&OneChar { product, left }, spell, &origins, usize::MAX).ok()?;
        let (mut q, mut bytes) = (first.state.0, first.bytes);
        let mut known: FxHashMap<u32, Found<(u32, bool)>> = FxHashMap::default();
        while left > 0 {
            left -= 1;
            let good = |f: &&Found<(u32, bool)>| product.accepts_after(LangState(f.state.0), left);
            if known.get(&q).filter(good).is_none() {
                let state = (q, false);
                let origin = Origin { state, node: BOUNDARY, cost: Cost::default(), escaped: None };
                let found = cheapest(&OneChar { product, left }, spell, &[origin], usize::MAX);
                known.insert(q, found.ok()?);
            }
            let found = known.get(&q)?;
            bytes.extend_from_slice(&found.bytes);
            q = found.state.0;
        }
        self.alphabet.spell_end(text, first.escaped, &bytes)
    }
}

/// Adds what is reached without a byte.
fn close<R: Readable>(reader: &R, states: Vec<(R::State, [u8; 4])>) -> Vec<(R::State, [u8; 4])> {
    let mut known: FxHashMap<R::State, [u8; 4]> = FxHashMap::default();
    let mut stack = states;
    let mut silent = Vec::new();
    while let Some((state, bytes)) = stack.pop() {
        if known.contains_key(&state) {
            continue;
        }
        known.insert(state, bytes);
        reader.epsilons(state, &mut silent);
        stack.extend(silent.drain(..).map(|next| (next, bytes)));
    }
    let mut states: Vec<_> = known.into_iter().collect();
    states.sort_unstable();
    states
}

/// Reads the states of an NFA.
struct NfaReader<'a> {
    factor: &'a Factor,
}

impl Readable for NfaReader<'_> {
    type State = u32;

    fn accepts(&self, state: u32) -> bool {
        self.factor.ends(state)
    }

    fn epsilons(&self, state: u32, out: &mut Vec<u32>) {
        self.factor.epsilons(state, |next| out.push(next));
    }

    fn read(&self, state: u32, edge: &SpellEdge, _first: bool, out: &mut Vec<(u8, u32)>) {
        if self.factor.is_match(state) {
            out.push((edge.low, state));
        }
        self.factor.byte_edges(state, |low, high, next| {
            if low <= edge.high && edge.low <= high && self.factor.may_accept(next) {
                out.push((low.max(edge.low), next));
            }
        });
    }
}

/// Reads the states of an NFA with the characters that may follow.
struct CappedReader<'a> {
    dfa: &'a LazyDfa,
    nfa: NfaReader<'a>,
}

impl Readable for CappedReader<'_> {
    type State = (u32, u64);

    fn accepts(&self, (q, _): (u32, u64)) -> bool {
        self.nfa.accepts(q)
    }

    fn epsilons(&self, (q, left): (u32, u64), out: &mut Vec<(u32, u64)>) {
        self.nfa.factor.epsilons(q, |next| out.push((next, left)));
    }

    fn read(
        &self,
        (q, left): (u32, u64),
        edge: &SpellEdge,
        first: bool,
        out: &mut Vec<(u8, (u32, u64))>,
    ) {
        let Some(left) = left.checked_sub(u64::from(first)) else { return };
        let mut next = Vec::new();
        self.nfa.read(q, edge, first, &mut next);
        let fits = |&(_, q): &(u8, u32)| self.dfa.fewest_from(q) <= left;
        out.extend(next.into_iter().filter(fits).map(|(byte, q)| (byte, (q, left))));
    }
}

/// Reads a product: states with the characters read, as far as they matter.
struct ProductReader<'a> {
    product: &'a Product,
}

impl ProductReader<'_> {
    fn is_bounded(&self) -> bool {
        self.product.range() != super::product::Range::ANY
    }

    /// Without a maximum, counts above the minimum are alike.
    fn clip(&self, count: u64) -> u64 {
        let range = self.product.range();
        if range.max.is_none() { count.min(range.min) } else { count }
    }
}

impl Readable for ProductReader<'_> {
    type State = (u32, u64);

    fn accepts(&self, (q, count): (u32, u64)) -> bool {
        self.product.accepts(LangState(q)) && self.product.range().contains(count)
    }

    fn epsilons(&self, _: (u32, u64), _: &mut Vec<(u32, u64)>) {}

    fn read(
        &self,
        (q, count): (u32, u64),
        edge: &SpellEdge,
        first: bool,
        out: &mut Vec<(u8, (u32, u64))>,
    ) {
        let count = self.clip(count.saturating_add(u64::from(first)));
        self.product.read(q, edge, |byte, next| {
            if edge.next != BOUNDARY || self.product.live(LangState(next), count) {
                out.push((byte, (next, count)));
            }
        });
    }
}

/// Reads one character into a state that accepts `left` characters later. A state says whether
/// that character is read.
struct OneChar<'a> {
    product: &'a Product,
    left: u64,
}

impl Readable for OneChar<'_> {
    type State = (u32, bool);

    fn accepts(&self, (q, read): (u32, bool)) -> bool {
        read && self.product.accepts_after(LangState(q), self.left)
    }

    fn epsilons(&self, _: (u32, bool), _: &mut Vec<(u32, bool)>) {}

    fn read(
        &self,
        (q, read): (u32, bool),
        edge: &SpellEdge,
        first: bool,
        out: &mut Vec<(u8, (u32, bool))>,
    ) {
        if !(first && read) {
            self.product.read(q, edge, |byte, next| out.push((byte, (next, true))));
        }
    }
}
