//! What the report says the mask enforces, it enforces: for keywords that are routed `mask`, a
//! document that breaks only this keyword is refused.
//!
//! A valid text of the corpus, one that the sampler writes, or a value made after the schema is changed
//! around the keyword's place until the `jsonschema` crate calls it valid for the schema without the keyword, and invalid with it;
//! and the masks of the schema without the keyword take it, so that nothing else refuses it. Where
//! no such mutant is found within the budget, the entry is of the second kind: perhaps the
//! keyword adds nothing to the others. `TOKENMASK_SECOND_KIND` names a file for the list of these, to
//! be read by hand.

mod change;

use crate::account::{Documents, with_documents};
use crate::data;
use crate::differential::{cases, instance, is_exact, options as case_options, schema_text};
use crate::generator::Random;
use crate::support::{amount, vocabulary};
use change::Changer;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use tokenmask::check::Validator;
use tokenmask::sample::Sampler;
use tokenmask::{
    Dialect, Engine, Entry, Grammar, Objects, Options, Order, Report, Route, SurfacePolicy,
};

/// Mutants that are tried for one keyword.
const MUTANTS: usize = 400;
/// Keywords of one schema.
const ENTRIES: usize = 2;
/// Larger texts are not changed.
const LONGEST: usize = 4_000;
/// A failing run shows so many failures.
const SHOWN: usize = 10;

/// Keywords that say something by themselves.
const ASSERTIONS: [&str; 26] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "required",
    "dependentRequired",
    "additionalProperties",
    "additionalItems",
    "items",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// A schema with some valid texts.
struct Subject {
    id: String,
    schema: String,
    options: Options,
    texts: Vec<String>,
}

#[derive(Default)]
struct Tally {
    /// A mutant was found, and refused.
    refused: usize,
    /// No mutant was found: location and value.
    second: Vec<String>,
    failures: Vec<String>,
}

impl Tally {
    fn entries(&self) -> usize {
        self.refused + self.second.len() + self.failures.len()
    }

    fn finish(self, name: &str) {
        println!(
            "{name}: {} entries: {} mutants refused, {} accepted, {} entries without a mutant",
            self.entries(),
            self.refused,
            self.failures.len(),
            self.second.len()
        );
        if let Some(path) = std::env::var_os("TOKENMASK_SECOND_KIND") {
            let path = std::path::Path::new(&path).with_extension(format!("{name}.txt"));
            std::fs::write(path, self.second.join("\n") + "\n").unwrap();
        }
        let shown = self.failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(self.failures.is_empty(), "{} failures:\n{shown}", self.failures.len());
    }
}

#[test]
fn corpus() {
    let Some(path) = data::find(data::CORPUS, "mutants of the corpus' texts") else { return };
    let (_, options) = with_documents(Documents::new());
    let policy = SurfacePolicy { order: Order::Any, ..SurfacePolicy::default() };
    let options = Options { policy, ..options };
    let mut records = data::records(&path).unwrap();
    let wanted = amount(240, 4_000);
    // Spread over the corpus.
    let step = (records.len() * ENTRIES / wanted).max(1);
    let mut tally = Tally::default();
    for (seed, record) in records.drain(..).step_by(step).enumerate() {
        let valid = record.tests.into_iter().filter(|test| test.valid).map(|test| test.text);
        let schema = record.schema.get().to_owned();
        let (id, options) = (record.id, options.clone());
        let subject = Subject { id, schema, options, texts: valid.take(4).collect() };
        subject.run(seed as u64, &mut tally);
    }
    assert!(tally.entries() > wanted / 2, "{}", tally.entries());
    assert!(tally.refused > 4 * tally.second.len(), "too few mutants: {}", tally.refused);
    tally.finish("corpus");
}

#[test]
fn generated() {
    let wanted = amount(120, 1_500);
    let dialects = Dialect::ALL.map(Some).into_iter().chain([None]);
    let mut tally = Tally::default();
    for (seed, dialect) in dialects.cycle().enumerate() {
        if tally.entries() >= wanted {
            break;
        }
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed as u8; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        for _ in 0..8 {
            let case = cases(dialect, seed as u64).new_tree(&mut runner).unwrap().current();
            let (id, schema) = (format!("seed {seed}"), schema_text(&case));
            let options = case_options(&case);
            Subject { id, schema, options, texts: Vec::new() }.run(case.seed, &mut tally);
        }
        assert!(seed < wanted * 10, "{} entries", tally.entries());
    }
    assert!(2 * tally.refused > tally.second.len(), "too few mutants: {}", tally.refused);
    tally.finish("generated");
}

