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
        let mut verdicts = Vec::new();
        for text in texts {
            let document = document(random, text);
            let taken = compiled.takes(&document);
            verdicts.push((text.clone(), taken));
            if !trusted {
                continue;
            }
            let found = judge.finds(text);
            self.pairs += 1;
            self.matched += usize::from(found);
            if found != taken && (compiled.is_exact || found) {
                self.failures.push(format!("{pattern:?} on {document}: regress says {found}"));
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
        let Some(answers) = node(&self.questions) else { return };
        let (mut asked, mut known) = (0, 0);
        for (question, answer) in self.questions.iter().zip(answers) {
            let Some(answer) = answer else { continue };
            known += 1;
            for ((text, taken), found) in question.verdicts.iter().zip(answer) {
                asked += 1;
                if *taken != found && (question.is_exact || found) {
                    let pattern = &question.pattern;
                    self.failures.push(format!("{pattern:?} on {text:?}: node says {found}"));
                }
            }
        }
        eprintln!("node judged {asked} pairs of {known} patterns");
    }

    fn finish(mut self, name: &str) {
        self.node();
        eprintln!(
            "{name}: {} patterns, {} pairs, {} matched, slowest {:?}, routed: {:?}",
            self.patterns, self.pairs, self.matched, self.slowest, self.routed
        );
        let shown: Vec<_> = self.failures.iter().take(MOST_FAILURES).collect();
        assert!(shown.is_empty(), "{} failures: {shown:#?}", self.failures.len());
    }
}

/// 24,000 pairs; 400,000 in the long mode. `TOKENMASK_SEED` is the first seed.
#[test]
fn generated() {
    let first = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse().ok());
    let first: u64 = first.unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + amount(3_000, 50_000) as u64 {
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
    tally.finish("generated");
}
