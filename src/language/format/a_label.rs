//! Host names whose A-labels can be those of U-labels, as far as a small automaton can tell.
//!
//! An A-label is `xn--`, the ASCII characters of the U-label and a hyphen (neither where there are
//! none), and numbers that say which other characters stand where (RFC 3492). The first number says
//! the least of them, and its place among the `n` ASCII ones: the code point less 128, times `n + 1`,
//! and the place; in digits whose thresholds are fixed (1, 1, then 26), the lowest first. For no ASCII
//! character, and for one, the automaton knows so which character it is: it must be one that U-labels
//! have, and where nothing follows it must be a label with what is there. More ASCII would take as many
//! states again for each length, and later numbers depend on all before: neither is followed.

use super::super::factor::Factor;
use super::super::{Language, PatternError};
use super::{idn, join, language, network};
use regex_automata::nfa::thompson::{Builder, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::ClassUnicode;
use rustc_hash::FxHashMap;

/// Characters of a label behind `xn--`.
const MOST: usize = 59;
/// The first character that a number can stand for.
const FIRST: usize = 128;
/// What a digit of the first number counts: the first, the second, the third.
const WEIGHTS: [usize; 3] = [1, 35, 35 * 35];
/// Digits from here on are not the last ones, behind the second.
const THRESHOLD: usize = 26;
const DIGITS: usize = 36;

/// What may follow a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Then {
    Nothing,
    /// Another number.
    More,
    /// Another number, or the end of the label.
    Any,
}

/// Names of labels that begin with `xn--` and can be A-labels, and of others.
///
/// # Errors
/// Never in practice: it is far from all limits.
pub(super) fn host() -> Result<Factor, PatternError> {
    let plain = language(&[network::plain_label()])?;
    let most = format!("[^]{{1,{MOST}}}");
    let with_ascii = language(&[network::WITH_ASCII.into(), most, "[^]{2,}-[^-]*".into()])?;
    let mut builder = Builder::new();
    builder.set_utf8(true);
    builder.start_pattern()?;
    let matched = builder.add_match()?;
    let end = builder.add_look(matched, Look::End)?;
    let label = builder.add_empty()?;
    let dot = read(&mut builder, &[(b'.', label)])?;
    let after = builder.add_union(vec![end, dot])?;
    let plain = join::write_part(&mut builder, &plain, after)?;
    let (rests, known) = (Vec::new(), FxHashMap::default());
    let mut writer = Writer { builder, after, rests, known };
    let encoded = writer.a_label(&with_ascii)?;
    let mut builder = writer.builder;
    let either = builder.add_union(vec![plain, encoded])?;
    builder.patch(label, either)?;
    let start = builder.add_look(label, Look::Start)?;
    builder.finish_pattern(start)?;
    Ok(Factor::from_nfa(builder.build(start, start)?))
}

type Written = Result<StateID, PatternError>;

struct Writer {
    builder: Builder,
    /// What follows a label.
    after: StateID,
    /// By how many characters there may be: numbers, at least one.
    rests: Vec<StateID>,
    /// States by the characters read and what each number that may follow says.
    known: FxHashMap<(usize, Vec<Then>), StateID>,
}

impl Writer {
    /// `xn--` and what can follow it; `with_ascii`: more than one ASCII character.
    fn a_label(&mut self, with_ascii: &Language) -> Written {
        self.write_rests()?;
        let with_ascii = join::write_part(&mut self.builder, with_ascii, self.after)?;
        let first = self.first_number(0)?;
        let beside_one = self.first_number(1)?;
        let hyphen = read(&mut self.builder, &[(b'-', beside_one)])?;
        let ascii = (0..=u8::MAX).filter(|&byte| byte == b'-' || byte.is_ascii_alphanumeric());
        let one: Vec<(u8, StateID)> = ascii.map(|byte| (byte, hyphen)).collect();
        let one = read(&mut self.builder, &one)?;
        let mut next = self.builder.add_union(vec![with_ascii, first, one])?;
        for byte in [b"--", b"--", b"Nn", b"Xx"] {
            next = read(&mut self.builder, &[(byte[0], next), (byte[1], next)])?;
        }
        Ok(next)
    }

