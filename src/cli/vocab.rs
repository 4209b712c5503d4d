//! `vocab`: figures of a vocabulary.

use super::args::{self, Vocab};
use super::exit::{Exit, Failure};
use super::output::{Output, quoted};
use serde_json::json;
use std::collections::HashSet;
use std::time::Instant;
use tokenmask::Vocabulary;

/// What the verb counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    /// Ids that are never allowed, end tokens aside.
    special: usize,
    /// Ids that have no bytes and are neither special nor ends.
    empty: usize,
    /// Tokens that begin or end inside a character.
    partial: usize,
    /// Tokens whose bytes an earlier id has too.
    duplicates: usize,
    /// Single bytes that no token spells alone.
    missing_bytes: usize,
    longest: usize,
}

/// Prints size, width, special and end tokens, partial characters, duplicates and load time.
pub(crate) fn run(args: &Vocab, output: &mut Output) -> Result<Exit, Failure> {
    let spec = args.spec.as_deref().unwrap_or(&args.common.vocab);
    let start = Instant::now();
    let vocabulary = args::vocabulary(spec)?;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let figures = count(&vocabulary);
    let ends = vocabulary.end_ids();
    if args.json {
        output.json(&json!({
            "vocabulary": spec,
            "size": vocabulary.len(),
            "width": vocabulary.width(),
            "special": figures.special,
            "end": ends,
            "empty": figures.empty,
            "partial_characters": figures.partial,
            "duplicates": figures.duplicates,
            "missing_bytes": figures.missing_bytes,
            "longest": figures.longest,
            "load_ms": load_ms,
        }))?;
        return Ok(Exit::Yes);
    }
    let ends: Vec<String> = ends
        .iter()
        .map(|&id| format!("{id} {}", quoted(vocabulary.token_bytes(id).unwrap_or_default())))
        .collect();
    let rows = [
        ("vocabulary", spec.to_owned()),
        ("size", vocabulary.len().to_string()),
        ("width", vocabulary.width().to_string()),
        ("special tokens", figures.special.to_string()),
        ("end tokens", ends.join(", ")),
        ("ids without bytes", figures.empty.to_string()),
        ("partial characters", figures.partial.to_string()),
        ("duplicates", figures.duplicates.to_string()),
        ("missing single bytes", figures.missing_bytes.to_string()),
        ("longest token", format!("{} bytes", figures.longest)),
        ("load time", format!("{load_ms:.1} ms")),
    ];
    for (name, value) in rows {
        output.line(&format!("{name:<22}{value}"))?;
    }
    Ok(Exit::Yes)
}

fn count(vocabulary: &Vocabulary) -> Figures {
    let mut figures = Figures::default();
    let mut seen: HashSet<&[u8]> = HashSet::new();
    for id in 0..u32::try_from(vocabulary.width()).unwrap_or(u32::MAX) {
        if vocabulary.end_ids().contains(&id) {
            continue;
        }
        if vocabulary.is_special(id) {
            figures.special += 1;
            continue;
        }
        let bytes = vocabulary.token_bytes(id).unwrap_or_default();
        if bytes.is_empty() {
            figures.empty += 1;
            continue;
        }
        figures.partial += usize::from(std::str::from_utf8(bytes).is_err());
        figures.duplicates += usize::from(!seen.insert(bytes));
        figures.longest = figures.longest.max(bytes.len());
    }
    figures.missing_bytes = (0..=u8::MAX).filter(|&byte| !seen.contains(&[byte][..])).count();
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_bytes_miss_nothing() {
        let figures = count(&Vocabulary::bytes());
        assert_eq!(figures.missing_bytes, 0);
        assert_eq!(figures.duplicates, 0);
        assert_eq!(figures.partial, 128);
        assert_eq!(figures.longest, 1);
    }
}
