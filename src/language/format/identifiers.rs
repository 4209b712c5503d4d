//! Identifiers, tokens and digests.

use super::{Format, Texts, draft, row};

/// A UUID whose version is in a class.
macro_rules! uuid {
    ($version:literal) => {
        Texts::Whole(concat!(
            r"[\dA-Fa-f]{8}-[\dA-Fa-f]{4}-",
            $version,
            r"[\dA-Fa-f]{3}-[89ABab][\dA-Fa-f]{3}-[\dA-Fa-f]{12}"
        ))
    };
}

pub(super) static FORMATS: [Format; 32] = [
    draft("uuid", "RFC 4122 section 3, RFC 9562 section 4", Texts::Whole(UUID)),
    row("guid", "Zod 4", Texts::Whole(UUID)),
    row("uuidv1", RFC_9562, uuid!("1")),
    row("uuidv2", RFC_9562, uuid!("2")),
    row("uuidv3", RFC_9562, uuid!("3")),
    row("uuidv4", RFC_9562, uuid!("4")),
    row("uuidv5", RFC_9562, uuid!("5")),
    row("uuidv6", RFC_9562, uuid!("6")),
    row("uuidv7", RFC_9562, uuid!("7")),
    row("uuidv8", RFC_9562, uuid!("8")),
    row("nanoid", "Zod 4", Texts::Whole(r"[\w\-]{21}")),
    row("cuid", "Zod 4", Texts::Whole(r"[Cc][\da-z]{6,}")),
    row("cuid2", "Zod 4", Texts::Whole(r"[\da-z]+")),
    row("ulid", "ULID specification, Zod 4", Texts::Whole(ULID)),
    row("xid", "rs/xid, Zod 4", Texts::Whole(r"[\da-vA-V]{20}")),
    row("ksuid", "segmentio/ksuid, Zod 4", Texts::Whole(r"[\dA-Za-z]{27}")),
    row("jwt", "RFC 7519 section 3, Zod 4", Texts::Whole(r"[\w\-]+\.[\w\-]*\.[\w\-]*"))
        .with_rest("that its header is a JSON object which names an algorithm"),
    row("md5_hex", HASH, Texts::Whole(r"[\dA-Fa-f]{32}")),
    row("md5_base64", HASH, Texts::Whole(r"[A-Za-z\d+/]{22}==")),
    row("md5_base64url", HASH, Texts::Whole(r"[\w\-]{22}")),
    row("sha1_hex", HASH, Texts::Whole(r"[\dA-Fa-f]{40}")),
    row("sha1_base64", HASH, Texts::Whole(r"[A-Za-z\d+/]{27}=")),
    row("sha1_base64url", HASH, Texts::Whole(r"[\w\-]{27}")),
    row("sha256_hex", HASH, Texts::Whole(r"[\dA-Fa-f]{64}")),
    row("sha256_base64", HASH, Texts::Whole(r"[A-Za-z\d+/]{43}=")),
    row("sha256_base64url", HASH, Texts::Whole(r"[\w\-]{43}")),
    row("sha384_hex", HASH, Texts::Whole(r"[\dA-Fa-f]{96}")),
    row("sha384_base64", HASH, Texts::Whole(r"[A-Za-z\d+/]{64}")),
    row("sha384_base64url", HASH, Texts::Whole(r"[\w\-]{64}")),
    row("sha512_hex", HASH, Texts::Whole(r"[\dA-Fa-f]{128}")),
    row("sha512_base64", HASH, Texts::Whole(r"[A-Za-z\d+/]{86}==")),
    row("sha512_base64url", HASH, Texts::Whole(r"[\w\-]{86}")),
];

const RFC_9562: &str = "RFC 9562 section 5, Zod 4";
const HASH: &str = "Zod 4 `z.hash`";
const UUID: &str = r"[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}";
/// 128 bits in 26 digits of five: the first is 7 at most.
const ULID: &str = "[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}";
