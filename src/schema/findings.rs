//! What a reader of a schema should know although it is no error.

use super::check::excerpt;
use super::keyword::{Kw, Role};
use super::{Body, Keyword, NodeId, Schema, Status};
use std::collections::BTreeMap;

/// A remark about one place of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaFinding {
    /// `not-in-dialect`, `unknown-keyword`, `beside-ref`, `boolean-schema`, `discriminator`,
    /// `nullable` or `ambiguous-id`.
    pub kind: &'static str,
    pub location: String,
    pub message: String,
}

/// The findings of all subschemas; see [`Schema::findings`].
pub(super) fn findings(schema: &Schema) -> Vec<SchemaFinding> {
    let mut finder = Finder { schema, findings: vec![], nearest: BTreeMap::new() };
    for id in schema.node_ids() {
        finder.node(id);
    }
    for &(node, value) in &schema.ambiguous {
        let value = schema.document(schema.node(node).doc).value(value);
        let location = value.document().location(value.id());
        let message = format!(
            "another subschema is named {} too; no reference may use it",
            excerpt(value.text())
        );
        finder.findings.push(SchemaFinding { kind: "ambiguous-id", location, message });
    }
    finder.findings
}

struct Finder<'s> {
    schema: &'s Schema,
    findings: Vec<SchemaFinding>,
    /// The nearest known names of unknown ones, which often recur.
    nearest: BTreeMap<&'s str, Option<&'static str>>,
}

impl<'s> Finder<'s> {
    fn node(&mut self, id: NodeId) {
        let node = self.schema.node(id);
        if node.parent.is_none() && matches!(node.body, Body::Boolean(_)) {
            self.boolean_schema(id);
        }
        for keyword in node.keywords() {
            match keyword.status {
                Status::Unknown => self.unknown(keyword),
                Status::NotInDialect => {
                    let draft = node.dialect.draft().name();
                    let message = format!(
                        "`{}` is no keyword of {draft}; it asserts nothing here",
                        self.schema.keyword_name(keyword)
                    );
                    self.add("not-in-dialect", keyword, message);
                }
                Status::BesideRef => self.beside_ref(keyword),
                Status::Active if keyword.kw == Some(Kw::Discriminator) => {
                    let message = "`discriminator` is a hint, which may not change what is valid \
                                   (OpenAPI 3.0.4); `oneOf`, `anyOf` and `allOf` decide alone";
                    self.add("discriminator", keyword, message.to_owned());
                }
                Status::NoEffect if keyword.kw == Some(Kw::Nullable) => {
                    let message = "`nullable` has no effect where `type` is not beside it";
                    self.add("nullable", keyword, message.to_owned());
                }
                Status::Active | Status::NoEffect | Status::VocabularyOff => {}
            }
            // Draft 4 itself allows booleans there.
            let own = [Some(Kw::AdditionalProperties), Some(Kw::AdditionalItems)];
            if !own.contains(&keyword.kw)
                && keyword.kw.is_none_or(|kw| kw.spec().role != Role::Reference)
            {
                for child in keyword.children.ids() {
                    self.boolean_schema(child);
                }
            }
        }
    }

    fn add(&mut self, kind: &'static str, keyword: &Keyword, message: String) {
        let location = self.schema.document(keyword.doc).location(keyword.value);
        self.findings.push(SchemaFinding { kind, location, message });
    }

    fn unknown(&mut self, keyword: &Keyword) {
        let name = self.schema.keyword_name(keyword);
        if matches!(keyword.kw, Some(Kw::Nullable | Kw::Discriminator)) {
            let message = format!(
                "{name:?} is no keyword of any draft; the dialect option `openapi-3.0` has it"
            );
            return self.add("unknown-keyword", keyword, message);
        }
        let near = *self.nearest.entry(name).or_insert_with(|| Kw::nearest(name));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        self.add(
            "unknown-keyword",
            keyword,
            format!("{:?} is no keyword of any draft{hint}", excerpt(name)),
        );
    }

    fn beside_ref(&mut self, keyword: &Keyword) {
        let Some(kw) = keyword.kw else { return };
        let asserts =
            matches!(kw.spec().role, Role::Assertion | Role::Applicator | Role::Reference);
        if asserts || matches!(kw, Kw::Id | Kw::IdDraft4) {
            let name = kw.name();
            let message = format!(
                "`{name}` beside `$ref` has no effect up to draft 7; wrap `$ref` in `allOf`"
            );
            self.add("beside-ref", keyword, message);
        }
    }

    fn boolean_schema(&mut self, id: NodeId) {
        let node = self.schema.node(id);
        let draft = node.dialect.draft();
        if draft.is_draft_4()
            && let Body::Boolean(value) = node.body
        {
            let message = format!(
                "{} has no boolean subschemas; `{value}` is read as from draft 6",
                draft.name()
            );
            let location = self.schema.location(id);
            self.findings.push(SchemaFinding { kind: "boolean-schema", location, message });
        }
    }
}
