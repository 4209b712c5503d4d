//! What a number in progress can still become.

use super::lexer::NumberPhase;
use super::{Kind, NumberCursor, NumberInfo, Verdict};
use smallvec::SmallVec;

/// Zeros and exponents last: they may add nothing.
const BYTES: &[u8] = b"1234567890.e-+";

/// A number's text.
type Text = SmallVec<[u8; 32]>;

impl NumberCursor {
    /// Whether the number, begun as `text`, has an end by which it is `wanted`: of every value that
    /// it can become one text, or more, is asked, until one is. Short ones come early.
    pub(in crate::automaton) fn find_end(
        &self,
        infos: &[NumberInfo],
        text: &[u8],
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        let info = &infos[self.atom.id.index()];
        let mut whole = Text::from_slice(text);
        let mut ends_with = |end: &[u8]| {
            whole.truncate(text.len());
            whole.extend_from_slice(end);
            wanted(&whole)
        };
        let begins = matches!(self.lex.phase, NumberPhase::Start | NumberPhase::Minus);
        if self.lex.is_behind_e() && !self.lex.nonzero {
            // Zero stays zero.
            let end = self.atom.shortest_end(info, &self.lex, |_| true);
            return end.is_some_and(|end| ends_with(&end));
        }
        match &info.0 {
            Kind::Any(any) if any.registers() && !begins => any.find_end(&self.lex, ends_with),
            Kind::Any(any) if any.registers() => BYTES.iter().any(|&byte| {
                let mut next = self.clone();
                let begun = [text, &[byte]].concat();
                next.step_one(info, byte) && next.find_end(infos, &begun, wanted)
            }),
            _ => self.try_ends(info, &mut Text::from_slice(text), wanted),
        }
    }

    /// The same by trying out all bytes, up to one length after the other.
    fn try_ends(
        &self,
        info: &NumberInfo,
        text: &mut Text,
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        let ends =
            |cursor: &NumberCursor| cursor.atom.verdict(info, &cursor.lex) == Verdict::Accept;
        let begun = text.len();
        if ends(self) && wanted(text) {
            return true;
        }
        for most in 1.. {
            let (mut open, mut cut) = (vec![(self.clone(), 0)], false);
            while let Some((cursor, tried)) = open.last_mut() {
                let Some(&byte) = BYTES.get(*tried) else {
                    open.pop();
                    text.truncate(begun + open.len().saturating_sub(1));
                    continue;
                };
                *tried += 1;
                let mut next = cursor.clone();
                if !next.step_one(info, byte) {
                    continue;
                }
                text.push(byte);
                let is_longest = open.len() == most;
                if is_longest && ends(&next) && wanted(text) {
                    return true;
                }
                if is_longest {
                    text.pop();
                    cut = true;
                } else {
                    open.push((next, 0));
                }
            }
            if !cut {
                break;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::number::NumberAtom;
    use crate::automaton::number::lexer::Lex;
    use crate::base::Decimal;
    use crate::options::Numbers;
    use crate::values::{NumberId, NumberShape};
    use std::collections::BTreeSet;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    /// The number begun as `text`; `None` where the set has none such.
    fn begun(infos: &[NumberInfo], text: &str) -> Option<NumberCursor> {
        let lex = if infos[0].registers() { Lex::registering() } else { Lex::START };
        let atom = NumberAtom::new(NumberId::new(0), &infos[0]);
        let mut cursor = NumberCursor { lex, atom };
        text.bytes().all(|byte| cursor.step(infos, byte)).then_some(cursor)
    }

    /// The values of all texts of up to `most` further bytes.
    fn spelled(
        infos: &[NumberInfo],
        cursor: &NumberCursor,
        text: &str,
        most: usize,
    ) -> BTreeSet<Decimal> {
        let mut values = BTreeSet::new();
        values.extend(cursor.is_complete(infos).then(|| decimal(text)));
        for &byte in BYTES.iter().filter(|_| most > 0) {
            let mut next = cursor.clone();
            if next.step(infos, byte) {
                let text = format!("{text}{}", char::from(byte));
                values.extend(spelled(infos, &next, &text, most - 1));
            }
        }
        values
    }

    #[test]
    fn every_value_is_asked() {
        let between = |low: &str, high: &str| {
            let low = NumberShape::at_least(decimal(low), false).unwrap();
            low.intersect(&NumberShape::at_most(decimal(high), false).unwrap()).unwrap()
        };
        let sets = [
            between("0", "12").intersect(&NumberShape::integers(false)).unwrap(),
            between("-2", "200").intersect(&NumberShape::integers(false)).unwrap(),
            between("0", "1.5")
                .intersect(&NumberShape::multiples_of(decimal("0.25")).unwrap())
                .unwrap(),
            NumberShape::of_values(
                ["0", "1", "1.05", "10.5", "-3e2", "0.002"].map(decimal).to_vec(),
            )
            .unwrap(),
        ];
        let beginnings =
            ["", "-", "0", "-0", "1", "1.", "1.0", "10", "1.05", "2", "-2", "0.", "0.0", "0.00"];
        let exponents = ["1e", "1e-", "1e0", "0e", "0.0e1", "10e", "10.5e", "2e-", "-3e", "1e+"];
        for (shape, numbers) in
            sets.iter().flat_map(|set| [(set, Numbers::Plain), (set, Numbers::Any)])
        {
            let infos = [NumberInfo::new(shape, numbers)];
            for text in beginnings.into_iter().chain(exponents) {
                let Some(cursor) = begun(&infos, text) else { continue };
                let mut found = Vec::new();
                cursor.find_end(&infos, text.as_bytes(), &mut |text| {
                    found.push(std::str::from_utf8(text).unwrap().to_owned());
                    false
                });
                for text in &found {
                    let whole = begun(&infos, text).unwrap();
                    assert!(whole.is_complete(&infos), "{text}");
                }
                let values: BTreeSet<Decimal> = found.iter().map(|text| decimal(text)).collect();
                let expected = spelled(&infos, &cursor, text, 4);
                assert!(!values.is_empty());
                let missed: Vec<_> = expected.difference(&values).collect();
                assert!(missed.is_empty(), "{numbers:?} {text:?}: {missed:?}");
                assert!(shape.values_up_to(1_000).is_some_and(|all| values.len() <= all.len()));
            }
        }
    }

    #[test]
    fn a_search_of_endless_sets_stops_where_it_is_told_to() {
        let shape = NumberShape::at_least(decimal("0.1"), false).unwrap();
        for numbers in [Numbers::Plain, Numbers::Any] {
            let infos = [NumberInfo::new(&shape, numbers)];
            for text in ["", "0.", "1", "0.1", "12345.5"] {
                let cursor = begun(&infos, text).unwrap();
                let mut values = BTreeSet::new();
                let found = cursor.find_end(&infos, text.as_bytes(), &mut |text| {
                    values.insert(decimal(std::str::from_utf8(text).unwrap()));
                    values.len() == 300
                });
                assert!(found, "{text}");
            }
        }
    }
}
