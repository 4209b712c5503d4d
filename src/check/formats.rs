//! Formats as the report understands them: every known one, in every dialect.
//!
//! A row of the table that is exact is its own check: where the `jsonschema` crate and the standard
//! disagree, the standard wins. What a language cannot say is left to the crate, which knows a format
//! only from the draft on that defines it, and to checks of our own for formats that it never heard
//! of. It takes no [`Formats::Annotate`](crate::options::Formats) for what a meta-schema asserts.

use super::content;
use crate::language::{Format, formats};
use crate::options::{Formats, Options};
use jsonschema::{Draft, ValidationOptions, Validator};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// By the draft that has it.
static IDN_HOSTNAME: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let builder = jsonschema::options().with_draft(Draft::Draft202012);
    builder.should_validate_formats(true).build(&json!({"format": "idn-hostname"})).ok()
});

/// The check of a format where it is not the crate's own.
fn check(format: &'static Format) -> Option<fn(&'static Format, &str) -> bool> {
    match (format.name, format.rest()) {
        // The crate does not say in which draft it asks.
        _ if format.is_older() => None,
        (_, None) => Some(Format::matches),
        ("idn-hostname", _) => Some(|format, text| {
            let more = IDN_HOSTNAME.as_ref();
            let more = more.is_none_or(|validator| validator.is_valid(&Value::from(text)));
            format.matches(text) && more
        }),
        ("jwt", _) => Some(|format, text| format.matches(text) && is_jwt_header(text)),
        _ => None,
    }
}

/// RFC 7515 section 4.1.1: the header names an algorithm; RFC 7519 section 5.1: its type, if there
/// is one, is `JWT`.
fn is_jwt_header(text: &str) -> bool {
    let (header, _) = text.split_once('.').unwrap_or((text, ""));
    let decoded = content::decode("base64url", header);
    let Some(header) = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
    else {
        return false;
    };
    let is_jwt = |kind: &Value| kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("JWT"));
    header.get("alg").is_some_and(Value::is_string) && header.get("typ").is_none_or(is_jwt)
}

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
    let all = options.formats == Formats::Enforce;
    for format in formats().filter(|format| format.standard || all) {
        if let Some(check) = check(format) {
            builder = builder.with_format(format.name, move |text: &str| check(format, text));
        }
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
    use crate::language::{SAMPLES, formats};
    use crate::options::{Content, Dialect, Formats, Options};

    fn violations(schema: &str, options: &Options, document: &str) -> usize {
        let grammar = Grammar::compile(schema, options).unwrap();
        let validator = Validator::new(schema, options).unwrap();
        validator.violations(document, grammar.report()).unwrap().len()
    }

    /// What the report routes to a check is checked.
    #[test]
    fn every_format_is_checked_in_every_dialect() {
        for format in formats().filter(|format| format.standard) {
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

    /// What the crate itself says of a draft's format.
    fn crate_says(format: &str, text: &str) -> bool {
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&serde_json::json!({ "format": format })).unwrap();
        validator.is_valid(&serde_json::Value::from(text))
    }

    /// Where the crate and the standard disagree: the standard wins, and these say why.
    const DISAGREEMENTS: [(&str, &str, &str); 5] = [
        ("duration", "p1dt1h", "RFC 5234 section 2.3: literals of ABNF have no case"),
        ("email", "a@[IPv6:1::3:4:5:6:7:8]", "RFC 5321 section 4.1.3: `::` is two groups at least"),
        ("idn-hostname", "É", "RFC 5892 section 2.2: capital letters are unstable"),
        ("relative-json-pointer", "0+1/a", "draft-bhutton-relative-json-pointer-00 section 3"),
        ("relative-json-pointer", "2-3#", "draft-bhutton-relative-json-pointer-00 section 3"),
    ];

    #[test]
    fn the_crate_and_the_standards_agree() {
        let mut found = Vec::new();
        for &(name, yes, no) in SAMPLES {
            if !formats().any(|format| format.standard && format.name == name) {
                continue;
            }
            let texts = yes.iter().map(|text| (text, true)).chain(no.iter().map(|t| (t, false)));
            for (text, valid) in texts {
                let schema = format!(r#"{{"format": "{name}"}}"#);
                let text = serde_json::Value::from(*text).to_string();
                let count = violations(&schema, &Options::default(), &text);
                assert_eq!(count == 0, valid, "{name}: {text}");
                let text: String = serde_json::from_str(&text).unwrap();
                if crate_says(name, &text) != valid {
                    found.push((name, text));
                }
            }
        }
        let known = DISAGREEMENTS.map(|(name, text, _)| (name, text.to_owned()));
        assert_eq!(found, known);
    }

    /// What only the check sees.
    #[test]
    fn the_rest_of_a_format_is_checked() {
        for (schema, document) in [
            (r#"{"format": "hostname"}"#, r#""xn--hello-txk""#),
            (r#"{"format": "idn-hostname"}"#, r#""0a.\u05D0""#),
            (r#"{"format": "regex"}"#, r#""a**""#),
            (r#"{"format": "jwt"}"#, r#""a.b.c""#),
            (r#"{"format": "jwt"}"#, r#""e30.e30.x""#),
        ] {
            assert_eq!(violations(schema, &Options::default(), document), 1, "{document}");
        }
        let jwt = r#""eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x""#;
        assert_eq!(violations(r#"{"format": "jwt"}"#, &Options::default(), jwt), 0);
    }

    #[test]
    fn content_is_enforced_by_option() {
        let schema = r#"{"contentEncoding": "base64", "contentMediaType": "application/json"}"#;
        for dialect in Dialect::ALL {
            let options = Options { dialect: Some(dialect), ..Options::default() };
            let options = Options { content: Content::Enforce, ..options };
            let count = |document| violations(schema, &options, document);
            let asserts = usize::from(dialect >= Dialect::Draft7);
            assert_eq!(count(r#""e30=""#), 0);
            assert_eq!(count(r#""e30""#), asserts, "{}", dialect.name());
            assert_eq!(count(r#""ezo=""#), asserts, "{}", dialect.name());
            assert_eq!(count("1"), 0);
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
