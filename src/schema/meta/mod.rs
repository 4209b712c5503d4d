//! The official meta-schemas, which references reach without registration.
//!
//! The documents beside this file say what the specifications' meta-schemas assert, without their
//! titles, comments and defaults: drafts 4, 6 and 7 are one document each, 2019-09 and 2020-12 one
//! for each vocabulary beside the one that joins them. They stand here as text because a document
//! keeps order and spans, and because the crate that embeds them needs more others than this
//! library has.

use super::dialect::same_document_key;

/// A meta-schema: its URI, without a final `#`, and its text.
type MetaSchema = (&'static str, &'static str);

macro_rules! meta_schemas {
    ($($uri:literal $file:literal;)*) => {
        static META_SCHEMAS: &[MetaSchema] = &[$(($uri, include_str!($file)),)*];
    };
}

meta_schemas! {
    "http://json-schema.org/draft-04/schema" "draft-04.json";
    "http://json-schema.org/draft-06/schema" "draft-06.json";
    "http://json-schema.org/draft-07/schema" "draft-07.json";
    "https://json-schema.org/draft/2019-09/schema" "2019-09/schema.json";
    "https://json-schema.org/draft/2019-09/meta/applicator" "2019-09/applicator.json";
    "https://json-schema.org/draft/2019-09/meta/content" "2019-09/content.json";
    "https://json-schema.org/draft/2019-09/meta/core" "2019-09/core.json";
    "https://json-schema.org/draft/2019-09/meta/format" "2019-09/format.json";
    "https://json-schema.org/draft/2019-09/meta/meta-data" "2019-09/meta-data.json";
    "https://json-schema.org/draft/2019-09/meta/validation" "2019-09/validation.json";
    "https://json-schema.org/draft/2020-12/schema" "2020-12/schema.json";
    "https://json-schema.org/draft/2020-12/meta/applicator" "2020-12/applicator.json";
    "https://json-schema.org/draft/2020-12/meta/content" "2020-12/content.json";
    "https://json-schema.org/draft/2020-12/meta/core" "2020-12/core.json";
    "https://json-schema.org/draft/2020-12/meta/format-annotation" "2020-12/format-annotation.json";
    "https://json-schema.org/draft/2020-12/meta/format-assertion" "2020-12/format-assertion.json";
    "https://json-schema.org/draft/2020-12/meta/meta-data" "2020-12/meta-data.json";
    "https://json-schema.org/draft/2020-12/meta/unevaluated" "2020-12/unevaluated.json";
    "https://json-schema.org/draft/2020-12/meta/validation" "2020-12/validation.json";
}

/// The meta-schema that a URI without a final `#` names; `http` or `https` does not matter.
pub(super) fn meta_schema(uri: &str) -> Option<MetaSchema> {
    // Most URIs are none of these, and are told by their beginning.
    let key = same_document_key(uri);
    if !key.starts_with("json-schema.org/draft") {
        return None;
    }
    META_SCHEMAS.iter().copied().find(|(known, _)| same_document_key(known) == key)
}

/// All of them.
#[cfg(feature = "check")]
pub(crate) fn meta_schemas() -> impl Iterator<Item = MetaSchema> {
    META_SCHEMAS.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// What only describes.
    const DESCRIBES: [&str; 5] = ["title", "description", "$comment", "default", "examples"];

    /// A schema without what only describes; `named`: its members are subschemas by name.
    fn asserted(value: &Value, named: bool) -> Value {
        match value {
            Value::Object(members) => {
                let kept =
                    members.iter().filter(|(k, _)| named || !DESCRIBES.contains(&k.as_str()));
                let maps =
                    ["properties", "definitions", "$defs", "patternProperties", "dependencies"];
                kept.map(|(k, v)| (k.clone(), asserted(v, !named && maps.contains(&k.as_str()))))
                    .collect()
            }
            Value::Array(items) => items.iter().map(|item| asserted(item, false)).collect(),
            other => other.clone(),
        }
    }

    /// The documents assert what those assert that another project embeds, and each says that it is
    /// what it is filed under.
    #[test]
    fn the_documents_assert_what_the_official_ones_do() {
        for (uri, text) in META_SCHEMAS {
            let value: Value = serde_json::from_str(text).unwrap();
            let id = value.get("$id").or_else(|| value.get("id")).and_then(Value::as_str);
            assert_eq!(id.map(|id| id.trim_end_matches('#')), Some(*uri));
            let official =
                referencing::SPECIFICATIONS.resolver(referencing::uri::from_str(uri).unwrap());
            let official = official.lookup("").unwrap();
            assert_eq!(asserted(official.contents(), false), value, "{uri}");
        }
    }

    #[test]
    fn either_scheme_finds_them() {
        for uri in
            ["https://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema"]
        {
            assert_eq!(meta_schema(uri).unwrap().0, "http://json-schema.org/draft-07/schema");
        }
        assert!(meta_schema("http://json-schema.org/draft-03/schema").is_none());
        assert!(meta_schema("draft-07/schema").is_none());
    }
}
