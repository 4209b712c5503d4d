//! Several languages read at once: for each string, which of them hold it.
//!
//! What a key of an object may be, and what its value must be, depends on which patterns match it.
//! The joint automaton knows all combinations that occur; restricted to those that are allowed it
//! is a [`Language`] like any other, whose states still tell the combination.

use super::automaton::{LangState, Language, LanguageLimit, MakeProduct, Mode, allowed, stepped};
use super::decode::TextState;
use super::explored::{Explored, accepts_in};
use super::factor::Factor;
use super::product::{Product, spell_node};
use super::spell::{BOUNDARY, Spell, SpellNode};
use crate::options::Limits;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// Several languages, read at once.
#[derive(Debug)]
pub(crate) struct Joint {
    states: Arc<States>,
    /// By the combinations that are allowed: their strings, where they were asked for.
    chosen: Mutex<FxHashMap<FixedBitSet, Chosen>>,
}

#[derive(Debug)]
struct States {
    explored: Explored,
    /// By state: the combination of a string that ends there; [`INSIDE`], where none does.
    combination_of: Vec<u32>,
    /// The combinations that occur: which languages hold the string.
    combinations: Vec<FixedBitSet>,
}

/// The states inside a character have no combination.
const INSIDE: u32 = u32::MAX;

impl Joint {
    /// Reads all of `factors` at once.
    ///
    /// # Errors
    /// `language_states`, where too many states are needed.
    pub(crate) fn compile(
        factors: &[Arc<Factor>],
        limits: &Limits,
    ) -> Result<Joint, LanguageLimit> {
        let dfas = stepped(factors.iter().cloned(), limits)?;
        let explored = Explored::run(&dfas, allowed(factors.iter(), limits), |_, _| true)?;
        let mut known: FxHashMap<FixedBitSet, u32> = FxHashMap::default();
        let mut combinations = Vec::new();
        let mut combination_of = vec![INSIDE; explored.states.len()];
        for end in explored.ends().ones() {
            let mut holds = FixedBitSet::with_capacity(dfas.len());
            for (index, (dfa, &state)) in dfas.iter().zip(&explored.states[end]).enumerate() {
                holds.set(index, accepts_in(dfa, state));
            }
            combination_of[end] = *known.entry(holds.clone()).or_insert_with(|| {
                combinations.push(holds);
                combinations.len() as u32 - 1
            });
        }
        let states = Arc::new(States { explored, combination_of, combinations });
        Ok(Joint { states, chosen: Mutex::default() })
    }

    /// Which languages hold a string, for each combination that occurs.
    pub(crate) fn combinations(&self) -> &[FixedBitSet] {
        &self.states.combinations
    }

    /// The strings of the combinations that are `allowed`; `None` where there are none.
    pub(crate) fn restrict(&self, allowed: impl Fn(usize) -> bool) -> Option<Chosen> {
        let mut combinations = FixedBitSet::with_capacity(self.combinations().len());
        combinations.extend((0..self.combinations().len()).filter(|&index| allowed(index)));
        if combinations.is_clear() {
            return None;
        }
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |allowed: &FixedBitSet| Chosen::new(self.states.clone(), allowed.clone());
        Some(chosen.entry(combinations).or_insert_with_key(fresh).clone())
    }
}

impl States {
    /// The automaton of the strings of some combinations.
    fn restrict(&self, allowed: &FixedBitSet) -> Product {
        let mut accepts = FixedBitSet::with_capacity(self.combination_of.len());
        for (state, &index) in self.combination_of.iter().enumerate() {
            accepts.set(state, index != INSIDE && allowed.contains(index as usize));
        }
        Product::live_part(&self.explored, accepts)
    }
}

/// The strings of some combinations of a [`Joint`]: there are some. What is known of them is found
/// when it is first asked for.
#[derive(Clone, Debug)]
pub(crate) struct Chosen(Arc<ChosenStrings>);

