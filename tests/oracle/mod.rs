//! The oracle: a slow, independent reading of "which bytes may come next".
//!
//! It shares no code with the library and is compared with it bit for bit. Simplicity beats speed.
//!
//! * `json`: a schema text with member order and exact numbers kept.
//! * `schema`: subschemas as nodes, each a list of constraints in keyword order.
//! * `shape`, `expand`: a *conjunction* (list of nodes) expands to *shapes*, one for each type and each choice
//!   of `anyOf` branches; emptiness is a least fixpoint. Values of `enum` are branches of their own.
//! * `regex`, `text`: patterns and formats as dense automata over decoded strings, and a memoised
//!   search for "can this still finish within the length".
//! * `lex`: escapes and UTF-8; `number`: the plain number form; `solver`: bounds and multiples in exact
//!   arithmetic, in both forms.
//! * `step`, `stack`, `object`: a state is a set of *threads*; a thread is a phase above a stack of containers, plain
//!   data throughout. Only threads that can finish are kept, so a state without threads is dead.
//!
//! Keywords that constrain: `type`, `enum`, `const`, `properties`, `required`,
//! `patternProperties`, `additionalProperties`, `propertyNames`, `items`, `prefixItems`, array `items` with
//! `additionalItems`, `minItems`, `maxItems`, `minLength`, `maxLength`, bounds of numbers and `multipleOf`,
//! `pattern` (regular part), `format` (date, date-time), `anyOf`, `allOf`, `$ref` (local pointers and anchors), boolean
//! schemas. All others are ignored. Under the closed policy a schema object with `properties`, but without
//! `additionalProperties` and `unevaluatedProperties`, closes the combined object: no key comes but those that
//! some conjunct names (a property, a required name, a member of a literal) or has a pattern for.
#![allow(dead_code, reason = "each integration test uses a part")]

mod expand;
mod json;
mod lex;
mod number;
mod object;
mod regex;
mod schema;
mod shape;
mod solver;
mod stack;
mod step;
mod text;

pub use step::State;

use shape::{ConjId, Sets};
use text::Texts;

/// Whitespace between the tokens of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OracleWhitespace {
    /// Runs of at most 64 bytes.
    Flexible,
    Compact,
    /// One space after `,` and after `:`, none elsewhere.
    Spaced,
    /// Runs of at most this many bytes.
    Bounded(u32),
}

/// Whitespace around the root value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OracleMargin {
    None,
    Lead,
    Both,
}

/// Which texts of a value are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OraclePolicy {
    pub whitespace: OracleWhitespace,
    pub margin: OracleMargin,
    /// Names stand in declared order; otherwise in any.
    pub declared_order: bool,
    /// Objects with `properties` and nothing about other keys refuse the keys that nobody names.
    pub closed: bool,
    /// Only the escapes that JSON requires.
    pub minimal_escapes: bool,
    /// `format` constrains.
    pub formats: bool,
    /// Every JSON spelling of a number; otherwise the plain form.
    pub any_numbers: bool,
}

impl OraclePolicy {
    /// The default but for the order of names, which is any.
    pub const ANY: OraclePolicy = OraclePolicy {
        whitespace: OracleWhitespace::Flexible,
        margin: OracleMargin::None,
        declared_order: false,
        closed: false,
        minimal_escapes: false,
        formats: true,
        any_numbers: false,
    };
}

impl Default for OraclePolicy {
    fn default() -> Self {
        OraclePolicy { declared_order: true, ..OraclePolicy::ANY }
    }
}

/// A schema under a policy.
pub struct Oracle {
    sets: Sets,
    policy: OraclePolicy,
    root: ConjId,
}

impl Oracle {
    /// Reads a schema text.
    ///
    /// # Errors
    /// A text that is no schema of a known dialect, an unresolved or remote reference, a pattern that
    /// is not regular, and `unsatisfiable` where no value fits.
    pub fn new(schema_text: &str, policy: OraclePolicy) -> Result<Oracle, String> {
        let reading = schema::Reading { closed: policy.closed, formats: policy.formats };
        let (schema, machines) = schema::read(schema_text, reading)?;
        let sets = Sets::new(schema, Texts::new(machines));
        let root = sets.conjunction(&[schema::ROOT]);
        if !sets.possible(root) {
            return Err("unsatisfiable".into());
        }
        Ok(Oracle { sets, policy, root })
    }

    /// Whether `text` is in the language; otherwise the offset of the first byte that no text of the
    /// language has there, the text's length where only the end is refused.
    pub fn accepts(&self, text: &[u8]) -> Result<(), usize> {
        let mut state = self.start();
        for (offset, &byte) in text.iter().enumerate() {
            state = self.step(&state, byte).ok_or(offset)?;
        }
        if self.may_end(&state) { Ok(()) } else { Err(text.len()) }
    }

    /// The state after `prefix`, where it is live.
    pub fn after(&self, prefix: &[u8]) -> Option<State> {
        prefix.iter().try_fold(self.start(), |state, &byte| self.step(&state, byte))
    }

    /// The mask of a state: bit `id % 32` of word `id / 32` is set for each token whose bytes are
    /// live from here. `tokens_sorted` is sorted by bytes; tokens without bytes are never allowed.
    pub fn allowed(
        &self,
        state: &State,
        tokens_sorted: &[(Vec<u8>, u32)],
        width: usize,
    ) -> Vec<u32> {
        let mut words = vec![0; width.div_ceil(32)];
        let mut previous: &[u8] = &[];
        // The states along the bytes of the previous token, as far as they are live.
        let mut states = vec![state.clone()];
        for (bytes, id) in tokens_sorted {
            let common = bytes.iter().zip(previous).take_while(|(a, b)| a == b).count();
            let dead_at = states.len() - 1; // the byte that had no next state, if there was one
            let was_dead = dead_at < previous.len();
            previous = bytes;
            if was_dead && common > dead_at {
                continue;
            }
            states.truncate(common + 1);
            while states.len() <= bytes.len() {
                let Some(next) = self.step(&states[states.len() - 1], bytes[states.len() - 1])
                else {
                    break;
                };
                states.push(next);
            }
            if states.len() == bytes.len() + 1 && !bytes.is_empty() && (*id as usize) < width {
                words[*id as usize / 32] |= 1 << (id % 32);
            }
        }
        words
    }
}
