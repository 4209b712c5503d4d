//! The ends of objects that ask something of their members together, and keys that nobody names.

use super::{Costs, INFINITE, Piece, Pieces, bytes};
use crate::automaton::Automaton;
use crate::automaton::info::ObjectInfo;
use crate::automaton::level::Seen;
use crate::automaton::members::MemberInfo;
use crate::automaton::object::ObjectAtom;
use crate::language::TextState;
use crate::values::{Member, Members, ObjectId, SetId, Weigh};
use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// Other keys that are written for one object, at most.
const MOST_KEYS: u64 = 10_000;
/// Keys that are tried for one object, at most.
const MOST_TRIES: usize = 100_000;
/// What is longer than any completion may be.
const TOO_LONG: u64 = 1 << 40;

/// An object in progress, and what members cost.
struct Weighed<'a> {
    atom: &'a ObjectAtom,
    info: &'a ObjectInfo,
    of: &'a MemberInfo,
    costs: &'a Costs,
    /// By name: the cost of its key.
    keys: &'a [u64],
}

impl Members for Weighed<'_> {
    fn has_come(&self, name: usize) -> bool {
        self.atom.used.contains(name)
    }

    fn may_come(&self, name: usize) -> bool {
        self.atom.may_come(self.info, self.of, name)
            && self.keys[name] < INFINITE
            && self.usable(self.info.names[name].set)
    }

    fn left(&self) -> u64 {
        (0..self.keys.len()).filter(|&name| self.may_come(name)).count() as u64
    }

    fn usable(&self, set: SetId) -> bool {
        self.costs.spells_set(set)
    }
}

impl Weigh for Weighed<'_> {
    fn name(&self, name: usize, set: SetId) -> u64 {
        self.keys[name].saturating_add(self.costs.sets[set.index()])
    }

    fn other(&self, _: usize, set: SetId) -> u64 {
        self.costs.sets[set.index()]
    }
}

impl Automaton {
    /// The members that finish an object, and its closing bracket.
    pub(super) fn members_end<'a>(
        &'a self,
        atom: &ObjectAtom,
        of: &MemberInfo,
        mut comma: bool,
        seen: &Seen,
        costs: &Costs,
    ) -> Pieces<'a> {
        let impossible = || vec![Piece::Set(SetId::NEVER)];
        let info = &self.objects[atom.id.index()];
        let keys = costs.keys[atom.id.index()].get_or_init(|| {
            let cost = |text: &str| costs.content(text).map_or(INFINITE, |text| text.len() as u64);
            info.names.iter().map(|name| cost(&name.text)).collect()
        });
        let weighed = Weighed { atom, info, of, costs, keys };
        let Some(plan) = of.demands.plan(atom.progress(), &weighed) else { return impossible() };
        let mut fresh = FreshKeys { info, seen, costs, given: FxHashSet::default() };
        let mut pieces = Vec::new();
        let separate = |pieces: &mut Pieces<'a>, comma: &mut bool| {
            if std::mem::replace(comma, true) {
                pieces.push(bytes(self.comma()));
            }
        };
        for member in plan {
            let others = match member {
                Member::Name(name, set) => {
                    separate(&mut pieces, &mut comma);
                    pieces.extend(self.member(&info.names[name].text, set));
                    continue;
                }
                Member::Other(combination, set) => {
                    fresh.of(atom.id, combination).map(|key| vec![(key, set)])
                }
                Member::Spare(count) => {
                    if count > MOST_KEYS {
                        pieces.push(Piece::Fill(TOO_LONG));
                    }
                    fresh.keys(None, count.min(MOST_KEYS) as usize)
                }
            };
            let Some(others) = others else { return impossible() };
            for (key, set) in others {
                separate(&mut pieces, &mut comma);
                let quote = || bytes(b"\"");
                pieces.extend([quote(), Piece::Bytes(key.into()), quote(), bytes(self.colon())]);
                pieces.push(Piece::Set(set));
            }
        }
        pieces.push(bytes(b"}"));
        pieces
    }
}

