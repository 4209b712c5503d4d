//! Compile a JSON Schema into token masks; whatever a mask cannot enforce is listed, described to
//! the model, and checked afterwards.
//!
//! A generation loop: fill the mask, apply it to the logits, sample, accept.
//!
//! ```
//! use tokenmask::{Grammar, Options, Vocabulary};
//!
//! let schema = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;
//! let grammar = Grammar::compile(schema, &Options::default())?; // no vocabulary needed
//! let engine = grammar.bind(&Vocabulary::bytes())?; // cheap; owns the caches of this pair
//! let mut matcher = engine.matcher();
//! let mut mask = engine.new_mask(); // bit `i % 32` of word `i / 32` is token `i`, 1 = allowed
//! # let mut model = br#"{"ok": true}"#.iter().map(|&byte| u32::from(byte)).chain([256]);
//! # let mut sample = |logits: &[f32]| model.next().filter(|&id| logits[id as usize] == 0.0).unwrap();
//! while !matcher.is_terminated() {
//!     matcher.fill_mask(&mut mask)?;
//!     let mut logits = vec![0.0; engine.vocabulary().width()]; // the model's
//!     mask.apply(&mut logits)?; // −∞ where a token is not allowed
//!     let token = sample(&logits);
//!     matcher.accept(token)?; // a refused token leaves the matcher as it was
//! }
//! # Ok::<(), tokenmask::Error>(())
//! ```
//!
//! No keyword is dropped in silence: the report has an entry for each. What is not compiled into
//! the mask is routed to a check of the finished document, and the mask is wider there, never
//! narrower.
//!
//! ```
//! use tokenmask::{Grammar, Options, Route};
//!
//! let schema = r#"{"type": "string", "maxLength": 90, "format": "hostname"}"#;
//! let grammar = Grammar::compile(schema, &Options::default())?;
//! let report = grammar.report();
//! assert_eq!(report.route_of("#/type"), Some(Route::Mask));
//! assert_eq!(report.route_of("#/format"), Some(Route::MaskCheck));
//! assert!(!report.is_exact());
//! let table = report.to_string();
//! assert!(table.starts_with("mask        #/type"), "{table}");
//! assert!(table.contains("mask+check  #/format"), "{table}");
//! # Ok::<(), tokenmask::Error>(())
//! ```
//!
//! | what you have | which call |
//! | --- | --- |
//! | raw logits, `&mut [f32]` | [`Matcher::fill_mask`], [`Mask::apply`] |
//! | candle: a logits `Tensor` | `to_vec1::<f32>()`, [`Mask::apply`], and a tensor of it again |
//! | mistral.rs, or a kernel that reads a bit mask as llguidance and XGrammar write it | [`Matcher::fill_bitmask`] into its `&mut [u32]` |
//! | llama.cpp: an array of candidates | [`Matcher::mask`], then [`Mask::allows`] for each candidate's id |
//! | a kernel that reads the words where they lie | [`Matcher::mask`], [`Mask::words`]: a mask that is kept is not copied |
//! | a batch of sequences | `fill_bitmasks` (feature `parallel`) |
//! | an embedded vocabulary's name | `Vocabulary::builtin` (feature `builtin-vocabularies`) |
//! | a Hugging Face `tokenizer.json` | [`Vocabulary::from_file`] |
//! | the bytes of each token | [`Vocabulary::from_parts`], [`Vocabulary::with_width`] where the logits are wider |
//! | drafted tokens to verify | [`Matcher::validate`], [`Matcher::rollback`] |
//! | an output that was cut off | [`Matcher::shortest_completion`] |
//!
//! Which texts of a valid value are allowed (whitespace, order of names, number forms, escapes) is
//! the [`SurfacePolicy`]. Sizes at which work stops are in [`Limits`].

mod automaton;
mod base;
#[cfg(feature = "check")]
pub mod check;
mod compile;
mod error;
mod language;
mod mask;
mod matcher;
mod options;
mod report;
pub mod sample;
mod schema;
mod values;
mod vocab;

pub use base::{ByteSet, Finding, Route};
pub use compile::Grammar;
pub use error::{Error, ErrorKind, Result};
pub use mask::{Filled, Mask, MaskRef};
#[cfg(feature = "parallel")]
pub use matcher::fill_bitmasks;
pub use matcher::{Engine, Matcher};
pub use options::{
    Content, Dialect, Escapes, Formats, Limits, Margin, Numbers, Objects, Options, Order,
    SurfacePolicy, Whitespace,
};
pub use report::{Entry, Report, Use};
pub use vocab::{Encoded, Vocabulary, VocabularyStats};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
