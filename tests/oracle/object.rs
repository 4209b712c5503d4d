//! Which keys may come next in an object.

use super::shape::{ConjId, ObjectSet};
use std::collections::BTreeSet;

/// An object in progress between its members.
pub struct Object<'a> {
    pub set: &'a ObjectSet,
    pub next: usize,
    pub seen: &'a BTreeSet<String>,
    pub declared: bool,
}

impl Object<'_> {
    /// How many required names have not come.
    pub fn missing(&self) -> usize {
        self.set.required.iter().filter(|name| !self.seen.contains(*name)).count()
    }

    /// The names of which one may come next.
    pub fn open_names(&self) -> impl Iterator<Item = &String> {
        let from = if self.declared { self.next } else { 0 };
        let mut skipped_required = false;
        let names = self.set.names.iter().skip(from).filter(move |(name, value)| {
            let open = value.is_some() && !self.seen.contains(name) && !skipped_required;
            skipped_required |= self.declared && self.set.required.contains(name);
            open
        });
        names.map(|(name, _)| name)
    }

    /// The conjunction of other keys' values, where such a key may come next.
    pub fn free(&self) -> Option<ConjId> {
        let late = !self.declared || self.missing() == 0;
        self.set.free.filter(|_| late)
    }

    /// The conjunction of the value of `key`, where that key may come next, and the next index.
    pub fn key(&self, key: &str) -> Option<(ConjId, usize)> {
        if let Some(index) = self.set.names.iter().position(|(name, _)| name == key) {
            let open = self.open_names().any(|name| name == key);
            let next = if self.declared { index + 1 } else { 0 };
            return self.set.names[index].1.filter(|_| open).map(|value| (value, next));
        }
        let value = self.free().filter(|_| !self.seen.contains(key))?;
        Some((value, if self.declared { self.set.names.len() } else { 0 }))
    }
}
