//! Random schemas over all keywords of a dialect, as proptest strategies: a failing one shrinks to
//! the few keywords that matter. Names, texts and numbers come from small alphabets, so that
//! keywords meet.
//!
//! References never lead back to their own subschema with no value between, or a validator would
//! not end: in place only a leaf may be named, and a leaf names nothing in place. In a child
//! anything may be named.

use super::alphabet::{NAMES, NUMBERS, PATTERNS, TEXTS, number};
use crate::generator::Random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::Union;
use serde_json::{Map, Value, json};
use tokenmask::Dialect;

/// One schema, with what it is compiled under.
#[derive(Clone, Debug)]
pub struct Case {
    /// `None`: the undeclared dialect, which has the keywords of the last one.
    pub dialect: Option<Dialect>,
    /// Whether the text names the dialect; otherwise the option does.
    pub is_declared: bool,
    /// Whether formats are enforced, or annotations.
    pub formats: bool,
    pub vocabulary: &'static str,
    pub schema: Value,
    /// Decides how the schema is spelled, and which instances it is asked about.
    pub seed: u64,
}

/// Cases of one dialect, over keywords that `choice` decides.
pub fn cases(dialect: Option<Dialect>, choice: u64) -> impl Strategy<Value = Case> {
    let vocabulary = prop_oneof![30 => Just("bytes"), 8 => Just("fused"), 1 => Just("llama3")];
    let formats = prop::bool::weighted(0.8);
    let seed = any::<u64>().no_shrink();
    let words =
        Words { dialect: dialect.unwrap_or(Dialect::Draft202012), kept: kept(&mut Random(choice)) };
    // The vocabulary shrinks first: a large one is slow.
    (vocabulary, words.roots(), any::<bool>(), formats, seed).prop_map(
        move |(vocabulary, mut schema, is_declared, formats, seed)| {
            let is_declared = is_declared && dialect.is_some();
            if let (Some(dialect), true) = (dialect, is_declared) {
                schema["$schema"] = format!("{}#", dialect.uri().unwrap()).into();
            }
            Case { dialect, is_declared, formats, vocabulary, schema, seed }
        },
    )
}

/// Keywords that some schemas are made without: few keywords meet each other more often.
const OPTIONAL: [&str; 36] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "unevaluatedItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
];

/// A set of them, as bits: all, or a few.
fn kept(random: &mut Random) -> u64 {
    if random.chance(30) {
        return u64::MAX;
    }
    let few = 3 + random.below(12);
    (0..few).fold(0, |bits, _| bits | 1 << random.below(OPTIONAL.len()))
}

