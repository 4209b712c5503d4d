//! Masks against the oracle's, bit for bit, and against single tokens.

use crate::generator::{Random, loops};
use crate::oracle::{Oracle, OraclePolicy, State};
use crate::support::{amount, any_allowed, examples, mask, options, text_tokens, vocabulary};
use std::collections::BTreeMap;
use tokenmask::{Engine, ErrorKind, Grammar, Mask, Matcher, Vocabulary};

/// Tokens of one walk.
const STEPS: usize = 60;

/// What a walk prefers, to get where plain chance seldom does.
#[derive(Clone, Copy, Debug)]
enum Taste {
    Even,
    /// Bytes that few allowed tokens begin with.
    Rare,
    Whitespace,
    Escapes,
    /// Tokens over the border of two JSON tokens.
    Fused,
    /// Short words, so that documents get on.
    Structure,
}

const TASTES: [Taste; 6] =
    [Taste::Even, Taste::Rare, Taste::Whitespace, Taste::Escapes, Taste::Fused, Taste::Structure];

impl Taste {
    fn likes(self, bytes: &[u8]) -> bool {
        let marks = |set: &[u8]| bytes.iter().filter(|byte| set.contains(byte)).count();
        match self {
            Taste::Even | Taste::Rare => false,
            Taste::Whitespace => marks(b" \t\r\n") > 0 && bytes.len() < 12,
            Taste::Escapes => marks(b"\\") > 0 || bytes.iter().any(|byte| !byte.is_ascii()),
            Taste::Fused => bytes.len() > 1 && marks(b"\"{}[],:") > 0,
            Taste::Structure => bytes.len() < 3 && marks(b"\"{}[],:0n") > 0,
        }
    }

    /// An allowed text token; `None` where only the end is.
    fn choose(self, mask: &Mask, vocabulary: &Vocabulary, random: &mut Random) -> Option<u32> {
        let bytes = |&id: &u32| vocabulary.token_bytes(id).unwrap_or_default();
        let all: Vec<u32> = mask.iter().filter(|&id| !vocabulary.is_end(id)).collect();
        let mut liked: Vec<u32> = Vec::new();
        if matches!(self, Taste::Rare) {
            let mut first: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
            for id in &all {
                first.entry(bytes(id)[0]).or_default().push(*id);
            }
            liked = first.into_values().min_by_key(Vec::len).unwrap_or_default();
        } else if random.chance(70) {
            liked = all.iter().copied().filter(|id| self.likes(bytes(id))).collect();
        }
        let from = if liked.is_empty() { &all } else { &liked };
        (!from.is_empty()).then(|| from[random.below(from.len())])
    }
}

/// A schema under one policy, with its oracle and its engine.
struct Pair {
    label: String,
    oracle: Oracle,
    grammar: Grammar,
    engine: Engine,
}

impl Pair {
    /// `None` where no value is valid: both must say so.
    fn new(
        label: &str,
        schema: &str,
        policy: OraclePolicy,
        vocabulary: &Vocabulary,
    ) -> Option<Pair> {
        let label = format!("{label} {policy:?} over {}: {schema}", vocabulary.name());
        let oracle = Oracle::new(schema, policy);
        let grammar = Grammar::compile(schema, &options(policy));
        match (oracle, grammar) {
            (Ok(oracle), Ok(grammar)) => {
                let engine = grammar.bind(vocabulary).unwrap();
                Some(Pair { label, oracle, grammar, engine })
            }
            (Err(message), Err(error)) if error.kind() == ErrorKind::Unsatisfiable => {
                assert_eq!(message, "unsatisfiable", "{label}");
                None
            }
            // A subschema inside itself: the oracle finds no value there, the library reports it.
            (_, Err(error)) if error.kind() == ErrorKind::ReferenceCycle => {
                assert!(loops(schema), "{label}");
                None
            }
            (oracle, grammar) => {
                panic!("{label}\noracle: {:?}\ncompiled: {grammar:?}", oracle.err())
            }
        }
    }

    /// Compares the mask of one state, in every condition of the caches.
    fn compare(&self, matcher: &Matcher, state: &State, tokens: &[(Vec<u8>, u32)], written: &[u8]) {
        let vocabulary = self.engine.vocabulary();
        let mut expected = self.oracle.allowed(state, tokens, vocabulary.width());
        if self.oracle.may_end(state) {
            vocabulary
                .end_ids()
                .iter()
                .for_each(|id| expected[*id as usize / 32] |= 1 << (id % 32));
        }
        let first = mask(matcher);
        if first.words() != expected {
            let name = |id: u32| {
                let bytes = vocabulary.token_bytes(id).unwrap_or_default();
                format!("{id} {:?}", String::from_utf8_lossy(bytes))
            };
            let differs =
                |id: &u32| first.allows(*id) != (expected[*id as usize / 32] >> (id % 32) & 1 == 1);
            let (more, less): (Vec<u32>, Vec<u32>) =
                (0..vocabulary.width() as u32).filter(differs).partition(|&id| first.allows(id));
            let some = |ids: &[u32]| ids.iter().take(8).map(|&id| name(id)).collect::<Vec<_>>();
            panic!(
                "{}\nafter {:?}\nallowed, not by the oracle: {} {:?}\nrefused, not by the oracle: {} {:?}",
                self.label,
                String::from_utf8_lossy(written),
                more.len(),
                some(&more),
                less.len(),
                some(&less)
            );
        }
        assert!(expected.iter().any(|&word| word != 0), "{} after {written:?}", self.label);
        let mut filled = vec![u32::MAX; expected.len()];
        let facts = matcher.fill_bitmask(&mut filled).unwrap();
        assert_eq!(filled, expected, "warm: {} after {written:?}", self.label);
        let count: usize = expected.iter().map(|word| word.count_ones() as usize).sum();
        assert_eq!(facts.allowed(), count, "{} after {written:?}", self.label);
        assert_eq!(facts.single(), if count == 1 { first.iter().next() } else { None });
    }

