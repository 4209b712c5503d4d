//! Where a text is cut into tokens does not matter: the texts of the corpus, and broken ones, cut at
//! random, are accepted or refused at the same byte under every cut.
//!
//! A cut takes at each byte any token that the rest begins with, so it parts characters, escapes and
//! numbers, and joins what punctuation it can. Before each token the mask must say what `accept`
//! does; at the end the bit of the end token must.

use crate::account::{Documents, with_documents};
use crate::data::{self, Record};
use crate::generator::Random;
use crate::support::{amount, is_long, mask, text_tokens, vocabulary};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;
use tokenmask::{Engine, Grammar, Matcher, Options, Order, SurfacePolicy, Vocabulary};

/// Valid texts that are refused, whatever the cut: `<id> <index of the instance>  <why>`.
const BASELINE: &str = include_str!("../baseline/cuts.txt");
/// A failing run names so many of its failures.
const SHOWN: usize = 20;

#[test]
fn fused() {
    cut_with("fused");
}

#[test]
fn llama3() {
    cut_with("llama3");
}

#[test]
fn o200k() {
    if is_long() {
        cut_with("o200k");
    }
}

/// A text to cut.
struct Job {
    record: usize,
    /// The instance's place in its record.
    instance: usize,
    text: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Valid,
    Invalid,
    Broken,
}

/// How a run went on, and how many texts were seen.
#[derive(Default)]
struct Outcome {
    failures: Vec<String>,
    accepted: usize,
    refused: usize,
    /// Valid texts that are refused, as the baseline writes them.
    valid_refused: BTreeSet<String>,
    valid_accepted: BTreeSet<String>,
}

fn cut_with(name: &str) {
    let Some(records) = corpus() else { return };
    let options = options();
    let vocabulary = vocabulary(name);
    let cutter = Cutter { tokens: text_tokens(&vocabulary), end: vocabulary.end_ids()[0] };
    let mut outcome = Outcome::default();
    let mut engine: Option<(usize, tokenmask::Result<Engine>)> = None;
    for (seed, job) in jobs(records).into_iter().enumerate() {
        if engine.as_ref().is_none_or(|(record, _)| *record != job.record) {
            engine = Some((job.record, compile(&records[job.record], &options, &vocabulary)));
        }
        match &engine {
            Some((_, Ok(engine))) => {
                cutter.job(engine, &job, &records[job.record].id, seed as u64, &mut outcome);
            }
            Some((_, Err(error))) => {
                outcome.failures.push(format!("{}: {error}", records[job.record].id));
            }
            None => {}
        }
    }
    println!("{name}: {} accepted, {} refused", outcome.accepted, outcome.refused);
    against_baseline(&mut outcome);
    let shown = outcome.failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(outcome.failures.is_empty(), "{} failures:\n{shown}", outcome.failures.len());
    assert!(outcome.accepted > amount(400, 8_000), "{} accepted", outcome.accepted);
    assert!(outcome.refused > amount(200, 4_000), "{} refused", outcome.refused);
}

/// Valid texts are accepted, but for the known ones, which must still be refused.
fn against_baseline(outcome: &mut Outcome) {
    let known: BTreeSet<String> = BASELINE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once("  ").map(|(text, _)| text.to_owned()))
        .collect();
    for text in outcome.valid_refused.difference(&known) {
        outcome.failures.push(format!("{text}: valid, but refused"));
    }
    for text in outcome.valid_accepted.intersection(&known) {
        outcome.failures.push(format!("{text}: accepted; take it out of the baseline"));
    }
}

fn corpus() -> Option<&'static [Record]> {
    static CORPUS: OnceLock<Option<Vec<Record>>> = OnceLock::new();
    let read = || {
        let path = data::find(data::CORPUS, "cuts of the corpus' texts")?;
        Some(data::records(&path).unwrap())
    };
    CORPUS.get_or_init(read).as_deref()
}

/// Any order: the corpus' labels know nothing of an order. A schema refers to a meta-schema.
fn options() -> Options {
    let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
    Options { policy, ..with_documents(Documents::new()).1 }
}

fn compile(
    record: &Record,
    options: &Options,
    vocabulary: &Vocabulary,
) -> tokenmask::Result<Engine> {
    Grammar::compile(record.schema.get(), options)?.bind(vocabulary)
}

/// The texts, spread evenly over the corpus: a half valid, a quarter invalid, a quarter broken.
fn jobs(records: &[Record]) -> Vec<Job> {
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for (at, record) in records.iter().enumerate() {
        for (index, instance) in record.tests.iter().enumerate() {
            let list = if instance.valid { &mut valid } else { &mut invalid };
            list.push((at, index));
        }
    }
    let quarter = amount(1_000, 20_000) / 4;
    let mut jobs = Vec::new();
    for (all, count, kind) in [
        (&valid, 2 * quarter, Kind::Valid),
        (&invalid, quarter, Kind::Invalid),
        (&valid, quarter, Kind::Broken),
    ] {
        for n in 0..count {
            let (record, instance) = all[n * all.len() / count];
            let text = records[record].tests[instance].text.clone().into_bytes();
            let text = if kind == Kind::Broken { broken(text, n as u64) } else { text };
            jobs.push(Job { record, instance, text, kind });
        }
    }
    jobs.sort_by_key(|job| job.record);
    jobs
}

