//! What stands after a backslash.

use super::PatternError;
use super::class::{self, Property};
use super::parse::Parser;
use regex_syntax::hir::ClassUnicode;

/// The meaning of an escape.
pub(super) enum Escape {
    /// A code point, perhaps a lone surrogate.
    Code(u32),
    /// A class of characters.
    Set(ClassUnicode),
    /// A class of characters that is not known.
    Unknown,
    /// `\b`, or `\B`.
    Boundary { negative: bool },
    /// A reference to the group of this number.
    Number(u32),
    /// A reference to the groups of this name.
    Name(String),
}

impl Parser<'_> {
    /// Reads an escape; the backslash is read already.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<Escape, PatternError> {
        let start = self.offset();
        let Some(c) = self.bump() else {
            return Err(PatternError::Invalid { offset: start, reason: "a lone backslash" });
        };
        if let Some(set) = class::shorthand(c, self.flags().fold) {
            return Ok(Escape::Set(set));
        }
        Ok(match c {
            't' => Escape::Code(0x09),
            'n' => Escape::Code(0x0A),
            'v' => Escape::Code(0x0B),
            'f' => Escape::Code(0x0C),
            'r' => Escape::Code(0x0D),
            'b' if in_class => Escape::Code(0x08),
            'b' | 'B' if !in_class => Escape::Boundary { negative: c == 'B' },
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escape::Code(0),
            '0'..='9' => self.number(c, start, in_class),
            'k' if !in_class && self.has_names() => {
                let name = if self.eat("<") { self.name() } else { None };
                let reason = "a `\\k` without the name of a group";
                Escape::Name(name.ok_or(PatternError::Invalid { offset: start - 1, reason })?)
            }
            'c' => self.control(start, in_class),
            'x' => match self.hex_digits(2) {
                Some(code) => Escape::Code(code),
                None => self.letter(c, start),
            },
            'u' => match self.unicode() {
                Some(code) => Escape::Code(code),
                None => self.letter(c, start),
            },
            'p' | 'P' => self.property(c, start),
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
            | '/' => Escape::Code(u32::from(c)),
            '-' if in_class => Escape::Code(u32::from(c)),
            c if c.is_ascii_alphabetic() => self.letter(c, start),
            c => {
                self.lenient(start - 1, "needs no backslash");
                Escape::Code(u32::from(c))
            }
        })
    }

    /// A letter that begins no escape stands for itself.
    fn letter(&mut self, c: char, start: usize) -> Escape {
        self.lenient(start - 1, "is the letter itself");
        Escape::Code(u32::from(c))
    }

    /// Digits: a reference, if there is such a group, or else an octal escape.
    fn number(&mut self, first: char, start: usize, in_class: bool) -> Escape {
        let rest = self.rest();
        let more = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = self.text_from(start, more).parse::<u32>().unwrap_or(u32::MAX);
        if !in_class && first != '0' && number <= self.group_count() {
            self.advance(more);
            return Escape::Number(number);
        }
        if first > '7' {
            self.lenient(start - 1, "is the digit itself");
            return Escape::Code(u32::from(first));
        }
        let longest = if first <= '3' { 2 } else { 1 };
        let is_octal = |b: &u8| (b'0'..=b'7').contains(b);
        let more = self.rest().bytes().take(longest).take_while(is_octal).count();
        let code = u32::from_str_radix(self.text_from(start, more), 8).unwrap_or(0);
        self.advance(more);
        self.lenient(start - 1, "is an octal escape");
        Escape::Code(code)
    }

    /// `\cX`; without a letter the backslash is literal and the `c` is read again.
    fn control(&mut self, start: usize, in_class: bool) -> Escape {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                self.bump();
                Escape::Code(u32::from(c) % 32)
            }
            Some(c) if in_class && (c.is_ascii_digit() || c == '_') => {
                self.bump();
                self.lenient(start - 1, "is a control character");
                Escape::Code(u32::from(c) % 32)
            }
            _ => {
                self.rewind(1);
                self.lenient(start - 1, "is a backslash");
                Escape::Code(u32::from('\\'))
            }
        }
    }

    /// Exactly `count` hex digits, or nothing is read.
    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest().as_bytes().get(..count)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let value = u32::from_str_radix(self.rest().get(..count)?, 16).ok()?;
        self.advance(count);
        Some(value)
    }

    /// What follows `\u`, or nothing is read.
    pub(super) fn unicode(&mut self) -> Option<u32> {
        if self.rest().starts_with('{') {
            let digits = self.braced(|b| b.is_ascii_hexdigit())?;
            let end = digits.len() + 1;
            let digits = digits.trim_start_matches('0');
            let code = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
            if code > 0x10_FFFF {
                return None;
            }
            self.advance(end + 1);
            return Some(code);
        }
        let unit = self.hex_digits(4)?;
        if !(0xD800..0xDC00).contains(&unit) {
            return Some(unit);
        }
        let before = self.offset();
        if self.eat("\\u")
            && let Some(low @ 0xDC00..=0xDFFF) = self.hex_digits(4)
        {
            return Some(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        }
        self.rewind(self.offset() - before);
        Some(unit)
    }

    /// The text between braces that come next, if there is any and it has only such bytes.
    fn braced(&self, good: impl Fn(&u8) -> bool) -> Option<&str> {
        let inner = self.rest().strip_prefix('{')?;
        let len = inner.bytes().take_while(&good).count();
        inner.get(..len).filter(|text| len > 0 && inner[text.len()..].starts_with('}'))
    }

    fn property(&mut self, letter: char, start: usize) -> Escape {
        let name = self.braced(|b| b.is_ascii_alphanumeric() || b"_=".contains(b));
        let known = name.and_then(|name| Some((name.len(), class::property(name)?)));
        let Some((len, property)) = known else { return self.letter(letter, start) };
        self.advance(len + 2);
        match property {
            Property::NotInTables => Escape::Unknown,
            Property::Class(set) if letter == 'P' => Escape::Set(class::negated(set)),
            Property::Class(set) => Escape::Set(set),
        }
    }
}
