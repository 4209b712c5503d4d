//! Items in progress that must differ: whether values are left that they can become.
//!
//! An item *lasts* where a container in it takes further parts of which there are many values,
//! whatever is being written: it can become more values than are ever kept. Of most items that is
//! known from the levels alone. Where it is not, what the item can become is looked for: all ways to
//! write its end in one spelling are tried, until one makes a value that has not come. Each way makes
//! another value, so that as many fail as have come, at the most.

use super::info::{ArrayInfo, ObjectInfo};
use super::level::{ArrayLevel, Atom, Atoms, ObjectLevel, StringLevel};
use super::object::ObjectAtom;
use super::string::{At, StringAtom};
use super::{Automaton, Clip, Config, Full, Level, Phase};
use crate::base::{ByteSet, SmallBits};
use crate::language::Alphabet;
use crate::options::Order;
use crate::values::{Emptiness, ObjectId, SEEN_VALUES, SetId, Sets, Strings};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The steps of one search: it gives up where a document has that many values of one beginning.
const STEPS: usize = 1 << 20;

/// Ends of a number that are tried out at first.
const FEW: usize = 16;

/// Which parts of an object in an item that must differ have many values.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectRoom {
    /// Any number of further members may come, always.
    is_open: bool,
    /// The names of which there are many values, ascending.
    names: Box<[u32]>,
    /// Declared order: no key comes behind the last of these.
    is_last: bool,
}

impl ObjectRoom {
    pub(super) fn new(
        sets: &Sets,
        id: ObjectId,
        info: &ObjectInfo,
        emptiness: &Emptiness,
    ) -> ObjectRoom {
        let is_many = |set: SetId| sets.has_room(set);
        let may = |index: &u32| !info.names[*index as usize].forbidden;
        let all = 0..info.names.len() as u32;
        let names: Box<[u32]> =
            all.clone().filter(may).filter(|&i| is_many(info.names[i as usize].set)).collect();
        let is_last = info.other.is_none() && names.last() == all.rev().find(may).as_ref();
        // Other keys that rules allow never come to an end, either.
        let never_ends = info.members.is_none()
            && info.other.as_ref().is_some_and(|other| other.outnumbers(u64::MAX));
        ObjectRoom { is_open: never_ends || sets.is_open(id, emptiness), names, is_last }
    }

    /// Whether a candidate takes a part of which there are many values, whichever key comes next.
    fn lasts(&self, atom: &ObjectAtom, info: &ObjectInfo) -> bool {
        if self.is_open || info.members.is_some() {
            return self.is_open;
        }
        match info.order() {
            Order::Any => self.names.iter().any(|&name| !atom.used.contains(name as usize)),
            Order::Declared => {
                let left = &self.names[self.names.partition_point(|&name| name < atom.next)..];
                !left.is_empty() && self.is_last
                    || left.iter().any(|&name| info.names[name as usize].required)
            }
        }
    }
}

/// A step of a search.
enum Move {
    Bytes(SmallVec<[u8; 8]>),
    /// The rest of a number, and its end.
    Number(SmallVec<[u8; 8]>),
}

/// How deep objects stand, and the last key of each.
type Keys = Vec<(usize, SmallVec<[u8; 24]>)>;

/// A place of a search.
struct Open {
    config: Config,
    /// The keys that the search has written.
    keys: Keys,
    moves: std::vec::IntoIter<Move>,
}

impl Automaton {
    /// All levels, the top first.
    fn levels(config: &Config) -> impl Iterator<Item = &Level> {
        std::iter::once(&config.top).chain(config.frames())
    }

    fn array_info(&self, array: &ArrayLevel) -> impl Iterator<Item = &ArrayInfo> {
        array.atoms.iter().map(|atom| &self.arrays[atom.state.id.index()])
    }

    /// Whether items of the array have to be watched: it is not enough to refuse their last bytes.
    fn watches(&self, array: &ArrayLevel) -> bool {
        self.array_info(array).any(|info| info.watched)
    }

    /// Whether a further item of the array, whatever it begins with, may be one of many values.
    fn has_many_items(&self, array: &ArrayLevel) -> bool {
        self.array_info(array).any(|info| self.sets.has_room(info.item(array.count)))
    }

