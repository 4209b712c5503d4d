//! Formats as the report understands them: every known one, in every dialect.
//!
//! The `jsonschema` crate knows a format only from the draft on that defines it, and takes no
//! [`Formats::Annotate`](crate::options::Formats) for what a meta-schema asserts. What the report
//! routes to a check must be checked, so both are mended here.

use crate::options::{Formats, Options};
use jsonschema::{Draft, ValidationOptions, Validator};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Formats that some draft has not: name → a validator by the draft that has them all.
static LATER: LazyLock<Vec<(&'static str, Validator)>> = LazyLock::new(|| {
    let validator = |name| {
        let mut builder = jsonschema::options().with_draft(Draft::Draft202012);
        builder = builder.should_validate_formats(true);
        Some((name, builder.build(&json!({"format": name})).ok()?))
    };
    LATER_NAMES.into_iter().filter_map(validator).collect()
});
const LATER_NAMES: [&str; 9] = [
    "duration",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// What decides whether a meta-schema asserts formats, where the options say that none are.
const ASSERTING: [&str; 2] = [
    "json-schema.org/draft/2019-09/vocab/format",
    "json-schema.org/draft/2020-12/vocab/format-assertion",
];

/// Sets up how formats are checked.
pub(super) fn choose<'a>(
    mut builder: ValidationOptions<'a>,
    options: &Options,
    schema: &Value,
    documents: &[(String, Value)],
) -> ValidationOptions<'a> {
    // Left to itself, the crate does what the meta-schemas say, but enforces formats up to draft 7.
    if options.formats != Formats::Annotate || !is_asserting(schema, documents) {
        builder = builder.should_validate_formats(options.formats != Formats::Annotate);
    }
    for index in 0..LATER.len() {
        let check = move |text: &str| LATER[index].1.is_valid(&Value::from(text));
        builder = builder.with_format(LATER[index].0, check);
    }
    builder
}

/// Whether the schema or a registered document has a meta-schema, registered too, that asserts
/// formats.
fn is_asserting(schema: &Value, documents: &[(String, Value)]) -> bool {
    let asserts = |name: &str| {
        documents.iter().any(|(uri, document)| {
            let listed = document.get("$vocabulary").and_then(Value::as_object);
            let mut listed = listed.into_iter().flatten().map(|(name, _)| key(name));
            key(uri) == key(name) && listed.any(|name| ASSERTING.contains(&name))
        })
    };
    let all = documents.iter().map(|(_, document)| document).chain([schema]);
    let mut names = all.filter_map(|schema| schema.get("$schema").and_then(Value::as_str));
    names.any(asserts)
}

/// A URI without what does not matter in `$schema`.
fn key(uri: &str) -> &str {
    let uri = uri.trim_end_matches('#');
    uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or(uri)
}

#[cfg(test)]
mod tests {
    use crate::check::Validator;
    use crate::compile::Grammar;
    use crate::language::FORMATS;
    use crate::options::{Dialect, Formats, Options};

    fn violations(schema: &str, options: &Options, document: &str) -> usize {
        let grammar = Grammar::compile(schema, options).unwrap();
        let validator = Validator::new(schema, options).unwrap();
        validator.violations(document, grammar.report()).unwrap().len()
    }

    /// What the report routes to a check is checked.
    #[test]
    fn every_format_is_checked_in_every_dialect() {
        for format in FORMATS.iter().filter(|format| format.standard) {
            let schema = format!(r#"{{"format": "{}"}}"#, format.name);
            for dialect in Dialect::ALL {
                let options = Options { dialect: Some(dialect), ..Options::default() };
                // No value of any format: an open group, an open template, no pointer, no host.
                let count = violations(&schema, &options, r#""{( ""#);
                assert_eq!(count, 1, "{} in {}", format.name, dialect.name());
                let options = Options { formats: Formats::Annotate, ..options };
                assert_eq!(violations(&schema, &options, r#""{( ""#), 0);
            }
        }
    }

    /// A meta-schema that asserts formats does so under every option; its boolean is for those who
    /// do not know the vocabulary.
    #[test]
    fn meta_schemas_assert_formats() {
        let schema = r#"{"$schema": "https://example.com/meta", "format": "ipv4"}"#;
        for (draft, vocabulary, value, count) in [
            ("2020-12", "format-assertion", "true", 1),
            ("2020-12", "format-assertion", "false", 1),
            ("2020-12", "format-annotation", "true", 0),
            ("2019-09", "format", "true", 1),
            ("2019-09", "format", "false", 0),
        ] {
            let base = format!("https://json-schema.org/draft/{draft}");
            let meta = format!(
                r#"{{"$schema": "{base}/schema", "$vocabulary": {{
                    "{base}/vocab/core": true, "{base}/vocab/{vocabulary}": {value}}}}}"#
            );
            let options = Options { formats: Formats::Annotate, ..Options::default() };
            let options = options.document("https://example.com/meta", meta);
            assert_eq!(violations(schema, &options, r#""x""#), count, "{vocabulary}: {value}");
        }
    }

    #[test]
    fn content_is_annotated() {
        let schema = r#"{"contentEncoding": "base64", "contentMediaType": "application/json"}"#;
        for dialect in Dialect::ALL {
            let options = Options { dialect: Some(dialect), ..Options::default() };
            assert_eq!(violations(schema, &options, r#""{%""#), 0, "{}", dialect.name());
        }
    }
}
