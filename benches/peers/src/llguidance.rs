//! llguidance under the protocol, as its own documentation sets it up: one factory for the
//! vocabulary with its default slices, one matcher for each schema.

use crate::protocol::{Contender, Failure};
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use std::sync::Arc;
use tokenmask::Vocabulary;
use toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};

pub struct Llguidance {
    factory: ParserFactory,
    end: u32,
}

impl Llguidance {
    /// Over the same token ids. A special token is marked as its trie wants it.
    pub fn new(vocabulary: &Vocabulary) -> Result<Llguidance, Box<dyn std::error::Error>> {
        let end = *vocabulary.end_ids().first().ok_or("the vocabulary has no end token")?;
        let special = |id| vocabulary.is_special(id) || vocabulary.is_end(id);
        let word = |id: u32| {
            let bytes = vocabulary.token_bytes(id).unwrap_or_default();
            let marked = [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat();
            if special(id) && !bytes.is_empty() { marked } else { bytes.to_vec() }
        };
        let words: Vec<Vec<u8>> = (0..vocabulary.width() as u32).map(word).collect();
        let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory = ParserFactory::new_simple(&environment).map_err(|e| e.to_string())?;
        factory.quiet();
        Ok(Llguidance { factory, end })
    }

    fn bind(&self, schema: &str) -> Result<Bound, String> {
        let schema = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema));
        let mut matcher = Matcher::new(parser);
        if let Some(error) = matcher.get_error() {
            return Err(error);
        }
        let start = matcher.clone();
        let mask = matcher.compute_mask_or_eos().map_err(|e| e.to_string())?;
        Ok(Bound { start, matcher, mask })
    }
}

/// A schema bound: a matcher that stays at the beginning, and the one at work.
#[derive(Clone)]
pub struct Bound {
    start: Matcher,
    matcher: Matcher,
    mask: SimpleVob,
}

impl Contender for Llguidance {
    type Bound = Bound;

    fn first_mask(&self, schema: &str) -> Result<Bound, Failure> {
        self.bind(schema).map_err(|message| Failure {
            kind: "error".to_owned(),
            location: None,
            message,
        })
    }

    /// A clone shares the lexer's caches with its origin. `reset` takes as many instructions, a deep
    /// clone a third more, as each text would fill the caches anew.
    fn restart(&self, _schema: &str, bound: &mut Bound) {
        bound.matcher = bound.start.clone();
    }

    fn fill(&self, bound: &mut Bound) -> bool {
        bound.matcher.compute_mask_or_eos().map(|mask| bound.mask = mask).is_ok()
    }

    fn words<'b>(&self, bound: &'b Bound) -> &'b [u32] {
        bound.mask.as_slice()
    }

    fn accept(&self, bound: &mut Bound, id: u32) -> bool {
        bound.matcher.consume_token(id).is_ok()
    }

    fn end_ids(&self) -> &[u32] {
        std::slice::from_ref(&self.end)
    }
}
