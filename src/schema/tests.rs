//! Whole schemas through all stages.

use super::*;
use crate::error::{Error, ErrorKind};
use crate::options::{Dialect, Formats, Limits};

fn schema(text: &str) -> Schema {
    Schema::parse(text, &Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn schema_in(dialect: Dialect, text: &str) -> Schema {
    let options = Options { dialect: Some(dialect), ..Options::default() };
    Schema::parse(text, &options).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn error(text: &str) -> Error {
    Schema::parse(text, &Options::default()).expect_err(text)
}

fn assert_error(text: &str, kind: ErrorKind, location: &str) {
    let error = error(text);
    assert_eq!((error.kind(), error.location()), (kind, Some(location)), "{text}: {error}");
}

/// The statuses of the root's keywords, by name.
fn statuses(schema: &Schema) -> Vec<(&str, Status)> {
    let keywords = schema.node(schema.root()).keywords();
    keywords.iter().map(|k| (schema.keyword_name(k), k.status)).collect()
}

/// The location of the target of the reference `kw` at the root.
fn root_target(schema: &Schema, kw: Kw) -> String {
    match schema.node(schema.root()).active(kw).map(|k| &k.children) {
        Some(Children::Target(target)) => schema.location(*target),
        other => panic!("no target: {other:?}"),
    }
}

#[test]
fn every_member_is_a_keyword_in_text_order() {
    let schema = schema(
        r#"{"required": ["b"], "properties": {"b": true, "a/": {"type": "null"}}, "x": [{}]}"#,
    );
    let root = schema.node(schema.root());
    assert_eq!(
        statuses(&schema),
        [("required", Status::Active), ("properties", Status::Active), ("x", Status::Unknown)]
    );
    let Children::Map(map) = &root.active(Kw::Properties).unwrap().children else {
        panic!("properties is a map")
    };
    let names: Vec<_> = map.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["b", "a/"]);
    assert!(matches!(schema.node(map[0].1).body, Body::Boolean(true)));
    assert_eq!(schema.location(map[1].1), "#/properties/a~1");
    assert_eq!(schema.keyword_location(map[1].1, 0), "#/properties/a~1/type");
    let value = schema.value(&schema.node(map[1].1).keywords()[0]);
    assert_eq!(value.as_str(), Some("null"));
    assert_eq!(schema.node_count(), 3);
}

#[test]
fn values_of_active_keywords_are_checked() {
    for (text, location) in [
        ("[]", "#"),
        (r#"{"type": "strnig"}"#, "#/type"),
        (r#"{"type": ["string", "any"]}"#, "#/type/1"),
        (r#"{"type": ["null", "null"]}"#, "#/type/1"),
        (r#"{"minLength": -1}"#, "#/minLength"),
        (r#"{"maxItems": 1.5}"#, "#/maxItems"),
        (r#"{"maxItems": "1"}"#, "#/maxItems"),
        (r#"{"multipleOf": 0.0}"#, "#/multipleOf"),
        (r#"{"minimum": "0"}"#, "#/minimum"),
        (r#"{"pattern": 1}"#, "#/pattern"),
        (r#"{"enum": {}}"#, "#/enum"),
        (r#"{"required": true}"#, "#/required"),
        (r#"{"required": ["a", "b", "a"]}"#, "#/required/2"),
        (r#"{"required": [1]}"#, "#/required/0"),
        (r#"{"dependentRequired": {"a": ["b", "b"]}}"#, "#/dependentRequired/a/1"),
        (r#"{"dependencies": {"a": ["b", "b"]}}"#, "#/dependencies/a/1"),
        (r#"{"uniqueItems": 1}"#, "#/uniqueItems"),
        (r#"{"properties": []}"#, "#/properties"),
        (r#"{"properties": {"a": null}}"#, "#/properties/a"),
        (r#"{"allOf": [{}, 1]}"#, "#/allOf/1"),
        (r#"{"anyOf": {}}"#, "#/anyOf"),
        (r#"{"not": "x"}"#, "#/not"),
        (r#"{"$defs": {"a": {"items": {"type": "x"}}}}"#, "#/$defs/a/items/type"),
        (r#"{"$ref": 1}"#, "#/$ref"),
        (r#"{"minimum": 1e99999999999999999999}"#, "#/minimum"),
    ] {
        assert_error(text, ErrorKind::InvalidSchema, location);
    }
    assert!(error(r#"{"type": "strnig"}"#).message().contains("`string`"));
    schema(r#"{"minLength": 2.0, "maxLength": 1e2, "type": [], "enum": [], "allOf": []}"#);
    schema(r#"{"title": 1, "x-type": "any", "then": 1, "exclusiveMinimum": true}"#);
}

#[test]
fn dialects_have_their_keywords() {
    let draft4 = schema_in(
        Dialect::Draft4,
        r#"{"minimum": 0, "exclusiveMinimum": true, "const": 1, "if": {"type": "x"}, "id": "a"}"#,
    );
    assert_eq!(
        statuses(&draft4).iter().map(|(_, s)| *s).collect::<Vec<_>>(),
        [
            Status::Active,
            Status::Active,
            Status::NotInDialect,
            Status::NotInDialect,
            Status::Active
        ]
    );
    let kinds: Vec<_> = draft4.findings().into_iter().map(|f| (f.kind, f.location)).collect();
    let not_in = |at: &str| ("not-in-dialect", at.to_owned());
    assert_eq!(kinds, [not_in("#/const"), not_in("#/if")]);
    let inert = draft4.node(draft4.root()).keywords()[3].children.get(0).unwrap();
    assert!(draft4.node(inert).inert);

    let text = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": 1}"#;
    assert_error(text, ErrorKind::InvalidSchema, "#/exclusiveMinimum");
    let text = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{}]}"#;
    assert_error(text, ErrorKind::InvalidSchema, "#/items");
    let undeclared = schema(
        r#"{"items": [{}], "additionalItems": false, "dependencies": {}, "exclusiveMaximum": 1,
            "prefixItems": [], "id": "x"}"#,
    );
    let counts: Vec<_> = statuses(&undeclared).iter().map(|(_, s)| *s == Status::Active).collect();
    assert_eq!(counts, [true, true, true, true, true, false]);
}

#[test]
fn the_option_never_overrides_a_declaration() {
    let text = r#"{"$schema": "http://json-schema.org/draft-06/schema", "if": {}}"#;
    let schema = schema_in(Dialect::Draft7, text);
    assert_eq!(schema.node(schema.root()).dialect.draft(), Draft::Draft6);
    assert_eq!(statuses(&schema)[1], ("if", Status::NotInDialect));
}

#[test]
fn a_subschema_with_an_id_has_its_own_dialect() {
    let schema = schema(
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {"a": {"$id": "a", "$schema": "http://json-schema.org/draft-07/schema#",
                            "prefixItems": []},
                      "b": {"$schema": "http://json-schema.org/draft-07/schema#",
                            "prefixItems": []}},
            "$ref": "a"}"#,
    );
    let defs: Vec<_> =
        schema.node(schema.root()).active(Kw::Defs).unwrap().children.ids().collect();
    let status = |id, at: usize| schema.node(id).keywords()[at].status;
    assert_eq!(status(defs[0], 2), Status::NotInDialect);
    assert_eq!((status(defs[1], 0), status(defs[1], 1)), (Status::NoEffect, Status::Active));
}

#[test]
fn unknown_dialects_are_refused() {
    for name in ["http://json-schema.org/draft-03/schema#", "https://example.com/x", ""] {
        let text = format!("{{\"$schema\": \"{name}\"}}");
        assert_error(&text, ErrorKind::UnknownDialect, "#/$schema");
        assert!(error(&text).message().contains("draft/2020-12"));
    }
}

#[test]
fn registered_meta_schemas_choose_vocabularies() {
    let meta = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$vocabulary": {
        "https://json-schema.org/draft/2020-12/vocab/core": true,
        "https://json-schema.org/draft/2020-12/vocab/applicator": true,
        "https://json-schema.org/draft/2020-12/vocab/format-assertion": true,
        "https://example.com/mine": false}}"#;
    let text = r#"{"$schema": "http://example.com/meta#", "minLength": 1, "format": "date"}"#;
    let options = Options::default().document("https://example.com/meta", meta);
    let schema = Schema::parse(text, &options).unwrap();
    assert_eq!(statuses(&schema)[1], ("minLength", Status::VocabularyOff));
    assert_eq!(statuses(&schema)[2], ("format", Status::Active));
    assert_eq!(schema.node(schema.root()).dialect.formats(Formats::Annotate), Formats::Standard);
    let options =
        Options::default().document("http://example.com/meta", meta.replace("false", "true"));
    let error = Schema::parse(text, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownDialect);
}

#[test]
fn siblings_without_meaning_have_no_effect() {
    let schema = schema(
        r#"{"then": {}, "else": {}, "minContains": 1, "maxContains": 2, "additionalItems": false,
            "items": {}, "exclusiveMinimum": true}"#,
    );
    let inactive: Vec<_> = statuses(&schema).iter().map(|(_, s)| *s == Status::NoEffect).collect();
    assert_eq!(inactive, [true, true, true, true, true, false, true]);
}

#[test]
fn up_to_draft_7_a_reference_stands_alone() {
    let text = r##"{"$ref": "#/definitions/a", "$id": "http://x.test/y", "type": "nothing",
        "definitions": {"a": {"minLength": 1}, "b": {"type": "nothing"}}}"##;
    let schema = schema_in(Dialect::Draft7, text);
    let expected = [Status::Active, Status::BesideRef, Status::BesideRef, Status::BesideRef];
    assert_eq!(statuses(&schema).iter().map(|(_, s)| *s).collect::<Vec<_>>(), expected);
    assert_eq!(root_target(&schema, Kw::Ref), "#/definitions/a");
    let inert: Vec<_> = schema.node_ids().map(|id| schema.node(id).inert).collect();
    assert_eq!(inert, [false, false, true]);
    let found: Vec<_> = schema.findings().into_iter().map(|f| f.location).collect();
    assert_eq!(found, ["#/$id", "#/type"]);
    // Where a reference leads, values are checked after all.
    let options = Options { dialect: Some(Dialect::Draft7), ..Options::default() };
    let error = Schema::parse(&text.replace("ns/a", "ns/b"), &options).unwrap_err();
    assert_eq!(error.location(), Some("#/definitions/b/type"));
    assert_error(text, ErrorKind::InvalidSchema, "#/type");
}

#[test]
fn references_are_found_in_all_local_forms() {
    for (reference, location) in [
        ("#", "#"),
        ("", "#"),
        ("#/$defs/a~1%25~0", "#/$defs/a~1%~0"),
        ("#plain", "#/$defs/p"),
        ("#dynamic", "#/$defs/d"),
        ("#old", "#/$defs/o"),
        ("http://x.test/s/root.json", "#"),
        ("sub/inner.json", "#/$defs/i"),
        ("/s/sub/inner.json#/$defs/deep", "#/$defs/i/$defs/deep"),
        ("sub/inner.json#there", "#/$defs/i/$defs/deep"),
        ("#/$defs/i/$defs/deep", "#/$defs/i/$defs/deep"),
        ("sub/next", "#/$defs/i/$defs/next"),
        ("#/components/x", "#/components/x"),
        ("#/allOf/0", "#/allOf/0"),
    ] {
        let text = format!(
            r##"{{"$id": "http://x.test/s/root.json", "properties": {{"k": {{"$ref": "{reference}"}}}},
                "$defs": {{"a/%~": {{}}, "p": {{"$anchor": "plain"}},
                          "d": {{"$dynamicAnchor": "dynamic"}}, "o": {{"$id": "#old"}},
                          "i": {{"$id": "sub/inner.json",
                                "$defs": {{"deep": {{"$anchor": "there"}}, "next": {{"$id": "next"}}}}}}}},
                "components": {{"x": {{"items": {{"$ref": "#/components/x"}}}}}}, "allOf": [true]}}"##
        );
        let schema = schema(&text);
        let root = schema.node(schema.root());
        let property = root.active(Kw::Properties).unwrap().children.get(0).unwrap();
        let target = &schema.node(property).active(Kw::Ref).unwrap().children;
        assert_eq!(schema.location(target.get(0).unwrap()), location, "{reference}");
    }
}

#[test]
fn registered_documents_are_read_when_referred_to() {
    let options = Options::default()
        .document("http://x.test/a.json", r#"{"$id": "other", "$defs": {"n": {"type": "null"}}}"#)
        .document("b.json#", r#"{"items": [{}], "$ref": "c.json"}"#)
        .document("c.json", "true")
        .document("broken", "{");
    let parse = |text: &str| Schema::parse(text, &options);
    let schema = parse(r#"{"$ref": "http://x.test/a.json#/$defs/n"}"#).unwrap();
    assert_eq!(root_target(&schema, Kw::Ref), "http://x.test/a.json#/$defs/n");
    let schema = parse(r#"{"$ref": "http://x.test/other#/$defs/n"}"#).unwrap();
    assert_eq!(root_target(&schema, Kw::Ref), "http://x.test/a.json#/$defs/n");
    let error = parse(r#"{"$ref": "broken"}"#).unwrap_err();
    assert_eq!((error.kind(), error.location()), (ErrorKind::JsonSyntax, Some("broken#")));
    // A document without `$schema` has the dialect of who refers to it.
    assert!(parse(r#"{"$ref": "b.json"}"#).is_ok());
    let text = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "b.json"}"#;
    assert_eq!(parse(text).unwrap_err().location(), Some("b.json#/items"));
}

#[test]
fn dangling_references_are_errors() {
    for reference in ["#/$defs/none", "#none", "http://x.test/none", "#/enum/0", "#/enum/01", "#/a"]
    {
        let text = format!(r#"{{"items": {{"$ref": "{reference}"}}, "enum": [1, 2]}}"#);
        assert_error(&text, ErrorKind::UnresolvedReference, "#/items/$ref");
    }
    let long = error(&format!(r##"{{"$ref": "#{}"}}"##, "é".repeat(100_000)));
    assert!(long.message().len() < 1_000);
    let message = error(r#"{"$ref": "x.json"}"#).message().to_owned();
    assert!(message.contains("no document is registered"), "{message}");
    // In a place that does not count, nothing is looked up.
    schema_in(Dialect::Draft4, r#"{"if": {"$ref": "x.json"}}"#);
}

/// Names in places that only references make subschemas, whichever reference comes first.
#[test]
fn the_order_of_references_does_not_matter() {
    let by_name = |name: &str| format!(r#""propertyNames": {{"$ref": "{name}"}}"#);
    let place = |member: &str| format!(r#""contains": {{"default": [{{{member}}}]}}"#);
    let by_place = r##""items": {"$ref": "#/contains/default/0"}"##.to_owned();
    for (name, member) in
        [("http://x.test/a", r#""$id": "http://x.test/a""#), ("#n", r#""$anchor": "n""#)]
    {
        let mut members = [by_place.clone(), by_name(name), place(member)];
        for _ in 0..2 {
            for _ in 0..3 {
                members.rotate_left(1);
                let schema = schema(&format!("{{{}}}", members.join(", ")));
                let names = schema.node(schema.root()).active(Kw::PropertyNames).unwrap();
                let names = schema.node(names.children.get(0).unwrap()).active(Kw::Ref).unwrap();
                let target = names.children.get(0).unwrap();
                assert_eq!(schema.location(target), "#/contains/default/0");
            }
            members.swap(0, 1);
        }
        let members = [by_name(name), place(member)];
        let text = format!("{{{}}}", members.join(", "));
        assert_error(&text, ErrorKind::UnresolvedReference, "#/propertyNames/$ref");
    }
    // Each brings in what the one before it names.
    let count = 500;
    let nest = |inner: String, i| format!(r#"{{"$id": "http://x.test/{i}", "default": {inner}}}"#);
    let nested = (1..count).rev().fold("{}".to_owned(), nest);
    let references =
        (1..count).rev().map(|i| format!(r#"{{"$ref": "http://x.test/{i}#/default"}}"#));
    let references = references.collect::<Vec<_>>().join(",");
    let text =
        format!(r##"{{"anyOf": [{references}, {{"$ref": "#/default"}}], "default": {nested}}}"##);
    assert_eq!(schema(&text).node_count(), 2 * count + 1);
}

#[test]
fn one_identifier_for_two_subschemas_is_ambiguous_only_when_used() {
    let text = r#"{"items": {"$ref": "REF"}, "$defs": {"a": {"$id": "http://x.test/a", "$anchor": "n"},
        "b": {"$id": "http://x.test/a"}, "c": {"$anchor": "m"}, "d": {"$anchor": "m"}}}"#;
    let found: Vec<_> = schema(&text.replace("REF", "#/$defs/a")).findings();
    assert_eq!(found.iter().map(|f| f.kind).collect::<Vec<_>>(), ["ambiguous-id", "ambiguous-id"]);
    assert_eq!(found[0].location, "#/$defs/b/$id");
    for reference in ["http://x.test/a#/type", "#m"] {
        let text = text.replace("REF", reference);
        assert_error(&text, ErrorKind::InvalidSchema, "#/items/$ref");
    }
}

#[test]
fn in_place_cycles_are_errors() {
    for (text, location) in [
        (r##"{"$ref": "#"}"##, "#/$ref"),
        (r##"{"$dynamicRef": "#"}"##, "#/$dynamicRef"),
        (r##"{"anyOf": [{}, {"$ref": "#"}]}"##, "#/anyOf/1/$ref"),
        (r##"{"not": {"allOf": [{"$ref": "#"}]}}"##, "#/not/allOf/0/$ref"),
        (r##"{"dependencies": {"a": ["b"], "c": {"$ref": "#"}}}"##, "#/dependencies/c/$ref"),
        (
            r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
            "#/$defs/b/$ref",
        ),
    ] {
        assert_error(text, ErrorKind::ReferenceCycle, location);
    }
    for text in [
        r##"{"properties": {"a": {"$ref": "#"}}}"##,
        r##"{"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}"##,
        r##"{"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {}}}"##,
        r##"{"contains": {"$ref": "#"}, "then": {"$ref": "#"}}"##,
    ] {
        schema(text);
    }
}

#[test]
fn findings_say_what_is_not_read() {
    let schema = schema_in(
        Dialect::Draft4,
        r#"{"maxLenght": 1, "x-y": 0, "properties": {"a": true}, "additionalProperties": false}"#,
    );
    let found: Vec<_> =
        schema.findings().into_iter().map(|f| (f.kind, f.location, f.message)).collect();
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].0, found[0].1.as_str()), ("unknown-keyword", "#/maxLenght"));
    assert!(found[0].2.ends_with("did you mean `maxLength`?"));
    assert_eq!((found[2].0, found[2].1.as_str()), ("boolean-schema", "#/properties/a"));
}

#[test]
fn large_and_deep_schemas_are_read_in_linear_time() {
    let depth = 16_000;
    let text = format!("{}true{}", r#"{"allOf":[{"not":"#.repeat(depth), "}]}".repeat(depth));
    let limits = Limits { location_bytes: usize::MAX, ..Limits::default() };
    let deep = Schema::parse(&text, &Options { limits, ..Options::default() });
    assert_eq!(deep.map(|schema| schema.node_count()).ok(), Some(2 * depth + 1));
    let defs: Vec<_> = (0..20_000)
        .map(|i| format!(r##""d{i}":{{"items":{{"$ref":"#/$defs/d{}"}}}}"##, i / 2))
        .collect();
    let text = format!(r##"{{"$defs":{{{}}}}}"##, defs.join(","));
    assert_eq!(schema(&text).node_count(), 40_001);
    let refs: Vec<_> = (0..20_000).map(|i| format!(r##"{{"$ref":"#/x/{i}"}}"##)).collect();
    let places = vec!["{}"; 20_000].join(",");
    let text = format!(r#"{{"allOf":[{}],"x":[{places}]}}"#, refs.join(","));
    assert_eq!(schema(&text).node_count(), 40_001);
}

#[test]
fn limits_name_themselves() {
    let limits = Limits { schema_nodes: 2, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let error = Schema::parse(r#"{"allOf": [{}, {}]}"#, &options).unwrap_err();
    assert_eq!((error.limit(), error.location()), (Some("schema_nodes"), Some("#/allOf/1")));
    // Nested relative identifiers would grow with the square of the text.
    let depth = 2_000;
    let text = format!("{}true{}", r#"{"$id":"a/","not":"#.repeat(depth), "}".repeat(depth));
    let limits = Limits { schema_bytes: 100_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    assert_eq!(Schema::parse(&text, &options).unwrap_err().limit(), Some("schema_bytes"));
}

#[test]
fn values_of_serde_json_are_schemas_too() {
    let value = serde_json::json!({"properties": {"a": {"type": "strnig"}}});
    let error = Schema::parse_value(&value, &Options::default()).unwrap_err();
    assert_eq!(error.location(), Some("#/properties/a/type"));
}

#[test]
fn schemas_are_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Schema>();
}
