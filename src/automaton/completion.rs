//! Shortest completions: the fewest bytes that finish a document, over the bytes that a vocabulary
//! can spell.
//!
//! Whatever has to be written is a list of [`Piece`]s; its cost is the sum of theirs. The cost of a
//! set is the least over its shapes, and a shape's cost grows with its members': Knuth's
//! generalisation of Dijkstra's algorithm finds all of them in one pass. A cost that stays infinite
//! means that the set cannot be spelled, so the same numbers decide what is live over a poor
//! vocabulary.

mod members;
mod plan;

use super::array::ArrayAtom;
use super::level::Seen;
use super::number::NumberAtom;
use super::object::ObjectAtom;
use super::string::{At, Decoder, StringAtom};
use super::{Automaton, Config, Level};
use crate::base::{SmallBits, is_blank};
use crate::error::{Error, Result};
use crate::language::Alphabet;
use crate::options::Order;
use crate::values::{ArrayId, Literals, Needs, Set, SetId, Shape, Strings};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, OnceLock};

/// What cannot be spelled.
const INFINITE: u64 = u64::MAX;

/// Over a poor vocabulary, the longest completion that is tried out for an array with unique items.
const UNIQUE_BYTES: usize = 1 << 20;

/// The costs of all sets of a grammar over an alphabet, in bytes.
#[derive(Debug)]
pub(crate) struct Costs {
    alphabet: Arc<Alphabet>,
    sets: Vec<u64>,
    /// For arrays that count their items: the items of the cheapest.
    counting: FxHashMap<ArrayId, Vec<(SetId, u64)>>,
    /// A character that costs least, with its spelling.
    filler: Option<(char, Vec<u8>)>,
    /// By string shape: the shortest string of a language, found when first asked for.
    shortest: Vec<OnceLock<Option<Vec<u8>>>>,
    /// By object shape: what the keys of its names cost, found when first asked for.
    keys: Vec<OnceLock<Box<[u64]>>>,
    /// By object shape and combination: another key, and its spelling, found when first asked for.
    fresh: Vec<OnceLock<Box<[OnceLock<FreshKey>]>>>,
}

/// A key, and how it is spelled.
type FreshKey = (Vec<u8>, Vec<u8>);

/// A piece of output that is still to be written.
#[derive(Clone, Debug)]
enum Piece<'a> {
    Bytes(Cow<'a, [u8]>),
    /// A string's content, to be spelled.
    Text(&'a str),
    /// As many characters.
    Fill(u64),
    Set(SetId),
    /// As many values of the set, a comma before each.
    Repeat(SetId, u64),
}

type Pieces<'a> = Vec<Piece<'a>>;

fn bytes(bytes: &[u8]) -> Piece<'_> {
    Piece::Bytes(Cow::Borrowed(bytes))
}

impl Costs {
    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Whether some value of the set can be spelled.
    pub(crate) fn spells_set(&self, id: SetId) -> bool {
        self.sets[id.index()] < INFINITE
    }

    fn spells(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&b| self.alphabet.bytes().contains(b))
    }

    fn bytes(&self, bytes: &[u8]) -> u64 {
        if self.spells(bytes) { bytes.len() as u64 } else { INFINITE }
    }

    /// The spelling of a string's content.
    fn content(&self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            bytes.extend(self.alphabet.cheapest_spelling(c)?);
        }
        Some(bytes)
    }
}