type Schemas = BoxedStrategy<Value>;
/// Keywords that stand together.
type Keywords = BoxedStrategy<Vec<(&'static str, Value)>>;
/// How often, the name of the first one, and the keywords.
type Choice = (u32, &'static str, Keywords);
type Choices = Vec<Choice>;

/// The words of one dialect, of which some may be left out.
#[derive(Clone, Copy)]
struct Words {
    dialect: Dialect,
    kept: u64,
}

/// One keyword, so often.
fn one<T: Into<Value> + std::fmt::Debug>(
    weight: u32,
    name: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> Choice {
    (weight, name, value.prop_map(move |value| vec![(name, value.into())]).boxed())
}

fn text(all: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(all).prop_map(Value::from).boxed()
}

fn some_number() -> BoxedStrategy<Value> {
    select(&NUMBERS[..]).prop_map(number).boxed()
}

fn count() -> BoxedStrategy<u64> {
    (0..4u64).boxed()
}

/// At least one of the names, each once.
fn names() -> BoxedStrategy<Vec<&'static str>> {
    subsequence(&NAMES[..], 1..=3).boxed()
}

/// One to three names with a value for each.
fn named<T: Into<Value> + std::fmt::Debug>(
    keys: BoxedStrategy<Vec<&'static str>>,
    value: impl Strategy<Value = T> + Clone + 'static,
) -> BoxedStrategy<Value> {
    keys.prop_flat_map(move |keys| {
        let all = vec(value.clone(), keys.len());
        all.prop_map(move |values| {
            let values = values.into_iter().map(Into::into);
            Value::Object(keys.iter().map(|key| (*key).to_owned()).zip(values).collect())
        })
    })
    .boxed()
}

/// A value for `const` and `enum`.
fn literal() -> BoxedStrategy<Value> {
    let scalar = prop_oneof![
        3 => some_number(),
        3 => text(&TEXTS),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        // The same number as the integer.
        1 => Just(json!(2.0)),
    ];
    let list = vec(scalar.clone(), 0..3).prop_map(Value::from);
    let members = named(names(), scalar.clone());
    prop_oneof![6 => scalar, 1 => list, 1 => members].boxed()
}

/// Different values, by value: `1` and `1.0` are one.
fn literals() -> BoxedStrategy<Vec<Value>> {
    let distinct = |mut all: Vec<Value>| {
        let key = |value: &Value| value.to_string().replace("2.0", "2");
        all.sort_by_key(key);
        all.dedup_by_key(|value| key(value));
        all
    };
    vec(literal(), 1..4).prop_map(distinct).boxed()
}

/// Objects of which many speak of the same members: they are told apart by these.
fn alike() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        3 => select(&[0, 1][..]).prop_map(|value| json!({"enum": [value]})),
        2 => select(&["string", "integer"][..]).prop_map(|kind| json!({"type": kind})),
    ];
    let members = (named(names(), leaf), vec(0..4u8, 3));
    let objects = members.prop_map(|(members, needed)| {
        let names = members.as_object().into_iter().flat_map(Map::keys).zip(needed);
        let required: Vec<&String> = names.filter(|(_, n)| *n == 0).map(|(name, _)| name).collect();
        match required.is_empty() {
            true => json!({"properties": members}),
            false => json!({"properties": members, "required": required}),
        }
    });
    objects.boxed()
}

/// What keys must be; seldom something that no key is.
fn key_names(child: &Schemas) -> BoxedStrategy<Value> {
    let one = prop_oneof![
        3 => select(&PATTERNS[..]).prop_map(|pattern| json!({"pattern": pattern})),
        2 => count().prop_map(|most| json!({"maxLength": most})),
        2 => names().prop_map(|names| json!({"enum": names})),
    ];
    let two = vec(one.clone(), 2);
    prop_oneof![
        4 => one,
        1 => two.clone().prop_map(|two| json!({"anyOf": two})),
        1 => two.prop_map(|two| json!({"allOf": two})),
        2 => child.clone(),
    ]
    .boxed()
}

impl Words {
    fn since(self, first: Dialect) -> bool {
        self.dialect >= first
    }

