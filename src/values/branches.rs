//! Branches that no value can take: of `anyOf`, `oneOf`, `if`, `then` and `else`.
//!
//! A branch that contradicts the keywords beside it adds nothing to the set, and so vanishes from the
//! mask without a trace: the report tells of it. Only what is plain is found: that no shape of the
//! branch is left once it meets the simple keywords beside it, and those of `allOf` and `$ref` that
//! are no union themselves. What another branch takes away in `oneOf` is not looked for, nor what
//! depends on the dynamic scope. The work is linear in the branches, and bounded for each keyword.

use super::draft::{At, Draft, How};
use super::sets::Builder;
use super::shape::Position;
use super::widen::narrows;
use crate::base::Finding;
use crate::error::Result;
use crate::schema::{Body, Keyword, Kw, Place, Status};
use std::sync::Arc;

/// Branches of one keyword that are met with what stands beside them.
const MET: usize = 1_000;

/// Whether a keyword chooses among its subschemas.
fn chooses(keyword: &Keyword) -> bool {
    keyword.status == Status::Active
        && matches!(keyword.kw, Some(Kw::AnyOf | Kw::OneOf | Kw::If | Kw::Then | Kw::Else))
}

impl Builder<'_> {
    /// Notes the branches of a subschema that hold no value. Its own draft has been made before.
    pub(super) fn note_empty_branches(&mut self, place: Place, within: How) -> Result<()> {
        let schema = self.schema.clone();
        let keywords = schema.node(place.node).keywords();
        let is_asked = within.position == Position::Positive && schema.scopes().are_one();
        if !is_asked || !keywords.iter().any(chooses) {
            return Ok(());
        }
        let beside = self.simple_siblings(place, within, keywords)?;
        if beside.as_ref().is_some_and(Draft::has_no_shape) {
            // Then it is not the branch.
            return Ok(());
        }
        for keyword in keywords.iter().filter(|keyword| chooses(keyword)) {
            for (index, branch) in self.children(place, keyword).into_iter().enumerate() {
                // `false` says so itself.
                if matches!(schema.node(branch.node).body, Body::Boolean(false)) {
                    continue;
                }
                let Some(own) = self.drafts.get(&(branch, within)).cloned() else { continue };
                let is_empty = match &beside {
                    Some(beside) if index < MET && !own.has_no_shape() => {
                        self.is_plainly_apart(beside, &own)?
                    }
                    _ => own.has_no_shape(),
                };
                if is_empty {
                    self.findings.push(Finding {
                        kind: "empty",
                        location: schema.location(branch.node),
                        message:
                            "no value is valid here beside the keywords around it, so the mask \
                                  never takes this branch"
                                .into(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The draft of the keywords that choose nothing; `None` where there are none.
    fn simple_siblings(
        &mut self,
        place: Place,
        within: How,
        keywords: &[Keyword],
    ) -> Result<Option<Draft>> {
        let mut draft = None;
        // They were applied before, and what is to be told of them was told.
        let told = self.findings.len();
        for (index, keyword) in keywords.iter().enumerate() {
            let Some(kw) = keyword.kw.filter(|&kw| narrows(kw)) else { continue };
            let is_simple = match kw {
                Kw::AllOf | Kw::Ref => self
                    .children(place, keyword)
                    .iter()
                    .all(|&child| self.drafts.get(&(child, within)).is_some_and(is_no_union)),
                _ => !kw.applies_in_place() && !is_unevaluated(kw),
            };
            if keyword.status == Status::Active && is_simple {
                let draft = draft.get_or_insert_with(|| self.of_type(place.node));
                self.apply_keyword(draft, At { place, index, how: within }, kw, keywords)?;
            }
        }
        self.findings.truncate(told);
        Ok(draft)
    }

    /// Whether two drafts have plainly no value in common.
    fn is_plainly_apart(&mut self, a: &Draft, b: &Draft) -> Result<bool> {
        let mut both = a.clone();
        if !self.try_meet(&mut both, b, Position::Positive)? {
            return Ok(false);
        }
        both.strings.retain(|shape| !self.has_plainly_no_string(shape));
        Ok(both.has_no_shape())
    }
}

fn is_unevaluated(kw: Kw) -> bool {
    matches!(kw, Kw::UnevaluatedItems | Kw::UnevaluatedProperties)
}

fn is_no_union(draft: &Arc<Draft>) -> bool {
    let counts =
        [draft.numbers.len(), draft.strings.len(), draft.arrays.len(), draft.objects.len()];
    counts.into_iter().all(|count| count <= 1)
}

impl Draft {
    fn has_no_shape(&self) -> bool {
        self.literals.is_empty()
            && self.numbers.is_empty()
            && self.strings.is_empty()
            && self.arrays.is_empty()
            && self.objects.is_empty()
    }
}
