//! The times of a day with an offset (RFC 3339 `full-time`), leap seconds among them, as an automaton
//! that is written down state by state.
//!
//! A leap second is 23:59:60 in UTC, so for each local minute there is one offset of either sign: what
//! has to be remembered is that minute, from where it is known up to the offset. Nothing else is, and
//! what follows an hour's digits is shared: about 12,000 states, where the pattern that lists all
//! minutes has 29,000. Each of them reads every byte into one other state: no sets are needed.

use super::super::factor::Factor;
use super::super::{Language, PatternError};
use super::join;
use regex_automata::nfa::thompson::{Builder, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

/// Minutes of a day.
const DAY: usize = 24 * 60;

/// Times, after a text of `before` if there is one.
///
/// # Errors
/// Never in practice: it is far from all limits.
pub(super) fn times(before: Option<&Language>) -> Result<Factor, PatternError> {
    let mut writer = Writer { builder: Builder::new() };
    writer.builder.set_utf8(true);
    writer.builder.start_pattern()?;
    let matched = writer.builder.add_match()?;
    let end = writer.builder.add_look(matched, Look::End)?;
    let mut start = writer.time(end)?;
    if let Some(language) = before {
        start = join::write_part(&mut writer.builder, language, start)?;
    }
    let start = writer.builder.add_look(start, Look::Start)?;
    writer.builder.finish_pattern(start)?;
    Ok(Factor::from_nfa(writer.builder.build(start, start)?).with_table())
}

type Written = Result<StateID, PatternError>;

struct Writer {
    builder: Builder,
}

impl Writer {
    /// A state that reads one byte of some ranges.
    fn reads(&mut self, ranges: &[(u8, u8, StateID)]) -> Written {
        let transition = |&(start, end, next)| Transition { start, end, next };
        Ok(self.builder.add_sparse(ranges.iter().map(transition).collect())?)
    }

    fn byte(&mut self, byte: u8, next: StateID) -> Written {
        self.reads(&[(byte, byte, next)])
    }

    /// `HH:MM:SS`, a fraction or none, and the offset.
    fn time(&mut self, end: StateID) -> Written {
        let any = self.any_offset(end)?;
        let second = self.fraction([any, any], Some(end))?;
        let unit = self.reads(&[(b'0', b'9', second)])?;
        let offsets = self.offsets(end)?;
        let mut minutes = Vec::with_capacity(DAY);
        for minute in 0..DAY {
            // local = 23:59 + offset, so the offset east of UTC is local + 1 minute.
            let east = (minute + 1) % DAY;
            let signs = [offsets[east], offsets[(DAY - east) % DAY]];
            let leap = self.fraction(signs, (east == 0).then_some(end))?;
            let leap = self.byte(b'0', leap)?;
            let seconds = self.reads(&[(b'0', b'5', unit), (b'6', b'6', leap)])?;
            minutes.push(self.byte(b':', seconds)?);
        }
        self.hours(&minutes)
    }

    /// `HH:MM`, followed by what stands for each minute of the day.
    fn hours(&mut self, after: &[StateID]) -> Written {
        let mut tens: [Vec<StateID>; 3] = Default::default();
        for hour in 0..24 {
            let mut minutes = Vec::new();
            for ten in 0..6 {
                let from = hour * 60 + ten * 10;
                minutes.push(self.digits(b'0', &after[from..from + 10])?);
            }
            let minutes = self.digits(b'0', &minutes)?;
            tens[hour / 10].push(self.byte(b':', minutes)?);
        }
        let mut hours = Vec::new();
        for units in &tens {
            hours.push(self.digits(b'0', units)?);
        }
        self.digits(b'0', &hours)
    }

    /// A digit, the first of them `from`, each with what follows it.
    fn digits(&mut self, from: u8, after: &[StateID]) -> Written {
        let ranges: Vec<_> =
            (from..).zip(after).map(|(digit, &next)| (digit, digit, next)).collect();
        self.reads(&ranges)
    }

    /// What follows a second: a fraction or none, and `+` or `-` with what follows either, or `Z`.
    fn fraction(&mut self, [plus, minus]: [StateID; 2], zulu: Option<StateID>) -> Written {
        let mut signs = vec![(b'+', b'+', plus), (b'-', b'-', minus)];
        let letters = zulu.map(|end| [(b'Z', b'Z', end), (b'z', b'z', end)]);
        let letters = letters.into_iter().flatten();
        // It leads back to itself, so it stands for itself as an empty state until it is written.
        let more = self.builder.add_empty()?;
        let mut ranges = signs.clone();
        ranges.push((b'0', b'9', more));
        ranges.extend(letters.clone());
        let reads = self.reads(&ranges)?;
        self.builder.patch(more, reads)?;
        let first = self.reads(&[(b'0', b'9', more)])?;
        signs.push((b'.', b'.', first));
        signs.extend(letters);
        self.reads(&signs)
    }

    /// Any hour and minute.
    fn any_offset(&mut self, end: StateID) -> Written {
        let minutes = self.minutes_of_any(end)?;
        let unit = self.reads(&[(b'0', b'9', minutes)])?;
        let twenty = self.reads(&[(b'0', b'3', minutes)])?;
        self.reads(&[(b'0', b'1', unit), (b'2', b'2', twenty)])
    }

    fn minutes_of_any(&mut self, end: StateID) -> Written {
        let unit = self.reads(&[(b'0', b'9', end)])?;
        let ten = self.reads(&[(b'0', b'5', unit)])?;
        self.byte(b':', ten)
    }

    /// For each minute of the day the state that reads it; they share what they can.
    fn offsets(&mut self, end: StateID) -> Result<Vec<StateID>, PatternError> {
        let digit = |n: usize| b'0' + (n % 10) as u8;
        let mut units = Vec::new();
        for unit in 0..10 {
            units.push(self.byte(digit(unit), end)?);
        }
        // By the hour's last digit and the minute.
        let mut hours = Vec::new();
        let mut minutes = Vec::new();
        for minute in 0..60 {
            let ten = self.byte(digit(minute / 10), units[minute % 10])?;
            minutes.push(self.byte(b':', ten)?);
        }
        for hour in 0..10 {
            for &minute in &minutes {
                hours.push(self.byte(digit(hour), minute)?);
            }
        }
        let offset = |of: usize| (digit(of / 600), hours[of / 60 % 10 * 60 + of % 60]);
        (0..DAY).map(offset).map(|(ten, next)| self.byte(ten, next)).collect()
    }
}
