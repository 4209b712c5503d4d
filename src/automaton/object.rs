//! Objects: which names and keys may still come, asked of the registers.

use super::gap::Gap;
use super::info::{Keys, ObjectInfo};
use super::level::{
    Atom, Atoms, KeyLevel, Level, ObjectLevel, Phase, Seen, StringLevel, Tags, ValueLevel,
    merge_atoms,
};
use super::string::{At, Decoder, Reading, StringAtom, chars_in, narrow};
use super::table::{Entry, NameTable};
use crate::base::{ByteSet, SmallBits};
use crate::language::{Chosen, Full, TextState};
use crate::options::Order;
use crate::values::{ObjectId, Progress, SetId, StringId, Strings};
use rpds::RedBlackTreeSetSync;
use smallvec::SmallVec;
use std::ops::Bound;
use std::sync::Arc;

/// Stands among the keys seen for one that is not known: it is no UTF-8 text, so it equals no key,
/// and it makes the object volatile.
const SOME_KEY: &[u8] = &[0xFF];

/// The same for all keys that were forgotten.
const FORGOTTEN_KEYS: &[u8] = &[0xFF, 0xFF];

/// A candidate inside an object: its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectAtom {
    pub(crate) id: ObjectId,
    /// Declared order: the position behind the last name that has its place there; the length once
    /// another key has come.
    pub(crate) next: u32,
    /// Any order, or loose names: names that may still come, forbidden ones aside.
    pub(crate) left: u32,
    /// Any order: required names that have not come.
    pub(crate) missing: u32,
    /// Any order: the names that have come.
    pub(crate) used: SmallBits,
    /// How far it is with what it asks of its members together.
    pub(super) progress: Option<Arc<Progress>>,
}

impl ObjectAtom {
    pub(crate) fn new(id: ObjectId, info: &ObjectInfo) -> ObjectAtom {
        ObjectAtom {
            id,
            next: 0,
            left: info.members.as_ref().map_or(info.allowed, |of| of.free),
            missing: info.required,
            used: SmallBits::default(),
            progress: info.members.as_ref().map(|of| Arc::new(of.demands.start())),
        }
    }

    /// Whether the name at `index` may come now.
    pub(crate) fn allows(&self, info: &ObjectInfo, index: u32) -> bool {
        !info.names[index as usize].forbidden
            && match (&info.members, info.order()) {
                (Some(of), _) => self.may_take(info, of, index),
                (None, Order::Declared) => info.window(self.next).contains(&index),
                (None, Order::Any) => !self.used.contains(index as usize),
            }
    }

    /// The keys that are no names and may come now, of which one is left beside those that have come.
    pub(crate) fn open_keys<'a>(&self, info: &'a ObjectInfo, seen: &Seen) -> Option<&'a Keys> {
        let other = info.other.as_ref()?;
        let keys = match (&info.members, info.order()) {
            (Some(of), _) => self.keys_to_finish(info, of),
            (None, Order::Declared) => {
                let behind = info.next_required(self.next) as usize == info.names.len();
                behind.then_some(&other.keys)
            }
            (None, Order::Any) => Some(&other.keys),
        };
        keys.filter(|keys| keys.chosen.as_ref().is_none_or(|chosen| is_left(info, chosen, seen)))
    }

    /// Whether a key that is no name may come now, beside those that have come.
    pub(crate) fn is_open(&self, info: &ObjectInfo, seen: &Seen) -> bool {
        self.open_keys(info, seen).is_some()
    }

    /// Whether any key may come now.
    pub(crate) fn takes_key(&self, info: &ObjectInfo, seen: &Seen) -> bool {
        let names = match (&info.members, info.order()) {
            (Some(_), _) => self.takes_name(info),
            (None, Order::Declared) => !info.window(self.next).is_empty(),
            (None, Order::Any) => self.left > 0,
        };
        names || self.is_open(info, seen)
    }

    /// Whether every required name has come, and all else that is asked of the members together.
    pub(crate) fn can_close(&self, info: &ObjectInfo) -> bool {
        match (&info.members, info.order()) {
            (Some(of), _) => self.has_all(of),
            (None, Order::Declared) => info.next_required(self.next) as usize == info.names.len(),
            (None, Order::Any) => self.missing == 0,
        }
    }

    /// The name at `index` has come. Nothing is asked of the members together.
    pub(super) fn take_name(&mut self, info: &ObjectInfo, index: u32) {
        match info.order() {
            Order::Declared => self.next = index + 1,
            Order::Any => {
                self.used.insert(index as usize);
                self.left -= 1;
                self.missing -= u32::from(info.names[index as usize].required);
            }
        }
    }

    /// A key that is no name has come. Nothing is asked of the members together.
    pub(super) fn take_other(&mut self, info: &ObjectInfo) {
        if info.order() == Order::Declared {
            self.next = info.names.len() as u32;
        }
    }

    /// Whether the mask depends on more of the registers than can be shared between documents:
    /// which of many names have come.
    fn is_volatile(&self, info: &ObjectInfo) -> bool {
        const SHARED_NAMES: usize = 6;
        let names = match (&info.members, info.order()) {
            (Some(of), _) => of.free_names as usize,
            (None, Order::Any) => info.names.len(),
            (None, Order::Declared) => 0,
        };
        names > SHARED_NAMES && !self.used.is_empty()
    }
}

