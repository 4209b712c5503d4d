//! Numbers: a lexer that all candidates share, and what each adds.
//!
//! The lexer knows JSON's syntax and counts digits; a candidate says which of its states it allows.
//! Every allowed state can be completed. There are four kinds: numbers that nothing restricts
//! ([`free`]) and finite sets of texts in the plain form, bounds and multiples in the plain form
//! ([`sides`]), and everything in the form `any` ([`any`]).

mod any;
mod ends;
mod free;
mod lexer;
mod period;
mod sides;

use super::level::NumberLevel;
use crate::base::SmallBits;
use crate::options::Numbers;
use crate::values::{ANY_DIGITS, NumberId, NumberShape, Spelling};
use any::AnyForm;
use free::{Free, NUMBER_DIGITS};
use rustc_hash::FxHashSet;
use sides::{Progress, Sides};
use std::sync::Arc;

pub(crate) use lexer::Lex;
use lexer::NumberPhase;

/// The states that a search for an end which a poor vocabulary spells looks at.
const MOST_ENDS: usize = 4_096;

/// Whether a text is refused, can be completed, or is complete (and can perhaps go on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Dead,
    Live,
    Accept,
}

/// A set of numbers, ready for stepping.
#[derive(Clone, Debug)]
pub(crate) struct NumberInfo(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Free(Free),
    Finite(Finite),
    Sides(Box<Sides>),
    Any(Box<AnyForm>),
}

/// The texts of finitely many values, without trailing zeros, in byte order.
#[derive(Clone, Debug)]
struct Finite {
    /// No point may come.
    integer: bool,
    /// One must.
    pointed: bool,
    texts: Arc<[Box<str>]>,
}

impl NumberInfo {
    pub(crate) fn new(shape: &NumberShape, numbers: Numbers) -> NumberInfo {
        let digits = shape.spelling() == Spelling::Digits;
        let pointed = shape.spelling() == Spelling::Other;
        NumberInfo(if let (Numbers::Any, false) = (numbers, digits) {
            Kind::Any(Box::new(AnyForm::new(shape)))
        } else if shape.values().is_some() {
            Kind::Finite(Finite::new(shape, numbers))
        } else if shape.is_free() && numbers == Numbers::Plain {
            Kind::Free(Free { integer: shape.is_integer(), pointed })
        } else {
            Kind::Sides(Box::new(Sides::new(shape, numbers)))
        })
    }

    /// Whether the lexer has to keep the digits for it.
    pub(crate) fn registers(&self) -> bool {
        match &self.0 {
            Kind::Free(_) | Kind::Finite(_) => false,
            Kind::Sides(sides) => sides.registers,
            Kind::Any(any) => any.registers(),
        }
    }
}

impl Finite {
    fn new(shape: &NumberShape, numbers: Numbers) -> Finite {
        let integer = shape.is_integer();
        let pointed = shape.spelling() == Spelling::Other;
        let mut texts: Vec<Box<str>> = Vec::new();
        for value in shape.values().into_iter().flat_map(|values| values.iter()) {
            let text = value.to_plain_text().map(String::into_boxed_str);
            // Behind as many digits as there may be, no point comes any more.
            let bare = |text: &str| !text.contains('.') && text.len() >= NUMBER_DIGITS as usize;
            texts.extend(text.filter(|text| !(pointed && bare(text))));
            if value.is_zero() && numbers == Numbers::Any {
                texts.push("-0".into());
            } else if value.is_zero() && !integer {
                texts.push("-0.0".into());
            }
        }
        texts.sort_unstable();
        Finite { integer, pointed, texts: texts.into() }
    }
}

/// A candidate inside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberAtom {
    pub(crate) id: NumberId,
    /// The texts that begin with what has been read (finite sets).
    lo: u32,
    hi: u32,
    /// A whole text has been read, and then only a point or zeros that add nothing.
    tail: bool,
    /// How it compares with the ends (sides).
    progress: Progress,
}

