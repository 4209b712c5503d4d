//! String shapes: their languages, and what a limit leaves out of them.

use super::numbers::NumberShape;
use super::sets::{Builder, Widened};
use super::shape::{FactorId, StringId, StringShape, Strings};
use super::terms::Term;
use crate::base::{ByteSet, Finding, Route};
use crate::error::{Error, ErrorKind, Result};
use crate::language::{Alphabet, Factor, Format, Language, PatternError};
use crate::options::{Content, Formats, Limits};
use crate::schema::{Body, JsonRef, Kw, NodeDialect, NodeId, Status};
use std::sync::Arc;

/// What a string shape compiled to, and what had to be left out.
#[derive(Clone, Debug, Default)]
pub(super) struct CompiledString {
    /// `None`: no string at all.
    pub(super) strings: Option<Strings>,
    /// Languages, asked for or excluded.
    pub(super) dropped_factors: Vec<FactorId>,
    pub(super) dropped_lengths: bool,
    pub(super) limit: Option<&'static str>,
}

/// How a value of `format` or `contentEncoding` is enforced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FormatUse {
    /// By the language of a row, and by a check of what the language cannot say.
    Row(&'static Format),
    /// By bounds of the integers.
    Integers,
    /// Not at all, for this reason.
    Annotation(&'static str),
}

/// How the format `name` is enforced in a dialect under an option.
pub(crate) fn format_use(name: &str, dialect: NodeDialect, formats: Formats) -> FormatUse {
    match (Format::lookup(name, dialect.draft().dialect()), dialect.formats(formats)) {
        (None, Formats::Enforce) if NumberShape::of_format(name).is_some() => FormatUse::Integers,
        (None, _) => FormatUse::Annotation("unknown format"),
        (_, Formats::Annotate) => FormatUse::Annotation("formats are annotations by option"),
        (Some(row), Formats::Standard) if !row.standard => {
            FormatUse::Annotation("not a format of the drafts")
        }
        (Some(row), _) => FormatUse::Row(row),
    }
}

/// How the encoding `name` of a text is enforced: as the format of its name.
pub(crate) fn encoding_use(name: &str, dialect: NodeDialect, content: Content) -> FormatUse {
    let name = name.to_ascii_lowercase();
    let known = ["base64", "base64url", "base32", "base16"].contains(&&*name);
    match (Format::lookup(&name, dialect.draft().dialect()), content) {
        (_, Content::Annotate) => FormatUse::Annotation("content is annotated, not enforced"),
        (Some(row), _) if known => FormatUse::Row(row),
        _ => FormatUse::Annotation("unknown encoding"),
    }
}

/// The strings that a keyword asks for.
pub(super) enum Text {
    /// It asserts nothing.
    Nothing,
    Exact(StringShape),
    /// Some of these: the check does the rest.
    Superset(StringShape),
    /// It is not compiled.
    Unknown,
}

impl Builder<'_> {
    /// Compiles a string shape once; `None` where it holds no string.
    pub(super) fn intern_string(&mut self, shape: StringShape, terms: &[Term]) -> Option<StringId> {
        let (index, new) = self.strings.intern(shape);
        if new {
            let shape = self.strings.get(index);
            let compiled = self.format_alone(shape).unwrap_or_else(|| {
                let limits = &self.options.limits;
                compile_string(shape.clone(), &self.factors, &self.alphabet, limits)
            });
            self.compiled_strings.push(compiled);
        }
        if let Some(limit) = self.compiled_strings[index].limit {
            let compiled = self.compiled_strings[index].clone();
            self.widen_strings(&compiled, limit, terms);
        }
        self.compiled_strings[index].strings.is_some().then(|| StringId::new(index))
    }

    /// Marks the keywords of `terms` whose share of a string shape was left out.
    fn widen_strings(&mut self, compiled: &CompiledString, limit: &'static str, terms: &[Term]) {
        let schema = self.schema.clone();
        let nodes = self.term_nodes(terms).into_iter();
        for node in nodes.flat_map(|n| self.in_place_closure(n)).collect::<Vec<_>>() {
            let Body::Keywords(keywords) = &schema.node(node).body else { continue };
            for (index, keyword) in
                keywords.iter().enumerate().filter(|(_, k)| k.status == Status::Active)
            {
                let dropped = match keyword.kw {
                    Some(kw @ (Kw::Pattern | Kw::Format | Kw::ContentEncoding)) => {
                        let text = schema.value(keyword).as_str().unwrap_or_default();
                        let row = self.format_row(node, kw, text);
                        let id = self.factor_ids.get(&factor_key(kw, text, row));
                        id.is_some_and(|id| compiled.dropped_factors.contains(id))
                            || compiled.dropped_lengths && row.is_some_and(|r| r.max().is_some())
                    }
                    Some(Kw::MinLength | Kw::MaxLength) => compiled.dropped_lengths,
                    // Literals are languages where they are negated.
                    Some(Kw::Enum | Kw::Const) => {
                        compiled.dropped_factors.iter().any(|id| self.literal_factors.contains(id))
                    }
                    _ => false,
                };
                if dropped {
                    self.widen(node, index, limit);
                }
            }
        }
    }

    /// The strings of a `pattern`, `format` or `contentEncoding`.
    pub(super) fn factor(
        &mut self,
        node: NodeId,
        index: usize,
        kw: Kw,
        value: JsonRef<'_>,
    ) -> Result<Text> {
        let Some(text) = value.as_str() else { return Ok(Text::Nothing) };
        let row = self.format_row(node, kw, text);
        if kw != Kw::Pattern && row.is_none() {
            return Ok(Text::Nothing);
        }
        if let (None, Some(mut texts)) = (row, literal_texts(text)) {
            texts.sort_unstable();
            texts.dedup();
            let values = Some(texts.into_iter().map(Box::from).collect());
            return Ok(Text::Exact(StringShape { values, ..StringShape::default() }));
        }
        let (id, exact) = match row {
            Some(row) => {
                let key = (Kw::Format, row.key());
                let Some(factor) = row.factor() else { return Ok(Text::Unknown) };
                let known = self.factor_ids.get(&key).copied();
                let id = known.unwrap_or_else(|| self.add_factor(key, factor));
                self.format_ids.insert(id, row);
                (id, row.rest().is_none())
            }
            None => match self.pattern_factor(text) {
                Ok(id) => {
                    let location = self.schema.keyword_location(node, index);
                    self.note_lenient(location, id);
                    let exact = self.factors[id.index()].is_exact();
                    if !exact {
                        self.widen_inexact(node, index, Route::MaskCheck);
                    }
                    (id, exact)
                }
                Err(error) => {
                    let location = self.schema.keyword_location(node, index);
                    self.refuse_pattern(node, index, location, error)?;
                    return Ok(Text::Unknown);
                }
            },
        };
        let max = row.and_then(Format::max);
        let shape = StringShape { factors: vec![id], max, ..StringShape::default() };
        Ok(if exact { Text::Exact(shape) } else { Text::Superset(shape) })
    }

    /// Whether a media type of a string's content is checked afterwards.
    pub(super) fn checks_content(&self, node: NodeId, value: JsonRef<'_>) -> bool {
        let node = self.schema.node(node);
        let encoding = node.active(Kw::ContentEncoding);
        let encoding = encoding.and_then(|k| self.schema.value(k).as_str());
        let content = self.options.content;
        let decoded = encoding.map(|name| encoding_use(name, node.dialect, content));
        content != Content::Annotate
            && value.as_str() == Some("application/json")
            && !matches!(decoded, Some(FormatUse::Annotation(_)))
    }

    /// The language of a pattern.
    pub(super) fn pattern_factor(
        &mut self,
        text: &str,
    ) -> std::result::Result<FactorId, PatternError> {
        let key = (Kw::Pattern, Box::from(text));
        if let Some(&id) = self.factor_ids.get(&key) {
            return Ok(id);
        }
        let factor = Factor::pattern(text, &self.options.limits)?;
        Ok(self.add_factor(key, factor))
    }

    /// The strings whose length in code points is in a range.
    pub(super) fn length_factor(
        &mut self,
        min: u64,
        max: Option<u64>,
    ) -> std::result::Result<FactorId, PatternError> {
        let max = max.map_or(String::new(), |max| max.to_string());
        self.pattern_factor(&format!("^[^]{{{min},{max}}}$"))
    }

    /// The strings of a finite set.
    pub(super) fn values_factor(
        &mut self,
        values: &[Box<str>],
    ) -> std::result::Result<FactorId, PatternError> {
        let escaped = |text: &str| -> String {
            text.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect()
        };
        let texts: Vec<String> = values.iter().map(|text| escaped(text)).collect();
        let id = self.pattern_factor(&format!("^(?:{})$", texts.join("|")))?;
        self.literal_factors.insert(id);
        Ok(id)
    }

    fn add_factor(&mut self, key: (Kw, Box<str>), factor: Arc<Factor>) -> FactorId {
        let id = FactorId::new(self.factors.len());
        self.factors.push(factor);
        self.factor_ids.insert(key, id);
        id
    }

    /// The row of a `format` or `contentEncoding` that is enforced.
    pub(super) fn format_row(&self, node: NodeId, kw: Kw, text: &str) -> Option<&'static Format> {
        let (dialect, options) = (self.schema.node(node).dialect, self.options);
        let format_use = match kw {
            Kw::Format => format_use(text, dialect, options.formats),
            Kw::ContentEncoding => encoding_use(text, dialect, options.content),
            _ => return None,
        };
        match format_use {
            FormatUse::Row(row) => Some(row),
            FormatUse::Integers | FormatUse::Annotation(_) => None,
        }
    }

    /// A format beside nothing else is compiled once per process, where no limit is lowered.
    fn format_alone(&self, shape: &StringShape) -> Option<CompiledString> {
        let [id] = shape.factors[..] else { return None };
        let row = self.format_ids.get(&id)?;
        let plain = shape.values.is_none()
            && shape.without.is_empty()
            && shape.min == 0
            && shape.max == row.max();
        let minimal = self.alphabet.minimal();
        if !plain
            || *self.alphabet.bytes() != ByteSet::FULL
            || self.options.limits != Limits::default()
        {
            return None;
        }
        let strings = Some(Strings::Language(row.alone(minimal)?));
        Some(CompiledString { strings, ..CompiledString::default() })
    }

    /// Tells of a pattern that is legal without the `u` flag only.
    pub(super) fn note_lenient(&mut self, location: String, factor: FactorId) {
        if let Some(text) = self.factors[factor.index()].lenient() {
            let message = format!("legal without the `u` flag only: {text}");
            self.findings.push(Finding { kind: "lenient-pattern", location, message });
        }
    }

    /// Routes a keyword whose pattern is a superset in the mask.
    pub(super) fn widen_inexact(&mut self, node: NodeId, index: usize, route: Route) {
        let reason = "what a back-reference repeats is not told apart".into();
        self.widened.push(Widened { node, index, route, reason, limit: None, position: None });
    }

    /// Routes a pattern that cannot be compiled; an invalid one is an error at `location`.
    pub(super) fn refuse_pattern(
        &mut self,
        node: NodeId,
        index: usize,
        location: String,
        error: PatternError,
    ) -> Result<()> {
        let (reason, limit) = match error {
            PatternError::Invalid { offset, reason } => {
                let message = format!("not an ECMA-262 regular expression: {reason}");
                return Err(Error::new(ErrorKind::InvalidPattern, message)
                    .at(location)
                    .at_offset(offset));
            }
            PatternError::Limit { name } => (format!("the limit `{name}` was met"), Some(name)),
        };
        let route = Route::Check;
        self.widened.push(Widened { node, index, route, reason, limit, position: None });
        Ok(())
    }
}

