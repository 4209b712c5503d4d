//! The ways to finish the level at the top of a configuration.

use super::{Costs, Piece, Pieces, bytes};
use crate::automaton::array::ArrayAtom;
use crate::automaton::level::{ArrayLevel, KeyLevel, ObjectLevel, Phase, StringLevel};
use crate::automaton::object::ObjectAtom;
use crate::automaton::string::{At, StringAtom};
use crate::automaton::{Automaton, Config, Level};
use crate::base::SmallBits;
use crate::language::TextState;
use crate::values::{SetId, Strings};

/// Ends of a key that are tried, at most.
const MOST_TRIES: usize = 100_000;

type Way<'a> = (Pieces<'a>, SmallBits);

/// The end of a key that an object does not name.
struct OtherEnd {
    end: Vec<u8>,
    at: At,
    /// The key.
    key: Vec<u8>,
}

impl Automaton {
    /// The ways to finish the top level, each with the atoms below that it serves. For a key they
    /// finish the object around it, too. `None`: there is nothing left to finish, or no way.
    pub(super) fn finish_top<'a>(
        &'a self,
        config: &'a Config,
        costs: &Costs,
    ) -> Option<Vec<Way<'a>>> {
        let ways = match &config.top {
            Level::Value(level) => {
                let before = match (level.colon, level.gap.need) {
                    (true, _) => self.colon(),
                    (false, true) => b" ",
                    (false, false) => b"",
                };
                let way = |c: &crate::automaton::level::Atom<_>| {
                    (vec![bytes(before), Piece::Set(c.state)], c.tags.clone())
                };
                level.choices.iter().map(way).collect()
            }
            Level::Literal(level) => {
                vec![(vec![bytes(&level.word[usize::from(level.read)..])], level.tags.clone())]
            }
            Level::Number(level) => {
                let way = |atom: &crate::automaton::level::Atom<_>| {
                    let state: &crate::automaton::number::NumberAtom = &atom.state;
                    let info = &self.numbers[state.id.index()];
                    let end = state.shortest_end(info, &level.lex, |b| costs.spells(b))?;
                    Some((vec![Piece::Bytes(end.into())], atom.tags.clone()))
                };
                level.atoms.iter().filter_map(way).collect()
            }
            Level::String(level) => {
                let way = |atom: &crate::automaton::level::Atom<StringAtom>| {
                    let mut pieces = self.finish_string(level, &atom.state, costs)?;
                    pieces.push(bytes(b"\""));
                    Some((pieces, atom.tags.clone()))
                };
                level.atoms.iter().filter_map(way).collect()
            }
            Level::Key(key) => match config.parent() {
                Some(Level::Object(object)) => self.finish_key(key, object, costs),
                _ => Vec::new(),
            },
            Level::Object(object) => self.finish_object(object, costs),
            Level::Array(level) => {
                let end = |atom: &crate::automaton::level::Atom<ArrayAtom>, comma: bool| {
                    let pieces = self.array_end(&atom.state, level.count, comma, costs)?;
                    Some((pieces, atom.tags.clone()))
                };
                match level.phase {
                    Phase::First => level.atoms.iter().filter_map(|a| end(a, false)).collect(),
                    Phase::Next => level.atoms.iter().filter_map(|a| end(a, true)).collect(),
                    Phase::Comma => self.finish_comma(level, costs),
                }
            }
            Level::End(_) => vec![(Vec::new(), SmallBits::default())],
        };
        (!ways.is_empty()).then_some(ways)
    }

    /// Behind a comma an item must come.
    fn finish_comma<'a>(&'a self, level: &ArrayLevel, costs: &Costs) -> Vec<Way<'a>> {
        let mut after = level.clone();
        let items = after.begin_item(&self.arrays);
        let way = |item: &crate::automaton::level::Atom<SetId>, position: usize| {
            let atom = after.atoms.get(position)?;
            let mut pieces = vec![space(level.gap.need), Piece::Set(item.state)];
            pieces.extend(self.array_end(&atom.state, after.count, true, costs)?);
            Some((pieces, atom.tags.clone()))
        };
        let ways = items.iter().flat_map(|item| item.tags.iter().map(move |tag| way(item, tag)));
        ways.flatten().collect()
    }

    fn finish_object<'a>(&'a self, object: &ObjectLevel, costs: &Costs) -> Vec<Way<'a>> {
        let mut ways = Vec::new();
        for (position, atom) in object.atoms.iter().enumerate() {
            let info = &self.objects[atom.state.id.index()];
            let tags = || atom.tags.clone();
            let end = |comma| self.object_end(&atom.state, comma, &object.seen, costs);
            match object.phase {
                Phase::First => ways.push((end(false), tags())),
                Phase::Next => ways.push((end(true), tags())),
                Phase::Comma if !atom.state.can_close(info) => {
                    let mut pieces = vec![space(object.gap.need)];
                    pieces.extend(end(false));
                    ways.push((pieces, tags()));
                }
                Phase::Comma => {
                    for (index, name) in info.names.iter().enumerate() {
                        if !atom.state.allows(info, index as u32) {
                            continue;
                        }
                        for (after, set) in atom.state.name_forks(info, index as u32) {
                            let mut pieces = vec![space(object.gap.need)];
                            pieces.extend(self.member(&name.text, set));
                            pieces.extend(self.object_end(&after, true, &object.seen, costs));
                            ways.push((pieces, tags()));
                        }
                    }
                    let key = object.open_key(&self.objects, &self.strings, &self.tables);
                    for mut pieces in self.other_ends(&key, object, position, costs) {
                        pieces.splice(0..0, [space(object.gap.need), bytes(b"\"")]);
                        ways.push((pieces, tags()));
                    }
                }
            }
        }
        ways
    }

    /// The ends of `key`, as one that the candidate at `position` does not name, and of the object
    /// around it.
    fn other_ends<'a>(
        &'a self,
        key: &KeyLevel,
        object: &ObjectLevel,
        position: usize,
        costs: &Costs,
    ) -> Vec<Pieces<'a>> {
        let Some(other) = self.finish_other(key, object, position, costs) else {
            return Vec::new();
        };
        let atom = &object.atoms[position].state;
        let info = &self.objects[atom.id.index()];
        let seen = object.seen_with(&other.key);
        let forks = atom.other_forks(info, &object.seen, other.at).into_iter();
        let end = |(after, set): (ObjectAtom, SetId)| {
            let mut pieces = vec![Piece::Bytes(other.end.clone().into())];
            pieces.extend([bytes(b"\""), bytes(self.colon()), Piece::Set(set)]);
            pieces.extend(self.object_end(&after, true, &seen, costs));
            pieces
        };
        forks.map(end).collect()
    }

    /// What makes `key` a key that no candidate names and that has not come yet.
    fn fresh_key(&self, object: &ObjectLevel, key: &[u8]) -> Vec<u8> {
        let known = |suffix: &[u8]| {
            let key = [key, suffix].concat();
            let named = |atom: &crate::automaton::level::Atom<ObjectAtom>| {
                let names = &self.objects[atom.state.id.index()].names;
                names.iter().any(|name| name.text.as_bytes() == key)
            };
            object.has_seen(&key) || object.atoms.iter().any(named)
        };
        // Letters in shortlex order: as many as there are known keys are passed at the most.
        let mut suffix = Vec::new();
        while known(&suffix) {
            let last = suffix.iter().rposition(|&b| b < b'z');
            match last {
                Some(index) => {
                    suffix[index] += 1;
                    suffix[index + 1..].fill(b'a');
                }
                None => suffix = vec![b'a'; suffix.len() + 1],
            }
        }
        suffix
    }

    fn finish_key<'a>(
        &'a self,
        key: &'a KeyLevel,
        object: &ObjectLevel,
        costs: &Costs,
    ) -> Vec<Way<'a>> {
        let mut ways = Vec::new();
        let table = self.tables.get(key.table);
        let pending = |text: &'a str| {
            self.finish_pending(key.string.decoder.text, text, key.key.len(), costs)
        };
        for entry in &table.entries[key.lo as usize..key.hi as usize] {
            for &(position, index) in &entry.owners {
                let atom = &object.atoms[position as usize];
                let info = &self.objects[atom.state.id.index()];
                if !atom.state.allows(info, index) {
                    continue;
                }
                for (after, set) in atom.state.name_forks(info, index) {
                    let Some(mut pieces) = pending(&entry.text) else { continue };
                    pieces.extend([bytes(b"\""), bytes(self.colon()), Piece::Set(set)]);
                    pieces.extend(self.object_end(&after, true, &object.seen, costs));
                    ways.push((pieces, atom.tags.clone()));
                }
            }
        }
        for (position, atom) in object.atoms.iter().enumerate() {
            let ends = self.other_ends(key, object, position, costs).into_iter();
            ways.extend(ends.map(|pieces| (pieces, atom.tags.clone())));
        }
        ways
    }

    /// The end of a key as one that the candidate at `position` does not name and that has not come.
    fn finish_other(
        &self,
        key: &KeyLevel,
        object: &ObjectLevel,
        position: usize,
        costs: &Costs,
    ) -> Option<OtherEnd> {
        let atom = &object.atoms[position].state;
        let info = &self.objects[atom.id.index()];
        let other = info.other.as_ref()?;
        let keys = atom.open_keys(info, &object.seen)?;
        let At::Language(state) = key.other_at(position)? else {
            let (mut end, decoded) = self.finish_free(key.string.decoder.text, costs)?;
            let mut text = [&key.key, decoded.as_slice()].concat();
            let fresh = self.fresh_key(object, &text);
            end.extend_from_slice(&fresh);
            text.extend(fresh);
            return Some(OtherEnd { end, at: At::Free, key: text });
        };
        let chosen = keys.chosen.as_ref()?;
        let text = key.string.decoder.text;
        // A key that has been finished by `end`, if it is a new one.
        let new = |end: Vec<u8>| {
            let mut key = key.clone();
            for &byte in &end {
                self.step_key_level(object, &mut key, byte).ok()?;
            }
            let entry = key.entry(self.table(&key));
            let named = entry.is_some_and(|entry| entry.owned_by(position).is_some());
            if named || object.has_seen(&key.key) {
                return None;
            }
            let at = key.other_at(position)?;
            other.set(at).map(|_| OtherEnd { end, at, key: key.key.to_vec() })
        };
        let shortest = chosen.language().shortest(&costs.alphabet, state, text, 0);
        if let Some(found) = shortest.and_then(new) {
            return Some(found);
        }
        // The shortest is known already: another one, of the keys that go on so.
        let chars: Vec<Option<char>> = if text.is_escape_partial() {
            let ranges = costs.alphabet.pending_chars(text);
            let all = ranges.into_iter().flat_map(|(low, high)| low..=high);
            all.map(char::from_u32).filter(Option::is_some).collect()
        } else {
            vec![None]
        };
        chars.into_iter().find_map(|c| {
            let (mut begun, mut state) = (String::new(), state);
            if let Some(c) = c {
                begun.push(c);
                for byte in begun.bytes() {
                    state = chosen.language().step_byte(state, byte).ok()??;
                }
            }
            let at = if c.is_some() { TextState::START } else { text };
            let (mut found, mut tries) = (None, 0);
            chosen.end_other_than(state, at, |end| {
                tries += 1;
                let spelled = costs.alphabet.spell_end(text, c, end);
                found = spelled.and_then(new);
                // Over a poor vocabulary none of infinitely many may do.
                found.is_none() && tries < MOST_TRIES
            })?;
            found
        })
    }

    /// The end of a free character that is pending: its bytes, and what they decode to.
    fn finish_free(&self, text: TextState, costs: &Costs) -> Option<(Vec<u8>, Vec<u8>)> {
        if text.is_boundary() {
            return Some((Vec::new(), Vec::new()));
        }
        if text.is_raw_partial() {
            let end = costs.alphabet.complete(text, None)?;
            return Some((end.clone(), end));
        }
        let ranges = costs.alphabet.pending_chars(text);
        let fits = |c: &char| ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&u32::from(*c)));
        // Behind the backslash a short escape may do.
        let short = "\"\\/\u{8}\u{C}\n\r\t".chars().filter(fits);
        let first = char::from_u32(ranges.first()?.0);
        let end = |c: char| Some((costs.alphabet.complete(text, Some(c))?, c.to_string().into()));
        first.into_iter().chain(short).filter_map(end).min_by_key(|(end, _)| end.len())
    }

    /// The end of `target`, of which `decoded` bytes have been read, the pending character aside.
    fn finish_pending<'a>(
        &self,
        text: TextState,
        target: &'a str,
        decoded: usize,
        costs: &Costs,
    ) -> Option<Pieces<'a>> {
        if text.is_escape_partial() {
            let rest = target.get(decoded..)?;
            let c = rest.chars().next()?;
            let ranges = costs.alphabet.pending_chars(text);
            let fits = ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&u32::from(c)));
            let end = costs.alphabet.complete(text, Some(c)).filter(|_| fits)?;
            return Some(vec![Piece::Bytes(end.into()), Piece::Text(&rest[c.len_utf8()..])]);
        }
        // Inside a raw character its remaining bytes come first.
        let next = (decoded..=target.len()).find(|&i| target.is_char_boundary(i))?;
        Some(vec![bytes(&target.as_bytes()[decoded..next]), Piece::Text(&target[next..])])
    }

    fn finish_string<'a>(
        &'a self,
        level: &StringLevel,
        atom: &StringAtom,
        costs: &Costs,
    ) -> Option<Pieces<'a>> {
        let decoder = &level.decoder;
        if decoder.text.is_boundary() {
            return self.string_end(atom, decoder, costs);
        }
        match (&self.strings[atom.id.index()], atom.at) {
            (Strings::Free { min, .. }, _) => {
                let (end, _) = self.finish_free(decoder.text, costs)?;
                Some(vec![Piece::Bytes(end.into()), Piece::Fill(min.saturating_sub(decoder.count))])
            }
            (Strings::Finite(texts), At::Finite { lo, hi }) => texts[lo as usize..hi as usize]
                .iter()
                .filter_map(|t| self.finish_pending(decoder.text, t, decoder.len as usize, costs))
                .min_by_key(|pieces| self.cost(pieces, costs)),
            (Strings::Language(language), At::Language(state)) => {
                // `count` includes the pending character, as `shortest_over` wants it.
                let end = language.shortest(&costs.alphabet, state, decoder.text, decoder.count)?;
                Some(vec![Piece::Bytes(end.into())])
            }
            _ => None,
        }
    }
}

fn space(need: bool) -> Piece<'static> {
    bytes(if need { b" " } else { b"" })
}
