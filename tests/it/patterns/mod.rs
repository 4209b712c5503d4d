//! Patterns against other engines of ECMAScript, through masks.
//!
//! A pattern becomes the schema `{"type": "string", "pattern": …}`; a text becomes a JSON string,
//! in which some characters are escaped, and is fed token by token. The verdict is that of
//! `regress` and of `node`. Only patterns beyond a limit, and such with back-references that no
//! automaton knows, may be routed elsewhere, and those accept more, never less.

mod engines;
mod generate;

use crate::data;
use crate::generator::Random;
use crate::support::{amount, mask, vocabulary};
use engines::{Judge, Question, node};
use generate::{Maker, mutated, random_text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokenmask::sample::Sampler;
use tokenmask::{Engine, ErrorKind, Grammar, Options, Route};

/// Texts of each generated pattern.
const TEXTS: usize = 8;
/// Failures that are shown before a test gives up.
const MOST_FAILURES: usize = 12;

/// A pattern that was compiled.
struct Compiled {
    /// `None`: no string matches.
    engine: Option<Engine>,
    is_exact: bool,
    /// Why not.
    reason: String,
}

impl Compiled {
    fn new(pattern: &str) -> Result<Compiled, tokenmask::Error> {
        let schema = json!({"type": "string", "pattern": pattern}).to_string();
        let grammar = match Grammar::compile(&schema, &Options::default()) {
            Err(error) if error.kind() == ErrorKind::Unsatisfiable => {
                return Ok(Compiled { engine: None, is_exact: true, reason: String::new() });
            }
            result => result?,
        };
        let report = grammar.report();
        let entry = report.entries().iter().find(|entry| entry.keyword == "pattern").unwrap();
        let is_exact = entry.route == Route::Mask;
        let reason = format!("{} {:?}", entry.reason, entry.limit);
        let engine = grammar.bind(&vocabulary("bytes"))?;
        Ok(Compiled { engine: Some(engine), is_exact, reason })
    }

    /// Whether the JSON text of a string goes through the masks.
    fn takes(&self, document: &str) -> bool {
        let Some(engine) = &self.engine else { return false };
        let mut matcher = engine.matcher();
        for byte in document.bytes() {
            let now = mask(&matcher);
            assert!(now.iter().next().is_some(), "an empty mask in {document}");
            if !now.allows(u32::from(byte)) {
                return false;
            }
            matcher.accept(u32::from(byte)).unwrap();
        }
        matcher.is_accepting()
    }
}

/// The JSON text of a string, with needless escapes here and there.
fn document(random: &mut Random, text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if random.chance(15) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out += &format!("\\u{unit:04x}");
            }
        } else {
            let quoted = Value::from(c.to_string()).to_string();
            out += &quoted[1..quoted.len() - 1];
        }
    }
    out + "\""
}

/// Whether pattern or texts have characters beyond the basic plane, or syntax of the `u` flag.
fn has_astral(question: &Question) -> bool {
    let is_astral = |text: &str| text.chars().any(|c| c > '\u{FFFF}');
    is_astral(&question.pattern)
        || ["\\u{", "\\p", "\\P", "\\ud83d"].iter().any(|part| question.pattern.contains(part))
        || question.verdicts.iter().any(|(text, _)| is_astral(text))
}

#[derive(Default)]
struct Tally {
    patterns: usize,
    pairs: usize,
    matched: usize,
    slowest: Duration,
    routed: BTreeMap<String, usize>,
    failures: Vec<String>,
    /// Where `regress` says otherwise: pattern, text, its verdict.
    disputed: Vec<(String, String, bool)>,
    questions: Vec<Question>,
}

impl Tally {
    /// Compares the verdicts of one pattern; `trusted`: also with those of `regress`.
    fn check(
        &mut self,
        random: &mut Random,
        pattern: &str,
        texts: &BTreeSet<String>,
        trusted: bool,
    ) {
        let judge = match Judge::new(pattern) {
            Ok(judge) => judge,
            Err(message) => return self.refused(pattern, &message),
        };
        let start = Instant::now();
        let compiled = match Compiled::new(pattern) {
            Ok(compiled) => compiled,
            Err(error) => return self.failures.push(format!("{pattern}: {error}")),
        };
        self.slowest = self.slowest.max(start.elapsed());
        self.patterns += 1;
        if !compiled.is_exact {
            *self.routed.entry(compiled.reason.clone()).or_default() += 1;
        }
        let has_fold = pattern.contains("(?i");
        let mut verdicts = Vec::new();
        for text in texts {
            let document = document(random, text);
            let taken = compiled.takes(&document);
            verdicts.push((text.clone(), taken));
            if !trusted {
                continue;
            }
            // `regress` takes `ſ` for no word character in `(?i:[\W])`, against the standard; without
            // the `u` flag case is another matter.
            if text.contains('ſ') && has_fold && (!judge.is_strict || pattern.contains("[\\W]")) {
                continue;
            }
            let found = judge.finds(text);
            self.pairs += 1;
            self.matched += usize::from(found);
            if found != taken && (compiled.is_exact || found) {
                self.disputed.push((pattern.into(), text.clone(), found));
            }
        }
        let is_strict = judge.is_strict;
        self.questions.push(Question {
            pattern: pattern.into(),
            is_strict,
            is_exact: compiled.is_exact,
            verdicts,
        });
    }

