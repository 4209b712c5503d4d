//! `mask`: which tokens may come after a prefix.

use super::args::Mask;
use super::exit::{Exit, Failure};
use super::output::{Output, hexadecimal, quoted};
use super::source;
use serde_json::json;
use tokenmask::{ErrorKind, Grammar, Matcher, Vocabulary};

/// Tokens that the readable form shows.
const SHOWN: usize = 24;

/// Prints the mask after `--prefix`. Exit 1 where the prefix is refused.
pub(crate) fn run(args: &Mask, output: &mut Output) -> Result<Exit, Failure> {
    let options = args.common.options()?;
    let grammar = Grammar::compile(&source::read_text(&args.schema)?, &options)?;
    let engine = grammar.bind(&args.common.vocabulary()?)?;
    let prefix = source::text_argument(&args.prefix)?;
    let tries = args.tries.iter().map(|text| source::text_argument(text));
    let tries = tries.collect::<Result<Vec<_>, _>>()?;
    let mut matcher = engine.matcher();
    if let Err(error) = matcher.accept_bytes(&prefix) {
        if error.kind() != ErrorKind::Token {
            return Err(error.into());
        }
        let offset = error.offset().unwrap_or(0);
        let reason = error.message();
        if args.json {
            output.json(&json!({"refused": {"offset": offset, "reason": reason}}))?;
        }
        output.talk(&format!("the prefix is refused at byte {offset}: {reason}"));
        return Ok(Exit::No);
    }
    let mut mask = engine.new_mask();
    matcher.fill_mask(&mut mask)?;
    let vocabulary = engine.vocabulary();
    let (ends, tokens): (Vec<u32>, Vec<u32>) = mask.iter().partition(|&id| vocabulary.is_end(id));
    let end = !ends.is_empty();
    let forced = matcher.forced_bytes();
    let answers = tries.iter().map(|text| may_follow(&matcher, text));
    let answers = answers.collect::<Result<Vec<bool>, _>>()?;
    if args.json {
        let tokens: Vec<u32> = mask.iter().collect();
        output.json(&json!({
            "tokens": tokens,
            "end": end,
            "forced": String::from_utf8_lossy(&forced),
            "forced_hex": hexadecimal(&forced),
            "try": answers,
        }))?;
        return Ok(Exit::Yes);
    }
    output.line(&format!("tokens: {}", tokens.len() + ends.len()))?;
    output.line(&format!("sample: {}", sample(&tokens, vocabulary)))?;
    output.line(&format!("end:    {}", if end { "allowed" } else { "not allowed" }))?;
    output.line(&format!("forced: {}", quoted(&forced)))?;
    output.line(&format!("next:   {}", matcher.expected()))?;
    for (text, answer) in tries.iter().zip(answers) {
        output.line(&format!("try:    {} {}", quoted(text), if answer { "yes" } else { "no" }))?;
    }
    Ok(Exit::Yes)
}

fn may_follow(matcher: &Matcher, text: &[u8]) -> Result<bool, Failure> {
    match matcher.clone().accept_bytes(text) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Token => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Some of `tokens`, spread evenly.
fn sample(tokens: &[u32], vocabulary: &Vocabulary) -> String {
    let step = tokens.len().div_ceil(SHOWN).max(1);
    let shown = tokens
        .iter()
        .step_by(step)
        .map(|&id| quoted(vocabulary.token_bytes(id).unwrap_or_default()));
    let mut text = shown.collect::<Vec<_>>().join(" ");
    if step > 1 {
        text.push_str(" …");
    }
    text
}