impl ObjectLevel {
    pub(crate) fn new(atoms: Atoms<ObjectAtom>, gap: Gap) -> ObjectLevel {
        ObjectLevel { phase: Phase::First, gap, atoms, seen: None }
    }

    /// Whether what keys may come depends on this document alone. Masks are not shared then.
    pub(crate) fn is_volatile(&self, infos: &[ObjectInfo]) -> bool {
        self.seen.is_some()
            || self.atoms.iter().any(|a| a.state.is_volatile(&infos[a.state.id.index()]))
    }

    /// Whether which keys may come depends on nothing but the keys seen.
    pub(super) fn depends_on_seen(&self, infos: &[ObjectInfo]) -> bool {
        let volatile = |atom: &Atom<ObjectAtom>| {
            let state = &atom.state;
            state.is_volatile(&infos[state.id.index()])
        };
        self.seen.is_some() && !self.atoms.iter().any(volatile)
    }

    /// The same object, which knows of the keys seen only that there are some.
    pub(super) fn forgetful(&self) -> ObjectLevel {
        let some = RedBlackTreeSetSync::new_sync().insert(Arc::from(FORGOTTEN_KEYS));
        ObjectLevel { seen: Some(some), ..self.clone() }
    }

    /// Whether it knows of the keys seen only that there are some.
    pub(super) fn is_forgetful(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.size() == 1 && seen.contains(FORGOTTEN_KEYS))
    }

    /// Whether `key` has come as another key.
    pub(crate) fn has_seen(&self, key: &[u8]) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.contains(key))
    }

    /// Whether a candidate that owns `entry` allows it now.
    pub(crate) fn allows_entry(&self, infos: &[ObjectInfo], entry: &Entry) -> bool {
        entry.owners.iter().any(|&(position, index)| {
            let atom = &self.atoms[position as usize].state;
            atom.allows(&infos[atom.id.index()], index)
        })
    }

    /// Whether some entry of `table[lo..hi]` may come now. Where few names may (declared order),
    /// those are asked; elsewhere the entries.
    fn allows_some(&self, infos: &[ObjectInfo], table: &NameTable, lo: u32, hi: u32) -> bool {
        const FEW: u32 = 8;
        if let [only] = self.atoms.as_slice()
            && hi - lo > FEW
        {
            let info = &infos[only.state.id.index()];
            if let Some(window) = only.state.window(info)
                && (window.len() as u32) < hi - lo
            {
                let (first, last) =
                    (&table.entries[lo as usize].text, &table.entries[hi as usize - 1].text);
                return window.into_iter().any(|index| {
                    let name = &info.names[index as usize];
                    name.text >= *first && name.text <= *last && only.state.allows(info, index)
                });
            }
        }
        table.entries[lo as usize..hi as usize].iter().any(|e| self.allows_entry(infos, e))
    }

    /// A key is complete: the candidates that allow it live on, and its value is one of the sets
    /// that they have for it. `None` where none does. `entry`: the key, if a candidate names it.
    pub(crate) fn close_key(
        &self,
        infos: &[ObjectInfo],
        key: &KeyLevel,
        entry: Option<&Entry>,
        gap: Gap,
    ) -> Option<(ObjectLevel, ValueLevel)> {
        if self.has_seen(&key.key) {
            return None;
        }
        let mut after =
            ObjectLevel { phase: Phase::Next, gap, atoms: Atoms::new(), seen: self.seen.clone() };
        let mut choices: SmallVec<[SetId; 1]> = SmallVec::new();
        let mut other = false;
        for (position, atom) in self.atoms.iter().enumerate() {
            let info = &infos[atom.state.id.index()];
            let owned = entry.and_then(|entry| entry.owned_by(position));
            let forks = match owned {
                Some(index) if !info.names[index as usize].forbidden => {
                    atom.state.name_forks(info, index)
                }
                Some(_) => continue,
                None => {
                    let Some(at) = key.other_at(position) else { continue };
                    let forks = atom.state.other_forks(info, &self.seen, at);
                    other |= !forks.is_empty();
                    forks
                }
            };
            for (state, set) in forks {
                choices.push(set);
                after.atoms.push(Atom { tags: atom.tags.clone(), state });
            }
        }
        if after.atoms.is_empty() {
            return None;
        }
        if other {
            after.see(&key.key);
        }
        let sets = choices.into_iter().enumerate();
        let choices = merge_atoms(sets.map(|(position, set)| (set, Tags::One(position))));
        Some((after, ValueLevel { choices, colon: true, gap }))
    }

    fn see(&mut self, key: &[u8]) {
        self.seen = self.seen_with(key);
    }

    /// The keys seen, and another one.
    pub(super) fn seen_with(&self, key: &[u8]) -> Seen {
        let seen = self.seen.clone().unwrap_or_else(RedBlackTreeSetSync::new_sync);
        Some(seen.insert(Arc::from(key)))
    }

    /// The level of a key that begins here.
    pub(crate) fn open_key(
        &self,
        infos: &[ObjectInfo],
        strings: &[Strings],
        tables: &super::NameTables,
    ) -> KeyLevel {
        let ids = self.atoms.iter().map(|atom| atom.state.id).collect();
        let table = tables.of(ids, infos);
        let others: SmallVec<[(usize, &Keys); 1]> = self
            .atoms
            .iter()
            .enumerate()
            .filter_map(|(position, atom)| {
                let info = &infos[atom.state.id.index()];
                Some((position, atom.state.open_keys(info, &self.seen)?))
            })
            .collect();
        let ruled = others.iter().any(|(_, keys)| keys.chosen.is_some());
        let free = !ruled && !others.is_empty();
        let begin = |atom: Atom<StringId>| {
            let state = StringAtom::new(atom.state, &strings[atom.state.index()]);
            Atom { tags: atom.tags, state }
        };
        let states = others.into_iter().filter(|_| ruled);
        let states = states.map(|(position, keys)| (keys.string, Tags::One(position)));
        let atoms = merge_atoms(states).into_iter().map(begin).collect();
        KeyLevel {
            string: StringLevel { decoder: Decoder::START, atoms },
            free,
            key: Default::default(),
            table,
            lo: 0,
            hi: tables.get(table).entries.len() as u32,
        }
    }

    /// The candidates that can end here.
    pub(crate) fn close(&self, infos: &[ObjectInfo]) -> SmallBits {
        let mut tags = SmallBits::default();
        for atom in &self.atoms {
            if atom.state.can_close(&infos[atom.state.id.index()]) {
                tags.union(&atom.tags);
            }
        }
        tags
    }

    /// Keeps the candidates that take a further key; `false` where none does.
    pub(crate) fn keep_takers(&mut self, infos: &[ObjectInfo]) -> bool {
        let seen = &self.seen;
        self.atoms.retain(|atom| atom.state.takes_key(&infos[atom.state.id.index()], seen));
        !self.atoms.is_empty()
    }
}

