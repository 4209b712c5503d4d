//! Where in a JSON text the sampler stands, and how much each next byte looks like data.
//!
//! Masks alone decide what is allowed. This tracker only ranks: it reads bytes that a mask has
//! already allowed, so it needs no errors, and a wrong guess costs nothing but taste.

use super::random::Random;
use smallvec::SmallVec;

/// Free strings close at the latest about here, in characters.
pub(crate) const LONGEST_STRING: u32 = 40;
/// Levels below which arrays and objects are avoided.
const DEEPEST: usize = 6;
/// Items of an array, or members of an object with free keys, where a closer is favoured.
const MOST_ITEMS: u32 = 6;
/// What is hardly ever wanted.
const RARE: f64 = 1e-4;
/// A level too many: a deep document has many places for one.
const TOO_DEEP: f64 = 1e-9;

/// How long the parts at hand should get: drawn anew for each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// Characters of a string.
    pub(crate) characters: u32,
    /// Items of an array or members of an object with free keys.
    pub(crate) items: u32,
    /// Digits of a number.
    pub(crate) digits: u32,
}

impl Wish {
    pub(crate) fn draw(random: &mut Random) -> Self {
        Wish {
            characters: random.between(4, 24),
            items: random.between(1, 4),
            digits: random.between(1, 4),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Level {
    array: bool,
    /// Members begun.
    items: u32,
    wish: u32,
    /// The names are declared, so the object may get longer than a map.
    declared: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Structure,
    String {
        key: bool,
    },
    /// After a backslash; the number of hexadecimal digits still to come, 255 right after it.
    Escape {
        key: bool,
        digits: u8,
    },
    Number,
    Literal,
}

/// The place in the text so far.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    part: Part,
    levels: SmallVec<[Level; 8]>,
    /// Characters of the string, or digits of the number (or of its fraction), at hand.
    length: u32,
    /// The last byte; 0 at the start.
    last: u8,
    /// The last structural byte: a colon tells values from keys.
    separator: u8,
    wish: Wish,
}

impl Position {
    pub(crate) fn new(wish: Wish) -> Self {
        let levels = SmallVec::new();
        Position { part: Part::Structure, levels, length: 0, last: 0, separator: 0, wish }
    }

    /// Sets the lengths to aim at for the next parts.
    pub(crate) fn aim(&mut self, wish: Wish) {
        self.wish = wish;
    }

    /// Whether the next byte stands inside a string, escapes included.
    pub(crate) fn in_string(&self) -> bool {
        matches!(self.part, Part::String { .. } | Part::Escape { .. })
    }

    /// Whether the next byte stands inside a string and not inside an escape.
    pub(crate) fn in_plain_string(&self) -> bool {
        matches!(self.part, Part::String { .. })
    }

    /// Whether a key has just been opened.
    pub(crate) fn at_key_start(&self) -> bool {
        self.part == Part::String { key: true } && self.length == 0
    }

    /// Characters of the string at hand.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    pub(crate) fn last(&self) -> u8 {
        self.last
    }

    /// Whether the string or number at hand is as long as wished.
    pub(crate) fn is_long_enough(&self) -> bool {
        match self.part {
            Part::String { .. } | Part::Escape { .. } => self.length >= self.wish.characters,
            Part::Number => self.length >= self.wish.digits,
            _ => true,
        }
    }

    /// Notes that the object at hand has declared names to choose from.
    pub(crate) fn names_are_declared(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.declared = true;
        }
    }

