//! Dates, times and durations: RFC 3339.

use super::{Factor, Format, PatternError, Texts, draft, leap};

pub(super) static FORMATS: [Format; 4] = [
    draft("date", "RFC 3339 full-date", Texts::Whole(DATE)),
    draft("time", "RFC 3339 full-time", Texts::Built(time)).with_wide(Texts::Made(wide_time)),
    draft("date-time", "RFC 3339 date-time", Texts::Built(date_time))
        .with_wide(Texts::Made(wide_date_time)),
    draft("duration", "RFC 3339 appendix A duration", Texts::Made(duration)),
];

/// Months of the right length; 29 February in years divisible by 4, but of those divisible by
/// 100 only in those divisible by 400.
const DATE: &str = concat!(
    r"\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)",
    r"|02-(?:0[1-9]|1\d|2[0-8]))",
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29",
);
const HOUR: &str = r"(?:[01]\d|2[0-3])";
const MINUTE: &str = r"[0-5]\d";
const FRACTION: &str = r"(?:\.\d+)?";

/// Every second but leap seconds.
fn second() -> String {
    format!("{HOUR}:{MINUTE}:{MINUTE}{FRACTION}(?:[Zz]|[+-]{HOUR}:{MINUTE})")
}

fn time() -> Result<Factor, PatternError> {
    leap::times(None)
}

/// Times, but the hour of a leap second may be any where the offset is a number. The exact language
/// has to remember each minute of the day up to the offset, this one each of the hour.
fn wide_time() -> String {
    let minute = |minute: u32| {
        let (plus, minus) = ((minute + 1) % 60, 59 - minute);
        format!(r"{HOUR}:{minute:02}:60{FRACTION}(?:\+{HOUR}:{plus:02}|-{HOUR}:{minus:02})")
    };
    format!("{}|23:59:60{FRACTION}[Zz]|{}", second(), list((0..60).map(minute)))
}

fn date_time() -> Result<Factor, PatternError> {
    leap::times(Some(&super::language(&[format!("(?:{DATE})[Tt]")])?))
}

fn wide_date_time() -> String {
    format!("(?:{DATE})[Tt](?:{})", wide_time())
}

fn list(alternatives: impl Iterator<Item = String>) -> String {
    alternatives.collect::<Vec<_>>().join("|")
}

/// Units stand in order and none is left out in between; weeks stand alone. The letters are ABNF
/// literals, and those have no case (RFC 5234 section 2.3).
fn duration() -> String {
    let second = r"\d+[Ss]";
    let minute = format!(r"\d+[Mm](?:{second})?");
    let hour = format!(r"\d+[Hh](?:{minute})?");
    let time = format!("[Tt](?:{hour}|{minute}|{second})");
    let day = r"\d+[Dd]";
    let month = format!(r"\d+[Mm](?:{day})?");
    let year = format!(r"\d+[Yy](?:{month})?");
    format!(r"[Pp](?:(?:{day}|{month}|{year})(?:{time})?|{time}|\d+[Ww])")
}
