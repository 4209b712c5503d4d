//! Validation of finished documents by the `jsonschema` crate, beside the masks.
//!
//! What goes in is the schema's text with its options and a finished document; what comes out is
//! each violation with the place of the violated keyword, written as in reports, and whether the
//! report routes that keyword to a check. Nothing is fetched: `$ref` reaches registered documents
//! and the official meta-schemas only.

mod content;
mod formats;
mod location;
mod meta;
mod openapi;
mod pattern;

use crate::base::Route;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Dialect, Options};
use crate::report::Report;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Retrieve, Uri, ValidationError};
use location::Places;
use serde_json::Value;
use std::collections::HashMap;

/// How deep branches of `anyOf` and `oneOf` inside each other are told apart.
const DEEPEST_CONTEXT: usize = 32;

/// One violated keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The keyword: `<uri>#<JSON pointer>`, as in reports.
    pub location: String,
    /// The place in the document, a JSON pointer.
    pub instance: String,
    /// What is wrong.
    pub message: String,
    /// Whether the report routes the keyword, or a combinator around it, elsewhere than `mask`.
    pub routed: bool,
}

/// Validates documents against one schema.
pub struct Validator {
    validator: jsonschema::Validator,
    places: Places,
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Validator").field("places", &self.places).finish_non_exhaustive()
    }
}

impl Validator {
    /// A validator of `schema_text` under the dialect, formats and documents of `options`.
    ///
    /// # Errors
    ///
    /// `json-syntax` where a text is not JSON (or nests deeper than 128), `invalid-schema` where
    /// the `jsonschema` crate refuses the schema. In the dialect of OpenAPI 3.0 also those of
    /// [`Grammar::compile`](crate::Grammar::compile) but for `unsatisfiable`.
    pub fn new(schema_text: &str, options: &Options) -> Result<Validator> {
        let mut schema = parse(schema_text, "")?;
        // A document that nobody refers to may be anything. A final `#` says nothing.
        let mut documents: Vec<(String, Value)> = options
            .documents
            .iter()
            .map(|(uri, text)| (uri.strip_suffix('#').unwrap_or(uri), text))
            .filter_map(|(uri, text)| Some((uri.to_owned(), parse(text, uri).ok()?)))
            .collect();
        if options.dialect == Some(Dialect::OpenApi30) {
            openapi::rewrite(schema_text, options, &mut schema, &mut documents)?;
        }
        let places = Places::new(&schema, &documents);
        let builder = formats::choose(jsonschema::options(), options, &schema, &documents);
        let builder = pattern::choose(content::choose(builder, options.content));
        let meta_schemas = meta::registry(&schema, &documents)?;
        let mut builder = builder.with_retriever(Registered::new(documents));
        if let Some(meta_schemas) = &meta_schemas {
            builder = builder.with_registry(meta_schemas);
        }
        if let Some(base) = places.implied_base() {
            builder = builder.with_base_uri(base);
        }
        if let Some(dialect) = options.dialect
            && schema.get("$schema").is_none()
        {
            builder = builder.with_draft(draft(dialect));
        }
        let validator = builder.build(&schema).map_err(|error| {
            Error::new(ErrorKind::InvalidSchema, error.to_string())
                .at(format!("#{}", error.instance_path()))
        })?;
        Ok(Validator { validator, places })
    }

    /// The violations of `document`; none where it is valid.
    ///
    /// # Errors
    ///
    /// `input` where the document is not JSON, `limit` where it nests deeper than the 128 levels
    /// that `serde_json` reads.
    pub fn violations(&self, document: &str, report: &Report) -> Result<Vec<Violation>> {
        let instance: Value = serde_json::from_str(document).map_err(|error| {
            let deep = error.to_string().starts_with("recursion limit exceeded");
            let kind = if deep { ErrorKind::Limit } else { ErrorKind::Input };
            Error::new(kind, format!("the document cannot be read: {error}"))
        })?;
        let errors = self.validator.iter_errors(&instance);
        let violations = errors.map(|error| self.violation(&error, report));
        // The crate knows no dialect in which content keywords say nothing.
        let asserts = |one: &Violation| {
            !one.location.contains("/content")
                || report.route_of(&one.location) != Some(Route::Annotation)
        };
        Ok(violations.filter(asserts).collect())
    }

    fn violation(&self, error: &ValidationError<'_>, report: &Report) -> Violation {
        Violation {
            location: self.places.of(error),
            instance: error.instance_path().to_string(),
            message: error.to_string(),
            routed: self.is_routed(error, report, DEEPEST_CONTEXT),
        }
    }

