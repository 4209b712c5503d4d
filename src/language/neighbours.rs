//! Patterns whose assertions ask no more than whether the character beside them is an ASCII one of a
//! class, as `\b` and `(?!\d)` do: their automata need no assertions.
//!
//! In: an NFA in which assertions stand, and what they look for. Out: an NFA without them. A state of
//! it is one of the first, with what the last byte was and what the next may be. Only bytes of ASCII
//! decide, and of other characters every byte is none, so that characters need no care.

use super::ecma::Look as Assertion;
use super::factor::{byte_edges, epsilons, joint_classes};
use super::graph::backward;
use crate::base::ByteSet;
use regex_automata::nfa::thompson::{Builder, NFA, State, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashMap;

/// An NFA without assertions.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) nfa: NFA,
    /// Whether the search goes on whatever comes, and can still succeed.
    pub(super) never_dies: bool,
}

/// The characters that each assertion asks for; `None` where one asks for more than a neighbour.
pub(super) fn asked(looks: &[Assertion]) -> Option<Vec<ByteSet>> {
    looks.iter().map(|look| one_of_ascii(&look.body)).collect()
}

/// `nfa`, which searches from its anchored start, without its assertions, which ask for `sets`;
/// `None` where the automaton would take more than `bytes`.
pub(super) fn resolve(
    nfa: &NFA,
    looks: &[Assertion],
    sets: Vec<ByteSet>,
    bytes: usize,
) -> Option<Resolved> {
    let mut builder = Builder::new();
    builder.set_utf8(true);
    builder.set_size_limit(Some(bytes)).ok()?;
    builder.start_pattern().ok()?;
    let matched = builder.add_match().ok()?;
    let behind = |byte: u8| {
        let sets = looks.iter().zip(&sets).filter(|(look, _)| look.behind);
        sets.map(|(_, set)| u8::from(set.contains(byte))).collect()
    };
    let (kinds, count) = joint_classes(behind);
    let mut examples = vec![0; count];
    (0..=255u8).for_each(|byte| examples[usize::from(kinds[usize::from(byte)])] = byte);
    let (ids, places) = (FxHashMap::default(), Vec::new());
    let mut resolver =
        Resolver { nfa, looks, sets, kinds, examples, builder, matched, ids, places };
    let start = resolver.at(nfa.start_anchored(), None, Need::ANY)?;
    let mut done = 0;
    while let Some(&place) = resolver.places.get(done) {
        resolver.write(place)?;
        done += 1;
    }
    let never_dies = resolver.never_dies();
    let mut builder = resolver.builder;
    builder.finish_pattern(start).ok()?;
    let nfa = builder.build(start, start).ok()?;
    Some(Resolved { nfa, never_dies })
}