impl NumberAtom {
    pub(crate) fn new(id: NumberId, info: &NumberInfo) -> NumberAtom {
        let hi = match &info.0 {
            Kind::Finite(finite) => finite.texts.len() as u32,
            _ => 0,
        };
        NumberAtom { id, lo: 0, hi, tail: false, progress: Progress::START }
    }

    /// Reads `byte`, by which the lexer went to `lex`.
    #[inline]
    fn step(&mut self, info: &NumberInfo, lex: &Lex, byte: u8) -> bool {
        match &info.0 {
            Kind::Free(_) | Kind::Any(_) => {}
            Kind::Sides(sides) => sides.step(&mut self.progress, lex, byte),
            Kind::Finite(finite) => {
                let depth = lex.bytes as usize - 1;
                let whole = finite.texts[self.range()].first().is_some_and(|t| t.len() == depth);
                let zeros = match byte {
                    b'.' => true,
                    b'0' => matches!(lex.phase, NumberPhase::Fraction),
                    _ => false,
                };
                self.tail = !finite.integer && zeros && (self.tail || whole);
                self.narrow(&finite.texts, depth, byte);
            }
        }
        self.verdict(info, lex) != Verdict::Dead
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.lo as usize..self.hi as usize
    }

    /// Keeps the texts whose byte at `depth` is `byte`.
    fn narrow(&mut self, texts: &[Box<str>], depth: usize, byte: u8) {
        let inside = &texts[self.range()];
        let at = |text: &str| text.as_bytes().get(depth).copied();
        let lo = inside.partition_point(|t| at(t) < Some(byte));
        let hi = inside.partition_point(|t| at(t) <= Some(byte));
        (self.lo, self.hi) = (self.lo + lo as u32, self.lo + hi as u32);
    }

    fn verdict(&self, info: &NumberInfo, lex: &Lex) -> Verdict {
        match &info.0 {
            Kind::Free(free) => free.verdict(lex),
            Kind::Sides(sides) => sides.verdict(lex, &self.progress),
            Kind::Any(any) => any.verdict(lex),
            Kind::Finite(finite) => self.finite_verdict(finite, lex),
        }
    }

    fn finite_verdict(&self, finite: &Finite, lex: &Lex) -> Verdict {
        let whole = finite.texts[self.range()].first();
        if whole.is_some_and(|t| t.len() == lex.bytes as usize) {
            let bare = matches!(lex.phase, NumberPhase::Zero | NumberPhase::Integer);
            return if finite.pointed && bare { Verdict::Live } else { Verdict::Accept };
        }
        let tail = match (self.tail, lex.phase) {
            (true, NumberPhase::Point) if lex.digits < NUMBER_DIGITS => Verdict::Live,
            (true, NumberPhase::Fraction) if lex.digits <= NUMBER_DIGITS => Verdict::Accept,
            _ => Verdict::Dead,
        };
        if tail == Verdict::Dead && self.lo < self.hi { Verdict::Live } else { tail }
    }

    /// The shortest end of the number that can be spelled; in the form `any` a short one.
    pub(crate) fn shortest_end(
        &self,
        info: &NumberInfo,
        lex: &Lex,
        spells: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        if let Kind::Free(free) = &info.0 {
            return free.ends(lex).iter().find(|end| spells(end)).map(|end| end.to_vec());
        }
        let end = match (&info.0, self.verdict(info, lex)) {
            (_, Verdict::Accept) => return Some(Vec::new()),
            (Kind::Finite(finite), _) => {
                let ends = finite.texts[self.range()].iter().map(|text| {
                    let point = if finite.pointed && !text.contains('.') { ".0" } else { "" };
                    [&text.as_bytes()[lex.bytes as usize..], point.as_bytes()].concat()
                });
                let zero = (self.tail && lex.digits < NUMBER_DIGITS).then(|| b"0".to_vec());
                ends.chain(zero).filter(|end| spells(end)).min_by_key(Vec::len)
            }
            _ => self.direct_end(info, lex),
        };
        end.filter(|end| spells(end)).or_else(|| self.searched_end(info, lex, spells))
    }

