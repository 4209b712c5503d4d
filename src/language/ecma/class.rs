//! Character classes: ECMAScript's own, and those of the Unicode tables.

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

/// The class of `\d`, `\D`, `\w`, `\W`, `\s`, `\S`; `fold`: where case does not matter, some more
/// characters are equal to those of `\w`.
pub(super) fn shorthand(letter: char, fold: bool) -> Option<ClassUnicode> {
    let class = match letter.to_ascii_lowercase() {
        'd' => from_ranges(DIGIT),
        'w' if fold => folded(from_ranges(WORD)),
        'w' => from_ranges(WORD),
        's' => from_ranges(SPACE),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { negated(class) } else { class })
}

/// The line terminators: what multiline `^` and `$` look for.
pub(super) fn line_end() -> ClassUnicode {
    from_ranges(LINE_END)
}

/// Every character.
pub(super) fn any() -> ClassUnicode {
    negated(ClassUnicode::empty())
}

pub(super) fn single(c: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(c, c)])
}

/// With the characters that simple case folding makes equal to one of the class.
pub(super) fn folded(mut class: ClassUnicode) -> ClassUnicode {
    // It fails without tables only, and regex-syntax has them here.
    let _ = class.try_case_fold_simple();
    class
}

/// A Unicode property by name.
#[derive(Debug)]
pub(super) enum Property {
    Class(ClassUnicode),
    /// A name that ECMA-262 knows and the tables do not.
    NotInTables,
}

/// The property of `\p{text}`, `None` where ECMA-262 has none of this name.
pub(super) fn property(text: &str) -> Option<Property> {
    if let Some((name, value)) = text.split_once('=') {
        let script = match name {
            "General_Category" | "gc" => return general_category(value).map(Property::Class),
            "Script" | "sc" => "sc",
            "Script_Extensions" | "scx" => "scx",
            _ => return None,
        };
        return is_value_name(value)
            .then(|| table(&format!("{script}={value}")))?
            .map(Property::Class);
    }
    if let Some(class) = general_category(text) {
        return Some(Property::Class(class));
    }
    let (name, _) = BINARY.iter().find(|names| names.0 == text || names.1 == text)?;
    Some(table(name).map_or(Property::NotInTables, Property::Class))
}

fn general_category(value: &str) -> Option<ClassUnicode> {
    match value {
        "Cs" | "Surrogate" => return Some(ClassUnicode::empty()),
        "Any" | "Assigned" | "ASCII" => return None,
        "LC" | "punct" | "digit" | "cntrl" => {}
        value if !is_value_name(value) => return None,
        _ => {}
    }
    table(&format!("gc={value}"))
}

/// The tables compare loosely, ECMA-262 does not: `Old_Italic`, `Lu`.
fn is_value_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut letters = word.bytes();
        letters.next().is_some_and(|b| b.is_ascii_uppercase())
            && letters.all(|b| b.is_ascii_lowercase())
    };
    name == "SignWriting" || name.split('_').all(is_word)
}

/// The class that regex-syntax has under a name.
fn table(name: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::Parser::new().parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(single(c))
        }
        _ => Some(ClassUnicode::empty()),
    }
}

/// The binary properties of ECMA-262, with their short names.
const BINARY: [(&str, &str); 53] = [
    ("ASCII", "ASCII"),
    ("ASCII_Hex_Digit", "AHex"),
    ("Alphabetic", "Alpha"),
    ("Any", "Any"),
    ("Assigned", "Assigned"),
    ("Bidi_Control", "Bidi_C"),
    ("Bidi_Mirrored", "Bidi_M"),
    ("Case_Ignorable", "CI"),
    ("Cased", "Cased"),
    ("Changes_When_Casefolded", "CWCF"),
    ("Changes_When_Casemapped", "CWCM"),
    ("Changes_When_Lowercased", "CWL"),
    ("Changes_When_NFKC_Casefolded", "CWKCF"),
    ("Changes_When_Titlecased", "CWT"),
    ("Changes_When_Uppercased", "CWU"),
    ("Dash", "Dash"),
    ("Default_Ignorable_Code_Point", "DI"),
    ("Deprecated", "Dep"),
    ("Diacritic", "Dia"),
    ("Emoji", "Emoji"),
    ("Emoji_Component", "EComp"),
    ("Emoji_Modifier", "EMod"),
    ("Emoji_Modifier_Base", "EBase"),
    ("Emoji_Presentation", "EPres"),
    ("Extended_Pictographic", "ExtPict"),
    ("Extender", "Ext"),
    ("Grapheme_Base", "Gr_Base"),
    ("Grapheme_Extend", "Gr_Ext"),
    ("Hex_Digit", "Hex"),
    ("IDS_Binary_Operator", "IDSB"),
    ("IDS_Trinary_Operator", "IDST"),
    ("ID_Continue", "IDC"),
    ("ID_Start", "IDS"),
    ("Ideographic", "Ideo"),
    ("Join_Control", "Join_C"),
    ("Logical_Order_Exception", "LOE"),
    ("Lowercase", "Lower"),
    ("Math", "Math"),
    ("Noncharacter_Code_Point", "NChar"),
    ("Pattern_Syntax", "Pat_Syn"),
    ("Pattern_White_Space", "Pat_WS"),
    ("Quotation_Mark", "QMark"),
    ("Radical", "Radical"),
    ("Regional_Indicator", "RI"),
    ("Sentence_Terminal", "STerm"),
    ("Soft_Dotted", "SD"),
    ("Terminal_Punctuation", "Term"),
    ("Unified_Ideograph", "UIdeo"),
    ("Uppercase", "Upper"),
    ("Variation_Selector", "VS"),
    ("White_Space", "space"),
    ("XID_Continue", "XIDC"),
    ("XID_Start", "XIDS"),
];
