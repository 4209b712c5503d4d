//! How a language goes on as long as a text keeps to one class of characters.

use super::string::{At, Decoder, StringAtom};
use super::{Automaton, Full};
use crate::base::ByteSet;
use crate::language::CharClass;
use crate::values::Strings;
use smallvec::SmallVec;

/// A candidate's states along texts of one class: whichever of its characters come, the state
/// depends on how many they are.
#[derive(Debug)]
pub(crate) struct CharChain {
    pub(crate) class: CharClass,
    decoder: Decoder,
    /// The states after 0, 1, 2 … characters; all are live.
    states: Vec<StringAtom>,
    end: End,
}

/// How a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It does not: its last state stays, whichever token comes.
    Stays,
    /// No further character of the class may come.
    Dies,
    /// It was followed no further.
    Cut,
}

/// The chain ends where less than this part of the class goes on.
const KEPT: (usize, usize) = (2, 3);

/// A chain is followed that far: few tokens have more characters.
const MOST_STATES: usize = 32;

/// Of a smaller class there are so few tokens that walking them is as good.
const FEWEST: usize = 12;

impl CharChain {
    /// The most characters of the class that may come, as far as the chain knows.
    pub(crate) fn most(&self) -> u64 {
        if self.end == End::Stays { u64::MAX } else { self.states.len() as u64 - 1 }
    }

    /// Whether it tells nothing of longer texts of the class.
    pub(crate) fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// Decoder and state after `chars` characters of the class; `None` where there are too many.
    pub(crate) fn after(&self, chars: u32) -> Option<(Decoder, StringAtom)> {
        let last = self.states.len() - 1;
        let index = if self.end == End::Stays { last.min(chars as usize) } else { chars as usize };
        let state = *self.states.get(index)?;
        let count = self.decoder.count.saturating_add(u64::from(chars));
        Some((Decoder { count, ..self.decoder }, state))
    }
}

impl Automaton {
    /// The chain of a candidate that stands between two characters; no token begins more than
    /// `reach` characters. `None` for other candidates than languages, and where it is too short, or
    /// its class too small, to be worth anything.
    pub(crate) fn char_chain(
        &self,
        atom: &StringAtom,
        decoder: &Decoder,
        reach: u64,
    ) -> Result<Option<CharChain>, Full> {
        let (At::Language(_), Strings::Language(language)) = (atom.at, self.strings(atom.id))
        else {
            return Ok(None);
        };
        let read = decoder.count;
        // Without a longest text, what is live with few characters is so with many.
        let stays = |state: &StringAtom| {
            let At::Language(state) = state.at else { return false };
            let live = |more| language.live(state, read.saturating_add(more));
            language.lengths().1.is_none() || (1..=reach).all(live)
        };
        let successors = Successors { automaton: self, classes: language.byte_classes() };
        let class = CharClass::all();
        let mut chain = CharChain { class, decoder: *decoder, states: vec![*atom], end: End::Cut };
        while chain.states.len() <= MOST_STATES {
            let Some((at, state)) = chain.after(chain.states.len() as u32 - 1) else { break };
            let before = chain.class;
            let Some((next, ascii)) = successors.commonest(&state, &at, before)? else {
                chain.end = End::Dies;
                chain.class = successors.keep_leads(before, &state, &at, None)?;
                break;
            };
            let (kept, of) = (ascii.len(), before.ascii().count());
            if chain.states.len() > 1 && kept * KEPT.1 < of * KEPT.0 {
                // Texts of the class go on: they would have to be looked for one by one.
                return Ok(None);
            }
            let class = before.filter(|byte| !byte.is_ascii() || ascii.contains(byte));
            chain.class = successors.keep_leads(class, &state, &at, Some(&next))?;
            if next == state && stays(&state) {
                chain.end = End::Stays;
                break;
            }
            chain.states.push(next);
        }
        let long = chain.end == End::Stays || chain.states.len() > 2;
        Ok((long && chain.class.ascii().count() >= FEWEST).then_some(chain))
    }

