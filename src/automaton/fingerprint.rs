//! Cache keys: what a mask depends on, and no more.
//!
//! A register counts only as its distance to a bound, clipped to what one token can cover; of the
//! stack only as many levels count as one token can close. So the keys of one grammar are few,
//! however long or deep a document grows.

use super::level::{Level, ObjectLevel, StringLevel};
use super::string::{At, Decoder, StringAtom};
use super::{Automaton, Config};
use crate::options::Order;
use crate::values::Strings;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// How much one token of a vocabulary can change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clip {
    /// Characters, and bytes, of the longest token.
    pub(crate) bytes: u64,
    /// Distances, in items, that one token can tell apart: it begins one more than it has commas,
    /// and then its closing bracket asks whether those were enough.
    pub(crate) items: u64,
    /// Containers that one token can reach: those that it closes, and the one around them.
    pub(crate) levels: usize,
    seeds: (u64, u64),
}

impl Clip {
    pub(crate) fn new(bytes: usize, commas: usize, closers: usize) -> Clip {
        let random = RandomState::new();
        Clip {
            bytes: bytes as u64,
            items: commas as u64 + 2,
            levels: closers + 1,
            seeds: (random.hash_one(1), random.hash_one(2)),
        }
    }

    /// Nothing is clipped.
    pub(super) fn everything() -> Clip {
        Clip { bytes: u64::MAX, items: u64::MAX, levels: usize::MAX, seeds: (0, 0) }
    }
}

/// A cache key: 128 bits, seeded anew for each engine, so that no schema can make two meet.
pub(crate) type Fingerprint = u128;

/// Two lanes of multiply and fold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixer(pub(super) u64, pub(super) u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word) ^ (chunk.len() as u64) << 56);
        }
    }
    fn write_u64(&mut self, word: u64) {
        let fold = |lane: u64, key: u64| {
            let wide = u128::from(lane ^ word) * u128::from(key);
            (wide as u64) ^ (wide >> 64) as u64
        };
        self.0 = fold(self.0, 0x9E37_79B9_7F4A_7C15).wrapping_add(word.rotate_left(32));
        self.1 = fold(self.1, 0xD6E8_FEB8_6659_FD93).rotate_left(23).wrapping_add(word);
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }
    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.1
    }
}

impl Automaton {
    /// The key of the mask at `config`; `None` where the mask depends on this document alone.
    ///
    /// Which keys a volatile object still takes is not in the key: masks leave out what lies behind
    /// the opening quote of such a key, and it is added for each document. (One that is forgetful
    /// takes them all.)
    pub(crate) fn fingerprint(&self, config: &Config, clip: &Clip) -> Option<Fingerprint> {
        if let (Level::Key(_), Some(Level::Object(object))) = (&config.top, config.parent())
            && object.is_volatile(&self.objects)
            && !object.is_forgetful()
        {
            return None;
        }
        let reached = std::iter::once(&config.top).chain(config.frames().take(clip.levels));
        let compares = self.has_unique && reached.into_iter().any(|l| self.is_unique_level(l));
        if self.tracks(config) || compares && config.relaxed.is_none() {
            return None;
        }
        let mut mixer = Mixer(clip.seeds.0, clip.seeds.1);
        config.relaxed.filter(|_| compares).hash(&mut mixer);
        if self.has_watched && config.relaxed.is_some() {
            (config.is_doubtful(), self.last_without(config, clip.levels + 1)).hash(&mut mixer);
        }
        self.hash_level(&config.top, clip, &mut mixer);
        let mut frames = config.frames();
        for level in frames.by_ref().take(clip.levels) {
            self.hash_level(level, clip, &mut mixer);
        }
        frames.next().is_some().hash(&mut mixer);
        mixer.write_u64(0);
        Some(u128::from(mixer.0) << 64 | u128::from(mixer.1))
    }

