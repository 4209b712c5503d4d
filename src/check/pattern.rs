//! The keyword `pattern`, read as the masks read it: by ECMA-262. The validator's own engine has
//! another syntax, into which it translates patterns; where the translation means something else,
//! the standard holds.

use crate::language::Factor;
use crate::options::Limits;
use jsonschema::{Keyword, ValidationError, ValidationOptions, Validator};
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes that one pattern may take: far more than masks allow it.
const MOST_BYTES: usize = 64 << 20;

/// Sets up how patterns are checked.
pub(super) fn choose(builder: ValidationOptions<'_>) -> ValidationOptions<'_> {
    builder.with_keyword("pattern", |_, text, _| {
        let Some(text) = text.as_str() else {
            return Err(ValidationError::custom("`pattern` is not a string"));
        };
        let limits = Limits { pattern_bytes: MOST_BYTES, ..Limits::default() };
        let own = Factor::pattern(text, &limits).ok();
        // A superset, or nothing at all: then the validator's own reading decides.
        let other = match &own {
            Some(factor) if factor.is_exact() => None,
            _ => Some(jsonschema::validator_for(&json!({ "pattern": text }))?),
        };
        Ok(Box::new(Pattern { text: text.to_owned(), own, other }))
    })
}

struct Pattern {
    text: String,
    own: Option<Arc<Factor>>,
    other: Option<Validator>,
}

impl Keyword<'_> for Pattern {
    fn validate<'i>(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.is_valid(instance) {
            true => Ok(()),
            false => {
                let message = format!("{instance} does not match \"{}\"", self.text);
                Err(ValidationError::custom(message))
            }
        }
    }

    fn is_valid(&self, instance: &Value) -> bool {
        let Some(text) = instance.as_str() else { return true };
        self.own.as_ref().is_none_or(|factor| factor.matches(text))
            && self.other.as_ref().is_none_or(|validator| validator.is_valid(instance))
    }
}