    /// A candidate after one raw byte, if it lives.
    pub(crate) fn follow_byte(
        &self,
        state: &StringAtom,
        at: &Decoder,
        byte: u8,
    ) -> Result<Option<(Decoder, StringAtom)>, Full> {
        let (mut decoder, mut state) = (*at, *state);
        let reading = decoder.read(byte, self.minimal);
        let live = state.follow(self.strings(state.id), reading, &decoder, self.minimal)?;
        Ok(live.then_some((decoder, state)))
    }
}

/// Where the characters of one language lead.
struct Successors<'a> {
    automaton: &'a Automaton,
    /// The classes of bytes that the language does not tell apart.
    classes: &'a [u8; 256],
}

impl Successors<'_> {
    /// The state to which most ASCII characters of `class` lead, and which they are; `None` where
    /// all die.
    fn commonest(
        &self,
        state: &StringAtom,
        at: &Decoder,
        class: CharClass,
    ) -> Result<Option<(StringAtom, ByteSet)>, Full> {
        // By the language's class of bytes: its characters, and where they lead.
        let mut known: SmallVec<[(u8, ByteSet, Option<StringAtom>); 16]> = SmallVec::new();
        for byte in class.ascii() {
            let of = self.classes[usize::from(byte)];
            if let Some((_, set, _)) = known.iter_mut().find(|(known, ..)| *known == of) {
                set.insert(byte);
            } else {
                let next = self.automaton.follow_byte(state, at, byte)?.map(|(_, next)| next);
                known.push((of, [byte].into_iter().collect(), next));
            }
        }
        let mut sets: SmallVec<[(StringAtom, ByteSet); 4]> = SmallVec::new();
        for (_, set, next) in known {
            let Some(next) = next else { continue };
            match sets.iter_mut().find(|(known, _)| *known == next) {
                Some((_, all)) => set.iter().for_each(|byte| all.insert(byte)),
                None => sets.push((next, set)),
            }
        }
        Ok(sets.into_iter().max_by_key(|(_, set)| set.len()))
    }

    /// The class without those characters beyond ASCII that do not all lead from `state` to `next`;
    /// without `next`: that do not all die.
    fn keep_leads(
        &self,
        class: CharClass,
        state: &StringAtom,
        at: &Decoder,
        next: Option<&StringAtom>,
    ) -> Result<CharClass, Full> {
        // Leads that neither the language nor UTF-8 tells apart lead to the same.
        let (mut last, mut kept) = (None, ByteSet::EMPTY);
        for lead in class.leads() {
            let mut after = *at;
            after.read(lead, true);
            let alike = (self.classes[usize::from(lead)], after.text);
            let keeps = match last {
                Some((known, keeps)) if known == alike => keeps,
                _ => self.leads_to(lead, state, at, next)?,
            };
            last = Some((alike, keeps));
            if keeps {
                kept.insert(lead);
            }
        }
        Ok(class.filter(|byte| byte.is_ascii() || kept.contains(byte)))
    }

    /// Whether all characters that begin with `lead` lead from `state` to `next`, or all die.
    fn leads_to(
        &self,
        lead: u8,
        state: &StringAtom,
        at: &Decoder,
        next: Option<&StringAtom>,
    ) -> Result<bool, Full> {
        let begun = self.automaton.follow_byte(state, at, lead)?;
        let (Some(begun), Some(next)) = (begun, next) else {
            return Ok(begun.is_none() && next.is_none());
        };
        let mut open: SmallVec<[(Decoder, StringAtom); 8]> = SmallVec::from_elem(begun, 1);
        let mut index = 0;
        while let Some(&(at, state)) = open.get(index) {
            index += 1;
            // UTF-8 does not tell them apart.
            let Some((low, high)) = at.text.raw_next() else { return Ok(false) };
            let mut last = None;
            for byte in low..=high {
                let class = self.classes[usize::from(byte)];
                if last.replace(class) == Some(class) {
                    continue;
                }
                match self.automaton.follow_byte(&state, &at, byte)? {
                    None => return Ok(false),
                    Some((after, state)) if after.text.is_boundary() => {
                        if state != *next {
                            return Ok(false);
                        }
                    }
                    Some(pair) if !open.contains(&pair) => open.push(pair),
                    Some(_) => {}
                }
            }
        }
        Ok(true)
    }
}
