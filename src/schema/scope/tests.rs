//! The situations of the official suite's `dynamicRef.json`, `recursiveRef.json` and `unevaluated*.json`.

use super::*;
use crate::error::ErrorKind;
use crate::options::{Dialect, Limits, Options};
use crate::schema::Children;

fn schema(dialect: Dialect, text: &str) -> Schema {
    let options = Options { dialect: Some(dialect), ..Options::default() };
    Schema::parse(text, &options).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The location that a way leads to: names of keywords, `keyword:name` for a member or item of what
/// a keyword holds.
fn follow(schema: &Schema, way: &str) -> String {
    let mut place = schema.scopes().root(schema);
    for step in way.split_whitespace() {
        let (kw, child) = step.split_once(':').unwrap_or((step, "0"));
        let keyword = schema.node(place.node).active(Kw::from_name(kw).unwrap());
        let keyword = keyword.unwrap_or_else(|| panic!("{step} of {way}"));
        place = schema.scopes().target(schema, place, keyword).unwrap_or_else(|| {
            let held = match &keyword.children {
                Children::Map(map) => map.iter().find(|(name, _)| **name == *child).unwrap().1,
                children => children.get(child.parse().unwrap()).unwrap(),
            };
            schema.scopes().child(schema, place, held)
        });
    }
    schema.location(place.node)
}

fn leads(text: &str, way: &str, location: &str) {
    assert_eq!(follow(&schema(Dialect::Draft202012, text), way), location, "{text}");
}

fn leads_2019(text: &str, way: &str, location: &str) {
    assert_eq!(follow(&schema(Dialect::Draft201909, text), way), location, "{text}");
}

/// A list whose items are what the dynamic scope says, reached through `middle`.
fn list(outer: &str, inner: &str, reference: &str) -> String {
    format!(
        r##"{{"$id": "http://x.test/root", "$ref": "middle", "$defs": {{
            "foo": {{{outer}, "type": "string"}},
            "middle": {{"$id": "middle", "$ref": "list"}},
            "list": {{"$id": "list", "items": {{"$dynamicRef": "{reference}"}},
                    "$defs": {{"items": {{{inner}}}}}}}}}}}"##
    )
}

#[test]
fn the_first_anchor_of_the_dynamic_scope_counts() {
    let (anchor, dynamic) = (r#""$anchor": "items""#, r#""$dynamicAnchor": "items""#);
    let way = "$ref $ref items $dynamicRef";
    let lexical = "#/$defs/list/$defs/items";
    leads(&list(dynamic, dynamic, "#items"), way, "#/$defs/foo");
    leads(&list(dynamic, dynamic, "#item%73"), way, "#/$defs/foo");
    // A pointer, even to a dynamic anchor, is a pointer.
    leads(&list(dynamic, dynamic, "#/$defs/items"), way, lexical);
    // Plain anchors do not take part, and are no reason to look for dynamic ones.
    leads(&list(anchor, dynamic, "#items"), way, lexical);
    leads(&list(dynamic, anchor, "#items"), way, lexical);
    let other = r#""$anchor": "items", "$dynamicAnchor": "foo""#;
    leads(&list(dynamic, other, "#items"), way, lexical);
    let both = r#""$anchor": "items", "$dynamicAnchor": "items""#;
    leads(&list(dynamic, both, "#items"), way, "#/$defs/foo");
}

#[test]
fn in_one_resource_all_references_are_alike() {
    for (reference, anchor) in
        [("$dynamicRef", "$dynamicAnchor"), ("$dynamicRef", "$anchor"), ("$ref", "$dynamicAnchor")]
    {
        let text = format!(
            r##"{{"items": {{"{reference}": "#items"}}, "$defs": {{"foo": {{"{anchor}": "items"}}}}}}"##
        );
        leads(&text, &format!("items {reference}"), "#/$defs/foo");
        assert!(schema(Dialect::Draft202012, &text).scopes().are_one());
    }
    let text = r##"{"$defs": {"t": true}, "properties": {"a": {"$dynamicRef": "#/$defs/t"}}}"##;
    leads(text, "properties:a $dynamicRef", "#/$defs/t");
}

#[test]
fn a_reference_names_its_first_target_anywhere() {
    let text = r##"{"$id": "http://x.test/root", "$dynamicAnchor": "meta", "$ref": "extended", "$defs": {
        "extended": {"$id": "extended", "ANCHOR": "meta", "properties": {"bar": {"$ref": "bar"}}},
        "bar": {"$id": "bar", "properties": {"baz": {"$dynamicRef": "extended#meta"}}}}}"##;
    let way = "$ref properties:bar $ref properties:baz $dynamicRef";
    leads(&text.replace("ANCHOR", "$dynamicAnchor"), way, "#");
    leads(&text.replace("ANCHOR", "$anchor"), way, "#/$defs/extended");
}

