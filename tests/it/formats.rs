//! Texts that masks make of each format, judged by others: the parsers of `std`, the `jsonschema`
//! crate, patterns from elsewhere.

use crate::support::amount;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, Ipv6Addr};
use tokenmask::sample::Sampler;
use tokenmask::{Grammar, Options, Route, Vocabulary};

type Judge = Box<dyn Fn(&str) -> bool>;

/// The opinion of the `jsonschema` crate.
fn by_crate(format: &'static str) -> Judge {
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&json!({ "format": format })).unwrap();
    Box::new(move |text| validator.is_valid(&Value::from(text)))
}

/// A length, and what every character is.
fn by_characters(lengths: std::ops::RangeInclusive<usize>, is: fn(char) -> bool) -> Judge {
    Box::new(move |text| lengths.contains(&text.len()) && text.chars().all(is))
}

fn cidr<T: std::str::FromStr>(most: u8) -> Judge {
    Box::new(move |text| {
        let Some((address, bits)) = text.split_once('/') else { return false };
        address.parse::<T>().is_ok() && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    })
}

/// Formats that masks enforce exactly, each with another judge.
fn judges() -> Vec<(&'static str, Judge)> {
    let mut judges: Vec<(&'static str, Judge)> = vec![
        ("ipv4", Box::new(|text| text.parse::<Ipv4Addr>().is_ok())),
        ("ipv6", Box::new(|text| text.parse::<Ipv6Addr>().is_ok())),
        ("cidrv4", cidr::<Ipv4Addr>(32)),
        ("cidrv6", cidr::<Ipv6Addr>(128)),
        // The letters of a duration have no case; the crate knows upper case only.
        ("duration", {
            let judge = by_crate("duration");
            Box::new(move |text| judge(&text.to_ascii_uppercase()))
        }),
        ("nanoid", by_characters(21..=21, |c| c.is_ascii_alphanumeric() || "_-".contains(c))),
        ("ulid", by_characters(26..=26, |c| c.is_ascii_alphanumeric() && !"ILOUilou".contains(c))),
        ("ksuid", by_characters(27..=27, |c| c.is_ascii_alphanumeric())),
        ("e164", by_characters(8..=16, |c| c.is_ascii_digit() || c == '+')),
        ("sha256_hex", by_characters(64..=64, |c| c.is_ascii_hexdigit())),
        (
            "base64",
            Box::new(|text| text.len() % 4 == 0 && !text.trim_end_matches('=').contains('=')),
        ),
    ];
    let standard = [
        "date",
        "time",
        "date-time",
        "email",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "json-pointer",
        "uuid",
    ];
    judges.extend(standard.map(|name| (name, by_crate(name))));
    judges
}

#[test]
fn what_masks_make_others_accept() {
    let vocabulary = Vocabulary::bytes();
    for (format, judge) in judges() {
        let schema = json!({ "type": "string", "format": format }).to_string();
        let grammar = Grammar::compile(&schema, &Options::default()).unwrap();
        assert_eq!(grammar.report().route_of("#/format"), Some(Route::Mask), "{format}");
        let engine = grammar.bind(&vocabulary).unwrap();
        let mut sampler = Sampler::new(7);
        for turn in 0..amount(200, 2_000) {
            let sample = match turn % 2 {
                0 => sampler.generate(&engine, 400).unwrap(),
                _ => sampler.wild(&engine).unwrap(),
            };
            assert!(!sample.dead_end, "{format}: {}", sample.text);
            let text: String = serde_json::from_str(&sample.text).unwrap();
            assert!(judge(&text), "{format}: {text:?}");
        }
    }
}
