//! Every row by texts that are and are not in it.

use super::*;
use crate::language::automaton::stepped;
use crate::language::explored::Explored;
use crate::language::stepped::Stepped;

fn language(name: &str) -> Arc<Language> {
    Format::lookup(name, Dialect::Draft202012).unwrap().alone(false).unwrap()
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
fn samples_are_judged_rightly() {
    for &(name, yes, no) in samples::SAMPLES {
        let language = language(name);
        yes.iter().for_each(|text| assert!(language.matches(text), "{name}: {text}"));
        no.iter().for_each(|text| assert!(!language.matches(text), "{name}: {text}"));
    }
    for format in formats() {
        assert!(samples::SAMPLES.iter().any(|(name, ..)| *name == format.name), "{}", format.name);
    }
}

#[test]
fn older_drafts_have_their_own() {
    let matches = |name, dialect, text| Format::lookup(name, dialect).unwrap().matches(text);
    assert!(matches("hostname", Dialect::Draft6, "xn--x"));
    assert!(!matches("hostname", Dialect::Draft7, "xn--x"));
    assert!(Format::lookup("hostname", Dialect::Draft6).unwrap().rest().is_none());
    assert!(!matches("relative-json-pointer", Dialect::Draft7, "0+1"));
    assert!(matches("relative-json-pointer", Dialect::Draft201909, "0+1"));
    assert!(Format::lookup("colour", Dialect::Draft202012).is_none());
}

#[test]
fn lengths_are_bounded() {
    let label = "a".repeat(63);
    let host = format!("{label}.{label}.{label}.{}", &label[2..]);
    assert_eq!(host.len(), 253);
    assert!(language("hostname").matches(&host));
    assert!(!language("hostname").matches(&format!("{host}a")));
    assert!(language("idn-hostname").matches(&host));
    assert!(!language("idn-hostname").matches(&format!("{host}a")));
    let mailbox = |local: usize, total: usize| {
        let local = "a".repeat(local);
        format!("{local}@{}", &host[host.len() + local.len() + 1 - total..])
    };
    assert!(language("email").matches(&mailbox(64, 254)));
    assert!(!language("email").matches(&mailbox(64, 255)));
    assert!(!language("email").matches(&mailbox(65, 100)));
    let quoted = |n: usize| format!("\"{}\\\"\"@b", "a".repeat(n));
    assert!(language("email").matches(&quoted(60)) && !language("email").matches(&quoted(61)));
}

#[test]
fn the_wide_host_holds_what_the_exact_one_does() {
    let format = Format::lookup("idn-hostname", Dialect::Draft202012).unwrap();
    let wide = format.factor().unwrap().wide().unwrap().clone();
    let (_, yes, no) = samples::SAMPLES.iter().find(|(name, ..)| *name == format.name).unwrap();
    yes.iter().for_each(|text| assert!(wide.matches(text), "{text}"));
    assert!(no.iter().filter(|text| !wide.matches(text)).count() >= 5);
}

/// The larger languages that stand in where the exact ones meet a limit.
#[test]
fn wide_languages_hold_their_rows() {
    for format in formats().filter(|format| format.wide.is_some() && !format.huge) {
        let factor = format.factor().unwrap();
        let compile = |factor: &Arc<Factor>| {
            let alphabet = Alphabet::shared(ByteSet::FULL, false);
            let limits = Limits::default();
            Language::compile(std::slice::from_ref(factor), &[], 0, Some(40), &alphabet, &limits)
        };
        let bounded = compile(&factor).unwrap();
        let wide = compile(factor.wide().unwrap()).unwrap();
        let day = if format.name == "time" { "" } else { "2016-12-31T" };
        for (text, exact) in [
            ("23:59:60Z", true),
            ("00:29:60.5+00:30", true),
            ("15:59:60-08:00", true),
            ("16:59:60-08:00", false),
        ] {
            let text = format!("{day}{text}");
            assert!(wide.matches(&text), "{text}");
            assert_eq!(format.matches(&text), exact, "{text}");
            assert_eq!(bounded.matches(&text), exact, "{text}");
        }
        assert!(!wide.matches(&format!("{day}22:59:60Z")));
        assert!(!wide.matches(&format!("{day}23:58:60+01:00")));
    }
}

#[test]
fn every_row_is_built() {
    for format in formats() {
        build(format.texts).unwrap_or_else(|error| panic!("{}: {error}", format.name));
        if let Some(wide) = format.wide {
            build(wide).unwrap_or_else(|error| panic!("{}: {error}", format.name));
        }
        assert!(!format.alone(false).unwrap().is_empty(), "{}", format.name);
        assert!(!format.source.is_empty());
    }
}

#[test]
fn automata_that_are_kept_are_small() {
    let limits = Limits { language_states: 1, ..Limits::default() };
    for format in formats().filter(|format| !format.huge) {
        let factor = format.factor().unwrap();
        if factor.table().is_some() {
            continue;
        }
        // What is kept is not under the limits of those who ask for it.
        let kept = stepped([factor].into_iter(), &limits).unwrap();
        assert!(matches!(kept[..], [Stepped::Followed(_)]), "{}", format.name);
        let explored = Explored::run(&kept, 20_000, |_, _| true);
        assert!(explored.is_ok(), "{}", format.name);
    }
}
