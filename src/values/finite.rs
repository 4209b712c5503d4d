//! Finite sets of strings: what is left of them is decided string by string.

use super::sets::Builder;
use super::shape::StringShape;
use std::sync::Arc;

impl Builder<'_> {
    /// Whether a string is in a shape.
    pub(super) fn has_text(&self, shape: &StringShape, text: &str) -> bool {
        let holds = |id: &super::shape::FactorId| self.factors[id.index()].matches(text);
        let is_bounded = shape.min > 0 || shape.max.is_some();
        let len = if is_bounded { text.chars().count() as u64 } else { 0 };
        len >= shape.min
            && shape.max.is_none_or(|max| len <= max)
            && shape
                .values
                .as_ref()
                .is_none_or(|values| values.binary_search_by(|value| (**value).cmp(text)).is_ok())
            && shape.factors.iter().all(holds)
            && !shape.without.iter().any(holds)
    }

    /// Those strings of a finite shape that are in none of `others`; `None` where none are.
    pub(super) fn finite_without(
        &self,
        values: &[Box<str>],
        shape: &StringShape,
        others: &[StringShape],
    ) -> Option<StringShape> {
        let is_left = |text: &str| {
            self.has_text(shape, text) && !others.iter().any(|other| self.has_text(other, text))
        };
        let left: Arc<[Box<str>]> = values.iter().filter(|text| is_left(text)).cloned().collect();
        (!left.is_empty()).then(|| StringShape { values: Some(left), ..StringShape::default() })
    }

    /// The same strings, with one shape for all that are listed.
    pub(super) fn gathered(&self, shapes: &[StringShape]) -> Vec<StringShape> {
        let is_finite = |shape: &&StringShape| shape.values.is_some();
        if shapes.iter().filter(is_finite).count() < 2 {
            return shapes.to_vec();
        }
        let mut texts: Vec<Box<str>> = Vec::new();
        for shape in shapes.iter().filter(is_finite) {
            let values = shape.values.iter().flat_map(|values| values.iter());
            texts.extend(values.filter(|text| self.has_text(shape, text)).cloned());
        }
        texts.sort_unstable();
        texts.dedup();
        let mut all: Vec<StringShape> =
            shapes.iter().filter(|shape| !is_finite(shape)).cloned().collect();
        if !texts.is_empty() {
            all.push(StringShape { values: Some(texts.into()), ..StringShape::default() });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Limits, Options};
    use crate::schema::Schema;
    use crate::values::{Sets, Strings};
    use std::sync::Arc;

    /// The strings of the root, where it has one shape of them and nothing is left out.
    fn strings(schema: &str) -> Vec<String> {
        let limits = Limits { set_shapes: 4, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let schema = Schema::parse(schema, &options).unwrap();
        let sets = Sets::compile(Arc::new(schema), &options).unwrap();
        assert!(sets.widened().is_empty());
        let [id] = sets.get(sets.root()).strings[..] else { panic!("not one shape") };
        match sets.strings(id) {
            Strings::Finite(texts) => texts.iter().map(|text| text.to_string()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn listed_strings_are_taken_away_one_by_one() {
        let schema = r#"{"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"const": "d"},
            {"enum": ["e"]}, {"enum": ["f"]}, {"enum": ["g"]}]}"#;
        assert_eq!(strings(schema), ["a", "c", "d", "e", "f", "g"]);
        let schema = r#"{"enum": ["a", "ab", "abc"], "not": {"anyOf": [{"pattern": "c"},
            {"type": "string", "maxLength": 1}]}}"#;
        assert_eq!(strings(schema), ["ab"]);
        let schema = r#"{"enum": ["a", "b", "c"], "not": {"oneOf": [{"enum": ["a"]},
            {"enum": ["a", "b"]}, {"enum": ["x"]}]}}"#;
        assert_eq!(strings(schema), ["a", "c"]);
    }
}
