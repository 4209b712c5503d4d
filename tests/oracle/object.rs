//! Which keys may come next in an object.

use super::lex::Pending;
use super::shape::{ConjId, ObjectSet};
use super::text::{TextSet, Texts, any_begins};
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

    /// The kinds of other keys of which one may come next, as far as they have not all come.
    fn others(&self) -> impl Iterator<Item = &(TextSet, ConjId)> {
        let late = !self.declared || self.missing() == 0;
        self.set.others.iter().filter(move |_| late)
    }

    /// Whether a key may come next that begins with `text` and what is `pending`.
    pub fn key_begins(&self, texts: &Texts, text: &str, pending: Pending, minimal: bool) -> bool {
        if any_begins(self.open_names(), text, pending, minimal) {
            return true;
        }
        let names = self.set.names.iter().map(|(name, _)| name);
        let taken = names.chain(self.seen).filter(|name| name.starts_with(text)).collect();
        self.others().any(|(set, _)| texts.live_beside(set, text, &taken, (pending, minimal)))
    }

    /// The conjunctions of the value of `key`, where that key may come next, and the next index.
    pub fn key(&self, texts: &Texts, key: &str) -> Vec<(ConjId, usize)> {
        if let Some(index) = self.set.names.iter().position(|(name, _)| name == key) {
            let open = self.open_names().any(|name| name == key);
            let next = if self.declared { index + 1 } else { 0 };
            let value = self.set.names[index].1.filter(|_| open);
            return value.map(|value| (value, next)).into_iter().collect();
        }
        let next = if self.declared { self.set.names.len() } else { 0 };
        let fits = |set: &TextSet| !self.seen.contains(key) && texts.contains(set, key);
        let fitting = self.others().filter(|(set, _)| fits(set));
        let values: BTreeSet<ConjId> = fitting.map(|(_, value)| *value).collect();
        values.into_iter().map(|value| (value, next)).collect()
    }
}