impl Automaton {
    /// The costs of all sets over `alphabet`.
    pub(crate) fn costs(&self, alphabet: Arc<Alphabet>) -> Costs {
        let candidates = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(' '..='\u{24f}');
        let filler = candidates
            .filter_map(|c| Some((c, alphabet.cheapest_spelling(c)?)))
            .min_by_key(|(_, spelling)| spelling.len());
        let shortest = self.strings.iter().map(|_| OnceLock::new()).collect();
        let keys = self.objects.iter().map(|_| OnceLock::new()).collect();
        let sets = vec![INFINITE; self.sets.len()];
        let counting = FxHashMap::default();
        let fresh = self.objects.iter().map(|_| OnceLock::new()).collect();
        let mut costs = Costs { alphabet, sets, counting, filler, shortest, keys, fresh };
        let mut needs = Needs::of(&self.sets);
        let mut queue = BinaryHeap::new();
        for id in self.sets.ids() {
            let leaves = self.scalars(self.sets.get(id), &costs);
            let cost = leaves.iter().map(|pieces| self.cost(pieces, &costs)).min();
            queue.extend(cost.map(|cost| Reverse((cost, id))));
        }
        let mut ready = needs.ready();
        let counting = (0..self.arrays.len()).map(ArrayId::new);
        ready.extend(counting.filter(|&id| self.offer_counting(id, &mut costs)).map(Shape::Array));
        loop {
            for shape in ready {
                // A shape that has several ways to be had is asked as long as it may get cheaper.
                let holders = needs.holders(shape);
                if holders.iter().any(|holder| costs.sets[holder.index()] == INFINITE)
                    && let Some(pieces) = self.whole(shape, &costs)
                {
                    let cost = self.cost(&pieces, &costs);
                    queue.extend(holders.iter().map(|&holder| Reverse((cost, holder))));
                }
            }
            // The first offer of a set is its least.
            let next = std::iter::from_fn(|| queue.pop())
                .find(|Reverse((cost, id))| *cost < costs.sets[id.index()]);
            let Some(Reverse((cost, id))) = next else { break };
            costs.sets[id.index()] = cost;
            ready = needs.settle(id);
            for &array in needs.counting(id) {
                if self.offer_counting(array, &mut costs) {
                    ready.push(Shape::Array(array));
                }
            }
        }
        costs
    }

    /// Looks for items of settled sets that make an array that counts them; whether they are
    /// cheaper than those known. What is known is kept: it holds only sets settled before.
    fn offer_counting(&self, id: ArrayId, costs: &mut Costs) -> bool {
        if self.arrays[id.index()].plan.is_none() {
            return false;
        }
        let Some(items) = self.array_atom(id).and_then(|atom| self.counted_items(&atom, 0, costs))
        else {
            return false;
        };
        let cost =
            |items: &Vec<(SetId, u64)>| self.cost(&self.items_end(items.clone(), false), costs);
        let cheaper = costs.counting.get(&id).is_none_or(|known| cost(&items) < cost(known));
        if cheaper {
            costs.counting.insert(id, items);
        }
        cheaper
    }

    fn cost(&self, pieces: &[Piece<'_>], costs: &Costs) -> u64 {
        let one = |piece: &Piece<'_>| match piece {
            Piece::Bytes(bytes) => costs.bytes(bytes),
            Piece::Text(text) => costs.content(text).map_or(INFINITE, |c| c.len() as u64),
            Piece::Fill(0) | Piece::Repeat(_, 0) => 0,
            Piece::Fill(n) => {
                let one = costs.filler.as_ref().map_or(INFINITE, |(_, s)| s.len() as u64);
                one.saturating_mul(*n)
            }
            Piece::Set(id) => costs.sets[id.index()],
            Piece::Repeat(id, n) => {
                let one = costs.bytes(self.comma()).saturating_add(costs.sets[id.index()]);
                one.saturating_mul(*n)
            }
        };
        pieces.iter().map(one).fold(0, u64::saturating_add)
    }

