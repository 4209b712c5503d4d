//! Random schemas in which every place is a possible target of a reference.

use super::holds::keywords;
use crate::generator::Random;
use serde_json::{Map, Value, json};
use tokenmask::Dialect;

/// Names that stand for identifiers, anchors and keywords of nobody.
const NAMES: [&str; 4] = ["a", "b~/c", "é", "%25"];
const DIALECTS: [Option<Dialect>; 6] = [
    None,
    Some(Dialect::Draft4),
    Some(Dialect::Draft6),
    Some(Dialect::Draft7),
    Some(Dialect::Draft201909),
    Some(Dialect::Draft202012),
];

/// A schema, and the dialect for what declares none.
pub fn schema(seed: u64) -> (String, Option<Dialect>) {
    let mut maker = Maker { random: Random(seed) };
    let dialect = DIALECTS[maker.random.below(DIALECTS.len())];
    let mut root = maker.object(3);
    if maker.random.chance(40) {
        let all = Dialect::ALL;
        root.insert("$schema".into(), all[maker.random.below(all.len())].uri().into());
    }
    let mut root = Value::Object(root);
    let mut targets = vec![String::from("#nobody"), "#a".into(), "http://x/a".into(), "b".into()];
    places(&root, "#", &mut targets);
    maker.point(&mut root, &targets);
    (root.to_string(), dialect)
}

struct Maker {
    random: Random,
}

impl Maker {
    fn schema(&mut self, depth: usize) -> Value {
        if depth == 0 || self.random.chance(10) {
            return [json!(true), json!({}), json!({"title": "t"})][self.random.below(3)].clone();
        }
        Value::Object(self.object(depth))
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        let mut object = Map::new();
        for _ in 0..1 + self.random.below(4) {
            let (name, value) = self.member(depth - 1);
            object.insert(name, value);
        }
        object
    }

    fn member(&mut self, depth: usize) -> (String, Value) {
        let name = NAMES[self.random.below(NAMES.len())].to_owned();
        match self.random.below(12) {
            0 | 1 => ("$ref".into(), json!("?")),
            2 => ("$dynamicRef".into(), json!("?")),
            3 => {
                let word = ["const", "default", "x-a", "enum", "examples"][self.random.below(5)];
                (word.into(), json!([self.schema(depth)]))
            }
            4 => (name, self.schema(depth)),
            5 => match self.random.below(6) {
                0 => ("$anchor".into(), json!("a")),
                1 => ("$dynamicAnchor".into(), json!("a")),
                2 => ("$id".into(), json!("http://x/a")),
                3 => ("id".into(), json!("http://x/a")),
                4 => ("$id".into(), json!("#a")),
                _ => ("$id".into(), json!("b")),
            },
            6 => ("$recursiveRef".into(), json!("#")),
            _ => self.holder(depth),
        }
    }

    /// A keyword that holds schemas in some draft, with some.
    fn holder(&mut self, depth: usize) -> (String, Value) {
        let holders: Vec<&str> = keywords().holders().collect();
        let keyword = holders[self.random.below(holders.len())];
        let holds = keywords().holds(keyword);
        let value = if holds.map {
            let name = NAMES[self.random.below(NAMES.len())];
            json!({name: self.schema(depth), "d": self.schema(depth)})
        } else if holds.array && (!holds.schema || self.random.chance(30)) {
            json!([self.schema(depth), self.schema(depth)])
        } else {
            self.schema(depth)
        };
        (keyword.into(), value)
    }

    /// Gives each reference a target.
    fn point(&mut self, value: &mut Value, targets: &[String]) {
        match value {
            Value::String(text) if text == "?" => {
                text.clone_from(&targets[self.random.below(targets.len())]);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.point(item, targets)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.point(member, targets));
            }
            _ => {}
        }
    }
}

/// References to every object and boolean of a document.
fn places(value: &Value, at: &str, targets: &mut Vec<String>) {
    match value {
        Value::Bool(_) => targets.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), targets);
            }
        }
        Value::Object(members) => {
            targets.push(at.to_owned());
            for (name, member) in members {
                let token = name.replace('~', "~0").replace('/', "~1").replace('%', "%25");
                places(member, &format!("{at}/{token}"), targets);
            }
        }
        _ => {}
    }
}