    /// Reads `bytes`; gives the product of what each is worth.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> f64 {
        bytes.iter().map(|&byte| self.step(byte)).product()
    }

    /// Reads one byte; gives what it is worth: 1 for an ordinary one, less for an odd one.
    pub(crate) fn step(&mut self, byte: u8) -> f64 {
        let worth = match self.part {
            Part::String { key } => self.step_string(byte, key),
            Part::Escape { key, digits } => self.step_escape(byte, key, digits),
            Part::Number if is_number_byte(byte) => self.step_number(byte),
            Part::Number => {
                let short = if self.is_long_enough() { 1.0 } else { 0.25 };
                self.part = Part::Structure;
                short * self.step_structure(byte)
            }
            Part::Literal if byte.is_ascii_lowercase() => 1.0,
            Part::Structure | Part::Literal => {
                self.part = Part::Structure;
                self.step_structure(byte)
            }
        };
        self.last = byte;
        worth
    }

    fn step_string(&mut self, byte: u8, key: bool) -> f64 {
        match byte {
            b'"' => {
                let worth = if self.length < 3 {
                    0.02
                } else if self.is_long_enough() {
                    60.0
                } else {
                    0.3
                };
                self.part = Part::Structure;
                return worth;
            }
            b'\\' => {
                self.part = Part::Escape { key, digits: u8::MAX };
                return RARE;
            }
            _ => {}
        }
        if !(0x80..0xc0).contains(&byte) {
            self.length = self.length.saturating_add(1);
        }
        let long = if self.length > LONGEST_STRING { RARE } else { 1.0 };
        long * match byte {
            b' ' if self.length == 1 || self.last == b' ' => RARE,
            b' ' => 0.75,
            byte if byte.is_ascii_alphabetic() => letter_worth(self.last, byte),
            byte if byte.is_ascii_digit() => 0.1,
            0x80..0xc0 => 1.0,
            _ => 0.001,
        }
    }

    fn step_escape(&mut self, byte: u8, key: bool, digits: u8) -> f64 {
        let left = match (digits, byte) {
            (u8::MAX, b'u') => 4,
            (u8::MAX, _) => 0,
            (digits, _) => digits.saturating_sub(1),
        };
        self.part =
            if left == 0 { Part::String { key } } else { Part::Escape { key, digits: left } };
        if left == 0 {
            self.length = self.length.saturating_add(1);
        }
        1.0
    }

    fn step_number(&mut self, byte: u8) -> f64 {
        match byte {
            b'.' => {
                self.length = self.wish.digits.saturating_sub(2);
                0.5
            }
            b'0'..=b'9' => {
                self.length = self.length.saturating_add(1);
                if self.length > self.wish.digits { 0.02 } else { 1.0 }
            }
            _ => RARE,
        }
    }

    fn step_structure(&mut self, byte: u8) -> f64 {
        let after_separator = matches!(self.last, b',' | b':');
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                return if byte == b' ' && after_separator { 1.0 } else { RARE };
            }
            b'}' | b']' => return self.close(byte),
            b',' => {
                self.separator = byte;
                let level = self.levels.last().copied();
                if let Some(level) = self.levels.last_mut() {
                    level.items = level.items.saturating_add(1);
                }
                return level.map_or(1.0, more_worth);
            }
            b':' => {
                self.separator = byte;
                return 1.0;
            }
            _ => {}
        }
        // A readable line has one space after a comma and a colon.
        let spaced = if after_separator { 0.01 } else { 1.0 };
        spaced * self.begin(byte)
    }

    /// A value or a key begins.
    fn begin(&mut self, byte: u8) -> f64 {
        self.length = 0;
        let deep = if self.levels.len() >= DEEPEST { TOO_DEEP } else { 1.0 };
        match byte {
            b'"' => {
                let key = self.expects_key();
                self.part = Part::String { key };
                3.0
            }
            b'{' | b'[' => {
                let wish = if deep < 1.0 { 1 } else { self.wish.items };
                let level = Level { array: byte == b'[', items: 1, wish, declared: false };
                self.levels.push(level);
                self.separator = byte;
                self.part = Part::Structure;
                deep
            }
            b'-' | b'0'..=b'9' => {
                self.part = Part::Number;
                self.length = u32::from(byte != b'-');
                if byte == b'-' { 0.1 } else { 1.0 }
            }
            _ => {
                self.part = Part::Literal;
                if byte == b'n' { 0.5 } else { 1.0 }
            }
        }
    }

    fn close(&mut self, byte: u8) -> f64 {
        self.part = Part::Structure;
        self.separator = byte;
        let opened = matches!(self.last, b'{' | b'[');
        match self.levels.pop() {
            Some(_) if opened => 0.05,
            Some(level) if level.array || !level.declared => {
                if level.items >= level.wish {
                    30.0
                } else {
                    0.1
                }
            }
            Some(_) => 0.15,
            None => 1.0,
        }
    }

    fn expects_key(&self) -> bool {
        self.levels.last().is_some_and(|level| !level.array && self.separator != b':')
    }
}

fn more_worth(level: Level) -> f64 {
    if level.declared && !level.array {
        return 1.0;
    }
    match level.items {
        items if items < level.wish => 1.0,
        items if items < MOST_ITEMS => 0.05,
        _ => RARE,
    }
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')
}

/// Letters that alternate between vowels and consonants read like words, in lower case inside a
/// word.
fn letter_worth(last: u8, byte: u8) -> f64 {
    let vowel = |byte: u8| b"aeiouAEIOU".contains(&byte);
    if byte.is_ascii_uppercase() && last.is_ascii_lowercase() {
        return 0.01;
    }
    let case = if byte.is_ascii_uppercase() { 0.3 } else { 1.0 };
    case * if last.is_ascii_alphabetic() && vowel(last) == vowel(byte) { 0.15 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Position {
        let mut position = Position::new(Wish { characters: 5, items: 2, digits: 2 });
        position.read(text.as_bytes());
        position
    }

    #[test]
    fn strings_keys_and_escapes_are_told_apart() {
        assert!(at("{\"").at_key_start());
        assert!(!at("{\"a\": \"").at_key_start());
        assert!(at("{\"a\": \"").in_plain_string());
        assert!(at("{\"a\": 1, \"").at_key_start());
        assert!(!at("[\"").at_key_start());
        assert!(!at("\"\\").in_plain_string());
        assert!(!at("\"\\u00e").in_plain_string());
        assert!(at("\"\\u00e9").in_plain_string());
        assert_eq!(at("\"\\u00e9é\\n").length(), 3);
        assert!(!at("[\"a\"").in_string());
    }

    #[test]
    fn closers_are_favoured_when_the_wish_is_met() {
        let worth = |text: &str, next: &str| at(text).read(next.as_bytes());
        assert!(worth("[1", "]") < worth("[1", ","));
        assert!(worth("[1, 2", "]") > worth("[1, 2", ","));
        assert!(worth("\"ab", "\"") < worth("\"abcdef", "\""));
        assert!(worth("[1,", " ") > worth("[1", " "));
        assert!(worth("[[[[[[", "[") < worth("[", "["));
        assert!(worth("[true,", "false") < worth("[true,", " false"));
    }
}