/// What one byte does to a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeyStep {
    Dead,
    /// The keys that would go on so have all come.
    Exhausted,
    Stay,
    /// The same, but for some candidate the keys that would go on so have all come.
    Thinned,
    Closed,
}

impl KeyLevel {
    /// Whether its opening quote is the last byte.
    pub(crate) fn is_fresh(&self) -> bool {
        self.string.decoder == Decoder::START
    }

    /// Whether some candidate takes keys that it does not name.
    pub(crate) fn is_open(&self) -> bool {
        self.free || !self.string.atoms.is_empty()
    }

    /// The same key, its text unknown: it stands at `string`, and is neither named nor seen.
    pub(crate) fn unknown(&self, string: StringLevel) -> KeyLevel {
        let key = SmallVec::from_slice(SOME_KEY);
        KeyLevel { string, free: self.free, key, table: self.table, lo: 0, hi: 0 }
    }

    /// Where the key stands for the object's candidate at `position`, as one that it does not name.
    pub(crate) fn other_at(&self, position: usize) -> Option<At> {
        if self.free {
            return Some(At::Free);
        }
        let mut atoms = self.string.atoms.iter();
        atoms.find(|atom| atom.tags.contains(position)).map(|atom| atom.state.at)
    }

    /// Reads one byte of a key of `object`.
    pub(crate) fn step(
        &mut self,
        object: &ObjectLevel,
        infos: &[ObjectInfo],
        strings: &[Strings],
        table: &NameTable,
        byte: u8,
        minimal: bool,
    ) -> Result<KeyStep, Full> {
        let reading = self.string.decoder.read(byte, minimal);
        match reading {
            Reading::Refused => return Ok(KeyStep::Dead),
            Reading::Close => return Ok(KeyStep::Closed),
            Reading::Pending => {}
            Reading::Bytes(bytes, len) => self.push(table, &bytes[..usize::from(len)]),
        }
        self.string.follow(strings, reading, minimal)?;
        let (open, before) = (self.is_open(), self.string.atoms.len());
        if open && (self.lo < self.hi || sees_prefix(&object.seen, &self.key)) {
            self.drop_exhausted(object, infos, table, minimal);
        }
        let names = || match reading {
            Reading::Pending => self.pending_live(object, infos, table, minimal),
            _ => object.allows_some(infos, table, self.lo, self.hi),
        };
        Ok(match (self.is_open() || names(), open) {
            (true, _) if self.string.atoms.len() < before => KeyStep::Thinned,
            (true, _) => KeyStep::Stay,
            (false, true) => KeyStep::Exhausted,
            (false, false) => KeyStep::Dead,
        })
    }

