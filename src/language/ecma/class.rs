//! Character classes: ECMAScript's own, and those of the Unicode tables.

use super::PatternError;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// What ECMAScript calls white space or a line terminator: `\s`.
const SPACE: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
const DIGIT: [(u32, u32); 1] = [(0x30, 0x39)];
const WORD: [(u32, u32); 4] = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const LINE_END: [(u32, u32); 3] = [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// A class of inclusive code point ranges; surrogates are left out, since no string has them.
pub(super) fn from_ranges(ranges: impl IntoIterator<Item = (u32, u32)>) -> ClassUnicode {
    let parts = ranges
        .into_iter()
        .flat_map(|(low, high)| [(low, high.min(0xD7FF)), (low.max(0xE000), high.min(0x10_FFFF))]);
    ClassUnicode::new(parts.filter(|(low, high)| low <= high).filter_map(|(low, high)| {
        Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?))
    }))
}

/// The complement among all Unicode scalar values.
pub(super) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

/// `.`: everything but line terminators.
pub(super) fn dot() -> ClassUnicode {
    negated(from_ranges(LINE_END))
}

/// The class of `\d`, `\D`, `\w`, `\W`, `\s`, `\S`.
pub(super) fn shorthand(letter: char) -> Option<ClassUnicode> {
    let class = match letter.to_ascii_lowercase() {
        'd' => from_ranges(DIGIT),
        'w' => from_ranges(WORD),
        's' => from_ranges(SPACE),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { negated(class) } else { class })
}

/// The class of `\p{text}`.
pub(super) fn property(text: &str) -> Result<ClassUnicode, PatternError> {
    const UNKNOWN: PatternError =
        PatternError::Unsupported { what: "a Unicode property unknown to the tables" };
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    if matches!(value, "Cs" | "Surrogate") {
        return Ok(ClassUnicode::empty());
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_=".contains(&b)) {
        return Err(UNKNOWN);
    }
    let hir = regex_syntax::Parser::new().parse(&format!("\\p{{{text}}}")).map_err(|_| UNKNOWN)?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Ok(class),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok().and_then(|s| s.chars().next());
            Ok(from_ranges(c.map(|c| (u32::from(c), u32::from(c)))))
        }
        _ => Ok(ClassUnicode::empty()),
    }
}
