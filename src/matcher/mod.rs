//! One generation: a matcher steps through a document token by token.
//!
//! In: an [`Engine`](crate::Engine). Out: [`Matcher`]. All that is shared between matchers lies in
//! the engine; a matcher owns its configuration by value, so a clone is one sequence more.

#[cfg(feature = "parallel")]
mod batch;
mod engine;

#[cfg(feature = "parallel")]
pub use batch::fill_bitmasks;
pub use engine::Engine;

use crate::automaton::{Config, Full};
use crate::base::Chain;
use crate::error::{Error, ErrorKind, Result};
use crate::mask::{Filled, Mask, MaskRef, memory_cap};

/// One generation in progress.
///
/// An error changes nothing: a matcher is never poisoned, and a mask that cannot be computed is an
/// error, never "everything allowed".
///
/// ```
/// use tokenmask::{Grammar, Options, SurfacePolicy, Vocabulary};
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
    history: History,
}

/// What `rollback` returns to. Two chains: when the recent one is as long as the limit, what lies
/// before it is dropped at once, and it takes that place; so nothing is ever copied.
#[derive(Clone, Debug, Default)]
struct History {
    recent: Chain<Moment>,
    len: usize,
    before: Chain<Moment>,
    /// How many moments may be returned to.
    undoable: usize,
}

impl History {
    /// Keeps a moment, and at least `limit` of those before.
    fn push(&mut self, moment: Moment, limit: usize) {
        if self.len >= limit {
            self.before = std::mem::take(&mut self.recent);
            self.len = 0;
        }
        if limit > 0 {
            self.recent.push(moment);
            self.len += 1;
        }
        self.undoable = (self.undoable + 1).min(limit);
    }

