//! Candidates of strings along texts of one class of characters.

use super::string::{At, Decoder, Reading, StringAtom};
use super::{Automaton, Full};
pub(crate) use crate::language::CharChain;
use crate::values::Strings;

impl Automaton {
    /// The chain of a candidate; no token begins more than `reach` characters. `None` for other
    /// candidates than languages, inside a character, and where it is worth nothing.
    pub(crate) fn char_chain(
        &self,
        atom: &StringAtom,
        decoder: &Decoder,
        reach: u64,
    ) -> Result<Option<CharChain>, Full> {
        match (atom.at, self.strings(atom.id)) {
            (At::Language(state), Strings::Language(language)) if decoder.text.is_boundary() => {
                language.char_chain(state, decoder.count, reach)
            }
            _ => Ok(None),
        }
    }

    /// Decoder and candidate after `chars` characters of the class of `chain`, which begins there;
    /// `None` where there are too many.
    pub(crate) fn along(
        &self,
        chain: &CharChain,
        atom: &StringAtom,
        decoder: &Decoder,
        chars: u32,
    ) -> Option<(Decoder, StringAtom)> {
        let atom = StringAtom { id: atom.id, at: At::Language(chain.after(chars)?) };
        let count = decoder.count.saturating_add(u64::from(chars));
        Some((Decoder { count, ..*decoder }, atom))
    }

    /// A candidate after one raw byte, if it lives.
    #[inline]
    pub(crate) fn follow_byte(
        &self,
        state: &StringAtom,
        at: &Decoder,
        byte: u8,
    ) -> Result<Option<(Decoder, StringAtom)>, Full> {
        let (mut decoder, mut state) = (*at, *state);
        let reading = decoder.read(byte, self.minimal);
        // By far the most: one byte of a language.
        if let (Reading::Bytes([decoded, ..], 1), At::Language(before)) = (reading, state.at)
            && let Strings::Language(language) = self.strings(state.id)
        {
            let next = language.step_byte(before, decoded)?;
            let next = next.filter(|&next| language.live(next, decoder.count));
            return Ok(next.map(|next| {
                state.at = At::Language(next);
                (decoder, state)
            }));
        }
        let live = state.follow(self.strings(state.id), reading, &decoder, self.minimal)?;
        Ok(live.then_some((decoder, state)))
    }
}
