//! What the locations of all keywords take together.
//!
//! A location names the whole way from the document's root, so that of a schema which is very deep,
//! or has a very long name far up, they are much longer than its text: with the square of the depth.
//! Nobody may be surprised by that when the report is made.

use super::Schema;
use super::json::{JsonDocument, JsonId};
use crate::error::{Error, Result};

/// Refuses a schema whose keywords' locations are longer than `most` bytes together.
///
/// # Errors
///
/// `limit` for `location_bytes`, at the document in which it is passed.
pub(super) fn refuse_long(schema: &Schema, most: usize) -> Result<()> {
    // A name of the text takes at most two bytes for each of its own.
    let longest = schema.docs.iter().map(|doc| doc.uri().len() + 2 * doc.text.len()).max();
    let keywords: usize = schema.node_ids().map(|id| schema.node(id).keywords().len()).sum();
    if keywords.saturating_mul(longest.unwrap_or(0)) <= most {
        return Ok(());
    }
    let mut lengths: Vec<Lengths> = schema.docs.iter().map(|doc| Lengths::new(doc)).collect();
    let mut total = 0usize;
    for id in schema.node_ids() {
        for keyword in schema.node(id).keywords() {
            let document = schema.document(keyword.doc);
            total += lengths[keyword.doc.index()].of(document, keyword.value);
            if total > most {
                let what = "the locations of its keywords: it is very deep, or has very long names";
                let place = format!("{}#", document.uri());
                return Err(Error::limit_met("location_bytes", most, what).at(&place));
            }
        }
    }
    Ok(())
}

/// The lengths of the pointers of one document's values, each computed once.
struct Lengths {
    known: Vec<Option<usize>>,
    /// The values on the way up from the one that is asked for.
    way: Vec<JsonId>,
}

impl Lengths {
    fn new(document: &JsonDocument) -> Lengths {
        Lengths { known: vec![None; document.node_count()], way: Vec::new() }
    }

    /// The length of a location.
    fn of(&mut self, document: &JsonDocument, id: JsonId) -> usize {
        let mut at = Some(id);
        let mut length = document.uri().len() + 1;
        while let Some(id) = at {
            if let Some(known) = self.known[id.index()] {
                length = known;
                break;
            }
            self.way.push(id);
            at = document.parent(id);
        }
        for id in self.way.drain(..).rev() {
            if document.parent(id).is_some() {
                length += document.token_length(id);
            }
            self.known[id.index()] = Some(length);
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Limits, Options};
    use crate::schema::Schema;

    fn parse(text: &str, location_bytes: usize) -> Option<&'static str> {
        let limits = Limits { location_bytes, ..Limits::default() };
        Schema::parse(text, &Options { limits, ..Options::default() }).err()?.limit()
    }

    #[test]
    fn the_sum_is_that_of_the_locations() {
        let text =
            r#"{"properties": {"a/b~é": {"anyOf": [{"type": "null"}, true]}}, "title": "x"}"#;
        let schema = Schema::parse(text, &Options::default()).unwrap();
        let keywords = schema
            .node_ids()
            .flat_map(|id| (0..schema.node(id).keywords().len()).map(move |i| (id, i)));
        let sum: usize = keywords.map(|(id, i)| schema.keyword_location(id, i).len()).sum();
        assert_eq!(
            sum,
            "#/properties".len()
                + "#/title".len()
                + "#/properties/a~1b~0é/anyOf".len()
                + "#/properties/a~1b~0é/anyOf/0/type".len()
        );
        assert!(sum < 2 * text.len() * 4, "the shortcut is not taken");
        assert_eq!(parse(text, sum), None);
        assert_eq!(parse(text, sum - 1), Some("location_bytes"));
    }

    #[test]
    fn deep_schemas_are_refused_by_what_their_locations_take() {
        let nested = |depth: usize| r#"{"items":"#.repeat(depth) + "{}" + &"}".repeat(depth);
        assert_eq!(parse(&nested(1_000), Limits::default().location_bytes), None);
        assert_eq!(
            parse(&nested(20_000), Limits::default().location_bytes),
            Some("location_bytes")
        );
    }
}
