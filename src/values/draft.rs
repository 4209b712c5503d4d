//! One subschema → its draft: a union of shapes by type, not interned yet.
//!
//! The keywords of a schema object are applied in the order of its text, so that the order in which
//! names are declared comes out right.

use super::intersect;
use super::members;
use super::numbers::NumberShape;
use super::sets::Builder;
use super::shape::{ArrayShape, Literals, Name, ObjectShape, Rank, SetId, StringShape};
use super::strings::{FormatUse, format_use};
use crate::base::Decimal;
use crate::error::Result;
use crate::schema::{
    Body, Children, DocId, Draft as Dialect, JsonKind, JsonRef, Keyword, Kw, NodeId, Schema, Status,
};
use rustc_hash::FxHashSet;
use std::hash::Hash;
use std::sync::Arc;

/// A union of shapes for each type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) literals: Literals,
    pub(super) numbers: Vec<NumberShape>,
    pub(super) strings: Vec<StringShape>,
    pub(super) arrays: Vec<ArrayShape>,
    pub(super) objects: Vec<ObjectShape>,
}

impl Draft {
    /// Every JSON value.
    pub(super) fn any() -> Draft {
        Draft {
            literals: Literals::ALL,
            numbers: vec![NumberShape::ANY],
            strings: vec![StringShape::default()],
            arrays: vec![ArrayShape::any()],
            objects: vec![ObjectShape::any()],
        }
    }

    /// No value.
    pub(super) fn never() -> Draft {
        Draft {
            literals: Literals::NONE,
            numbers: Vec::new(),
            strings: Vec::new(),
            arrays: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// The union of drafts, without repeats.
    fn union<'d>(drafts: impl Iterator<Item = &'d Draft> + Clone) -> Draft {
        fn all<'d, T: Clone + Eq + Hash + 'd>(shapes: impl Iterator<Item = &'d T>) -> Vec<T> {
            let mut seen = FxHashSet::default();
            shapes.filter(|shape| seen.insert(*shape)).cloned().collect()
        }
        Draft {
            literals: drafts.clone().fold(Literals::NONE, |all, draft| all.or(draft.literals)),
            numbers: all(drafts.clone().flat_map(|draft| &draft.numbers)),
            strings: all(drafts.clone().flat_map(|draft| &draft.strings)),
            arrays: all(drafts.clone().flat_map(|draft| &draft.arrays)),
            objects: all(drafts.flat_map(|draft| &draft.objects)),
        }
    }

    fn narrow_strings(&mut self, narrower: &StringShape) {
        let both = |s: &StringShape| intersect::strings(s, narrower);
        self.strings = self.strings.iter().filter_map(both).collect();
    }

    /// Keeps the numbers that are in one of `union`.
    fn narrow_numbers(&mut self, union: &[NumberShape]) {
        let pairs = self.numbers.iter().flat_map(|a| union.iter().map(move |b| (a, b)));
        self.numbers = pairs.filter_map(|(a, b)| a.intersect(b)).collect();
    }

    fn narrow_arrays(&mut self, narrow: impl Fn(&mut ArrayShape)) {
        self.arrays.iter_mut().for_each(narrow);
        self.arrays.retain(|a| a.max.is_none_or(|max| a.min <= max));
    }
}

impl Builder<'_> {
    /// The draft of a subschema. The drafts of the subschemas that apply in place are made first,
    /// by an explicit stack: their nesting is the schema's, and may be deep.
    pub(super) fn draft(&mut self, node: NodeId) -> Result<Arc<Draft>> {
        let mut stack = vec![node];
        while let Some(&top) = stack.last() {
            if self.drafts.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(
                self.in_place(top).into_iter().filter(|child| !self.drafts.contains_key(child)),
            );
            if stack.len() == before {
                let draft = self.apply(top)?;
                self.drafts.insert(top, Arc::new(draft));
                stack.pop();
            }
        }
        Ok(self.drafts[&node].clone())
    }

    /// The subschemas that a compiled keyword of `node` applies to the same value.
    pub(super) fn in_place(&self, node: NodeId) -> Vec<NodeId> {
        let Body::Keywords(keywords) = &self.schema.node(node).body else { return Vec::new() };
        let applies = |k: &&Keyword| {
            k.status == Status::Active
                && matches!(k.kw, Some(Kw::AllOf | Kw::AnyOf | Kw::Not | Kw::Ref))
        };
        keywords.iter().filter(applies).flat_map(|k| k.children.ids()).collect()
    }

