//! The strings of a shape: its languages and lengths compiled together, as far as the limits allow.

use super::shape::{FactorId, StringShape, Strings};
use crate::language::{Alphabet, Factor, Language};
use crate::options::Limits;
use std::sync::Arc;

/// What a string shape compiled to, and what had to be left out.
#[derive(Clone, Debug)]
pub(super) struct CompiledString {
    /// `None`: no string at all.
    pub(super) strings: Option<Strings>,
    pub(super) dropped_factors: Vec<FactorId>,
    pub(super) dropped_lengths: bool,
    pub(super) limit: Option<&'static str>,
}

/// Compiles a string shape. Where a limit is met, first the lengths are left out, then the last
/// language, and so on: the rest stays exact.
pub(super) fn compile_string(
    mut shape: StringShape,
    all: &[Arc<Factor>],
    alphabet: &Arc<Alphabet>,
    limits: &Limits,
) -> CompiledString {
    let mut compiled = CompiledString {
        strings: None,
        dropped_factors: Vec::new(),
        dropped_lengths: false,
        limit: None,
    };
    if let Some(values) = shape.values.take() {
        compiled.strings = finite(&values, &shape, all, alphabet, limits);
        return compiled;
    }
    loop {
        if shape.factors.is_empty() {
            compiled.strings = Some(Strings::Free { min: shape.min, max: shape.max });
            return compiled;
        }
        let factors: Vec<_> = shape.factors.iter().map(|id| all[id.index()].clone()).collect();
        match Language::compile(&factors, shape.min, shape.max, alphabet, limits) {
            Ok(language) => {
                let language = (!language.is_empty()).then(|| Arc::new(language));
                compiled.strings = language.map(Strings::Language);
                return compiled;
            }
            Err(limit) => {
                compiled.limit = Some(limit.name);
                if shape.min > 0 || shape.max.is_some() {
                    (shape.min, shape.max) = (0, None);
                    compiled.dropped_lengths = true;
                } else {
                    compiled.dropped_factors.extend(shape.factors.pop());
                }
            }
        }
    }
}

/// The literal strings that satisfy every other constraint of the shape.
fn finite(
    values: &Arc<[Box<str>]>,
    shape: &StringShape,
    all: &[Arc<Factor>],
    alphabet: &Arc<Alphabet>,
    limits: &Limits,
) -> Option<Strings> {
    let languages: Vec<Language> = shape
        .factors
        .iter()
        .filter_map(|id| {
            Language::compile(&[all[id.index()].clone()], 0, None, alphabet, limits).ok()
        })
        .collect();
    let unbounded = shape.min == 0 && shape.max.is_none();
    if languages.is_empty() && unbounded {
        return Some(Strings::Finite(values.clone()));
    }
    let fits = |text: &str| {
        let len = if unbounded { 0 } else { text.chars().count() as u64 };
        len >= shape.min
            && shape.max.is_none_or(|max| len <= max)
            && languages.iter().all(|language| language.matches(text))
    };
    let kept: Arc<[Box<str>]> = values.iter().filter(|text| fits(text)).cloned().collect();
    (!kept.is_empty()).then_some(Strings::Finite(kept))
}