    /// An end by arithmetic, over all bytes.
    fn direct_end(&self, info: &NumberInfo, lex: &Lex) -> Option<Vec<u8>> {
        let begins = matches!(lex.phase, NumberPhase::Start | NumberPhase::Minus);
        match &info.0 {
            Kind::Sides(sides) if !begins => sides.end(lex, &self.progress),
            Kind::Any(any) if !begins => any.end(lex),
            _ => {
                let first = |byte: u8| {
                    let mut cursor = NumberCursor { lex: lex.clone(), atom: *self };
                    let mut end = vec![byte];
                    if !cursor.step_one(info, byte) {
                        return None;
                    }
                    end.extend(cursor.atom.direct_end(info, &cursor.lex)?);
                    Some(end)
                };
                (b'0'..=b'9').chain([b'-']).filter_map(first).min_by_key(Vec::len)
            }
        }
    }

    /// The shortest end over the bytes that can be spelled, state by state. It gives up where there
    /// are very many.
    fn searched_end(
        &self,
        info: &NumberInfo,
        lex: &Lex,
        spells: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let bytes: Vec<u8> = (0..=255).filter(|&b| is_number_byte(b) && spells(&[b])).collect();
        let mut seen = FxHashSet::default();
        let mut queue = std::collections::VecDeque::new();
        queue.push_back((NumberCursor { lex: lex.clone(), atom: *self }, Vec::new()));
        while let Some((cursor, end)) = queue.pop_front() {
            if cursor.atom.verdict(info, &cursor.lex) == Verdict::Accept {
                return Some(end);
            }
            for &byte in &bytes {
                let mut next = cursor.clone();
                if next.step_one(info, byte)
                    && seen.len() < MOST_ENDS
                    && seen.insert(next.key(info))
                {
                    queue.push_back((next, [end.as_slice(), &[byte]].concat()));
                }
            }
        }
        None
    }

    /// What of a candidate masks depend on.
    pub(crate) fn essence(&self, infos: &[NumberInfo], lex: &Lex) -> NumberAtom {
        let Kind::Sides(sides) = &infos[self.id.index()].0 else { return *self };
        NumberAtom { progress: sides.essence(lex, &self.progress), ..*self }
    }
}

/// One candidate's whole state: small, so that a walk can copy it.
#[derive(Clone, Debug)]
pub(crate) struct NumberCursor {
    pub(crate) lex: Lex,
    pub(crate) atom: NumberAtom,
}

impl NumberCursor {
    /// Reads one byte of the number; `false` where the candidate does not allow it.
    pub(super) fn step(&mut self, infos: &[NumberInfo], byte: u8) -> bool {
        self.step_one(&infos[self.atom.id.index()], byte)
    }

    #[inline]
    fn step_one(&mut self, info: &NumberInfo, byte: u8) -> bool {
        self.lex.advance(byte) && self.atom.step(info, &self.lex, byte)
    }

    /// What the search for an end tells apart.
    fn key(&self, info: &NumberInfo) -> (Lex, NumberAtom) {
        (relevant(&self.lex, std::iter::once(info)), self.atom)
    }

    /// How many more digits may come, whichever they are, so that what has been read with them is a
    /// whole number each time. `None` where that is no plain matter.
    pub(super) fn digit_run(&self, infos: &[NumberInfo]) -> Option<DigitRun> {
        if !matches!(self.lex.phase, NumberPhase::Integer | NumberPhase::Fraction) {
            return None;
        }
        match &infos[self.atom.id.index()].0 {
            Kind::Free(free) => free.digit_run(&self.lex),
            Kind::Sides(sides) => sides.digit_run(&self.lex, &self.atom.progress),
            Kind::Finite(_) | Kind::Any(_) => None,
        }
    }

    /// Whether the text so far is a whole number.
    pub(super) fn is_complete(&self, infos: &[NumberInfo]) -> bool {
        self.atom.verdict(&infos[self.atom.id.index()], &self.lex) == Verdict::Accept
    }
}

