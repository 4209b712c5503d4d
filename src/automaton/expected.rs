//! What may come next, for messages.

use super::{Automaton, Config, Level};
use crate::base::ByteSet;

impl Automaton {
    /// The bytes that may come next. Those at which a language meets its memory cap are left out.
    pub(crate) fn next_bytes(&self, config: &Config) -> ByteSet {
        (0..=255u8).filter(|&byte| self.step(&mut config.clone(), byte).unwrap_or(false)).collect()
    }

    /// A short description of what may come next.
    pub(crate) fn expected(&self, config: &Config) -> String {
        let bytes = self.next_bytes(config);
        let mut parts: Vec<String> = Vec::new();
        if self.can_end(config) {
            parts.push("the end".into());
        }
        match &config.top {
            Level::Key(key) if !key.is_open() => {
                let entries = &self.table(key).entries[key.lo as usize..key.hi as usize];
                if let Some(Level::Object(object)) = config.parent() {
                    let allowed = entries.iter().filter(|e| self.allows_entry(object, e));
                    parts.extend(list(allowed.map(|entry| format!("the key {:?}", &*entry.text))));
                }
            }
            Level::Object(_) if bytes.contains(b'"') => parts.push("a key".into()),
            _ => {}
        }
        let blank = [b' ', b'\t', b'\n', b'\r'].into_iter().any(|b| bytes.contains(b));
        let inside = matches!(config.top, Level::String(_) | Level::Key(_));
        if blank && !inside {
            parts.push("whitespace".into());
        }
        if !matches!(config.top, Level::Key(ref key) if !key.is_open()) {
            let shown = |&b: &u8| inside || !b" \t\n\r".contains(&b);
            parts.extend(ranges(bytes.iter().filter(shown)));
        }
        if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
    }
}

/// The first few of a list, and how many more there are.
fn list(items: impl Iterator<Item = String>) -> Vec<String> {
    const SHOWN: usize = 8;
    let mut items: Vec<String> = items.collect();
    if items.len() > SHOWN {
        let more = items.len() - SHOWN;
        items.truncate(SHOWN);
        items.push(format!("{more} more"));
    }
    items
}

/// Runs of bytes as `a`-`z`; bytes beyond ASCII as one part.
fn ranges(bytes: impl Iterator<Item = u8>) -> Vec<String> {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    let mut beyond = false;
    for byte in bytes {
        match runs.last_mut() {
            _ if byte >= 0x80 => beyond = true,
            Some((_, last)) if byte == *last + 1 => *last = byte,
            _ => runs.push((byte, byte)),
        }
    }
    let show = |b: u8| format!("`{}`", char::from(b).escape_default());
    let one = |(low, high): (u8, u8)| match high - low {
        0 => show(low),
        1 => format!("{}, {}", show(low), show(high)),
        _ => format!("{}-{}", show(low), show(high)),
    };
    let beyond = beyond.then(|| "bytes beyond ASCII".to_owned());
    list(runs.into_iter().map(one).chain(beyond))
}
