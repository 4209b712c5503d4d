//! Whether a keyword's value is what its dialect demands.

use super::dialect::Draft;
use super::json::{JsonId, JsonKind, JsonRef};
use super::keyword::{Check, Kw, TYPE_NAMES, nearest};
use crate::base::Decimal;
use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// Checks the value of an active keyword; subschemas in it are checked where they are walked.
///
/// # Errors
///
/// `invalid-schema` at the value that is wrong.
pub(super) fn check_value(kw: Kw, value: JsonRef<'_>, draft: Draft) -> Result<()> {
    match kw.spec().check {
        Check::Any => Ok(()),
        Check::Text => expect_kind(kw, value, JsonKind::String),
        Check::Boolean => expect_kind(kw, value, JsonKind::Bool),
        Check::Number => number(kw, value).map(|_| ()),
        Check::PositiveNumber => positive_number(kw, value),
        Check::ExclusiveBound => exclusive_bound(kw, value, draft),
        Check::Length => length(kw, value),
        Check::TypeNames if draft == Draft::OpenApi30 => one_type_name(value),
        Check::TypeNames => type_names(value),
        Check::Array => expect_kind(kw, value, JsonKind::Array),
        Check::Names => names(kw, value),
        Check::NamesByName => {
            expect_kind(kw, value, JsonKind::Object)?;
            value.members().try_for_each(|(_, member)| names(kw, member))
        }
        Check::Booleans => {
            expect_kind(kw, value, JsonKind::Object)?;
            value.members().try_for_each(|(_, member)| expect_kind(kw, member, JsonKind::Bool))
        }
    }
}

/// The beginning of a text that a message quotes.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    const MOST_CHARS: usize = 80;
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// An `invalid-schema` error at `value`.
pub(super) fn invalid(value: JsonRef<'_>, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidSchema, message)
        .at(value.document().location(value.id()))
        .at_offset(value.span().start)
}

/// The error of a value that is not what `kw` takes.
pub(super) fn wrong_kind(kw: Kw, value: JsonRef<'_>, expected: &str) -> Error {
    let message = format!("`{}` takes {expected}, not {}", kw.name(), value.kind().phrase());
    invalid(value, message)
}

fn expect_kind(kw: Kw, value: JsonRef<'_>, kind: JsonKind) -> Result<()> {
    if value.kind() == kind { Ok(()) } else { Err(wrong_kind(kw, value, kind.phrase())) }
}

fn number(kw: Kw, value: JsonRef<'_>) -> Result<Decimal> {
    let Some(text) = value.number_text() else {
        return Err(wrong_kind(kw, value, JsonKind::Number.phrase()));
    };
    Decimal::parse(text)
        .ok_or_else(|| invalid(value, format!("the exponent of `{}` is out of range", kw.name())))
}

fn positive_number(kw: Kw, value: JsonRef<'_>) -> Result<()> {
    let decimal = number(kw, value)?;
    if decimal.is_negative() || decimal.is_zero() {
        let message =
            format!("`{}` takes a number above 0, not {}", kw.name(), excerpt(value.text()));
        return Err(invalid(value, message));
    }
    Ok(())
}

fn exclusive_bound(kw: Kw, value: JsonRef<'_>, draft: Draft) -> Result<()> {
    let is_boolean = value.kind() == JsonKind::Bool;
    match draft {
        _ if draft.is_draft_4() && !is_boolean => {
            Err(wrong_kind(kw, value, &format!("a boolean in {}", draft.name())))
        }
        _ if draft.is_draft_4() => Ok(()),
        Draft::Undeclared if is_boolean => Ok(()),
        _ if is_boolean => Err(wrong_kind(kw, value, "a number from draft 6 on")),
        _ => number(kw, value).map(|_| ()),
    }
}

fn length(kw: Kw, value: JsonRef<'_>) -> Result<()> {
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if value.number_text().is_some_and(all_digits) {
        return Ok(());
    }
    let decimal = number(kw, value)?;
    if decimal.is_negative() || !decimal.is_integer() {
        let message = format!(
            "`{}` takes an integer that is not negative, not {}",
            kw.name(),
            excerpt(value.text())
        );
        return Err(invalid(value, message));
    }
    Ok(())
}

fn type_names(value: JsonRef<'_>) -> Result<()> {
    if value.kind() != JsonKind::Array {
        return type_name(value).map(|_| ());
    }
    let mut seen = 0u8;
    for item in value.items() {
        let bit = 1 << type_name(item)?;
        if seen & bit != 0 {
            return Err(invalid(item, format!("the type {} stands twice", item.text())));
        }
        seen |= bit;
    }
    Ok(())
}

/// OpenAPI 3.0 has no lists of types, and no type `null`.
fn one_type_name(value: JsonRef<'_>) -> Result<()> {
    if value.kind() == JsonKind::Array || value.as_str() == Some("null") {
        let message =
            "`type` takes one name other than `null` in OpenAPI 3.0; `nullable` allows null";
        return Err(invalid(value, message));
    }
    type_name(value).map(|_| ())
}

fn type_name(value: JsonRef<'_>) -> Result<usize> {
    let Some(name) = value.as_str() else {
        return Err(wrong_kind(Kw::Type, value, "a type name or an array of them"));
    };
    TYPE_NAMES.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = match nearest(name, TYPE_NAMES.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the types are {}", TYPE_NAMES.join(", ")),
        };
        invalid(value, format!("there is no type {}; {hint}", excerpt(value.text())))
    })
}

/// An array of distinct strings.
pub(super) fn names(kw: Kw, value: JsonRef<'_>) -> Result<()> {
    if value.kind() != JsonKind::Array {
        return Err(wrong_kind(kw, value, "an array of names"));
    }
    let mut sorted = Vec::with_capacity(value.len());
    for item in value.items() {
        let Some(name) = item.as_str() else {
            return Err(wrong_kind(kw, item, "an array of strings"));
        };
        sorted.push((name, item.id()));
    }
    sorted.sort_unstable();
    let twice = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    match twice.map(|pair| pair[1].1).min() {
        None => Ok(()),
        Some(id) => Err(twice_named(kw, value, id)),
    }
}

fn twice_named(kw: Kw, value: JsonRef<'_>, id: JsonId) -> Error {
    let item = value.document().value(id);
    invalid(item, format!("`{}` names {} twice", kw.name(), excerpt(item.text())))
}
