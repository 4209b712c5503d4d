//! A seeded sampler that needs no model: it writes documents that look like data, token by token,
//! through the masks of an [`Engine`].
//!
//! What goes in is an engine and a seed; what comes out is text, and with a clock the time of each
//! mask. The masks decide, the sampler only chooses among what they allow: a document that it
//! finishes is a document that a model could have written. It finds dead ends, and it always
//! finishes within its budget, by following the shortest completion when the budget ends.
//!
//! In an open object any key may come, so a mask alone does not tell which names a schema
//! declares. A *guide*, the same schema compiled with closed objects, does; the sampler follows it
//! nearly always where it has one.

mod choice;
mod lexicon;
mod position;
mod random;

use crate::error::{Error, ErrorKind, Result};
use crate::mask::Mask;
use crate::matcher::{Engine, Matcher};
use choice::Choice;
use lexicon::Lexicon;
use position::{LONGEST_STRING, Position, Wish};
use random::Random;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::fmt;
use std::hash::BuildHasher;

/// Tokens that `wild` draws before it finishes.
const WILD_TOKENS: usize = 200;
/// How often a document that came before is drawn again.
const REDRAWS: usize = 8;
/// While so many tokens are left, the shortest completion is asked for only every few tokens.
const RELAXED_TOKENS: usize = 512;
/// Every how many tokens, while the budget is far.
const RELAXED_STRIDE: usize = 16;
/// Bytes up to which the shortest way to close a string is taken; a longer one only fills it up.
const SHORT_CLOSING: usize = 24;

/// One sampled document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The document; where `dead_end` is set, what was written before it.
    pub text: String,
    /// Tokens drawn, the end token included.
    pub tokens: usize,
    /// The time of each mask in nanoseconds; empty where the sampler has no clock.
    pub mask_times_ns: Vec<u64>,
    /// No token was allowed: the engine broke its promise.
    pub dead_end: bool,
}

/// Writes documents through masks; the same seed and engine give the same documents.
///
/// ```
/// use tokenmask::{Grammar, Options, Vocabulary, sample::Sampler};
/// let grammar = Grammar::compile(r#"{"enum": ["red", "green"]}"#, &Options::default())?;
/// let engine = grammar.bind(&Vocabulary::bytes())?;
/// let sample = Sampler::new(7).generate(&engine, 100)?;
/// assert!([r#""red""#, r#""green""#].contains(&sample.text.as_str()));
/// assert_eq!(sample, Sampler::new(7).generate(&engine, 100)?);
/// # Ok::<(), tokenmask::Error>(())
/// ```
pub struct Sampler {
    random: Random,
    clock: Option<fn() -> u64>,
    lexicon: Lexicon,
    guide: Option<Engine>,
    /// Hashes of the documents that [`Sampler::generate`] gave.
    drawn: FxHashSet<u64>,
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("random", &self.random).finish_non_exhaustive()
    }
}

impl Sampler {
    /// A sampler without clock and guide.
    pub fn new(seed: u64) -> Self {
        Sampler {
            random: Random::new(seed),
            clock: None,
            lexicon: Lexicon::default(),
            guide: None,
            drawn: FxHashSet::default(),
        }
    }

    /// Measures masks with `clock`, a monotonic count of nanoseconds.
    pub fn with_clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Follows the choices of `guide` where it can: an engine over the same vocabulary, of the
    /// same schema compiled with closed objects. [`Sampler::wild`] does not use it.
    pub fn with_guide(mut self, guide: Engine) -> Self {
        self.guide = Some(guide);
        self
    }

    /// A document that looks like data, seldom one that this sampler gave before, of at most
    /// `max_tokens` tokens: from there minus the
    /// shortest completion on, it follows the shortest completion.
    ///
    /// # Errors
    ///
    /// `limit` where the shortest document alone needs more than `max_tokens` (the message names
    /// both numbers) or passes `Limits::completion_bytes`; `mask` where a mask cannot be computed.
    pub fn generate(&mut self, engine: &Engine, max_tokens: usize) -> Result<Sample> {
        // A branch with few documents comes as often as one with many: a repeat is drawn again.
        for _ in 0..REDRAWS {
            let sample = self.draw(engine, max_tokens)?;
            if sample.dead_end || self.drawn.insert(FxBuildHasher.hash_one(&sample.text)) {
                return Ok(sample);
            }
        }
        self.draw(engine, max_tokens)
    }