    /// Applies the keywords of `node` in the order of its text.
    fn apply(&mut self, node: NodeId) -> Result<Draft> {
        let schema = self.schema.clone();
        let keywords = match &schema.node(node).body {
            Body::Boolean(true) => return Ok(Draft::any()),
            Body::Boolean(false) => return Ok(Draft::never()),
            Body::Keywords(keywords) => keywords,
        };
        let mut draft = Draft::any();
        for (index, keyword) in keywords.iter().enumerate() {
            if let (true, Some(kw)) = (keyword.status == Status::Active, keyword.kw) {
                self.apply_keyword(&mut draft, node, index, kw, keywords)?;
            }
        }
        Ok(draft)
    }

    fn apply_keyword(
        &mut self,
        draft: &mut Draft,
        node: NodeId,
        index: usize,
        kw: Kw,
        keywords: &[Keyword],
    ) -> Result<()> {
        let schema = self.schema.clone();
        let keyword = &keywords[index];
        let value = schema.value(keyword);
        match kw {
            Kw::Type => {
                // In draft 4, `1.0` is no integer.
                let digits = schema.node(node).dialect.draft() == Dialect::Draft4;
                narrow_types(draft, value, &NumberShape::integers(digits));
            }
            Kw::Enum | Kw::Const => {
                let union = match kw {
                    Kw::Enum => self.literals(keyword.doc, value.items()),
                    _ => self.literals(keyword.doc, [value]),
                };
                self.meet(draft, &union, node, index);
            }
            Kw::AllOf | Kw::Ref => self.meet_all(draft, keyword.children.ids().collect()),
            Kw::AnyOf => {
                let branches: Vec<Arc<Draft>> =
                    keyword.children.ids().map(|child| self.drafts[&child].clone()).collect();
                let union = Draft::union(branches.iter().map(|draft| &**draft));
                self.meet(draft, &union, node, index);
            }
            Kw::Not => {
                if let Some(child) = keyword.children.get(0) {
                    self.meet_not(draft, node, index, child);
                }
            }
            Kw::MinLength => {
                let min = length(value);
                draft.narrow_strings(&StringShape { min, ..StringShape::default() });
            }
            Kw::MaxLength => {
                let max = Some(length(value));
                draft.narrow_strings(&StringShape { max, ..StringShape::default() });
            }
            Kw::Pattern | Kw::Format | Kw::ContentEncoding => {
                if let Some(integers) = self.integer_format(node, kw, value) {
                    draft.narrow_numbers(&integers);
                }
                if let Some(shape) = self.factor(node, index, kw, value)? {
                    draft.narrow_strings(&shape);
                }
            }
            Kw::Minimum | Kw::Maximum | Kw::ExclusiveMinimum | Kw::ExclusiveMaximum => {
                if let Some(bounded) = bounded(kw, value, keywords, &schema) {
                    draft.narrow_numbers(bounded.as_slice());
                }
            }
            Kw::MultipleOf => {
                if let Some(multiple) = value.number_text().and_then(Decimal::parse) {
                    draft.narrow_numbers(NumberShape::multiples_of(multiple).as_slice());
                }
            }
            Kw::MinItems => {
                let min = length(value);
                draft.narrow_arrays(|a| a.min = a.min.max(min));
            }
            Kw::MaxItems => {
                let max = length(value);
                draft.narrow_arrays(|a| a.max = Some(a.max.map_or(max, |m| m.min(max))));
            }
            Kw::PrefixItems | Kw::Items | Kw::AdditionalItems => {
                self.items(draft, kw, keyword, keywords);
            }
            Kw::Properties | Kw::PatternProperties | Kw::AdditionalProperties => {
                if let Some(shape) = self.properties(node, kw, keywords)? {
                    self.meet_objects(draft, &shape);
                }
            }
            Kw::PropertyNames => {
                let key_nodes = keyword.children.ids().collect();
                self.meet_objects(draft, &ObjectShape { key_nodes, ..ObjectShape::any() });
            }
            Kw::Required => {
                let names = value.items().filter_map(JsonRef::as_str).map(|text| Name {
                    text: text.into(),
                    rank: Rank::Required,
                    required: true,
                    set: SetId::ANY,
                });
                self.meet_objects(
                    draft,
                    &ObjectShape { names: names.collect(), ..ObjectShape::any() },
                );
            }
            Kw::MinProperties | Kw::MaxProperties | Kw::DependentRequired | Kw::Dependencies => {
                self.meet_objects(draft, &members::together(kw, value));
            }
            // Everything else is routed, or asserts nothing.
            _ => {}
        }
        Ok(())
    }

