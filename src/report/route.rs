//! How each keyword is compiled, and in which uses a subschema is reached.

use crate::base::Route;
use crate::options::{Asserted, Content};
use crate::schema::{Keyword, Kw, Node, NodeId, Role, Schema, Status};
use crate::values::{FormatUse, Position, encoding_use, format_use};

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

/// How an active keyword of `node` is compiled; `widened`: how compiling has routed it, if it had to
/// leave out a part.
pub(super) fn compiled(
    schema: &Schema,
    node: &Node,
    keyword: &Keyword,
    asserted: Asserted,
    widened: Option<Route>,
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
        Kw::PrefixItems | Kw::Items | Kw::AdditionalItems => Compiled::Carries,
        Kw::Not if widened == Some(Route::Check) => {
            Compiled::Check("what it negates is not compiled exactly into the mask yet")
        }
        Kw::AllOf | Kw::AnyOf | Kw::Not | Kw::Ref => Compiled::Carries,
        Kw::Minimum | Kw::Maximum | Kw::ExclusiveMinimum | Kw::ExclusiveMaximum => Compiled::Mask,
        Kw::MultipleOf => Compiled::Mask,
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

/// Every subschema's uses, by node. `widened`: how a keyword is routed that is left out, wholly or in
/// places, so that what it holds is checked as well.
pub(super) fn uses(
    schema: &Schema,
    asserted: Asserted,
    widened: impl Fn(NodeId, usize) -> Option<Route>,
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
            let widened = widened(id, index);
            let compiled = compiled(schema, node, keyword, asserted, widened);
            let ways = ways_below(keyword, (id, index), way, compiled, widened.is_some());
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
