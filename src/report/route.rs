//! How each keyword is compiled, and in which positions its subschemas stand.

use crate::options::{Asserted, Content};
use crate::schema::{Keyword, Kw, Node, Role, Schema, Status};
use crate::values::{FormatUse, Position, encoding_use, format_use};
use smallvec::{SmallVec, smallvec};

/// How an active keyword is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compiled {
    /// The mask enforces it.
    Mask,
    /// The mask enforces it but for this.
    Part(&'static str),
    /// Its subschemas are what is enforced: it has the route of what they carry.
    Carries,
    /// The mask leaves it out, with all that it holds.
    Check(&'static str),
    /// It asserts nothing.
    Annotation(&'static str),
}

/// How an active keyword of `node` is compiled where no limit is met.
pub(super) fn compiled(
    schema: &Schema,
    node: &Node,
    keyword: &Keyword,
    asserted: Asserted,
) -> Compiled {
    let text = || schema.value(keyword).as_str().unwrap_or_default();
    let Some(kw) = keyword.kw else { return Compiled::Annotation("unknown-keyword") };
    match kw {
        Kw::Type | Kw::Enum | Kw::Const | Kw::Required => Compiled::Mask,
        Kw::MinProperties | Kw::MaxProperties | Kw::DependentRequired => Compiled::Mask,
        Kw::Dependencies if keyword.children.ids().next().is_none() => Compiled::Mask,
        Kw::MinLength | Kw::MaxLength | Kw::MinItems | Kw::MaxItems | Kw::Pattern => Compiled::Mask,
        Kw::Format => format(format_use(text(), node.dialect, asserted.formats)),
        Kw::Properties | Kw::PatternProperties | Kw::AdditionalProperties | Kw::PropertyNames => {
            Compiled::Carries
        }
        Kw::PrefixItems | Kw::Items | Kw::AdditionalItems | Kw::Contains => Compiled::Carries,
        Kw::MinContains | Kw::MaxContains | Kw::UniqueItems => Compiled::Mask,
        Kw::AllOf | Kw::AnyOf | Kw::OneOf | Kw::Not | Kw::If | Kw::Then | Kw::Else => {
            Compiled::Carries
        }
        Kw::Ref | Kw::DynamicRef | Kw::RecursiveRef => Compiled::Carries,
        Kw::DependentSchemas | Kw::Dependencies => Compiled::Carries,
        Kw::UnevaluatedProperties | Kw::UnevaluatedItems => Compiled::Carries,
        Kw::Minimum | Kw::Maximum | Kw::ExclusiveMinimum | Kw::ExclusiveMaximum => Compiled::Mask,
        Kw::MultipleOf | Kw::Nullable => Compiled::Mask,
        Kw::Discriminator => Compiled::Annotation("a hint, which may not change what is valid"),
        Kw::ContentEncoding => format(encoding_use(text(), node.dialect, asserted.content)),
        Kw::ContentMediaType => media_type(schema, node, text(), asserted.content),
        Kw::ContentSchema => Compiled::Annotation("content is not validated by a schema"),
        _ => match kw.spec().role {
            Role::Assertion | Role::Applicator | Role::Reference => {
                Compiled::Check("the keyword is not compiled into the mask yet")
            }
            Role::Definitions => Compiled::Carries,
            Role::Annotation => Compiled::Annotation("asserts nothing"),
            Role::Identity => Compiled::Annotation("names or places the schema"),
        },
    }
}

fn format(format_use: FormatUse) -> Compiled {
    match format_use {
        FormatUse::Row(row) => row.rest().map_or(Compiled::Mask, Compiled::Part),
        FormatUse::Integers => Compiled::Mask,
        FormatUse::Annotation(reason) => Compiled::Annotation(reason),
    }
}

/// JSON inside a string is not regular; a check parses it.
fn media_type(schema: &Schema, node: &Node, name: &str, content: Content) -> Compiled {
    let encoding = node.active(Kw::ContentEncoding).and_then(|k| schema.value(k).as_str());
    let decoded = encoding.map(|name| encoding_use(name, node.dialect, content));
    match (content, decoded) {
        (Content::Annotate, _) => Compiled::Annotation("content is annotated, not enforced"),
        _ if name != "application/json" => Compiled::Annotation("unknown media type"),
        (_, Some(FormatUse::Annotation(reason))) => Compiled::Annotation(reason),
        _ => Compiled::Check("the decoded text is parsed afterwards"),
    }
}

/// In which positions the subschemas of a keyword stand, if its own subschema stands in `position`;
/// `beside`: the keywords of that subschema.
pub(super) fn positions_below(
    keyword: &Keyword,
    beside: &[Keyword],
    position: Position,
) -> SmallVec<[Position; 2]> {
    let has = |kw: Kw| beside.iter().any(|k| k.status == Status::Active && k.kw == Some(kw));
    match keyword.kw {
        Some(Kw::Not) => smallvec![position.flip()],
        // The condition decides both ways, as do the branches of which only one may hold, and items
        // of which there may not be too many.
        Some(Kw::If | Kw::OneOf) => smallvec![position, position.flip()],
        Some(Kw::Contains) if has(Kw::MaxContains) => smallvec![position, position.flip()],
        _ => smallvec![position],
    }
}

/// Whether a keyword only keeps subschemas for others.
pub(super) fn is_definitions(keyword: &Keyword) -> bool {
    keyword.kw.is_some_and(|kw| kw.spec().role == Role::Definitions)
}