    /// Whether no mask promised to prevent `error`.
    fn is_routed(&self, error: &ValidationError<'_>, report: &Report, depth: usize) -> bool {
        let location = self.places.of(error);
        if location::is_unenforced(&location, report) {
            return true;
        }
        let branches = match error.kind() {
            // `false` has no keyword of its own: what led to it decides.
            ValidationErrorKind::FalseSchema if report.route_of(&location).is_none() => {
                let path = error.evaluation_path().to_string();
                return location::passes_unenforced(&path, report)
                    || location::is_held_in_part(&location, report);
            }
            // What is wrong with the name knows the way to it.
            ValidationErrorKind::PropertyNames { error } if depth > 0 => {
                return self.is_routed(error, report, depth - 1);
            }
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => context,
            _ => return location::is_partly_enforced(&location, report),
        };
        // A branch fails for the check's reasons alone if each of its violations is routed.
        depth > 0
            && branches.iter().any(|branch| {
                !branch.is_empty()
                    && branch.iter().all(|inner| self.is_routed(inner, report, depth - 1))
            })
    }
}

fn parse(text: &str, uri: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        Error::new(ErrorKind::JsonSyntax, format!("the check cannot read this schema: {error}"))
            .at(format!("{uri}#"))
            .caused_by(error)
    })
}

fn draft(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::OpenApi30 | Dialect::Draft4 => Draft::Draft4,
        Dialect::Draft6 => Draft::Draft6,
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft201909 => Draft::Draft201909,
        Dialect::Draft202012 => Draft::Draft202012,
    }
}

/// Gives out registered documents, and nothing else.
struct Registered(HashMap<String, Value>);

impl Registered {
    fn new(documents: Vec<(String, Value)>) -> Self {
        Registered(
            documents.into_iter().map(|(uri, value)| (location::absolute(&uri), value)).collect(),
        )
    }
}

