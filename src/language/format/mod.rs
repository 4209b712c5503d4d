//! The values of `format`: one row each, with its source and its language.
//!
//! In: the name of a format and the dialect in force. Out: a row that says whether the drafts define
//! it, which document does, the language as a [`Factor`], and what of it only a check can see.
//!
//! Languages are texts of ECMA-262 patterns, or automata that are written down, made when they are first
//! asked for and kept for the life of the process. Rows of several patterns are joined when they are
//! built, so that a row is always one factor. A row without `rest` is exact: its language is the
//! format.

mod a_label;
mod identifiers;
mod idn;
mod join;
mod leap;
mod network;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod uri;

use super::factor::Wide;
use super::{Alphabet, Factor, Language, PatternError, ecma};
use crate::base::ByteSet;
use crate::options::{Dialect, Limits};
use std::sync::{Arc, LazyLock, OnceLock};

/// A value of the keyword `format`.
#[derive(Debug)]
pub(crate) struct Format {
    /// The keyword's value.
    pub(crate) name: &'static str,
    /// Whether a draft of JSON Schema defines it.
    pub(crate) standard: bool,
    /// The document that says which strings it holds for, or who emits the name.
    pub(crate) source: &'static str,
    /// The last dialect in which it means this; `None`: all for which no row before it holds.
    until: Option<Dialect>,
    texts: Texts,
    /// A larger language with fewer states, for use where the exact one would meet a limit.
    wide: Option<Texts>,
    /// Whether the exact one is so large that it is never tried beside others.
    huge: bool,
    /// The most characters of a text.
    max: Option<u64>,
    /// What of the format only a check can see; `None`: nothing.
    rest: Option<&'static str>,
    factor: OnceLock<Option<Arc<Factor>>>,
    /// By whether escapes are minimal.
    alone: [OnceLock<Option<Arc<Language>>>; 2],
}

/// How a row's language is written down.
#[derive(Clone, Copy, Debug)]
enum Texts {
    /// An ECMA-262 pattern for the whole text, without anchors.
    Whole(&'static str),
    /// The same, composed.
    Made(fn() -> String),
    /// An automaton, written down.
    Built(fn() -> Result<Factor, PatternError>),
    /// Several parts in a row, for each of them patterns that hold at once.
    Parts(fn() -> Vec<Vec<String>>),
}

const TABLES: [&[Format]; 6] = [
    &time::FORMATS,
    &network::FORMATS,
    &idn::FORMATS,
    &uri::FORMATS,
    &text::FORMATS,
    &identifiers::FORMATS,
];

/// Every format that is known.
pub(crate) fn formats() -> impl Iterator<Item = &'static Format> {
    TABLES.into_iter().flatten()
}

const fn row(name: &'static str, source: &'static str, texts: Texts) -> Format {
    Format {
        name,
        standard: false,
        source,
        until: None,
        texts,
        wide: None,
        huge: false,
        max: None,
        rest: None,
        factor: OnceLock::new(),
        alone: [const { OnceLock::new() }; 2],
    }
}

/// A format of the drafts.
const fn draft(name: &'static str, source: &'static str, texts: Texts) -> Format {
    let mut format = row(name, source, texts);
    format.standard = true;
    format
}

impl Format {
    const fn with_until(mut self, dialect: Dialect) -> Format {
        self.until = Some(dialect);
        self
    }

    const fn with_wide(mut self, wide: Texts) -> Format {
        self.wide = Some(wide);
        self
    }

    const fn with_wide_beside_others(mut self, wide: Texts) -> Format {
        self.huge = true;
        self.with_wide(wide)
    }

    const fn with_max(mut self, max: u64) -> Format {
        self.max = Some(max);
        self
    }

    const fn with_rest(mut self, rest: &'static str) -> Format {
        self.rest = Some(rest);
        self
    }

    /// What `name` means in a dialect.
    pub(crate) fn lookup(name: &str, dialect: Dialect) -> Option<&'static Format> {
        let holds = |format: &&Format| format.until.is_none_or(|until| dialect <= until);
        formats().filter(|format| format.name == name).find(holds)
    }

    /// What of the format its language cannot say; `None`: nothing, it is exact.
    pub(crate) fn rest(&self) -> Option<&'static str> {
        self.rest
    }

    /// Whether newer dialects mean something else by the name.
    #[cfg(feature = "check")]
    pub(crate) fn is_older(&self) -> bool {
        self.until.is_some()
    }

    /// The most characters of a text.
    pub(crate) fn max(&self) -> Option<u64> {
        self.max
    }

    /// What tells a row from all others.
    pub(crate) fn key(&self) -> Box<str> {
        format!("{} ({})", self.name, self.source).into()
    }

    /// Its language, lengths aside. Every row has one: a test sees to it.
    pub(crate) fn factor(&self) -> Option<Arc<Factor>> {
        let build = || {
            let factor = self::build(self.texts).ok()?;
            let wide = self.wide.map(|texts| -> Wide {
                LazyLock::new(Box::new(move || self::build(texts).ok().map(Arc::new)))
            });
            let factor = factor.with_wide(wide, self.huge);
            Some(Arc::new(if self.huge { factor } else { factor.with_followed() }))
        };
        self.factor.get_or_init(build).clone()
    }

    /// Its language beside nothing else, where everything can be spelled.
    pub(crate) fn alone(&self, minimal_escapes: bool) -> Option<Arc<Language>> {
        let build = || {
            let alphabet = Alphabet::shared(ByteSet::FULL, minimal_escapes);
            let factor = [self.factor()?];
            let limits = Limits::default();
            Language::compile(&factor, &[], 0, self.max, &alphabet, &limits).ok().map(Arc::new)
        };
        self.alone[usize::from(minimal_escapes)].get_or_init(build).clone()
    }

    /// Whether `text` is in its language.
    #[cfg(any(test, feature = "check"))]
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.alone(false).is_some_and(|language| language.matches(text))
    }
}

/// Far above what the rows take.
const BYTES: usize = 64 << 20;

fn build(texts: Texts) -> Result<Factor, PatternError> {
    match texts {
        Texts::Whole(text) => pattern(text),
        Texts::Made(text) => pattern(&text()),
        Texts::Built(factor) => factor(),
        Texts::Parts(parts) => {
            let part =
                |texts: Vec<String>| texts.iter().map(|text| pattern(text).map(Arc::new)).collect();
            join::join(&parts().into_iter().map(part).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

/// The language of what each of `texts` matches as a whole.
fn language(texts: &[String]) -> Result<Language, PatternError> {
    let (alphabet, limits) = (Alphabet::shared(ByteSet::FULL, false), Limits::default());
    let factors = texts.iter().map(|text| pattern(text).map(Arc::new));
    let factors = factors.collect::<Result<Vec<_>, _>>()?;
    let language = Language::compile(&factors, &[], 0, None, &alphabet, &limits);
    language.map_err(|limit| PatternError::Limit { name: limit.name })
}

/// The texts that `text` matches as a whole.
fn pattern(text: &str) -> Result<Factor, PatternError> {
    Factor::from_hir(&ecma::parse(&format!("^(?:{text})$"))?.hir, BYTES)
}
