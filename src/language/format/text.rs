//! Pointers, patterns, encodings and other small languages.

use super::{Format, Texts, draft, row};
use crate::options::Dialect;

pub(super) static FORMATS: [Format; 12] = [
    draft("json-pointer", "RFC 6901 section 3", Texts::Whole(POINTER)),
    draft(
        "relative-json-pointer",
        "draft-handrews-relative-json-pointer-01 section 3",
        Texts::Made(|| relative_pointer("")),
    )
    .with_until(Dialect::Draft7),
    draft(
        "relative-json-pointer",
        "draft-bhutton-relative-json-pointer-00 section 3",
        Texts::Made(|| relative_pointer(r"(?:[+\-][1-9]\d*)?")),
    ),
    draft("regex", "ECMA-262 section 22.2.1", Texts::Made(regex))
        .with_rest("quantifiers, ranges, names of groups, and groups deeper than three"),
    row("base64", "RFC 4648 section 4, Zod 4", Texts::Whole(BASE64)),
    row("byte", "RFC 4648 section 4, OpenAPI 3.0", Texts::Whole(BASE64)),
    row("base64url", "RFC 4648 section 5, Zod 4", Texts::Whole(BASE64_URL)),
    row("base32", "RFC 4648 section 6", Texts::Whole(BASE32)),
    row("base16", "RFC 4648 section 8", Texts::Whole(r"(?:[\dA-Fa-f]{2})*")),
    row("hex", "Zod 4", Texts::Whole(r"[\dA-Fa-f]*")),
    row("emoji", "Zod 4", Texts::Whole(EMOJI)),
    row("semver", "Semantic Versioning 2.0.0", Texts::Whole(SEMVER)),
];

const POINTER: &str = "(?:/(?:[^/~]|~[01])*)*";

fn relative_pointer(adjustment: &str) -> String {
    format!(r"(?:0|[1-9]\d*){adjustment}(?:#|{POINTER})")
}

const BASE64: &str = r"(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?";
/// The padding may be left out, and Zod wants it so.
const BASE64_URL: &str = r"(?:[\w\-]{4})*(?:[\w\-]{2}(?:==)?|[\w\-]{3}=?)?";
const BASE32: &str = concat!(
    r"(?:[A-Z2-7]{8})*",
    r"(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?"
);
/// At least one of the characters is more than a part of an emoji.
const EMOJI: &str = concat!(
    r"[\p{Extended_Pictographic}\p{Emoji_Component}]*",
    r"[\p{Extended_Pictographic}\p{Regional_Indicator}\u20E3]",
    r"[\p{Extended_Pictographic}\p{Emoji_Component}]*",
);
const SEMVER: &str = concat!(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)",
    r"(?:-(?:0|[1-9]\d*|\d*[A-Za-z\-][\dA-Za-z\-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z\-][\dA-Za-z\-]*))*)?",
    r"(?:\+[\dA-Za-z\-]+(?:\.[\dA-Za-z\-]+)*)?",
);

/// Escapes, classes, group openings and no quantifier at the beginning of one, and groups up to a
/// depth; deeper down anything goes.
fn regex() -> String {
    // Which characters stand for themselves behind a backslash is for the check to say, but for
    // letters: none does.
    let escape = concat!(
        r"\\(?:c[A-Za-z]|x[\dA-Fa-f]{2}|[pP]\{[\w=]+\}|k<[^>]+>",
        r"|[bBdDfnrstuvwWS]|[^A-Za-z])"
    );
    let class = format!(r"\[(?:[^\\\]]|{escape})*\]");
    let item = format!(r"[^\\()\[?*+]|{escape}|{class}");
    let open = r"\((?:\?(?:[:=!]|<[=!]|<[^>=!][^>]*>|[ims]*(?:-[ims]*)?:))?";
    let (mut balanced, mut deep) = (format!("(?:(?:{item})[?*+]*)*"), "[^]*".to_owned());
    for _ in 0..DEPTH {
        deep = format!("{balanced}{open}{deep}");
        balanced = format!(r"(?:(?:{item}|{open}{balanced}\))[?*+]*)*");
    }
    format!("{balanced}|{deep}")
}

/// How deep groups of a pattern are told apart.
const DEPTH: usize = 3;