    /// A pattern that `regress` refuses in both readings.
    fn refused(&mut self, pattern: &str, message: &str) {
        if Compiled::new(pattern).is_ok() {
            self.failures.push(format!("{pattern:?} compiles; regress: {message}"));
        }
    }

    /// Compares the verdicts with those of `node`.
    fn node(&mut self) {
        // Without the `u` flag `node` reads code units; here they are code points.
        self.questions.retain(|one| one.is_strict || !has_astral(one));
        let (mut asked, mut known) = (0, 0);
        let mut settled = BTreeSet::new();
        let answers = node(&self.questions).unwrap_or_default();
        for (question, answer) in self.questions.iter().zip(answers) {
            let Some(answer) = answer else { continue };
            known += 1;
            for ((text, taken), found) in question.verdicts.iter().zip(answer) {
                asked += 1;
                let pattern = question.pattern.clone();
                if *taken == found {
                    settled.insert((pattern, text.clone()));
                } else if question.is_exact || found {
                    self.failures.push(format!("{pattern:?} on {text:?}: node says {found}"));
                }
            }
        }
        // Where the two differ, `node` is right in all cases that were looked at.
        for (pattern, text, found) in std::mem::take(&mut self.disputed) {
            let message = format!("{pattern:?} on {text:?}: regress says {found}");
            if settled.contains(&(pattern, text)) {
                eprintln!("{message}, and node the contrary");
            } else {
                self.failures.push(message);
            }
        }
        eprintln!("node judged {asked} pairs of {known} patterns");
    }

    /// The end of a test; `exact`: how many patterns in a hundred must be in the mask wholly.
    fn finish(mut self, name: &str, exact: f64) {
        self.node();
        eprintln!(
            "{name}: {} patterns, {} pairs, {} matched, slowest {:?}, routed: {:?}",
            self.patterns, self.pairs, self.matched, self.slowest, self.routed
        );
        for reason in self.routed.keys() {
            let is_known = reason.contains("back-reference") || reason.contains("limit");
            assert!(is_known, "routed for another reason: {reason}");
        }
        let routed: usize = self.routed.values().sum();
        let share = 100.0 * (self.patterns - routed) as f64 / self.patterns as f64;
        assert!(share >= exact, "{share} % of the patterns are exact");
        let shown: Vec<_> = self.failures.iter().take(MOST_FAILURES).collect();
        assert!(shown.is_empty(), "{} failures: {shown:#?}", self.failures.len());
    }
}

/// 20,000 pairs or more; 300,000 in the long mode. `TOKENMASK_SEED` is the first seed.
#[test]
fn generated() {
    let first = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse().ok());
    let first: u64 = first.unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + amount(4_000, 50_000) as u64 {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let random = &mut random;
        let sample = Maker::pattern(random);
        if std::env::var("SHOW").is_ok() {
            std::fs::write("/tmp/last_pattern", format!("{seed} {}", sample.pattern)).unwrap();
        }
        let mut texts = BTreeSet::from([sample.text.clone()]);
        for _ in 0..TEXTS * 3 {
            if texts.len() >= TEXTS {
                break;
            }
            texts.insert(match random.below(3) {
                0 => random_text(random),
                _ => mutated(random, &sample.text),
            });
        }
        tally.check(random, &sample.pattern, &texts, !sample.is_tricky);
    }
    assert!(tally.pairs >= 20_000, "{} pairs", tally.pairs);
    tally.finish("generated", 98.0);
}

/// Parts of patterns, legal or not.
const PARTS: [&str; 56] = [
    "(",
    ")",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?<!",
    "(?<a>",
    "(?<b>",
    "(?<1",
    "(?",
    "\\k<a>",
    "\\k<",
    "\\k",
    "[",
    "]",
    "[^",
    "-",
    "{",
    "}",
    "{2}",
    "{2,1}",
    "{,2}",
    "*",
    "+",
    "?",
    "|",
    "^",
    "$",
    "a",
    "b",
    "\\",
    "\\1",
    "\\2",
    "\\c",
    "\\cA",
    "\\u",
    "\\u{",
    "\\u{61}",
    "\\u{110000}",
    "\\x4",
    "\\x41",
    "\\p{L}",
    "\\p{X}",
    "\\p",
    "\\b",
    "\\B",
    "\\d",
    "z-a",
    "(?i:",
    "(?i-m:",
    "(?-:",
    "\\0",
    "\\07",
    "é",
    "😀",
];

