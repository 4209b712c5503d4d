//! Masks that are kept, read by one thread and by several at once: how far the readers of one
//! engine are in each other's way. Beside masks a second stand those a second of processor time,
//! which tell it on a busy machine, too.

use std::time::{Duration, Instant};
use tokenmask::{Engine, Grammar, Mask, Matcher, Options, Vocabulary};

/// Each count of threads is measured this often; the best one counts.
const ROUNDS: usize = 5;

const ROUND: Duration = Duration::from_millis(500);

const SCHEMA: &str = r#"{"type": "object", "properties": {"name": {"type": "string"},
    "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
    "size": {"type": "number", "minimum": 0}}, "required": ["name", "tags"]}"#;

const DOCUMENT: &str =
    r#"{"name": "some text that takes a few tokens", "tags": ["red", "green"], "size": 12.5}"#;

/// A matcher before each token of the document.
fn matchers(engine: &Engine) -> Vec<Matcher> {
    let mut matcher = engine.matcher();
    let mut all = vec![engine.matcher()];
    let tokens = engine.vocabulary().encode(DOCUMENT).expect("it can be spelled");
    for token in tokens.ids {
        matcher.accept(token).expect("the document is valid");
        all.push(matcher.clone());
    }
    all
}

/// How a mask is had; whether there is one.
type Ask = fn(&Matcher, &mut Mask) -> bool;

/// Seconds of processor time that this process has had; `None` where the system does not say.
fn processor_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything, the 12th and 13th field: user and system ticks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Masks that `threads` threads have together: a second, and a second of processor time.
fn rate(threads: usize, engine: &Engine, ask: Ask) -> (f64, f64) {
    // Those of one thread share nothing with those of another.
    let sequences: Vec<Vec<Matcher>> = (0..threads).map(|_| matchers(engine)).collect();
    let (start, before) = (Instant::now(), processor_time());
    let masks: usize = std::thread::scope(|scope| {
        let work = |matchers: Vec<Matcher>| {
            let (mut mask, mut asked) = (engine.new_mask(), 0);
            while start.elapsed() < ROUND {
                for _ in 0..100 {
                    assert!(matchers.iter().all(|matcher| ask(matcher, &mut mask)));
                    asked += matchers.len();
                }
            }
            asked
        };
        let workers: Vec<_> =
            sequences.into_iter().map(|matchers| scope.spawn(move || work(matchers))).collect();
        workers.into_iter().map(|worker| worker.join().expect("it ends")).sum()
    });
    let (masks, elapsed) = (masks as f64, start.elapsed().as_secs_f64());
    let worked = before.and_then(|before| Some(processor_time()? - before));
    (masks / elapsed, masks / worked.unwrap_or(f64::NAN))
}

fn main() {
    let vocabulary = Vocabulary::builtin("llama3").expect("it is built in");
    let grammar = Grammar::compile(SCHEMA, &Options::default()).expect("it compiles");
    let engine = grammar.bind(&vocabulary).expect("it can be bound");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{cores} cores; threads: masks a second, and a second of processor time; of one thread's"
    );
    let ways: [(&str, Ask); 2] = [
        ("fill_mask", |matcher, mask| matcher.fill_mask(mask).is_ok()),
        ("mask", |matcher, _| matcher.mask().is_ok()),
    ];
    for (name, ask) in ways {
        let mut first = None;
        for threads in [1, 2, 8] {
            let rounds = (0..ROUNDS).map(|_| rate(threads, &engine, ask));
            let best = rounds.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
            let one = *first.get_or_insert(best);
            println!(
                "{name:9} {threads}: {:8.0} {:8.0}; {:.2} {:.2}",
                best.0,
                best.1,
                best.0 / one.0,
                best.1 / one.1
            );
        }
    }
}