    /// The comma, with the space that the policy demands behind it.
    fn comma(&self) -> &'static [u8] {
        if self.gaps.separator.need { b", " } else { b"," }
    }

    fn colon(&self) -> &'static [u8] {
        if self.gaps.separator.need { b": " } else { b":" }
    }

    /// The ways to write a scalar of the set.
    fn scalars<'a>(&'a self, set: &Set, costs: &Costs) -> Vec<Pieces<'a>> {
        let literals = [
            (Literals::NULL, &b"null"[..]),
            (Literals::TRUE, b"true"),
            (Literals::FALSE, b"false"),
        ];
        let literals = literals.into_iter().filter(|(literal, _)| set.literals.contains(*literal));
        let mut ways: Vec<Pieces<'a>> = literals.map(|(_, word)| vec![bytes(word)]).collect();
        for &id in &set.numbers {
            let info = &self.numbers[id.index()];
            let atom = NumberAtom::new(id, info);
            let end = atom.shortest_end(info, &self.number_start(), |b| costs.spells(b));
            ways.extend(end.map(|end| vec![Piece::Bytes(end.into())]));
        }
        for &id in &set.strings {
            let atom = StringAtom::new(id, &self.strings[id.index()]);
            if let Some(mut end) = self.string_end(&atom, &Decoder::START, costs) {
                end.insert(0, bytes(b"\""));
                end.push(bytes(b"\""));
                ways.push(end);
            }
        }
        ways
    }

    /// The shortest end of a string's content at a boundary.
    fn string_end(
        &self,
        atom: &StringAtom,
        decoder: &Decoder,
        costs: &Costs,
    ) -> Option<Pieces<'_>> {
        match (&self.strings[atom.id.index()], atom.at) {
            (Strings::Free { min, .. }, At::Free) => {
                Some(vec![Piece::Fill(min.saturating_sub(decoder.count))])
            }
            (Strings::Finite(texts), At::Finite { lo, hi }) => {
                let ends = texts[lo as usize..hi as usize].iter();
                ends.filter_map(|text| text.get(decoder.len as usize..))
                    .filter_map(|end| Some((costs.content(end)?.len(), end)))
                    .min()
                    .map(|(_, end)| vec![Piece::Text(end)])
            }
            (Strings::Language(language), At::Language(state)) => {
                let search =
                    || language.shortest(&costs.alphabet, state, decoder.text, decoder.count);
                let end = if *decoder == Decoder::START {
                    costs.shortest[atom.id.index()].get_or_init(search).clone()
                } else {
                    search()
                };
                end.map(|end| vec![Piece::Bytes(end.into())])
            }
            _ => None,
        }
    }

    /// The end of an array of which `count` items have come; `comma`: one must come before the
    /// next. `None` where no items that can be spelled finish it.
    fn array_end(
        &self,
        atom: &ArrayAtom,
        count: u64,
        comma: bool,
        costs: &Costs,
    ) -> Option<Pieces<'_>> {
        let info = &self.arrays[atom.id.index()];
        if info.plan.is_some() {
            let items = self.counted_items(atom, count, costs)?;
            return Some(self.items_end(items, comma));
        }
        let (mut pieces, mut comma, mut index) = (Vec::new(), comma, count);
        while index < info.min && (index < info.named() || !comma) {
            if comma {
                pieces.push(bytes(self.comma()));
            }
            comma = true;
            pieces.push(Piece::Set(info.item(index)));
            index += 1;
        }
        if index < info.min {
            pieces.push(Piece::Repeat(info.item(index), info.min - index));
        }
        pieces.push(bytes(b"]"));
        Some(pieces)
    }

    /// The items that finish an array that counts them.
    fn counted_items(
        &self,
        atom: &ArrayAtom,
        count: u64,
        costs: &Costs,
    ) -> Option<Vec<(SetId, u64)>> {
        let plan = self.sets.item_plan(atom.id, |set| costs.spells_set(set))?;
        plan.finish(count, &atom.counts, |set| costs.sets[set.index()])
    }

    /// The end of an array with these items to come.
    fn items_end(&self, items: Vec<(SetId, u64)>, mut comma: bool) -> Pieces<'_> {
        let mut pieces = Vec::new();
        for (set, mut times) in items {
            if !comma {
                pieces.push(Piece::Set(set));
                (comma, times) = (true, times - 1);
            }
            pieces.extend((times > 0).then_some(Piece::Repeat(set, times)));
        }
        pieces.push(bytes(b"]"));
        pieces
    }

    /// The end of an object in which the keys `seen` have come beside names; `comma`: one must come
    /// before the next member.
    fn object_end<'a>(
        &'a self,
        atom: &ObjectAtom,
        comma: bool,
        seen: &Seen,
        costs: &Costs,
    ) -> Pieces<'a> {
        let info = &self.objects[atom.id.index()];
        if let Some(of) = &info.members {
            return self.members_end(atom, of, comma, seen, costs);
        }
        let (mut pieces, mut comma) = (Vec::new(), comma);
        for (index, name) in info.names.iter().enumerate() {
            let come = match info.order() {
                Order::Declared => index < atom.next as usize,
                Order::Any => atom.used.contains(index),
            };
            if !name.required || come {
                continue;
            }
            if comma {
                pieces.push(bytes(self.comma()));
            }
            comma = true;
            pieces.extend(self.member(&name.text, name.set));
        }
        pieces.push(bytes(b"}"));
        pieces
    }

    fn member<'a>(&'a self, key: &'a str, set: SetId) -> [Piece<'a>; 5] {
        let quote = || bytes(b"\"");
        [quote(), Piece::Text(key), quote(), bytes(self.colon()), Piece::Set(set)]
    }

    /// Every way to write a value of the set.
    fn ways<'a>(&'a self, id: SetId, costs: &Costs) -> Vec<Pieces<'a>> {
        let set = self.sets.get(id);
        let mut ways = self.scalars(set, costs);
        ways.extend(set.arrays.iter().filter_map(|&id| self.whole(Shape::Array(id), costs)));
        ways.extend(set.objects.iter().filter_map(|&id| self.whole(Shape::Object(id), costs)));
        ways
    }

    /// A way to write a container; `None` where it cannot be spelled.
    fn whole(&self, shape: Shape, costs: &Costs) -> Option<Pieces<'_>> {
        let (open, mut pieces) = match shape {
            Shape::Array(id) => {
                let pieces = match costs.counting.get(&id) {
                    Some(items) => self.items_end(items.clone(), false),
                    None => self.array_end(&self.array_atom(id)?, 0, false, costs)?,
                };
                (&b"["[..], pieces)
            }
            Shape::Object(id) => {
                let atom = ObjectAtom::new(id, &self.objects[id.index()]);
                (&b"{"[..], self.object_end(&atom, false, &None, costs))
            }
        };
        pieces.insert(0, bytes(open));
        Some(pieces)
    }

    /// The shortest bytes that finish the document at `config`; short ones where items must differ.
    ///
    /// # Errors
    /// `limit` where they are more than `max` bytes, or cannot be spelled.
    pub(crate) fn completion(&self, config: &Config, costs: &Costs, max: usize) -> Result<Vec<u8>> {
        let too_long = || Error::limit_met("completion_bytes", max, "the shortest completion");
        let (mut config, mut out) = (config.clone(), Vec::new());
        loop {
            let left = max.checked_sub(out.len()).ok_or_else(too_long)?;
            let end = self.likely_completion(&config, costs, left)?;
            let mut refused = None;
            for &byte in end.iter().take_while(|_| self.has_unique) {
                let mut next = config.clone();
                if !self.step(&mut next, byte).unwrap_or(false) {
                    refused = Some(byte);
                    break;
                }
                config = next;
                out.push(byte);
            }
            let Some(refused) = refused else {
                out.extend(end.into_iter().filter(|_| !self.has_unique));
                return Ok(out);
            };
            // It would end an item that has come: one that goes on otherwise.
            let goes_on =
                |at: &Config| self.likely_completion(at, costs, left).ok()?.first().copied();
            if let Some((end, next)) = self.other_number(&config, goes_on)
                && costs.spells(&end)
            {
                config = next;
                out.extend(end);
                continue;
            }
            let others = costs.alphabet.bytes().iter().filter(|&byte| byte != refused);
            let other = |byte: u8| {
                let mut next = config.clone();
                self.step(&mut next, byte).ok().filter(|live| *live)?;
                let end = self.likely_completion(&next, costs, left).ok()?;
                // The other values of a number have been tried.
                let is_same =
                    matches!((&config.top, &next.top), (Level::Number(_), Level::Number(_)));
                let last = is_blank(byte) || is_same;
                Some(((last, end.len(), byte), next))
            };
            let best = others.filter_map(other).min_by_key(|(key, _)| *key);
            let ((_, _, byte), next) = best.ok_or_else(too_long)?;
            config = next;
            out.push(byte);
        }
    }

    /// The same, if no item turns out to have come before.
    fn likely_completion(&self, config: &Config, costs: &Costs, max: usize) -> Result<Vec<u8>> {
        let too_long = || Error::limit_met("completion_bytes", max, "the shortest completion");
        let rests = self.rests(config, costs);
        let skip = usize::from(matches!(config.top, Level::Key(_)));
        let ways = self.finish_top(config, costs).ok_or_else(too_long)?;
        let total = |(pieces, tags): &(Pieces<'_>, SmallBits)| {
            self.cost(pieces, costs).saturating_add(least(rests.get(skip), tags))
        };
        let best = ways.into_iter().min_by_key(total).ok_or_else(too_long)?;
        if total(&best) > max as u64 {
            return Err(too_long());
        }
        let (mut pieces, mut tags) = best;
        let mut frames = config.frames().zip(&rests).skip(skip);
        let mut out = Vec::new();
        loop {
            self.write(pieces, costs, max, &mut out).ok_or_else(too_long)?;
            let Some((level, rest)) = frames.next() else { return Ok(out) };
            let best = tags.iter().min_by_key(|&tag| rest.get(tag).copied());
            let best = best.ok_or_else(too_long)?;
            (pieces, tags) = self.frame_end(level, best, costs).ok_or_else(too_long)?;
        }
    }

    /// Whether the document at `config` can be finished over the alphabet of `costs`; without
    /// costs everything can be spelled.
    pub(crate) fn can_spell(&self, config: &Config, costs: Option<&Costs>) -> bool {
        let Some(costs) = costs else { return true };
        if self.has_unique
            && std::iter::once(&config.top).chain(config.frames()).any(|l| self.is_unique_level(l))
        {
            // Which values are left is found by writing them.
            return self.completion(config, costs, UNIQUE_BYTES).is_ok();
        }
        let rests = self.rests(config, costs);
        let skip = usize::from(matches!(config.top, Level::Key(_)));
        self.finish_top(config, costs).is_some_and(|ways| {
            ways.iter().any(|(pieces, tags)| {
                self.cost(pieces, costs) < INFINITE && least(rests.get(skip), tags) < INFINITE
            })
        })
    }

    /// For each frame, nearest first, and each of its atoms: the cost of everything from the end of
    /// its member on, the containers below included.
    fn rests(&self, config: &Config, costs: &Costs) -> Vec<Vec<u64>> {
        let frames: Vec<&Level> = config.frames().collect();
        let mut rests: Vec<Vec<u64>> = Vec::with_capacity(frames.len());
        for level in frames.iter().rev() {
            let ends = (0..).map_while(|index| self.frame_end(level, index, costs));
            let below = rests.last();
            let rest = ends.map(|(pieces, tags)| {
                self.cost(&pieces, costs).saturating_add(least(below, &tags))
            });
            let rest = rest.collect();
            rests.push(rest);
        }
        rests.reverse();
        rests
    }

    /// The end of a container whose member is complete, for one of its atoms.
    fn frame_end<'a>(
        &'a self,
        level: &Level,
        index: usize,
        costs: &Costs,
    ) -> Option<(Pieces<'a>, SmallBits)> {
        match level {
            Level::Object(object) => {
                let atom = object.atoms.get(index)?;
                let end = self.object_end(&atom.state, true, &object.seen, costs);
                Some((end, atom.tags.clone()))
            }
            Level::Array(array) => {
                let atom = array.atoms.get(index)?;
                let end = self.array_end(&atom.state, array.count, true, costs);
                let cannot = || vec![Piece::Set(SetId::NEVER)];
                Some((end.unwrap_or_else(cannot), atom.tags.clone()))
            }
            _ => None,
        }
    }

    /// Writes pieces; `None` where more than `max` bytes would be written in all.
    fn write<'a>(
        &'a self,
        mut pieces: Pieces<'a>,
        costs: &Costs,
        max: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        pieces.reverse();
        while let Some(piece) = pieces.pop() {
            if out.len() > max {
                return None;
            }
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(&bytes),
                Piece::Text(text) => out.extend(costs.content(text)?),
                Piece::Fill(n) => {
                    let filler = costs.filler.as_ref().filter(|_| n > 0);
                    let one: &[u8] = filler.map_or(&[], |(_, one)| one);
                    let len = (one.len() as u64).checked_mul(n).filter(|&len| len <= max as u64)?;
                    out.extend(one.iter().cycle().take(len as usize));
                }
                Piece::Set(id) => {
                    let ways = self.ways(id, costs);
                    let best = ways.into_iter().min_by_key(|way| self.cost(way, costs))?;
                    pieces.extend(best.into_iter().rev());
                }
                Piece::Repeat(id, n) => {
                    if n > 1 {
                        pieces.push(Piece::Repeat(id, n - 1));
                    }
                    pieces.push(Piece::Set(id));
                    pieces.push(bytes(self.comma()));
                }
            }
        }
        Some(())
    }
}

/// The least rest among the atoms that `tags` name; 0 below the root.
fn least(rests: Option<&Vec<u64>>, tags: &SmallBits) -> u64 {
    match rests {
        None => 0,
        Some(rests) => tags.iter().filter_map(|t| rests.get(t).copied()).min().unwrap_or(INFINITE),
    }
}