    /// Drops the candidates for keys that are not named of which every key that goes on so is named
    /// or has come.
    fn drop_exhausted(
        &mut self,
        object: &ObjectLevel,
        infos: &[ObjectInfo],
        table: &NameTable,
        minimal: bool,
    ) {
        let (key, text) = (&self.key, self.string.decoder.text);
        let entries = &table.entries[self.lo as usize..self.hi as usize];
        self.string.atoms.retain(|atom| {
            let At::Language(state) = atom.state.at else { return true };
            let Some(position) = atom.tags.iter().next() else { return true };
            let info = &infos[object.atoms[position].state.id.index()];
            let Some(other) = &info.other else { return true };
            let Some(chosen) = &other.read_as(atom.state.id).chosen else { return true };
            let known = |full: &[u8]| {
                let found = entries.binary_search_by(|entry| entry.text.as_bytes().cmp(full));
                object.has_seen(full)
                    || found.is_ok_and(|index| entries[index].owned_by(position).is_some())
            };
            if !text.is_escape_partial() {
                return chosen.goes_on_beside(state, text, key, known);
            }
            // A character with which no known key goes on leaves some; the others are few.
            let ranges = text.pending_chars(minimal);
            let named = entries.iter().filter(|entry| entry.owned_by(position).is_some());
            let named = named.filter_map(|entry| entry.text.get(key.len()..)?.chars().next());
            let mut near: Vec<char> = named.chain(seen_chars(&object.seen, key)).collect();
            near.sort_unstable();
            near.dedup();
            if chosen.language().live_char(state, 0, &without(&ranges, &near)) {
                return true;
            }
            near.retain(|&c| ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&u32::from(c))));
            near.into_iter().any(|c| {
                let mut full = key.to_vec();
                full.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                let mut bytes = full[key.len()..].iter();
                let after = bytes.try_fold(state, |state, &byte| {
                    chosen.language().step_byte(state, byte).ok().flatten()
                });
                after.is_some_and(|s| chosen.goes_on_beside(s, TextState::START, &full, known))
            })
        });
    }

    fn push(&mut self, table: &NameTable, bytes: &[u8]) {
        for &byte in bytes {
            let depth = self.key.len();
            narrow(&table.entries, &mut self.lo, &mut self.hi, depth, byte);
            self.key.push(byte);
        }
    }

    fn pending_live(
        &self,
        object: &ObjectLevel,
        infos: &[ObjectInfo],
        table: &NameTable,
        minimal: bool,
    ) -> bool {
        let ranges = self.string.decoder.text.pending_chars(minimal);
        let inside = &table.entries[self.lo as usize..self.hi as usize];
        chars_in(inside, self.key.len(), &ranges)
            .any(|index| object.allows_entry(infos, &inside[index]))
    }

    /// The table's entry that is exactly the key so far.
    pub(crate) fn entry<'t>(&self, table: &'t NameTable) -> Option<&'t Entry> {
        table.entries[self.lo as usize..self.hi as usize]
            .first()
            .filter(|entry| entry.text.len() == self.key.len())
    }
}

