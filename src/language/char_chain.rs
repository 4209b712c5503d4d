//! How a language goes on as long as a text keeps to one class of characters.

use super::automaton::{Full, LangState, Language};
use super::char_class::{Begun, CharClass};
use super::decode::{TextState, TextStep};
use crate::base::ByteSet;
use smallvec::SmallVec;

/// The states of a language along texts of one class: whichever of its characters come, the state
/// depends on how many they are.
#[derive(Debug)]
pub(crate) struct CharChain {
    pub(crate) class: CharClass,
    /// The states after 0, 1, 2 … characters; all are live.
    states: Vec<LangState>,
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

/// So many beginnings of characters beyond ASCII are told apart, and so many bytes looked at for it:
/// what is left out is walked.
const MOST_PARTS: usize = 64;
const MOST_LOOKS: u32 = 4096;

/// Characters are told apart by so many bytes: few tokens differ in the fourth.
const MOST_BYTES: usize = 3;

impl CharChain {
    /// The most characters of the class that may come, as far as the chain knows.
    pub(crate) fn most(&self) -> u64 {
        if self.end == End::Stays { u64::MAX } else { self.states.len() as u64 - 1 }
    }

    /// Whether it tells nothing of longer texts of the class.
    pub(crate) fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// The state after `chars` characters of the class; `None` where there are too many.
    pub(crate) fn after(&self, chars: u32) -> Option<LangState> {
        let last = self.states.len() - 1;
        let index = if self.end == End::Stays { last.min(chars as usize) } else { chars as usize };
        self.states.get(index).copied()
    }
}

impl Language {
    /// The chain from `state`, `count` characters being read; no token begins more than `reach`.
    /// `None` where it is too short, or its class too small, to be worth anything.
    pub(crate) fn char_chain(
        &self,
        state: LangState,
        count: u64,
        reach: u64,
    ) -> Result<Option<CharChain>, Full> {
        // Without a longest text, what is live with few characters is so with many.
        let stays = |state| {
            let live = |more| self.live(state, count.saturating_add(more));
            self.lengths().1.is_none() || (1..=reach).all(live)
        };
        let classes = self.byte_classes();
        let (leads, next) = (runs(classes, LEADS, &LEAD_KINDS), runs(classes, (0x80, 0xBF), &[]));
        let (class, states) = (CharClass::all(), vec![state]);
        let mut ascii: SmallVec<[(u8, ByteSet); 16]> = SmallVec::new();
        for byte in class.ascii().iter() {
            let of = |first: u8| classes[usize::from(first)];
            match ascii.iter_mut().find(|(first, _)| of(*first) == of(byte)) {
                Some((_, set)) => set.insert(byte),
                None => ascii.push((byte, ByteSet::of(&[byte]))),
            }
        }
        let mut successors = Successors { language: self, count, ascii, leads, next };
        let mut chain = CharChain { class, states, end: End::Cut };
        while chain.states.len() <= MOST_STATES {
            let Some(state) = chain.after(chain.states.len() as u32 - 1) else { break };
            successors.count = count.saturating_add(chain.states.len() as u64);
            let Some((next, ascii)) = successors.commonest(state, &chain.class)? else {
                chain.end = End::Dies;
                let ascii = chain.class.ascii_of(ByteSet::FULL);
                chain.class = successors.keep(&chain.class, ascii, state, None)?;
                break;
            };
            let (kept, of) = (ascii.len(), chain.class.ascii().len());
            if chain.states.len() > 1 && kept * KEPT.1 < of * KEPT.0 {
                // Texts of the class go on: they would have to be looked for one by one.
                return Ok(None);
            }
            let ascii = chain.class.ascii_of(ascii);
            chain.class = successors.keep(&chain.class, ascii, state, Some(next))?;
            if next == state && stays(state) {
                chain.end = End::Stays;
                break;
            }
            chain.states.push(next);
        }
        let long = chain.end == End::Stays || chain.states.len() > 2;
        Ok((long && chain.class.ascii().len() >= FEWEST).then_some(chain))
    }
}

/// Where the characters of one language lead.
struct Successors<'a> {
    language: &'a Language,
    /// Characters read, with the one in question.
    count: u64,
    /// The ASCII characters of each class of bytes, and one of them.
    ascii: SmallVec<[(u8, ByteSet); 16]>,
    /// Runs of bytes of one class: of the first bytes of characters beyond ASCII, and of further ones.
    leads: Runs,
    next: Runs,
}