/// What is a pattern at all: 20,000 texts, 300,000 in the long mode.
#[test]
fn validity() {
    let mut random = Random(7);
    let mut questions = Vec::new();
    for _ in 0..amount(20_000, 300_000) {
        let pattern: String = (0..1 + random.below(7)).map(|_| random.pick(&PARTS)).collect();
        let schema = json!({"pattern": pattern}).to_string();
        let is_valid = match Grammar::compile(&schema, &Options::default()) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern}: {error}");
                false
            }
        };
        if is_valid != Judge::new(&pattern).is_ok() {
            let verdicts = Vec::new();
            questions
                .push((is_valid, Question { pattern, is_strict: false, is_exact: true, verdicts }));
        }
    }
    // Where `regress` says otherwise, `node` decides; it may not know all syntax yet.
    let (verdicts, questions): (Vec<bool>, Vec<Question>) = questions.into_iter().unzip();
    let answers = node(&questions).unwrap_or_else(|| questions.iter().map(|_| None).collect());
    let mut wrong = Vec::new();
    for ((is_valid, question), answer) in verdicts.into_iter().zip(&questions).zip(answers) {
        // Without the `u` flag, `\p{L}-` begins a range at `}`; here it is a property still.
        let is_property = is_valid && question.pattern.contains("\\p{L}-");
        if is_valid != answer.is_some() && !is_property {
            wrong.push(format!("{:?} is valid: {is_valid}", question.pattern));
        }
    }
    eprintln!("validity: {} disputed", questions.len());
    wrong.truncate(MOST_FAILURES);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a schema of the corpus says of strings.
#[derive(Default)]
struct Found {
    patterns: BTreeSet<String>,
    /// Strings of the instances, short ones.
    texts: BTreeSet<String>,
}

impl Found {
    fn schema(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("pattern", Value::String(pattern)) => {
                            self.patterns.insert(pattern.clone());
                        }
                        ("patternProperties", Value::Object(rules)) => {
                            self.patterns.extend(rules.keys().cloned());
                        }
                        _ => {}
                    }
                    self.schema(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.schema(item)),
            _ => {}
        }
    }

    fn instance(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.chars().count() <= 60 => {
                self.texts.insert(text.clone());
            }
            Value::Object(members) => {
                self.texts.extend(members.keys().cloned());
                members.values().for_each(|value| self.instance(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.instance(item)),
            _ => {}
        }
    }
}

/// Every pattern of the corpus, on strings of its instances, on strings that the masks write, and
/// on such with a mistake. Only patterns that `regress` refuses may fail to compile.
#[test]
fn corpus() {
    let Some(path) = data::find(data::CORPUS, "the patterns of the corpus") else { return };
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in data::records(&path).unwrap() {
        let mut found = Found::default();
        found.schema(&serde_json::from_str(record.schema.get()).unwrap());
        if found.patterns.is_empty() {
            continue;
        }
        for test in &record.tests {
            if let Ok(value) = serde_json::from_str(&test.text) {
                found.instance(&value);
            }
        }
        for pattern in found.patterns {
            let texts = all.entry(pattern).or_default();
            let room = amount(8, 60).saturating_sub(texts.len());
            texts.extend(found.texts.iter().take(room).cloned());
        }
    }
    let mut tally = Tally::default();
    let mut random = Random(1);
    let mut refused = Vec::new();
    for (seed, (pattern, mut texts)) in all.into_iter().enumerate() {
        if Judge::new(&pattern).is_err() {
            refused.push(pattern);
            continue;
        }
        if let Ok(Compiled { engine: Some(engine), .. }) = Compiled::new(&pattern) {
            let mut sampler = Sampler::new(seed as u64);
            for _ in 0..amount(3, 20) {
                let Ok(sample) = sampler.generate(&engine, 400) else { break };
                let text: String = serde_json::from_str(&sample.text).unwrap();
                texts.insert(mutated(&mut random, &text));
                texts.insert(text);
            }
        }
        // In the lenient reading `\p` is a property here, and a letter there.
        let trusted = !pattern.contains("\\p") || Judge::new(&pattern).unwrap().is_strict;
        tally.check(&mut random, &pattern, &texts, trusted);
    }
    assert_eq!(refused, Vec::<String>::new(), "patterns that `regress` refuses");
    tally.finish("corpus", 99.9);
}