    /// For each level, the top first: whether it is a container that can become more values than are
    /// ever kept, whatever comes next in it. Only the candidates count that the value above serves;
    /// of those that a key may choose among, all must.
    fn lasting<'c>(&'c self, config: &'c Config) -> impl Iterator<Item = (&'c Level, bool)> + 'c {
        let mut served: Option<SmallBits> = None;
        let chooses = matches!(config.top, Level::Key(_));
        Self::levels(config).enumerate().map(move |(index, level)| {
            let before = served.take();
            let live = |position: usize| before.as_ref().is_none_or(|s| s.contains(position));
            let lasts = match level {
                Level::Object(object) => {
                    served = Some(tags_of(&object.atoms, live));
                    let mut own = live_atoms(&object.atoms, live).map(|atom| {
                        let index = atom.state.id.index();
                        self.object_rooms[index].lasts(&atom.state, &self.objects[index])
                    });
                    if index == 1 && chooses { own.all(|lasts| lasts) } else { own.any(|l| l) }
                }
                Level::Array(array) => {
                    served = Some(tags_of(&array.atoms, live));
                    live_atoms(&array.atoms, live).any(|atom| {
                        let info = &self.arrays[atom.state.id.index()];
                        let takes = info.takes(array.count);
                        let many = || takes && self.sets.has_room(info.item(array.count));
                        info.plan.is_none() && (info.max.is_none() || many())
                    })
                }
                Level::Value(value) => {
                    served = Some(tags_of(&value.choices, live));
                    false
                }
                Level::Literal(literal) => {
                    served = Some(literal.tags.clone());
                    false
                }
                Level::Number(number) => {
                    served = Some(tags_of(&number.atoms, live));
                    false
                }
                Level::String(string) => {
                    served = Some(tags_of(&string.atoms, live));
                    false
                }
                Level::Key(_) | Level::End(_) => false,
            };
            (level, lasts)
        })
    }

    /// The watched arrays of which the item in progress does not last, or perhaps no item is left, by
    /// how many levels stand above them; among the levels from `first` to `end`.
    fn short_arrays<'c>(
        &'c self,
        config: &'c Config,
        first: usize,
        end: usize,
    ) -> impl Iterator<Item = usize> + 'c {
        let mut lasting = false;
        self.lasting(config).enumerate().take(end).filter_map(move |(index, (level, lasts))| {
            let is_short = |array: &ArrayLevel| match index {
                0 => array.phase == Phase::Comma && !self.has_many_items(array),
                // Scalars are looked for by themselves.
                1 => !matches!(config.top, Level::Literal(_) | Level::Number(_) | Level::String(_)),
                _ => true,
            };
            let short = index >= first
                && !lasting
                && matches!(level, Level::Array(array) if self.watches(array) && is_short(array));
            lasting |= lasts;
            short.then_some(index)
        })
    }

    /// Whether all items in progress last.
    pub(super) fn items_last(&self, config: &Config) -> bool {
        !self.has_watched || self.short_arrays(config, 0, usize::MAX).next().is_none()
    }

    /// The same for arrays of which `first` levels or more stand above.
    pub(super) fn items_last_below(&self, config: &Config, first: usize) -> bool {
        !self.has_watched || self.short_arrays(config, first, usize::MAX).next().is_none()
    }

    /// The same, where the levels above those do not count.
    pub(super) fn last_without(&self, config: &Config, above: usize) -> bool {
        let mut lasting = false;
        !self.has_watched
            || self.lasting(config).skip(above).all(|(level, lasts)| {
                let short = matches!(level, Level::Array(array) if self.watches(array)) && !lasting;
                lasting |= lasts;
                !short
            })
    }

    /// Whether a key or value in progress has to be stepped byte by byte, since an item around it
    /// perhaps has no value left.
    pub(crate) fn is_item_short(&self, config: &Config) -> bool {
        self.tracks(config) && !self.items_last(config)
    }

    /// Whether a value that has not come is left for each item in progress that is compared, and
    /// for the one that must follow a comma.
    pub(super) fn keeps_items(&self, config: &Config) -> bool {
        if !self.has_watched {
            return true;
        }
        let between = matches!(config.top, Level::Value(_) | Level::Key(_));
        let values = config.digest.as_ref().map_or(0, |digest| digest.values());
        let end = usize::from(between) + values + 1;
        let end = end.min(config.first_forgetful());
        let depth = || config.frames().count();
        self.short_arrays(config, 0, end).all(|index| {
            self.is_top_roomy(config) || {
                let left = |most| self.item_is_left(config, depth() - index, most).unwrap_or(true);
                left(FEW) || left(usize::MAX)
            }
        })
    }

    /// Whether the value in progress can become many, where that is plain to see.
    fn is_top_roomy(&self, config: &Config) -> bool {
        match &config.top {
            Level::Value(value) => {
                value.choices.iter().any(|choice| self.sets.has_room(choice.state))
            }
            Level::String(level) => self.has_roomy_text(level),
            Level::Key(key) => key.free || self.has_roomy_key(config, &key.string),
            Level::Number(level) => level.is_roomy(&self.numbers),
            _ => false,
        }
    }

    /// Whether keys that some candidate does not name never come to an end.
    fn has_roomy_key(&self, config: &Config, string: &StringLevel) -> bool {
        let Some(Level::Object(object)) = config.parent() else { return false };
        let mut infos = object.atoms.iter().map(|atom| &self.objects[atom.state.id.index()]);
        infos.any(|info| {
            let Some(other) = &info.other else { return false };
            string.atoms.iter().any(|atom| {
                let At::Language(state) = atom.state.at else { return false };
                let keys = other.read_as(atom.state.id);
                let chosen = keys.chosen.as_ref().filter(|_| keys.string == atom.state.id);
                chosen.is_some_and(|chosen| !chosen.runs_out(state))
            })
        })
    }

    fn has_roomy_text(&self, level: &StringLevel) -> bool {
        let roomy = |atom: &StringAtom| match (&self.strings[atom.id.index()], atom.at) {
            (Strings::Free { max, .. }, _) => max.is_none_or(|max| level.decoder.count < max),
            (Strings::Language(language), At::Language(state)) => {
                let chosen = self.sets.unique_string(atom.id);
                let chosen = chosen.is_some_and(|own| own.outlasts(state, SEEN_VALUES));
                chosen || language.lengths().1.is_none() && language.never_dies(state)
            }
            _ => false,
        };
        level.atoms.iter().any(|atom| roomy(&atom.state))
    }

    /// Whether the item in progress of the array with `depth` containers below it, or its next one,
    /// can be completed as one that has not come.
    ///
    /// Of each number at most `most` ends are tried out.
    fn item_is_left(&self, config: &Config, depth: usize, most: usize) -> Result<bool, Full> {
        let (mut visited, mut steps) = (FxHashSet::default(), 0);
        let have = config.frames().count() - depth;
        let most = match Self::levels(config).nth(have) {
            // More values than have come.
            Some(Level::Array(array)) => most.min(array.seen.len() + 1),
            _ => 0,
        };
        let mut open = vec![self.open(config.clone(), Vec::new(), most)];
        while let Some(place) = open.last_mut() {
            let Some(step) = place.moves.next() else {
                open.pop();
                continue;
            };
            steps += 1;
            let mut next = place.config.clone();
            let (Move::Bytes(bytes) | Move::Number(bytes)) = &step;
            let mut live = true;
            for &byte in bytes {
                live = live && self.step_byte(&mut next, byte)?;
            }
            if matches!(step, Move::Number(_)) {
                live = live && self.end_number_at(&mut next);
            }
            if !live {
                continue;
            }
            let now = next.frames().count();
            if now == depth || steps > STEPS || self.is_top_roomy(&next) {
                return Ok(true);
            }
            if self.lasting(&next).take(now - depth).any(|(_, lasts)| lasts) {
                return Ok(true);
            }
            let Some(keys) = ascending(&place.keys, &place.config, &next, now) else { continue };
            let keys = if self.is_any_order() { keys } else { Vec::new() };
            let between = matches!(next.top, Level::Object(_) | Level::Array(_));
            if !between || visited.insert(self.progress(&next, now - depth)) {
                open.push(self.open(next, keys, most));
            }
        }
        Ok(false)
    }

    fn is_any_order(&self) -> bool {
        self.objects.first().is_some_and(|info| info.order() == Order::Any)
    }

    /// Of a number, `most` ends are tried out.
    fn open(&self, config: Config, keys: Keys, most: usize) -> Open {
        let moves = self.moves(&config, most).into_iter();
        Open { config, keys, moves }
    }

    /// What the item in progress and its parts have become, `levels` of them.
    fn progress(&self, config: &Config, levels: usize) -> u128 {
        let clip = Clip::everything();
        let mut mixer = self.hashes.mixer();
        for level in Self::levels(config).take(levels) {
            self.hash_level(level, &clip, &mut mixer);
        }
        if let Some(digest) = &config.digest {
            digest.hash(&mut mixer);
        }
        mixer.value()
    }

    /// Ends the number at the top.
    fn end_number_at(&self, config: &mut Config) -> bool {
        let Level::Number(level) = &config.top else { return false };
        let tags = level.complete(&self.numbers);
        !tags.is_empty() && self.finish(config, &tags)
    }

    /// The ways to go on, each value in one spelling: those that end something first.
    fn moves(&self, config: &Config, most: usize) -> Vec<Move> {
        if config.top.gap().is_some_and(|gap| gap.need) {
            return singles(b" ");
        }
        match &config.top {
            Level::Literal(level) => {
                vec![Move::Bytes(level.word[usize::from(level.read)..].into())]
            }
            Level::Number(level) => {
                let ends = |digest| self.number_ends(level, digest, most);
                let ends = config.digest.as_deref().map(ends).unwrap_or_default();
                ends.into_iter().map(Move::Number).collect()
            }
            Level::String(level) => {
                let next = |atom: &StringAtom| match (&self.strings[atom.id.index()], atom.at) {
                    (Strings::Finite(texts), At::Finite { lo, hi }) => {
                        let texts = texts[lo as usize..hi as usize].iter();
                        let depth = level.decoder.len as usize;
                        texts.filter_map(|text| text.as_bytes().get(depth).copied()).collect()
                    }
                    _ => ByteSet::FULL,
                };
                let next: Vec<ByteSet> = level.atoms.iter().map(|a| next(&a.state)).collect();
                self.text_moves(level, next.iter().flat_map(ByteSet::iter).collect())
            }
            Level::Key(key) => {
                let entries = &self.table(key).entries[key.lo as usize..key.hi as usize];
                let depth = key.key.len();
                let names = entries.iter().filter_map(|e| e.text.as_bytes().get(depth).copied());
                let next = if key.is_open() { ByteSet::FULL } else { names.collect() };
                self.text_moves(&key.string, next)
            }
            Level::Value(level) if level.colon => singles(b":"),
            // What ends a container comes before what goes on.
            Level::Object(ObjectLevel { phase: Phase::Next, .. }) => singles(b"},"),
            Level::Object(ObjectLevel { phase: Phase::First, .. }) => singles(b"}\""),
            Level::Array(ArrayLevel { phase: Phase::Next, .. }) => singles(b"],"),
            Level::Array(ArrayLevel { phase: Phase::First, .. }) => singles(b"]\"-0123456789[fnt{"),
            Level::Value(_) | Level::Object(_) | Level::Array(_) => {
                singles(&config.top.first_bytes().iter().collect::<Vec<u8>>())
            }
            Level::End(_) => Vec::new(),
        }
    }

    /// The end of a text, and the characters with which it goes on whose first byte is in `next`.
    fn text_moves(&self, level: &StringLevel, next: ByteSet) -> Vec<Move> {
        if level.decoder.text.is_escape_partial() {
            return singles(b"\"\\/bfnrtu0123456789abcdefABCDEF");
        }
        let alphabet = Alphabet::shared(ByteSet::FULL, self.minimal);
        let spell = |byte: u8| {
            let special = byte < 0x20 || byte == b'"' || byte == b'\\';
            let escape = special.then(|| alphabet.cheapest_spelling(char::from(byte))).flatten();
            Move::Bytes(escape.map_or_else(|| SmallVec::from_slice(&[byte]), SmallVec::from_vec))
        };
        let mut moves = singles(b"\"");
        moves.extend(next.iter().map(spell));
        moves
    }
}