    /// The numbers that a format of integers allows.
    fn integer_format(&self, node: NodeId, kw: Kw, value: JsonRef<'_>) -> Option<Vec<NumberShape>> {
        let name = value.as_str().filter(|_| kw == Kw::Format)?;
        let dialect = self.schema.node(node).dialect;
        match format_use(name, dialect, self.options.formats) {
            FormatUse::Integers => NumberShape::of_format(name),
            FormatUse::Row(_) | FormatUse::Annotation(_) => None,
        }
    }

    /// `draft ∧ other`; `false`, and no change, where a type would have too many shapes.
    pub(super) fn try_meet(&mut self, draft: &mut Draft, other: &Draft) -> bool {
        let limit = self.options.limits.set_shapes;
        let both = intersect::drafts(draft, other, self, limit);
        both.map(|both| *draft = both).is_some()
    }

    /// The same; the keyword is widened where it has to be left out.
    fn meet(&mut self, draft: &mut Draft, other: &Draft, node: NodeId, index: usize) {
        if !self.try_meet(draft, other) {
            self.widen(node, index, "set_shapes");
        }
    }

    /// `draft ∧` all of `nodes`. Where a type would have too many shapes, unions of constraints on
    /// some member are taken together; what is still too much is widened.
    fn meet_all(&mut self, draft: &mut Draft, nodes: Vec<NodeId>) {
        let drafts: Vec<Arc<Draft>> = nodes.iter().map(|node| self.drafts[node].clone()).collect();
        let mut met = draft.clone();
        if drafts.iter().all(|narrower| self.try_meet(&mut met, narrower)) {
            *draft = met;
            return;
        }
        for (node, narrower) in nodes.into_iter().zip(drafts) {
            let mut narrower = (*narrower).clone();
            self.merge_some(&mut narrower.objects);
            if !self.try_meet(draft, &narrower) {
                self.widen_node(node);
            }
        }
    }

    pub(super) fn meet_objects(&mut self, draft: &mut Draft, narrower: &ObjectShape) {
        let both =
            draft.objects.iter().filter_map(|object| intersect::objects(object, narrower, self));
        draft.objects = both.collect();
    }

    /// `prefixItems`, `items` in both forms and `additionalItems`: each narrows items by index.
    fn items(&mut self, draft: &mut Draft, kw: Kw, keyword: &Keyword, keywords: &[Keyword]) {
        let beside = |kw| keywords.iter().find(|k| k.status == Status::Active && k.kw == Some(kw));
        let nodes: Vec<NodeId> = keyword.children.ids().collect();
        let shape = match (kw, &keyword.children) {
            (Kw::PrefixItems, _) | (Kw::Items, Children::List(_)) => ArrayShape {
                prefix: nodes.into_iter().map(|n| self.node_set(n)).collect(),
                ..ArrayShape::any()
            },
            _ => {
                // One schema for the items behind those that a list beside it names.
                let list = if kw == Kw::Items { Kw::PrefixItems } else { Kw::Items };
                let skipped = beside(list).map_or(0, |k| k.children.ids().count());
                let Some(&node) = nodes.first() else { return };
                let rest = self.node_set(node);
                ArrayShape {
                    prefix: std::iter::repeat_n(SetId::ANY, skipped).collect(),
                    rest,
                    ..ArrayShape::any()
                }
            }
        };
        for array in &mut draft.arrays {
            if let Some(both) = intersect::arrays(array, &shape, self) {
                *array = both;
            }
        }
    }

