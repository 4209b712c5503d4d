//! Numbers with one candidate: walked with a state smaller than a configuration, and where it does not
//! matter which digits come, not walked at all.

use super::walk::Walk;
use crate::automaton::{Config, Full, NumberCursor, NumberLevel, is_number_byte};
use crate::vocab::Ancestors;

/// Below a node with fewer nodes than this, digits are walked one by one.
const SOME: u32 = 16;

impl Walk<'_> {
    /// Inside a number with one candidate the state is a few words, and what follows the number is
    /// the same wherever it ends.
    pub(super) fn number(
        &mut self,
        start: u32,
        config: &Config,
        level: &NumberLevel,
    ) -> Result<(), Full> {
        let (automaton, trie) = (self.source.automaton, self.trie);
        let Some(atom) = level.atoms.first() else { return Ok(()) };
        let first = NumberCursor { lex: level.lex.clone(), atom: atom.state };
        if self.digits(start, config, level, &first)? {
            return Ok(());
        }
        let mut after: Option<Config> = None;
        let end = trie.skip(start);
        let mut open: Ancestors<NumberCursor> = Ancestors::new();
        let mut node = start + 1;
        while node < end {
            let before = open.above(node).unwrap_or(&first);
            let (byte, skip) = (trie.byte(node), trie.skip(node));
            if is_number_byte(byte) {
                let mut cursor = before.clone();
                if !automaton.step_number(&mut cursor, byte) {
                    node = skip;
                    continue;
                }
                self.added.extend_from_slice(trie.tokens_at(node));
                if skip > node + 1 {
                    open.note(skip, cursor);
                }
                node += 1;
                continue;
            }
            if automaton.ends_number(before) {
                let close = || automaton.close_scalar(config, &atom.tags);
                if let Some(next) = self.step_to(node, after.get_or_insert_with(close))? {
                    self.from(node, &next)?;
                }
            }
            node = skip;
        }
        Ok(())
    }

    /// The same where it does not matter which digits come: the vocabulary knows the tokens that are
    /// digits alone, and where the others end. `false`: it does matter, and nothing was added.
    fn digits(
        &mut self,
        start: u32,
        config: &Config,
        level: &NumberLevel,
        cursor: &NumberCursor,
    ) -> Result<bool, Full> {
        let (automaton, trie, vocabulary) =
            (self.source.automaton, self.trie, self.source.vocabulary);
        let worth = std::ptr::eq(trie, vocabulary.trie()) && trie.skip(start) - start > SOME;
        let Some(run) = automaton.digit_run(cursor).filter(|_| worth) else { return Ok(false) };
        let text = self.source.text.digits(vocabulary, start);
        if run.depends && text.within().most() > u64::from(run.most) {
            return Ok(false);
        }
        self.added.extend_from_slice(text.within().up_to(u64::from(run.most)));
        let mut after: Option<Config> = None;
        for group in text.leaving().iter().filter(|group| group.chars <= run.most) {
            if group.bytes.bytes().iter().all(|&byte| is_number_byte(byte)) {
                self.resume_at(start, config, group.nodes.iter().copied())?;
                continue;
            }
            let close = || automaton.close_scalar(config, &level.atoms[0].tags);
            let after = after.get_or_insert_with(close);
            for &node in &group.nodes {
                if let Some(next) = self.step_to(node, after)? {
                    self.from(node, &next)?;
                }
            }
        }
        Ok(true)
    }
}
