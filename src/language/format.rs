//! The formats of the JSON Schema drafts, one row each.

use super::factor::Factor;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};
use std::sync::{Arc, OnceLock};

/// A value of the keyword `format`.
#[derive(Debug)]
pub(crate) struct Format {
    /// The keyword's value.
    pub(crate) name: &'static str,
    /// Whether a draft of JSON Schema defines it.
    pub(crate) standard: bool,
    /// The document that says which strings it holds for.
    #[cfg_attr(not(test), expect(dead_code, reason = "provenance, for readers of the table"))]
    pub(crate) source: &'static str,
    /// How it is enforced.
    pub(crate) how: FormatHow,
}

/// How a format is enforced.
#[derive(Debug)]
pub(crate) enum FormatHow {
    /// By the language that this builds.
    Compiled(fn() -> Option<Arc<Factor>>),
    /// Not yet.
    NotYet,
}

/// Every format that is known, compiled or not.
pub(crate) static FORMATS: [Format; 19] = [
    Format { how: FormatHow::Compiled(date), ..row("date", "RFC 3339 full-date") },
    Format { how: FormatHow::Compiled(date_time), ..row("date-time", "RFC 3339 date-time") },
    row("time", "RFC 3339 full-time"),
    row("duration", "RFC 3339 appendix A"),
    row("email", "RFC 5321 Mailbox"),
    row("idn-email", "RFC 6531 Mailbox"),
    row("hostname", "RFC 1123 section 2.1"),
    row("idn-hostname", "RFC 5890 section 2.3.2.3"),
    row("ipv4", "RFC 2673 dotted-quad"),
    row("ipv6", "RFC 4291 section 2.2"),
    row("uri", "RFC 3986 URI"),
    row("uri-reference", "RFC 3986 URI-reference"),
    row("iri", "RFC 3987 IRI"),
    row("iri-reference", "RFC 3987 IRI-reference"),
    row("uri-template", "RFC 6570 URI-Template"),
    row("json-pointer", "RFC 6901 section 5"),
    row("relative-json-pointer", "Relative JSON Pointers"),
    row("uuid", "RFC 4122 UUID"),
    row("regex", "ECMA-262"),
];

const fn row(name: &'static str, source: &'static str) -> Format {
    Format { name, standard: true, source, how: FormatHow::NotYet }
}

impl Format {
    /// The format of this name.
    pub(crate) fn lookup(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Its language; `None` where it is not compiled yet.
    pub(crate) fn factor(&self) -> Option<Arc<Factor>> {
        match self.how {
            FormatHow::Compiled(build) => build(),
            FormatHow::NotYet => None,
        }
    }
}

/// Bytes of a format's NFA: far above what the rows take.
const FORMAT_BYTES: usize = 64 << 20;

fn whole(content: Hir) -> Option<Arc<Factor>> {
    let hir = Hir::concat(vec![Hir::look(Look::Start), content, Hir::look(Look::End)]);
    Factor::from_hir(&hir, FORMAT_BYTES).ok().map(Arc::new)
}

fn date() -> Option<Arc<Factor>> {
    static DATE: OnceLock<Option<Arc<Factor>>> = OnceLock::new();
    DATE.get_or_init(|| whole(full_date())).clone()
}

fn date_time() -> Option<Arc<Factor>> {
    static DATE_TIME: OnceLock<Option<Arc<Factor>>> = OnceLock::new();
    DATE_TIME
        .get_or_init(|| {
            let time = alternation([time_of_day(), leap_second()]);
            whole(concat([full_date(), one_of("Tt"), time]))
        })
        .clone()
}

fn literal(text: &str) -> Hir {
    Hir::literal(text.as_bytes())
}

fn concat<const N: usize>(items: [Hir; N]) -> Hir {
    Hir::concat(items.into())
}

fn alternation<const N: usize>(items: [Hir; N]) -> Hir {
    Hir::alternation(items.into())
}

/// One character of `chars`.
fn one_of(chars: &str) -> Hir {
    let ranges = chars.chars().map(|c| ClassUnicodeRange::new(c, c));
    Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
}

fn digit() -> Hir {
    one_of("0123456789")
}

/// One of some numbers of two digits.
fn two_digits(numbers: impl Iterator<Item = u32>) -> Hir {
    Hir::alternation(numbers.map(|n| literal(&format!("{n:02}"))).collect())
}

/// Months of the right length; 29 February in years divisible by 4, but of those divisible by
/// 100 only in those divisible by 400.
fn full_date() -> Hir {
    let days = |months: &[u32], last: u32| {
        concat([two_digits(months.iter().copied()), literal("-"), two_digits(1..=last)])
    };
    let any_year = concat([digit(), digit(), digit(), digit(), literal("-")]);
    let month_days =
        alternation([days(&[1, 3, 5, 7, 8, 10, 12], 31), days(&[4, 6, 9, 11], 30), days(&[2], 28)]);
    let fourth = |from: u32| (from..100).step_by(4);
    let leap_year = alternation([
        concat([digit(), digit(), two_digits(fourth(4))]),
        concat([two_digits(fourth(0)), literal("00")]),
    ]);
    alternation([concat([any_year, month_days]), concat([leap_year, literal("-02-29")])])
}

/// An optional fraction of a second.
fn fraction() -> Hir {
    let digits = Repetition { min: 1, max: None, greedy: true, sub: Box::new(digit()) };
    let point = concat([literal("."), Hir::repetition(digits)]);
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(point) })
}