    fn definitions(self) -> &'static str {
        if self.since(Dialect::Draft201909) { "$defs" } else { "definitions" }
    }

    fn id(self) -> &'static str {
        if self.since(Dialect::Draft6) { "$id" } else { "id" }
    }

    /// The schema that takes every value, or none.
    fn boolean(self, all: bool) -> Value {
        match (self.since(Dialect::Draft6), all) {
            (true, _) => all.into(),
            (false, true) => json!({}),
            (false, false) => json!({"not": {}}),
        }
    }

    /// Whole schemas: a root object with the definitions that it names.
    fn roots(self) -> BoxedStrategy<Value> {
        let nothing = self.schemas(2, &[]);
        let anywhere = self.references(&["leaf", "deep", "anchored", "resource"], true);
        let leaves = self.schemas(2, &anywhere);
        let in_place = self.references(&["leaf", "anchored"], false);
        let roots = self.tree(3, &in_place, &anywhere);
        let deep = self.tree(2, &in_place, &anywhere);
        let has_id = prop::bool::weighted(0.3);
        (roots, leaves, deep, nothing.clone(), nothing, has_id)
            .prop_map(move |(root, leaf, deep, anchored, resource, has_id)| {
                let anchored = self.anchored(anchored);
                let resource = self.resource(resource);
                let mut root = self.object(root);
                if has_id {
                    root[self.id()] = "http://example.com/root".into();
                }
                self.mark(&mut root);
                let mut definitions = Map::new();
                for (name, schema) in
                    [("leaf", leaf), ("deep", deep), ("anchored", anchored), ("resource", resource)]
                {
                    definitions.insert(name.into(), schema);
                }
                self.with_definitions(root, definitions)
            })
            .boxed()
    }

    /// A schema as an object, which may hold more.
    fn object(self, schema: Value) -> Value {
        match schema {
            Value::Object(_) => schema,
            other => json!({"allOf": [other]}),
        }
    }

    /// A schema with a name of its own. Up to draft 7 that cannot stand beside a reference.
    fn anchored(self, schema: Value) -> Value {
        let mut schema = self.object(schema);
        match self.since(Dialect::Draft201909) {
            true => schema["$anchor"] = "spot".into(),
            false => schema[self.id()] = "#spot".into(),
        }
        schema
    }

    /// A resource of its own, with a way back to the outermost one.
    fn resource(self, schema: Value) -> Value {
        let mut schema = self.object(schema);
        schema[self.id()] = "http://example.com/inner".into();
        let back = match self.dialect {
            Dialect::Draft201909 => json!({"$recursiveRef": "#"}),
            Dialect::Draft202012 => json!({"$dynamicRef": "#node"}),
            _ => json!({"$ref": "#"}),
        };
        if schema.get("properties").is_none() {
            schema["properties"] = json!({"a": back});
        }
        self.mark(&mut schema);
        schema
    }

    /// Makes a resource a target of dynamic references.
    fn mark(self, schema: &mut Value) {
        match self.dialect {
            Dialect::Draft201909 => schema["$recursiveAnchor"] = true.into(),
            Dialect::Draft202012 => schema["$dynamicAnchor"] = "node".into(),
            _ => {}
        }
    }

    /// Adds the definitions that are named, from the root or from each other.
    fn with_definitions(self, mut root: Value, mut all: Map<String, Value>) -> Value {
        let mut kept = Map::new();
        let mut text = root.to_string();
        loop {
            let is_named = |name: &str| match name {
                "anchored" => text.contains("\"#spot\""),
                "resource" => text.contains("example.com/inner"),
                _ => text.contains(&format!("/{name}\"")),
            };
            let next = all.keys().find(|name| is_named(name)).cloned();
            let Some((name, schema)) = next.and_then(|name| all.remove_entry(&name)) else { break };
            text += &schema.to_string();
            kept.insert(name, schema);
        }
        if !kept.is_empty() {
            root[self.definitions()] = Value::Object(kept);
        }
        root
    }

    /// Keywords that refer to one of the definitions; `back`: to the root too.
    fn references(self, names: &[&'static str], back: bool) -> Choices {
        let target = |name: &&'static str| match *name {
            "anchored" => "#spot".to_owned(),
            "resource" => "http://example.com/inner".to_owned(),
            name => format!("#/{}/{name}", self.definitions()),
        };
        let mut targets: Vec<String> = names.iter().map(target).collect();
        if back {
            targets.push("#".into());
        }
        let mut all = vec![one(4, "$ref", select(targets))];
        match self.dialect {
            Dialect::Draft201909 if back => all.push(one(1, "$recursiveRef", Just("#"))),
            Dialect::Draft202012 if back => all.push(one(1, "$dynamicRef", Just("#node"))),
            _ => {}
        }
        all
    }

    /// Schemas without references in place.
    fn schemas(self, depth: usize, anywhere: &[Choice]) -> Schemas {
        self.tree(depth, &[], anywhere)
    }

    /// Schemas with so many levels of subschemas, which refer to these in place and in children.
    fn tree(self, depth: usize, in_place: &[Choice], anywhere: &[Choice]) -> Schemas {
        let level = |choices: Choices, most: usize| {
            let is_kept = |name: &str| {
                let index = OPTIONAL.iter().position(|optional| *optional == name);
                index.is_none_or(|index| self.kept & 1 << index != 0)
            };
            let title = one(1, "title", Just("a"));
            let kept = choices.into_iter().filter(|choice| is_kept(choice.1)).chain([title]);
            let kept: Vec<_> = kept.map(|(weight, _, keywords)| (weight, keywords)).collect();
            let keywords = Union::new_weighted(kept);
            let object = vec(keywords, 1..=most).prop_map(|groups| {
                let mut object = Map::new();
                for (name, value) in groups.into_iter().flatten() {
                    object.entry(name).or_insert(value);
                }
                Value::Object(object)
            });
            prop_oneof![
                2 => Just(self.boolean(true)),
                1 => Just(self.boolean(false)),
                30 => object,
            ]
            .boxed()
        };
        let mut here = level([self.scalars(), in_place.to_vec()].concat(), 2);
        let mut child = level([self.scalars(), anywhere.to_vec()].concat(), 2);
        for _ in 0..depth {
            let inner = [self.scalars(), self.arrays(&child), self.objects(&here, &child)].concat();
            let inner = [inner, self.combinators(&here), self.foreign(&here, &child)].concat();
            here = level([inner.clone(), in_place.to_vec()].concat(), 4);
            child = level([inner, anywhere.to_vec()].concat(), 4);
        }
        here
    }

    /// Keywords without subschemas.
    fn scalars(self) -> Choices {
        const SINGLE: [&str; 5] = ["object", "array", "string", "integer", "number"];
        let types: &[&str] = &["object", "array", "string", "integer", "number", "null", "boolean"];
        let several = subsequence(types, 1..4).prop_map(|all| json!(all));
        let mut all = vec![
            one(8, "type", prop_oneof![3 => text(&SINGLE), 2 => several]),
            one(2, "enum", literals()),
            one(
                2,
                "multipleOf",
                select(vec![json!(1), json!(2), json!(3), json!(0.5), json!(1.5)]),
            ),
            one(2, "minLength", count()),
            one(2, "maxLength", count()),
            one(3, "pattern", text(&PATTERNS)),
            one(1, "minItems", count()),
            one(1, "maxItems", count()),
            one(1, "uniqueItems", any::<bool>()),
            one(1, "minProperties", count()),
            one(1, "maxProperties", count()),
            one(2, "required", names()),
            one(2, "format", self.formats()),
        ];
        all.extend(["minimum", "maximum"].map(|name| one(2, name, some_number())));
        if self.since(Dialect::Draft6) {
            all.push(one(2, "const", literal()));
            all.extend(
                ["exclusiveMinimum", "exclusiveMaximum"].map(|name| one(2, name, some_number())),
            );
        } else {
            let pair = |bound: &'static str, exclusive: &'static str| {
                let both = (some_number(), any::<bool>());
                both.prop_map(move |(n, b)| vec![(bound, n), (exclusive, b.into())]).boxed()
            };
            all.push((2, "minimum", pair("minimum", "exclusiveMinimum")));
            all.push((2, "maximum", pair("maximum", "exclusiveMaximum")));
        }
        all
    }

    /// Formats that both validators know in the dialect.
    fn formats(self) -> BoxedStrategy<Value> {
        match self.since(Dialect::Draft201909) {
            true => text(&["date", "date-time", "email", "ipv4", "uuid"]),
            false => text(&["date-time", "email", "ipv4"]),
        }
    }

    fn arrays(self, child: &Schemas) -> Choices {
        let list = || vec(child.clone(), 1..3);
        let mut all = vec![one(3, "items", child.clone())];
        if self.since(Dialect::Draft202012) {
            all.push(one(3, "prefixItems", list()));
        } else {
            all.push(one(3, "items", list()));
            all.push(one(2, "additionalItems", child.clone()));
        }
        if self.since(Dialect::Draft6) {
            all.push(one(2, "contains", child.clone()));
        }
        if self.since(Dialect::Draft201909) {
            let bounds = (child.clone(), count(), any::<bool>(), count(), any::<bool>());
            let counted = bounds.prop_map(|(schema, low, has_low, high, has_high)| {
                let mut all = vec![("contains", schema)];
                all.extend(has_low.then(|| ("minContains", low.into())));
                all.extend(has_high.then(|| ("maxContains", high.into())));
                all
            });
            all.push((2, "contains", counted.boxed()));
            all.push(one(2, "unevaluatedItems", child.clone()));
        }
        all
    }

    fn objects(self, here: &Schemas, child: &Schemas) -> Choices {
        let patterns = || subsequence(&PATTERNS[..], 1..3).boxed();
        let lists = || named(names(), names());
        let mut all = vec![
            one(6, "properties", named(names(), child.clone())),
            one(4, "patternProperties", named(patterns(), child.clone())),
            one(3, "additionalProperties", child.clone()),
            one(1, "dependencies", lists()),
            one(1, "dependencies", named(names(), here.clone())),
        ];
        if self.since(Dialect::Draft6) {
            all.push(one(3, "propertyNames", key_names(child)));
        }
        if self.since(Dialect::Draft201909) {
            all.push(one(1, "dependentRequired", lists()));
            all.push(one(1, "dependentSchemas", named(names(), here.clone())));
            all.push(one(2, "unevaluatedProperties", child.clone()));
        }
        all
    }

    /// Keywords that the dialect does not have: they assert nothing.
    fn foreign(self, here: &Schemas, child: &Schemas) -> Choices {
        let all = [
            (Dialect::Draft6, one(1, "const", literal())),
            (Dialect::Draft6, one(1, "contains", child.clone())),
            (Dialect::Draft6, one(1, "propertyNames", child.clone())),
            (Dialect::Draft7, one(1, "then", here.clone())),
            (Dialect::Draft201909, one(1, "minContains", count())),
            (Dialect::Draft201909, one(1, "dependentRequired", named(names(), names()))),
            (Dialect::Draft201909, one(1, "unevaluatedItems", child.clone())),
            (Dialect::Draft201909, one(1, "unevaluatedProperties", child.clone())),
            (Dialect::Draft202012, one(1, "prefixItems", vec(child.clone(), 1..3))),
        ];
        let later = all.into_iter().filter(|(first, _)| !self.since(*first));
        let earlier = one(1, "additionalItems", child.clone());
        let earlier = Some(earlier).filter(|_| self.since(Dialect::Draft202012));
        later.map(|(_, choice)| choice).chain(earlier).collect()
    }

    fn combinators(self, here: &Schemas) -> Choices {
        let list = || vec(here.clone(), 1..4);
        let mut all = vec![
            one(3, "allOf", list()),
            one(3, "anyOf", list()),
            one(3, "oneOf", list()),
            one(2, "not", here.clone()),
            one(1, "allOf", vec(alike().prop_map(|one| json!({"not": one})), 3..9)),
            one(1, "oneOf", vec(alike(), 3..9)),
        ];
        if self.since(Dialect::Draft7) {
            let parts = (here.clone(), here.clone(), here.clone(), 0..8u8);
            let condition = parts.prop_map(|(test, yes, no, which)| {
                let parts = [("then", yes, 1), ("else", no, 2), ("if", test, 4)];
                let is_in = |bit: u8| which & bit == 0;
                parts.into_iter().filter(|p| is_in(p.2)).map(|p| (p.0, p.1)).collect()
            });
            all.push((3, "if", condition.boxed()));
        }
        all
    }
}
