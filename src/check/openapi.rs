//! OpenAPI 3.0 for the `jsonschema` crate, which does not know it: its schema objects are rewritten as
//! those of draft 4.
//!
//! What the compiler has read says which objects are schemas, in which dialect, and what counts in them.

use crate::error::Result;
use crate::options::Options;
use crate::schema::{Draft, Keyword, Kw, Node, Role, Schema, Status};
use serde_json::{Map, Value, json};

/// Rewrites the schema objects of OpenAPI 3.0 in a schema, whose text is `text`, and in the documents
/// that it refers to.
///
/// # Errors
///
/// Those of reading the schema.
pub(super) fn rewrite(
    text: &str,
    options: &Options,
    root: &mut Value,
    documents: &mut [(String, Value)],
) -> Result<()> {
    let schema = Schema::parse(text, options)?;
    for id in schema.node_ids() {
        let node = schema.node(id);
        if node.inert || node.dialect.draft() != Draft::OpenApi30 {
            continue;
        }
        let document = schema.document(node.doc);
        let value = match node.doc == schema.node(schema.root()).doc {
            true => Some(&mut *root),
            // Of two with one URI the later counts.
            false => {
                let mut found = documents.iter_mut().rev();
                found.find(|(uri, _)| uri == document.uri()).map(|(_, value)| value)
            }
        };
        let place = value.and_then(|value| value.pointer_mut(&document.pointer(node.json)));
        if let Some(members) = place.and_then(Value::as_object_mut) {
            rewrite_members(&schema, node, members);
        }
    }
    Ok(())
}

fn rewrite_members(schema: &Schema, node: &Node, members: &mut Map<String, Value>) {
    let is_true = |keyword: &Keyword| schema.value(keyword).as_bool() == Some(true);
    if node.active(Kw::Nullable).is_some_and(is_true)
        && let Some(name) = members.get_mut("type")
    {
        *name = json!([name.take(), "null"]);
    }
    for keyword in node.keywords() {
        // Draft 4 has it and OpenAPI has not: it would assert, or move what references mean.
        let is_foreign = |kw: Kw| kw.is_in(Draft::Draft4) && kw.spec().role != Role::Definitions;
        if keyword.status == Status::NotInDialect && keyword.kw.is_some_and(is_foreign) {
            members.remove(schema.keyword_name(keyword));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::Validator;
    use crate::compile::Grammar;
    use crate::options::{Dialect, Options};

    fn locations(schema: &str, document: &str) -> Vec<String> {
        let options = Options { dialect: Some(Dialect::OpenApi30), ..Options::default() };
        let options = options.document("lib", r#"{"x": {"type": "string", "nullable": true}}"#);
        let grammar = Grammar::compile(schema, &options).unwrap();
        let validator = Validator::new(schema, &options).unwrap();
        let found = validator.violations(document, grammar.report()).unwrap();
        found.into_iter().map(|one| one.location).collect()
    }

    #[test]
    fn null_is_one_of_the_types() {
        let schema = r##"{"properties": {"a": {"type": "integer", "nullable": true},
            "b": {"type": "string", "nullable": true, "enum": ["x"]},
            "c": {"$ref": "#/components/c"}, "d": {"$ref": "lib#/x"}, "e": {"nullable": false},
            "f": {"type": "array", "nullable": false, "items": {}}},
            "components": {"c": {"type": "object", "nullable": true}}}"##;
        for (document, location) in [
            (r#"{"a": null, "c": null, "d": null, "e": null}"#, None),
            (r#"{"a": "x"}"#, Some("#/properties/a/type")),
            (r#"{"a": 1.0}"#, Some("#/properties/a/type")),
            (r#"{"b": null}"#, Some("#/properties/b/enum")),
            (r#"{"c": 1}"#, Some("#/components/c/type")),
            (r#"{"d": 1}"#, Some("lib#/x/type")),
            (r#"{"f": null}"#, Some("#/properties/f/type")),
        ] {
            let found = locations(schema, document);
            assert_eq!(found, Vec::from_iter(location), "{document}");
        }
    }

    /// Also where something that looks like a schema is none.
    #[test]
    fn what_openapi_has_not_says_nothing() {
        let schema = r#"{"id": "http://x.test/", "patternProperties": {"^a": false}, "dependencies": {"a": ["b"]},
            "properties": {"a": {}, "c": {"enum": [{"id": "y", "type": "x", "nullable": true}]}},
            "additionalProperties": false, "const": 1, "if": true, "then": false, "contains": false}"#;
        assert!(locations(schema, r#"{"a": 1}"#).is_empty());
        assert!(
            locations(schema, r#"{"c": {"id": "y", "type": "x", "nullable": true}}"#).is_empty()
        );
        assert_eq!(locations(schema, r#"{"ab": 1}"#), ["#/additionalProperties"]);
    }
}
