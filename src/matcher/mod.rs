//! One generation: a matcher steps through a document token by token.
//!
//! In: an [`Engine`](crate::Engine). Out: [`Matcher`]. All that is shared between matchers lies in
//! the engine; a matcher owns its configuration by value, so a clone is one sequence more.

mod engine;

pub use engine::Engine;

use crate::automaton::{Config, Full};
use crate::error::{Error, ErrorKind, Result};
use crate::mask::{Filled, Mask, memory_cap};
use std::collections::VecDeque;

/// One generation in progress.
///
/// An error changes nothing: a matcher is never poisoned, and a mask that cannot be computed is an
/// error, never "everything allowed".
///
/// ```
/// use tokenmask::{Grammar, Options, SurfacePolicy, Vocabulary};
/// // With all escapes allowed, an `e` could also come as `\u0065`: nothing would be forced.
/// let options = Options { policy: SurfacePolicy::tight(), ..Options::default() };
/// let grammar = Grammar::compile(r#"{"enum": ["yes", "no"]}"#, &options)?;
/// let engine = grammar.bind(&Vocabulary::bytes())?;
/// let mut matcher = engine.matcher();
/// matcher.accept_bytes(b"\"y")?;
/// assert_eq!(matcher.forced_bytes(), b"es\"");
/// assert!(matcher.accept(u32::from(b'n')).is_err());
/// matcher.accept_bytes(b"es\"")?;
/// assert!(matcher.is_accepting() && !matcher.is_terminated());
/// matcher.accept(256)?; // the end token of this vocabulary
/// assert!(matcher.is_terminated());
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    engine: Engine,
    now: Moment,
    /// What `rollback` returns to, the latest last.
    history: VecDeque<Moment>,
}

/// Where a generation stands.
#[derive(Clone, Debug)]
struct Moment {
    config: Config,
    /// Bytes read.
    offset: usize,
    terminated: bool,
}

impl Matcher {
    pub(crate) fn new(engine: Engine) -> Matcher {
        let config = engine.automaton().start();
        let now = Moment { config, offset: 0, terminated: false };
        Matcher { engine, now, history: VecDeque::new() }
    }

    /// The engine that the matcher belongs to.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Bytes accepted so far.
    pub fn offset(&self) -> usize {
        self.now.offset
    }

    /// Fills `mask` with the tokens that may come next. After the end those are the end tokens.
    ///
    /// # Errors
    /// `mask` where the mask is of another width, or a pattern meets its memory cap.
    pub fn fill_mask(&self, mask: &mut Mask) -> Result<Filled> {
        let width = self.engine.vocabulary().width();
        if mask.width() != width {
            let message = format!(
                "the mask is for {} tokens, the vocabulary has {width}: make it with `new_mask`",
                mask.width()
            );
            return Err(Error::new(ErrorKind::Mask, message));
        }
        self.fill(mask.words_mut())
    }

    /// The same for words of the caller's: bit `i % 32` of word `i / 32` is token `i`. Words behind
    /// the vocabulary's are set to 0.
    ///
    /// # Errors
    /// `mask` where `words` is too short, or a pattern meets its memory cap.
    ///
    /// ```
    /// let engine = tokenmask::Grammar::any_object().bind(&tokenmask::Vocabulary::bytes())?;
    /// let mut words = [u32::MAX; 10];
    /// let filled = engine.matcher().fill_bitmask(&mut words)?;
    /// assert_eq!((filled.allowed(), words[b'{' as usize / 32]), (1, 1 << (b'{' % 32)));
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn fill_bitmask(&self, words: &mut [u32]) -> Result<Filled> {
        let need = self.engine.vocabulary().width().div_ceil(32);
        if words.len() < need {
            let message = format!("{} words, but the mask takes {need}", words.len());
            return Err(Error::new(ErrorKind::Mask, message));
        }
        self.fill(words)
    }

    fn fill(&self, words: &mut [u32]) -> Result<Filled> {
        if self.now.terminated {
            return Ok(self.engine.masks().fill_end(words));
        }
        self.engine.masks().fill(self.engine.automaton(), &self.now.config, words)
    }

    /// Accepts one token.
    ///
    /// # Errors
    /// `token`, and the matcher is as it was: the token is unknown, never allowed, refused here
    /// ([`Error::offset`] is the document's byte that no document can have there; the message says
    /// what was expected), or comes after the end.
    pub fn accept(&mut self, token: u32) -> Result<()> {
        let next = self.after_token(token)?;
        self.advance(next)
    }