/// The first and the last byte of each run.
type Runs = SmallVec<[(u8, u8); 16]>;

/// The first bytes of characters beyond ASCII, and where UTF-8 tells them apart.
const LEADS: (u8, u8) = (0xC2, 0xF4);
const LEAD_KINDS: [u8; 8] = [0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4];

/// The runs of bytes of one class, which begin anew at each of `cuts`.
fn runs(classes: &[u8; 256], (low, high): (u8, u8), cuts: &[u8]) -> Runs {
    let mut runs = Runs::new();
    for byte in low..=high {
        let class = classes[usize::from(byte)];
        match runs.last_mut() {
            Some((first, last))
                if classes[usize::from(*first)] == class && !cuts.contains(&byte) =>
            {
                *last = byte;
            }
            _ => runs.push((byte, byte)),
        }
    }
    runs
}

/// The decoder's state after a byte that a character may have there.
fn after(text: TextState, byte: u8) -> TextState {
    match text.step(byte, true) {
        TextStep::Raw { state, .. } => state,
        _ => text,
    }
}

impl Successors<'_> {
    /// The state after one raw byte, if it lives.
    fn follow(&self, state: LangState, byte: u8) -> Result<Option<LangState>, Full> {
        let next = self.language.step_byte(state, byte)?;
        Ok(next.filter(|&next| self.language.live(next, self.count)))
    }

    /// The state to which most ASCII characters of `class` lead, and which they are; `None` where
    /// all die.
    fn commonest(
        &self,
        state: LangState,
        class: &CharClass,
    ) -> Result<Option<(LangState, ByteSet)>, Full> {
        let of_class = class.next(Begun::default());
        let mut sets: SmallVec<[(LangState, ByteSet); 4]> = SmallVec::new();
        for &(first, mut set) in &self.ascii {
            set.intersect(of_class);
            let next = if set.is_empty() { None } else { self.follow(state, first)? };
            let Some(next) = next else { continue };
            match sets.iter_mut().find(|(known, _)| *known == next) {
                Some((_, all)) => all.union(set),
                None => sets.push((next, set)),
            }
        }
        Ok(sets.into_iter().max_by_key(|(_, set)| set.len()))
    }

    /// `kept` and those characters of `class` beyond ASCII that lead from `state` to `next`; without
    /// `next`: that die.
    fn keep(
        &self,
        class: &CharClass,
        kept: CharClass,
        state: LangState,
        next: Option<LangState>,
    ) -> Result<CharClass, Full> {
        let known = SmallVec::new();
        let mut keeping = Keeping { successors: self, class, kept, next, known, looks: MOST_LOOKS };
        keeping.below(Begun::default(), false, TextState::START, Some(state))?;
        Ok(keeping.kept)
    }

    /// The runs of bytes with which a character may begin, or go on, at `text`, that neither the
    /// language nor UTF-8 tells apart.
    fn runs(&self, text: TextState) -> impl Iterator<Item = (u8, u8)> {
        let (runs, range) = match text.raw_next() {
            Some(range) => (&self.next, range),
            None => (&self.leads, LEADS),
        };
        let clip = move |&(low, high): &(u8, u8)| (low.max(range.0), high.min(range.1));
        runs.iter().map(clip).filter(|(low, high)| low <= high)
    }
}

/// Which of some characters lead where they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    None,
    Some,
    All,
}

/// A search for the characters of a class that lead to one state.
struct Keeping<'a> {
    successors: &'a Successors<'a>,
    class: &'a CharClass,
    kept: CharClass,
    /// The state; without it they die.
    next: Option<LangState>,
    /// Which of the characters that are begun do so.
    known: SmallVec<[((TextState, LangState), Share); 16]>,
    /// How many more bytes may be looked at.
    looks: u32,
}

