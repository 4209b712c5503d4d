//! One subschema → its draft: a union of shapes by type, not interned yet.
//!
//! The keywords of a schema object are applied in the order of its text, so that the order in which
//! names are declared comes out right.

use super::intersect;
use super::literals::{bounded, length, of_types};
use super::members;
use super::numbers::NumberShape;
use super::sets::Builder;
use super::shape::{ArrayShape, Literals, Name, ObjectShape, Position, Rank, SetId, StringShape};
use super::strings::Text;
use super::strings::{FormatUse, format_use};
use super::unevaluated::of_items;
use crate::base::Decimal;
use crate::error::Result;
use crate::schema::{Body, Children, JsonRef, Keyword, Kw, NodeId, Place, Status};
use rustc_hash::FxHashSet;
use std::hash::Hash;
use std::sync::Arc;

/// A keyword that is applied: where, and how its subschema's draft is made.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) place: Place,
    pub(super) index: usize,
    pub(super) how: How,
}

/// How the keywords of a subschema are applied whose draft is made so: what is evaluated matters to
/// `unevaluated*` beside them.
fn inside(how: How, keywords: &[Keyword]) -> How {
    let asks = |k: &Keyword| {
        k.status == Status::Active
            && matches!(k.kw, Some(Kw::UnevaluatedItems | Kw::UnevaluatedProperties))
    };
    How { evaluated: how.evaluated || keywords.iter().any(asks), ..how }
}

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
    pub(super) fn union<'d>(drafts: impl Iterator<Item = &'d Draft> + Clone) -> Draft {
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

    /// Whether complements wait in it.
    pub(super) fn waits(&self) -> bool {
        self.arrays.iter().any(|shape| !shape.without.is_empty())
            || self.objects.iter().any(|shape| !shape.without.is_empty())
    }

    /// Whether it has so few shapes that what takes long to make is worth it.
    pub(super) fn is_small(&self) -> bool {
        const SMALL: usize = 64;
        self.arrays.len() <= SMALL && self.objects.len() <= SMALL
    }

    fn narrow_strings(&mut self, narrower: &StringShape) {
        let both = |s: &StringShape| intersect::strings(s, narrower);
        self.strings = self.strings.iter().filter_map(both).collect();
    }

    /// Keeps the numbers that are in one of `union`.
    pub(super) fn narrow_numbers(&mut self, union: &[NumberShape]) {
        let pairs = self.numbers.iter().flat_map(|a| union.iter().map(move |b| (a, b)));
        self.numbers = pairs.filter_map(|(a, b)| a.intersect(b)).collect();
    }

    fn narrow_arrays(&mut self, narrow: impl Fn(&mut ArrayShape)) {
        self.arrays.iter_mut().for_each(narrow);
        self.arrays.retain(|a| a.max.is_none_or(|max| a.min <= max));
    }
}

/// How a draft is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct How {
    /// What is not compiled exactly leaves a set that is too large in a positive position, and one
    /// that is too small in a negative one.
    pub(super) position: Position,
    /// Whether the shapes tell which members and items are evaluated.
    pub(super) evaluated: bool,
}

impl How {
    pub(super) fn plain(position: Position) -> How {
        How { position, evaluated: false }
    }

    /// Of what is only asked whether it holds, inside one more negation.
    pub(super) fn negated(self) -> How {
        How::plain(self.position.flip())
    }
}

/// Without repeats.
pub(super) fn distinct<T: Clone + Eq + Hash>(shapes: Vec<T>) -> Vec<T> {
    if shapes.len() < 2 {
        return shapes;
    }
    let mut seen = FxHashSet::default();
    shapes.into_iter().filter(|shape| seen.insert(shape.clone())).collect()
}

