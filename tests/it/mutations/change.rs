//! Changes of a document around the place of one keyword.

use crate::generator::Random;
use serde_json::{Value, json};

/// Names that no schema of the corpus declares.
const NEW_NAMES: [&str; 3] = ["zzNew", "0", "zz new"];
const TEXTS: [&str; 12] = [
    "",
    "a",
    "A1",
    "abc def",
    "!",
    "é",
    "2020-02-30",
    "2020-02-29T25:00:00Z",
    "http://",
    "a@",
    "999.1.1.1",
    "00000000-0000-0000-0000",
];

/// Changes documents so that they may break one keyword.
pub struct Changer<'a> {
    keyword: &'a str,
    value: &'a Value,
    /// The name of the member that the keyword is about, if its location tells.
    name: Option<String>,
}

impl<'a> Changer<'a> {
    pub fn new(pointer: &str, keyword: &'a str, value: &'a Value) -> Self {
        let steps: Vec<&str> = pointer.split('/').collect();
        let at = steps.iter().rposition(|step| *step == "properties");
        let name = at.and_then(|at| steps.get(at + 1));
        let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
        Changer { keyword, value, name }
    }

    /// One of the documents, changed.
    pub fn change(&self, bases: &[Value], random: &mut Random) -> Value {
        let mut document = bases[random.below(bases.len())].clone();
        for _ in 0..1 + random.below(2) {
            self.change_place(&mut document, random);
        }
        document
    }

    fn change_place(&self, document: &mut Value, random: &mut Random) {
        let mut places = Vec::new();
        collect(document, String::new(), None, &mut places);
        let named: Vec<&(String, Option<String>)> =
            places.iter().filter(|(_, key)| key.is_some() && *key == self.name).collect();
        let pointer = if !named.is_empty() && random.chance(75) {
            named[random.below(named.len())].0.clone()
        } else if let (Some(name), true) = (&self.name, random.chance(40)) {
            // The member is not there, or not here.
            let objects =
                places.iter().filter(|(at, _)| document.pointer(at).is_some_and(Value::is_object));
            let objects: Vec<_> = objects.collect();
            if objects.is_empty() {
                return;
            }
            let at = objects[random.below(objects.len())].0.clone();
            let value = self.wrong(&Value::Null, random);
            if let Some(Value::Object(members)) = document.pointer_mut(&at) {
                members.insert(name.clone(), value);
            }
            return;
        } else {
            places[random.below(places.len())].0.clone()
        };
        if let Some(place) = document.pointer_mut(&pointer) {
            *place = self.wrong(place, random);
        }
    }