#[derive(Debug)]
struct ChosenStrings {
    states: Arc<States>,
    language: Arc<Language>,
    /// By state: the fewest bytes to the end of a string.
    distances: OnceLock<Vec<u32>>,
    /// States from which there are finitely many strings.
    finite: OnceLock<FixedBitSet>,
    counted: OnceLock<Counted>,
}

#[derive(Debug)]
struct Counted {
    /// How many strings there are, at least.
    all: u64,
    /// Where there are many but finitely many strings: by state, how many of ASCII alone.
    ascii: FxHashMap<LangState, u64>,
}

impl Chosen {
    fn new(states: Arc<States>, allowed: FixedBitSet) -> Chosen {
        let of = states.clone();
        let product = LazyLock::new(Box::new(move || of.restrict(&allowed)) as MakeProduct);
        Chosen(Arc::new(ChosenStrings {
            states,
            language: Arc::new(Language { mode: Mode::Eager(product) }),
            distances: OnceLock::new(),
            finite: OnceLock::new(),
            counted: OnceLock::new(),
        }))
    }

    pub(crate) fn language(&self) -> &Arc<Language> {
        &self.0.language
    }

    /// The strings of one combination among them.
    pub(crate) fn only(&self, combination: usize) -> Option<Chosen> {
        let mut allowed = FixedBitSet::with_capacity(self.0.states.combinations.len());
        (combination < allowed.len()).then(|| allowed.insert(combination))?;
        Some(Chosen::new(self.0.states.clone(), allowed))
    }

    fn finite(&self) -> &FixedBitSet {
        self.0.finite.get_or_init(|| {
            self.language().product().map(Product::finite_states).unwrap_or_default()
        })
    }

    fn counted(&self) -> &Counted {
        self.0.counted.get_or_init(|| {
            let start = self.language().start();
            match self.language().cardinality(start, 0) {
                Some(all) => Counted { all, ascii: FxHashMap::default() },
                None => {
                    let ascii = self.ascii_strings();
                    let all = ascii.get(&start).copied().unwrap_or(0).max(Language::COUNTED);
                    Counted { all, ascii }
                }
            }
        })
    }

    /// By state, how many strings there are of ASCII alone, where they come to an end.
    fn ascii_strings(&self) -> FxHashMap<LangState, u64> {
        let start = self.language().start();
        if !self.runs_out(start) {
            return FxHashMap::default();
        }
        let ways =
            |state| (0..0x80).filter_map(move |b| self.language().step_byte(state, b).ok()?);
        let mut counted: FxHashMap<LangState, u64> = FxHashMap::default();
        // No state leads back to itself; each is counted once what it leads to is.
        let mut open = vec![(start, false)];
        while let Some((state, is_begun)) = open.pop() {
            if counted.contains_key(&state) {
                continue;
            }
            if is_begun {
                let own = u64::from(self.language().accepts_at(state, 0));
                let ends = ways(state).filter_map(|next| counted.get(&next));
                let ends = ends.fold(own, |all, &ends| all.saturating_add(ends));
                counted.insert(state, ends);
            } else {
                open.push((state, true));
                open.extend(ways(state).map(|next| (next, false)));
            }
        }
        counted
    }

    /// Whether from a state there are surely more strings than `some`.
    pub(crate) fn outlasts(&self, state: LangState, some: u64) -> bool {
        !self.runs_out(state) || self.counted().ascii.get(&state).is_some_and(|&count| count > some)
    }

    /// The combination of a string that ends in `state`.
    pub(crate) fn combination(&self, state: LangState) -> usize {
        let known = self.0.states.combination_of.get(state.0 as usize);
        known.filter(|index| **index != INSIDE).map_or(0, |&index| index as usize)
    }

    /// Whether the strings that go on from `state` come to an end.
    pub(crate) fn runs_out(&self, state: LangState) -> bool {
        self.finite().contains(state.0 as usize)
    }