impl Builder<'_> {
    /// The draft of a subschema. The drafts of the subschemas that apply in place are made first,
    /// by an explicit stack: their nesting is the schema's, and may be deep.
    pub(super) fn draft(&mut self, place: Place, how: How) -> Result<Arc<Draft>> {
        let mut stack = vec![(place, how)];
        while let Some(&(place, how)) = stack.last() {
            if self.drafts.contains_key(&(place, how)) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let needed = self.needed_drafts(place, how);
            stack.extend(needed.into_iter().filter(|key| !self.drafts.contains_key(key)));
            if stack.len() == before {
                let draft = self.apply(place, how)?;
                self.drafts.insert((place, how), Arc::new(draft));
                stack.pop();
            }
        }
        Ok(self.drafts[&(place, how)].clone())
    }

    /// The drafts that the one of `place` is made of.
    fn needed_drafts(&mut self, place: Place, how: How) -> Vec<(Place, How)> {
        let schema = self.schema.clone();
        let keywords = schema.node(place.node).keywords();
        let how = inside(how, keywords);
        let mut needed = Vec::new();
        for keyword in keywords.iter().filter(|k| k.status == Status::Active) {
            let Some(kw) = keyword.kw else { continue };
            let ways: &[How] = match kw {
                Kw::AllOf | Kw::AnyOf | Kw::Then | Kw::Else => &[how],
                Kw::Ref | Kw::DynamicRef | Kw::RecursiveRef => &[how],
                Kw::DependentSchemas | Kw::Dependencies => &[how],
                Kw::OneOf | Kw::If => &[how, how.negated()],
                Kw::Not => &[how.negated()],
                _ => continue,
            };
            for child in self.children(place, keyword) {
                needed.extend(ways.iter().map(|&how| (child, how)));
            }
        }
        needed
    }

    /// The subschemas that the keywords of `node` apply to the same value, in any scope.
    pub(super) fn in_place(&self, node: NodeId) -> Vec<NodeId> {
        let keywords = self.schema.node(node).keywords().iter().enumerate();
        let applying = keywords.filter(|(_, k)| {
            k.status == Status::Active && k.kw.is_some_and(|kw| kw.applies_in_place())
        });
        applying.flat_map(|(index, k)| self.schema.scopes().applied(node, index, k)).collect()
    }

    /// Applies the keywords of `place` in the order of its text; but last of all those that depend on
    /// the others.
    fn apply(&mut self, place: Place, how: How) -> Result<Draft> {
        let schema = self.schema.clone();
        let keywords = match &schema.node(place.node).body {
            Body::Boolean(true) => return Ok(Draft::any()),
            Body::Boolean(false) => return Ok(Draft::never()),
            Body::Keywords(keywords) => keywords,
        };
        let within = inside(how, keywords);
        let is_last =
            |kw: Kw| matches!(kw, Kw::Not | Kw::UnevaluatedItems | Kw::UnevaluatedProperties);
        let mut draft = self.of_type(place.node);
        for last in [false, true] {
            for (index, keyword) in keywords.iter().enumerate() {
                if let (true, Some(kw)) = (keyword.status == Status::Active, keyword.kw)
                    && is_last(kw) == last
                {
                    let at = At { place, index, how: within };
                    self.apply_keyword(&mut draft, at, kw, keywords)?;
                }
            }
        }
        if within.evaluated && !how.evaluated {
            draft.forget_evaluated();
        }
        self.note_empty_branches(place, within)?;
        Ok(draft)
    }

    /// What `type` allows. It is applied before all others: the order of names does not depend on it,
    /// and most schemas leave but one type for the rest to narrow.
    pub(super) fn of_type(&self, node: NodeId) -> Draft {
        let schema = &self.schema;
        let Some(keyword) = schema.node(node).active(Kw::Type) else { return Draft::any() };
        // In draft 4, `1.0` is no integer.
        let digits = schema.node(node).dialect.draft().is_draft_4();
        let nullable = schema.node(node).active(Kw::Nullable);
        let nullable = nullable.and_then(|k| schema.value(k).as_bool()) == Some(true);
        of_types(schema.value(keyword), nullable, &NumberShape::integers(digits))
    }

    /// `draft ∧` what a keyword besides `type` allows.
    pub(super) fn apply_keyword(
        &mut self,
        draft: &mut Draft,
        at: At,
        kw: Kw,
        keywords: &[Keyword],
    ) -> Result<()> {
        let schema = self.schema.clone();
        let At { place, index, how } = at;
        let (node, keyword) = (place.node, &keywords[index]);
        let value = schema.value(keyword);
        match kw {
            Kw::Enum | Kw::Const => {
                let union = match kw {
                    Kw::Enum => self.literals(keyword.doc, value.items()),
                    _ => self.literals(keyword.doc, [value]),
                };
                self.meet(draft, &union, at)?;
            }
            Kw::AllOf | Kw::Ref | Kw::DynamicRef | Kw::RecursiveRef => self.meet_all(draft, at)?,
            Kw::AnyOf => {
                let union = self.any_of(at, keyword);
                self.meet(draft, &union, at)?;
            }
            Kw::OneOf => {
                let union = self.one_of(at, keyword);
                self.meet(draft, &union, at)?;
            }
            Kw::Not => {
                for child in self.children(place, keyword) {
                    let negated = self.drafts[&(child, how.negated())].clone();
                    *draft = self.without(draft, &negated, at);
                }
            }
            Kw::If => self.if_then_else(draft, at, keywords)?,
            Kw::DependentSchemas => self.dependent_schemas(draft, at, keyword)?,
            Kw::Dependencies => {
                self.meet_objects(draft, &members::together(kw, value));
                self.dependent_schemas(draft, at, keyword)?;
            }
            Kw::UnevaluatedProperties => self.unevaluated_properties(draft, at, keyword),
            Kw::UnevaluatedItems => self.unevaluated_items(draft, at, keyword),
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
                match (self.factor(node, index, kw, value)?, how.position) {
                    (Text::Nothing, _) | (Text::Unknown, Position::Positive) => {}
                    (Text::Exact(shape), _) | (Text::Superset(shape), Position::Positive) => {
                        draft.narrow_strings(&shape);
                    }
                    (_, Position::Negative) => draft.strings.clear(),
                }
            }
            Kw::ContentMediaType
                if how.position == Position::Negative && self.checks_content(node, value) =>
            {
                draft.strings.clear();
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
                self.items(draft, at, kw, keywords);
            }
            Kw::UniqueItems if value.as_bool() == Some(true) => self.unique(draft),
            Kw::Contains => self.contains(draft, at, keywords),
            Kw::Properties | Kw::PatternProperties | Kw::AdditionalProperties => {
                match self.properties(at, kw, keywords)? {
                    Some(shape) => self.meet_objects(draft, &shape),
                    None if how.position == Position::Negative => draft.objects.clear(),
                    None => {}
                }
            }
            Kw::PropertyNames => {
                let key_nodes = self.children(place, keyword).into();
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
            Kw::MinProperties | Kw::MaxProperties | Kw::DependentRequired => {
                self.meet_objects(draft, &members::together(kw, value));
            }
            // `type` is applied already; everything else is routed, or asserts nothing.
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

    /// `draft ∧ other`; `false`, and no change, where a type would have too many shapes. Before that
    /// the complements are made that wait in `draft`: many cases that they tell apart are empty.
    pub(super) fn try_meet(
        &mut self,
        draft: &mut Draft,
        other: &Draft,
        position: Position,
    ) -> Result<bool> {
        if self.is_spent() && *draft != Draft::any() {
            return Ok(false);
        }
        let limit = self.options.limits.set_shapes;
        let mut both = intersect::drafts(draft, other, self, limit);
        if both.is_none() && draft.waits() {
            let mut made = draft.clone();
            if self.make_complements(&mut made, position)? && made.is_small() {
                both = intersect::drafts(&made, other, self, limit);
            }
        }
        Ok(both.map(|both| *draft = both).is_some())
    }

    /// The same; where it would have too many, the keyword is widened.
    pub(super) fn meet(&mut self, draft: &mut Draft, other: &Draft, at: At) -> Result<()> {
        if self.try_meet(draft, other, at.how.position)? {
            return Ok(());
        }
        self.widen(at.place.node, at.index, self.limit_met());
        for child in self.children_of(at) {
            self.widen_node(child.node);
        }
        if at.how.position == Position::Negative {
            *draft = Draft::never();
        }
        Ok(())
    }

    /// The places of the subschemas that a keyword at `place` holds or refers to.
    pub(super) fn children(&self, place: Place, keyword: &Keyword) -> Vec<Place> {
        let (schema, scopes) = (&self.schema, self.schema.scopes());
        if let Children::Target(_) = keyword.children {
            return scopes.target(schema, place, keyword).into_iter().collect();
        }
        keyword.children.ids().map(|child| scopes.child(schema, place, child)).collect()
    }

    fn children_of(&self, at: At) -> Vec<Place> {
        let keyword = &self.schema.node(at.place.node).keywords()[at.index];
        self.children(at.place, keyword)
    }

    /// The place of a subschema that a keyword at `place` holds.
    pub(super) fn child(&self, place: Place, child: NodeId) -> Place {
        self.schema.scopes().child(&self.schema, place, child)
    }

    /// `draft ∧` all that a keyword applies. Where a type would have too many shapes, unions of
    /// constraints on some member are taken together; what is still too much is widened.
    fn meet_all(&mut self, draft: &mut Draft, at: At) -> Result<()> {
        let places = self.children_of(at);
        let drafts: Vec<Arc<Draft>> =
            places.iter().map(|&place| self.drafts[&(place, at.how)].clone()).collect();
        let (mut met, mut fits) = (draft.clone(), true);
        for narrower in &drafts {
            fits = fits && self.try_meet(&mut met, narrower, at.how.position)?;
        }
        if fits {
            *draft = met;
            return Ok(());
        }
        for (place, narrower) in places.into_iter().zip(drafts) {
            let mut narrower = (*narrower).clone();
            self.merge_some(&mut narrower.objects);
            if !self.try_meet(draft, &narrower, at.how.position)? {
                self.widen_node(place.node);
                if at.how.position == Position::Negative {
                    *draft = Draft::never();
                }
            }
        }
        Ok(())
    }

    pub(super) fn meet_objects(&mut self, draft: &mut Draft, narrower: &ObjectShape) {
        let both =
            draft.objects.iter().filter_map(|object| intersect::objects(object, narrower, self));
        draft.objects = both.collect();
    }

    /// `prefixItems`, `items` in both forms and `additionalItems`: each narrows items by index.
    fn items(&mut self, draft: &mut Draft, at: At, kw: Kw, keywords: &[Keyword]) {
        let keyword = &keywords[at.index];
        let beside = |kw| keywords.iter().find(|k| k.status == Status::Active && k.kw == Some(kw));
        let places = self.children(at.place, keyword);
        let (shape, evaluated) = match (kw, &keyword.children) {
            (Kw::PrefixItems, _) | (Kw::Items, Children::List(_)) => {
                let evaluated = places.len() as u64;
                let prefix = places.into_iter().map(|place| self.node_set(place)).collect();
                (ArrayShape { prefix, ..ArrayShape::any() }, evaluated)
            }
            _ => {
                // One schema for the items behind those that a list beside it names.
                let list = if kw == Kw::Items { Kw::PrefixItems } else { Kw::Items };
                let skipped = beside(list).map_or(0, |k| k.children.ids().count());
                let Some(&place) = places.first() else { return };
                let rest = self.node_set(place);
                let prefix = std::iter::repeat_n(SetId::ANY, skipped).collect();
                (ArrayShape { prefix, rest, ..ArrayShape::any() }, u64::MAX)
            }
        };
        let shape = if at.how.evaluated { of_items(shape, evaluated, Vec::new()) } else { shape };
        self.meet_arrays(draft, &shape);
    }

    pub(super) fn meet_arrays(&mut self, draft: &mut Draft, narrower: &ArrayShape) {
        let arrays = draft.arrays.iter();
        let both = arrays.filter_map(|array| intersect::arrays(array, narrower, self));
        draft.arrays = both.collect();
    }
}
