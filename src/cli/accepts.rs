//! `accepts`: feeds texts through the masks, token by token.

use super::args::Accepts;
use super::exit::{Exit, Failure};
use super::output::{Output, quoted};
use super::source;
use serde_json::{Value, json};
use tokenmask::{Engine, Error, ErrorKind, Grammar};

/// Why a text was refused.
struct Refusal {
    /// The first byte that no document can have there.
    offset: usize,
    /// The token that holds it; `None` at the end, or where the vocabulary cannot spell it.
    token: Option<u32>,
    reason: String,
}

/// Prints one verdict a text. Exit 1 where one is refused.
pub(crate) fn run(args: &Accepts, output: &mut Output) -> Result<Exit, Failure> {
    if args.schema == "-" && args.file == "-" {
        return Err(Failure::Usage("standard input cannot be both schema and document".into()));
    }
    let options = args.common.options()?;
    let grammar = Grammar::compile(&source::read_text(&args.schema)?, &options)?;
    let engine = grammar.bind(&args.common.vocabulary()?)?;
    let input = source::read_bytes(&args.file)?;
    let texts: Vec<&[u8]> = if args.lines {
        source::lines(&input).collect()
    } else {
        vec![source::without_line_end(&input)]
    };
    let mut all = true;
    let mut exact = true;
    for (index, text) in texts.into_iter().enumerate() {
        let refusal = feed(&engine, text, &mut exact)?;
        all &= refusal.is_none();
        if args.json {
            output.json(&to_json(refusal.as_ref()))?;
        } else {
            let prefix = if args.lines { format!("line {}: ", index + 1) } else { String::new() };
            output.line(&format!("{prefix}{}", to_text(refusal.as_ref(), &engine)))?;
        }
    }
    if !exact {
        output.talk("texts were cut into tokens by greedy longest match, not as the model would");
    }
    Ok(Exit::from_answer(all))
}

/// Feeds `text` to a new matcher; `exact` turns false where it was not tokenized as the vocabulary
/// does.
fn feed(engine: &Engine, text: &[u8], exact: &mut bool) -> Result<Option<Refusal>, Failure> {
    let mut matcher = engine.matcher();
    let encoded = match engine.vocabulary().encode(text) {
        Ok(encoded) => encoded,
        Err(error) => return Ok(Some(unspelled(engine, text, &error))),
    };
    *exact &= encoded.exact;
    let mut fed = 0;
    for token in encoded.ids {
        if let Err(error) = matcher.accept(token) {
            if error.kind() != ErrorKind::Token {
                return Err(error.into());
            }
            let offset = error.offset().unwrap_or(fed);
            let reason = error.message().to_owned();
            return Ok(Some(Refusal { offset, token: Some(token), reason }));
        }
        fed = matcher.offset();
    }
    if matcher.is_accepting() {
        return Ok(None);
    }
    let reason = format!("the document is not finished; expected {}", matcher.expected());
    Ok(Some(Refusal { offset: text.len(), token: None, reason }))
}

/// The refusal of a text that the vocabulary cannot spell: at the first byte that no document can
/// have there, or at the first that no token can spell, whichever comes first.
fn unspelled(engine: &Engine, text: &[u8], error: &Error) -> Refusal {
    let unspelled = error.offset().unwrap_or(0);
    let (offset, reason) = match engine.matcher().accept_bytes(text) {
        Err(refused) if refused.offset().is_some_and(|offset| offset <= unspelled) => {
            (refused.offset().unwrap_or(0), refused.message().to_owned())
        }
        _ => (unspelled, error.message().to_owned()),
    };
    Refusal { offset, token: None, reason }
}

fn to_json(refusal: Option<&Refusal>) -> Value {
    match refusal {
        None => json!({"accepted": true}),
        Some(Refusal { offset, token, reason }) => {
            json!({"accepted": false, "offset": offset, "token": token, "reason": reason})
        }
    }
}

fn to_text(refusal: Option<&Refusal>, engine: &Engine) -> String {
    let Some(Refusal { offset, token, reason }) = refusal else { return "accepted".to_owned() };
    let token = match token {
        None => String::new(),
        Some(id) => {
            let bytes = engine.vocabulary().token_bytes(*id).unwrap_or_default();
            format!(", token {id} {}", quoted(bytes))
        }
    };
    format!("refused at byte {offset}{token}: {reason}")
}
