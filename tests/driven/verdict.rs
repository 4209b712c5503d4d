//! What a text's acceptance or refusal means: as it should be, or how wrong.

use crate::baseline::{Found, Outcome};
use crate::feed::feed;
use std::any::Any;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokenmask::check::Validator;
use tokenmask::{Engine, Grammar, Options, Route};

/// An outcome, and what was seen.
pub type Verdict = (Outcome, String);

/// Explains acceptances of invalid texts by what the report routes to a check.
pub struct Explainer<'a> {
    schema: &'a str,
    options: &'a Options,
    grammar: &'a Grammar,
    /// Made when first needed: most texts need none.
    validator: OnceCell<Result<Validator, String>>,
}

impl<'a> Explainer<'a> {
    pub fn new(schema: &'a str, options: &'a Options, grammar: &'a Grammar) -> Self {
        Explainer { schema, options, grammar, validator: OnceCell::new() }
    }

    /// The verdict on a document.
    pub fn judge(&self, engine: &Engine, text: &[u8], valid: bool) -> Verdict {
        match (feed(engine, text), valid) {
            (Ok(()), true) | (Err(_), false) => (Outcome::Pass, String::new()),
            (Err(at), true) => (Outcome::RejectsValid, format!("refused at byte {at}")),
            (Ok(()), false) => self.accepted_invalid(text),
        }
    }

    /// The verdict on an invalid document that was accepted.
    pub fn accepted_invalid(&self, text: &[u8]) -> Verdict {
        match self.explain(text) {
            Ok(()) => (Outcome::Routed, String::new()),
            Err(why) => (Outcome::AcceptsInvalid, why),
        }
    }

    /// The verdict where the check, which calculates with floats, cannot be asked.
    pub fn accepted_invalid_number(&self) -> Verdict {
        if self.grammar.report().is_exact() {
            return (Outcome::AcceptsInvalid, "nothing is routed".to_owned());
        }
        (Outcome::Routed, String::new())
    }

    /// Whether the check finds nothing wrong with a document.
    pub fn is_valid(&self, text: &[u8]) -> bool {
        let violations = std::str::from_utf8(text).ok().and_then(|text| {
            let validator = Validator::new(self.schema, self.options).ok()?;
            validator.violations(text, self.grammar.report()).ok()
        });
        violations.is_some_and(|violations| violations.is_empty())
    }

    /// That the check finds the document invalid, for routed keywords alone.
    fn explain(&self, text: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(text).map_err(|_| "accepted, and no UTF-8".to_owned())?;
        let new = || Validator::new(self.schema, self.options).map_err(|error| error.to_string());
        let validator = self.validator.get_or_init(new).as_ref()?;
        let report = self.grammar.report();
        let violations = validator.violations(text, report).map_err(|error| error.to_string())?;
        let broken = violations.iter().find(|violation| {
            !violation.routed || report.route_of(&violation.location) == Some(Route::Mask)
        });
        match broken {
            Some(violation) => Err(format!("accepted against {violation:?}")),
            None if violations.is_empty() => Err("accepted, and the check finds it valid".into()),
            None => Ok(()),
        }
    }
}

/// Runs one test; a panic is a fault that no baseline excuses.
pub fn guarded(name: &str, test: impl FnOnce() -> Verdict) -> Result<Found, String> {
    match catch_unwind(AssertUnwindSafe(test)) {
        Ok((outcome, detail)) => Ok(Found { test: name.to_owned(), outcome, detail }),
        Err(payload) => Err(format!("panic: {name}: {}", message(&*payload))),
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// What is found, or every fault.
pub fn without_faults(all: Vec<Result<Found, String>>) -> Result<Vec<Found>, String> {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Ok(one) => found.push(one),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults.join("\n")) }
}
