//! Whole documents, written under one rule of choice that is the same for all engines: what a second
//! gives, and which share of it the masks take. And the masks of one engine read by many threads.

use crate::Arguments;
use crate::llguidance::Llguidance;
use crate::protocol::{Contender, Tokenmask, has};
use crate::schemas;
use std::error::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokenmask::sample::Sampler;
use tokenmask::{Engine, Vocabulary};

/// From so many tokens on, whatever closes is taken where it is allowed.
const CLOSING: usize = 64;
/// A document that is not finished then is left.
const MOST_TOKENS: usize = 256;
/// Before [`CLOSING`], one token in so many is one that closes.
const CLOSE_ONE_IN: usize = 8;
/// Tokens that begin with a blank are drawn again so often: most of what is allowed is blanks.
const REDRAWS: usize = 8;
/// Sequences at once.
const BATCHES: [usize; 2] = [1, 64];
/// How long threads run.
const SPELL: Duration = Duration::from_secs(2);

/// All selected schemas that both engines compile.
///
/// # Errors
///
/// Where the corpus or the vocabulary cannot be read.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let vocabulary = arguments.vocabulary()?;
    let ours = arguments.ours(&vocabulary)?;
    let theirs = Llguidance::new(&vocabulary)?;
    let rule = Rule::new(&vocabulary)?;
    let mut spent = [[Spent::default(); 2]; BATCHES.len()];
    let mut sampled = [Spent::default(); BATCHES.len()];
    for record in &arguments.records()? {
        let schema = record.schema.get();
        for (index, batch) in BATCHES.into_iter().enumerate() {
            // Anew for each batch, so that both begin cold.
            let (Ok(mine), Ok(other)) = (ours.first_mask(schema), theirs.first_mask(schema)) else {
                continue;
            };
            spent[index][0].add(&write(&ours, schema, &mine, &rule, batch));
            spent[index][1].add(&write(&theirs, schema, &other, &rule, batch));
            let engine = mine.grammar.bind(&vocabulary)?;
            sampled[index].add(&sample(&engine, arguments.selection.seed, batch));
        }
    }
    println!(
        "{:44}{:>10}{:>10}{:>10}{:>12}{:>8}{:>8}",
        "", "documents", "finished", "tokens", "tokens/s", "masks", "µs each"
    );
    for (index, batch) in BATCHES.into_iter().enumerate() {
        let [mine, other] = &spent[index];
        mine.print(&format!("tokenmask, batch {batch}"));
        other.print(&format!("llguidance, batch {batch}"));
        sampled[index].print(&format!("tokenmask, own sampler, {batch} after another"));
    }
    Ok(())
}

/// What a rule must know of a vocabulary.
struct Rule<'v> {
    vocabulary: &'v Vocabulary,
    quote: u32,
    /// What closes an object or an array.
    brackets: Vec<u32>,
}

impl<'v> Rule<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Result<Rule<'v>, Box<dyn Error>> {
        let single = |text: &str| -> tokenmask::Result<u32> {
            Ok(vocabulary.encode(text)?.ids.first().copied().unwrap_or_default())
        };
        Ok(Rule { vocabulary, quote: single("\"")?, brackets: vec![single("}")?, single("]")?] })
    }

    /// The end where it is allowed; what closes where it is time; else any token, seldom a blank.
    fn choose(&self, words: &[u32], ends: &[u32], sequence: &mut State) -> Option<u32> {
        if let Some(&end) = ends.iter().find(|&&end| has(words, end)) {
            return Some(end);
        }
        if sequence.tokens >= CLOSING || sequence.random.usize(..CLOSE_ONE_IN) == 0 {
            let quote = std::slice::from_ref(&self.quote);
            let closing = if sequence.in_string { quote } else { &self.brackets };
            if let Some(&id) = closing.iter().find(|&&id| has(words, id)) {
                return Some(id);
            }
        }
        let allowed: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut chosen = None;
        for _ in 0..if allowed == 0 { 0 } else { REDRAWS } {
            let id = nth(words, sequence.random.usize(..allowed))?;
            chosen = Some(id);
            let bytes = self.vocabulary.token_bytes(id).unwrap_or_default();
            if bytes.first().is_none_or(|byte| !byte.is_ascii_whitespace()) {
                break;
            }
        }
        chosen
    }
}

/// The `n`th token of a mask, counted from 0.
fn nth(words: &[u32], mut n: usize) -> Option<u32> {
    for (index, &word) in words.iter().enumerate() {
        let count = word.count_ones() as usize;
        if n < count {
            let rest = (0..n).fold(word, |word, _| word & (word - 1));
            return Some(index as u32 * 32 + rest.trailing_zeros());
        }
        n -= count;
    }
    None
}

/// Where one document is.
struct State {
    random: fastrand::Rng,
    tokens: usize,
    in_string: bool,
    escaped: bool,
}

impl State {
    fn read(&mut self, bytes: &[u8]) {
        self.tokens += 1;
        for &byte in bytes {
            let escaped = std::mem::take(&mut self.escaped);
            match byte {
                b'"' if !escaped => self.in_string = !self.in_string,
                b'\\' => self.escaped = self.in_string && !escaped,
                _ => {}
            }
        }
    }
}

