//! Patterns and formats as dense automata: a naive translation of ECMA-262 to regex syntax.

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind};
use std::sync::{Arc, OnceLock};

const SPACE: &str = r"\t\n\x0B\x0C\r\x20\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
/// Bytes that one automaton may take.
const SIZE_LIMIT: usize = 1 << 28;
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// A deterministic automaton over decoded UTF-8.
#[derive(Clone)]
pub struct Machine {
    dfa: Arc<DFA<Vec<u32>>>,
    /// It accepts what the automaton does not.
    negated: bool,
}

impl Machine {
    /// The strings in which the ECMA-262 `pattern` is found.
    pub fn pattern(pattern: &str) -> Result<Machine, String> {
        let translated = Translator { chars: pattern.chars().collect(), at: 0 }.translate()?;
        Machine::whole(&format!("(?s:.)*(?:{translated})(?s:.)*"))
    }

    /// The machines that a string of `format` satisfies together, where it is a format that constrains.
    pub fn format(format: &str) -> Option<Vec<Machine>> {
        static DATE: OnceLock<Vec<Machine>> = OnceLock::new();
        static DATE_TIME: OnceLock<Vec<Machine>> = OnceLock::new();
        let build = |regexes: Vec<String>| {
            let machine =
                |regex: &String| Machine::whole(regex).expect("the regex of a format is valid");
            regexes.iter().map(machine).collect()
        };
        match format {
            "date" => Some(DATE.get_or_init(|| build(vec![date()])).clone()),
            "date-time" => Some(DATE_TIME.get_or_init(|| build(date_time())).clone()),
            _ => None,
        }
    }

    /// The strings that `regex` matches as a whole.
    fn whole(regex: &str) -> Result<Machine, String> {
        let config = Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(SIZE_LIMIT))
            .determinize_size_limit(Some(SIZE_LIMIT));
        let dfa = Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().unicode(true).utf8(true))
            .build(regex)
            .map_err(|e| format!("pattern: {e}"))?;
        Ok(Machine { dfa: Arc::new(dfa), negated: false })
    }

    /// The machine of all other strings.
    pub fn negated(&self) -> Machine {
        Machine { negated: !self.negated, ..self.clone() }
    }

    pub fn start(&self) -> StateID {
        let config = start::Config::new().anchored(Anchored::Yes);
        self.dfa.start_state(&config).expect("an anchored start exists")
    }

    /// The next state; `None` where nothing can match any more.
    pub fn step(&self, state: StateID, byte: u8) -> Option<StateID> {
        let next = self.dfa.next_state(state, byte);
        let dead = self.dfa.is_dead_state(next) && !self.negated;
        (!dead && !self.dfa.is_quit_state(next)).then_some(next)
    }

    pub fn accepts(&self, state: StateID) -> bool {
        self.dfa.is_match_state(self.dfa.next_eoi_state(state)) != self.negated
    }
}

/// RFC 3339 full-date, with the lengths of months and leap years.
fn date() -> String {
    let long = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])";
    let short = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)";
    let february = "02-(?:0[1-9]|1[0-9]|2[0-8])";
    let leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";
    format!("(?:[0-9]{{4}}-(?:{long}|{short}|{february})|{leap})")
}

/// RFC 3339 date-time; second 60 only where it is 23:59 in UTC: the first regex is the form, the others
/// relate the minutes and the hours of a leap second to those of the offset.
fn date_time() -> Vec<String> {
    let fraction = r"(?:\.[0-9]+)?";
    let hour_minute = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
    let form = format!(
        "{}[Tt]{hour_minute}:(?:[0-5][0-9]|60){fraction}(?:[Zz]|[+-]{hour_minute})",
        date()
    );
    let any = "[0-9]{2}";
    let plain = format!("{any}:{any}:[0-5][0-9][0-9Zz.:+-]*");
    let (mut minutes, mut hours) = (vec![plain.clone()], vec![plain]);
    for minute in 0..60 {
        let utc = if minute == 59 { "[Zz]|" } else { "" };
        let (ahead, behind) = ((minute + 1) % 60, 59 - minute);
        let zone = format!(r"(?:{utc}\+{any}:{ahead:02}|-{any}:{behind:02})");
        minutes.push(format!("{any}:{minute:02}:60{fraction}{zone}"));
    }
    for hour in 0..24 {
        let utc = if hour == 23 { "[Zz]|" } else { "" };
        // Ahead of UTC, the local hour is the offset's; one less in minute 59, whose offset is :00.
        for (minute, ahead) in [("59", (hour + 1) % 24), ("(?:[0-4][0-9]|5[0-8])", hour)] {
            let zone = format!(r"(?:{utc}\+{ahead:02}:{any}|-{:02}:{any})", 23 - hour);
            hours.push(format!("{hour:02}:{minute}:60{fraction}{zone}"));
        }
    }
    let whole = |times: Vec<String>| format!("[0-9Tt-]{{11}}(?:{})", times.join("|"));
    vec![form, whole(minutes), whole(hours)]
}

/// One part of a character class.
enum Atom {
    Char(u32),
    Class(String),
}

struct Translator {
    chars: Vec<char>,
    at: usize,
}

impl Translator {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Result<char, String> {
        let c = self.peek(0).ok_or("the pattern ends too early")?;
        self.at += 1;
        Ok(c)
    }