    fn draw(&mut self, engine: &Engine, max_tokens: usize) -> Result<Sample> {
        if !self.lexicon.fits(engine.vocabulary()) {
            self.lexicon = Lexicon::new(engine.vocabulary());
        }
        let mut run = Run::new(engine, self.clock);
        run.check_budget(max_tokens)?;
        let mut guide = self.guide.as_ref().map(|guide| (guide.matcher(), guide.new_mask()));
        let mut position = Position::new(Wish::draw(&mut self.random));
        loop {
            if !run.fill()? {
                return run.into_sample();
            }
            if run.matcher.is_accepting()
                && (position.is_long_enough() || self.random.below(3) == 0)
            {
                return run.end();
            }
            let words = allowed_words(&run.mask, &mut guide);
            let choice = Choice::new(engine.vocabulary(), &self.lexicon, &words);
            let stuck = choice.is_stuck(&position)
                && (position.length() >= LONGEST_STRING || self.random.below(5) < 3);
            let token = if stuck { run.toward_closing()? } else { None };
            let token = token.or_else(|| choice.pick(&mut position, &mut self.random));
            let Some(token) = token else {
                return run.end();
            };
            if !run.accept_within(token, max_tokens)? {
                return run.finish();
            }
            if let Some((matcher, _)) = &mut guide
                && matcher.accept(token).is_err()
            {
                guide = None;
            }
            position.read(engine.vocabulary().token_bytes(token).unwrap_or_default());
            if !position.in_string() {
                position.aim(Wish::draw(&mut self.random));
            }
        }
    }

    /// A document drawn uniformly over allowed tokens for 200 tokens, then finished: it looks for
    /// dead ends.
    ///
    /// # Errors
    ///
    /// As [`Sampler::generate`], without the budget.
    pub fn wild(&mut self, engine: &Engine) -> Result<Sample> {
        let mut run = Run::new(engine, self.clock);
        for _ in 0..WILD_TOKENS {
            if !run.fill()? {
                return run.into_sample();
            }
            let index = self.random.below(run.allowed);
            let Some(token) = run.mask.iter().nth(index) else { break };
            run.accept(token)?;
            if run.matcher.is_terminated() {
                return run.into_sample();
            }
        }
        run.finish()
    }
}

/// The words of `mask`, narrowed to what the guide allows too, unless that leaves nothing.
fn allowed_words(mask: &Mask, guide: &mut Option<(Matcher, Mask)>) -> Vec<u32> {
    let words = mask.words().to_vec();
    let Some((matcher, guide_mask)) = guide else { return words };
    if matcher.fill_mask(guide_mask).is_err() {
        return words;
    }
    let narrow: Vec<u32> = words.iter().zip(guide_mask.words()).map(|(a, b)| a & b).collect();
    if narrow.iter().all(|&word| word == 0) { words } else { narrow }
}

/// One document in progress.
struct Run<'e> {
    engine: &'e Engine,
    matcher: Matcher,
    mask: Mask,
    allowed: usize,
    bytes: Vec<u8>,
    sample: Sample,
    clock: Option<fn() -> u64>,
    /// The last state from which the document is known to fit its budget.
    fits: (Matcher, usize, usize),
}

impl<'e> Run<'e> {
    fn new(engine: &'e Engine, clock: Option<fn() -> u64>) -> Self {
        let matcher = engine.matcher();
        Run {
            engine,
            fits: (matcher.clone(), 0, 0),
            matcher,
            mask: engine.new_mask(),
            allowed: 0,
            bytes: Vec::new(),
            sample: Sample::default(),
            clock,
        }
    }

    /// Fills the mask; false at a dead end.
    fn fill(&mut self) -> Result<bool> {
        let start = self.clock.map(|clock| clock());
        let filled = self.matcher.fill_mask(&mut self.mask)?;
        if let (Some(clock), Some(start)) = (self.clock, start) {
            self.sample.mask_times_ns.push(clock().saturating_sub(start));
        }
        self.allowed = filled.allowed();
        self.sample.dead_end = self.allowed == 0;
        Ok(!self.sample.dead_end)
    }

