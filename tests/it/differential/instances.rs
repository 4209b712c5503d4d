//! Values near the border of a schema: made after its keywords, then changed a little.

use super::alphabet::{NAMES, NUMBERS, TEXTS, number};
use crate::generator::Random;
use serde_json::{Map, Value, json};

/// How many subschemas of one value are looked at.
const MOST_SCHEMAS: usize = 40;
const DEEPEST: usize = 5;
/// Values inside one instance: a recursive schema asks for ever more.
const MOST_VALUES: usize = 40;

/// A value for a schema, valid more often than not.
pub fn value(root: &Value, random: &mut Random) -> Value {
    let mut value = Maker { root, random, left: MOST_VALUES }.make(vec![root], DEEPEST);
    for _ in 0..[0, 0, 1, 1, 2, 3][random.below(6)] {
        change(&mut value, random);
    }
    value
}

struct Maker<'a, 'r> {
    root: &'a Value,
    random: &'r mut Random,
    /// Values that may still be made.
    left: usize,
}

impl<'a> Maker<'a, '_> {
    /// A value that tries to be valid against all of `schemas`.
    fn make(&mut self, schemas: Vec<&'a Value>, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        let depth = if self.left == 0 { 0 } else { depth };
        let all = self.in_place(schemas);
        let lists = all.iter().filter_map(|k| k.get("enum").and_then(Value::as_array)).flatten();
        let literals: Vec<&Value> =
            lists.chain(all.iter().filter_map(|k| k.get("const"))).collect();
        if !literals.is_empty() && self.random.chance(80) {
            return plain(literals[self.random.below(literals.len())]);
        }
        match self.kind(&all) {
            "object" if depth > 0 => self.object(&all, depth),
            "array" if depth > 0 => self.array(&all, depth),
            "object" => json!({}),
            "array" => json!([]),
            "string" => self.string(&all),
            "integer" => number(self.number(&all).floor()),
            "number" => number(self.number(&all)),
            "boolean" => self.random.chance(50).into(),
            _ => Value::Null,
        }
    }

    /// The keyword objects that hold for the same value; of branches one is taken.
    fn in_place(&mut self, mut open: Vec<&'a Value>) -> Vec<&'a Map<String, Value>> {
        let mut found = Vec::new();
        while let Some(schema) = open.pop() {
            let Value::Object(keywords) = schema else { continue };
            if found.len() >= MOST_SCHEMAS {
                break;
            }
            found.push(keywords);
            for (keyword, inner) in keywords {
                match (keyword.as_str(), inner) {
                    ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                        open.extend(self.target(inner))
                    }
                    ("allOf", Value::Array(all)) => open.extend(all),
                    ("anyOf" | "oneOf", Value::Array(all)) => {
                        open.push(&all[self.random.below(all.len())]);
                    }
                    ("if", _) if self.random.chance(50) => {
                        open.extend([Some(inner), keywords.get("then")].into_iter().flatten());
                    }
                    ("else", _) if self.random.chance(50) => open.push(inner),
                    // Often it does not hold, and sometimes it must be met to be told apart.
                    ("not", _) if self.random.chance(15) => open.push(inner),
                    ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                        open.extend(all.values().filter(|_| self.random.chance(50)));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn target(&self, reference: &Value) -> Option<&'a Value> {
        let definition = |name: &str| {
            let all = self.root.get("$defs").or_else(|| self.root.get("definitions"))?;
            all.get(name)
        };
        match reference.as_str()? {
            "#" | "#node" => Some(self.root),
            "#spot" => definition("anchored"),
            "http://example.com/inner" => definition("resource"),
            pointer => self.root.pointer(pointer.strip_prefix('#')?),
        }
    }

    /// A type that the keywords ask for.
    fn kind(&mut self, all: &[&'a Map<String, Value>]) -> &'a str {
        let mut kinds: Vec<&str> = Vec::new();
        for keywords in all {
            match keywords.get("type") {
                Some(Value::String(kind)) => kinds.extend([kind.as_str(); 4]),
                Some(Value::Array(some)) => kinds.extend(some.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
        if kinds.is_empty() {
            kinds.extend(all.iter().flat_map(|k| k.keys()).filter_map(|k| kind_of(k)));
        }
        if kinds.is_empty() || self.random.chance(5) {
            kinds = ["object", "array", "string", "integer", "number", "null", "boolean"].to_vec();
        }
        self.random.pick(&kinds)
    }

    /// One of the bounds that these keywords set, or a little beside it.
    fn size(&mut self, all: &[&Map<String, Value>], keywords: [&str; 2], most: usize) -> usize {
        let bounds: Vec<u64> = all
            .iter()
            .flat_map(|k| keywords.map(|keyword| k.get(keyword).and_then(Value::as_u64)))
            .flatten()
            .collect();
        if bounds.is_empty() || self.random.chance(20) {
            return self.random.below(most);
        }
        let bound = bounds[self.random.below(bounds.len())] as usize;
        (bound + [0, 0, 0, 1, 2][self.random.below(5)])
            .saturating_sub(usize::from(self.random.chance(30)))
    }

    fn number(&mut self, all: &[&Map<String, Value>]) -> f64 {
        let bounds: Vec<f64> = all
            .iter()
            .flat_map(|k| {
                ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
                    .map(|keyword| k.get(keyword).and_then(Value::as_f64))
            })
            .flatten()
            .collect();
        if bounds.is_empty() {
            return NUMBERS[self.random.below(NUMBERS.len())];
        }
        let bound = bounds[self.random.below(bounds.len())];
        bound + [0.0, 0.0, 1.0, -1.0, 0.5, -0.5, bound][self.random.below(7)]
    }

    fn string(&mut self, all: &[&Map<String, Value>]) -> Value {
        let text = |keyword: &str| all.iter().find_map(|k| k.get(keyword).and_then(Value::as_str));
        if let Some(format) = text("format").filter(|_| self.random.chance(80)) {
            return self.random.pick(formatted(format)).into();
        }
        if let Some(pattern) = text("pattern").filter(|_| self.random.chance(80)) {
            return self.random.pick(matching(pattern)).into();
        }
        let has_bounds =
            all.iter().any(|k| k.contains_key("minLength") || k.contains_key("maxLength"));
        if has_bounds && self.random.chance(70) {
            let length = self.size(all, ["minLength", "maxLength"], 4);
            return (0..length).map(|_| self.random.pick(&["a", "b", "é", "😀"])).collect();
        }
        self.random.pick(&TEXTS).into()
    }

    fn array(&mut self, all: &[&'a Map<String, Value>], depth: usize) -> Value {
        let length = self.size(all, ["minItems", "maxItems"], 4).min(6);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            if !items.is_empty() && self.random.chance(10) {
                items.push(items[0].clone());
                continue;
            }
            let mut schemas: Vec<&Value> = Vec::new();
            for keywords in all {
                let list = ["prefixItems", "items"].map(|name| keywords.get(name));
                let list = list.into_iter().flatten().find_map(Value::as_array);
                let rest = ["items", "additionalItems", "unevaluatedItems"];
                let rest =
                    rest.into_iter().find_map(|name| keywords.get(name).filter(|s| !s.is_array()));
                schemas.extend(list.and_then(|list| list.get(index)).or(rest));
                let contains = keywords.get("contains");
                schemas.extend(contains.filter(|_| self.random.chance(40)));
            }
            items.push(self.make(schemas, depth - 1));
        }
        items.into()
    }

    fn object(&mut self, all: &[&'a Map<String, Value>], depth: usize) -> Value {
        let mut names: Vec<&str> = Vec::new();
        for keywords in all {
            let list = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
            names.extend(list.filter_map(Value::as_str).filter(|_| self.random.chance(90)));
            for keyword in ["properties", "dependentSchemas", "dependentRequired", "dependencies"] {
                let map = keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
                for (name, inner) in map {
                    if self.random.chance(60) {
                        names.push(name);
                        // The names that this one asks for.
                        let list = inner.as_array().into_iter().flatten().filter_map(Value::as_str);
                        names.extend(list.filter(|_| self.random.chance(70)));
                    }
                }
            }
        }
        for keywords in all {
            let map = keywords.get("patternProperties").and_then(Value::as_object);
            for pattern in map.into_iter().flat_map(Map::keys) {
                if self.random.chance(60) {
                    names.push(self.random.pick(matching(pattern)));
                }
            }
            let listed = keywords.get("propertyNames").and_then(|inner| inner.get("enum"));
            let listed = listed.and_then(Value::as_array).into_iter().flatten();
            names.extend(listed.filter_map(Value::as_str).filter(|_| self.random.chance(40)));
        }
        let wanted = self.size(all, ["minProperties", "maxProperties"], 3);
        for _ in names.len()..wanted {
            names.push(self.random.pick(&NAMES));
        }
        let mut object = Map::new();
        for name in names {
            let schemas = all.iter().flat_map(|keywords| self.members(keywords, name)).collect();
            let value = self.make(schemas, depth - 1);
            object.entry(name).or_insert(value);
        }
        object.into()
    }

    /// The schemas of a member, as far as names are concerned.
    fn members(&self, keywords: &'a Map<String, Value>, name: &str) -> Vec<&'a Value> {
        let mut found: Vec<&Value> = Vec::new();
        found.extend(keywords.get("properties").and_then(|all| all.get(name)));
        for (pattern, schema) in
            keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
        {
            found.extend(matching(pattern).contains(&name).then_some(schema));
        }
        if found.is_empty() {
            found.extend(keywords.get("additionalProperties"));
            found.extend(keywords.get("unevaluatedProperties"));
        }
        found
    }
}

/// A literal with whole numbers as such.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(n) => n.as_f64().map_or(Value::Null, number),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => members.iter().map(|(k, v)| (k.clone(), plain(v))).collect(),
        other => other.clone(),
    }
}

/// The type that a keyword is about.
fn kind_of(keyword: &str) -> Option<&'static str> {
    match keyword {
        "minLength" | "maxLength" | "pattern" | "format" => Some("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Some("number")
        }
        keyword if keyword.to_lowercase().ends_with("items") || keyword.ends_with("ontains") => {
            Some("array")
        }
        "properties" | "required" | "dependencies" => Some("object"),
        keyword if keyword.contains("ropert") || keyword.starts_with("dependent") => Some("object"),
        _ => None,
    }
}

/// Texts that match a pattern of the alphabet, names among them.
fn matching(pattern: &str) -> &'static [&'static str] {
    match pattern {
        "^a" => &["a", "ab", "aab", "abc"],
        "b$" => &["b", "ab", "aab"],
        "^[a-c]{1,3}$" => &["a", "b", "ab", "abc", "aab"],
        "^$|x" => &["", "x", "ax"],
        "^.$" => &["a", "b", "x", "é", "😀"],
        "^a+b?$" => &["a", "ab", "aab"],
        "^(a|é)$" => &["a", "é"],
        _ => &["b", "ab", "x", "é"],
    }
}

/// Texts of a format, and one or two that are nearly so. Where validators read a standard in
/// different ways there is none.
fn formatted(format: &str) -> &'static [&'static str] {
    match format {
        "date" => &["2020-02-29", "1999-12-31", "2021-02-29", "2020-2-29"],
        "date-time" => {
            &["2020-02-29T01:02:03Z", "1999-12-31t23:59:59.5+01:00", "2020-02-29T24:00:00Z"]
        }
        "email" => &["a@example.com", "a.b@example.com", "a"],
        "ipv4" => &["127.0.0.1", "255.255.255.255", "256.0.0.1"],
        _ => &["123e4567-e89b-12d3-a456-426614174000", "123e4567"],
    }
}

/// Changes one place of a value.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if !items.is_empty() && random.chance(60) => {
            let index = random.below(items.len());
            return change(&mut items[index], random);
        }
        Value::Object(members) if !members.is_empty() && random.chance(60) => {
            let index = random.below(members.len());
            let inner = members.values_mut().nth(index);
            return inner.into_iter().for_each(|inner| change(inner, random));
        }
        _ => {}
    }
    if random.chance(20) {
        *value = other(random);
        return;
    }
    match value {
        Value::Number(n) => {
            let near = n.as_f64().unwrap_or_default() + [1.0, -1.0, 0.5, -0.5][random.below(4)];
            *value = number(near);
        }
        Value::String(text) if random.chance(50) => {
            text.push_str(random.pick(&["a", "b", "é", "\""]))
        }
        Value::String(text) => drop(text.pop()),
        Value::Array(items) => change_items(items, random),
        Value::Object(members) if random.chance(50) => {
            members.insert(random.pick(&NAMES).into(), other(random));
        }
        Value::Object(members) => {
            let name = members.keys().nth(random.below(members.len().max(1))).cloned();
            name.and_then(|name| members.remove(&name));
        }
        _ => *value = other(random),
    }
}

fn change_items(items: &mut Vec<Value>, random: &mut Random) {
    match random.below(4) {
        0 => items.push(other(random)),
        1 => drop(items.pop()),
        2 => items.reverse(),
        _ => items.extend(items.first().cloned()),
    }
}

/// Some small value.
fn other(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Null,
        1 => random.chance(50).into(),
        2 | 3 => number(NUMBERS[random.below(NUMBERS.len())]),
        4 | 5 => random.pick(&TEXTS).into(),
        6 => json!([]),
        _ => json!({}),
    }
}
