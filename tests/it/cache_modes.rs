//! Masks equal the oracle's, bit for bit, whatever the engine keeps: nothing, little, much, dropped
//! in between, or shared by threads that fill it at once.

use crate::generator::Random;
use crate::oracle::{Oracle, OraclePolicy};
use crate::support::{
    amount, any_allowed, examples, likely, mask, options, text_tokens, vocabulary,
};
use tokenmask::{Engine, Grammar, Limits, Matcher, Options, Vocabulary};

/// Tokens of one document.
const STEPS: usize = 30;

/// A place in a document, and the mask that the oracle has there.
struct Place {
    prefix: Vec<u8>,
    expected: Vec<u32>,
}

/// Walks through a document and asks the oracle at some of its places.
fn places(oracle: &Oracle, engine: &Engine, random: &mut Random) -> Vec<Place> {
    let vocabulary = engine.vocabulary();
    let tokens = text_tokens(vocabulary);
    let (mut matcher, mut state, mut prefix) = (engine.matcher(), oracle.start(), Vec::new());
    let mut places = Vec::new();
    for _ in 0..STEPS {
        if random.chance(40) {
            let mut expected = oracle.allowed(&state, &tokens, vocabulary.width());
            if oracle.may_end(&state) {
                let ends = vocabulary.end_ids().iter();
                ends.for_each(|id| expected[*id as usize / 32] |= 1 << (id % 32));
            }
            places.push(Place { prefix: prefix.clone(), expected });
        }
        let now = mask(&matcher);
        let token = if random.chance(60) {
            likely(&now, vocabulary, (6, b"\"ab:,{}[]01"), random)
        } else {
            any_allowed(&now, random)
        };
        if vocabulary.is_end(token) {
            break;
        }
        let bytes = vocabulary.token_bytes(token).unwrap();
        matcher.accept(token).unwrap();
        prefix.extend_from_slice(bytes);
        state = bytes.iter().fold(state, |state, &byte| oracle.step(&state, byte).unwrap());
    }
    places
}

/// A matcher behind the prefix of a place.
fn at(engine: &Engine, place: &Place) -> Matcher {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(&place.prefix).unwrap();
    matcher
}

/// The mask in every way in which it can be had is the oracle's.
fn compare(engine: &Engine, place: &Place, label: &str) {
    let matcher = at(engine, place);
    let label = || format!("{label} after {:?}", String::from_utf8_lossy(&place.prefix));
    let count: usize = place.expected.iter().map(|word| word.count_ones() as usize).sum();
    // From the second time on the words may be kept.
    for _ in 0..3 {
        let mut words = vec![u32::MAX; place.expected.len() + 1];
        let filled = matcher.fill_bitmask(&mut words).unwrap();
        assert_eq!(words.pop(), Some(0));
        assert!(words == place.expected, "filled: {}", label());
        let lent = matcher.mask().unwrap();
        assert!(lent.words() == place.expected, "lent: {}", label());
        let facts = [(filled.allowed(), filled.single()), (lent.allowed(), lent.single())];
        let single = if count == 1 { lent.iter().next() } else { None };
        assert_eq!(facts, [(count, single); 2], "{}", label());
    }
}

fn bind(schema: &str, options: &Options, cache_bytes: usize, vocabulary: &Vocabulary) -> Engine {
    let limits = Limits { cache_bytes, ..options.limits };
    let options = Options { limits, ..options.clone() };
    Grammar::compile(schema, &options).unwrap().bind(vocabulary).unwrap()
}

fn agree_in_all_modes(
    schema: &str,
    policy: OraclePolicy,
    vocabulary: &Vocabulary,
    seed: u64,
) -> usize {
    let options = options(policy);
    let (Ok(oracle), Ok(grammar)) =
        (Oracle::new(schema, policy), Grammar::compile(schema, &options))
    else {
        return 0;
    };
    let warm = grammar.bind(vocabulary).unwrap();
    let mut random = Random(seed);
    let places: Vec<Place> = (0..2).flat_map(|_| places(&oracle, &warm, &mut random)).collect();
    let label = |mode: &str| format!("{mode}: {policy:?} over {}: {schema}", vocabulary.name());
    // Twice, so that what was kept or dropped meanwhile is met again.
    for place in places.iter().chain(&places) {
        compare(&warm, place, &label("warm"));
    }
    for place in &places {
        warm.clear_cache();
        compare(&warm, place, &label("cold"));
    }
    for bytes in [0, 4 << 10, 1 << 20] {
        let engine = bind(schema, &options, bytes, vocabulary);
        for place in places.iter().chain(&places) {
            compare(&engine, place, &label(&format!("{bytes} bytes")));
        }
    }
    for bytes in [8 << 10, 1 << 20] {
        let engine = bind(schema, &options, bytes, vocabulary);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (engine, places, label) = (&engine, &places, &label);
                scope.spawn(move || {
                    for index in 0..places.len() {
                        let place = &places[(index + thread * places.len() / 8) % places.len()];
                        compare(engine, place, &label("eight threads"));
                    }
                });
            }
        });
    }
    places.len()
}

#[test]
fn masks_are_the_oracles_in_every_mode_of_the_cache() {
    let (mut compared, mut round) = (0, 0);
    let mut random = Random(606);
    let examples = examples();
    let most = amount(150, 3_000);
    while compared < most {
        let policy = random.policy();
        let schema = match round % 4 {
            0 => examples[round / 4 % examples.len()].schema.clone(),
            _ => random.any_schema(),
        };
        let name = ["fused", "bytes", "fused"][round % 3];
        round += 1;
        if schema.contains("\"$defs\"") || !schema.contains("#/$defs/d") {
            compared += agree_in_all_modes(&schema, policy, &vocabulary(name), round as u64);
        }
    }
    println!("{compared} places of {round} schemas");
}

/// Where masks are wide, words are kept in place of lists of tokens: over a vocabulary of 128,256.
#[test]
fn wide_masks_are_the_oracles_in_every_mode_of_the_cache() {
    let schemas = [
        r#"{"type":"object","properties":{"a":{"type":"string","maxLength":9},"b":{"type":"array"}}}"#,
        r#"{"type":"array","items":{"enum":["ab","abc",1,null]},"minItems":2}"#,
    ];
    let policy = OraclePolicy { declared_order: true, ..OraclePolicy::ANY };
    for (seed, schema) in schemas.iter().enumerate() {
        let compared = agree_in_all_modes(schema, policy, &vocabulary("llama3"), seed as u64);
        assert!(compared > 5, "{compared}");
    }
}