impl Subject {
    fn run(mut self, seed: u64, tally: &mut Tally) {
        // The schema is written anew without the keyword: its numbers must survive that.
        let (Ok(value), true) =
            (serde_json::from_str::<Value>(&self.schema), is_exact(&self.schema))
        else {
            return;
        };
        let mut random = Random(seed);
        // What has no document has no mutant.
        let Ok(grammar) = Grammar::compile(&self.schema, &self.options) else { return };
        // The crate refuses patterns that are legal without the `u` flag only.
        let Ok(validator) = Validator::new(&self.schema, &self.options) else { return };
        let mut entries: Vec<&Entry> = grammar.report().entries().iter().collect();
        entries.retain(|entry| is_asserted(entry, &value));
        if entries.is_empty() {
            return;
        }
        self.write_texts(seed);
        let valid = |text: &String| is_valid(&validator, text, grammar.report()) == Some(true);
        self.texts.retain(|text| text.len() <= LONGEST && valid(text));
        let engine = grammar.bind(&vocabulary("fused")).unwrap();
        let with = With { subject: &self, engine, validator, report: grammar.report() };
        for _ in 0..ENTRIES.min(entries.len()) {
            let entry = entries.swap_remove(random.below(entries.len()));
            with.entry(entry, &value, &mut random, tally);
        }
    }

    /// Adds texts that the sampler writes; declared names come more often where others cannot.
    fn write_texts(&mut self, seed: u64) {
        let mut options = self.options.clone();
        options.policy.objects = Objects::Closed;
        let Ok(grammar) = Grammar::compile(&self.schema, &options) else { return };
        let engine = grammar.bind(&vocabulary("fused")).unwrap();
        let mut sampler = Sampler::new(seed);
        for wild in [false, false, false, true, true] {
            let sample = if wild { sampler.wild(&engine) } else { sampler.generate(&engine, 300) };
            self.texts.extend(sample.ok().map(|sample| sample.text));
        }
    }
}

/// A schema as it is.
struct With<'s> {
    subject: &'s Subject,
    engine: Engine,
    validator: Validator,
    report: &'s Report,
}

/// The schema without one keyword.
struct Without {
    schema: String,
    validator: Validator,
    engine: Option<Engine>,
}

impl With<'_> {
    fn entry(&self, entry: &Entry, schema: &Value, random: &mut Random, tally: &mut Tally) {
        let pointer = &entry.location[1..];
        let mut rest = schema.clone();
        let Some(value) = remove(&mut rest, pointer) else { return };
        let text = rest.to_string();
        let Ok(validator) = Validator::new(&text, &self.subject.options) else { return };
        let mut without = Without { schema: text, validator, engine: None };
        let changer = Changer::new(pointer, &entry.keyword, &value);
        let bases: Vec<Value> =
            self.subject.texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
        for _ in 0..MUTANTS {
            let mutant = match bases.is_empty() || random.chance(30) {
                true => instance(&rest, random),
                false => changer.change(&bases, random),
            };
            let mutant = mutant.to_string();
            if !is_exact(&mutant) || !self.is_broken_only_by(&mut without, &mutant) {
                continue;
            }
            let label = format!("{} {} = {value}", self.subject.id, entry.location);
            if takes(&self.engine, &mutant) {
                let schema = &self.subject.schema;
                tally.failures.push(format!("{label}: accepted: {mutant}\nunder {schema}"));
            } else {
                tally.refused += 1;
            }
            return;
        }
        tally.second.push(format!("{} {} = {value}", self.subject.id, entry.location));
    }

    /// Whether a text is valid but for the keyword, and the keyword alone decides.
    fn is_broken_only_by(&self, without: &mut Without, text: &str) -> bool {
        let Ok(violations) = self.validator.violations(text, self.report) else { return false };
        // What is left to the check anyway says nothing of the mask.
        if violations.is_empty() || violations.iter().all(|violation| violation.routed) {
            return false;
        }
        is_valid(&without.validator, text, self.report) == Some(true)
            && without.engine(&self.subject.options).is_some_and(|engine| takes(engine, text))
    }
}

impl Without {
    fn engine(&mut self, options: &Options) -> Option<&Engine> {
        if self.engine.is_none() {
            let grammar = Grammar::compile(&self.schema, options).ok()?;
            self.engine = grammar.bind(&vocabulary("fused")).ok();
        }
        self.engine.as_ref()
    }
}

fn takes(engine: &Engine, text: &str) -> bool {
    let mut matcher = engine.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// `None` where the validator cannot read the text.
fn is_valid(validator: &Validator, text: &str, report: &Report) -> Option<bool> {
    if !is_exact(text) {
        return None;
    }
    Some(validator.violations(text, report).ok()?.is_empty())
}

/// Whether a keyword of the schema itself asserts something by its own, and the mask enforces it.
fn is_asserted(entry: &Entry, schema: &Value) -> bool {
    let value = entry.location.strip_prefix('#').and_then(|pointer| schema.pointer(pointer));
    // Schemas that no value satisfies say something of the keyword itself.
    let says = entry.value.is_some() || value == Some(&Value::Bool(false));
    entry.route == Route::Mask && says && ASSERTIONS.contains(&&*entry.keyword)
}

/// Takes the keyword at a pointer away.
fn remove(schema: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, keyword) = pointer.rsplit_once('/')?;
    schema.pointer_mut(parent)?.as_object_mut()?.remove(keyword)
}
