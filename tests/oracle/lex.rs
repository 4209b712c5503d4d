//! Inside a JSON string: bytes to characters, escapes and UTF-8 decoded one byte at a time.

/// Code points, as inclusive ranges.
pub type Ranges = Vec<(u32, u32)>;

/// What stands between the last whole character and the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pending {
    #[default]
    None,
    /// `length` bytes in all, `left` to come.
    Utf8 { length: u8, left: u8, code: u32 },
    /// After `\`, behind a high surrogate or not.
    Backslash { high: Option<u32> },
    /// After `\u` and `digits` digits.
    Hex { high: Option<u32>, digits: u8, value: u32 },
    /// After a whole escape that spells a high surrogate.
    High { high: u32 },
}

/// What one byte does.
#[derive(Debug, PartialEq)]
pub enum Event {
    Pending(Pending),
    Char(char),
    Close,
}

impl Pending {
    /// One more byte of a string; `None` where no string goes on so.
    pub fn step(self, byte: u8, minimal: bool) -> Option<Event> {
        let event = self.raw_step(byte)?;
        let escaped = !matches!(self, Pending::None | Pending::Utf8 { .. });
        match event {
            Event::Char(c) if escaped && minimal && !must_escape(c as u32) => None,
            Event::Pending(p) if p.ranges(minimal).is_empty() => None,
            event => Some(event),
        }
    }

    fn raw_step(self, byte: u8) -> Option<Event> {
        use Pending::*;
        Some(Event::Pending(match self {
            None => match byte {
                b'"' => return Some(Event::Close),
                b'\\' => Backslash { high: Option::None },
                0x20..=0x7F => return Some(Event::Char(char::from(byte))),
                0xC2..=0xDF => Utf8 { length: 2, left: 1, code: u32::from(byte & 0x1F) },
                0xE0..=0xEF => Utf8 { length: 3, left: 2, code: u32::from(byte & 0x0F) },
                0xF0..=0xF4 => Utf8 { length: 4, left: 3, code: u32::from(byte & 0x07) },
                _ => return Option::None,
            },
            Utf8 { length, left, code } => {
                if byte & 0xC0 != 0x80 {
                    return Option::None;
                }
                let code = code << 6 | u32::from(byte & 0x3F);
                let next = Utf8 { length, left: left - 1, code };
                if left > 1 {
                    next
                } else if next.ranges(false).is_empty() {
                    return Option::None;
                } else {
                    return char::from_u32(code).map(Event::Char);
                }
            }
            Backslash { high } if byte == b'u' => Hex { high, digits: 0, value: 0 },
            Backslash { high: Some(_) } => return Option::None,
            Backslash { high: Option::None } => {
                let c = match byte {
                    b'"' | b'\\' | b'/' => char::from(byte),
                    b'b' => '\u{8}',
                    b'f' => '\u{C}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    _ => return Option::None,
                };
                return Some(Event::Char(c));
            }
            Hex { high, digits, value } => {
                let value = value * 16 + char::from(byte).to_digit(16)?;
                match (high, value) {
                    _ if digits < 3 => Hex { high, digits: digits + 1, value },
                    (Option::None, 0xD800..=0xDBFF) => High { high: value },
                    (Option::None, _) => return char::from_u32(value).map(Event::Char),
                    (Some(high), 0xDC00..=0xDFFF) => {
                        return char::from_u32(join(high, value)).map(Event::Char);
                    }
                    (Some(_), _) => return Option::None,
                }
            }
            High { high } if byte == b'\\' => Backslash { high: Some(high) },
            High { .. } => return Option::None,
        }))
    }

    /// The characters that this beginning can become; `minimal`: only escapes that JSON requires.
    pub fn ranges(self, minimal: bool) -> Ranges {
        let (whole, escaped) = match self {
            Pending::None => (vec![(0, 0xD7FF), (0xE000, 0x10FFFF)], false),
            Pending::Utf8 { length, left, code } => {
                let low = code << (6 * left);
                let high = low | ((1 << (6 * left)) - 1);
                let least = [0, 0, 0x80, 0x800, 0x1_0000][usize::from(length)];
                let bounds = (low.max(least), high.min(0x10FFFF));
                (clip(&[bounds], &[(0, 0xD7FF), (0xE000, 0x10FFFF)]), false)
            }
            Pending::Backslash { high } => (units(high, 0, 0xFFFF), true),
            Pending::Hex { high, digits, value } => {
                let free = 4 * (4 - u32::from(digits));
                (units(high, value << free, (value << free) | ((1 << free) - 1)), true)
            }
            Pending::High { high } => (units(Some(high), 0xDC00, 0xDFFF), true),
        };
        if escaped && minimal {
            return clip(&whole, &[(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]);
        }
        whole
    }
}

fn must_escape(c: u32) -> bool {
    c < 0x20 || c == 0x22 || c == 0x5C
}

fn join(high: u32, low: u32) -> u32 {
    0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
}

/// The characters whose next code unit lies in `low..=high`.
fn units(surrogate: Option<u32>, low: u32, high: u32) -> Ranges {
    let unit = [(low, high)];
    if let Some(surrogate) = surrogate {
        let lows = clip(&unit, &[(0xDC00, 0xDFFF)]);
        return lows.iter().map(|&(l, h)| (join(surrogate, l), join(surrogate, h))).collect();
    }
    let mut found = clip(&unit, &[(0, 0xD7FF), (0xE000, 0xFFFF)]);
    for (l, h) in clip(&unit, &[(0xD800, 0xDBFF)]) {
        found.push((join(l, 0xDC00), join(h, 0xDFFF)));
    }
    found
}

/// The intersection of two lists of ranges.
pub fn clip(left: &[(u32, u32)], right: &[(u32, u32)]) -> Ranges {
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l.0.max(r.0), l.1.min(r.1))));
    pairs.filter(|(low, high)| low <= high).collect()
}
