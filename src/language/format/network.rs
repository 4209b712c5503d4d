//! Hosts, addresses and mailboxes.

use super::{Format, Texts, a_label, draft, row};
use crate::options::Dialect;

const PUNYCODE: &str = "what a label that begins with `xn--` decodes to (RFC 5891 section 4.4)";

pub(super) static FORMATS: [Format; 14] = [
    draft("hostname", "RFC 1034 section 3.1, RFC 1123 section 2.1", Texts::Made(ascii_host))
        .with_until(Dialect::Draft6)
        .with_max(HOST),
    draft(
        "hostname",
        "RFC 1123 section 2.1, RFC 5890 section 2.3.2.1",
        Texts::Built(a_label::host),
    )
    .with_wide_beside_others(Texts::Parts(host))
    .with_max(HOST)
    .with_rest(PUNYCODE),
    row("host-name", "draft 3", Texts::Made(ascii_host)).with_max(HOST),
    draft("ipv4", "RFC 2673 section 3.2 dotted-quad", Texts::Whole(IPV4)),
    row("ip-address", "draft 3", Texts::Whole(IPV4)),
    draft("ipv6", "RFC 4291 section 2.2", Texts::Made(ipv6)),
    row("cidrv4", "RFC 4632 section 3.1, Zod 4", Texts::Made(cidr_v4)),
    row("cidrv6", "RFC 4291 section 2.3, Zod 4", Texts::Made(cidr_v6)),
    row("mac", "IEEE 802 EUI-48, Zod 4", Texts::Whole(MAC)),
    row("e164", "ITU-T E.164, Zod 4", Texts::Whole(r"\+[1-9]\d{6,14}")),
    draft("email", "RFC 5321 section 4.1.2 Mailbox", Texts::Parts(email)).with_max(MAILBOX),
    draft("idn-email", "RFC 6531 section 3.3 Mailbox", Texts::Parts(idn_email)).with_max(MAILBOX),
    // One more name each that wild schemas use.
    row("cidr", "RFC 4632 section 3.1, RFC 4291 section 2.3", Texts::Made(cidr)),
    row("ip", "RFC 2673 section 3.2, RFC 4291 section 2.2", Texts::Made(ip)),
];

/// RFC 1035 section 2.3.4: 255 octets on the wire, two of which are no part of the text.
pub(super) const HOST: u64 = 253;
/// RFC 5321 section 4.5.3.1.3: a path has 256 octets, two of which are its angle brackets.
const MAILBOX: u64 = 254;

pub(super) const IPV4: &str = concat!(
    r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)",
    r"(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}"
);
/// RFC 1123 section 2.1, RFC 1035 section 2.3.4.
const LABEL: &str = r"[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?";
const MAC: &str = concat!(
    r"[\dA-Fa-f]{2}(?:(?::[\dA-Fa-f]{2}){5}|(?:-[\dA-Fa-f]{2}){5}|(?:\.[\dA-Fa-f]{2}){5}",
    r"|[\dA-Fa-f]{10})"
);

fn ascii_host() -> String {
    format!(r"{LABEL}(?:\.{LABEL})*")
}

/// What can be a label that begins with `xn--`, its length aside: RFC 3492, as far as it is regular.
/// Behind the characters that stand for themselves comes at least one number, and the thresholds
/// of the first are known: 1, 1, and then 26. Less than three digits make a character below U+00B7,
/// which no host name has. The last digit of each number is below its threshold, and so a letter.
pub(super) const A_LABEL: &str =
    concat!(r"[Xx][Nn]--(?:[A-Za-z\d-]+-)?", r"[B-Zb-z\d]{2}\d*[A-Za-z](?:[A-Za-z\d]*[A-Za-z])?");
/// The same behind `xn--`, where some characters stand for themselves.
pub(super) const WITH_ASCII: &str =
    concat!(r"[A-Za-z\d-]+-", r"[B-Zb-z\d]{2}\d*[A-Za-z](?:[A-Za-z\d]*[A-Za-z])?");