    pub(super) fn hash_level(&self, level: &Level, clip: &Clip, mixer: &mut Mixer) {
        std::mem::discriminant(level).hash(mixer);
        match level {
            Level::Value(level) => {
                (level.colon, level.gap).hash(mixer);
                for choice in &level.choices {
                    (&choice.tags, choice.state).hash(mixer);
                }
            }
            Level::Literal(level) => (&level.tags, level.word, level.read).hash(mixer),
            Level::Number(level) => {
                level.relevant_lex(&self.numbers).hash(mixer);
                for atom in &level.atoms {
                    (&atom.tags, atom.state.essence(&self.numbers, &level.lex)).hash(mixer);
                }
            }
            Level::String(level) => self.hash_text(level, clip, mixer),
            Level::Key(level) => {
                (level.table, level.lo, level.hi, level.free).hash(mixer);
                self.hash_text(&level.string, clip, mixer);
                if level.lo < level.hi {
                    level.key.len().hash(mixer);
                }
            }
            Level::Object(level) => self.hash_object(level, clip, mixer),
            Level::Array(level) => {
                (level.phase, level.gap).hash(mixer);
                for atom in &level.atoms {
                    let info = &self.arrays[atom.state.id.index()];
                    (&atom.tags, atom.state.id).hash(mixer);
                    if let Some(plan) = &info.plan {
                        plan.essence(level.count, &atom.state.counts, clip.items).hash(mixer);
                        continue;
                    }
                    level.count.min(info.named()).hash(mixer);
                    hash_distances(level.count, info.min, info.max, clip.items, mixer);
                }
            }
            Level::End(gap) => gap.hash(mixer),
        }
    }

    fn hash_text(&self, level: &StringLevel, clip: &Clip, mixer: &mut Mixer) {
        level.decoder.text.hash(mixer);
        for atom in &level.atoms {
            atom.tags.hash(mixer);
            self.hash_string(&atom.state, &level.decoder, clip, mixer);
        }
    }

    fn hash_string(&self, atom: &StringAtom, decoder: &Decoder, clip: &Clip, mixer: &mut Mixer) {
        let count = decoder.count;
        atom.hash(mixer);
        match (&self.strings[atom.id.index()], atom.at) {
            (Strings::Free { min, max }, _) => {
                hash_distances(count, *min, *max, clip.bytes, mixer);
            }
            (Strings::Language(language), _) => {
                let (min, max) = language.lengths();
                // Below the minimum a narrow range tells every count apart; without a maximum, what
                // is too short to get there does.
                let below = match max {
                    Some(_) => u64::MAX,
                    None => clip.bytes.saturating_add(language.floor()),
                };
                min.saturating_sub(count).min(below).hash(mixer);
                let clip = clip.bytes.saturating_add(language.horizon());
                hash_distances(count, 0, max, clip, mixer);
            }
            (Strings::Finite(_), At::Finite { .. }) => decoder.len.hash(mixer),
            (Strings::Finite(_), _) => {}
        }
    }

    fn hash_object(&self, level: &ObjectLevel, clip: &Clip, mixer: &mut Mixer) {
        (level.phase, level.gap).hash(mixer);
        let forgetful = level.is_forgetful() && level.depends_on_seen(&self.objects);
        let volatile = level.is_volatile(&self.objects);
        (volatile, forgetful).hash(mixer);
        for atom in &level.atoms {
            let (state, info) = (&atom.state, &self.objects[atom.state.id.index()]);
            (&atom.tags, state.id, state.can_close(info)).hash(mixer);
            state.takes_key(info, &level.seen).hash(mixer);
            match info.order() {
                _ if volatile && !forgetful => {}
                _ if info.members.is_some() => state.hash_members(info, clip.items, mixer),
                Order::Declared => state.next.hash(mixer),
                Order::Any => state.used.hash(mixer),
            }
        }
    }
}

/// A count as its distances to its bounds, clipped.
fn hash_distances(count: u64, min: u64, max: Option<u64>, clip: u64, mixer: &mut Mixer) {
    min.saturating_sub(count).min(clip).hash(mixer);
    max.map(|max| max.saturating_sub(count).min(clip)).hash(mixer);
}
