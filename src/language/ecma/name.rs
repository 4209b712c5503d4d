//! The names of groups: how many groups there are, how a name is read, and which may stand twice.

use super::class::{self, Property};
use super::parse::Parser;
use regex_syntax::hir::ClassUnicode;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// How many capturing groups `text` has, and whether any has a name. Told before the groups are
/// read, since a reference may stand before its group.
pub(super) fn count(text: &str) -> (u32, bool) {
    let (mut groups, mut named, mut in_class) = (0, false, false);
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => {
                let after = &text.as_bytes()[at + 1..];
                let is_named =
                    after.starts_with(b"?<") && !matches!(after.get(2), Some(b'=' | b'!'));
                named |= is_named;
                groups += u32::from(is_named || after.first() != Some(&b'?'));
            }
            _ => {}
        }
    }
    (groups, named)
}

impl Parser<'_> {
    /// The name before `>`, which is read too; `None` where it is none.
    pub(super) fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            let c = match self.bump()? {
                '>' => return (!name.is_empty()).then_some(name),
                '\\' if self.eat("u") => char::from_u32(self.unicode()?)?,
                c => c,
            };
            let good = match c {
                '$' | '_' => true,
                c if c.is_ascii() => {
                    c.is_ascii_alphabetic() || (c.is_ascii_digit() && !name.is_empty())
                }
                '\u{200C}' | '\u{200D}' => !name.is_empty(),
                c => is_identifier(c, name.is_empty()),
            };
            if !good {
                return None;
            }
            name.push(c);
        }
    }
}

/// Whether a character may begin an identifier, or go on in one.
fn is_identifier(c: char, begins: bool) -> bool {
    static CLASSES: OnceLock<[ClassUnicode; 2]> = OnceLock::new();
    let [start, rest] = CLASSES.get_or_init(|| {
        ["ID_Start", "ID_Continue"].map(|name| match class::property(name) {
            Some(Property::Class(class)) => class,
            _ => ClassUnicode::empty(),
        })
    });
    let ranges = if begins { start } else { rest }.ranges();
    let next = ranges.partition_point(|range| range.end() < c);
    ranges.get(next).is_some_and(|range| range.start() <= c)
}

/// The named groups of a pattern. Two may share a name only where at most one of them takes part:
/// in different alternatives.
#[derive(Debug, Default)]
pub(super) struct Names {
    groups: FxHashMap<String, Vec<u32>>,
    /// Those in the alternatives that are open.
    open: FxHashSet<String>,
}

/// The names inside a group that is open.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Those of the alternative that is open, and those of the ones before it.
    here: Vec<String>,
    before: Vec<String>,
}

impl Names {
    /// Gives a name to a group; `false` where another has it.
    pub(super) fn add(&mut self, name: String, group: u32, scope: &mut Scope) -> bool {
        if !self.open.insert(name.clone()) {
            return false;
        }
        self.groups.entry(name.clone()).or_default().push(group);
        scope.here.push(name);
        true
    }

    /// Begins another alternative.
    pub(super) fn next_alternative(&mut self, scope: &mut Scope) {
        for name in scope.here.drain(..) {
            self.open.remove(&name);
            scope.before.push(name);
        }
    }

    /// Ends a group: its names stand in the alternative of the one around it.
    pub(super) fn close(&mut self, mut inner: Scope, outer: &mut Scope) {
        for name in inner.before {
            if self.open.insert(name.clone()) {
                inner.here.push(name);
            }
        }
        if inner.here.len() > outer.here.len() {
            std::mem::swap(&mut inner.here, &mut outer.here);
        }
        outer.here.append(&mut inner.here);
    }

    /// The groups of a name.
    pub(super) fn groups(&self, name: &str) -> Option<&[u32]> {
        self.groups.get(name).map(Vec::as_slice)
    }
}