    /// A value that may break the keyword, near `value`.
    fn wrong(&self, value: &Value, random: &mut Random) -> Value {
        let bound = self.value.as_u64().unwrap_or(0) as usize;
        match (self.keyword, value) {
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", _) => {
                self.number(value, random)
            }
            ("minLength" | "maxLength", _) => self.text_of(value, bound, random),
            ("pattern" | "format", Value::String(text)) => changed(text, random).into(),
            ("pattern" | "format", _) => TEXTS[random.below(TEXTS.len())].into(),
            ("enum" | "const", _) => self.other(value, random),
            (
                "minItems" | "maxItems" | "uniqueItems" | "items" | "additionalItems"
                | "unevaluatedItems" | "minContains" | "maxContains",
                _,
            ) => self.items(value, bound, random),
            (
                "required"
                | "minProperties"
                | "maxProperties"
                | "dependentRequired"
                | "additionalProperties"
                | "unevaluatedProperties",
                _,
            ) => self.members(value, random),
            _ => any(random),
        }
    }

    fn number(&self, value: &Value, random: &mut Random) -> Value {
        let near = self.value.as_f64().unwrap_or(0.0);
        let own = value.as_f64().unwrap_or(near);
        let all = [near - 1.0, near + 1.0, near, near - 0.5, near + 0.5, near * 2.0, near * 1.5];
        let more = [own + 1.0, own - 1.0, own + 0.5, -own, 0.0, 1.0, -1.0, own + near / 2.0];
        let number = [&all[..], &more[..]].concat()[random.below(all.len() + more.len())];
        if number.fract() == 0.0 && number.abs() < 1e15 {
            Value::from(number as i64)
        } else {
            Value::from(number)
        }
    }

    fn text_of(&self, value: &Value, bound: usize, random: &mut Random) -> Value {
        let own = value.as_str().unwrap_or("");
        let bound = bound.min(4_000);
        let length = if self.keyword == "minLength" {
            bound.saturating_sub(1 + random.below(2))
        } else {
            bound + 1 + random.below(2)
        };
        let unit = if own.is_empty() { TEXTS[1 + random.below(4)] } else { own };
        let filled: String = unit.chars().cycle().take(length).collect();
        // Where the text has a form, a single character may grow.
        let mut grown = || -> Option<String> {
            let at = random_boundary(own, random)?;
            let more = length.checked_sub(own.chars().count())?;
            let character = own[at..].chars().next()?.to_string();
            Some(own[..at].to_owned() + &character.repeat(more) + &own[at..])
        };
        grown().filter(|_| self.keyword == "maxLength").unwrap_or(filled).into()
    }

    fn other(&self, value: &Value, random: &mut Random) -> Value {
        let listed = self.value.as_array().filter(|_| self.keyword == "enum");
        let listed = listed.map_or(std::slice::from_ref(self.value), Vec::as_slice);
        let near = if listed.is_empty() || random.chance(30) {
            value
        } else {
            &listed[random.below(listed.len())]
        };
        match near {
            Value::String(text) => changed(text, random).into(),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(0.0);
                let next = number + [1.0, -1.0, 0.5, 10.0][random.below(4)];
                if next.fract() == 0.0 { Value::from(next as i64) } else { Value::from(next) }
            }
            Value::Bool(own) => Value::Bool(!own),
            _ => any(random),
        }
    }

    fn items(&self, value: &Value, bound: usize, random: &mut Random) -> Value {
        let mut items = value.as_array().cloned().unwrap_or_default();
        match (self.keyword, random.below(4)) {
            ("minItems", 0..3) => items.truncate(bound.saturating_sub(1)),
            ("maxItems", 0..3) => {
                while items.len() <= bound.min(300) {
                    let next = match items.last() {
                        Some(last) if random.chance(50) => last.clone(),
                        _ => self.other(items.first().unwrap_or(&Value::Null), random),
                    };
                    items.push(next);
                }
            }
            (_, 0) if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            (_, 1..3) if !items.is_empty() => {
                items.push(items[random.below(items.len())].clone());
            }
            _ => (0..1 + random.below(3)).for_each(|_| items.push(any(random))),
        }
        Value::Array(items)
    }

    fn members(&self, value: &Value, random: &mut Random) -> Value {
        let mut members = value.as_object().cloned().unwrap_or_default();
        let names: Vec<&str> = match self.value {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            Value::Object(all) => {
                let needed = all.values().filter_map(Value::as_array).flatten();
                all.keys().map(String::as_str).chain(needed.filter_map(Value::as_str)).collect()
            }
            _ => Vec::new(),
        };
        let present: Vec<String> = members.keys().cloned().collect();
        let listed: Vec<&String> =
            present.iter().filter(|name| names.contains(&name.as_str())).collect();
        let adds = matches!(
            self.keyword,
            "maxProperties" | "additionalProperties" | "unevaluatedProperties"
        );
        if adds || (listed.is_empty() && random.chance(30)) {
            let name = match names.is_empty() {
                true => NEW_NAMES[random.below(NEW_NAMES.len())],
                false => names[random.below(names.len())],
            };
            members.insert(name.into(), any(random));
        } else if !listed.is_empty() && random.chance(90) {
            members.remove(listed[random.below(listed.len())]);
        } else if !present.is_empty() {
            members.remove(&present[random.below(present.len())]);
        }
        Value::Object(members)
    }
}

/// Every place of a document, with the nearest name above it.
fn collect(
    value: &Value,
    at: String,
    key: Option<String>,
    places: &mut Vec<(String, Option<String>)>,
) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{at}/{index}"), key.clone(), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let step = name.replace('~', "~0").replace('/', "~1");
                collect(member, format!("{at}/{step}"), Some(name.clone()), places);
            }
        }
        _ => {}
    }
    places.push((at, key));
}

/// A value of any type.
fn any(random: &mut Random) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(1),
        json!(-2.5),
        json!("a"),
        json!([]),
        json!({}),
        json!(0),
    ];
    all[random.below(all.len())].clone()
}

fn random_boundary(text: &str, random: &mut Random) -> Option<usize> {
    let all: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    (!all.is_empty()).then(|| all[random.below(all.len())])
}

/// A text with a character more, less, or changed.
fn changed(text: &str, random: &mut Random) -> String {
    let Some(at) = random_boundary(text, random) else { return "a".into() };
    let rest = &text[at..];
    let width = rest.chars().next().map_or(0, char::len_utf8);
    let new = ["a", "0", "!", " ", "Z", "-", ".", "é", "9"][random.below(9)];
    match random.below(6) {
        0 => text[..at].to_owned() + new + rest,
        1 => text[..at].to_owned() + &rest[width..],
        2 => text[..at].to_owned() + new + &rest[width..],
        3 => text.to_owned() + new,
        4 => TEXTS[random.below(TEXTS.len())].into(),
        _ => text[..at].into(),
    }
}
