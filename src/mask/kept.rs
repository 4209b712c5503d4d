//! What an engine keeps of its masks: two generations, bounded in bytes together.
//!
//! What is made goes into the young generation. When that is full it becomes the old one, and the
//! old one is dropped, but for what was asked for meanwhile: that moved up.
//!
//! Invariants:
//! * A generation takes at most half of the limit, and each half of it what is said of
//!   [`Kept::has_spare`].
//! * Readers write to nothing that other readers read: neither to a lock nor to a count of
//!   references, so that many threads can ask for the same mask.
//! * What is kept never changes a mask, so a reader may go on with generations that have just been
//!   replaced.
//!
//! Rejected: one map behind a lock (its readers write to the lock), and leaving out what was cheap
//! to make: keeping costs a tenth of the cheapest walk.

use crate::automaton::Fingerprint;
use arc_swap::{ArcSwap, Guard};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// How many bytes something takes.
pub(super) trait Size {
    fn size(&self) -> usize;
}

/// The generations, for all threads.
#[derive(Debug)]
pub(super) struct Kept<G> {
    now: ArcSwap<Generations<G>>,
    /// Bytes that one generation may take.
    most: usize,
}

/// The two generations as they were at some moment. `G`: the tables of one.
#[derive(Debug, Default)]
pub(super) struct Generations<G> {
    young: Arc<Generation<G>>,
    old: Arc<Generation<G>>,
}

#[derive(Debug, Default)]
struct Generation<G> {
    tables: G,
    bytes: AtomicUsize,
}

/// Which table of a generation.
type Of<G, V> = fn(&G) -> &Table<V>;

impl<G: Default> Kept<G> {
    /// Nothing yet, and never more than `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Kept { now: ArcSwap::default(), most: limit / 2 }
    }

    /// What is kept now. It stays as it is as long as the guard is held.
    pub(super) fn now(&self) -> Guard<Arc<Generations<G>>> {
        self.now.load()
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        self.now.store(Arc::default());
    }

    /// What is kept under `key`. From the old generation it moves up.
    pub(super) fn find<'g, V: Size>(
        &self,
        now: &'g Generations<G>,
        of: Of<G, V>,
        key: Fingerprint,
    ) -> Option<&'g Arc<V>> {
        if let Some(value) = of(&now.young.tables).get(key) {
            return Some(value);
        }
        let value = of(&now.old.tables).get(key)?;
        self.insert(of, key, value);
        Some(value)
    }

    /// Keeps `value`, where a generation has room for it.
    pub(super) fn insert<V: Size>(&self, of: Of<G, V>, key: Fingerprint, value: &Arc<V>) {
        let size = value.size() + size_of::<Node<V>>();
        if size > self.most {
            return;
        }
        loop {
            let now = self.now.load();
            if now.young.bytes.fetch_add(size, Ordering::Relaxed) + size <= self.most {
                of(&now.young.tables).insert(key, value.clone());
                return;
            }
            let next = Generations { young: Arc::default(), old: now.young.clone() };
            // Where another thread has been faster, its young generation is as good.
            self.now.compare_and_swap(&now, Arc::new(next));
        }
    }

    /// Takes `size` bytes for something that can be done without: only while the young generation
    /// is at most half full, so that it drives out nothing else.
    pub(super) fn has_spare(&self, size: usize) -> bool {
        let now = self.now.load();
        let bytes = &now.young.bytes;
        let fits = bytes.load(Ordering::Relaxed) + size <= self.most / 2;
        if fits {
            bytes.fetch_add(size, Ordering::Relaxed);
        }
        fits
    }
}

impl<G> Generations<G> {
    /// A sum over both generations.
    pub(super) fn sum(&self, of: impl Fn(&G) -> usize) -> usize {
        of(&self.young.tables) + of(&self.old.tables)
    }
}

/// A table that only grows: a tree in which each node holds one value, and three bits of the key
/// say below which of its slots the others stand. Keys are fingerprints, so it is balanced without
/// any work, and two of them part within 43 levels.
#[derive(Debug)]
pub(super) struct Table<V> {
    root: Slot<V>,
    len: AtomicUsize,
}

type Slot<V> = OnceLock<Box<Node<V>>>;