impl Keeping<'_> {
    /// Adds those that begin with the bytes `begun`, which led to `text` and `state`; `is_whole`: all
    /// that do are of the class.
    fn below(
        &mut self,
        begun: Begun,
        is_whole: bool,
        text: TextState,
        state: Option<LangState>,
    ) -> Result<(), Full> {
        let mut whole = ByteSet::EMPTY;
        let of_class = if is_whole { ByteSet::FULL } else { self.class.next(begun) };
        let last = begun.bytes().len() + 1 == MOST_BYTES;
        for (low, high) in self.successors.runs(text) {
            let text = after(text, low);
            let state = self.follow(state, low)?;
            let leads = self.share(text, state)?;
            if leads == Share::All {
                whole.insert_range(low, high);
                if is_whole {
                    continue;
                }
            }
            if leads == Share::None || last {
                continue;
            }
            for byte in low..=high {
                let is_whole = of_class.contains(byte);
                let done = is_whole && leads == Share::All;
                let begun = begun.then(byte);
                if !done
                    && (is_whole || self.class.has_part(begun))
                    && self.kept.parts() < MOST_PARTS
                {
                    self.below(begun, is_whole, text, state)?;
                }
            }
        }
        whole.intersect(of_class);
        self.kept.insert(begun, whole);
        Ok(())
    }

    /// The state after one raw byte; `None` where none lives.
    fn follow(&mut self, state: Option<LangState>, byte: u8) -> Result<Option<LangState>, Full> {
        let Some(state) = state else { return Ok(None) };
        self.looks = self.looks.saturating_sub(1);
        self.successors.follow(state, byte)
    }

    /// Which of the characters that are begun, or of the one that has just ended, lead to the state.
    /// Where there are too many to look at, none of them do.
    fn share(&mut self, text: TextState, state: Option<LangState>) -> Result<Share, Full> {
        let Some(inside) = state.filter(|_| !text.is_boundary()) else {
            return Ok(if state == self.next { Share::All } else { Share::None });
        };
        let place = (text, inside);
        if let Some((_, share)) = self.known.iter().find(|(known, _)| *known == place) {
            return Ok(*share);
        }
        let mut all = None;
        let successors = self.successors;
        for (byte, _) in successors.runs(text) {
            if all == Some(Share::Some) {
                break;
            }
            if self.looks == 0 {
                return Ok(Share::None);
            }
            let next = self.follow(state, byte)?;
            let share = self.share(after(text, byte), next)?;
            all = Some(if all.is_none_or(|all| all == share) { share } else { Share::Some });
        }
        let share = all.unwrap_or(Share::None);
        self.known.push((place, share));
        Ok(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Factor};
    use crate::options::Limits;
    use std::sync::Arc;

    fn language(pattern: &str) -> Language {
        let (limits, full) = (Limits::default(), Arc::new(Alphabet::full(false)));
        let factor = Factor::pattern(pattern, &limits).unwrap();
        Language::compile(&[factor], &[], 0, None, &full, &limits).unwrap()
    }

    /// Whether a character is in a class, as whoever walks it finds out.
    fn contains(class: &CharClass, c: char) -> bool {
        let mut begun = Begun::default();
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            if class.next(begun).contains(byte) {
                return true;
            }
            begun = begun.then(byte);
            if !class.has_part(begun) {
                return false;
            }
        }
        false
    }

    #[test]
    fn whichever_characters_of_the_class_come_the_state_is_that_of_the_chain() {
        let patterns = [
            r"^\S+$",
            r"^(?:\S+\s+){0,9}\S+$",
            r"^[^\u2018-\u201f]*$",
            r"^\w{2,40}$",
            r"^.{1,3}$",
            r"^[^\u{1F600}-\u{1F64F}]{4,9}$",
            r"^\p{L}+$",
        ];
        for pattern in patterns {
            let language = language(pattern);
            let start = language.start();
            let chain = language.char_chain(start, 0, 40).unwrap().unwrap();
            let chars =
                (0..=0x10FFFF).filter_map(char::from_u32).filter(|&c| contains(&chain.class, c));
            let mut some = 0;
            for c in chars {
                some += 1;
                for before in 0..4 {
                    let Some(state) = chain.after(before) else { break };
                    let next = language.step_char(state, c).unwrap();
                    let next = next.filter(|&next| language.live(next, u64::from(before) + 1));
                    let known = chain.after(before + 1);
                    let cut = chain.is_cut() && known.is_none();
                    assert!(cut || next == known, "{pattern} {c:?} after {before}");
                }
            }
            assert!(some >= FEWEST, "{pattern}");
        }
    }

    #[test]
    fn characters_are_told_apart_by_three_bytes() {
        let language = language(r"^\S+$");
        let chain = language.char_chain(language.start(), 0, 40).unwrap().unwrap();
        let inside = |c| contains(&chain.class, c);
        assert!(inside('a') && inside('é') && inside('\u{2019}') && inside('あ') && inside('😀'));
        // U+00A0 and U+3000 are blanks; U+200B shares its third byte with none.
        assert!(!inside(' ') && !inside('\u{A0}') && !inside('\u{3000}') && !inside('\u{2003}'));
        assert_eq!((chain.most(), chain.is_cut()), (u64::MAX, false));
    }
}