#[test]
fn several_ways_lead_to_several_places() {
    let text = r##"{"$id": "http://x.test/main", "if": true, "then": {"$ref": "numbers"},
        "else": {"$ref": "strings"}, "$defs": {
        "generic": {"$id": "generic", "properties": {"list": {"items": {"$dynamicRef": "#item"}}},
                    "$defs": {"default": {"$dynamicAnchor": "item"}}},
        "numbers": {"$id": "numbers", "$ref": "generic", "$defs": {"n": {"$dynamicAnchor": "item"}}},
        "strings": {"$id": "strings", "$ref": "generic", "$defs": {"s": {"$dynamicAnchor": "item"}}}}}"##;
    let rest = "$ref $ref properties:list items $dynamicRef";
    leads(text, &format!("then {rest}"), "#/$defs/numbers/$defs/n");
    leads(text, &format!("else {rest}"), "#/$defs/strings/$defs/s");
    let schema = schema(Dialect::Draft202012, text);
    let generic: Vec<_> = schema
        .scopes()
        .places()
        .iter()
        .filter(|place| schema.location(place.node) == "#/$defs/generic/properties/list/items")
        .collect();
    assert_eq!(generic.len(), 2);
    let reached: Vec<_> =
        schema.scopes().reached(generic[0].node, 0).map(|node| schema.location(node)).collect();
    assert_eq!(reached, ["#/$defs/numbers/$defs/n", "#/$defs/strings/$defs/s"]);
}

#[test]
fn a_scope_that_was_left_does_not_count() {
    let text = r##"{"$id": "http://x.test/main",
        "if": {"$id": "first", "$defs": {"thingy": {"$dynamicAnchor": "thingy"}}},
        "then": {"$id": "second", "$ref": "start", "$defs": {"thingy": {"$dynamicAnchor": "thingy"}}},
        "$defs": {"start": {"$id": "start", "$dynamicRef": "inner#thingy"},
                  "thingy": {"$id": "inner", "$dynamicAnchor": "thingy"}}}"##;
    leads(text, "then $ref $dynamicRef", "#/then/$defs/thingy");
}

#[test]
fn only_entered_resources_count_and_at_any_subschema() {
    let text = r##"{"$id": "http://x.test/main", "properties": {"bar-item": {"$ref": "REF"}}, "$defs": {
        "bar": {"$id": "bar", "items": {"$ref": "item"}, "$defs": {
            "item": {"$id": "item", "properties": {"content": {"$dynamicRef": "#content"}},
                     "$defs": {"default": {"$dynamicAnchor": "content"}}},
            "content": {"$dynamicAnchor": "content"}}}}}"##;
    let item = "#/$defs/bar/$defs/item/$defs/default";
    leads(
        &text.replace("REF", "item"),
        "properties:bar-item $ref properties:content $dynamicRef",
        item,
    );
    let way = "properties:bar-item $ref items $ref properties:content $dynamicRef";
    leads(&text.replace("REF", "bar"), way, "#/$defs/bar/$defs/content");
    let text = r##"{"$id": "http://x.test/base", "$ref": "first#/$defs/stuff", "$defs": {
        "first": {"$id": "first", "$defs": {"stuff": {"$ref": "second#/$defs/stuff"}, "length": {}}},
        "second": {"$id": "second", "$defs": {"stuff": {"$ref": "third#/$defs/stuff"},
                                              "length": {"$dynamicAnchor": "length"}}},
        "third": {"$id": "third", "$defs": {"stuff": {"$dynamicRef": "#length"},
                                            "length": {"$dynamicAnchor": "length"}}}}}"##;
    leads(text, "$ref $ref $ref $dynamicRef", "#/$defs/second/$defs/length");
}

