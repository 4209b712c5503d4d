//! References to the official meta-schemas, as the compiler resolves them.
//!
//! The `jsonschema` crate has them as well, but only those of the draft of the schema that it reads,
//! and never asks whether something else is registered under their URIs. So they are handed to it.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::meta_schemas;
use jsonschema::Registry;
use serde_json::Value;

/// The meta-schemas under both of their URIs, and what is registered in their place; `None` where
/// nothing but `$schema` names json-schema.org.
///
/// # Errors
///
/// `invalid-schema` where the `jsonschema` crate refuses what is registered.
pub(super) fn registry(
    schema: &Value,
    documents: &[(String, Value)],
) -> Result<Option<Registry<'static>>> {
    let mut all = documents.iter().map(|(_, document)| document).chain([schema]);
    if !all.any(names_meta_schema) {
        return Ok(None);
    }
    let refused = |error: jsonschema::ReferencingError| {
        Error::new(ErrorKind::InvalidSchema, error.to_string()).caused_by(error)
    };
    let mut builder = Registry::new();
    for (uri, text) in meta_schemas() {
        let other = match uri.strip_prefix("https") {
            Some(rest) => format!("http{rest}"),
            None => uri.replacen("http", "https", 1),
        };
        let registered = |uri: &str| documents.iter().rev().find(|(name, _)| name == uri);
        let is_replaced = registered(uri).is_some();
        for uri in [uri.to_owned(), other] {
            let mut official = serde_json::from_str::<Value>(text).unwrap_or_default();
            if let Some(members) = official.as_object_mut().filter(|_| is_replaced) {
                // By its own name it would be found before what is registered.
                members.retain(|name, _| name != "$id" && name != "id");
            }
            let document = registered(&uri).map_or(official, |(_, document)| document.clone());
            builder = builder.add(uri, document).map_err(refused)?;
        }
    }
    builder.prepare().map(Some).map_err(refused)
}

/// Whether a text in `document`, beside `$schema`, may refer to a meta-schema. No recursion.
fn names_meta_schema(document: &Value) -> bool {
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.contains("json-schema.org") => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                open.extend(members.iter().filter(|(name, _)| *name != "$schema").map(|(_, v)| v));
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::check::Validator;
    use crate::compile::Grammar;
    use crate::options::Options;

    fn locations(schema: &str, options: &Options, document: &str) -> Vec<String> {
        let grammar = Grammar::compile(schema, options).unwrap();
        let validator = Validator::new(schema, options).unwrap();
        let found = validator.violations(document, grammar.report()).unwrap();
        found.into_iter().map(|one| one.location).collect()
    }

    /// Whatever the draft of the schema that refers to them.
    #[test]
    fn meta_schemas_need_no_registration() {
        for (uri, document, location) in [
            (
                "http://json-schema.org/draft-04/schema#",
                r#"{"maxLength": -1}"#,
                "http://json-schema.org/draft-04/schema#/definitions/positiveInteger/minimum",
            ),
            (
                "https://json-schema.org/draft-07/schema",
                r#"{"title": 1}"#,
                "http://json-schema.org/draft-07/schema#/properties/title/type",
            ),
            (
                "https://json-schema.org/draft/2019-09/meta/validation",
                r#"{"maxLength": -1}"#,
                "https://json-schema.org/draft/2019-09/meta/validation#/$defs/nonNegativeInteger/minimum",
            ),
            (
                "https://json-schema.org/draft/2020-12/schema",
                r#"{"allOf": [{"title": 1}]}"#,
                "https://json-schema.org/draft/2020-12/meta/meta-data#/properties/title/type",
            ),
        ] {
            for dialect in [
                "http://json-schema.org/draft-06/schema",
                "https://json-schema.org/draft/2020-12/schema",
            ] {
                let schema = format!(r#"{{"$schema": "{dialect}", "$ref": "{uri}"}}"#);
                let options = Options::default();
                let found = locations(&schema, &options, document);
                assert!(found.iter().any(|one| one == location), "{schema}: {found:?}");
                assert!(locations(&schema, &options, r#"{"items": {}}"#).is_empty(), "{schema}");
            }
        }
    }

    #[test]
    fn what_is_registered_wins() {
        let uri = "http://json-schema.org/draft-07/schema";
        let options = Options::default().document(format!("{uri}#"), r#"{"type": "null"}"#);
        let schema = format!(r#"{{"$ref": "{uri}"}}"#);
        assert_eq!(locations(&schema, &options, "{}"), [format!("{uri}#/type")]);
        assert!(locations(&schema, &options, "null").is_empty());
    }
}