/// The ASCII characters that `body` is one of.
fn one_of_ascii(body: &Hir) -> Option<ByteSet> {
    match body.kind() {
        HirKind::Literal(literal) => match literal.0[..] {
            [byte] if byte.is_ascii() => Some([byte].into_iter().collect()),
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => {
            let ranges = class.ranges().iter();
            Some(
                ranges
                    .flat_map(|r| u32::from(r.start())..=u32::from(r.end()))
                    .map(|c| c as u8)
                    .collect(),
            )
        }
        _ => None,
    }
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Need {
    bytes: ByteSet,
    end: bool,
}

impl Need {
    const ANY: Need = Need { bytes: ByteSet::FULL, end: true };

    /// The same with a byte of `set`, or with another one or the end; `None` where nothing is left.
    fn and(self, set: &ByteSet, negative: bool) -> Option<Need> {
        let fits = |&byte: &u8| set.contains(byte) != negative;
        let bytes: ByteSet = self.bytes.iter().filter(fits).collect();
        let end = self.end && negative;
        (end || !bytes.is_empty()).then_some(Need { bytes, end })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    state: StateID,
    /// The kind of the last byte; `None` at the beginning.
    last: Option<u8>,
    need: Need,
}

struct Resolver<'a> {
    nfa: &'a NFA,
    looks: &'a [Assertion],
    sets: Vec<ByteSet>,
    /// What bytes are to look-behinds, and a byte of each kind.
    kinds: [u8; 256],
    examples: Vec<u8>,
    builder: Builder,
    matched: StateID,
    /// Each place stands for itself as an empty state, which is patched to what it does.
    ids: FxHashMap<Place, StateID>,
    places: Vec<Place>,
}

impl Resolver<'_> {
    fn at(&mut self, state: StateID, last: Option<u8>, need: Need) -> Option<StateID> {
        let place = Place { state, last, need };
        if let Some(&id) = self.ids.get(&place) {
            return Some(id);
        }
        let id = self.builder.add_empty().ok()?;
        self.ids.insert(place, id);
        self.places.push(place);
        Some(id)
    }

    /// Writes what a place does; `None` where the limit is met.
    fn write(&mut self, place: Place) -> Option<()> {
        let Place { state, last, need } = place;
        let does = match self.nfa.state(state) {
            State::Match { .. } if need == Need::ANY => self.matched,
            State::Match { .. } => {
                // The next byte begins a character.
                let begins = need.bytes.iter().filter(|byte| byte & 0xC0 != 0x80);
                let reads = begins.map(|byte| (byte, self.matched));
                let reads = transitions(reads);
                let mut ways = vec![self.builder.add_sparse(reads).ok()?];
                if need.end {
                    ways.push(self.builder.add_look(self.matched, Look::End).ok()?);
                }
                self.builder.add_union(ways).ok()?
            }
            State::Look { look: Look::End, next } => {
                let end = Need { bytes: ByteSet::EMPTY, end: true };
                match need.end.then(|| self.at(*next, last, end)) {
                    Some(next) => self.builder.add_look(next?, Look::End).ok()?,
                    None => self.builder.add_fail().ok()?,
                }
            }
            State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                let mut edges = Vec::new();
                byte_edges(self.nfa.state(state), |low, high, next| {
                    edges.extend((low..=high).map(|byte| (byte, next)));
                });
                edges.retain(|&(byte, _)| need.bytes.contains(byte));
                let mut reads = Vec::with_capacity(edges.len());
                for (byte, next) in edges {
                    let kind = self.kinds[usize::from(byte)];
                    reads.push((byte, self.at(next, Some(kind), Need::ANY)?));
                }
                self.builder.add_sparse(transitions(reads)).ok()?
            }
            _ => {
                let mut ways = Vec::new();
                for (next, need) in self.passes(place) {
                    ways.push(self.at(next, last, need)?);
                }
                self.builder.add_union(ways).ok()?
            }
        };
        self.builder.patch(self.ids[&place], does).ok()
    }

    /// Where a place leads that reads nothing, the end of the text aside.
    fn passes(&self, place: Place) -> Vec<(StateID, Need)> {
        let Place { state, last, need } = place;
        let mut passes = Vec::new();
        match self.nfa.state(state) {
            State::Look { look: Look::Start, next } => {
                passes.extend(last.is_none().then_some((*next, need)));
            }
            capture @ State::Capture { next, .. } => match Assertion::of_state(capture) {
                None => passes.push((*next, need)),
                Some((look, negative)) if self.looks[look].behind => {
                    let holds = last.is_some_and(|kind| {
                        self.sets[look].contains(self.examples[usize::from(kind)])
                    });
                    passes.extend((holds != negative).then_some((*next, need)));
                }
                Some((look, negative)) => {
                    passes.extend(need.and(&self.sets[look], negative).map(|need| (*next, need)));
                }
            },
            state => epsilons(state, |next| passes.push((next, need))),
        }
        passes
    }

    /// Whether the loop before the pattern, wherever it stands, leads to a match.
    fn never_dies(&self) -> bool {
        let numbers: FxHashMap<Place, usize> =
            self.places.iter().enumerate().map(|(index, &place)| (place, index)).collect();
        let number = |state, last, need| numbers.get(&Place { state, last, need }).copied();
        let leads = backward(
            self.places.len(),
            |index| matches!(self.nfa.state(self.places[index].state), State::Match { .. }),
            |index, visit| {
                let place = self.places[index];
                for (next, need) in self.passes(place) {
                    number(next, place.last, need).into_iter().for_each(&mut *visit);
                }
                if let State::Look { look: Look::End, next } = self.nfa.state(place.state) {
                    let end = Need { bytes: ByteSet::EMPTY, end: true };
                    let next = place.need.end.then(|| number(*next, place.last, end));
                    next.flatten().into_iter().for_each(&mut *visit);
                }
                byte_edges(self.nfa.state(place.state), |low, high, next| {
                    let mut last = None;
                    for byte in (low..=high).filter(|&byte| place.need.bytes.contains(byte)) {
                        let kind = self.kinds[usize::from(byte)];
                        if last.replace(kind) != Some(kind) {
                            number(next, Some(kind), Need::ANY).into_iter().for_each(&mut *visit);
                        }
                    }
                });
            },
        );
        let search = self.search();
        let loops = |place: &Place| Some(place.state) == search && place.need == Need::ANY;
        let mut stands = self.places.iter().enumerate().filter(|(_, place)| loops(place));
        search.is_some() && stands.all(|(index, _)| leads.contains(index))
    }

    /// The state at which the search begins, before each character.
    fn search(&self) -> Option<StateID> {
        let mut state = self.nfa.start_anchored();
        loop {
            match self.nfa.state(state) {
                State::Capture { next, .. } => state = *next,
                State::Union { .. } | State::BinaryUnion { .. } => return Some(state),
                _ => return None,
            }
        }
    }
}