#[test]
fn documents_are_resources() {
    let tree = r##"{"$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "http://x.test/tree", "$dynamicAnchor": "node", "properties": {
        "children": {"items": {"$dynamicRef": "#node"}}}}"##;
    let options = Options::default().document("http://x.test/tree", tree);
    let strict = r#"{"$id": "http://x.test/strict", "$dynamicAnchor": "node", "$ref": "tree",
        "unevaluatedProperties": false}"#;
    let schema = Schema::parse(strict, &options).unwrap();
    let way = "$ref properties:children items $dynamicRef";
    assert_eq!(follow(&schema, way), "#");
    // Of the tree alone, the tree.
    let schema = Schema::parse(r#"{"$ref": "http://x.test/tree"}"#, &options).unwrap();
    assert_eq!(follow(&schema, way), "http://x.test/tree#");
    let detached = r##"{"$defs": {"foo": {"$dynamicRef": "#detached"},
        "detached": {"$dynamicAnchor": "detached"}}}"##;
    let options = options.document("http://x.test/detached", detached);
    let text = r#"{"$ref": "http://x.test/detached#/$defs/foo"}"#;
    let schema = Schema::parse(text, &options).unwrap();
    assert_eq!(follow(&schema, "$ref $dynamicRef"), "http://x.test/detached#/$defs/detached");
}

#[test]
fn the_order_of_references_and_definitions_does_not_matter() {
    let extendible = r##"{"$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"elements": {"items": {"$dynamicRef": "#elements"}}},
        "$defs": {"elements": {"$dynamicAnchor": "elements"}}}"##;
    let options = Options::default().document("http://x.test/extendible", extendible);
    let reference = r#"{"$ref": "extendible"}"#;
    let definitions = r#"{"$defs": {"elements": {"$dynamicAnchor": "elements"}}}"#;
    for (first, second, at) in [(reference, definitions, 0), (definitions, reference, 1)] {
        let text = format!(r#"{{"$id": "http://x.test/strict", "allOf": [{first}, {second}]}}"#);
        let schema = Schema::parse(&text, &options).unwrap();
        let way = format!("allOf:{at} $ref properties:elements items $dynamicRef");
        assert_eq!(follow(&schema, &way), format!("#/allOf/{}/$defs/elements", 1 - at));
    }
}

#[test]
fn meta_schemas_are_extended() {
    let text = r#"{"$ref": "https://json-schema.org/draft/2020-12/schema"}"#;
    let schema = schema(Dialect::Draft202012, text);
    let way = "$ref allOf:1 $ref properties:not $dynamicRef";
    assert_eq!(follow(&schema, way), "https://json-schema.org/draft/2020-12/schema#");
    let text = r#"{"$ref": "https://json-schema.org/draft/2020-12/meta/applicator"}"#;
    let location = "https://json-schema.org/draft/2020-12/meta/applicator#";
    leads(text, "$ref properties:not $dynamicRef", location);
    let text = r#"{"$ref": "https://json-schema.org/draft/2019-09/schema"}"#;
    let way = "$ref allOf:1 $ref properties:not $recursiveRef";
    leads_2019(text, way, "https://json-schema.org/draft/2019-09/schema#");
}

#[test]
fn a_recursive_reference_goes_to_the_outermost_anchor() {
    let text = r##"{"$id": "http://x.test/schema", OUTER "$defs": {"myobject": {"$id": "myobject", INNER
        "anyOf": [{}, {"additionalProperties": {"$recursiveRef": "#"}}]}},
        "anyOf": [{}, {"$ref": "#/$defs/myobject"}]}"##;
    let way = "anyOf:1 $ref anyOf:1 additionalProperties $recursiveRef";
    let (yes, no) = (r#""$recursiveAnchor": true,"#, r#""$recursiveAnchor": false,"#);
    for (outer, inner, location) in [
        ("", yes, "#/$defs/myobject"),
        (yes, yes, "#"),
        (no, no, "#/$defs/myobject"),
        (yes, no, "#/$defs/myobject"),
        (yes, "", "#/$defs/myobject"),
        ("", "", "#/$defs/myobject"),
    ] {
        leads_2019(&text.replace("OUTER", outer).replace("INNER", inner), way, location);
    }
    let text = r##"{"properties": {"foo": {"$recursiveRef": "#"}}}"##;
    leads_2019(text, "properties:foo $recursiveRef", "#");
    // Only at the root of a resource.
    let text = r##"{"$id": "http://x.test/a", "$recursiveAnchor": true, "items": {"$id": "b",
        "allOf": [{"$recursiveAnchor": true, "items": {"$recursiveRef": "#"}}]}}"##;
    leads_2019(text, "items allOf:0 items $recursiveRef", "#/items");
}