    /// The last digit of each number is below its threshold, and so a letter.
    fn write_rests(&mut self) -> Result<(), PatternError> {
        let mut rest = self.builder.add_fail()?;
        self.rests.push(rest);
        for _ in 0..MOST {
            let ended = self.builder.add_union(vec![self.after, rest])?;
            let letter = |digit| Some(if digit < 26 { ended } else { rest });
            rest = self.digits(letter)?;
            self.rests.push(rest);
        }
        Ok(())
    }

    /// The first number behind so many ASCII characters.
    fn first_number(&mut self, ascii: usize) -> Written {
        let (numbers, hyphen) = (first_numbers(ascii), ascii.min(1));
        let mut first = Vec::new();
        for low in 0..DIGITS {
            let mut second = Vec::new();
            for high in 0..DIGITS {
                let from = low + high * WEIGHTS[1];
                let then = numbers.iter().skip(from).step_by(WEIGHTS[2]).copied();
                let then: Vec<Then> = then.collect();
                // A zero is the last digit: what it ends is no character of a label.
                second.push(match low * high {
                    0 => None,
                    _ => self.number(ascii + hyphen + 2, then)?,
                });
            }
            let state = self.digits(|digit| second[digit])?;
            first.push((low > 0).then_some(state));
        }
        self.digits(|digit| first[digit])
    }

    /// A number behind `read` characters of the label, by what may follow it, if it is one of some; `then` ends with
    /// the last that may. A digit counts 1, the next one as much as ten of it.
    fn number(
        &mut self,
        read: usize,
        mut then: Vec<Then>,
    ) -> Result<Option<StateID>, PatternError> {
        while then.last() == Some(&Then::Nothing) {
            then.pop();
        }
        if then.is_empty() {
            return Ok(None);
        }
        let key = (read, then);
        if let Some(&state) = self.known.get(&key) {
            return Ok(Some(state));
        }
        let mut after = Vec::new();
        for digit in 0..DIGITS {
            let value = key.1.get(digit).copied().unwrap_or(Then::Nothing);
            after.push(if digit < THRESHOLD {
                self.end(read + 1, value)?
            } else {
                let more = key.1.iter().skip(digit).step_by(DIGITS - THRESHOLD).copied();
                let more: Vec<Then> = more.collect();
                self.number(read + 1, more)?
            });
        }
        let state = self.digits(|digit| after[digit])?;
        self.known.insert(key, state);
        Ok(Some(state))
    }

    /// The end of a number behind `read` characters.
    fn end(&mut self, read: usize, then: Then) -> Result<Option<StateID>, PatternError> {
        let rest = MOST.checked_sub(read).and_then(|left| self.rests.get(left)).copied();
        Ok(match then {
            Then::Nothing => None,
            Then::More => rest,
            Then::Any => {
                let ways = rest.into_iter().chain([self.after]).collect();
                Some(self.builder.add_union(ways)?)
            }
        })
    }

    /// A digit, letters in either case, and what follows each.
    fn digits(&mut self, after: impl Fn(usize) -> Option<StateID>) -> Written {
        let figures = (26..DIGITS).map(|digit| (b'0' + (digit - 26) as u8, after(digit)));
        let letters = |from: u8| (from..).zip(0..26);
        let letters = letters(b'A').chain(letters(b'a')).map(|(byte, digit)| (byte, after(digit)));
        let reads: Vec<(u8, StateID)> =
            figures.chain(letters).filter_map(|(byte, next)| Some((byte, next?))).collect();
        read(&mut self.builder, &reads)
    }
}

/// What may follow the first number behind so many ASCII characters, by the number.
fn first_numbers(ascii: usize) -> Vec<Then> {
    let places = ascii + 1;
    let mut numbers = vec![Then::Nothing; (0x11_0000 - FIRST) * places];
    let mut mark = |class: &ClassUnicode, place: usize, then| {
        for range in class.iter() {
            for code in u32::from(range.start())..=u32::from(range.end()) {
                numbers[(code as usize - FIRST) * places + place] = then;
            }
        }
    };
    let (all, alone, behind) = (idn::beyond_ascii(), idn::alone(), idn::behind_ascii());
    for place in 0..places {
        mark(&all, place, Then::More);
        mark(if place == 0 { &alone } else { &behind }, place, Then::Any);
    }
    numbers
}

