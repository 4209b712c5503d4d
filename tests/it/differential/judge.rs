//! What the masks say about a text, and what two independent validators say.

use crate::suite_data::draft;
use crate::support::mask;
use boon::{Compiler, Draft, SchemaIndex};
use serde_json::Value;
use std::cell::OnceCell;
use tokenmask::check::Validator;
use tokenmask::{Dialect, Engine, Error, Formats, Options, Report};

/// Whether the masks take a text: at every token its bit and `accept` agree, and at the end the
/// bits of the end tokens.
///
/// # Errors
/// Masks that contradict their matcher, or are empty.
pub fn takes(engine: &Engine, text: &str) -> Result<bool, String> {
    let vocabulary = engine.vocabulary();
    let tokens = vocabulary.greedy(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut matcher = engine.matcher();
    for token in tokens {
        let now = mask(&matcher);
        let offset = matcher.offset();
        if now.iter().next().is_none() {
            return Err(format!("an empty mask at byte {offset} of {text}"));
        }
        let is_allowed = now.allows(token);
        if matcher.accept(token).is_ok() != is_allowed {
            return Err(format!("mask and `accept` differ at byte {offset} of {text}"));
        }
        if !is_allowed {
            return Ok(false);
        }
    }
    let now = mask(&matcher);
    let ends = vocabulary.end_ids().iter().all(|&id| now.allows(id));
    if ends != matcher.is_accepting() {
        return Err(format!("mask and `is_accepting` differ at the end of {text}"));
    }
    Ok(ends)
}

/// How deep a document may be whose violations are listed: `jsonschema` lists one for each way to a
/// place, and references may double the ways with each level.
const DEEPEST_LISTED: usize = 6;

/// What the validators say of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    /// Invalid; `is_routed`: only by keywords that the report routes elsewhere than the mask.
    Invalid {
        is_routed: bool,
    },
}

/// `jsonschema`, which comes first, and `boon`, which is asked where that disagrees with the masks.
/// Both run in the case's mode of formats: asserted in every dialect, or not at all.
pub struct Judge {
    first: jsonschema::Validator,
    listing: Validator,
    schema: Value,
    options: Options,
    second: OnceCell<Option<(boon::Schemas, SchemaIndex)>>,
}

impl Judge {
    /// Judges of one schema.
    ///
    /// # Errors
    /// What `jsonschema` has against the schema.
    pub fn new(schema: &Value, options: &Options) -> Result<Judge, Error> {
        let listing = Validator::new(&schema.to_string(), options)?;
        let mut first = jsonschema::options()
            .should_validate_formats(options.formats != Formats::Annotate)
            .with_base_uri("document:///");
        if let Some(dialect) = options.dialect {
            first = first.with_draft(draft(dialect));
        }
        let first = first.build(schema).expect("it could be built a moment ago");
        let (schema, options) = (schema.clone(), options.clone());
        Ok(Judge { first, listing, schema, options, second: OnceCell::new() })
    }

    /// Whether `jsonschema` calls it valid.
    ///
    /// # Errors
    /// A document that it cannot read.
    pub fn is_valid(&self, document: &str) -> Result<bool, serde_json::Error> {
        Ok(self.first.is_valid(&serde_json::from_str(document)?))
    }

    /// What `jsonschema` says of a document that the masks take; `None` where its violations would
    /// be too many.
    ///
    /// # Errors
    /// A document that it cannot read.
    pub fn verdict(&self, document: &str, report: &Report) -> Result<Option<Verdict>, String> {
        let value: Value = serde_json::from_str(document).map_err(|error| error.to_string())?;
        if self.first.is_valid(&value) {
            return Ok(Some(Verdict::Valid));
        }
        if depth(&value) > DEEPEST_LISTED {
            return Ok(None);
        }
        let violations =
            self.listing.violations(document, report).map_err(|error| error.to_string())?;
        if violations.is_empty() {
            return Err(format!("invalid, but without a violation: {document}"));
        }
        Ok(Some(Verdict::Invalid { is_routed: violations.iter().all(|one| one.routed) }))
    }

    /// The violations that no route explains, as text.
    pub fn unexplained(&self, document: &str, report: &Report) -> String {
        let violations = self.listing.violations(document, report).unwrap_or_default();
        let wrong = violations.iter().filter(|one| !one.routed);
        wrong
            .map(|one| format!("{} at {:?}: {}", one.location, one.instance, one.message))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Whether `boon` calls it valid; `None` where it cannot read the schema, or takes a reference
    /// back from a name to the schema of its object for an endless one.
    pub fn second(&self, document: &str) -> Option<bool> {
        let (schemas, index) = self.second.get_or_init(|| self.build()).as_ref()?;
        let value: Value = serde_json::from_str(document).ok()?;
        match schemas.validate(&value, *index) {
            Ok(()) => Some(true),
            Err(error) if meets_cycle(&error) => None,
            Err(_) => Some(false),
        }
    }

    fn build(&self) -> Option<(boon::Schemas, SchemaIndex)> {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(match self.options.dialect {
            Some(Dialect::Draft4) => Draft::V4,
            Some(Dialect::Draft6) => Draft::V6,
            Some(Dialect::Draft7) => Draft::V7,
            Some(Dialect::Draft201909) => Draft::V2019_09,
            _ => Draft::V2020_12,
        });
        if self.options.formats != Formats::Annotate {
            compiler.enable_format_assertions();
        }
        let place = "http://example.com/root";
        let is_old = self.options.dialect.is_some_and(|dialect| dialect <= Dialect::Draft7)
            || self
                .schema
                .get("$schema")
                .and_then(Value::as_str)
                .is_some_and(|uri| uri.contains("draft-0"));
        let mut schema = self.schema.clone();
        self.adapt(&mut schema, is_old);
        compiler.add_resource(place, schema).ok()?;
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(place, &mut schemas).ok()?;
        Some((schemas, index))
    }

    /// Takes out what `boon` enforces and must not: up to draft 7 `const` beside `$ref`, and formats
    /// in spite of the mode. No name of the alphabet is a keyword's.
    fn adapt(&self, value: &mut Value, is_old: bool) {
        match value {
            Value::Object(members) => {
                if is_old && members.contains_key("$ref") {
                    members.remove("const");
                }
                if self.options.formats == Formats::Annotate {
                    members.remove("format");
                }
                members.values_mut().for_each(|inner| self.adapt(inner, is_old));
            }
            Value::Array(items) => items.iter_mut().for_each(|inner| self.adapt(inner, is_old)),
            _ => {}
        }
    }
}

fn meets_cycle(error: &boon::ValidationError<'_, '_>) -> bool {
    matches!(error.kind, boon::ErrorKind::RefCycle { .. }) || error.causes.iter().any(meets_cycle)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
