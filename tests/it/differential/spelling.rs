//! Texts of values, and which of their numbers validators read exactly.

use crate::generator::Random;
use serde_json::Value;

/// A text of `value`: members in random order; `is_loose`: whitespace and escapes here and there.
pub fn spell(value: &Value, random: &mut Random, is_loose: bool) -> String {
    let mut text = String::new();
    Speller { random, is_loose }.value(value, &mut text);
    text
}

struct Speller<'r> {
    random: &'r mut Random,
    is_loose: bool,
}

impl Speller<'_> {
    fn gap(&mut self, text: &mut String) {
        if self.is_loose && self.random.chance(10) {
            text.push_str(self.random.pick(&[" ", "\n  ", "\t\r"]));
        }
    }

    fn value(&mut self, value: &Value, text: &mut String) {
        self.gap(text);
        match value {
            Value::String(string) => self.string(string, text),
            Value::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    self.value(item, text);
                }
                self.gap(text);
                text.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                text.push('{');
                while !members.is_empty() {
                    let (key, member) = members.swap_remove(self.random.below(members.len()));
                    self.gap(text);
                    self.string(key, text);
                    self.gap(text);
                    text.push(':');
                    self.value(member, text);
                    text.push_str(if members.is_empty() { "" } else { "," });
                }
                self.gap(text);
                text.push('}');
            }
            scalar => text.push_str(&scalar.to_string()),
        }
        self.gap(text);
    }

    fn string(&mut self, string: &str, text: &mut String) {
        text.push('"');
        for character in string.chars() {
            if self.is_loose && self.random.chance(10) {
                let units = &mut [0; 2];
                for unit in character.encode_utf16(units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                let quoted = Value::from(character.to_string()).to_string();
                text.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        text.push('"');
    }
}

/// Digits that `f64` tells apart, whatever the number.
const DIGITS: i64 = 15;

/// Whether a validator over `f64` decides like exact arithmetic on every number of a text: each
/// one has at most 15 digits, counted from its first one to the point or to its last one.
pub fn is_exact(text: &str) -> bool {
    let mut outside = String::new();
    let mut bytes = text.chars();
    while let Some(character) = bytes.next() {
        if character != '"' {
            outside.push(character);
            continue;
        }
        while let Some(inner) = bytes.next() {
            match inner {
                '\\' => drop(bytes.next()),
                '"' => break,
                _ => {}
            }
        }
    }
    outside
        .split(|c: char| "[]{},: \n\r\t".contains(c))
        .filter(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        .all(is_exact_number)
}

fn is_exact_number(number: &str) -> bool {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let digits = digits.trim_start_matches('0');
    let counting = digits.trim_end_matches('0');
    if counting.is_empty() {
        return true;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    // The power of ten of the last digit that counts.
    let last = exponent - fraction.len() as i64 + (digits.len() - counting.len()) as i64;
    let length = counting.len() as i64;
    let span = if last >= 0 { length + last } else { length.max(-last) };
    span <= DIGITS
}

#[test]
fn exact_numbers_are_told_apart() {
    for text in [
        "1",
        "-0.0",
        "123456789012345",
        "[1.5e3,\"1e99\"]",
        "1e14",
        "0.000000000000001",
        "{\"9e9\\\"\":1.10e-1}",
    ] {
        assert!(is_exact(text), "{text}");
    }
    for text in [
        "1234567890123456",
        "[1e15]",
        "0.0000000000000001",
        "1e-16",
        "1.000000000000001",
        "[\"a\",1e300]",
    ] {
        assert!(!is_exact(text), "{text}");
    }
}