    /// Walks from the start and compares one state in `stride`; how many were compared.
    fn walk(
        &self,
        taste: Taste,
        tokens: &[(Vec<u8>, u32)],
        random: &mut Random,
        (most, stride): (usize, usize),
    ) -> usize {
        let vocabulary = self.engine.vocabulary();
        let mut matcher = self.engine.matcher();
        let (mut state, mut written, mut compared) = (self.oracle.start(), Vec::new(), 0);
        for _ in 0..STEPS {
            if random.below(stride) == 0 {
                self.compare(&matcher, &state, tokens, &written);
                compared += 1;
                if compared == most {
                    break;
                }
            }
            let Some(token) = taste.choose(&mask(&matcher), vocabulary, random) else { break };
            let bytes = vocabulary.token_bytes(token).unwrap();
            matcher.accept(token).unwrap_or_else(|error| panic!("{}: {error}", self.label));
            written.extend_from_slice(bytes);
            let next = bytes.iter().try_fold(state, |state, &byte| self.oracle.step(&state, byte));
            state = next.unwrap_or_else(|| panic!("{} after {written:?}", self.label));
        }
        self.compare_afresh(&matcher, &written);
        compared
    }

    /// The mask after the cache is dropped, and that of a fresh engine.
    fn compare_afresh(&self, matcher: &Matcher, written: &[u8]) {
        let warm = mask(matcher);
        self.engine.clear_cache();
        assert_eq!(mask(matcher), warm, "cleared: {} after {written:?}", self.label);
        let fresh = self.grammar.bind(self.engine.vocabulary()).unwrap();
        let mut again = fresh.matcher();
        again.accept_bytes(written).unwrap();
        assert_eq!(mask(&again), warm, "fresh engine: {} after {written:?}", self.label);
    }
}

/// Compares `states` states over one vocabulary: the schemas of `grammars/` and generated ones.
/// `TOKENMASK_SEED` gives other ones.
fn agree(name: &str, seed: u64, states: usize, (most, stride): (usize, usize)) {
    let vocabulary = vocabulary(name);
    let tokens = text_tokens(&vocabulary);
    let examples = examples();
    let other = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let seed = seed + 1_000 * other.unwrap_or(0);
    let mut random = Random(seed);
    let (mut compared, mut round) = (0, 0);
    while compared < states {
        let taste = TASTES[random.below(TASTES.len())];
        let policy = OraclePolicy { formats: random.chance(80), ..random.policy() };
        let (label, schema) = if round % 3 == 0 {
            let example = &examples[round / 3 % examples.len()];
            (example.name.clone(), example.schema.clone())
        } else {
            (format!("seed {seed} round {round}"), random.any_schema())
        };
        round += 1;
        if !schema.contains("\"$defs\"") && schema.contains("#/$defs/d") {
            continue;
        }
        let Some(pair) = Pair::new(&label, &schema, policy, &vocabulary) else { continue };
        let left = most.min(states - compared);
        compared += pair.walk(taste, &tokens, &mut random, (left, stride));
    }
    println!("{name}: {compared} states of {round} schemas");
    assert_eq!(compared, states);
}

#[test]
fn bytes_agree_with_the_oracle() {
    agree("bytes", 1, amount(150, 3_000), (6, 5));
}

#[test]
fn fused_tokens_agree_with_the_oracle() {
    agree("fused", 2, amount(250, 5_000), (6, 5));
}

#[test]
fn llama3_agrees_with_the_oracle() {
    agree("llama3", 3, amount(50, 1_000), (2, 9));
}

#[test]
fn o200k_agrees_with_the_oracle() {
    agree("o200k", 4, amount(50, 1_000), (2, 9));
}

/// A token is accepted exactly where its bit is set.
#[test]
fn single_tokens_agree_with_masks() {
    let mut compared = 0;
    for name in ["bytes", "fused"] {
        let vocabulary = vocabulary(name);
        let mut random = Random(77);
        for (round, example) in examples().iter().cycle().take(amount(18, 90)).enumerate() {
            let options = options(random.policy());
            let engine =
                Grammar::compile(&example.schema, &options).unwrap().bind(&vocabulary).unwrap();
            let mut matcher = engine.matcher();
            for _ in 0..amount(12, 40) {
                let now = mask(&matcher);
                for token in 0..vocabulary.width() as u32 + 3 {
                    let accepted = matcher.clone().accept(token).is_ok();
                    assert_eq!(accepted, now.allows(token), "{} {token} {round}", example.name);
                    assert_eq!(matcher.validate(&[token]), usize::from(accepted));
                }
                compared += 1;
                let token = any_allowed(&now, &mut random);
                matcher.accept(token).unwrap();
                if matcher.is_terminated() {
                    break;
                }
            }
        }
    }
    assert!(compared >= 300, "{compared}");
}