/// The texts of a pattern that only spells them out: `^a$`, `^(a|b)$`.
fn literal_texts(pattern: &str) -> Option<Vec<&str>> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let is_plain = |text: &str| !text.contains(|c| "\\^$.*+?()[]{}|".contains(c));
    if is_plain(inner) {
        return Some(vec![inner]);
    }
    let group = inner.strip_prefix('(')?.strip_suffix(')')?;
    let texts: Vec<&str> = group.strip_prefix("?:").unwrap_or(group).split('|').collect();
    texts.iter().all(|text| is_plain(text)).then_some(texts)
}

/// What tells a language from others: a pattern's text, or a format's row.
fn factor_key(kw: Kw, text: &str, row: Option<&Format>) -> (Kw, Box<str>) {
    match row {
        Some(row) => (Kw::Format, row.key()),
        None => (kw, text.into()),
    }
}

/// Compiles a string shape. Where a limit is met, first larger languages stand for those that have
/// one, then the lengths are left out, then the last language, and so on: the rest stays exact.
fn compile_string(
    mut shape: StringShape,
    all: &[Arc<Factor>],
    alphabet: &Arc<Alphabet>,
    limits: &Limits,
) -> CompiledString {
    let mut compiled = CompiledString::default();
    let factors = |ids: &[FactorId], wide: &[FactorId]| -> Vec<Arc<Factor>> {
        let factor = |id: &FactorId| {
            let factor = &all[id.index()];
            factor.wide().filter(|_| wide.contains(id)).unwrap_or(factor).clone()
        };
        ids.iter().map(factor).collect()
    };
    if let Some(values) = shape.values.take() {
        let within = factors(&shape.factors, &[]);
        let without = factors(&shape.without, &[]);
        compiled.strings = finite(&values, &shape, &within, &without);
        return compiled;
    }
    let alone = shape.factors.len() == 1 && shape.without.is_empty();
    let is_huge = |id: &FactorId| {
        let factor = &all[id.index()];
        factor.is_huge() && !(alone && factor.has_length(shape.min))
    };
    compiled.dropped_factors.extend(shape.factors.iter().copied().filter(is_huge));
    if !compiled.dropped_factors.is_empty() {
        compiled.limit = Some("language_states");
    }
    loop {
        if shape.factors.is_empty() && shape.without.is_empty() {
            compiled.strings = Some(Strings::Free { min: shape.min, max: shape.max });
            return compiled;
        }
        let within = factors(&shape.factors, &compiled.dropped_factors);
        let without = factors(&shape.without, &[]);
        match Language::compile(&within, &without, shape.min, shape.max, alphabet, limits) {
            Ok(language) => {
                let language = (!language.is_empty()).then(|| Arc::new(language));
                compiled.strings = language.map(Strings::Language);
                return compiled;
            }
            Err(limit) => {
                compiled.limit = Some(limit.name);
                let has_wide = |id: &&FactorId| {
                    all[id.index()].wide().is_some() && !compiled.dropped_factors.contains(id)
                };
                if let Some(&id) = shape.factors.iter().find(has_wide) {
                    compiled.dropped_factors.push(id);
                } else if shape.min > 0 || shape.max.is_some() {
                    (shape.min, shape.max) = (0, None);
                    compiled.dropped_lengths = true;
                } else {
                    let dropped = shape.without.pop().or_else(|| shape.factors.pop());
                    compiled.dropped_factors.extend(dropped);
                }
            }
        }
    }
}

/// The literal strings that satisfy every other constraint of the shape.
fn finite(
    values: &Arc<[Box<str>]>,
    shape: &StringShape,
    within: &[Arc<Factor>],
    without: &[Arc<Factor>],
) -> Option<Strings> {
    let unbounded = shape.min == 0 && shape.max.is_none();
    if within.is_empty() && without.is_empty() && unbounded {
        return Some(Strings::Finite(values.clone()));
    }
    let fits = |text: &str| {
        let len = if unbounded { 0 } else { text.chars().count() as u64 };
        len >= shape.min
            && shape.max.is_none_or(|max| len <= max)
            && within.iter().all(|factor| factor.matches(text))
            && !without.iter().any(|factor| factor.matches(text))
    };
    let kept: Arc<[Box<str>]> = values.iter().filter(|text| fits(text)).cloned().collect();
    (!kept.is_empty()).then_some(Strings::Finite(kept))
}