/// How a number goes on with digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DigitRun {
    /// So many may come, whichever they are.
    pub(crate) most: u32,
    /// Of more it depends on which they are; else there may be no more.
    pub(crate) depends: bool,
}

/// Whether numbers are made of such bytes; any other ends one.
pub(crate) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// What has been read, as far as candidates of these kinds can tell it apart.
fn relevant<'i>(lex: &Lex, infos: impl Iterator<Item = &'i NumberInfo> + Clone) -> Lex {
    let mut lex = lex.clone();
    // Only texts of finite sets are compared byte by byte.
    if !infos.clone().any(|info| matches!(info.0, Kind::Finite(_))) {
        lex.bytes = 0;
    }
    // Only free numbers have exponents to which the mantissa's size matters; with the digits
    // themselves, their size is known.
    let free = infos.clone().any(|info| matches!(info.0, Kind::Free(Free { integer: false, .. })));
    if !free {
        (lex.magnitude, lex.power) = (0, false);
        // Zero so far, a sign before it asks for a point.
        lex.nonzero &= infos.clone().any(|info| matches!(info.0, Kind::Sides(_) | Kind::Any(_)));
    }
    if !infos.clone().any(NumberInfo::registers) {
        lex.register = None;
    }
    let places = infos.map(|info| match &info.0 {
        Kind::Free(Free { integer: false, .. }) if !lex.nonzero => u32::MAX,
        Kind::Free(_) | Kind::Finite(_) => 0,
        Kind::Sides(sides) => sides.places().saturating_add(1),
        Kind::Any(_) => u32::MAX,
    });
    lex.fraction = lex.fraction.min(places.max().unwrap_or(0));
    lex
}

/// With so many more digits there are more values than are ever kept.
const ROOMY_DIGITS: u32 = 7;

impl NumberLevel {
    /// Whether the number, wherever it stands, can become more values than are ever kept.
    pub(super) fn is_roomy(&self, infos: &[NumberInfo]) -> bool {
        use NumberPhase::{Fraction, Integer, Minus, Point, Zero};
        let within = |most: u32| self.lex.digits.saturating_add(ROOMY_DIGITS) <= most;
        self.atoms.iter().all(|atom| match (&infos[atom.state.id.index()].0, self.lex.phase) {
            (Kind::Free(_), Minus | Integer | Point | Fraction) => within(NUMBER_DIGITS),
            (Kind::Free(free), Zero) => !free.integer,
            (Kind::Any(any), Minus | Zero | Integer | Point | Fraction) => {
                within(ANY_DIGITS as u32) && any.is_endless(&self.lex)
            }
            _ => false,
        })
    }

    /// Reads one byte of the number; `false` where no candidate allows it.
    pub(crate) fn step(&mut self, infos: &[NumberInfo], byte: u8) -> bool {
        if !self.lex.advance(byte) {
            return false;
        }
        let lex = &self.lex;
        self.atoms.retain(|atom| {
            let info = &infos[atom.state.id.index()];
            atom.state.step(info, lex, byte)
        });
        !self.atoms.is_empty()
    }

    /// What has been read, as far as the candidates can tell it apart.
    pub(crate) fn relevant_lex(&self, infos: &[NumberInfo]) -> Lex {
        relevant(&self.lex, self.atoms.iter().map(|atom| &infos[atom.state.id.index()]))
    }