impl Retrieve for Registered {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> std::result::Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().trim_end_matches('#');
        self.0.get(name).cloned().ok_or_else(|| format!("`{name}` is not registered").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Limits;

    fn violations(schema: &str, options: &Options, document: &str) -> Vec<Violation> {
        let validator = Validator::new(schema, options).unwrap();
        let grammar = crate::compile::Grammar::compile(schema, options).unwrap();
        validator.violations(document, grammar.report()).unwrap()
    }

    fn locations(schema: &str, options: &Options, document: &str) -> Vec<String> {
        violations(schema, options, document).into_iter().map(|found| found.location).collect()
    }

    #[test]
    fn locations_are_those_of_reports() {
        let schema = r##"{"$defs": {"a/b": {"type": "string"}},
            "properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"const": 1}}}"##;
        let options = Options::default();
        assert_eq!(locations(schema, &options, r#"{"x": 1}"#), ["#/$defs/a~1b/type"]);
        assert_eq!(locations(schema, &options, r#"{"y": 2}"#), ["#/properties/y/const"]);
        assert!(locations(schema, &options, r#"{"y": 1.0}"#).is_empty());
    }

    #[test]
    fn a_false_schema_is_routed_as_what_led_to_it() {
        let options = Options::default();
        for schema in [
            r##"{"if": {"type": "integer"}, "then": {"$ref": "#/$defs/none"},
                "$defs": {"none": false}}"##,
            r##"{"dependentSchemas": {"a": false}}"##,
            r##"{"dependentSchemas": {"a": {"propertyNames": {"$ref": "#/$defs/none"}}},
                "$defs": {"none": false}}"##,
            // A keyword that asserts nothing elsewhere.
            r##"{"dependentSchemas": {"a": {"$ref": "#/$defs/none"}},
                "else": {"dependentSchemas": {"b": {"$ref": "#/$defs/none"}}},
                "$defs": {"none": false}}"##,
        ] {
            let is_object = schema.contains("dependent");
            let document = if is_object { r#"{"a": 1}"# } else { "1" };
            let found = violations(schema, &options, document);
            assert!(!found.is_empty() && found.iter().all(|one| !one.routed), "{schema} {found:?}");
        }
        // A limit leaves out the pattern beside a language of many states.
        let limited = r#"{"propertyNames": {"pattern": "^[ab]*a[ab]{13}$"}, "patternProperties": {"^x": false}}"#;
        let found = violations(limited, &options, r#"{"x": 1}"#);
        assert!(found.iter().any(|one| one.location == "#/patternProperties/^x"), "{found:?}");
        assert!(found.iter().all(|one| one.routed), "{found:?}");
        // A limit leaves out the condition, and so what depends on it.
        let branches = ["a", "b", "c", "d", "e"].map(|name| {
            format!(r#"{{"required": ["{name}"], "properties": {{"{name}": {{"enum": [0]}}}}}}"#)
        });
        let branches = branches.join(", ");
        let limited = format!(
            r#"{{"if": {{"oneOf": [{branches}]}}, "then": {{"properties": {{"x": false}}}}}}"#
        );
        let options = Options { limits: Limits { set_shapes: 20, ..Limits::default() }, ..options };
        let found = violations(&limited, &options, r#"{"a": 0, "x": 1}"#);
        assert_eq!(found.len(), 1);
        assert!(found[0].location == "#/then/properties/x" && found[0].routed, "{found:?}");
        let enforced =
            r##"{"properties": {"a": {"$ref": "#/$defs/none"}}, "$defs": {"none": false}}"##;
        assert!(violations(enforced, &options, r#"{"a": 1}"#).iter().all(|one| !one.routed));
    }

    #[test]
    fn dependent_names_are_placed_at_their_keyword() {
        for keyword in ["dependentRequired", "dependencies"] {
            let schema = format!(r#"{{"{keyword}": {{"a": ["b"]}}}}"#);
            let found = violations(&schema, &Options::default(), r#"{"a": 1}"#);
            assert!(found.iter().all(|one| one.location == format!("#/{keyword}")));
            assert_eq!(found.len(), 1, "{keyword}");
        }
    }

    #[test]
    fn nested_resources_are_placed_from_the_document_root() {
        let schema = r#"{"$id": "https://example.com/root", "properties":
            {"x": {"$id": "inner", "properties": {"y": {"type": "null"}}}}}"#;
        assert_eq!(
            locations(schema, &Options::default(), r#"{"x": {"y": 1}}"#),
            ["#/properties/x/properties/y/type"]
        );
    }

    #[test]
    fn registered_documents_are_reached_and_named() {
        let schema =
            r#"{"properties": {"a": {"$ref": "https://example.com/a"}, "b": {"$ref": "b.json"}}}"#;
        let options = Options::default()
            .document("https://example.com/a", r#"{"type": "integer"}"#)
            .document("b.json#", r#"{"maxLength": 2}"#);
        assert_eq!(
            locations(schema, &options, r#"{"a": "x", "b": "long"}"#),
            ["https://example.com/a#/type", "b.json#/maxLength"]
        );
        assert!(Validator::new(r#"{"$ref": "https://example.com/none"}"#, &options).is_err());
    }

    #[test]
    fn routed_keywords_are_told_apart() {
        let schema = r#"{"type": "object", "properties":
            {"n": {"type": "array", "not": {"uniqueItems": true}}}}"#;
        let found = violations(schema, &Options::default(), r#"{"n": [3]}"#);
        assert_eq!(found.len(), 1);
        assert!(found[0].routed);
        assert_eq!(found[0].instance, "/n");
        let found = violations(schema, &Options::default(), r#"{"n": "3"}"#);
        assert!(!found[0].routed);
    }

    /// ECMA-262 reads `\<` as `<`, and `$` as the end alone.
    #[test]
    fn patterns_are_those_of_the_standard() {
        for (pattern, yes, no) in [
            (r"^.+\\<.+\\>$", "\"a<b>\"", "\"ab\""),
            ("^a$", "\"a\"", r#""a\n""#),
            (r"^(x+)y\\1$", "\"xxyxx\"", "\"xxyx\""),
        ] {
            let schema = format!(r#"{{"pattern": "{pattern}"}}"#);
            assert!(locations(&schema, &Options::default(), yes).is_empty(), "{pattern}");
            assert_eq!(locations(&schema, &Options::default(), no), ["#/pattern"], "{pattern}");
        }
    }

    #[test]
    fn a_missing_dependent_name_is_found_at_its_keyword() {
        let schema = r#"{"dependentRequired": {"bar": ["foo"]}}"#;
        let found = locations(schema, &Options::default(), r#"{"bar": 2}"#);
        assert_eq!(found, ["#/dependentRequired"]);
    }

    #[test]
    fn what_a_dynamic_reference_reaches_is_found() {
        let schema = r##"{"$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/root", "$ref": "list", "$defs": {
                "foo": {"$dynamicAnchor": "items", "type": "string"},
                "list": {"$id": "list", "type": "array", "items": {"$dynamicRef": "#items"},
                         "$defs": {"items": {"$dynamicAnchor": "items"}}}}}"##;
        let found = violations(schema, &Options::default(), r#"["foo", 42]"#);
        let found: Vec<_> = found.iter().map(|one| (&*one.location, one.routed)).collect();
        assert_eq!(found, [("#/$defs/foo/type", false)]);
    }

    #[test]
    fn unreadable_documents_are_errors() {
        let validator = Validator::new("{}", &Options::default()).unwrap();
        let report = Report::default();
        assert_eq!(validator.violations("{", &report).unwrap_err().kind(), ErrorKind::Input);
        let deep = "[".repeat(500) + &"]".repeat(500);
        assert_eq!(validator.violations(&deep, &report).unwrap_err().kind(), ErrorKind::Limit);
    }
}
