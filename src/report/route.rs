//! How each keyword is compiled, and in which uses a subschema is reached.

use crate::options::Formats;
use crate::schema::{Keyword, Kw, Node, NodeId, Role, Schema, Status};
use crate::values::{Format, FormatHow, Position};

/// How an active keyword is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compiled {
    /// The mask enforces it.
    Mask,
    /// Its subschemas are what is enforced: it has the route of what they carry.
    Carries,
    /// The mask leaves it out, with all that it holds.
    Check(&'static str),
    /// It asserts nothing.
    Annotation(&'static str),
}

/// How an active keyword of `node` is compiled.
pub(super) fn compiled(
    schema: &Schema,
    node: &Node,
    keyword: &Keyword,
    formats: Formats,
) -> Compiled {
    let Some(kw) = keyword.kw else { return Compiled::Annotation("unknown-keyword") };
    match kw {
        Kw::Type | Kw::Enum | Kw::Const | Kw::Required => Compiled::Mask,
        Kw::MinLength | Kw::MaxLength | Kw::MinItems | Kw::MaxItems | Kw::Pattern => Compiled::Mask,
        Kw::Format => format(
            schema.value(keyword).as_str().unwrap_or_default(),
            node.dialect.formats(formats),
        ),
        Kw::AdditionalProperties if node.active(Kw::PatternProperties).is_some() => {
            Compiled::Check("which keys are additional depends on `patternProperties`")
        }
        Kw::Properties | Kw::AdditionalProperties | Kw::PrefixItems | Kw::Items => {
            Compiled::Carries
        }
        Kw::AdditionalItems | Kw::AllOf | Kw::AnyOf | Kw::Ref => Compiled::Carries,
        Kw::Minimum | Kw::Maximum | Kw::ExclusiveMinimum | Kw::ExclusiveMaximum => {
            Compiled::Check("bounds of numbers are not compiled into the mask yet")
        }
        Kw::MultipleOf => Compiled::Check("multiples are not compiled into the mask yet"),
        Kw::ContentEncoding | Kw::ContentMediaType | Kw::ContentSchema => {
            Compiled::Annotation("content is annotated, not enforced")
        }
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

fn format(name: &str, formats: Formats) -> Compiled {
    let Some(row) = Format::lookup(name) else {
        return Compiled::Annotation("unknown format");
    };
    match (&row.how, formats) {
        (_, Formats::Annotate) => Compiled::Annotation("formats are annotations by option"),
        (_, Formats::Standard) if !row.standard => {
            Compiled::Annotation("not a format of the drafts")
        }
        (FormatHow::Compiled(_), _) => Compiled::Mask,
        (FormatHow::NotYet, _) => Compiled::Check("the format is not compiled into the mask yet"),
    }
}

/// The ways in which a subschema is reached from the root.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Through compiled keywords only: the mask enforces it.
    pub(super) masked: bool,
    /// Inside a keyword that is checked as a whole, by position: that keyword.
    pub(super) checked: [Option<(NodeId, usize)>; 2],
}

impl Uses {
    pub(super) fn is_empty(&self) -> bool {
        !self.masked && self.checked == [None, None]
    }
}

/// Every subschema's uses, by node.
pub(super) fn uses(schema: &Schema, formats: Formats) -> Vec<Uses> {
    #[derive(Clone, Copy)]
    enum Way {
        Masked,
        Checked(Position, (NodeId, usize)),
    }
    let mut uses = vec![Uses::default(); schema.node_count()];
    let mut queue = vec![(schema.root(), Way::Masked)];
    while let Some((id, way)) = queue.pop() {
        let known = &mut uses[id.index()];
        match way {
            Way::Masked if known.masked => continue,
            Way::Masked => known.masked = true,
            Way::Checked(position, by) => {
                let slot = &mut known.checked[position as usize];
                if slot.is_some() {
                    continue;
                }
                *slot = Some(by);
            }
        }
        let node = schema.node(id);
        for (index, keyword) in node.keywords().iter().enumerate() {
            if keyword.status != Status::Active {
                continue;
            }
            let Some(kw) = keyword.kw else { continue };
            let positions = |from: Position| match kw {
                Kw::Not => vec![from.flip()],
                // The condition decides both ways, and so do the branches that must not hold and
                // what counts as evaluated.
                Kw::If | Kw::OneOf | Kw::UnevaluatedItems | Kw::UnevaluatedProperties => {
                    vec![from, from.flip()]
                }
                _ => vec![from],
            };
            for child in keyword.children.ids() {
                match (way, compiled(schema, node, keyword, formats)) {
                    (_, Compiled::Annotation(_)) => {}
                    (_, Compiled::Carries) if kw.spec().role == Role::Definitions => {}
                    (Way::Masked, Compiled::Check(_)) => {
                        let ways = positions(Position::Positive).into_iter();
                        queue.extend(ways.map(|p| (child, Way::Checked(p, (id, index)))));
                    }
                    (Way::Masked, _) => queue.push((child, Way::Masked)),
                    (Way::Checked(position, by), _) => {
                        let ways = positions(position).into_iter();
                        queue.extend(ways.map(|p| (child, Way::Checked(p, by))));
                    }
                }
            }
        }
    }
    uses
}
