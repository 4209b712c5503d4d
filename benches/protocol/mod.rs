//! The MaskBench protocol, for any engine: what is timed, what counts as accepted, how times are
//! summed up.
//!
//! * TTFM, time to first mask: from the schema's text to the first mask. Whatever belongs to the
//!   vocabulary alone is made before.
//! * TBM, time between masks: for each token of a text, and for the end of sequence after it: the
//!   mask is computed, the token is looked up in it, and accepted.

#![allow(dead_code, reason = "each target that includes this module uses its own part of it")]

pub mod hard;

use serde::{Deserialize, Serialize};
use std::time::Instant;

/// An engine bound to a vocabulary.
pub trait Contender {
    /// A schema ready for its documents; a clone is another document, over the same caches.
    type Bound: Clone;

    /// Compiles a schema, binds it, and computes the first mask. Caches of other schemas are not used.
    fn first_mask(&self, schema: &str) -> Result<Self::Bound, Failure>;

    /// Goes to the beginning of a document.
    fn restart(&self, schema: &str, bound: &mut Self::Bound);

    /// Computes the mask. `false`: there is none.
    fn fill(&self, bound: &mut Self::Bound) -> bool;

    /// The mask that was computed last: bit `i % 32` of word `i / 32` is token `i`.
    fn words<'b>(&self, bound: &'b Self::Bound) -> &'b [u32];

    /// Accepts a token. `false`: it is not allowed.
    fn accept(&self, bound: &mut Self::Bound, id: u32) -> bool;

    /// The tokens that end a document.
    fn end_ids(&self) -> &[u32];

    /// Computes the mask, looks the token up, and accepts it. `false`: it is not allowed.
    fn token(&self, bound: &mut Self::Bound, id: u32) -> bool {
        self.fill(bound) && has(self.words(bound), id) && self.accept(bound, id)
    }

    /// Computes the mask and looks the end of sequence up.
    fn end(&self, bound: &mut Self::Bound) -> bool {
        self.fill(bound) && self.end_ids().iter().any(|&id| has(self.words(bound), id))
    }
}

/// Whether the words of a mask hold a token.
pub fn has(words: &[u32], id: u32) -> bool {
    words.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
}

/// Why a schema has no mask.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Failure {
    pub kind: String,
    pub location: Option<String>,
    pub message: String,
}

/// One schema under the protocol.
#[derive(Deserialize, Serialize)]
pub struct Run {
    /// Nanoseconds, also where it ended in an error.
    pub ttfm: u64,
    pub trials: Vec<Trial>,
}

/// One text under the protocol.
#[derive(Clone, Deserialize, Serialize)]
pub struct Trial {
    pub accepted: bool,
    /// Nanoseconds for each position that was reached: tokens, and last the end of sequence.
    pub masks: Vec<u64>,
}

/// Runs one schema over texts that are cut into tokens already. `Err` beside the time it took: why
/// it does not compile.
pub fn run<C: Contender>(
    contender: &C,
    schema: &str,
    texts: &[Vec<u32>],
) -> (Run, Result<C::Bound, Failure>) {
    let start = Instant::now();
    let bound = contender.first_mask(schema);
    let mut run = Run { ttfm: nanoseconds(start), trials: Vec::new() };
    let mut bound = match bound {
        Ok(bound) => bound,
        Err(failure) => return (run, Err(failure)),
    };
    run.trials = texts.iter().map(|ids| trial(contender, schema, &mut bound, ids)).collect();
    (run, Ok(bound))
}

fn trial<C: Contender>(contender: &C, schema: &str, bound: &mut C::Bound, ids: &[u32]) -> Trial {
    contender.restart(schema, bound);
    let mut masks = Vec::with_capacity(ids.len() + 1);
    for &id in ids {
        let start = Instant::now();
        let allowed = contender.token(bound, id);
        masks.push(nanoseconds(start));
        if !allowed {
            return Trial { accepted: false, masks };
        }
    }
    let start = Instant::now();
    let accepted = contender.end(bound);
    masks.push(nanoseconds(start));
    Trial { accepted, masks }
}

impl Run {
    /// Takes the smaller of the times of two runs of the same schema.
    pub fn keep_fastest(&mut self, other: &Run) {
        self.ttfm = self.ttfm.min(other.ttfm);
        for (mine, other) in self.trials.iter_mut().zip(&other.trials) {
            for (mine, &other) in mine.masks.iter_mut().zip(&other.masks) {
                *mine = (*mine).min(other);
            }
        }
    }
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Many times, to be summed up.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<u64>);

