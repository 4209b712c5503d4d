//! What stands in brackets.

use super::PatternError;
use super::class;
use super::escape::Escape;
use super::parse::{Last, MAX_WORK, Parser};
use regex_syntax::hir::ClassUnicode;

enum ClassAtom {
    Code(u32),
    Set(ClassUnicode),
    Unknown,
}

impl Parser<'_> {
    pub(super) fn class(&mut self, offset: usize) -> Result<(), PatternError> {
        let negate = self.eat("^");
        let (mut ranges, mut set) = (Vec::new(), Some(ClassUnicode::empty()));
        while !self.eat("]") {
            if self.work > MAX_WORK {
                return Err(PatternError::SIZE);
            }
            let atom_offset = self.offset();
            let first = self.class_atom(offset)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                add_atom(first, &mut ranges, &mut set);
                continue;
            }
            self.bump();
            let last = self.class_atom(offset)?;
            match (first, last) {
                (ClassAtom::Code(low), ClassAtom::Code(high)) if low > high => {
                    return self.invalid(atom_offset, "a class range is out of order");
                }
                (ClassAtom::Code(low), ClassAtom::Code(high)) => ranges.push((low, high)),
                (first, last) => {
                    self.lenient(atom_offset, "has a literal hyphen");
                    let hyphen = ClassAtom::Code(u32::from('-'));
                    for atom in [first, hyphen, last] {
                        add_atom(atom, &mut ranges, &mut set);
                    }
                }
            }
        }
        let Some(mut set) = set else {
            let node = self.tree.unknown();
            self.push(node, Last::Item);
            return Ok(());
        };
        set.union(&class::from_ranges(ranges));
        // Case first: what is equal to an excluded character is excluded.
        if self.flags().fold {
            set = class::folded(set);
        }
        self.push_class(if negate { class::negated(set) } else { set });
        Ok(())
    }

    fn class_atom(&mut self, open: usize) -> Result<ClassAtom, PatternError> {
        match self.bump() {
            None => self.invalid(open, "a `[` without its `]`"),
            Some('\\') => Ok(match self.escape(true)? {
                Escape::Code(code) => ClassAtom::Code(code),
                Escape::Set(set) => {
                    self.work += set.ranges().len();
                    ClassAtom::Set(set)
                }
                _ => ClassAtom::Unknown,
            }),
            Some(c) => Ok(ClassAtom::Code(u32::from(c))),
        }
    }
}

/// Adds to a class, which is `None` where it is not known.
fn add_atom(atom: ClassAtom, ranges: &mut Vec<(u32, u32)>, set: &mut Option<ClassUnicode>) {
    match atom {
        ClassAtom::Code(code) => ranges.push((code, code)),
        ClassAtom::Set(other) => {
            if let Some(set) = set {
                set.union(&other);
            }
        }
        ClassAtom::Unknown => *set = None,
    }
}
