//! Values that stand in a schema: literal sets, and the keywords whose value bounds a number or a
//! length.

use super::draft::Draft;
use super::numbers::NumberShape;
use super::sets::Builder;
use super::shape::{ArrayShape, Literals, Name, ObjectShape, Rank, SetId, StringShape};
use crate::base::Decimal;
use crate::schema::{DocId, JsonKind, JsonRef, Keyword, Kw, Schema, Status};
use std::sync::Arc;

impl Builder<'_> {
    /// The union of literal values.
    pub(super) fn literals<'j>(
        &mut self,
        doc: DocId,
        values: impl IntoIterator<Item = JsonRef<'j>>,
    ) -> Draft {
        let mut draft = Draft::never();
        let (mut numbers, mut strings) = (Vec::new(), Vec::<Box<str>>::new());
        for value in values {
            match value.kind() {
                JsonKind::Null => draft.literals = draft.literals.or(Literals::NULL),
                JsonKind::Bool => {
                    let bit = if value.as_bool() == Some(true) {
                        Literals::TRUE
                    } else {
                        Literals::FALSE
                    };
                    draft.literals = draft.literals.or(bit);
                }
                JsonKind::Number => {
                    numbers.extend(value.number_text().and_then(Decimal::parse));
                }
                JsonKind::String => strings.extend(value.as_str().map(Box::from)),
                JsonKind::Array | JsonKind::Object => {
                    self.literal_container(&mut draft, doc, value)
                }
            }
        }
        draft.numbers.extend(NumberShape::of_values(numbers));
        strings.sort_unstable();
        strings.dedup();
        if !strings.is_empty() {
            let values = Some(strings.into());
            draft.strings = vec![StringShape { values, ..StringShape::default() }];
        }
        draft
    }

    fn literal_container(&mut self, draft: &mut Draft, doc: DocId, value: JsonRef<'_>) {
        if value.kind() == JsonKind::Array {
            let prefix: Arc<[_]> = value.items().map(|item| self.literal_set(doc, item)).collect();
            let len = prefix.len() as u64;
            draft.arrays.push(ArrayShape {
                prefix,
                rest: SetId::NEVER,
                min: len,
                max: Some(len),
                ..ArrayShape::any()
            });
            return;
        }
        let names = value.members().map(|(text, member)| Name {
            text: text.into(),
            rank: Rank::Declared,
            required: true,
            set: self.literal_set(doc, member),
        });
        draft.objects.push(ObjectShape {
            names: names.collect(),
            other: SetId::NEVER,
            ..ObjectShape::any()
        });
    }
}

/// The values of a `type`: a name or a list of names. The reader has checked them.
/// `nullable`: OpenAPI's keyword beside it, which adds null.
pub(super) fn of_types(value: JsonRef<'_>, nullable: bool, integers: &NumberShape) -> Draft {
    let names = value.as_str().into_iter().chain(value.items().filter_map(JsonRef::as_str));
    let mut draft = Draft::never();
    if nullable {
        draft.literals = Literals::NULL;
    }
    for name in names {
        match name {
            "null" => draft.literals = draft.literals.or(Literals::NULL),
            "boolean" => draft.literals = draft.literals.or(Literals::BOOLEANS),
            "number" => draft.numbers = vec![NumberShape::ANY],
            "integer" if draft.numbers.is_empty() => draft.numbers = vec![integers.clone()],
            "string" => draft.strings = vec![StringShape::default()],
            "array" => draft.arrays = vec![ArrayShape::any()],
            "object" => draft.objects = vec![ObjectShape::any()],
            _ => {}
        }
    }
    draft
}

/// The numbers that a bound allows; `None` where it is a boolean, which only makes the bound beside
/// it exclusive. What no text reaches is left out: then there are no numbers.
pub(super) fn bounded(
    kw: Kw,
    value: JsonRef<'_>,
    keywords: &[Keyword],
    schema: &Schema,
) -> Option<Option<NumberShape>> {
    let at = value.number_text().and_then(Decimal::parse)?;
    let says_open = |kw: Kw| {
        let mut beside = keywords.iter().filter(|k| k.status == Status::Active && k.kw == Some(kw));
        beside.any(|k| schema.value(k).as_bool() == Some(true))
    };
    Some(match kw {
        Kw::Minimum => NumberShape::at_least(at, says_open(Kw::ExclusiveMinimum)),
        Kw::Maximum => NumberShape::at_most(at, says_open(Kw::ExclusiveMaximum)),
        Kw::ExclusiveMinimum => NumberShape::at_least(at, true),
        _ => NumberShape::at_most(at, true),
    })
}

/// A length keyword's value; the reader has checked that it is a non-negative integer. What does
/// not fit into 64 bits is as good as the largest that does: no document gets there.
pub(super) fn length(value: JsonRef<'_>) -> u64 {
    let Some(text) = value.number_text() else { return u64::MAX };
    let plain = text.parse().ok();
    plain.or_else(|| Decimal::parse(text)?.to_u64()).unwrap_or(u64::MAX)
}
