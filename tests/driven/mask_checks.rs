//! Mask checks: what may stand, and what must not, behind a prefix.

use crate::baseline::{Found, Outcome};
use crate::feed::{bytes, feed_part, feed_token, may_end, vocabularies};
use crate::verdict::{Explainer, Verdict, guarded};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;
use tokenmask::{Grammar, Matcher, Numbers, Options, Order, SurfacePolicy, Vocabulary, Whitespace};

/// The settings of a case or of a mask check.
#[derive(Clone, Default, Deserialize)]
pub struct Setting {
    pub order: Option<String>,
    pub whitespace: Option<Value>,
    pub vocab: Option<Vec<String>>,
}

impl Setting {
    pub fn apply(&self, policy: &mut SurfacePolicy) {
        if let Some(order) = &self.order {
            assert_eq!(order, "any", "an unknown order");
            policy.order = Order::Any;
        }
        if let Some(value) = &self.whitespace {
            policy.whitespace = whitespace(value);
        }
    }
}

/// `"bounded"` is the default; `{"max": n}` a bound.
fn whitespace(value: &Value) -> Whitespace {
    match value["max"].as_u64() {
        Some(max) => Whitespace::Bounded(u32::try_from(max).expect("a bound")),
        None => {
            assert_eq!(value, "bounded", "an unknown whitespace");
            Whitespace::default()
        }
    }
}

/// What is allowed and refused behind `prefix`.
#[derive(Deserialize)]
pub struct MaskCheck {
    prefix: String,
    #[serde(default)]
    allow: Vec<Allowed>,
    #[serde(default)]
    block: Vec<String>,
    /// Refused by the default policy.
    #[serde(default)]
    policy_block: Vec<String>,
    eos: Option<Use>,
    special: Option<Use>,
    #[serde(flatten)]
    pub setting: Setting,
}

#[derive(Deserialize)]
struct Allowed {
    token: String,
    /// What ends the document behind the token.
    complete: String,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Use {
    Allow,
    Block,
}

impl MaskCheck {
    /// Everything but what the default policy says.
    pub fn run(
        &self,
        name: &str,
        schema: &str,
        options: &Options,
        vocabulary: &Vocabulary,
    ) -> Vec<Result<Found, String>> {
        let grammar = Grammar::compile(schema, options).expect("it compiled");
        let explainer = Explainer::new(schema, options, &grammar);
        let matcher = match self.after_prefix(name, &grammar, vocabulary) {
            Ok(matcher) => matcher,
            Err(wrong) => return vec![wrong],
        };
        let mut all = Vec::new();
        for (index, allowed) in self.allow.iter().enumerate() {
            let name = format!("{name} allow {index}");
            all.push(guarded(&name, || allowed.judge(&matcher)));
        }
        for (index, token) in self.block.iter().enumerate() {
            let name = format!("{name} block {index}");
            let any = options.policy.numbers == Numbers::Any;
            all.push(guarded(&name, || self.blocked(token, any, &matcher, &explainer)));
        }
        if let Some(eos) = self.eos {
            let found = || match (may_end(&matcher), eos) {
                (true, Use::Allow) | (false, Use::Block) => (Outcome::Pass, String::new()),
                (false, Use::Allow) => (Outcome::RejectsValid, self.prefix.clone()),
                (true, Use::Block) => explainer.accepted_invalid(&bytes(&self.prefix)),
            };
            all.push(guarded(&format!("{name} end"), found));
        }
        if self.special == Some(Use::Block) {
            all.push(guarded(&format!("{name} special"), || no_special(&matcher)));
        }
        all
    }

    /// What the default policy refuses.
    pub fn run_default(
        &self,
        name: &str,
        schema: &str,
        options: &Options,
        vocabulary: &Vocabulary,
    ) -> Vec<Result<Found, String>> {
        if self.policy_block.is_empty() {
            return Vec::new();
        }
        let name = format!("{name} default policy");
        let grammar = Grammar::compile(schema, options).expect("it compiled");
        let matcher = match self.after_prefix(&name, &grammar, vocabulary) {
            Ok(matcher) => matcher,
            Err(wrong) => return vec![wrong],
        };
        let judge = |(index, token): (usize, &String)| {
            guarded(&format!("{name} block {index}"), || {
                let is_refused = after(&matcher, &bytes(token)).is_err();
                let outcome = if is_refused { Outcome::Pass } else { Outcome::OutsidePolicy };
                (outcome, format!("{token:?}"))
            })
        };
        self.policy_block.iter().enumerate().map(judge).collect()
    }

