//! Many sequences at once: the same masks as one by one, in a pool of the caller's.

use crate::generator::Random;
use crate::support::{any_allowed, engine, examples, mask, vocabulary};
use tokenmask::{Engine, ErrorKind, Filled, Matcher, Result, fill_bitmasks};

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// A matcher somewhere in a document.
fn somewhere(engine: &Engine, random: &mut Random) -> Matcher {
    let mut matcher = engine.matcher();
    for _ in 0..random.below(30) {
        let token = any_allowed(&mask(&matcher), random);
        matcher.accept(token).unwrap();
        if matcher.is_terminated() {
            break;
        }
    }
    matcher
}

fn fill(matchers: &mut [Matcher], rows: &mut [u32], width: usize) -> Vec<Result<Filled>> {
    let mut pairs: Vec<(&mut Matcher, &mut [u32])> =
        matchers.iter_mut().zip(rows.chunks_mut(width)).collect();
    fill_bitmasks(&mut pairs)
}

#[test]
fn a_batch_has_the_masks_of_its_sequences() {
    let vocabulary = vocabulary("fused");
    let width = vocabulary.width().div_ceil(32);
    let engines: Vec<Engine> =
        examples().iter().map(|example| engine(&example.schema, &vocabulary)).collect();
    let mut random = Random(5);
    let mut matchers: Vec<Matcher> =
        (0..200).map(|n| somewhere(&engines[n % engines.len()], &mut random)).collect();
    let expected: Vec<Vec<u32>> = matchers.iter().map(|m| mask(m).words().to_vec()).collect();
    for threads in [1, 8] {
        engines.iter().for_each(Engine::clear_cache);
        for _ in 0..3 {
            let mut rows = vec![u32::MAX; matchers.len() * width];
            let filled = pool(threads).install(|| fill(&mut matchers, &mut rows, width));
            assert_eq!(rows, expected.concat());
            for (filled, matcher) in filled.iter().zip(&matchers) {
                let lent = matcher.mask().unwrap();
                let filled = filled.as_ref().unwrap();
                assert_eq!((filled.allowed(), filled.single()), (lent.allowed(), lent.single()));
            }
        }
    }
}

#[test]
fn an_error_is_that_of_one_sequence() {
    let engine = engine(r#"{"type":"string"}"#, &vocabulary("fused"));
    let width = engine.vocabulary().width().div_ceil(32);
    let (mut one, mut two, mut three) = (engine.matcher(), engine.matcher(), engine.matcher());
    let (mut first, mut short, mut last) = (vec![7; width], vec![7; 1], vec![7; width + 1]);
    let filled = fill_bitmasks(&mut [
        (&mut one, &mut first),
        (&mut two, &mut short),
        (&mut three, &mut last),
    ]);
    assert_eq!(filled[1].as_ref().unwrap_err().kind(), ErrorKind::Mask);
    assert_eq!(short, [7]);
    let expected = mask(&one);
    assert_eq!((&first[..], &last[..width]), (expected.words(), expected.words()));
    assert_eq!(filled[0].as_ref().unwrap(), filled[2].as_ref().unwrap());
    assert!(fill_bitmasks(&mut []).is_empty());
}
