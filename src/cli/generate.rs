//! `generate`: samples documents through the masks and validates each.

use super::args::Generate;
use super::exit::{Exit, Failure};
use super::output::Output;
use super::source;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Instant;
use tokenmask::check::Validator;
use tokenmask::sample::{Sample, Sampler};
use tokenmask::{Engine, ErrorKind, Grammar, Objects, Options, Vocabulary};

/// What a run adds up.
#[derive(Debug, Default)]
struct Tally {
    documents: usize,
    tokens: usize,
    mask_times_ns: Vec<u64>,
    valid: usize,
    /// Documents that only break keywords which the report routes to a check.
    routed: usize,
    invalid: usize,
    unchecked: usize,
    dead_ends: usize,
}

/// Prints one document a line. Exit 1 at a dead end, or where a document breaks a keyword that the
/// report says the mask enforces.
pub(crate) fn run(args: &Generate, output: &mut Output) -> Result<Exit, Failure> {
    let options = args.common.options()?;
    let schema = source::read_text(&args.schema)?;
    let grammar = Grammar::compile(&schema, &options)?;
    let vocabulary = args.common.vocabulary()?;
    let engine = grammar.bind(&vocabulary)?;
    let validator = Validator::new(&schema, &options)
        .map_err(|error| output.talk(&format!("documents are not checked: {error}")))
        .ok();
    let mut sampler = Sampler::new(args.seed).with_clock(nanoseconds);
    if let Some(guide) = guide(&schema, &options, &vocabulary) {
        sampler = sampler.with_guide(guide);
    }
    let mut tally = Tally::default();
    for number in 1..=args.count {
        let sample = draw(&mut sampler, &engine, args)?;
        let dead_end = sample.dead_end;
        if dead_end {
            output.talk(&format!("document {number}: dead end after {}", sample.text));
        } else {
            output.line(&one_line(&sample.text))?;
            output.flush()?;
            check(number, &sample.text, validator.as_ref(), &grammar, &mut tally, output);
        }
        tally.add(sample);
    }
    tally.talk(output);
    Ok(Exit::from_answer(tally.invalid == 0 && tally.dead_ends == 0))
}

/// The text with spaces for raw line breaks. Strings cannot hold a raw line break, so one is always
/// whitespace between the tokens of JSON, where a space is as good.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

fn draw(sampler: &mut Sampler, engine: &Engine, args: &Generate) -> Result<Sample, Failure> {
    let sample =
        if args.wild { sampler.wild(engine) } else { sampler.generate(engine, args.max_tokens) };
    Ok(sample?)
}

/// The same schema with closed objects: it tells declared names from any others.
fn guide(schema: &str, options: &Options, vocabulary: &Vocabulary) -> Option<Engine> {
    if options.policy.objects == Objects::Closed {
        return None;
    }
    let mut closed = options.clone();
    closed.policy.objects = Objects::Closed;
    Grammar::compile(schema, &closed).ok()?.bind(vocabulary).ok()
}

fn check(
    number: usize,
    text: &str,
    validator: Option<&Validator>,
    grammar: &Grammar,
    tally: &mut Tally,
    output: &mut Output,
) {
    let Some(validator) = validator else {
        tally.unchecked += 1;
        return;
    };
    let violations = match validator.violations(text, grammar.report()) {
        Ok(violations) => violations,
        Err(error) if error.kind() == ErrorKind::Limit => {
            tally.unchecked += 1;
            return;
        }
        Err(error) => {
            output.talk(&format!("document {number}: {error}"));
            tally.invalid += 1;
            return;
        }
    };
    let broken = violations.iter().filter(|violation| !violation.routed);
    let broken: Vec<_> = broken.collect();
    for violation in &broken {
        output.talk(&format!(
            "document {number}: {} at {}: {}",
            violation.location, violation.instance, violation.message
        ));
    }
    match (broken.is_empty(), violations.is_empty()) {
        (false, _) => tally.invalid += 1,
        (true, false) => tally.routed += 1,
        (true, true) => tally.valid += 1,
    }
}

impl Tally {
    fn add(&mut self, sample: Sample) {
        self.documents += 1;
        self.tokens += sample.tokens;
        self.dead_ends += usize::from(sample.dead_end);
        self.mask_times_ns.extend(sample.mask_times_ns);
    }

    fn talk(&mut self, output: &mut Output) {
        self.mask_times_ns.sort_unstable();
        output.talk(&format!(
            "{} documents, {} tokens, {} masks: p50 {}, p99 {}",
            self.documents,
            self.tokens,
            self.mask_times_ns.len(),
            microseconds(percentile(&self.mask_times_ns, 50)),
            microseconds(percentile(&self.mask_times_ns, 99)),
        ));
        let mut parts = vec![format!("{} valid", self.valid)];
        let more = [
            (self.routed, "break only keywords that are checked afterwards"),
            (self.invalid, "break keywords that the mask enforces"),
            (self.unchecked, "not checked"),
            (self.dead_ends, "dead ends"),
        ];
        parts.extend(
            more.iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, text)| format!("{count} {text}")),
        );
        output.talk(&parts.join(", "));
    }
}

/// The value below which `percent` of the sorted values lie.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or(0)
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.1} µs", nanoseconds as f64 / 1e3)
}

/// Nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&values, 50), 50);
        assert_eq!(percentile(&values, 99), 99);
        assert_eq!(percentile(&[7], 99), 7);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn a_document_is_one_line() {
        assert_eq!(one_line("{\r\n\t\"a\\n\": 1\n}"), "{  \t\"a\\n\": 1 }");
        assert!(matches!(one_line("[1, 2]"), Cow::Borrowed("[1, 2]")));
    }

    #[test]
    fn the_clock_does_not_run_backwards() {
        let first = nanoseconds();
        assert!(nanoseconds() >= first);
    }
}