/// A state that reads a byte, each with what follows it; they stand in ascending order.
fn read(builder: &mut Builder, reads: &[(u8, StateID)]) -> Written {
    let mut transitions: Vec<Transition> = Vec::new();
    for &(byte, next) in reads {
        join::extend(&mut transitions, byte, next);
    }
    Ok(builder.add_sparse(transitions)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Format;
    use crate::options::Dialect;

    /// The code of one number, after RFC 3492 section 6.3.
    fn encode(mut value: usize) -> String {
        let mut digits = String::new();
        for threshold in [1, 1].into_iter().chain(std::iter::repeat(THRESHOLD)) {
            let (digit, is_last) = match value < threshold {
                true => (value, true),
                false => (threshold + (value - threshold) % (DIGITS - threshold), false),
            };
            digits.push(char::from_digit((digit as u32 + 10) % 36, 36).unwrap());
            if is_last {
                break;
            }
            value = (value - threshold) / (DIGITS - threshold);
        }
        digits
    }

    #[test]
    fn the_least_character_is_known() {
        let host = Format::lookup("hostname", Dialect::Draft202012).unwrap();
        let idn = Format::lookup("idn-hostname", Dialect::Draft202012).unwrap();
        assert_eq!(encode('é' as usize - FIRST), "9ca");
        assert_eq!(encode('・' as usize - FIRST), "vek");
        for code in (0xA0..0x3200).chain((0x3200..0x11_0000).step_by(97)) {
            let Some(c) = char::from_u32(code) else { continue };
            let label = format!("xn--{}", encode(code as usize - FIRST));
            let alone = host.matches(&label);
            assert_eq!(alone, idn.matches(&c.to_string()), "{c:?} {label}");
            assert!(!alone || host.matches(&label.to_uppercase()), "{c:?}");
            // Another, larger one behind it.
            let more = host.matches(&format!("{label}1a"));
            assert!(more || !alone, "{c:?}");
        }
    }

    #[test]
    fn the_least_character_beside_one_is_known() {
        let host = Format::lookup("hostname", Dialect::Draft202012).unwrap();
        let idn = Format::lookup("idn-hostname", Dialect::Draft202012).unwrap();
        let label =
            |c: char, place: usize| format!("xn--l-{}", encode((c as usize - FIRST) * 2 + place));
        assert_eq!((label('·', 0), label('·', 1)), ("xn--l-fda".into(), "xn--l-gda".into()));
        for code in (0xA0..0x3200).chain((0x3200..0x11_0000).step_by(97)) {
            let Some(c) = char::from_u32(code) else { continue };
            for (place, text) in [format!("{c}l"), format!("l{c}")].into_iter().enumerate() {
                let encoded = label(c, place);
                assert!(!idn.matches(&text) || host.matches(&encoded), "{text} {encoded}");
                let more = host.matches(&format!("{encoded}1a"));
                assert!(more || !host.matches(&encoded), "{text} {encoded}");
            }
        }
        // A mark first, dots that want others beside them, a letter that is no character of labels.
        let refused = ['\u{300}', '·', '・', '׳', 'Ω'].map(|c| host.matches(&label(c, 0)));
        assert_eq!(refused, [false; 5]);
        let refused = ['·', '・', '׳', '\u{200D}', 'Ω'].map(|c| host.matches(&label(c, 1)));
        assert_eq!(refused, [false; 5]);
        let taken = [label('\u{300}', 1), label('é', 0), label('é', 1), label('א', 0)];
        assert_eq!(taken.map(|label| host.matches(&label)), [true; 4]);
    }

    #[test]
    fn labels_end() {
        let matches =
            |text: &str| Format::lookup("hostname", Dialect::Draft202012).unwrap().matches(text);
        let label = |n: usize| format!("xn--9ca{}", "a".repeat(n));
        assert!(matches(&label(56)) && !matches(&label(57)));
        assert!(matches(&format!("{}.a", label(56))) && matches("a.xn--9ca.xn--9ca"));
        let ascii = |n: usize| format!("xn--{}-9ca", "a".repeat(n));
        assert!(matches(&ascii(55)) && !matches(&ascii(56)));
        assert!(!matches("xn--9ca1") && !matches("xn--vek") && matches("xn--vek1a"));
    }
}