    fn accept(&mut self, token: u32) -> Result<()> {
        self.matcher.accept(token)?;
        self.sample.tokens += 1;
        if !self.matcher.is_terminated() {
            let bytes = self.engine.vocabulary().token_bytes(token).unwrap_or_default();
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Refuses a budget that the shortest document passes.
    fn check_budget(&self, max_tokens: usize) -> Result<()> {
        let needed = self.tokens_to_finish()?;
        if needed > max_tokens {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("the shortest document takes {needed} tokens, more than {max_tokens}"),
            ));
        }
        Ok(())
    }

    /// Tokens of the shortest completion, the end token included.
    fn tokens_to_finish(&self) -> Result<usize> {
        let completion = self.matcher.shortest_completion()?;
        let tokens = self.engine.vocabulary().greedy(&completion);
        Ok(tokens.map_or(completion.len(), |tokens| tokens.len()) + 1)
    }

    /// Accepts `token`. Where the document could then not be finished within `max_tokens`, goes
    /// back to the last state that fits, and answers false.
    fn accept_within(&mut self, token: u32, max_tokens: usize) -> Result<bool> {
        self.accept(token)?;
        let close = max_tokens.saturating_sub(self.sample.tokens) < RELAXED_TOKENS;
        if !close && !self.sample.tokens.is_multiple_of(RELAXED_STRIDE) {
            return Ok(true);
        }
        // One token can lengthen the completion by any amount: it may open a long array.
        if self.sample.tokens.saturating_add(self.tokens_to_finish()?) <= max_tokens {
            self.fits = (self.matcher.clone(), self.bytes.len(), self.sample.tokens);
            return Ok(true);
        }
        let (matcher, bytes, tokens) = self.fits.clone();
        self.matcher = matcher;
        self.bytes.truncate(bytes);
        self.sample.tokens = tokens;
        Ok(false)
    }

    /// Follows the shortest completion and ends.
    fn finish(mut self) -> Result<Sample> {
        let completion = self.matcher.shortest_completion()?;
        let mut planned =
            self.engine.vocabulary().greedy(&completion).unwrap_or_default().into_iter();
        let mut rest = &completion[..];
        while !rest.is_empty() {
            if !self.fill()? {
                return self.into_sample();
            }
            let token = planned.next().filter(|&token| self.begins(token, rest));
            let Some(token) = token.or_else(|| self.longest_beginning(rest)) else {
                self.sample.dead_end = true;
                return self.into_sample();
            };
            let length = self.engine.vocabulary().token_bytes(token).map_or(0, <[u8]>::len);
            self.accept(token)?;
            rest = rest.get(length..).unwrap_or_default();
        }
        if !self.fill()? {
            return self.into_sample();
        }
        self.end()
    }

    /// The next token of the shortest way to close the string at hand, where that is short.
    fn toward_closing(&self) -> Result<Option<u32>> {
        let completion = self.matcher.shortest_completion()?;
        let closing = completion.iter().take(SHORT_CLOSING).position(|&byte| byte == b'"');
        Ok(closing.and_then(|at| self.longest_beginning(&completion[..=at])))
    }

    fn begins(&self, token: u32, rest: &[u8]) -> bool {
        let bytes = self.engine.vocabulary().token_bytes(token).unwrap_or_default();
        !bytes.is_empty() && rest.starts_with(bytes) && self.mask.allows(token)
    }

    /// The longest allowed token that `rest` begins with.
    fn longest_beginning(&self, rest: &[u8]) -> Option<u32> {
        let vocabulary = self.engine.vocabulary();
        self.mask
            .iter()
            .filter(|&token| self.begins(token, rest))
            .max_by_key(|&token| vocabulary.token_bytes(token).map_or(0, <[u8]>::len))
    }

