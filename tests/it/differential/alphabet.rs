//! The few names, texts and numbers of which schemas and instances are made.

use serde_json::Value;

pub const NAMES: [&str; 5] = ["a", "b", "ab", "x", "é"];

pub const TEXTS: [&str; 16] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "aab",
    "x",
    "é",
    "😀",
    "e\u{301}",
    "A\n",
    "2020-02-29",
    "2020-02-30",
    "2020-02-29T01:02:03Z",
    "a@example.com",
    "127.0.0.1",
];

pub const PATTERNS: [&str; 8] =
    ["^a", "b$", "^[a-c]{1,3}$", "^$|x", "^.$", "^a+b?$", "[^a]", "^(a|é)$"];

/// Halves and whole numbers: validators compute with `f64`, which holds these and their multiples
/// exactly. Decimals that it does not hold are left to tests that need no validator.
pub const NUMBERS: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 6.0, -1.0, -2.0, 0.5, 1.5, -0.5];

/// A number in the plain form: whole numbers have no fraction.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) }
}