/// The text with one to three random faults; it may be valid still.
fn broken(mut text: Vec<u8>, seed: u64) -> Vec<u8> {
    const STRAY: &[u8] = b"\"\\{}[],:0-.eE+tn a\n\x00\x1f\x7f\x80\xC3\xED\xF0\xFF";
    let mut random = Random(seed ^ 0xB40C_0DE5);
    for _ in 0..1 + random.below(3) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len());
        let stray = STRAY[random.below(STRAY.len())];
        match random.below(7) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, stray),
            2 => text[at] = stray,
            3 => text.insert(at, text[at]),
            4 => text.truncate(at),
            5 => text.push(stray),
            _ => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
        }
    }
    text
}

/// Where a text is refused: a byte, or its end where the document cannot end.
fn refusal(mut matcher: Matcher, text: &[u8], end: u32) -> Option<Option<usize>> {
    let taken = matcher.accept_bytes(text).and_then(|()| matcher.accept(end));
    taken.err().map(|error| error.offset())
}

/// Cuts texts into the tokens of one vocabulary.
struct Cutter {
    /// Sorted by bytes.
    tokens: Vec<(Vec<u8>, u32)>,
    end: u32,
}

impl Cutter {
    fn job(&self, engine: &Engine, job: &Job, id: &str, seed: u64, outcome: &mut Outcome) {
        let expected = refusal(engine.matcher(), &job.text, self.end);
        let name = format!("{id} {}", job.instance);
        if job.kind == Kind::Valid {
            let list = match expected {
                None => &mut outcome.valid_accepted,
                Some(_) => &mut outcome.valid_refused,
            };
            list.insert(name.clone());
        }
        match expected {
            None => outcome.accepted += 1,
            Some(_) => outcome.refused += 1,
        }
        if let Err(wrong) = self.cut(engine, &job.text, expected, &mut Random(seed)) {
            let text = job.text.escape_ascii();
            outcome.failures.push(format!("{name}: {wrong}\n    text {text}"));
        }
    }

    /// One cut of a text, to its end or to the token that is refused.
    fn cut(
        &self,
        engine: &Engine,
        text: &[u8],
        expected: Option<Option<usize>>,
        random: &mut Random,
    ) -> Result<(), String> {
        let (mut matcher, mut at) = (engine.matcher(), 0);
        loop {
            let token = match self.prefixes_of(&text[at..], random) {
                Some(token) => token,
                None => (0, self.end),
            };
            let allowed = mask(&matcher).allows(token.1);
            let place = || format!("token {} at byte {at}", token.1);
            match matcher.accept(token.1) {
                Ok(()) if !allowed => return Err(format!("{}: accepted, but masked", place())),
                Err(_) if allowed => return Err(format!("{}: allowed, but refused", place())),
                Err(error) if Some(error.offset()) == expected => return Ok(()),
                Err(error) => {
                    let offset = error.offset();
                    return Err(format!("{}: {error} ({offset:?}, not {expected:?})", place()));
                }
                Ok(()) if matcher.is_terminated() => break,
                Ok(()) => at += token.0,
            }
        }
        match expected {
            None => Ok(()),
            Some(offset) => Err(format!("accepted, but the bytes are refused at {offset:?}")),
        }
    }

    /// Any token that a text begins with, with its length; none where the text is empty.
    fn prefixes_of(&self, text: &[u8], random: &mut Random) -> Option<(usize, u32)> {
        let mut prefixes: Vec<Range<usize>> = Vec::new();
        let mut within = 0..self.tokens.len();
        for length in 1..=text.len() {
            // Sorted by bytes: those with the same beginning stand together, the shortest first.
            let (byte, base) = (text[length - 1], within.start);
            let slice = &self.tokens[within];
            let key = |(bytes, _): &(Vec<u8>, u32)| bytes.get(length - 1).copied();
            let start = slice.partition_point(|token| key(token) < Some(byte));
            let end = slice.partition_point(|token| key(token) <= Some(byte));
            within = base + start..base + end;
            let whole = self.tokens[within.clone()].partition_point(|(b, _)| b.len() == length);
            prefixes.push(within.start..within.start + whole);
            if whole == within.len() {
                break;
            }
        }
        let count: usize = prefixes.iter().map(ExactSizeIterator::len).sum();
        let mut left = if count == 0 { return None } else { random.below(count) };
        for (index, range) in prefixes.iter().enumerate() {
            match left.checked_sub(range.len()) {
                Some(rest) => left = rest,
                None => return Some((index + 1, self.tokens[range.start + left].1)),
            }
        }
        None
    }
}

/// The cutter takes every token that a text begins with, and nothing else.
#[test]
fn every_prefix_is_taken() {
    let vocabulary = vocabulary("fused");
    let cutter = Cutter { tokens: text_tokens(&vocabulary), end: vocabulary.end_ids()[0] };
    let mut random = Random(1);
    let taken = |text: &[u8], random: &mut Random| {
        let some = (0..200).filter_map(|_| cutter.prefixes_of(text, random));
        some.map(|(length, id)| {
            assert_eq!(vocabulary.token_bytes(id), Some(&text[..length]));
            id
        })
        .collect::<BTreeSet<u32>>()
        .len()
    };
    // `a` twice, `ab` twice, `abc`.
    assert_eq!(taken(b"abcd", &mut random), 5);
    assert_eq!(taken(b"{\"a\":1", &mut random), 3);
    // The first byte twice, and the whole character.
    assert_eq!(taken("é".as_bytes(), &mut random), 3);
    assert_eq!(taken(b"\xFF", &mut random), 1);
    assert_eq!(cutter.prefixes_of(b"", &mut random), None);
}
