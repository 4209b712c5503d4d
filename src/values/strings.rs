//! String shapes: their languages, and what a limit leaves out of them.

use super::sets::{Builder, Term, Widened};
use super::shape::{FactorId, StringId, StringShape, Strings};
use crate::base::{Finding, Route};
use crate::error::{Error, ErrorKind, Result};
use crate::language::{Alphabet, Factor, Format, FormatHow, Language, PatternError};
use crate::options::{Formats, Limits};
use crate::schema::{Body, JsonRef, Kw, NodeId, Status};
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

/// How a value of `format` is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatUse {
    /// By the mask.
    Mask,
    /// By a check afterwards, for this reason.
    Check(&'static str),
    /// Not at all, for this reason.
    Annotation(&'static str),
}

/// How the format `name` is enforced under an option.
pub(crate) fn format_use(name: &str, formats: Formats) -> FormatUse {
    let Some(row) = Format::lookup(name) else { return FormatUse::Annotation("unknown format") };
    match (&row.how, formats) {
        (_, Formats::Annotate) => FormatUse::Annotation("formats are annotations by option"),
        (_, Formats::Standard) if !row.standard => {
            FormatUse::Annotation("not a format of the drafts")
        }
        (FormatHow::Compiled(_), _) => FormatUse::Mask,
        (FormatHow::NotYet, _) => FormatUse::Check("the format is not compiled into the mask yet"),
    }
}

impl Builder<'_> {
    /// Compiles a string shape once; `None` where it holds no string.
    pub(super) fn intern_string(&mut self, shape: StringShape, terms: &[Term]) -> Option<StringId> {
        let (index, new) = self.strings.intern(shape.clone());
        if new {
            let limits = &self.options.limits;
            let compiled = compile_string(shape, &self.factors, &self.alphabet, limits);
            self.compiled_strings.push(compiled);
        }
        let compiled = self.compiled_strings[index].clone();
        if let Some(limit) = compiled.limit {
            self.widen_strings(&compiled, limit, terms);
        }
        compiled.strings.map(|_| StringId::new(index))
    }

    /// Marks the keywords of `terms` whose share of a string shape was left out.
    fn widen_strings(&mut self, compiled: &CompiledString, limit: &'static str, terms: &[Term]) {
        let schema = self.schema.clone();
        let nodes = terms.iter().filter_map(|term| match term {
            Term::Node(node) => Some(*node),
            Term::Literal(..) | Term::Never => None,
        });
        for node in nodes.flat_map(|n| self.in_place_closure(n)).collect::<Vec<_>>() {
            let Body::Keywords(keywords) = &schema.node(node).body else { continue };
            for (index, keyword) in
                keywords.iter().enumerate().filter(|(_, k)| k.status == Status::Active)
            {
                let dropped = match keyword.kw {
                    Some(kw @ (Kw::Pattern | Kw::Format)) => {
                        let text = schema.value(keyword).as_str().unwrap_or_default();
                        let id = self.factor_ids.get(&(kw, text.into()));
                        id.is_some_and(|id| compiled.dropped_factors.contains(id))
                    }
                    Some(Kw::MinLength | Kw::MaxLength) => compiled.dropped_lengths,
                    _ => false,
                };
                if dropped {
                    self.widen(node, index, limit);
                }
            }
        }
    }

    /// The language of a `pattern` or `format`; `None` where it is routed or asserts nothing.
    pub(super) fn factor(
        &mut self,
        node: NodeId,
        index: usize,
        kw: Kw,
        value: JsonRef<'_>,
    ) -> Result<Option<FactorId>> {
        let Some(text) = value.as_str() else { return Ok(None) };
        let formats = self.schema.node(node).dialect.formats(self.options.formats);
        if kw == Kw::Format && format_use(text, formats) != FormatUse::Mask {
            return Ok(None);
        }
        let key = (kw, Box::from(text));
        if let Some(&id) = self.factor_ids.get(&key) {
            let location = self.schema.keyword_location(node, index);
            self.note_pattern(node, index, location, id);
            return Ok(Some(id));
        }
        let factor = if kw == Kw::Format {
            Format::lookup(text).and_then(Format::factor)
        } else {
            match Factor::pattern(text, &self.options.limits) {
                Ok(factor) => Some(factor),
                Err(error) => {
                    self.refuse_pattern(node, index, error)?;
                    None
                }
            }
        };
        Ok(factor.map(|factor| {
            let id = FactorId::new(self.factors.len());
            self.factors.push(factor);
            self.factor_ids.insert(key, id);
            let location = self.schema.keyword_location(node, index);
            self.note_pattern(node, index, location, id);
            id
        }))
    }

    /// Routes a pattern of which the mask holds a part only, and tells of one that is legal
    /// without the `u` flag only.
    pub(super) fn note_pattern(
        &mut self,
        node: NodeId,
        index: usize,
        location: String,
        factor: FactorId,
    ) {
        let factor = &self.factors[factor.index()];
        if let Some(text) = factor.lenient() {
            let message = format!("legal without the `u` flag only: {text}");
            self.findings.push(Finding { kind: "lenient-pattern", location, message });
        }
        if !factor.is_exact() {
            let reason = "a back-reference may repeat any text of its group in the mask".into();
            let route = Route::MaskCheck;
            self.widened.push(Widened { node, index, route, reason, limit: None });
        }
    }

    /// Routes a pattern that cannot be compiled; an invalid one is an error.
    fn refuse_pattern(&mut self, node: NodeId, index: usize, error: PatternError) -> Result<()> {
        let (reason, limit) = match error {
            PatternError::Invalid { offset, reason } => {
                let message = format!("not an ECMA-262 regular expression: {reason}");
                let location = self.schema.keyword_location(node, index);
                return Err(Error::new(ErrorKind::InvalidPattern, message)
                    .at(location)
                    .at_offset(offset));
            }
            PatternError::Limit { name } => (format!("the limit `{name}` was met"), Some(name)),
        };
        self.widened.push(Widened { node, index, route: Route::Check, reason, limit });
        Ok(())
    }
}

/// Compiles a string shape. Where a limit is met, first the lengths are left out, then the last
/// language, and so on: the rest stays exact.
fn compile_string(
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
        match Language::compile(&factors, &[], shape.min, shape.max, alphabet, limits) {
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
            Language::compile(&[all[id.index()].clone()], &[], 0, None, alphabet, limits).ok()
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
