//! The members of one object at a schema position, and what counts among them.

use super::json::{JsonKind, JsonRef};
use super::keyword::Kw;
use super::uri;
use super::{DocId, Draft, NodeDialect, NodeId, ResourceId, Status};
use smallvec::SmallVec;

/// The members of one object at a schema position, with their keywords looked up.
pub(super) struct MemberTable<'a> {
    pub members: SmallVec<[(Option<Kw>, JsonRef<'a>); 12]>,
}

impl<'a> MemberTable<'a> {
    pub(super) fn of(object: JsonRef<'a>) -> Self {
        let members = object.members().map(|(name, value)| (Kw::from_name(name), value));
        MemberTable { members: members.collect() }
    }

    /// The value of the member `kw`.
    pub(super) fn get(&self, kw: Kw) -> Option<JsonRef<'a>> {
        self.members.iter().find(|(k, _)| *k == Some(kw)).map(|(_, value)| *value)
    }

    fn has(&self, kw: Kw) -> bool {
        self.get(kw).is_some()
    }

    /// Whether all siblings of `$ref` are annotations.
    fn ref_stands_alone(&self, draft: Draft) -> bool {
        draft.ref_stands_alone() && self.has(Kw::Ref)
    }

    /// The identifying keyword's value, split at the fragment.
    pub(super) fn own_id(&self, draft: Draft) -> Option<(JsonRef<'a>, &'a str, Option<&'a str>)> {
        if self.ref_stands_alone(draft) || draft == Draft::OpenApi30 {
            return None;
        }
        let kw = if draft == Draft::Draft4 { Kw::IdDraft4 } else { Kw::Id };
        let value = self.get(kw)?;
        let (uri, fragment) = uri::split_fragment(value.as_str()?);
        Some((value, uri, fragment))
    }

    /// Whether the object starts a schema resource in a document of `draft`.
    pub(super) fn starts_resource(&self, draft: Draft) -> bool {
        self.own_id(draft).is_some_and(|(_, uri, _)| !uri.is_empty())
    }

    /// Whether a `$schema` in a part of a document can count. The `id` of draft 4 starts a resource
    /// only inside draft 4: elsewhere it is an ordinary name. OpenAPI 3.0 has neither.
    pub(super) fn may_start_resource(&self, outer: Draft) -> bool {
        (outer != Draft::OpenApi30 && self.has(Kw::Id))
            || (outer == Draft::Draft4 && self.has(Kw::IdDraft4))
    }

    /// The status of the member `kw` with the value `value`.
    pub(super) fn status(&self, kw: Option<Kw>, value: JsonRef<'_>, place: &Place) -> Status {
        let Some(kw) = kw else { return Status::Unknown };
        let draft = place.dialect.draft();
        if kw != Kw::Ref && self.ref_stands_alone(draft) {
            return Status::BesideRef;
        }
        if !kw.is_in(draft) {
            return if kw.is_of_openapi() { Status::Unknown } else { Status::NotInDialect };
        }
        if !place.dialect.has(kw.spec().vocabulary) {
            return Status::VocabularyOff;
        }
        let boolean = value.kind() == JsonKind::Bool;
        let effective = match kw {
            Kw::Schema => place.is_resource_root,
            Kw::Nullable => self.has(Kw::Type),
            Kw::Then | Kw::Else => self.has(Kw::If),
            Kw::MinContains | Kw::MaxContains => self.has(Kw::Contains),
            Kw::AdditionalItems => {
                self.get(Kw::Items).is_some_and(|items| items.kind() == JsonKind::Array)
            }
            Kw::ExclusiveMinimum if boolean => self.has(Kw::Minimum),
            Kw::ExclusiveMaximum if boolean => self.has(Kw::Maximum),
            _ => true,
        };
        if effective { Status::Active } else { Status::NoEffect }
    }
}

/// What holds in the subschema that is being read.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub node: NodeId,
    pub doc: DocId,
    pub dialect: NodeDialect,
    pub resource: ResourceId,
    pub inert: bool,
    pub is_resource_root: bool,
}
