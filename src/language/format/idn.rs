//! Internationalized host names: RFC 5890 to 5893, as far as they are regular.
//!
//! A label is one of ASCII as in `hostname`, or a U-label. The classes of RFC 5892 come from the
//! Unicode tables of `regex-syntax`; what needs tables that it lacks is left to the check: which
//! characters NFKC changes, the exact directions of writing, and how characters join. Neither is the
//! length of a U-label regular, which is counted in Punycode; that takes no fewer octets than a name
//! has characters, so that these are bounded as in `hostname`.

use super::network::{A_LABEL, HOST, plain_label};
use super::{Format, Texts, draft};
use regex_syntax::hir::{Class, ClassUnicode, HirKind};

pub(super) static FORMATS: [Format; 1] =
    [draft("idn-hostname", "RFC 1123 section 2.1, RFC 5890 section 2.3.2.3", Texts::Made(host))
        .with_wide_beside_others(Texts::Made(wide_host))
        .with_max(HOST)
        .with_rest("lengths in Punycode, what that decodes to, NFKC, directions of writing")];

/// RFC 5892 section 2.6: `PVALID`, and otherwise where a rule has no say.
const VALID: &str = r"\x{DF}\x{3C2}\x{6FD}\x{6FE}\x{F0B}\x{3007}";
const DISALLOWED: &str = r"\x{640}\x{7FA}\x{302E}\x{302F}\x{3031}-\x{3035}\x{303B}";
/// `CONTEXTJ` and `CONTEXTO`, digits among them.
const IN_CONTEXT: &str =
    r"\x{B7}\x{375}\x{5F3}\x{5F4}\x{660}-\x{669}\x{6F0}-\x{6F9}\x{200C}\x{200D}\x{30FB}";
/// Sections 2.2 (as far as case goes), 2.3, 2.4 and 2.9.
const UNSTABLE_OR_IGNORED: &str = concat!(
    r"\p{Lu}\p{Lt}\p{Changes_When_Casefolded}",
    r"\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Noncharacter_Code_Point}",
    r"\x{20D0}-\x{20FF}\x{1D100}-\x{1D1FF}\x{1D200}-\x{1D24F}",
    r"\x{1100}-\x{11FF}\x{A960}-\x{A97C}\x{D7B0}-\x{D7C6}\x{D7CB}-\x{D7FB}",
);
/// Characters of combining class 9, which Unicode 16 gives to viramas.
const VIRAMA: &str = concat!(
    r"[\x{94D}\x{9CD}\x{A4D}\x{ACD}\x{B4D}\x{BCD}\x{C4D}\x{CCD}\x{D3B}\x{D3C}\x{D4D}\x{DCA}",
    r"\x{E3A}\x{EBA}\x{F84}\x{1039}\x{103A}\x{1714}\x{1715}\x{1734}\x{17D2}\x{1A60}\x{1B44}",
    r"\x{1BAA}\x{1BAB}\x{1BF2}\x{1BF3}\x{2D7F}\x{A806}\x{A82C}\x{A8C4}\x{A953}\x{A9C0}",
    r"\x{AAF6}\x{ABED}\x{10A3F}\x{11046}\x{11070}\x{1107F}\x{110B9}\x{11133}\x{11134}",
    r"\x{111C0}\x{11235}\x{112EA}\x{1134D}\x{113CE}-\x{113D0}\x{11442}\x{114C2}\x{115BF}",
    r"\x{1163F}\x{116B6}\x{1172B}\x{11839}\x{1193D}\x{1193E}\x{119E0}\x{11A34}\x{11A47}",
    r"\x{11A99}\x{11C3F}\x{11D44}\x{11D45}\x{11D97}\x{11F41}\x{11F42}\x{1612F}]",
);
/// Scripts whose letters join, so that a non-joiner may stand between two of them.
const JOINING: &str = concat!(
    r"[[\p{Arabic}\p{Syriac}\p{Nko}\p{Mandaic}\p{Mongolian}\p{Phags_Pa}\p{Manichaean}",
    r"\p{Psalter_Pahlavi}\p{Hanifi_Rohingya}\p{Sogdian}\p{Chorasmian}\p{Old_Uyghur}\p{Adlam}]",
    r"&&\p{L}]",
);

/// Letters of scripts that are written from right to left.
const RIGHT_TO_LEFT: &str = concat!(
    r"[[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}\p{Samaritan}\p{Mandaic}\p{Adlam}",
    r"\p{Hanifi_Rohingya}]&&\p{L}]",
);
/// Letters that surely are written from left to right.
const LEFT_TO_RIGHT: &str = concat!(
    r"[[\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Devanagari}\p{Bengali}",
    r"\p{Tamil}\p{Thai}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]&&[\p{Ll}\p{Lo}]]",
);

/// The dots of RFC 3490 section 3.1, as the inside of a class.
const DOTS: &str = r".\u3002\uFF0E\uFF61";
/// Arabic-Indic digits, and the extended ones.
const ARABIC: &str = r"\u0660-\u0669";
const EXTENDED: &str = r"\u06F0-\u06F9";

fn host() -> String {
    let label = format!("(?:{}|{A_LABEL}|{})", plain_label(), u_labels());
    format!("{label}(?:[{DOTS}]{label})*")
}