impl Times {
    pub fn extend(&mut self, times: impl IntoIterator<Item = u64>) {
        self.0.extend(times);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// (name, microseconds): the average, percentiles of the nearest rank, the maximum.
    pub fn summary(&mut self) -> Vec<(&'static str, f64)> {
        const PERCENTILES: [(&str, f64); 7] = [
            ("p25", 0.25),
            ("p50", 0.5),
            ("p75", 0.75),
            ("p90", 0.9),
            ("p95", 0.95),
            ("p99", 0.99),
            ("p99.9", 0.999),
        ];
        let mut summary = vec![("average", self.average())];
        summary.extend(PERCENTILES.map(|(name, share)| (name, self.at(share))));
        summary.push(("max", self.at(1.0)));
        summary
    }

    /// In microseconds; 0 where there is no time.
    pub fn average(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|&time| time as f64).sum();
        sum / self.count().max(1) as f64 / 1e3
    }

    /// The percentile of the nearest rank in microseconds; 0 where there is no time.
    pub fn at(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let rank = ((self.count() as f64 * share).ceil() as usize).saturating_sub(1);
        self.0.get(rank).copied().unwrap_or(0) as f64 / 1e3
    }
}

/// The most memory that this process has had resident, in MiB, where the system tells.
pub fn peak_memory() -> Option<u64> {
    Some(memory_kib("self", "VmHWM:")?.div_ceil(1024))
}

/// A figure of a process in KiB, where the system tells (Linux); `self` is this one.
pub fn memory_kib(process: &str, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// This project's engine.
pub struct Tokenmask {
    pub vocabulary: tokenmask::Vocabulary,
    pub options: tokenmask::Options,
    /// Compile and bind anew for each text, so that every position meets what is cold. Not timed.
    pub rebuild: bool,
}

/// A schema bound, with a matcher and its latest mask.
#[derive(Clone)]
pub struct Bound {
    pub grammar: tokenmask::Grammar,
    pub matcher: tokenmask::Matcher,
    mask: Option<tokenmask::MaskRef>,
}

impl Tokenmask {
    /// Warms what belongs to the vocabulary alone.
    ///
    /// # Errors
    ///
    /// Of the vocabulary, where it cannot be bound.
    pub fn new(
        vocabulary: tokenmask::Vocabulary,
        options: tokenmask::Options,
    ) -> tokenmask::Result<Tokenmask> {
        let engine = tokenmask::Grammar::any_json().bind(&vocabulary)?;
        engine.matcher().fill_mask(&mut engine.new_mask())?;
        Ok(Tokenmask { vocabulary, options, rebuild: false })
    }

    /// A schema at the beginning of its document, before any mask.
    ///
    /// # Errors
    ///
    /// Of the schema.
    pub fn bind(&self, schema: &str) -> tokenmask::Result<Bound> {
        let grammar = tokenmask::Grammar::compile(schema, &self.options)?;
        let engine = grammar.bind(&self.vocabulary)?;
        Ok(Bound { grammar, matcher: engine.matcher(), mask: None })
    }
}

impl Contender for Tokenmask {
    type Bound = Bound;

    fn first_mask(&self, schema: &str) -> Result<Bound, Failure> {
        let first = || {
            let mut bound = self.bind(schema)?;
            bound.mask = Some(bound.matcher.mask()?);
            Ok(bound)
        };
        first().map_err(|error: tokenmask::Error| Failure {
            kind: error.kind().name().to_owned(),
            location: error.location().map(str::to_owned),
            message: error.message().to_owned(),
        })
    }

    fn restart(&self, schema: &str, bound: &mut Bound) {
        match self.rebuild.then(|| self.bind(schema)) {
            Some(Ok(anew)) => *bound = anew,
            // It was bound before, so it can be again.
            Some(Err(_)) | None => bound.matcher.reset(),
        }
    }

    fn fill(&self, bound: &mut Bound) -> bool {
        bound.mask = bound.matcher.mask().ok();
        bound.mask.is_some()
    }

    fn words<'b>(&self, bound: &'b Bound) -> &'b [u32] {
        bound.mask.as_ref().map_or(&[], |mask| mask.words())
    }

    fn accept(&self, bound: &mut Bound, id: u32) -> bool {
        bound.matcher.accept(id).is_ok()
    }

    fn end_ids(&self) -> &[u32] {
        self.vocabulary.end_ids()
    }
}