    /// Accepts bytes, whatever tokens they would be.
    ///
    /// # Errors
    /// Those of [`Matcher::accept`].
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let next = self.after_bytes(bytes)?;
        self.advance(next)
    }

    /// How many of `tokens` would be accepted one after the other. The matcher does not change.
    ///
    /// ```
    /// let engine = tokenmask::Grammar::any_object().bind(&tokenmask::Vocabulary::bytes())?;
    /// let tokens = b"{}}".map(u32::from);
    /// assert_eq!(engine.matcher().validate(&tokens), 2);
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn validate(&self, tokens: &[u32]) -> usize {
        let mut probe = Matcher {
            engine: self.engine.clone(),
            now: self.now.clone(),
            history: VecDeque::new(),
        };
        tokens
            .iter()
            .take_while(|&&token| probe.after_token(token).map(|next| probe.now = next).is_ok())
            .count()
    }

    /// Takes back the last `n` calls of [`Matcher::accept`] and [`Matcher::accept_bytes`], the end
    /// token's included.
    ///
    /// # Errors
    /// `limit` where there were fewer, or more than [`Limits::rollback`](crate::Limits) are asked
    /// for; the matcher is as it was.
    ///
    /// ```
    /// let engine = tokenmask::Grammar::any_json().bind(&tokenmask::Vocabulary::bytes())?;
    /// let mut matcher = engine.matcher();
    /// matcher.accept_bytes(b"7")?;
    /// matcher.accept(256)?;
    /// matcher.rollback(1)?;
    /// assert!(matcher.is_accepting() && !matcher.is_terminated());
    /// assert!(matcher.rollback(2).is_err());
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn rollback(&mut self, n: usize) -> Result<()> {
        let Some(index) = self.history.len().checked_sub(n) else {
            let limit = self.engine.limits().rollback;
            let what = format!("a rollback of {n} calls where {} are kept", self.history.len());
            return Err(Error::limit_met("rollback", limit, &what));
        };
        if n > 0 {
            self.now = self.history[index].clone();
            self.history.truncate(index);
        }
        Ok(())
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        *self = Matcher::new(self.engine.clone());
    }

    /// Whether an end token is allowed now.
    pub fn is_accepting(&self) -> bool {
        self.now.terminated || self.engine.automaton().can_end(&self.now.config)
    }

    /// Whether an end token was accepted.
    pub fn is_terminated(&self) -> bool {
        self.now.terminated
    }

    /// The bytes that every continuation begins with: nothing else may come. Empty where there is a
    /// choice, or where the document may end.
    pub fn forced_bytes(&self) -> Vec<u8> {
        let automaton = self.engine.automaton();
        let (mut config, mut forced) = (self.now.config.clone(), Vec::new());
        let cap = self.engine.limits().completion_bytes;
        while !self.now.terminated && !automaton.can_end(&config) && forced.len() < cap {
            let Some((byte, next)) = automaton.only_step(&config) else { break };
            forced.push(byte);
            config = next;
        }
        forced
    }

    /// The fewest bytes that finish the document, over the bytes that the vocabulary can spell.
    /// (Behind the backslash of an escape in a string with a pattern, some bytes that finish it.)
    ///
    /// # Errors
    /// `limit` above [`Limits::completion_bytes`](crate::Limits).
    ///
    /// ```
    /// let engine = tokenmask::Grammar::any_json().bind(&tokenmask::Vocabulary::bytes())?;
    /// let mut matcher = engine.matcher();
    /// matcher.accept_bytes(br#"{"a": [1, "x"#)?;
    /// assert_eq!(matcher.shortest_completion()?, b"\"]}");
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn shortest_completion(&self) -> Result<Vec<u8>> {
        if self.now.terminated {
            return Ok(Vec::new());
        }
        let limit = self.engine.limits().completion_bytes;
        self.engine.automaton().completion(&self.now.config, self.engine.costs(), limit)
    }

    /// What may come next, in words.
    pub fn expected(&self) -> String {
        if self.now.terminated {
            return "nothing: the document has ended".into();
        }
        self.engine.automaton().expected(&self.now.config)
    }

    fn advance(&mut self, next: Moment) -> Result<()> {
        let limit = self.engine.limits().rollback;
        if limit > 0 {
            if self.history.len() >= limit {
                self.history.pop_front();
            }
            self.history.push_back(std::mem::replace(&mut self.now, next));
        } else {
            self.now = next;
        }
        Ok(())
    }

    fn after_token(&self, token: u32) -> Result<Moment> {
        let vocabulary = self.engine.vocabulary();
        let refuse =
            |message: String| Err(Error::new(ErrorKind::Token, message).at_offset(self.now.offset));
        if self.now.terminated {
            return refuse(format!("token {token} comes after the end"));
        }
        if vocabulary.is_end(token) {
            if !self.is_accepting() {
                let expected = self.expected();
                return refuse(format!("the document cannot end here; expected {expected}"));
            }
            return Ok(Moment { terminated: true, ..self.now.clone() });
        }
        match vocabulary.text_bytes(token) {
            Some(bytes) => self.after_bytes(bytes),
            None if vocabulary.is_special(token) => {
                refuse(format!("token {token} is special and never allowed"))
            }
            None => refuse(format!(
                "token {token} has no bytes in this vocabulary of {} ids and width {}",
                vocabulary.len(),
                vocabulary.width()
            )),
        }
    }

    fn after_bytes(&self, bytes: &[u8]) -> Result<Moment> {
        if self.now.terminated {
            return Err(
                Error::new(ErrorKind::Token, "bytes come after the end").at_offset(self.now.offset)
            );
        }
        let automaton = self.engine.automaton();
        let mut config = self.now.config.clone();
        let refused = automaton.steps(&mut config, bytes).map_err(|Full| memory_cap())?;
        if let Some(taken) = refused {
            let mut before = self.now.config.clone();
            automaton.steps(&mut before, &bytes[..taken]).map_err(|Full| memory_cap())?;
            let offset = self.now.offset + taken;
            let byte = char::from(bytes[taken]).escape_default();
            let expected = automaton.expected(&before);
            let message = format!("`{byte}` at byte {offset} is refused; expected {expected}");
            return Err(Error::new(ErrorKind::Token, message).at_offset(offset));
        }
        if !self.engine.can_spell(&config) {
            let message = "the vocabulary has no tokens that could finish the document after this";
            return Err(Error::new(ErrorKind::Token, message).at_offset(self.now.offset));
        }
        Ok(Moment { config, offset: self.now.offset + bytes.len(), terminated: false })
    }
}