/// Documents, tokens and nanoseconds.
#[derive(Clone, Copy, Default)]
struct Spent {
    documents: usize,
    finished: usize,
    tokens: usize,
    masks: u128,
    all: u128,
}

impl Spent {
    fn add(&mut self, other: &Spent) {
        self.documents += other.documents;
        self.finished += other.finished;
        self.tokens += other.tokens;
        self.masks += other.masks;
        self.all += other.all;
    }

    fn print(&self, name: &str) {
        let Spent { documents, finished, tokens, masks, all } = *self;
        let (masks, all) = (masks as f64, all.max(1) as f64);
        println!(
            "{name:44}{documents:10}{finished:10}{tokens:10}{:12.0}{:7.1}%{:8.2}",
            tokens as f64 / all * 1e9,
            masks / all * 100.0,
            masks / tokens.max(1) as f64 / 1e3
        );
    }
}

/// `batch` documents of one schema, a token of each in turn.
fn write<C: Contender>(
    contender: &C,
    schema: &str,
    bound: &C::Bound,
    rule: &Rule,
    batch: usize,
) -> Spent {
    let mut sequences: Vec<(C::Bound, State)> = Vec::new();
    for seed in 0..batch as u64 {
        let mut bound = bound.clone();
        contender.restart(schema, &mut bound);
        let random = fastrand::Rng::with_seed(seed);
        sequences.push((bound, State { random, tokens: 0, in_string: false, escaped: false }));
    }
    let mut spent = Spent { documents: batch, ..Spent::default() };
    while !sequences.is_empty() {
        sequences.retain_mut(|(bound, state)| {
            let start = Instant::now();
            let filled = contender.fill(bound);
            spent.masks += start.elapsed().as_nanos();
            let ends = contender.end_ids();
            let chosen = rule.choose(contender.words(bound), ends, state).filter(|_| filled);
            let ended = chosen.is_some_and(|id| ends.contains(&id));
            let goes_on = chosen.is_some_and(|id| {
                state.read(rule.vocabulary.token_bytes(id).unwrap_or_default());
                !ended && contender.accept(bound, id)
            });
            spent.all += start.elapsed().as_nanos();
            spent.tokens += 1;
            spent.finished += usize::from(ended);
            goes_on && state.tokens < MOST_TOKENS
        });
    }
    spent
}

/// Documents of the library's own sampler, one after the other.
fn sample(engine: &Engine, seed: u64, documents: usize) -> Spent {
    let mut sampler = Sampler::new(seed).with_clock(clock);
    // Its lists of words belong to the vocabulary.
    let _ = sampler.generate(engine, MOST_TOKENS);
    let mut spent = Spent::default();
    for _ in 0..documents {
        let start = clock();
        let sample = sampler.generate(engine, MOST_TOKENS);
        spent.all += u128::from(clock() - start);
        spent.documents += 1;
        if let Ok(sample) = sample {
            spent.finished += usize::from(!sample.dead_end);
            spent.tokens += sample.tokens;
            spent.masks += sample.mask_times_ns.iter().map(|&time| u128::from(time)).sum::<u128>();
        }
    }
    spent
}

/// Nanoseconds since it was first asked.
fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// `threads` threads over the same engines, whose masks are all in their caches: what they do
/// together, beside one thread times the cores.
///
/// # Errors
///
/// Where the vocabulary or a schema of `grammars/` cannot be bound.
pub fn threads(arguments: &Arguments, threads: usize) -> Result<(), Box<dyn Error>> {
    let vocabulary = arguments.vocabulary()?;
    let ours = Tokenmask::new(vocabulary.clone(), arguments.options())?;
    let mut texts = Vec::new();
    for example in schemas::grammars() {
        let bound = ours.bind(&example.schema)?;
        for text in &example.valid {
            texts.push((bound.matcher.engine().clone(), vocabulary.encode(text)?.ids));
        }
    }
    // Twice, as what is cheap may be kept only when it is asked for again.
    for _ in 0..2 {
        replay(&texts, &AtomicBool::new(false));
    }
    let cores = std::thread::available_parallelism()?.get();
    let (one, all) = (rate(&texts, 1), rate(&texts, threads));
    let share = all / (one * cores.min(threads) as f64);
    println!("masks and tokens a second, one thread: {one:.0}");
    println!(
        "{threads} threads on {cores} cores: {all:.0}, {share:.2} of one thread times the cores"
    );
    Ok(())
}

/// Positions a second, over all threads.
fn rate(texts: &[(Engine, Vec<u32>)], threads: usize) -> f64 {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let positions: usize = std::thread::scope(|scope| {
        let work = || {
            let mut positions = 0;
            while !stop.load(Ordering::Relaxed) {
                positions += replay(texts, &stop);
            }
            positions
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        std::thread::sleep(SPELL);
        stop.store(true, Ordering::Relaxed);
        running.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    });
    positions as f64 / start.elapsed().as_secs_f64()
}

/// All texts once, or until it is told to stop: the positions that it came to.
fn replay(texts: &[(Engine, Vec<u32>)], stop: &AtomicBool) -> usize {
    let mut positions = 0;
    for (engine, ids) in texts {
        let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
        for &id in ids {
            if stop.load(Ordering::Relaxed) || matcher.fill_mask(&mut mask).is_err() {
                return positions;
            }
            positions += usize::from(mask.allows(id) && matcher.accept(id).is_ok());
        }
    }
    positions
}
