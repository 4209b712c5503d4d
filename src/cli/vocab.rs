//! `vocab`: figures of a vocabulary.

use super::args::{self, Vocab};
use super::exit::{Exit, Failure};
use super::output::{Output, quoted};
use serde_json::json;
use std::time::Instant;
use tokenmask::{Vocabulary, VocabularyStats};

/// How many distinct bytes there are.
const BYTES: usize = 256;

/// Prints size, width, special and end tokens, partial characters, duplicates and load time.
pub(crate) fn run(args: &Vocab, output: &mut Output) -> Result<Exit, Failure> {
    let spec = args.spec.as_deref().unwrap_or(&args.common.vocab);
    let start = Instant::now();
    let vocabulary = args::vocabulary(spec)?;
    let stats = vocabulary.stats();
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    if args.json {
        output.json(&json!({
            "vocabulary": vocabulary.name(),
            "size": stats.size,
            "width": stats.width,
            "text": stats.text,
            "special": stats.special,
            "end": vocabulary.end_ids(),
            "holes": stats.holes,
            "partial_character_tokens": stats.partial_character_tokens,
            "duplicate_byte_strings": stats.duplicate_byte_strings,
            "missing_bytes": BYTES.saturating_sub(stats.spellable_bytes),
            "longest": stats.longest,
            "trie_nodes": stats.trie_nodes,
            "load_ms": load_ms,
        }))?;
        return Ok(Exit::Yes);
    }
    for (name, value) in rows(&vocabulary, &stats) {
        output.line(&format!("{name:<22}{value}"))?;
    }
    output.line(&format!("{:<22}{load_ms:.1} ms", "load time"))?;
    Ok(Exit::Yes)
}

fn rows(vocabulary: &Vocabulary, stats: &VocabularyStats) -> Vec<(&'static str, String)> {
    let ends = vocabulary.end_ids().iter();
    let ends = ends.map(|&id| {
        let bytes = vocabulary.token_bytes(id).unwrap_or_default();
        format!("{id} {}", quoted(bytes))
    });
    vec![
        ("vocabulary", vocabulary.name().to_owned()),
        ("size", stats.size.to_string()),
        ("width", stats.width.to_string()),
        ("text tokens", stats.text.to_string()),
        ("special tokens", stats.special.to_string()),
        ("end tokens", ends.collect::<Vec<_>>().join(", ")),
        ("ids without bytes", stats.holes.to_string()),
        ("partial characters", stats.partial_character_tokens.to_string()),
        ("duplicates", stats.duplicate_byte_strings.to_string()),
        ("missing single bytes", BYTES.saturating_sub(stats.spellable_bytes).to_string()),
        ("longest token", format!("{} bytes", stats.longest)),
        ("trie nodes", stats.trie_nodes.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_the_figures() {
        let vocabulary = Vocabulary::bytes();
        let rows = rows(&vocabulary, &vocabulary.stats());
        let value = |name| rows.iter().find(|row| row.0 == name).map(|row| row.1.as_str());
        assert_eq!(value("size"), Some("257"));
        assert_eq!(value("partial characters"), Some("128"));
        assert_eq!(value("missing single bytes"), Some("0"));
        assert!(value("end tokens").is_some_and(|ends| ends.starts_with("256 ")));
    }
}