    /// Whether from some state there are finitely many strings.
    pub(crate) fn ever_runs_out(&self) -> bool {
        !self.finite().is_clear()
    }

    /// How many strings there are; `None` where they do not end, or are more than is counted.
    pub(crate) fn count(&self) -> Option<u64> {
        let ends = self.runs_out(self.language().start());
        let count = ends.then(|| self.counted().all)?;
        (count < Language::COUNTED).then_some(count)
    }

    /// Whether there are more strings than `some`.
    pub(crate) fn outnumbers(&self, some: u64) -> bool {
        !self.runs_out(self.language().start()) || self.counted().all > some
    }

    /// Whether a string that begins with `text` and stands at `state`, perhaps inside a raw
    /// character, can end as none of the `known` ones.
    pub(crate) fn goes_on_beside(
        &self,
        state: LangState,
        at: TextState,
        text: &[u8],
        known: impl Fn(&[u8]) -> bool,
    ) -> bool {
        if !self.runs_out(state) {
            return true;
        }
        let mut full = text.to_vec();
        let end = self.end_other_than(state, at, |end| {
            full.truncate(text.len());
            full.extend_from_slice(end);
            known(&full)
        });
        end.is_some()
    }

    /// A short end, in bytes of the decoded string, that is not `excluded`, for a string that
    /// stands at `state`, perhaps inside a raw character. As many as are excluded are tried at the
    /// most.
    pub(crate) fn end_other_than(
        &self,
        state: LangState,
        text: TextState,
        mut excluded: impl FnMut(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let node = spell_node(text)?;
        if self.runs_out(state) {
            return self.search(state, node, usize::MAX, &mut excluded);
        }
        let shortest = self.distance(state)?;
        (shortest..usize::MAX).find_map(|most| self.search(state, node, most, &mut excluded))
    }

    fn distance(&self, state: LangState) -> Option<usize> {
        let distances = self
            .0
            .distances
            .get_or_init(|| self.language().product().map(Product::distances).unwrap_or_default());
        let distance = distances.get(state.0 as usize).filter(|&&d| d != u32::MAX)?;
        usize::try_from(*distance).ok()
    }

    /// The first such end of at most `most` bytes, depth first.
    fn search(
        &self,
        state: LangState,
        node: SpellNode,
        most: usize,
        excluded: &mut impl FnMut(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let mut end = Vec::new();
        // Each open place with the ways on that were not taken yet.
        let mut open = vec![(state, node, None::<std::vec::IntoIter<(u8, LangState, SpellNode)>>)];
        while let Some((state, node, ways)) = open.last_mut() {
            let (state, node) = (*state, *node);
            let ways = match ways {
                Some(ways) => ways,
                None => {
                    if node == BOUNDARY && self.language().accepts_at(state, 0) && !excluded(&end) {
                        return Some(end);
                    }
                    ways.insert(self.ways(state, node, most.saturating_sub(end.len())))
                }
            };
            match ways.next() {
                Some((byte, state, node)) => {
                    end.push(byte);
                    open.push((state, node, None));
                }
                None => {
                    open.pop();
                    end.pop();
                }
            }
        }
        None
    }

    /// The bytes that go on from a place to an end of at most `left` bytes; letters come first.
    fn ways(
        &self,
        state: LangState,
        node: SpellNode,
        left: usize,
    ) -> std::vec::IntoIter<(u8, LangState, SpellNode)> {
        let mut ways = Vec::new();
        for edge in Spell::any_utf8().edges(node) {
            for byte in edge.low..=edge.high {
                let Ok(Some(next)) = self.language().step_byte(state, byte) else { continue };
                if self.distance(next).is_some_and(|distance| distance < left) {
                    ways.push((byte, next, edge.next));
                }
            }
        }
        ways.sort_by_key(|&(byte, ..)| (!byte.is_ascii_lowercase(), byte));
        ways.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_and_their_strings() {
        let limits = Limits::default();
        let factors = ["^x", "y$"].map(|text| Factor::pattern(text, &limits).unwrap());
        let joint = Arc::new(Joint::compile(&factors, &limits).unwrap());
        let holds = |text: &str| {
            let all = joint.restrict(|_| true).unwrap();
            let step = |state, byte| all.language().step_byte(state, byte).unwrap().unwrap();
            let end = text.bytes().fold(all.language().start(), step);
            joint.combinations()[all.combination(end)].ones().collect::<Vec<_>>()
        };
        assert_eq!(holds(""), [0usize; 0]);
        assert_eq!(holds("xa"), [0]);
        assert_eq!(holds("ay"), [1]);
        assert_eq!(holds("xéy"), [0, 1]);
        let neither = joint.restrict(|i| joint.combinations()[i].is_clear()).unwrap();
        for (text, expected) in [("", true), ("a", true), ("x", false), ("ay", false), ("é", true)]
        {
            assert_eq!(neither.language().matches(text), expected, "{text}");
        }
        assert!(joint.restrict(|_| false).is_none());
        let end = |excluded: &[&str]| {
            let texts = |end: &[u8]| excluded.iter().any(|text| text.as_bytes() == end);
            let start = neither.language().start();
            String::from_utf8(neither.end_other_than(start, TextState::START, texts)?).ok()
        };
        assert!(!neither.runs_out(neither.language().start()));
        assert_eq!(end(&[]).as_deref(), Some(""));
        assert_eq!(end(&["", "a", "c"]).as_deref(), Some("b"));
        let all = joint.restrict(|_| true).unwrap();
        assert!(all.language().never_dies(all.language().start()));
    }

    #[test]
    fn no_string_ends_inside_a_character() {
        let limits = Limits::default();
        let factors = ["^a*$", "[^a]"].map(|text| Factor::pattern(text, &limits).unwrap());
        let joint = Joint::compile(&factors, &limits).unwrap();
        let combinations = joint.combinations().iter().map(|holds| holds.ones().collect());
        assert_eq!(combinations.collect::<Vec<Vec<usize>>>(), [[0], [1]]);
    }

    #[test]
    fn strings_that_run_out() {
        let limits = Limits::default();
        let factor = Factor::pattern("^(a|b|cé*)$", &limits).unwrap();
        let joint = Arc::new(Joint::compile(&[factor], &limits).unwrap());
        let chosen = joint.restrict(|i| joint.combinations()[i].contains(0)).unwrap();
        let start = chosen.language().start();
        let a = chosen.language().step_byte(start, b'a').unwrap().unwrap();
        assert!(!chosen.runs_out(start) && chosen.runs_out(a));
        let end = |state, excluded: &[&str]| {
            let texts = |end: &[u8]| excluded.iter().any(|text| text.as_bytes() == end);
            chosen.end_other_than(state, TextState::START, texts).map(|end| end.len())
        };
        assert_eq!(end(a, &[]), Some(0));
        assert_eq!(end(a, &[""]), None);
        assert_eq!(end(start, &["a", "b", "c"]), Some(3));
        assert!(chosen.outnumbers(u64::MAX) && chosen.count().is_none());
    }

    #[test]
    fn many_strings_are_counted_as_far_as_they_are_ascii() {
        let limits = Limits::default();
        let chosen = |text: &str| {
            let factor = Factor::pattern(text, &limits).unwrap();
            let joint = Arc::new(Joint::compile(&[factor], &limits).unwrap());
            joint.restrict(|i| joint.combinations()[i].contains(0)).unwrap()
        };
        let count = |text: &str| chosen(text).counted().all;
        assert_eq!(count("^[a-d]{3}$"), 64);
        assert_eq!(count("^[a-zé]{4}$"), 26 * 26 * 26 * 26);
        assert_eq!(count("^[0-9a-z_-]{1,255}$"), u64::MAX);
        assert!(chosen("^.$").outnumbers(9_999) && !chosen("^.$").outnumbers(10_000));
    }
}