#[test]
fn a_recursive_reference_depends_on_the_way() {
    for reference in ["inner", "main#/$defs/inner"] {
        let text = format!(
            r##"{{"$id": "http://x.test/main", "$defs": {{"inner": {{"$id": "inner", "$recursiveAnchor": true,
                "additionalProperties": {{"$recursiveRef": "#"}}}}}}, "if": true,
                "then": {{"$id": "any", "$recursiveAnchor": true, "$ref": "{reference}"}},
                "else": {{"$id": "integer", "$recursiveAnchor": true, "$ref": "{reference}"}}}}"##
        );
        leads_2019(&text, "then $ref additionalProperties $recursiveRef", "#/then");
        leads_2019(&text, "else $ref additionalProperties $recursiveRef", "#/else");
        // The scope stays what it was at the first turn.
        let way =
            "else $ref additionalProperties $recursiveRef $ref additionalProperties $recursiveRef";
        leads_2019(&text, way, "#/else");
    }
}

/// `unevaluatedProperties.json`, `unevaluatedItems.json`: "with $dynamicRef", "with $recursiveRef".
#[test]
fn what_a_base_leaves_to_those_who_extend_it_is_found() {
    let text = r##"{"$id": "http://x.test/derived", "$ref": "./base", "$defs": {
        "derived": {"$dynamicAnchor": "addons", "properties": {"bar": true}},
        "base": {"$id": "./base", "properties": {"foo": true}, "$dynamicRef": "#addons",
                 "$defs": {"default": {"$dynamicAnchor": "addons"}}}}}"##;
    leads(text, "$ref $dynamicRef", "#/$defs/derived");
    let text = r##"{"$id": "http://x.test/extended-tree", "$recursiveAnchor": true, "$ref": "./tree",
        "properties": {"name": true}, "$defs": {"tree": {"$id": "./tree", "$recursiveAnchor": true,
        "properties": {"branches": {"unevaluatedProperties": false, "$recursiveRef": "#"}}}}}"##;
    leads_2019(text, "$ref properties:branches $recursiveRef", "#");
}

#[test]
fn cycles_through_the_dynamic_scope_are_errors() {
    for (dialect, text, location) in [
        (Dialect::Draft202012, r##"{"$dynamicRef": "#"}"##, "#/$dynamicRef"),
        (
            Dialect::Draft202012,
            r##"{"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]}"##,
            "#/allOf/0/$dynamicRef",
        ),
        (
            Dialect::Draft201909,
            r##"{"anyOf": [{"$recursiveRef": "#"}]}"##,
            "#/anyOf/0/$recursiveRef",
        ),
        // Each document alone is harmless.
        (
            Dialect::Draft202012,
            r##"{"$id": "http://x.test/a", "$dynamicAnchor": "n", "$ref": "b", "$defs": {
            "b": {"$id": "b", "$dynamicRef": "#n", "$defs": {"n": {"$dynamicAnchor": "n"}}}}}"##,
            "#/$defs/b/$dynamicRef",
        ),
        (
            Dialect::Draft201909,
            r##"{"$id": "http://x.test/a", "$recursiveAnchor": true, "$ref": "b#/$defs/c",
            "$defs": {"b": {"$id": "b", "$recursiveAnchor": true,
                            "$defs": {"c": {"not": {"$recursiveRef": "#"}}}}}}"##,
            "#/$defs/b/$defs/c/not/$recursiveRef",
        ),
    ] {
        let options = Options { dialect: Some(dialect), ..Options::default() };
        let error = Schema::parse(text, &options).expect_err(text);
        let found = (error.kind(), error.location());
        assert_eq!(found, (ErrorKind::ReferenceCycle, Some(location)), "{error}");
    }
    // What looks like one lexically is none where the scope leads elsewhere.
    schema(
        Dialect::Draft202012,
        r##"{"$id": "http://x.test/a", "$ref": "b", "$defs": {"n": {"$dynamicAnchor": "n"},
            "b": {"$id": "b", "$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}}}"##,
    );
}