    /// A matcher that has read the prefix. `Err`: what to report where it cannot.
    fn after_prefix(
        &self,
        name: &str,
        grammar: &Grammar,
        vocabulary: &Vocabulary,
    ) -> Result<Matcher, Result<Found, String>> {
        let mut matcher = grammar.bind(vocabulary).expect("it was bound").matcher();
        let mut refused = None;
        let found = guarded(&format!("{name} prefix"), || {
            refused = feed_part(&mut matcher, &bytes(&self.prefix)).err();
            (Outcome::RejectsValid, format!("refused at byte {refused:?}: {}", self.prefix))
        });
        if refused.is_none() && found.is_ok() { Ok(matcher) } else { Err(found) }
    }

    /// The verdict on a token that begins no valid document: where it is accepted, what it leads to
    /// must be explained. The reports know the plain form alone: where any spelling of a number will
    /// do, what the token leads to may be valid (`0.98e2` for 98).
    fn blocked(
        &self,
        token: &str,
        any: bool,
        matcher: &Matcher,
        explainer: &Explainer<'_>,
    ) -> Verdict {
        let mut text = [bytes(&self.prefix), bytes(token)].concat();
        let Ok(accepted) = after(matcher, &bytes(token)) else {
            return (Outcome::Pass, String::new());
        };
        text.extend(accepted.shortest_completion().expect("a completion"));
        if any && explainer.is_valid(&text) {
            return (Outcome::Pass, String::new());
        }
        let (outcome, detail) = explainer.accepted_invalid(&text);
        (outcome, format!("{token:?}: {detail}"))
    }
}

impl Allowed {
    /// That the token is allowed, and that the document can be ended behind it.
    fn judge(&self, matcher: &Matcher) -> Verdict {
        let token = &self.token;
        let mut matcher = match after(matcher, &bytes(token)) {
            Ok(matcher) => matcher,
            Err(at) => return (Outcome::RejectsValid, format!("{token:?} is refused at {at}")),
        };
        if let Err(at) = feed_part(&mut matcher, &bytes(&self.complete)) {
            return (Outcome::RejectsValid, format!("refused at {at} behind {token:?}"));
        }
        let outcome = if may_end(&matcher) { Outcome::Pass } else { Outcome::RejectsValid };
        (outcome, format!("no end behind {token:?}"))
    }
}

/// The matcher behind a text that is one token: every token of the vocabulary with these bytes, or
/// the tokens that it is cut into where there is none.
fn after(matcher: &Matcher, text: &[u8]) -> Result<Matcher, usize> {
    let name = matcher.engine().vocabulary().name();
    let tokens = tokens().get(name).and_then(|tokens| tokens.get(text));
    let mut next = matcher.clone();
    let Some(tokens) = tokens else { return feed_part(&mut next, text).map(|()| next) };
    let mut fed = tokens.iter().map(|&token| {
        let mut next = matcher.clone();
        feed_token(&mut next, token).map(|()| next)
    });
    let first = fed.next().expect("bytes of a token");
    for other in fed {
        assert_eq!(other.is_ok(), first.is_ok(), "tokens of the same bytes: {tokens:?}");
    }
    first
}

/// Of each shared vocabulary: bytes → tokens that are text.
fn tokens() -> &'static HashMap<&'static str, HashMap<Vec<u8>, Vec<u32>>> {
    type Tokens = HashMap<Vec<u8>, Vec<u32>>;
    static ALL: LazyLock<HashMap<&'static str, Tokens>> = LazyLock::new(|| {
        let of = |vocabulary: &'static Vocabulary| {
            let mut tokens = Tokens::new();
            for id in (0..vocabulary.len() as u32).filter(|&id| !vocabulary.is_special(id)) {
                let bytes = vocabulary.token_bytes(id).filter(|bytes| !bytes.is_empty());
                bytes.into_iter().for_each(|b| tokens.entry(b.to_vec()).or_default().push(id));
            }
            (vocabulary.name(), tokens)
        };
        vocabularies().iter().map(of).collect()
    });
    &ALL
}

/// That no special token is allowed, but the end where the document may end.
fn no_special(matcher: &Matcher) -> Verdict {
    let vocabulary = matcher.engine().vocabulary();
    let mut mask = matcher.engine().new_mask();
    matcher.fill_mask(&mut mask).expect("a mask");
    let special = |id: &u32| vocabulary.is_special(*id) && !vocabulary.is_end(*id);
    let wrong: Vec<u32> = (0..vocabulary.width() as u32)
        .filter(special)
        .filter(|&id| mask.allows(id) || matcher.clone().accept(id).is_ok())
        .collect();
    let outcome = if wrong.is_empty() { Outcome::Pass } else { Outcome::AcceptsInvalid };
    (outcome, format!("special tokens {wrong:?} are allowed"))
}
