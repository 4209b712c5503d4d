//! The JSON reader: one pass over the text, with an explicit stack.

use super::json::push_pointer_token;
use super::json::{JsonDocument, JsonId, JsonKind, JsonNode, RAW, SMALL_OBJECT};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Limits;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Texts are shorter than this whatever the limit says: offsets and counts are packed.
const MAX_TEXT_BYTES: usize = (1 << 29) - 1;

/// Reads `text` into a document; see [`JsonDocument::read`].
pub(super) fn read(uri: &str, text: Arc<str>, limits: &Limits) -> Result<JsonDocument> {
    let most = limits.schema_bytes.min(MAX_TEXT_BYTES);
    if text.len() > most {
        let error = Error::limit_met("schema_bytes", most, "the schema text");
        return Err(error.at(format!("{uri}#")).at_offset(most));
    }
    let doc = JsonDocument {
        uri: uri.to_owned(),
        text: text.clone(),
        nodes: Vec::with_capacity(text.len() / 12 + 1),
        decoded: String::new(),
        decoded_ends: Vec::new(),
        sorted_keys: Vec::new(),
        large: FxHashMap::default(),
    };
    let mut reader =
        Reader { text: &text, at: 0, doc, stack: Vec::new(), max_depth: limits.schema_depth };
    reader.document()?;
    Ok(reader.doc)
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    FirstItem,
    FirstKey,
    Key,
    CommaOrEnd,
    Nothing,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    doc: JsonDocument,
    /// The open containers, as node indices.
    stack: Vec<u32>,
    max_depth: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<()> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.error("the text begins with a byte order mark; remove it", 0));
        }
        let mut expect = Expect::Value;
        loop {
            self.skip_whitespace();
            let byte = self.peek();
            expect = match (expect, byte) {
                (Expect::Nothing, None) => return Ok(()),
                (Expect::Nothing, Some(_)) => {
                    return Err(self.error("there is more text after the value", self.at));
                }
                (Expect::FirstItem, Some(b']')) | (Expect::FirstKey, Some(b'}')) => self.close()?,
                (Expect::Value | Expect::FirstItem, _) => self.value(byte)?,
                (Expect::Key | Expect::FirstKey, _) => self.key(byte)?,
                (Expect::CommaOrEnd, _) => self.comma_or_end(byte)?,
            };
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// After a value: what its container expects.
    fn after_value(&self) -> Expect {
        if self.stack.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd }
    }

    fn value(&mut self, byte: Option<u8>) -> Result<Expect> {
        match byte {
            Some(b'{') => self.open(JsonKind::Object),
            Some(b'[') => self.open(JsonKind::Array),
            Some(b'"') => {
                self.string(false)?;
                Ok(self.after_value())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", JsonKind::Bool),
            Some(b'f') => self.word("false", JsonKind::Bool),
            Some(b'n') => self.word("null", JsonKind::Null),
            Some(_) => Err(self.error("a JSON value is expected here", self.at)),
            None => Err(self.error("the text ends where a JSON value is expected", self.at)),
        }
    }

    /// Adds the node of a value or key that begins here; values are counted by their container.
    fn push_node(&mut self, kind: JsonKind, is_key: bool) -> usize {
        let index = self.doc.nodes.len();
        let (mut parent, mut ordinal) = (RAW, 0);
        if let Some(&top) = self.stack.last() {
            let container = &mut self.doc.nodes[top as usize];
            parent = top;
            ordinal = container.len();
            if !is_key {
                container.count_child();
            }
        }
        self.doc.nodes.push(JsonNode::new(kind, self.at as u32, parent, ordinal));
        index
    }

    fn open(&mut self, kind: JsonKind) -> Result<Expect> {
        if self.stack.len() >= self.max_depth {
            let what = "the nesting of the schema text";
            let error = Error::limit_met("schema_depth", self.max_depth, what);
            return Err(error.at(self.location()).at_offset(self.at));
        }
        let index = self.push_node(kind, false);
        self.stack.push(index as u32);
        self.at += 1;
        Ok(if kind == JsonKind::Array { Expect::FirstItem } else { Expect::FirstKey })
    }

    fn close(&mut self) -> Result<Expect> {
        self.at += 1;
        if let Some(top) = self.stack.pop() {
            let after = self.doc.nodes.len() as u32;
            let node = &mut self.doc.nodes[top as usize];
            node.link = after;
            node.end = self.at as u32;
            if node.kind() == JsonKind::Object && node.len() > 1 {
                self.refuse_duplicate_keys(top)?;
            }
        }
        Ok(self.after_value())
    }

    fn comma_or_end(&mut self, byte: Option<u8>) -> Result<Expect> {
        let top = self.stack.last().map(|&top| self.doc.nodes[top as usize].kind());
        let (end, message) = match top {
            Some(JsonKind::Object) => (b'}', "a comma or `}` is expected here"),
            _ => (b']', "a comma or `]` is expected here"),
        };
        match byte {
            Some(b',') => {
                self.at += 1;
                Ok(if end == b'}' { Expect::Key } else { Expect::Value })
            }
            Some(b) if b == end => self.close(),
            Some(_) => Err(self.error(message, self.at)),
            None => Err(self.error("the text ends inside an array or object", self.at)),
        }
    }

    fn key(&mut self, byte: Option<u8>) -> Result<Expect> {
        if byte != Some(b'"') {
            return Err(self.error("a key in double quotes is expected here", self.at));
        }
        self.string(true)?;
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.error("a colon is expected here", self.at));
        }
        self.at += 1;
        Ok(Expect::Value)
    }

    fn word(&mut self, word: &'static str, kind: JsonKind) -> Result<Expect> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error("a JSON value is expected here", self.at));
        }
        let index = self.push_node(kind, false);
        self.at += word.len();
        self.doc.nodes[index].end = self.at as u32;
        Ok(self.after_value())
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("a digit is expected here", self.at));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Expect> {
        let index = self.push_node(JsonKind::Number, false);
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(self.error("a number has no leading zeros", self.at));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.doc.nodes[index].end = self.at as u32;
        Ok(self.after_value())
    }

    fn string(&mut self, is_key: bool) -> Result<()> {
        let index = self.push_node(JsonKind::String, is_key);
        self.at += 1;
        let plain = self.skip_plain();
        match self.peek() {
            Some(b'"') => self.at += 1,
            Some(b'\\') => {
                self.doc.decoded.push_str(&self.text[plain..self.at]);
                self.escaped_string()?;
                self.doc.nodes[index].link = self.doc.decoded_ends.len() as u32;
                self.doc.decoded_ends.push(self.doc.decoded.len());
            }
            other => return Err(self.bad_string_byte(other)),
        }
        self.doc.nodes[index].end = self.at as u32;
        Ok(())
    }

    /// Skips characters that stand for themselves; gives where they begin.
    fn skip_plain(&mut self) -> usize {
        let start = self.at;
        let bytes = &self.text.as_bytes()[start..];
        let special = bytes.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20);
        self.at = start + special.unwrap_or(bytes.len());
        start
    }

    fn bad_string_byte(&self, byte: Option<u8>) -> Error {
        match byte {
            None => self.error("the text ends inside a string", self.at),
            Some(_) => self.error("a control character in a string must be escaped", self.at),
        }
    }

    /// The rest of a string from its first escape to its closing quote, appended to `decoded`.
    fn escaped_string(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    self.doc.decoded.push(c);
                }
                Some(0x20..) => {
                    let plain = self.skip_plain();
                    self.doc.decoded.push_str(&self.text[plain..self.at]);
                }
                other => return Err(self.bad_string_byte(other)),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            _ => return Err(self.error("there is no such escape in JSON", start)),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char> {
        let lone = "a surrogate stands alone; it is no character";
        let first = self.hex4()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.error(lone, start));
        }
        if first >= 0xdc00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(self.error(lone, start));
        }
        self.at += 2;
        let second = self.hex4()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(self.error(lone, start));
        }
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(code).ok_or_else(|| self.error(lone, start))
    }

    fn hex4(&mut self) -> Result<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
        let mut code = 0;
        for &digit in digits {
            let Some(value) = char::from(digit).to_digit(16) else { break };
            code = code * 16 + value;
            self.at += 1;
        }
        if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(self.error("four hexadecimal digits are expected here", self.at));
        }
        Ok(code)
    }

    /// Checks the object that was just closed; sorts the keys of a large one for later searches.
    /// Sorting, unlike hashing, has no bad inputs.
    fn refuse_duplicate_keys(&mut self, object: u32) -> Result<()> {
        let value = self.doc.value(JsonId::new(object as usize));
        let mut keys: Vec<u32> =
            value.members().map(|(_, member)| member.id().index() as u32 - 1).collect();
        if keys.len() <= SMALL_OBJECT as usize {
            for (i, &key) in keys.iter().enumerate() {
                let name = self.doc.string(key as usize);
                if keys[..i].iter().any(|&k| self.doc.string(k as usize) == name) {
                    return Err(self.duplicate_key(object, key));
                }
            }
            return Ok(());
        }
        let name = |key: &u32| self.doc.string(*key as usize);
        keys.sort_by(|a, b| name(a).cmp(name(b)));
        let twice = keys.windows(2).filter(|pair| name(&pair[0]) == name(&pair[1]));
        if let Some(key) = twice.map(|pair| pair[1]).min() {
            return Err(self.duplicate_key(object, key));
        }
        self.doc.large.insert(object, self.doc.sorted_keys.len());
        self.doc.sorted_keys.append(&mut keys);
        Ok(())
    }

    fn duplicate_key(&self, object: u32, key: u32) -> Error {
        let name = self.doc.string(key as usize);
        let mut location = self.doc.location(JsonId::new(object as usize));
        push_pointer_token(&mut location, name);
        let offset = self.doc.nodes[key as usize].start as usize;
        let message = format!("the key {name:?} stands twice in one object");
        self.error(&message, offset).at(location)
    }

    /// `<uri>#<pointer>` of the place that is being read.
    fn location(&self) -> String {
        let Some(&top) = self.stack.last() else { return format!("{}#", self.doc.uri) };
        let container = &self.doc.nodes[top as usize];
        let mut location = self.doc.location(JsonId::new(top as usize));
        let Some((last, node)) = self.doc.nodes.iter().enumerate().next_back() else {
            return location;
        };
        if node.parent != top {
            return location;
        }
        // A value counts from its first byte on, a key never does.
        let (unfinished, is_key) = (node.end <= node.start, node.ordinal == container.len());
        if unfinished && !is_key {
            return self.doc.location(JsonId::new(last));
        }
        // A key that waits for its value.
        if container.kind() == JsonKind::Object && is_key && !unfinished {
            push_pointer_token(&mut location, self.doc.string(last));
        }
        location
    }

    fn error(&self, message: &str, offset: usize) -> Error {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        // Bytes that continue a character do not count.
        let column = before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
        let message = format!("{message} (line {line}, column {column})");
        Error::new(ErrorKind::JsonSyntax, message).at(self.location()).at_offset(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (String, String, usize) {
        let error = read("", text.into(), &Limits::default()).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::JsonSyntax, "{text}");
        let location = error.location().expect("a location").to_owned();
        (error.message().to_owned(), location, error.offset().expect("an offset"))
    }

    #[test]
    fn syntax_errors_name_the_place() {
        assert_eq!(
            refusal("{\"a\": [1,\n  2, x]}"),
            ("a JSON value is expected here (line 2, column 6)".into(), "#/a".into(), 15)
        );
        let (message, location, offset) = refusal(r#"{"é": {"k": 1, "l": 2, "k": 3}}"#);
        assert_eq!(message, "the key \"k\" stands twice in one object (line 1, column 24)");
        assert_eq!((location.as_str(), offset), ("#/é/k", 24));
        let (_, location, offset) = refusal(r#"{"a": {"b": tru}}"#);
        assert_eq!((location.as_str(), offset), ("#/a/b", 12));
    }

    #[test]
    fn everything_beyond_the_standard_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "{a:1}",
            "'a'",
            "01",
            "-",
            "1.",
            "1e",
            "+1",
            ".5",
            "NaN",
            "nul",
            "tru",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\t\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\\ud800x\"",
            "\"\\ud800\\n\"",
            "1 2",
            "{} []",
            "\u{feff}{}",
            "// c\n1",
            "\u{a0}1",
            "[1}",
            "{\"a\":1]",
            "\"\\ué\"",
            "{\"\\",
            "\"a\\ud8",
        ] {
            refusal(text);
        }
    }

    #[test]
    fn the_text_of_strings_is_decoded() {
        let text = r#"["\ud83d\ude00", "a\/\b\f\n\r\t\"\\z", "\u0000", "é"]"#;
        let doc = read("", text.into(), &Limits::default()).unwrap();
        let strings: Vec<_> = doc.root().items().filter_map(|v| v.as_str()).collect();
        assert_eq!(strings, ["😀", "a/\u{8}\u{c}\n\r\t\"\\z", "\0", "é"]);
    }

    #[test]
    fn keys_that_are_equal_after_decoding_are_twice() {
        assert_eq!(refusal(r#"{"a": 1, "\u0061": 2}"#).1, "#/a");
        let members: Vec<_> = (0..100).map(|i| format!("\"k{}\":0", i % 99)).collect();
        assert_eq!(refusal(&format!("{{{}}}", members.join(","))).1, "#/k0");
    }

    #[test]
    fn depth_and_size_are_limited() {
        let limits = Limits { schema_depth: 3, schema_bytes: 10, ..Limits::default() };
        assert!(read("", "[[[]]]".into(), &limits).is_ok());
        let error = read("u", "[[[[]]]]".into(), &limits).unwrap_err();
        assert_eq!((error.limit(), error.location()), (Some("schema_depth"), Some("u#/0/0")));
        let error = read("", "[1,2,3,4,5]".into(), &limits).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Limit, Some("schema_bytes")));
    }

    #[test]
    fn depth_costs_no_stack() {
        let limits = Limits { schema_depth: usize::MAX, ..Limits::default() };
        let text = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let doc = read("", text.into(), &limits).unwrap();
        assert_eq!(doc.node_count(), 1_000_000);
    }
}