    /// The union of literal values.
    pub(super) fn literals<'j>(
        &mut self,
        doc: DocId,
        values: impl IntoIterator<Item = JsonRef<'j>>,
    ) -> Draft {
        let mut draft = Draft::never();
        let (mut numbers, mut strings) = (Vec::new(), Vec::<Box<str>>::new());
        for value in values {
            match value.kind() {
                JsonKind::Null => draft.literals = draft.literals.or(Literals::NULL),
                JsonKind::Bool => {
                    let bit = if value.as_bool() == Some(true) {
                        Literals::TRUE
                    } else {
                        Literals::FALSE
                    };
                    draft.literals = draft.literals.or(bit);
                }
                JsonKind::Number => {
                    numbers.extend(value.number_text().and_then(Decimal::parse));
                }
                JsonKind::String => strings.extend(value.as_str().map(Box::from)),
                JsonKind::Array | JsonKind::Object => {
                    self.literal_container(&mut draft, doc, value)
                }
            }
        }
        draft.numbers.extend(NumberShape::of_values(numbers));
        strings.sort_unstable();
        strings.dedup();
        if !strings.is_empty() {
            let values = Some(strings.into());
            draft.strings = vec![StringShape { values, ..StringShape::default() }];
        }
        draft
    }

    fn literal_container(&mut self, draft: &mut Draft, doc: DocId, value: JsonRef<'_>) {
        if value.kind() == JsonKind::Array {
            let prefix: Arc<[_]> = value.items().map(|item| self.literal_set(doc, item)).collect();
            let len = prefix.len() as u64;
            draft.arrays.push(ArrayShape {
                prefix,
                rest: SetId::NEVER,
                min: len,
                max: Some(len),
                ..ArrayShape::any()
            });
            return;
        }
        let names = value.members().map(|(text, member)| Name {
            text: text.into(),
            rank: Rank::Declared,
            required: true,
            set: self.literal_set(doc, member),
        });
        draft.objects.push(ObjectShape {
            names: names.collect(),
            other: SetId::NEVER,
            ..ObjectShape::any()
        });
    }
}

/// `type`: a name or a list of names. The reader has checked them.
fn narrow_types(draft: &mut Draft, value: JsonRef<'_>, integers: &NumberShape) {
    let names: Vec<&str> = match value.as_str() {
        Some(name) => vec![name],
        None => value.items().filter_map(JsonRef::as_str).collect(),
    };
    let has = |name: &str| names.contains(&name);
    let mut literals = Literals::NONE;
    if has("null") {
        literals = literals.or(Literals::NULL);
    }
    if has("boolean") {
        literals = literals.or(Literals::BOOLEANS);
    }
    draft.literals = draft.literals.and(literals);
    if !has("number") {
        let integers = std::slice::from_ref(integers);
        draft.narrow_numbers(if has("integer") { integers } else { &[] });
    }
    if !has("string") {
        draft.strings.clear();
    }
    if !has("array") {
        draft.arrays.clear();
    }
    if !has("object") {
        draft.objects.clear();
    }
}

/// The numbers that a bound allows; `None` where it is a boolean, which only makes the bound beside
/// it exclusive. What no text reaches is left out: then there are no numbers.
fn bounded(
    kw: Kw,
    value: JsonRef<'_>,
    keywords: &[Keyword],
    schema: &Schema,
) -> Option<Option<NumberShape>> {
    let at = value.number_text().and_then(Decimal::parse)?;
    let says_open = |kw: Kw| {
        let mut beside = keywords.iter().filter(|k| k.status == Status::Active && k.kw == Some(kw));
        beside.any(|k| schema.value(k).as_bool() == Some(true))
    };
    Some(match kw {
        Kw::Minimum => NumberShape::at_least(at, says_open(Kw::ExclusiveMinimum)),
        Kw::Maximum => NumberShape::at_most(at, says_open(Kw::ExclusiveMaximum)),
        Kw::ExclusiveMinimum => NumberShape::at_least(at, true),
        _ => NumberShape::at_most(at, true),
    })
}

/// A length keyword's value; the reader has checked that it is a non-negative integer. What does
/// not fit into 64 bits is as good as the largest that does: no document gets there.
pub(super) fn length(value: JsonRef<'_>) -> u64 {
    value.number_text().and_then(Decimal::parse).and_then(|d| d.to_u64()).unwrap_or(u64::MAX)
}
