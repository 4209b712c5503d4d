//! What stands after a backslash.

use super::PatternError;
use super::class;
use super::parse::Parser;
use regex_syntax::hir::ClassUnicode;

/// The meaning of an escape.
pub(super) enum Escape {
    /// A code point, perhaps a lone surrogate.
    Code(u32),
    /// A class of characters.
    Set(ClassUnicode),
    /// An assertion or a reference, which is legal and not compiled.
    Unsupported { what: &'static str, quantifiable: bool },
}

const UNKNOWN: Escape =
    Escape::Unsupported { what: "an escape that ECMA-262 does not define", quantifiable: true };

impl Parser<'_> {
    /// Reads an escape; the backslash is read already.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<Escape, PatternError> {
        let start = self.offset();
        let Some(c) = self.bump() else {
            return Err(PatternError::Invalid { offset: start, reason: "a lone backslash" });
        };
        if let Some(set) = class::shorthand(c) {
            return Ok(Escape::Set(set));
        }
        Ok(match c {
            't' => Escape::Code(0x09),
            'n' => Escape::Code(0x0A),
            'v' => Escape::Code(0x0B),
            'f' => Escape::Code(0x0C),
            'r' => Escape::Code(0x0D),
            'b' if in_class => Escape::Code(0x08),
            'b' | 'B' if !in_class => {
                Escape::Unsupported { what: "a word boundary", quantifiable: false }
            }
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escape::Code(0),
            '0'..='9' if in_class => {
                Escape::Unsupported { what: "an octal escape", quantifiable: true }
            }
            '0'..='9' => {
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.bump();
                }
                Escape::Unsupported { what: "a back-reference", quantifiable: true }
            }
            'k' if !in_class => {
                Escape::Unsupported { what: "a back-reference", quantifiable: true }
            }
            'c' => self.control(),
            'x' => self.hex_digits(2).map_or(UNKNOWN, Escape::Code),
            'u' => self.unicode(start)?,
            'p' | 'P' => self.property(c == 'P')?,
            c if c.is_ascii_alphabetic() => UNKNOWN,
            c => Escape::Code(u32::from(c)),
        })
    }

    /// `\cX`; without a letter the backslash is literal and the `c` is read again.
    fn control(&mut self) -> Escape {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                self.bump();
                Escape::Code(u32::from(c) % 32)
            }
            _ => {
                self.rewind(1);
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

    fn unicode(&mut self, start: usize) -> Result<Escape, PatternError> {
        if self.eat("{") {
            let invalid =
                PatternError::Invalid { offset: start, reason: "a malformed \\u{…} escape" };
            let Some(end) = self.rest().find('}') else { return Err(invalid) };
            let digits = &self.rest()[..end];
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(invalid);
            }
            let digits = digits.trim_start_matches('0');
            let value = if digits.is_empty() { Ok(0) } else { u32::from_str_radix(digits, 16) };
            self.advance(end + 1);
            return match value {
                Ok(code) if code <= 0x10_FFFF => Ok(Escape::Code(code)),
                _ => Err(invalid),
            };
        }
        let Some(unit) = self.hex_digits(4) else { return Ok(UNKNOWN) };
        if !(0xD800..0xDC00).contains(&unit) {
            return Ok(Escape::Code(unit));
        }
        let before = self.offset();
        if self.eat("\\u")
            && let Some(low @ 0xDC00..=0xDFFF) = self.hex_digits(4)
        {
            return Ok(Escape::Code(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)));
        }
        self.rewind(self.offset() - before);
        Ok(Escape::Code(unit))
    }

    fn property(&mut self, negate: bool) -> Result<Escape, PatternError> {
        let end = self.rest().find('}').filter(|_| self.rest().starts_with('{'));
        let Some(end) = end else { return Ok(UNKNOWN) };
        let set = class::property(&self.rest()[1..end]);
        self.advance(end + 1);
        Ok(match set {
            Ok(set) if negate => Escape::Set(class::negated(set)),
            Ok(set) => Escape::Set(set),
            Err(PatternError::Unsupported { what }) => {
                Escape::Unsupported { what, quantifiable: true }
            }
            Err(error) => return Err(error),
        })
    }
}