/// Bytes in ascending order, as ranges.
fn transitions(bytes: impl IntoIterator<Item = (u8, StateID)>) -> Vec<Transition> {
    let mut ranges: Vec<Transition> = Vec::new();
    for (byte, next) in bytes {
        match ranges.last_mut() {
            Some(last) if last.next == next && last.end.checked_add(1) == Some(byte) => {
                last.end = byte;
            }
            _ => ranges.push(Transition { start: byte, end: byte, next }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use crate::language::ecma;
    use crate::language::{Alphabet, Factor, Language};
    use crate::options::Limits;
    use std::sync::Arc;

    #[test]
    fn the_same_texts_match_without_the_assertions() {
        let mut texts = vec![String::new()];
        for from in 0.. {
            let Some(text) = texts.get(from).filter(|text| text.chars().count() < 5) else { break };
            let longer = ["a", "_", "-", "é"].map(|c| format!("{text}{c}"));
            texts.extend(longer);
        }
        for pattern in [
            r"\ba\b",
            r"\Ba",
            r"a\B",
            r"^a+\b-",
            r"\b",
            r"\B",
            r"^\B$",
            r"^\b",
            r"\b$",
            r"(\ba|-)\B",
            r"^(?:\b.)+$",
            r"a(?![a_])",
            r"(?<!a)-",
            r"(?<=a)(?=-)",
            r"^(a\b-|é)*$",
            r"(?=a)",
            r"(?!a)$",
            r"^(?!a)",
            r"(?<=a)$",
            r"^.{2}\b.{2}$",
            r"(?=a)(?!a)",
            r"(?<!_)",
        ] {
            let read = ecma::parse(pattern).unwrap();
            assert!(!read.looks.is_empty());
            let plain = Factor::pattern(pattern, &Limits::default()).unwrap();
            assert!(plain.looks().is_empty(), "{pattern}");
            let other = Factor::with_looks(&read, 1 << 20).unwrap();
            for text in &texts {
                assert_eq!(plain.matches(text), other.matches(text), "{pattern} {text:?}");
            }
        }
    }

    #[test]
    fn what_asks_for_more_is_left() {
        for pattern in ["(?=ab)", "(?=é)", "(?!^)", "(?=[^a])", "(?=a*)"] {
            let factor = Factor::pattern(pattern, &Limits::default()).unwrap();
            assert!(!factor.looks().is_empty(), "{pattern}");
        }
    }

    #[test]
    fn searches_never_die() {
        let never_dies = |pattern: &str| {
            let factor = Factor::pattern(pattern, &Limits::default()).unwrap();
            let alphabet = Arc::new(Alphabet::full(false));
            let language =
                Language::compile(&[factor], &[], 0, None, &alphabet, &Limits::default()).unwrap();
            language.never_dies(language.start())
        };
        assert!(never_dies(r"\ba\b") && never_dies(r"-\b") && never_dies("a(?!b)"));
        assert!(!never_dies(r"^\ba") && !never_dies(r"^a\b") && !never_dies(r"\B$^"));
    }
}