/// Whether a key is left that `info` neither names nor has seen.
fn is_left(info: &ObjectInfo, chosen: &Chosen, seen: &Seen) -> bool {
    let known = |key: &[u8]| {
        let named = info.names.iter().any(|name| name.text.as_bytes() == key);
        named || seen.as_ref().is_some_and(|seen| seen.contains(key))
    };
    chosen.goes_on_beside(chosen.language().start(), TextState::START, &[], known)
}

/// Whether a set of seen keys has one that begins with `prefix`.
pub(crate) fn sees_prefix(seen: &Seen, prefix: &[u8]) -> bool {
    seen.as_ref().is_some_and(|seen| {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        seen.range::<[u8], _>(from).next().is_some_and(|key| key.starts_with(prefix))
    })
}

/// The characters with which the seen keys that begin with `prefix` go on.
fn seen_chars(seen: &Seen, prefix: &[u8]) -> impl Iterator<Item = char> {
    let from = (Bound::Included(prefix), Bound::Unbounded);
    let all = seen.iter().flat_map(move |seen| seen.range::<[u8], _>(from));
    let inside = all.take_while(move |key| key.starts_with(prefix));
    inside.filter_map(move |key| std::str::from_utf8(key.get(prefix.len()..)?).ok()?.chars().next())
}

/// The inclusive `ranges` without some sorted characters.
fn without(ranges: &[(u32, u32)], chars: &[char]) -> Vec<(u32, u32)> {
    let mut left = Vec::with_capacity(ranges.len() + chars.len());
    for &(mut low, high) in ranges {
        for c in chars.iter().map(|&c| u32::from(c)) {
            if low < c && c <= high {
                left.push((low, c - 1));
            }
            if low <= c && c <= high {
                low = c + 1;
            }
        }
        if low <= high {
            left.push((low, high));
        }
    }
    left
}

/// The bytes with which the seen keys that begin with `prefix` go on.
pub(crate) fn seen_bytes(seen: &Seen, prefix: &[u8]) -> ByteSet {
    let mut bytes = ByteSet::EMPTY;
    let Some(seen) = seen else { return bytes };
    let mut from: SmallVec<[u8; 32]> = SmallVec::from_slice(prefix);
    from.push(0);
    loop {
        let range = (Bound::Included(from.as_slice()), Bound::Unbounded);
        let key = seen.range::<[u8], _>(range).next().filter(|key| key.starts_with(prefix));
        let Some(&byte) = key.and_then(|key| key.get(prefix.len())) else { return bytes };
        bytes.insert(byte);
        let Some(next) = byte.checked_add(1) else { return bytes };
        from[prefix.len()] = next;
    }
}

/// Keeps the level enum small.
const _: () = assert!(std::mem::size_of::<Level>() <= 144);