    fn translate(mut self) -> Result<String, String> {
        let mut out = String::new();
        while self.at < self.chars.len() {
            let c = self.next()?;
            match c {
                '.' => out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
                '^' => out.push_str(r"\A"),
                '$' => out.push_str(r"\z"),
                '|' | ')' | '*' | '+' | '?' => out.push(c),
                '(' => self.group(&mut out)?,
                '[' => self.class(&mut out)?,
                '{' => match self.quantifier() {
                    Some(text) => out.push_str(&text),
                    None => out.push_str(r"\{"),
                },
                '\\' if self.peek(0) == Some('b') => {
                    self.at += 1;
                    out.push_str(r"(?-u:\b)");
                }
                '\\' => match self.escape()? {
                    Atom::Char(c) => out.push_str(&format!(r"\x{{{c:X}}}")),
                    Atom::Class(class) => out.push_str(&format!("[{class}]")),
                },
                c => out.push_str(&format!(r"\x{{{:X}}}", c as u32)),
            }
        }
        Ok(out)
    }

    fn group(&mut self, out: &mut String) -> Result<(), String> {
        out.push_str("(?:");
        if self.peek(0) != Some('?') {
            return Ok(());
        }
        match (self.peek(1), self.peek(2)) {
            (Some(':'), _) => self.at += 2,
            (Some('<'), Some(c)) if c != '=' && c != '!' => while self.next()? != '>' {},
            _ => return Err("look-around is not regular enough for the oracle".into()),
        }
        Ok(())
    }

    /// A `{n}`, `{n,}` or `{n,m}` whose brace was just read.
    fn quantifier(&mut self) -> Option<String> {
        let end = self.chars[self.at..].iter().position(|&c| c == '}')?;
        let inner: String = self.chars[self.at..self.at + end].iter().collect();
        let (low, high) = inner.split_once(',').unwrap_or((&inner, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        if low.is_empty() || !digits(low) || !digits(high) {
            return None;
        }
        self.at += end + 1;
        Some(format!("{{{inner}}}"))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<Atom, String> {
        let class = |text: &str| Ok(Atom::Class(text.into()));
        let c = self.next()?;
        Ok(Atom::Char(match c {
            'd' => return class("0-9"),
            'D' => return class(r"[^0-9]"),
            'w' => return class("0-9A-Za-z_"),
            'W' => return class("[^0-9A-Za-z_]"),
            's' => return class(SPACE),
            'S' => return class(&format!("[^{SPACE}]")),
            'p' | 'P' => {
                let start = self.at;
                while self.next()? != '}' {}
                let name: String = self.chars[start..self.at].iter().collect();
                return class(&format!("\\{c}{name}"));
            }
            't' => 0x9,
            'n' => 0xA,
            'v' => 0xB,
            'f' => 0xC,
            'r' => 0xD,
            '0' => 0,
            'c' => self.next()? as u32 % 32,
            'x' => self.hex(2)?,
            'u' if self.peek(0) == Some('{') => {
                self.at += 1;
                let mut value = 0;
                while self.peek(0) != Some('}') {
                    value = (value << 4 | self.hex(1)?) & 0xFF_FFFF;
                }
                self.at += 1;
                value
            }
            'u' => match self.hex(4)? {
                high @ 0xD800..=0xDBFF
                    if self.peek(0) == Some('\\') && self.peek(1) == Some('u') =>
                {
                    self.at += 2;
                    let low = self.hex(4)?;
                    0x1_0000 + ((high & 0x3FF) << 10) + (low & 0x3FF)
                }
                unit => unit,
            },
            '1'..='9' | 'k' | 'B' => {
                return Err(format!("\\{c} is not regular enough for the oracle"));
            }
            c => c as u32,
        }))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..digits {
            value =
                value << 4 | self.next()?.to_digit(16).ok_or("a hexadecimal digit is missing")?;
        }
        Ok(value)
    }

    fn class_atom(&mut self) -> Result<Atom, String> {
        match self.next()? {
            '\\' if self.peek(0) == Some('b') => {
                self.at += 1;
                Ok(Atom::Char(0x8))
            }
            '\\' => self.escape(),
            c => Ok(Atom::Char(c as u32)),
        }
    }

    fn class(&mut self, out: &mut String) -> Result<(), String> {
        let negated = self.peek(0) == Some('^');
        self.at += usize::from(negated);
        let mut inner = String::new();
        while self.peek(0) != Some(']') {
            let first = self.class_atom()?;
            let range = self.peek(0) == Some('-') && !matches!(self.peek(1), Some(']') | None);
            match first {
                Atom::Char(low) if range => {
                    self.at += 1;
                    match self.class_atom()? {
                        Atom::Char(high) => {
                            inner.push_str(&format!(r"\x{{{low:X}}}-\x{{{high:X}}}"))
                        }
                        Atom::Class(class) => inner.push_str(&format!(r"\x{{{low:X}}}\-{class}")),
                    }
                }
                Atom::Char(c) => inner.push_str(&format!(r"\x{{{c:X}}}")),
                Atom::Class(class) => inner.push_str(&class),
            }
        }
        self.at += 1;
        match (inner.is_empty(), negated) {
            (true, false) => out.push_str(NOTHING),
            (true, true) => out.push_str("(?s:.)"),
            (false, false) => out.push_str(&format!("[{inner}]")),
            (false, true) => out.push_str(&format!("[^{inner}]")),
        }
        Ok(())
    }
}