/// Keys that an object does not name and that have not come.
struct FreshKeys<'a> {
    info: &'a ObjectInfo,
    seen: &'a Seen,
    costs: &'a Costs,
    given: FxHashSet<Vec<u8>>,
}

impl FreshKeys<'_> {
    fn is_known(&self, key: &[u8]) -> bool {
        self.given.contains(key)
            || self.seen.as_ref().is_some_and(|seen| seen.contains(key))
            || self.info.names.iter().any(|name| name.text.as_bytes() == key)
    }

    /// One key of a combination, spelled. Before the first key it is always the same one.
    fn of(&mut self, object: ObjectId, combination: usize) -> Option<Vec<u8>> {
        let is_first = self.seen.is_none() && self.given.is_empty();
        let known = self.costs.fresh.get(object.index()).filter(|_| is_first).map(|known| {
            let count = || self.info.other.as_ref().map_or(0, |other| other.combinations_len());
            known.get_or_init(|| (0..count()).map(|_| OnceLock::new()).collect())
        });
        let known = known.and_then(|known| known.get(combination));
        if let Some((text, key)) = known.and_then(OnceLock::get) {
            self.given.insert(text.clone());
            return Some(key.clone());
        }
        let (key, _) = self.keys(Some(combination), 1)?.pop()?;
        if let (Some(known), Some(text)) = (known, self.given.iter().next()) {
            // Who was faster found the same.
            let _ = known.set((text.clone(), key.clone()));
        }
        Some(key)
    }

    /// So many keys, spelled, with the sets of their values; those of one combination, if it is
    /// given. `None` where there are none.
    fn keys(&mut self, combination: Option<usize>, count: usize) -> Option<Vec<(Vec<u8>, SetId)>> {
        let other = self.info.other.as_ref()?;
        let Some(all) = other.chosen() else {
            let (_, set) = other.combinations().next()?;
            let keys = self.free(count)?.into_iter().map(|key| (key, set));
            return Some(keys.collect());
        };
        let sets: Vec<(usize, SetId)> = other
            .combinations()
            .filter(|&(index, set)| {
                combination.is_none_or(|only| only == index) && self.costs.spells_set(set)
            })
            .collect();
        if sets.is_empty() && count > 0 {
            return None;
        }
        let chosen = combination.map_or(Some(all), |only| other.only(only))?;
        let (mut found, mut tries) = (Vec::new(), 0);
        let start = chosen.language().start();
        let mut texts = std::mem::take(&mut self.given);
        chosen.end_other_than(start, TextState::START, |text| {
            tries += 1;
            let end = text.iter().try_fold(start, |state, &byte| {
                chosen.language().step_byte(state, byte).ok().flatten()
            });
            let of = end.map(|end| chosen.combination(end));
            let set = sets.iter().find(|(index, _)| Some(*index) == of);
            if let Some(&(_, set)) = set
                && !texts.contains(text)
                && !self.is_known(text)
                && let Some(key) =
                    std::str::from_utf8(text).ok().and_then(|t| self.costs.content(t))
            {
                texts.insert(text.to_vec());
                found.push((key, set));
            }
            found.len() < count && tries < MOST_TRIES
        });
        self.given = texts;
        (found.len() == count).then_some(found)
    }

    /// Keys in shortlex order, where any may come.
    fn free(&mut self, count: usize) -> Option<Vec<Vec<u8>>> {
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(' '..='\u{24f}');
        let letters = letters.filter(|&c| self.costs.alphabet.can_spell(c));
        let letters: Vec<char> = letters.take(26).collect();
        let (mut found, mut places) = (Vec::with_capacity(count), Vec::<usize>::new());
        while found.len() < count {
            let text: String = places.iter().map(|&place| letters[place]).collect();
            if !self.is_known(text.as_bytes()) {
                found.push(self.costs.content(&text)?);
                self.given.insert(text.into_bytes());
            }
            match places.iter().rposition(|&place| place + 1 < letters.len()) {
                Some(last) => {
                    places[last] += 1;
                    places[last + 1..].fill(0);
                }
                None if letters.is_empty() => break,
                None => places = vec![0; places.len() + 1],
            }
        }
        (found.len() == count).then_some(found)
    }
}