    /// The moment `n` calls ago, of which at most `undoable` may be asked for.
    fn pop(&mut self, n: usize) -> Option<Moment> {
        self.undoable -= n;
        let mut last = None;
        for _ in 0..n {
            last = self.recent.pop().or_else(|| self.before.pop());
            self.len = self.len.saturating_sub(1);
        }
        last
    }
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
        Matcher { engine, now, history: History::default() }
    }

    /// The engine that the matcher belongs to.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Bytes accepted so far.
    pub fn offset(&self) -> usize {
        self.now.offset
    }

    /// The tokens that may come next, lent: of a mask that the engine keeps as words, no word is
    /// copied. After the end those are the end tokens.
    ///
    /// A mask is kept as words from when it is asked for again, as long as
    /// [`Limits::cache_bytes`](crate::Limits) leaves room; others are put together in words of their
    /// own.
    ///
    /// # Errors
    /// `mask` where a pattern meets its memory cap.
    ///
    /// ```
    /// let engine = tokenmask::Grammar::any_object().bind(&tokenmask::Vocabulary::bytes())?;
    /// let mask = engine.matcher().mask()?;
    /// assert_eq!((mask.single(), mask.width()), (Some(u32::from(b'{')), 257));
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn mask(&self) -> Result<MaskRef> {
        let masks = self.engine.masks();
        let lent = if self.now.terminated {
            masks.lend_end()
        } else {
            masks.lend(self.engine.automaton(), &self.now.config)?
        };
        Ok(MaskRef::new(lent, self.engine.vocabulary().width()))
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
        match self.after_token(&self.now, token) {
            Ok(next) => {
                self.advance(next);
                Ok(())
            }
            Err(refusal) => {
                let bytes = self.engine.vocabulary().text_bytes(token).unwrap_or_default();
                Err(self.explain(refusal, Some(token), bytes))
            }
        }
    }

    /// Accepts bytes, whatever tokens they would be.
    ///
    /// # Errors
    /// Those of [`Matcher::accept`].
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let next = self
            .after_bytes(&self.now, bytes)
            .map_err(|refusal| self.explain(refusal, None, bytes))?;
        self.advance(next);
        Ok(())
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
        let mut now = self.now.clone();
        tokens
            .iter()
            .take_while(|&&token| self.after_token(&now, token).map(|next| now = next).is_ok())
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
        let undoable = self.history.undoable;
        if n > undoable {
            let limit = self.engine.limits().rollback;
            let what = format!("a rollback of {n} calls where {undoable} are kept");
            return Err(Error::limit_met("rollback", limit, &what));
        }
        if let Some(moment) = self.history.pop(n) {
            self.now = moment;
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
    /// choice, or where the document may end. Where the policy allows every string escape or free
    /// whitespace there nearly always is one; [`SurfacePolicy::tight`](crate::SurfacePolicy::tight)
    /// leaves none inside names and enumerated strings.
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

    fn advance(&mut self, next: Moment) {
        let before = std::mem::replace(&mut self.now, next);
        self.history.push(before, self.engine.limits().rollback);
    }

    fn after_token(&self, now: &Moment, token: u32) -> Result<Moment, Refusal> {
        let vocabulary = self.engine.vocabulary();
        if now.terminated {
            return Err(Refusal::AfterEnd);
        }
        if vocabulary.is_end(token) {
            let ended = || Moment { terminated: true, ..now.clone() };
            let can_end = self.engine.automaton().can_end(&now.config);
            return can_end.then(ended).ok_or(Refusal::NoEnd);
        }
        match vocabulary.text_bytes(token) {
            Some(bytes) => self.after_bytes(now, bytes),
            None if vocabulary.is_special(token) => Err(Refusal::Special),
            None => Err(Refusal::Unknown),
        }
    }

    fn after_bytes(&self, now: &Moment, bytes: &[u8]) -> Result<Moment, Refusal> {
        if now.terminated {
            return Err(Refusal::AfterEnd);
        }
        let mut config = now.config.clone();
        match self.engine.automaton().steps(&mut config, bytes) {
            Err(Full) => Err(Refusal::MemoryCap),
            Ok(Some(taken)) => Err(Refusal::Byte { taken, byte: bytes[taken] }),
            Ok(None) if !self.engine.can_spell(&config) => Err(Refusal::Unspellable),
            Ok(None) => Ok(Moment { config, offset: now.offset + bytes.len(), terminated: false }),
        }
    }

    /// The error for a refusal of `bytes` (those of `token`, if it is one) at this moment.
    fn explain(&self, refusal: Refusal, token: Option<u32>, bytes: &[u8]) -> Error {
        let (now, automaton) = (&self.now, self.engine.automaton());
        let what = token.map_or_else(|| "these bytes".into(), |token| format!("token {token}"));
        let mut offset = now.offset;
        let message = match refusal {
            Refusal::MemoryCap => return memory_cap(Full),
            Refusal::AfterEnd => format!("{what} cannot come after the end"),
            Refusal::NoEnd => {
                let expected = automaton.expected(&now.config);
                format!("the document cannot end here; expected {expected}")
            }
            Refusal::Special => format!("{what} is special and never allowed"),
            Refusal::Unknown => {
                let vocabulary = self.engine.vocabulary();
                let (len, width) = (vocabulary.len(), vocabulary.width());
                format!("{what} has no bytes in this vocabulary of {len} ids and width {width}")
            }
            Refusal::Unspellable => {
                format!("the vocabulary has no tokens that could finish the document after {what}")
            }
            Refusal::Byte { taken, byte } => {
                let mut before = now.config.clone();
                // These steps have just been taken once.
                let _ = automaton.steps(&mut before, &bytes[..taken]);
                offset += taken;
                let (byte, expected) =
                    (char::from(byte).escape_default(), automaton.expected(&before));
                format!("`{byte}` at byte {offset} is refused; expected {expected}")
            }
        };
        Error::new(ErrorKind::Token, message).at_offset(offset)
    }
}

/// Why a token or bytes are refused. The message is made only for those who want it: a host that
/// tries out drafted tokens wants none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    AfterEnd,
    /// The document cannot end here.
    NoEnd,
    Special,
    Unknown,
    /// So many bytes were taken, then this one was refused.
    Byte {
        taken: usize,
        byte: u8,
    },
    /// Nothing in the vocabulary could finish the document.
    Unspellable,
    /// A pattern met its memory cap.
    MemoryCap,
}