fn time_of_day() -> Hir {
    let (hour, minute) = (|| two_digits(0..24), || two_digits(0..60));
    let offset = concat([one_of("+-"), hour(), literal(":"), minute()]);
    concat([
        hour(),
        literal(":"),
        minute(),
        literal(":"),
        two_digits(0..60),
        fraction(),
        alternation([one_of("Zz"), offset]),
    ])
}

/// `:60` where it is 23:59:60 in UTC: for each local minute the one offset of either sign.
fn leap_second() -> Hir {
    const DAY: u32 = 24 * 60;
    let text = |minutes: u32| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    let hours = (0..24).map(|hour| {
        let minutes = (0..60).map(|minute| {
            // local = 23:59 + offset, so the offset east of UTC is local + 1 minute.
            let east = (hour * 60 + minute + 1) % DAY;
            let west = (DAY - east) % DAY;
            let mut zones = vec![literal(&format!("+{}", text(east)))];
            zones.push(literal(&format!("-{}", text(west))));
            if east == 0 {
                zones.push(one_of("Zz"));
            }
            let second = literal(&format!("{minute:02}:60"));
            concat([second, fraction(), Hir::alternation(zones)])
        });
        concat([literal(&format!("{hour:02}:")), Hir::alternation(minutes.collect())])
    });
    Hir::alternation(hours.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Language};
    use crate::options::Limits;

    fn language(name: &str) -> Language {
        let factor = Format::lookup(name).unwrap().factor().unwrap();
        let alphabet = Arc::new(Alphabet::full(false));
        Language::compile(&[factor], &[], 0, None, &alphabet, &Limits::default()).unwrap()
    }

    #[test]
    fn every_day_of_some_years() {
        let date = language("date");
        for (year, leap) in [(1900, false), (2000, true), (2023, false), (2024, true)] {
            for month in 0..=13 {
                let last = match month {
                    2 => 28 + i32::from(leap),
                    4 | 6 | 9 | 11 => 30,
                    1..=12 => 31,
                    _ => 0,
                };
                for day in 0..=33 {
                    let text = format!("{year}-{month:02}-{day:02}");
                    assert_eq!(date.matches(&text), (1..=last).contains(&day), "{text}");
                }
            }
        }
        for text in ["2024-1-01", "24-01-01", "2024-01-01 ", "\n2024-01-01", "02024-01-01"] {
            assert!(!date.matches(text), "{text}");
        }
        assert!(date.matches("0000-02-29") && !date.matches("0100-02-29"));
    }

    #[test]
    fn date_times() {
        let date_time = language("date-time");
        let yes = [
            "2024-02-29T23:59:59Z",
            "2023-01-01t00:00:00.123456789z",
            "1990-12-31T23:59:60Z",
            "1990-12-31T15:59:60-08:00",
            "1990-12-31T15:59:60.5-08:00",
            "2016-12-31T23:59:60+00:00",
            "2017-01-01T00:29:60+00:30",
            "2017-01-01T01:28:60+01:29",
            "2024-01-01T00:00:00-00:00",
            "2016-12-31T23:59:60-00:00",
            "2016-12-31T00:00:60-23:59",
            "2017-01-01T23:58:60+23:59",
        ];
        let no = [
            "2023-02-29T00:00:00Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:61Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T23:59:60+01:00",
            "1990-12-31T15:59:60-08:01",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+24:00",
            "2024-01-01T00:00:00+0100",
            "2024-01-01",
            "2024-01-01T00:00Z",
        ];
        yes.iter().for_each(|text| assert!(date_time.matches(text), "{text}"));
        no.iter().for_each(|text| assert!(!date_time.matches(text), "{text}"));
    }

    #[test]
    fn leap_seconds_are_one_minute_of_utc() {
        let date_time = language("date-time");
        for local in (0..1440i32).step_by(37) {
            for offset in (0..1440i32).chain([1439]).step_by(7) {
                for (sign, east) in [('+', offset), ('-', -offset)] {
                    let text = format!(
                        "2016-12-31T{:02}:{:02}:60{sign}{:02}:{:02}",
                        local / 60,
                        local % 60,
                        offset / 60,
                        offset % 60
                    );
                    let utc = (local - east).rem_euclid(1440);
                    assert_eq!(date_time.matches(&text), utc == 1439, "{text}");
                }
            }
        }
    }

    #[test]
    fn the_rows() {
        assert!(Format::lookup("date").is_some_and(|f| f.standard));
        assert!(Format::lookup("uuid").is_some_and(|f| f.factor().is_none()));
        assert!(Format::lookup("colour").is_none());
        assert!(FORMATS.iter().all(|f| !f.source.is_empty()));
    }
}
