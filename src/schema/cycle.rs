//! Refuses subschemas that apply to the same value as themselves.
//!
//! References without dynamic scope are followed from every node that counts, whether anything refers
//! to it or not; with it, from the places that an evaluation reaches.

use super::scope::{Place, Scopes};
use super::{Keyword, Kw, Schema, Status};
use crate::error::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;

/// How many places of a cycle an error lists.
const LISTED_PLACES: usize = 8;

/// A place on the current path, and which of its children comes next.
struct Frame {
    place: Place,
    keyword: usize,
    child: usize,
}

/// Searches for a cycle of in-place keywords among the nodes that are not inert, dynamic references
/// left out.
///
/// # Errors
///
/// `reference-cycle` at the keyword that closes the cycle.
pub(super) fn refuse_cycles(schema: &Schema) -> Result<()> {
    let scope = schema.scopes().root(schema).scope;
    let nodes = schema.node_ids().filter(|&id| !schema.node(id).inert);
    let starts = nodes.map(|node| Place { node, scope });
    let index = |place: Place| Some(place.node.index());
    search(schema, starts, schema.node_count(), index, &|frame| {
        let next = next_child(schema, frame, |keyword| is_in_place(keyword, false))?;
        // Without dynamic references the scope says nothing.
        let keyword = &schema.node(frame.place.node).keywords()[next.0];
        Some(Place { node: keyword.children.get(next.1)?, scope })
    })
}

/// Searches for a cycle through dynamic references, among the places that can be reached.
///
/// # Errors
///
/// As above.
pub(super) fn refuse_dynamic_cycles(schema: &Schema, scopes: &Scopes) -> Result<()> {
    let places = scopes.places();
    let indices: FxHashMap<Place, usize> = places.iter().copied().zip(0..).collect();
    let index = |place: Place| indices.get(&place).copied();
    search(schema, places.iter().copied(), places.len(), index, &|frame| {
        let next = next_child(schema, frame, |keyword| is_in_place(keyword, true))?;
        let keyword = &schema.node(frame.place.node).keywords()[next.0];
        match scopes.target(schema, frame.place, keyword) {
            None => Some(scopes.child(schema, frame.place, keyword.children.get(next.1)?)),
            target => target,
        }
    })
}

/// A depth-first search; `index` numbers the places below `count`, and `next` gives the next child of
/// a frame.
fn search(
    schema: &Schema,
    starts: impl Iterator<Item = Place>,
    count: usize,
    index: impl Fn(Place) -> Option<usize>,
    next: &dyn Fn(&mut Frame) -> Option<Place>,
) -> Result<()> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut colors = vec![NEW; count];
    let mut path: Vec<Frame> = vec![];
    for start in starts {
        let mut entered = Some(start);
        loop {
            if let Some(place) = entered.take()
                && let Some(color) = index(place).and_then(|index| colors.get_mut(index))
            {
                match *color {
                    NEW => {
                        *color = ON_PATH;
                        path.push(Frame { place, keyword: 0, child: 0 });
                    }
                    ON_PATH => return Err(cycle_error(schema, &path, place)),
                    _ => {}
                }
            }
            let Some(frame) = path.last_mut() else { break };
            entered = next(frame);
            if entered.is_none() {
                if let Some(index) = index(frame.place) {
                    colors[index] = DONE;
                }
                path.pop();
            }
        }
    }
    Ok(())
}

fn is_in_place(keyword: &Keyword, dynamic: bool) -> bool {
    let applies = |kw: Kw| {
        kw.applies_in_place() && (dynamic || !matches!(kw, Kw::DynamicRef | Kw::RecursiveRef))
    };
    keyword.status == Status::Active && keyword.kw.is_some_and(applies)
}

/// The index of a keyword that `follows`, and of the next of its children.
fn next_child(
    schema: &Schema,
    frame: &mut Frame,
    follows: impl Fn(&Keyword) -> bool,
) -> Option<(usize, usize)> {
    let keywords = schema.node(frame.place.node).keywords();
    while let Some(keyword) = keywords.get(frame.keyword) {
        if follows(keyword) && keyword.children.get(frame.child).is_some() {
            frame.child += 1;
            return Some((frame.keyword, frame.child - 1));
        }
        frame.keyword += 1;
        frame.child = 0;
    }
    None
}

fn cycle_error(schema: &Schema, path: &[Frame], again: Place) -> Error {
    let start = path.iter().position(|frame| frame.place == again).unwrap_or(0);
    let cycle = &path[start..];
    let mut places: Vec<String> =
        cycle.iter().take(LISTED_PLACES).map(|frame| schema.location(frame.place.node)).collect();
    if cycle.len() > LISTED_PLACES {
        places.push("…".to_owned());
    }
    places.push(schema.location(again.node));
    let message =
        format!("a subschema refers to itself without a value in between: {}", places.join(" → "));
    let error = Error::new(ErrorKind::ReferenceCycle, message);
    match path.last() {
        Some(last) => error.at(schema.keyword_location(last.place.node, last.keyword)),
        None => error,
    }
}
