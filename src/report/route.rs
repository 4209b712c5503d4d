//! How each keyword is compiled, and in which uses a subschema is reached.

use crate::options::Formats;
use crate::schema::{Keyword, Kw, Node, NodeId, Role, Schema, Status};
use crate::values::{FormatUse, Position, format_use};

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
        Kw::Minimum | Kw::Maximum | Kw::ExclusiveMinimum | Kw::ExclusiveMaximum => Compiled::Mask,
        Kw::MultipleOf => Compiled::Mask,
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
    match format_use(name, formats) {
        FormatUse::Mask => Compiled::Mask,
        FormatUse::Check(reason) => Compiled::Check(reason),
        FormatUse::Annotation(reason) => Compiled::Annotation(reason),
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

/// One way in which a subschema is reached.
#[derive(Clone, Copy)]
enum Way {
    Masked,
    Checked(Position, (NodeId, usize)),
}

/// Every subschema's uses, by node. `is_widened`: a limit leaves the keyword out in places, so what
/// it holds is checked as well.
pub(super) fn uses(
    schema: &Schema,
    formats: Formats,
    is_widened: impl Fn(NodeId, usize) -> bool,
) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); schema.node_count()];
    let mut dynamic: Option<Vec<NodeId>> = None;
    let mut queue = vec![(schema.root(), Way::Masked)];
    while let Some((id, way)) = queue.pop() {
        if !uses[id.index()].add(way) {
            continue;
        }
        let node = schema.node(id);
        for (index, keyword) in node.keywords().iter().enumerate() {
            if keyword.status != Status::Active || is_definitions(keyword) {
                continue;
            }
            let compiled = compiled(schema, node, keyword, formats);
            let ways = ways_below(keyword, (id, index), way, compiled, is_widened(id, index));
            let elsewhere = match keyword.kw {
                Some(Kw::DynamicRef | Kw::RecursiveRef) => {
                    dynamic.get_or_insert_with(|| dynamic_targets(schema)).as_slice()
                }
                _ => &[],
            };
            for child in keyword.children.ids().chain(elsewhere.iter().copied()) {
                queue.extend(ways.iter().map(|&way| (child, way)));
            }
        }
    }
    uses
}

impl Uses {
    /// Adds a way; `false` where one like it is known.
    fn add(&mut self, way: Way) -> bool {
        match way {
            Way::Masked => !std::mem::replace(&mut self.masked, true),
            Way::Checked(position, by) => {
                let slot = &mut self.checked[position as usize];
                let new = slot.is_none();
                slot.get_or_insert(by);
                new
            }
        }
    }
}

/// How the subschemas of `keyword` are reached, if its own subschema is reached by `way`.
fn ways_below(
    keyword: &Keyword,
    place: (NodeId, usize),
    way: Way,
    compiled: Compiled,
    widened: bool,
) -> Vec<Way> {
    let positions = |from: Position| match keyword.kw {
        Some(Kw::Not) => vec![from.flip()],
        // The condition decides both ways, and so do the branches that must not hold and what
        // counts as evaluated.
        Some(Kw::If | Kw::OneOf | Kw::UnevaluatedItems | Kw::UnevaluatedProperties) => {
            vec![from, from.flip()]
        }
        _ => vec![from],
    };
    let checked =
        |from, by| positions(from).into_iter().map(|p| Way::Checked(p, by)).collect::<Vec<_>>();
    match (way, compiled) {
        (_, Compiled::Annotation(_)) => Vec::new(),
        (Way::Checked(position, by), _) => checked(position, by),
        (Way::Masked, Compiled::Check(_)) => checked(Position::Positive, place),
        (Way::Masked, _) if widened => {
            let mut ways = checked(Position::Positive, place);
            ways.push(Way::Masked);
            ways
        }
        (Way::Masked, _) => vec![Way::Masked],
    }
}

/// Whether a keyword only keeps subschemas for others.
pub(super) fn is_definitions(keyword: &Keyword) -> bool {
    keyword.kw.is_some_and(|kw| kw.spec().role == Role::Definitions)
}

/// The subschemas that a dynamic reference may reach, whatever its name: which of them it does
/// depends on the way through the schema.
fn dynamic_targets(schema: &Schema) -> Vec<NodeId> {
    let is_target = |&id: &NodeId| {
        let node = schema.node(id);
        let recursive = node.active(Kw::RecursiveAnchor);
        node.active(Kw::DynamicAnchor).is_some()
            || recursive.is_some_and(|keyword| schema.value(keyword).as_bool() == Some(true))
    };
    schema.node_ids().filter(is_target).collect()
}