    /// What the candidates of which the text so far is a whole number serve.
    pub(crate) fn complete(&self, infos: &[NumberInfo]) -> SmallBits {
        let done = |state: &NumberAtom| {
            state.verdict(&infos[state.id.index()], &self.lex) == Verdict::Accept
        };
        let mut tags = SmallBits::default();
        let whole = self.atoms.iter().filter(|atom| done(&atom.state));
        whole.for_each(|atom| tags.union(&atom.tags));
        tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::level::{Atom, Atoms};
    use crate::base::Decimal;

    fn accepts(shape: &NumberShape, text: &str) -> Option<bool> {
        let infos = [NumberInfo::new(shape, Numbers::Plain)];
        let atom = NumberAtom::new(NumberId::new(0), &infos[0]);
        let atoms = Atoms::from_iter([Atom { tags: SmallBits::single(0), state: atom }]);
        let lex = if infos[0].registers() { Lex::registering() } else { Lex::START };
        let mut level = NumberLevel { lex, atoms };
        text.bytes().all(|b| level.step(&infos, b)).then(|| !level.complete(&infos).is_empty())
    }

    /// `true` accepted, `false` only a beginning, `None` refused.
    #[test]
    fn plain_integers() {
        let integer = NumberShape::integers(false);
        for text in ["0", "7", "-1", "123456789012345678", "-999999999999999999"] {
            assert_eq!(accepts(&integer, text), Some(true), "{text}");
        }
        assert_eq!(accepts(&integer, "-"), Some(false));
        for text in ["-0", "00", "01", "1.", "1e", "1234567890123456789", "+1"] {
            assert_eq!(accepts(&integer, text), None, "{text}");
        }
    }

    #[test]
    fn plain_numbers() {
        let number = NumberShape::ANY;
        for text in [
            "0",
            "1.50",
            "-0.0",
            "-0e1",
            "1e306",
            "9.99E+306",
            "1e-307",
            "0.001e-304",
            "0e307",
            "1e007",
            "123456789012345678",
        ] {
            let expected = if text == "0e307" { None } else { Some(true) };
            assert_eq!(accepts(&number, text), expected, "{text}");
        }
        for text in ["-0", "1.", "1e", "1e-", "-"] {
            assert_eq!(accepts(&number, text), Some(false), "{text}");
        }
        let long = [
            "2e307",
            "1e308",
            "10.1e306",
            "0.001e-305",
            "1e0000",
            "01",
            "1.2.3",
            "1234567890123456789",
            "123456789012345678.",
            "123456789012345678e",
        ];
        for text in long.iter().chain(&["0.12345678901234567", "1234567890123456.78"]) {
            assert_eq!(accepts(&number, text), None, "{text}");
        }
    }

    #[test]
    fn finite_values_by_value() {
        let values = |integer, texts: &[&str]| {
            let values = texts.iter().map(|t| Decimal::parse(t).unwrap()).collect();
            let values = NumberShape::of_values(values).unwrap();
            if integer { values.intersect(&NumberShape::integers(false)).unwrap() } else { values }
        };
        let some = values(false, &["1", "1.05", "0", "-2e2", "12"]);
        for text in
            ["1", "1.0", "1.000", "1.05", "1.0500", "0", "0.0", "-0.0", "-200", "-200.0", "12"]
        {
            assert_eq!(accepts(&some, text), Some(true), "{text}");
        }
        for text in ["1.", "-", "-0", "-0.", "-2", "-20"] {
            assert_eq!(accepts(&some, text), Some(false), "{text}");
        }
        for text in ["2", "1.1", "1e", "1.06", "-1", "-201", "1.00000000000000000"] {
            assert_eq!(accepts(&some, text), None, "{text}");
        }
        // Behind as many zeros as may be added, only the longer text is left.
        let infos = [NumberInfo::new(&values(false, &["0", "43e-21"]), Numbers::Plain)];
        let atom = NumberAtom::new(NumberId::new(0), &infos[0]);
        let mut cursor = NumberCursor { lex: Lex::START, atom };
        assert!(b"0.00000000000000000".iter().all(|&byte| cursor.step(&infos, byte)));
        let end = cursor.atom.shortest_end(&infos[0], &cursor.lex, |_| true);
        assert_eq!(end.as_deref(), Some(&b"0043"[..]));
        // What wants a point is completed with one, wherever it stands.
        let digits = NumberShape::integers(true).negate().unwrap();
        let pointed =
            digits.iter().filter_map(|other| other.intersect(&values(false, &["1", "25"])));
        let infos: Vec<NumberInfo> =
            pointed.map(|shape| NumberInfo::new(&shape, Numbers::Plain)).collect();
        assert_eq!(infos.len(), 1);
        for (begun, expected) in [("", "1.0"), ("1", ".0"), ("2", "5.0"), ("25", ".0"), ("1.", "0")]
        {
            let atom = NumberAtom::new(NumberId::new(0), &infos[0]);
            let mut cursor = NumberCursor { lex: Lex::START, atom };
            assert!(begun.bytes().all(|byte| cursor.step(&infos, byte)));
            let end = cursor.atom.shortest_end(&infos[0], &cursor.lex, |_| true);
            assert_eq!(end.as_deref(), Some(expected.as_bytes()), "{begun}");
        }
        let integers = values(true, &["1", "20"]);
        assert_eq!(accepts(&integers, "1.0"), None);
        assert_eq!(accepts(&integers, "20"), Some(true));
    }

    /// Bounds as in the tests of the algebra: `[1`, `(1`, `1]`, `1)`, `i`, `*2`.
    fn bounded(text: &str) -> NumberShape {
        text.split_whitespace().fold(NumberShape::ANY, |all, part| {
            let (first, rest) = part.split_at(1);
            let number = |text: &str| Decimal::parse(text).unwrap();
            let one = match first {
                "i" => NumberShape::integers(false),
                "*" => NumberShape::multiples_of(number(rest)).unwrap(),
                "[" => NumberShape::at_least(number(rest), false).unwrap(),
                "(" => NumberShape::at_least(number(rest), true).unwrap(),
                _ => {
                    let open = part.ends_with(')');
                    NumberShape::at_most(number(&part[..part.len() - 1]), open).unwrap()
                }
            };
            all.intersect(&one).unwrap()
        })
    }

    #[test]
    fn bounds_and_multiples() {
        for (shape, whole, begun, dead) in [
            (
                "[0",
                "0 5 0.5 123456789012345678 1.5000000000000000",
                "0. -",
                "1e -1 1.50000000000000000",
            ),
            ("i [20 25]", "20 25", "2", "1 26 3 200 0 2."),
            ("(0 0.01]", "0.01 0.001 0.010", "0 0. 0.0", "0.02 1 - 0.011"),
            ("[-1 0]", "0 0.0 -0.0 -1 -1.0 -0.5", "- -0 -1. -1.", "1 -1.1 0.1"),
            ("[0 0.0]", "0 0.0 -0.0 0.0000000000000000", "- -0 0.", "1 0.1 -1 0.00000000000000000"),
            ("*0.01", "0 1.25 -0.0 4.350 123456789012345 -1", "- 1. -0", "1.255 1e"),
            ("i *1000003", "0 1000003 -2000006 999002997", "1 9", "-0 1.0 01"),
            ("[1e400 1e401)", "", "1 9", "0 - 1."),
            ("(0 1e-400)", "", "0 0. 0.000", "1 0.1"),
            ("i (1 3)", "2", "", "1 3 20"),
            ("*5", "5 10.0 -15", "- 1 2.", "1.1 2.5"),
            ("i [-9007199254740991 9007199254740991]", "9007199254740991", "", "9007199254740992"),
            ("i [0 18446744073709551615]", "18446744073709551615", "", "18446744073709551616"),
            (
                "i *100000000000000000000",
                "0 100000000000000000000",
                "1 10 5",
                "1.0 1000000000000000000000",
            ),
        ] {
            let of = bounded(shape);
            for text in whole.split_whitespace() {
                assert_eq!(accepts(&of, text), Some(true), "{shape} · {text}");
            }
            for text in begun.split_whitespace() {
                // `2.` is a beginning of multiples of 5 only where 2 is.
                let expected = if shape == "*5" && text == "2." { None } else { Some(false) };
                assert_eq!(accepts(&of, text), expected, "{shape} · {text}");
            }
            for text in dead.split_whitespace() {
                assert_eq!(accepts(&of, text), None, "{shape} · {text}");
            }
        }
    }
}
