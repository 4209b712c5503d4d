//! Refuses subschemas that apply to the same value as themselves.

use super::{Keyword, NodeId, Schema, Status};
use crate::error::{Error, ErrorKind, Result};

/// How many places of a cycle an error lists.
const LISTED_PLACES: usize = 8;

/// A subschema on the current path, and which of its children comes next.
struct Frame {
    node: NodeId,
    keyword: usize,
    child: usize,
}

/// Searches for a cycle of in-place keywords among the nodes that are not inert.
///
/// # Errors
///
/// `reference-cycle` at the keyword that closes the cycle.
pub(super) fn refuse_cycles(schema: &Schema) -> Result<()> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut colors = vec![NEW; schema.node_count()];
    let mut path: Vec<Frame> = vec![];
    for start in schema.node_ids() {
        if colors[start.index()] != NEW || schema.node(start).inert {
            continue;
        }
        colors[start.index()] = ON_PATH;
        path.push(Frame { node: start, keyword: 0, child: 0 });
        while let Some(frame) = path.last_mut() {
            let Some(child) = next_child(schema, frame) else {
                colors[frame.node.index()] = DONE;
                path.pop();
                continue;
            };
            match colors[child.index()] {
                NEW => {
                    colors[child.index()] = ON_PATH;
                    path.push(Frame { node: child, keyword: 0, child: 0 });
                }
                ON_PATH => return Err(cycle_error(schema, &path, child)),
                _ => {}
            }
        }
    }
    Ok(())
}

fn is_in_place(keyword: &Keyword) -> bool {
    keyword.status == Status::Active && keyword.kw.is_some_and(|kw| kw.applies_in_place())
}

fn next_child(schema: &Schema, frame: &mut Frame) -> Option<NodeId> {
    let keywords = schema.node(frame.node).keywords();
    while let Some(keyword) = keywords.get(frame.keyword) {
        if is_in_place(keyword)
            && let Some(child) = keyword.children.get(frame.child)
        {
            frame.child += 1;
            return Some(child);
        }
        frame.keyword += 1;
        frame.child = 0;
    }
    None
}

fn cycle_error(schema: &Schema, path: &[Frame], again: NodeId) -> Error {
    let start = path.iter().position(|frame| frame.node == again).unwrap_or(0);
    let cycle = &path[start..];
    let mut places: Vec<String> =
        cycle.iter().take(LISTED_PLACES).map(|frame| schema.location(frame.node)).collect();
    if cycle.len() > LISTED_PLACES {
        places.push("…".to_owned());
    }
    places.push(schema.location(again));
    let message =
        format!("a subschema refers to itself without a value in between: {}", places.join(" → "));
    let error = Error::new(ErrorKind::ReferenceCycle, message);
    match path.last() {
        Some(last) => error.at(schema.keyword_location(last.node, last.keyword)),
        None => error,
    }
}
