//! `not`: the complement of what a subschema allows.
//!
//! The complement of a union is the intersection of the complements of its shapes, and that of a
//! conjunction of constraints is the union of the negated constraints. A subschema is negated only
//! where it is known exactly: what is widened in it would make its complement too small. Arrays and
//! objects are negated as whole types.

use super::draft::Draft;
use super::intersect;
use super::numbers::NumberShape;
use super::sets::{Builder, Widened, narrows};
use super::shape::{ArrayShape, Literals, ObjectShape, StringShape};
use crate::base::Route;
use crate::options::Content;
use crate::schema::{Body, Keyword, Kw, NodeId, Role, Status};

/// Why `not` is left to the check.
const INEXACT: &str = "what it negates is not compiled exactly into the mask yet";

impl Builder<'_> {
    /// Meets `draft` with the complement of `child`, the subschema of the keyword `not` at `index`
    /// of `node`, or routes the keyword.
    pub(super) fn meet_not(
        &mut self,
        draft: &mut Draft,
        node: NodeId,
        index: usize,
        child: NodeId,
    ) {
        let complement = if self.is_exact(child) { self.complement(child) } else { None };
        let met = complement.is_some_and(|complement| self.try_meet(draft, &complement));
        if !met {
            self.widened.push(Widened {
                node,
                index,
                route: Route::Check,
                reason: INEXACT.into(),
                limit: None,
            });
        }
    }

    /// Whether the draft of `node` holds what the subschema allows, and no more.
    fn is_exact(&self, node: NodeId) -> bool {
        let closure = self.in_place_closure(node);
        if self.widened.iter().any(|widened| closure.contains(&widened.node)) {
            return false;
        }
        closure.into_iter().all(|node| {
            let Body::Keywords(keywords) = &self.schema.node(node).body else { return true };
            let mut active = keywords.iter().filter(|k| k.status == Status::Active);
            active.all(|keyword| self.is_exact_keyword(node, keyword))
        })
    }

    fn is_exact_keyword(&self, node: NodeId, keyword: &Keyword) -> bool {
        match keyword.kw {
            Some(kw @ (Kw::Format | Kw::ContentEncoding)) => {
                let text = self.schema.value(keyword).as_str().unwrap_or_default();
                self.format_row(node, kw, text).is_none_or(|row| row.rest().is_none())
            }
            // JSON inside a string is for the check alone.
            Some(Kw::ContentMediaType) => self.options.content == Content::Annotate,
            // Its subschemas are left out.
            Some(Kw::Dependencies) => keyword.children.ids().next().is_none(),
            Some(kw) => {
                let asserts =
                    matches!(kw.spec().role, Role::Assertion | Role::Applicator | Role::Reference);
                !asserts || narrows(kw)
            }
            None => true,
        }
    }

    /// Whether a subschema for members or keys asserts anything.
    fn constrains_members(&self, node: NodeId) -> bool {
        let asserts = |child: NodeId| match &self.schema.node(child).body {
            Body::Boolean(all) => !all,
            Body::Keywords(keywords) => keywords.iter().any(|k| k.status == Status::Active),
        };
        self.in_place_closure(node).into_iter().any(|node| {
            self.schema.node(node).keywords().iter().any(|keyword| {
                let of_members = matches!(
                    keyword.kw,
                    Some(
                        Kw::Properties
                            | Kw::PatternProperties
                            | Kw::AdditionalProperties
                            | Kw::PropertyNames
                            | Kw::Items
                            | Kw::PrefixItems
                            | Kw::AdditionalItems
                    )
                );
                keyword.status == Status::Active
                    && of_members
                    && keyword.children.ids().any(asserts)
            })
        })
    }

    /// The complement of the draft of `node`; `None` where it cannot be told.
    fn complement(&mut self, node: NodeId) -> Option<Draft> {
        let draft = self.drafts.get(&node)?.clone();
        // What members must be may have been left out of the mask: all containers are not all then.
        let is_all = !self.constrains_members(node);
        let limit = self.options.limits.set_shapes;
        let mut strings = vec![StringShape::default()];
        for shape in &draft.strings {
            let negated = self.negated_strings(shape)?;
            strings = intersect::product(&strings, &negated, limit, intersect::strings)?;
        }
        let mut numbers = vec![NumberShape::ANY];
        for shape in &draft.numbers {
            let negated = shape.negate()?;
            numbers = intersect::product(&numbers, &negated, limit, NumberShape::intersect)?;
        }
        Some(Draft {
            literals: Literals::ALL.without(draft.literals),
            numbers,
            strings,
            arrays: whole(&draft.arrays, |a| is_all && *a == ArrayShape::any(), ArrayShape::any)?,
            objects: whole(&draft.objects, |o| is_all && o.is_any(), ObjectShape::any)?,
        })
    }

    /// The strings that break one of the constraints of `shape`; `None` where a limit is met.
    fn negated_strings(&mut self, shape: &StringShape) -> Option<Vec<StringShape>> {
        let mut broken = Vec::new();
        for &factor in &shape.factors {
            broken.push(StringShape { without: vec![factor], ..StringShape::default() });
        }
        for &factor in &shape.without {
            broken.push(StringShape { factors: vec![factor], ..StringShape::default() });
        }
        if let Some(values) = &shape.values {
            let without = vec![self.values_factor(values).ok()?];
            broken.push(StringShape { without, ..StringShape::default() });
        }
        if let Some(max) = shape.min.checked_sub(1) {
            broken.push(StringShape { max: Some(max), ..StringShape::default() });
        }
        if let Some(min) = shape.max.and_then(|max| max.checked_add(1)) {
            broken.push(StringShape { min, ..StringShape::default() });
        }
        Some(broken)
    }
}

/// The complement of a union of containers, where it is all of them or none.
fn whole<T>(shapes: &[T], is_any: impl Fn(&T) -> bool, any: impl Fn() -> T) -> Option<Vec<T>> {
    if shapes.is_empty() {
        return Some(vec![any()]);
    }
    shapes.iter().any(is_any).then(Vec::new)
}