/// The beginnings of labels that do not begin with `xn--`, and how many characters may follow.
const NO_PREFIX: [(&str, usize); 6] = [
    (r"[A-WYZa-wyz\d]", 62),
    (r"[Xx]", 0),
    (r"[Xx][A-MO-Za-mo-z\d]", 61),
    (r"[Xx][Nn]", 0),
    (r"[Xx][Nn][A-Za-z\d]", 60),
    (r"[Xx][Nn]-[A-Za-z\d]", 59),
];

/// A label of letters, digits and hyphens that does not begin with `xn--`.
pub(super) fn plain_label() -> String {
    let label = |(begin, more): (&str, usize)| match more {
        0 => begin.to_owned(),
        _ => format!(r"{begin}(?:[A-Za-z\d-]{{0,{}}}[A-Za-z\d])?", more - 1),
    };
    // A hyphen in second place is no end.
    let hyphen = r"[Xx]-[A-Za-z\d-]{0,60}[A-Za-z\d]";
    format!("(?:{}|{hyphen})", NO_PREFIX.map(label).join("|"))
}

/// Labels of which those that begin with `xn--` can be A-labels.
fn host() -> Vec<Vec<String>> {
    let label = format!("(?:{}|{A_LABEL})", plain_label());
    vec![vec![format!(r"{label}(?:\.{label})*"), r"[^.]{1,63}(?:\.[^.]{1,63})*".into()]]
}

fn ipv6() -> String {
    ipv6_with_gap(7)
}

/// Eight groups, of which the last two may be written as an IPv4 address; `::` stands for some, and
/// `most` may stand beside it.
pub(super) fn ipv6_with_gap(most: usize) -> String {
    const GROUP: &str = r"[\dA-Fa-f]{1,4}";
    let right = |n: usize| match n {
        0 => String::new(),
        1 => format!("(?:{GROUP})?"),
        _ => format!("(?:{GROUP}(?::{GROUP}){{0,{}}}|(?:{GROUP}:){{0,{}}}{IPV4})?", n - 1, n - 2),
    };
    let gap = |left: usize| match left {
        0 => format!("::{}", right(most)),
        _ => format!("{GROUP}(?::{GROUP}){{{}}}::{}", left - 1, right(most - left)),
    };
    let gaps: Vec<String> = (0..=most).map(gap).collect();
    format!("(?:(?:{GROUP}:){{6}}(?:{GROUP}:{GROUP}|{IPV4})|{})", gaps.join("|"))
}

fn cidr_v4() -> String {
    format!(r"{IPV4}/(?:3[0-2]|[12]?\d)")
}

fn cidr_v6() -> String {
    format!(r"{}/(?:12[0-8]|1[01]\d|[1-9]?\d)", ipv6())
}

fn cidr() -> String {
    format!("{}|{}", cidr_v4(), cidr_v6())
}

fn ip() -> String {
    format!("{IPV4}|{}", ipv6())
}

fn email() -> Vec<Vec<String>> {
    mailbox("")
}

fn idn_email() -> Vec<Vec<String>> {
    mailbox(r"\u{80}-\u{10FFFF}")
}

/// RFC 5321 section 4.1.2 with `more` characters (RFC 6531 section 3.3), of which at most 64 stand
/// before the `@` (section 4.5.3.1.1). `IPv6` is the one tag of an address literal that is registered,
/// and its `::` stands for two groups at least (section 4.1.3).
fn mailbox(more: &str) -> Vec<Vec<String>> {
    let atom = format!(r"[A-Za-z\d!#$%&'*+/=?^_`{{|}}~{more}-]+");
    let quoted = format!(r#""(?:[ !#-\[\]-~{more}]|\\[ -~])*""#);
    let local = format!(r"(?:{atom}(?:\.{atom})*|{quoted})@");
    let label = format!(r"[A-Za-z\d{more}](?:[A-Za-z\d{more}-]{{0,61}}[A-Za-z\d{more}])?");
    let literal = format!(r"\[(?:{IPV4}|[Ii][Pp][Vv]6:{})\]", ipv6_with_gap(6));
    vec![vec![local, "[^]{2,65}".into()], vec![format!(r"{label}(?:\.{label})*|{literal}")]]
}
