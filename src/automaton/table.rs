//! The names of an object's candidates, merged: one key cursor serves them all.

use crate::base::define_id;
use crate::values::ObjectId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, PoisonError, RwLock};

use super::info::ObjectInfo;

define_id!(
    /// A merged table of names.
    TableId
);

/// A name, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) text: Arc<str>,
    /// (position of the candidate's object in the table's list, index of the name there).
    pub(crate) owners: SmallVec<[(u32, u32); 1]>,
}

impl Entry {
    /// The index of the name in the candidate at `position`, if it has it.
    pub(crate) fn owned_by(&self, position: usize) -> Option<u32> {
        let owner = |&(owner, _): &(u32, u32)| owner as usize;
        let found = self.owners.binary_search_by_key(&position, owner).ok()?;
        self.owners.get(found).map(|&(_, index)| index)
    }
}

impl AsRef<str> for Entry {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The names of a list of objects, in byte order.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    pub(crate) entries: Vec<Entry>,
}

impl NameTable {
    fn new<'o>(objects: impl Iterator<Item = &'o ObjectInfo>) -> NameTable {
        let mut entries: Vec<Entry> = Vec::new();
        for (position, object) in objects.enumerate() {
            entries.extend(object.names.iter().enumerate().map(|(index, name)| Entry {
                text: name.text.clone(),
                owners: SmallVec::from_elem((position as u32, index as u32), 1),
            }));
        }
        entries.sort_by(|a, b| a.text.cmp(&b.text));
        entries.dedup_by(|later, kept| {
            let same = later.text == kept.text;
            if same {
                kept.owners.extend_from_slice(&later.owners);
            }
            same
        });
        NameTable { entries }
    }
}

/// The tables of a grammar, made when a frame first needs one. There are as many as there are
/// distinct lists of candidates, which the schema bounds; a document adds none.
#[derive(Debug, Default)]
pub(crate) struct NameTables {
    tables: boxcar::Vec<NameTable>,
    ids: RwLock<FxHashMap<SmallVec<[ObjectId; 1]>, TableId>>,
}

impl NameTables {
    pub(crate) fn get(&self, id: TableId) -> &NameTable {
        &self.tables[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.tables.count()
    }

    /// The table of a list of candidates.
    pub(crate) fn of(&self, ids: SmallVec<[ObjectId; 1]>, objects: &[ObjectInfo]) -> TableId {
        if let Some(&id) = self.ids.read().unwrap_or_else(PoisonError::into_inner).get(&ids) {
            return id;
        }
        let mut known = self.ids.write().unwrap_or_else(PoisonError::into_inner);
        *known.entry(ids.clone()).or_insert_with(|| {
            let table = NameTable::new(ids.iter().map(|id| &objects[id.index()]));
            TableId::new(self.tables.push(table))
        })
    }
}