#[test]
fn places_are_limited() {
    // Each resource may be entered before or after each other one.
    let resource = |i: usize| {
        let items: Vec<_> =
            (0..20).map(|j| format!(r#"{{"items": {{"$ref": "r{j}"}}}}"#)).collect();
        format!(
            r##""r{i}": {{"$id": "r{i}", "$dynamicAnchor": "n{i}", "items": {{"$dynamicRef": "#n{i}"}},
                "allOf": [{}]}}"##,
            items.join(",")
        )
    };
    let resources: Vec<_> = (0..20).map(resource).collect();
    let text = format!(
        r#"{{"$id": "http://x.test/", "$ref": "r0", "$defs": {{{}}}}}"#,
        resources.join(",")
    );
    let limits = Limits { schema_nodes: 20_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let error = Schema::parse(&text, &options).unwrap_err();
    assert_eq!((error.kind(), error.limit()), (ErrorKind::Limit, Some("schema_nodes")));
}

/// Random ways through random resources, against a scope that is the list of the resources entered.
#[test]
fn scopes_are_what_was_entered() {
    let mut random = Random(1);
    let mut led_elsewhere = 0;
    for _ in 0..300 {
        let text = random.resources();
        let schema = schema(Dialect::Draft202012, &text);
        for _ in 0..20 {
            led_elsewhere += random.walk(&schema, &text);
        }
    }
    assert!(led_elsewhere > 1_000, "{led_elsewhere}");
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    /// Resources that have some of the anchors `a`, `b` and `c`, and refer to each other.
    fn resources(&mut self) -> String {
        let count = 2 + self.below(4);
        let anchors: Vec<Vec<char>> = (0..count)
            .map(|_| ['a', 'b', 'c'].into_iter().filter(|_| self.below(2) == 0).collect())
            .collect();
        let mut all = Vec::new();
        for (i, own) in anchors.iter().enumerate() {
            let mut members = vec![format!(r#""$id": "r{i}""#)];
            let mut definitions = Vec::new();
            for anchor in own {
                let reference = self.reference(&anchors);
                definitions.push(format!(
                    r#""{anchor}": {{"$dynamicAnchor": "{anchor}", "items": {reference}}}"#
                ));
            }
            let (one, other) = (self.reference(&anchors), self.reference(&anchors));
            definitions.push(format!(r#""inner": {{"$id": "n{i}", "items": {one}}}"#));
            members.push(format!(r#""$defs": {{{}}}"#, definitions.join(",")));
            members.push(format!(r##""contains": {{"$ref": "#/$defs/inner"}}, "items": {other}"##));
            all.push(format!(r#""r{i}": {{{}}}"#, members.join(",")));
        }
        let all = all.join(",");
        format!(r#"{{"$id": "http://x.test/", "items": {{"$ref": "r0"}}, "$defs": {{{all}}}}}"#)
    }

    fn reference(&mut self, anchors: &[Vec<char>]) -> String {
        let i = self.below(anchors.len());
        if anchors[i].is_empty() || self.below(3) == 0 {
            return format!(r#"{{"$ref": "r{i}"}}"#);
        }
        let name = anchors[i][self.below(anchors[i].len())];
        format!(r#"{{"$dynamicRef": "r{i}#{name}"}}"#)
    }

    /// Goes a random way; gives how often a dynamic reference led elsewhere than its text says.
    fn walk(&mut self, schema: &Schema, text: &str) -> usize {
        let scopes = schema.scopes();
        let mut place = scopes.root(schema);
        let mut entered = vec![schema.node(place.node).resource];
        let mut led_elsewhere = 0;
        for _ in 0..30 {
            let keywords = schema.node(place.node).keywords().iter();
            let ways: Vec<_> =
                keywords.filter(|k| applies(k) && k.children.ids().count() > 0).collect();
            if ways.is_empty() {
                break;
            }
            let keyword = ways[self.below(ways.len())];
            let lexical = keyword.children.get(0).unwrap();
            let expected = first_anchor(schema, &entered, keyword, lexical).unwrap_or(lexical);
            led_elsewhere += usize::from(expected != lexical);
            place = match scopes.target(schema, place, keyword) {
                Some(target) => target,
                None => scopes.child(schema, place, lexical),
            };
            assert_eq!(schema.location(place.node), schema.location(expected), "{text}");
            assert!(scopes.places().is_empty() || scopes.places().contains(&place), "{text}");
            if entered.last() != Some(&schema.node(place.node).resource) {
                entered.push(schema.node(place.node).resource);
            }
        }
        led_elsewhere
    }
}

fn first_anchor(
    schema: &Schema,
    entered: &[ResourceId],
    keyword: &Keyword,
    lexical: NodeId,
) -> Option<NodeId> {
    let is_dynamic = keyword.kw == Some(Kw::DynamicRef);
    let name = schema.value(keyword).as_str().filter(|_| is_dynamic)?.split_once('#')?.1;
    let has = |id: NodeId| {
        let anchor = schema.node(id).active(Kw::DynamicAnchor);
        anchor.is_some_and(|anchor| schema.value(anchor).as_str() == Some(name))
    };
    assert!(has(lexical));
    let in_resource = |&resource: &ResourceId| {
        schema.node_ids().find(|&id| schema.node(id).resource == resource && has(id))
    };
    entered.iter().find_map(in_resource)
}