    /// Accepts an end token; a dead end where none is allowed.
    fn end(mut self) -> Result<Sample> {
        let ends = self.engine.vocabulary().end_ids();
        match ends.iter().copied().find(|&id| self.mask.allows(id)) {
            Some(id) => self.accept(id)?,
            None => self.sample.dead_end = true,
        }
        self.into_sample()
    }

    fn into_sample(mut self) -> Result<Sample> {
        self.sample.text = if self.sample.dead_end {
            String::from_utf8_lossy(&self.bytes).into_owned()
        } else {
            String::from_utf8(self.bytes).map_err(|error| {
                Error::new(ErrorKind::Mask, "the masks let text through that is not UTF-8")
                    .caused_by(error)
            })?
        };
        Ok(self.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Grammar;
    use crate::options::Options;
    use crate::vocab::Vocabulary;
    use std::collections::HashSet;

    fn engine(schema: &str) -> Engine {
        let grammar = Grammar::compile(schema, &Options::default()).unwrap();
        grammar.bind(&Vocabulary::bytes()).unwrap()
    }

    const RECORD: &str = r#"{"type": "object", "properties": {"name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["name", "tags"]}"#;

    #[test]
    fn the_same_seed_gives_the_same_documents() {
        let engine = engine(RECORD);
        let draw = |seed| {
            let mut sampler = Sampler::new(seed);
            (0..5).map(|_| sampler.generate(&engine, 500).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn documents_are_json_within_the_budget() {
        let engine = engine(RECORD);
        for budget in [40, 60, 500] {
            let mut sampler = Sampler::new(3);
            for _ in 0..40 {
                let sample = sampler.generate(&engine, budget).unwrap();
                assert!(!sample.dead_end && sample.tokens <= budget, "{sample:?}");
                serde_json::from_str::<serde_json::Value>(&sample.text).expect(&sample.text);
                assert!(sample.mask_times_ns.is_empty());
            }
        }
    }

    #[test]
    fn a_budget_below_the_shortest_document_is_a_limit_error() {
        let error = Sampler::new(0).generate(&engine(RECORD), 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.message().ends_with("more than 1"), "{error}");
    }

    #[test]
    fn documents_differ_and_look_like_data() {
        let engine = engine(RECORD);
        let mut sampler = Sampler::new(9);
        let texts: HashSet<String> =
            (0..50).map(|_| sampler.generate(&engine, 2000).unwrap().text).collect();
        assert!(texts.iter().filter(|text| text.len() > 3).count() > 20);
        let text: String = texts.into_iter().collect();
        let plain = |c: &char| c.is_ascii_alphanumeric() || " \"{}[],:.".contains(*c);
        let odd = text.chars().filter(|c| !plain(c)).count();
        assert!(odd * 20 < text.len(), "{odd} odd characters in {text}");
    }

    #[test]
    fn a_small_branch_does_not_repeat() {
        let engine = engine(r#"{"anyOf": [{"type": "null"}, {"type": "string", "minLength": 5}]}"#);
        let mut sampler = Sampler::new(2);
        let texts: HashSet<String> =
            (0..50).map(|_| sampler.generate(&engine, 500).unwrap().text).collect();
        assert!(texts.len() >= 48 && texts.contains("null"), "{} distinct", texts.len());
        let few = self::engine(r#"{"enum": [1, 2]}"#);
        let texts: Vec<_> = (0..9).map(|_| sampler.generate(&few, 9).unwrap().text).collect();
        assert!(texts.iter().all(|text| [1.0, 2.0].contains(&text.parse::<f64>().unwrap())));
    }

    #[test]
    fn wild_documents_end() {
        let engine = engine(RECORD);
        let mut sampler = Sampler::new(5).with_clock(|| 0);
        for _ in 0..20 {
            let sample = sampler.wild(&engine).unwrap();
            assert!(!sample.dead_end);
            assert!(sample.mask_times_ns.len() >= sample.tokens);
        }
    }

    #[test]
    fn a_guide_only_narrows() {
        let engine = engine(RECORD);
        let mut sampler = Sampler::new(4).with_guide(engine.clone());
        assert_eq!(
            sampler.generate(&engine, 500).unwrap(),
            Sampler::new(4).generate(&engine, 500).unwrap()
        );
    }
}
