//! llguidance under the protocol, as its own documentation sets it up: one factory for the
//! vocabulary with its default slices, one matcher for each schema.

use crate::protocol::{Contender, Failure};
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use std::sync::Arc;
use tokenmask::Vocabulary;
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

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

    fn bind(&self, schema: &str) -> Result<Matcher, String> {
        let schema = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema));
        let mut matcher = Matcher::new(parser);
        match matcher.get_error() {
            Some(error) => Err(error),
            None => matcher.compute_mask_or_eos().map(|_| matcher).map_err(|e| e.to_string()),
        }
    }
}

impl Contender for Llguidance {
    type Bound = Matcher;

    fn first_mask(&self, schema: &str) -> Result<Matcher, Failure> {
        self.bind(schema).map_err(|message| Failure {
            kind: "error".to_owned(),
            location: None,
            message,
        })
    }

    fn restart(&self, matcher: &mut Matcher) {
        // A failure shows in the first mask.
        let _ = matcher.reset();
    }

    fn token(&self, matcher: &mut Matcher, id: u32) -> bool {
        matcher.compute_mask_or_eos().is_ok_and(|mask| mask.is_allowed(id))
            && matcher.consume_token(id).is_ok()
    }

    fn end(&self, matcher: &mut Matcher) -> bool {
        matcher.compute_mask_or_eos().is_ok_and(|mask| mask.is_allowed(self.end))
    }
}
