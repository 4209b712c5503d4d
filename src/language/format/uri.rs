//! URIs (RFC 3986), IRIs (RFC 3987) and templates of URIs (RFC 6570).

use super::network::ipv6_with_gap;
use super::{Format, Texts, draft, row};

pub(super) static FORMATS: [Format; 6] = [
    draft("uri", "RFC 3986 section 3 URI", Texts::Made(|| absolute(&URI))),
    draft("uri-reference", "RFC 3986 section 4.1 URI-reference", Texts::Made(|| reference(&URI))),
    draft("iri", "RFC 3987 section 2.2 IRI", Texts::Made(|| absolute(&IRI))),
    draft("iri-reference", "RFC 3987 section 2.2 IRI-reference", Texts::Made(|| reference(&IRI))),
    draft("uri-template", "RFC 6570 section 2, erratum 6937", Texts::Made(template)),
    row("url", "RFC 3987 section 2.2 IRI; WHATWG URL, Zod 3", Texts::Made(|| absolute(&IRI))),
];

/// The characters that RFC 3987 adds to RFC 3986.
struct Added {
    /// `ucschar`.
    everywhere: &'static str,
    /// `iprivate`.
    in_query: &'static str,
}

const URI: Added = Added { everywhere: "", in_query: "" };
const IRI: Added = Added { everywhere: UCSCHAR, in_query: IPRIVATE };
const UCSCHAR: &str = concat!(
    r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}",
    r"\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}",
    r"\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}",
    r"\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}",
);
const IPRIVATE: &str = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

/// `unreserved` and `sub-delims`, as the inside of a class.
const PLAIN: &str = r"A-Za-z\d._~!$&'()*+,;=\-";
const ESCAPED: &str = r"%[\dA-Fa-f]{2}";

/// Zero or more characters that stand for themselves, or escaped ones.
fn any(added: &str, more: &str) -> String {
    format!("(?:[{PLAIN}{added}{more}]|{ESCAPED})*")
}

fn some(added: &str, more: &str) -> String {
    format!("(?:[{PLAIN}{added}{more}]|{ESCAPED})+")
}

/// `//` with what follows it up to the query.
fn authority(added: &Added) -> String {
    let user = any(added.everywhere, ":");
    let name = any(added.everywhere, "");
    let literal = format!(r"\[(?:{}|[Vv][\dA-Fa-f]+\.[{PLAIN}:]+)\]", ipv6_with_gap(7));
    let segment = any(added.everywhere, ":@");
    format!("//(?:{user}@)?(?:{literal}|{name})(?::\\d*)?(?:/{segment})*")
}

fn query_and_fragment(added: &Added) -> String {
    let query = any(&format!("{}{}", added.everywhere, added.in_query), ":@/?");
    format!(r"(?:\?{query})?(?:#{})?", any(added.everywhere, ":@/?"))
}

fn absolute(added: &Added) -> String {
    let (first, segment) = (some(added.everywhere, ":@"), any(added.everywhere, ":@"));
    format!(
        r"[A-Za-z][A-Za-z\d+.\-]*:(?:{}|/?(?:{first}(?:/{segment})*)?){}",
        authority(added),
        query_and_fragment(added)
    )
}

/// A reference without a scheme has no colon in its first segment, unless it begins with `/`.
fn reference(added: &Added) -> String {
    let segment = any(added.everywhere, ":@");
    let (first, plain) = (some(added.everywhere, ":@"), some(added.everywhere, "@"));
    format!(
        r"{}|(?:{}|/(?:{first}(?:/{segment})*)?|(?:{plain}(?:/{segment})*)?){}",
        absolute(added),
        authority(added),
        query_and_fragment(added)
    )
}

fn template() -> String {
    let literal = format!(r"[!#$&'-;=?-\[\]_a-z~{UCSCHAR}{IPRIVATE}]|{ESCAPED}");
    let name = format!(r"(?:\w|{ESCAPED})(?:\.?(?:\w|{ESCAPED}))*");
    let variable = format!(r"{name}(?::[1-9]\d{{0,3}}|\*)?");
    format!(r"(?:{literal}|\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}})*")
}