/// Labels of letters and digits in the widest sense, with hyphens inside.
fn wide_host() -> String {
    // From U+00B7 on, without the dots.
    let beyond = r"\u00B7-\u3001\u3003-\uFF0D\uFF0F-\uFF60\uFF62-\u{10FFFF}";
    let letter = format!(r"A-Za-z\d{beyond}");
    let label = format!("[{letter}](?:[{letter}-]*[{letter}])?");
    format!("{label}(?:[{DOTS}]{label})*")
}

/// What stands in labels wherever no rule says otherwise.
fn valid() -> String {
    let letters = r"\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}";
    let stable = format!("[[{letters}]--[{UNSTABLE_OR_IGNORED}{DISALLOWED}]]");
    format!("[[{stable}{VALID}]--[{IN_CONTEXT}]]")
}

/// The characters of U-labels beyond ASCII.
pub(super) fn beyond_ascii() -> ClassUnicode {
    characters(&format!(r"[[{}{IN_CONTEXT}]--\x00-\x7F]", valid()))
}

/// Those that are U-labels by themselves: no marks, and none that wants others beside it.
pub(super) fn alone() -> ClassUnicode {
    characters(&format!(r"[[[{}--\p{{M}}]{EXTENDED}]--\x00-\x7F]", valid()))
}

/// Those that stand somewhere behind an ASCII character of a label that has no others: marks, too, but
/// none that wants others beside it.
pub(super) fn behind_ascii() -> ClassUnicode {
    characters(&format!(r"[[{}{EXTENDED}]--\x00-\x7F]", valid()))
}

/// RFC 5893 section 2: a label with a letter that is written from right to left begins with one, has
/// none of the others, and does not mix Arabic-Indic digits (which stand nowhere else) with European
/// ones, the extended ones among them. RFC 5892 appendix A.7: the dot of Katakana wants a character
/// of three scripts in its label. RFC 5891 section 4.2.3.2: no mark stands first.
fn u_labels() -> String {
    let valid = valid();
    let within = within_context(&format!(r"[\p{{M}}&&{valid}]"));
    let rest = |class: &str| format!("(?:-*(?:[{class}]|{within}))*");

    let left = format!("[{valid}--{RIGHT_TO_LEFT}]");
    let beyond = inside(&format!(r"[{left}--\x00-\x7F]"));
    let first = inside(&format!(r"[{left}--\p{{M}}]"));
    let first_beyond = inside(&format!(r"[[{left}--\p{{M}}]--\x00-\x7F]"));
    let left = inside(&left);
    let plain = rest(&format!("{left}{EXTENDED}"));
    let dotted = rest(&format!(r"{left}{EXTENDED}\u30FB"));
    let script = class(&format!(r"[{valid}&&[\p{{Hiragana}}\p{{Katakana}}\p{{Han}}]]"));

    let right = class(&format!("[{valid}&&{RIGHT_TO_LEFT}]"));
    let european = inside(&format!("[{valid}--{LEFT_TO_RIGHT}]"));
    let arabic = inside(&format!("[[{valid}--{LEFT_TO_RIGHT}]--[0-9]]"));
    let (european, arabic) =
        (rest(&format!("{european}{EXTENDED}")), rest(&format!("{arabic}{ARABIC}")));
    format!(
        concat!(
            r"(?:(?:[{first_beyond}{EXTENDED}]|{within}){plain}",
            r"|[a-z\d][a-z\d-]*(?:[{beyond}{EXTENDED}]|{within}){plain}",
            r"|(?:(?:[{first}{EXTENDED}\u30FB]|{within}){dotted}-*)?{script}{dotted}",
            r"|(?:{right}|{within})(?:{european}|{arabic}))"
        ),
        EXTENDED = EXTENDED,
        first = first,
        first_beyond = first_beyond,
        beyond = beyond,
        within = within,
        plain = plain,
        dotted = dotted,
        script = script,
        right = right,
        european = european,
        arabic = arabic,
    )
}

/// What stands in labels where RFC 5892 appendices A.1 to A.6 let it, with what must stand beside it.
fn within_context(mark: &str) -> String {
    let (greek, hebrew) = (class(r"\p{Greek}"), class(r"\p{Hebrew}"));
    let (joining, virama, mark) = (class(JOINING), class(VIRAMA), class(mark));
    format!(
        concat!(r"(?:l(?:\u00B7l)+|\u0375{}|{}[\u05F3\u05F4]+", r"|{}{}*\u200C|{}[\u200C\u200D])"),
        greek, hebrew, joining, mark, virama
    )
}

/// A class in the syntax of `regex-syntax`, which can subtract and intersect, as one of ECMA-262.
fn class(text: &str) -> String {
    format!("[{}]", inside(text))
}

fn inside(text: &str) -> String {
    let range = |(low, high)| format!(r"\u{{{low:X}}}-\u{{{high:X}}}");
    let class = characters(text);
    let ranges = class.iter().map(|range| (u32::from(range.start()), u32::from(range.end())));
    ranges.map(range).collect()
}

fn characters(text: &str) -> ClassUnicode {
    let hir = regex_syntax::parse(text);
    match hir.map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}
