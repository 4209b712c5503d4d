//! JSON text with member order and exact numbers kept, as a schema needs it.

use num_bigint::BigInt;
use std::collections::BTreeSet;

/// A JSON value; object members stand in text order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Deeper schema texts are refused.
const MAX_DEPTH: usize = 200;
/// The longest plain spelling of a number.
const MAX_DIGITS: i64 = 2_000;

impl Json {
    /// Parses one JSON text; a key twice in one object is an error.
    pub fn parse(text: &str) -> Result<Json, String> {
        // serde_json judges the grammar, so that the reader below may be simple.
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|e| e.to_string())?;
        let mut reader = Reader { text, at: 0 };
        reader.value(0)
    }

    /// The member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value that an RFC 6901 pointer (already percent-decoded) names.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut here = self;
        for part in pointer.strip_prefix('/')?.split('/') {
            let part = part.replace("~1", "/").replace("~0", "~");
            here = match here {
                Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => here.get(&part)?,
            };
        }
        Some(here)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err("the schema is nested too deep".into());
        }
        Ok(match self.peek() {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => Json::Text(self.string()?),
            b't' => self.word(4, Json::Bool(true)),
            b'f' => self.word(5, Json::Bool(false)),
            b'n' => self.word(4, Json::Null),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest
                    .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
                    .unwrap_or(rest.len());
                self.at += end;
                Json::Number(Decimal::parse(&rest[..end])?)
            }
        })
    }

    fn word(&mut self, length: usize, value: Json) -> Json {
        self.at += length;
        value
    }

    fn string(&mut self) -> Result<String, String> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        while bytes[self.at] != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).map_err(|e| e.to_string())
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        while self.peek() != b']' {
            if self.peek() == b',' {
                self.at += 1;
            }
            items.push(self.value(depth + 1)?);
        }
        self.at += 1;
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        let mut seen = BTreeSet::new();
        while self.peek() != b'}' {
            if self.peek() == b',' {
                self.at += 1;
                self.peek();
            }
            let key = self.string()?;
            self.peek();
            self.at += 1; // the colon
            if !seen.insert(key.clone()) {
                return Err(format!("the key {key:?} stands twice"));
            }
            members.push((key, self.value(depth + 1)?));
        }
        self.at += 1;
        Ok(Json::Object(members))
    }
}

/// An exact decimal `±digits × 10^exponent`: no zero at either end of `digits`, zero has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number.
    pub fn parse(text: &str) -> Result<Decimal, String> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().map_err(|e| e.to_string())?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let short = digits.trim_end_matches('0');
        if short.is_empty() {
            return Ok(Decimal { negative: false, digits: String::new(), exponent: 0 });
        }
        let exponent = exponent
            .checked_add((digits.len() - short.len()) as i64 - fraction.len() as i64)
            .filter(|e| e.abs() < MAX_DIGITS)
            .ok_or("a number of the schema is out of range")?;
        Ok(Decimal { negative, digits: short.into(), exponent })
    }

    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The value as a length; larger ones saturate. `None` for negative values and fractions.
    pub fn as_length(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        Some(self.plain().parse().unwrap_or(u64::MAX))
    }

    /// The canonical text: digits, a point only where there is a fraction, no exponent.
    pub fn plain(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.is_zero() {
            return "0".into();
        }
        if self.exponent >= 0 {
            return format!("{sign}{}{}", self.digits, "0".repeat(self.exponent as usize));
        }
        let places = (-self.exponent) as usize;
        let padded = format!(
            "{}{}",
            "0".repeat((places + 1).saturating_sub(self.digits.len())),
            self.digits
        );
        let (whole, fraction) = padded.split_at(padded.len() - places);
        format!("{sign}{whole}.{fraction}")
    }

    /// The digits behind the point.
    pub fn places(&self) -> i64 {
        (-self.exponent).max(0)
    }

    /// How far from the point its digits reach.
    pub fn reach(&self) -> i64 {
        self.exponent.abs() + self.digits.len() as i64
    }

    /// The value in units of 10^-`scale`; it has at most so many places.
    pub fn units(&self, scale: i64) -> BigInt {
        let digits: BigInt = self.digits.parse().unwrap_or_default();
        let units = digits * BigInt::from(10).pow((self.exponent + scale) as u32);
        if self.negative { -units } else { units }
    }

    /// Every text that spells this value: the canonical one alone where only integers are allowed,
    /// else also with zeros after the point, at most 17 digits or as many as the canonical text has.
    pub fn texts(&self, integer_only: bool) -> BTreeSet<Vec<u8>> {
        let plain = self.plain();
        let mut texts = BTreeSet::from([plain.clone().into_bytes()]);
        if integer_only {
            return texts;
        }
        let count = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        let most = count(&plain).max(17);
        let mut text = if plain.contains('.') { plain } else { format!("{plain}.") };
        while count(&text) < most {
            text.push('0');
            texts.insert(text.clone().into_bytes());
            if self.is_zero() {
                texts.insert(format!("-{text}").into_bytes());
            }
        }
        texts
    }
}