/// The candidates that are `live`, by position.
fn live_atoms<T>(atoms: &Atoms<T>, live: impl Fn(usize) -> bool) -> impl Iterator<Item = &Atom<T>> {
    let live = atoms.iter().enumerate().filter(move |(position, _)| live(*position));
    live.map(|(_, atom)| atom)
}

/// What these serve.
fn tags_of<T>(atoms: &Atoms<T>, live: impl Fn(usize) -> bool) -> SmallBits {
    let mut tags = SmallBits::default();
    live_atoms(atoms, live).for_each(|atom| tags.union(&atom.tags));
    tags
}

fn singles(bytes: &[u8]) -> Vec<Move> {
    bytes.iter().map(|&byte| Move::Bytes(SmallVec::from_slice(&[byte]))).collect()
}

/// The keys that a search has written, once it has gone from `before` to `after`, `depth` levels
/// above the bottom. `None` where a key comes behind a larger one: the same members are written the
/// other way round, too.
fn ascending(keys: &Keys, before: &Config, after: &Config, depth: usize) -> Option<Keys> {
    // Those of objects that are complete do not matter.
    let mut keys: Vec<_> =
        keys.iter().filter(|(object, _)| *object <= depth + 1).cloned().collect();
    let (Level::Key(key), Level::Value(_)) = (&before.top, &after.top) else { return Some(keys) };
    if let Some((_, last)) = keys.last_mut().filter(|(object, _)| *object == depth) {
        if *last >= key.key {
            return None;
        }
        *last = key.key.clone();
    } else {
        keys.push((depth, key.key.clone()));
    }
    Some(keys)
}