#[derive(Debug)]
struct Node<V> {
    key: Fingerprint,
    value: Arc<V>,
    below: [Slot<V>; 8],
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Table { root: Slot::new(), len: AtomicUsize::new(0) }
    }
}

impl<V> Table<V> {
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn get(&self, key: Fingerprint) -> Option<&Arc<V>> {
        let (mut slot, mut rest) = (&self.root, key);
        while let Some(node) = slot.get() {
            if node.key == key {
                return Some(&node.value);
            }
            slot = &node.below[rest as usize % 8];
            rest >>= 3;
        }
        None
    }

    /// Adds a value, unless the key has one.
    fn insert(&self, key: Fingerprint, value: Arc<V>) {
        let mut new = Box::new(Node { key, value, below: Default::default() });
        let (mut slot, mut rest) = (&self.root, key);
        while let Err(back) = slot.set(new) {
            new = back;
            let Some(node) = slot.get().filter(|node| node.key != key) else { return };
            slot = &node.below[rest as usize % 8];
            rest >>= 3;
        }
        self.len.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Size for usize {
        fn size(&self) -> usize {
            *self
        }
    }

    type Numbers = Kept<Table<usize>>;

    fn find(kept: &Numbers, key: Fingerprint) -> Option<usize> {
        kept.find(&kept.now(), |table| table, key).map(|value| **value)
    }

    fn insert(kept: &Numbers, key: Fingerprint, value: usize) {
        kept.insert(|table| table, key, &Arc::new(value));
    }

    #[test]
    fn tables_tell_keys_apart() {
        let table = Table::default();
        let keys: Vec<Fingerprint> =
            (0..500).map(|n| (n << 120) | (n % 3)).chain([u128::MAX, 0, 1 << 127]).collect();
        for (value, &key) in keys.iter().enumerate() {
            table.insert(key, Arc::new(value));
            table.insert(key, Arc::new(1_000_000));
        }
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(table.len(), distinct.len());
        for &key in &keys {
            let first = keys.iter().position(|&other| other == key);
            assert_eq!(table.get(key).map(|value| **value), first);
        }
        assert_eq!(table.get(77), None);
    }

    #[test]
    fn what_is_asked_for_outlives_its_generation() {
        let own = size_of::<Node<usize>>();
        // Each generation has room for four.
        let kept = Numbers::new(8 * (own + 100));
        (0..4).for_each(|key| insert(&kept, key, 100));
        insert(&kept, 4, 100);
        assert_eq!(kept.now().sum(Table::len), 5, "the first four are the old generation");
        assert_eq!(find(&kept, 0), Some(100));
        (5..7).for_each(|key| insert(&kept, key, 100));
        assert_eq!(kept.now().sum(Table::len), 8, "one of them stands in both");
        insert(&kept, 7, 100);
        assert_eq!((find(&kept, 0), find(&kept, 1), find(&kept, 4)), (Some(100), None, Some(100)));
        kept.clear();
        assert_eq!((find(&kept, 0), kept.now().sum(Table::len)), (None, 0));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_drives_out_nothing() {
        let kept = Numbers::new(2_000);
        insert(&kept, 1, 100);
        insert(&kept, 2, 1_000);
        assert_eq!((find(&kept, 1), find(&kept, 2)), (Some(100), None));
        assert!(!kept.has_spare(500) && kept.has_spare(100));
        insert(&kept, 3, 100);
        assert_eq!((find(&kept, 1), find(&kept, 3)), (Some(100), Some(100)));
        let nothing = Numbers::new(0);
        insert(&nothing, 1, 0);
        assert_eq!(find(&nothing, 1), None);
        assert!(!nothing.has_spare(1));
    }

    #[test]
    fn many_threads_find_what_they_keep() {
        let kept = Numbers::new(64 * (size_of::<Node<usize>>() + 100));
        std::thread::scope(|scope| {
            for thread in 0..8_usize {
                let kept = &kept;
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let n = (round * 7 + thread) % 100;
                        let key = (n as Fingerprint) << 64 | (n as Fingerprint);
                        if let Some(found) = find(kept, key) {
                            assert_eq!(found, n);
                        }
                        insert(kept, key, n);
                    }
                });
            }
        });
        assert!(kept.now().sum(Table::len) <= 2 * 64);
    }
}
