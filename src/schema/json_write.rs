//! Values of `serde_json` as texts, for the JSON reader.

use crate::error::{Error, Result};
use crate::options::Limits;

/// The text of a `serde_json` value, written without recursion.
pub(super) fn text_of_value(value: &serde_json::Value, limits: &Limits) -> Result<String> {
    use serde_json::Value;
    enum Step<'a> {
        Value(&'a Value),
        Items(std::slice::Iter<'a, Value>, bool),
        Members(serde_json::map::Iter<'a>, bool),
    }
    let mut text = String::new();
    let mut stack = vec![Step::Value(value)];
    while let Some(step) = stack.pop() {
        if text.len() > limits.schema_bytes {
            return Err(Error::limit_met("schema_bytes", limits.schema_bytes, "the schema text"));
        }
        match step {
            Step::Value(Value::Array(items)) => {
                text.push('[');
                stack.push(Step::Items(items.iter(), true));
            }
            Step::Value(Value::Object(members)) => {
                text.push('{');
                stack.push(Step::Members(members.iter(), true));
            }
            Step::Value(Value::String(string)) => push_json_string(&mut text, string),
            Step::Value(scalar) => text.push_str(&scalar.to_string()),
            Step::Items(mut items, first) => match items.next() {
                Some(item) => {
                    text.push_str(if first { "" } else { "," });
                    stack.push(Step::Items(items, false));
                    stack.push(Step::Value(item));
                }
                None => text.push(']'),
            },
            Step::Members(mut members, first) => match members.next() {
                Some((name, member)) => {
                    text.push_str(if first { "" } else { "," });
                    push_json_string(&mut text, name);
                    text.push(':');
                    stack.push(Step::Members(members, false));
                    stack.push(Step::Value(member));
                }
                None => text.push('}'),
            },
        }
    }
    Ok(text)
}

fn push_json_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\0'..='\u{1f}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_read_back_as_the_value() {
        let value = json!({"a\u{1}\"\\": [1, -2.5, "é\n", null, true, {}, []], "": [[{"k": 0}]]});
        let text = text_of_value(&value, &Limits::default()).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn depth_costs_no_stack_and_size_is_limited() {
        let mut value = json!(null);
        for _ in 0..1_000 {
            value = json!([value]);
        }
        let text = text_of_value(&value, &Limits::default()).unwrap();
        assert_eq!(text.len(), 2_004);
        let limits = Limits { schema_bytes: 100, ..Limits::default() };
        assert_eq!(text_of_value(&value, &limits).unwrap_err().limit(), Some("schema_bytes"));
    }
}
