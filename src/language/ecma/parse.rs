//! The parser: one pass, an explicit stack of open groups.

use super::PatternError;
use super::class;
use super::escape::Escape;
use super::tree::{NodeId, Tree};
use regex_syntax::hir::{ClassUnicode, Hir, Look};

/// Reads an ECMA-262 pattern.
///
/// # Errors
/// Invalid where it is none (this comes before the others); unsupported or a limit where it
/// cannot be compiled.
pub(in crate::language) fn parse(text: &str) -> Result<Hir, PatternError> {
    if text.len() > MAX_TEXT {
        return Err(PatternError::Limit { name: "pattern_bytes" });
    }
    let mut parser = Parser {
        text,
        position: 0,
        tree: Tree::default(),
        frames: vec![Frame::default()],
        unsupported: None,
        work: 0,
    };
    while parser.item()? {}
    let root = parser.finish()?;
    match parser.unsupported {
        Some(what) => Err(PatternError::Unsupported { what }),
        None => parser.tree.into_hir(root),
    }
}

/// A group that is open.
#[derive(Default)]
struct Frame {
    offset: usize,
    alternatives: Vec<NodeId>,
    items: Vec<NodeId>,
    /// Whether the last item may take a quantifier.
    quantifiable: bool,
}

pub(super) struct Parser<'a> {
    text: &'a str,
    position: usize,
    tree: Tree,
    frames: Vec<Frame>,
    /// The first feature that is legal and not compiled.
    unsupported: Option<&'static str>,
    /// Ranges of classes met so far: they take memory before the automaton does.
    work: usize,
}

/// Bytes of a pattern's text above which it is not read.
const MAX_TEXT: usize = 1 << 20;

/// Ranges of all classes of a pattern together, above which it is not read further.
const MAX_WORK: usize = 1 << 19;

enum ClassAtom {
    Code(u32),
    Set(ClassUnicode),
}

impl Parser<'_> {
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or("")
    }

    pub(super) fn offset(&self) -> usize {
        self.position
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += c.len_utf8();
        Some(c)
    }

    /// Skips bytes that were looked at.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.position += bytes;
    }

    /// Goes back over bytes that were read.
    pub(super) fn rewind(&mut self, bytes: usize) {
        self.position -= bytes;
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    fn invalid<T>(&self, offset: usize, reason: &'static str) -> Result<T, PatternError> {
        Err(PatternError::Invalid { offset, reason })
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn push(&mut self, node: NodeId, quantifiable: bool) {
        let frame = self.frame();
        frame.items.push(node);
        frame.quantifiable = quantifiable;
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.work += class.ranges().len();
        let node = self.tree.class(class);
        self.push(node, true);
    }

    fn push_code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) => {
                let node = self.tree.char(c);
                self.push(node, true);
            }
            // A lone surrogate: no string has it.
            None => self.push_class(ClassUnicode::empty()),
        }
    }

    fn note_unsupported(&mut self, what: &'static str) {
        self.unsupported.get_or_insert(what);
    }

    /// Reads one item of the pattern; `false` at its end.
    fn item(&mut self) -> Result<bool, PatternError> {
        let offset = self.position;
        let Some(c) = self.bump() else { return Ok(false) };
        if self.work > MAX_WORK {
            return Err(PatternError::Limit { name: "pattern_bytes" });
        }
        match c {
            '|' => {
                let items = std::mem::take(&mut self.frame().items);
                let branch = self.tree.concat(items);
                let frame = self.frame();
                frame.alternatives.push(branch);
                frame.quantifiable = false;
            }
            '(' => self.open(offset)?,
            ')' => self.close(offset)?,
            '[' => self.class(offset)?,
            '.' => self.push_class(class::dot()),
            '^' | '$' => {
                let look = if c == '^' { Look::Start } else { Look::End };
                let node = self.tree.look(look);
                self.push(node, false);
            }
            '*' => self.quantify(offset, 0, None)?,
            '+' => self.quantify(offset, 1, None)?,
            '?' => self.quantify(offset, 0, Some(1))?,
            '{' => match self.bounds(offset)? {
                Some((min, max)) => self.quantify(offset, min, max)?,
                None => self.push_code(u32::from('{')),
            },
            '\\' => match self.escape(false)? {
                Escape::Code(code) => self.push_code(code),
                Escape::Set(set) => self.push_class(set),
                Escape::Unsupported { what, quantifiable } => {
                    self.note_unsupported(what);
                    let node = self.tree.empty();
                    self.push(node, quantifiable);
                }
            },
            c => self.push_code(u32::from(c)),
        }
        Ok(true)
    }

    fn open(&mut self, offset: usize) -> Result<(), PatternError> {
        if self.eat("?") {
            self.group_kind(offset)?;
        }
        self.frames.push(Frame { offset, ..Frame::default() });
        Ok(())
    }

    /// What stands between `(?` and the group's content.
    fn group_kind(&mut self, offset: usize) -> Result<(), PatternError> {
        if self.eat(":") {
            return Ok(());
        }
        if self.eat("=") || self.eat("!") || self.eat("<=") || self.eat("<!") {
            self.note_unsupported("look-around");
            return Ok(());
        }
        if self.eat("<") {
            let end = self.rest().find('>').unwrap_or(0);
            let name = &self.rest()[..end];
            let good = |c: char| c.is_alphanumeric() || "_$\\{}".contains(c);
            if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(good) {
                return self.invalid(offset, "a malformed group name");
            }
            self.advance(end + 1);
            return Ok(());
        }
        let flags = self.rest().find(|c| !"ims-".contains(c)).unwrap_or(0);
        if flags > 0 && self.rest()[flags..].starts_with(':') {
            self.advance(flags + 1);
            self.note_unsupported("modifiers");
            return Ok(());
        }
        self.invalid(offset, "an unknown kind of group")
    }

    fn close(&mut self, offset: usize) -> Result<(), PatternError> {
        if self.frames.len() < 2 {
            return self.invalid(offset, "a `)` without its `(`");
        }
        let node = self.pop_frame();
        self.push(node, true);
        Ok(())
    }

    fn pop_frame(&mut self) -> NodeId {
        let Frame { mut alternatives, items, .. } = self.frames.pop().unwrap_or_default();
        let last = self.tree.concat(items);
        alternatives.push(last);
        self.tree.alternation(alternatives)
    }

    fn finish(&mut self) -> Result<NodeId, PatternError> {
        if self.frames.len() > 1 {
            let offset = self.frame().offset;
            return self.invalid(offset, "a `(` without its `)`");
        }
        Ok(self.pop_frame())
    }

    fn quantify(&mut self, offset: usize, min: u32, max: Option<u32>) -> Result<(), PatternError> {
        let greedy = !self.eat("?");
        let frame = self.frame();
        if !std::mem::take(&mut frame.quantifiable) {
            return self.invalid(offset, "a quantifier without anything to repeat");
        }
        if let Some(child) = frame.items.pop() {
            let node = self.tree.repeat(child, min, max, greedy);
            self.push(node, false);
        }
        Ok(())
    }

    /// The bounds after `{`, or `None` (and nothing is read) where the brace is literal.
    fn bounds(&mut self, offset: usize) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        let rest = self.rest();
        let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != ',') else {
            return Ok(None);
        };
        if !rest[end..].starts_with('}') {
            return Ok(None);
        }
        let inner = &rest[..end];
        let (low, high) = match inner.split_once(',') {
            None => (inner, Some(inner)),
            Some((low, "")) => (low, None),
            Some((low, high)) if !high.contains(',') => (low, Some(high)),
            Some(_) => return Ok(None),
        };
        if low.is_empty() {
            return Ok(None);
        }
        let number = |digits: &str| digits.parse::<u64>().unwrap_or(u64::MAX);
        let (low, high) = (number(low), high.map(number));
        if high.is_some_and(|high| high < low) {
            return self.invalid(offset, "the bounds of a quantifier are out of order");
        }
        self.advance(end + 1);
        let clip = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Some((clip(low), high.map(clip))))
    }

    fn class(&mut self, offset: usize) -> Result<(), PatternError> {
        let negate = self.eat("^");
        let (mut ranges, mut set) = (Vec::new(), ClassUnicode::empty());
        while !self.eat("]") {
            if self.work > MAX_WORK {
                return Err(PatternError::Limit { name: "pattern_bytes" });
            }
            let atom_offset = self.position;
            let first = self.class_atom(offset)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if is_range {
                self.bump();
                let last = self.class_atom(offset)?;
                match (first, last) {
                    (ClassAtom::Code(low), ClassAtom::Code(high)) if low > high => {
                        return self.invalid(atom_offset, "a class range is out of order");
                    }
                    (ClassAtom::Code(low), ClassAtom::Code(high)) => ranges.push((low, high)),
                    (first, last) => {
                        let hyphen = ClassAtom::Code(u32::from('-'));
                        for atom in [first, hyphen, last] {
                            add_atom(atom, &mut ranges, &mut set);
                        }
                    }
                }
            } else {
                add_atom(first, &mut ranges, &mut set);
            }
        }
        set.union(&class::from_ranges(ranges));
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
                Escape::Unsupported { what, .. } => {
                    self.note_unsupported(what);
                    ClassAtom::Set(ClassUnicode::empty())
                }
            }),
            Some(c) => Ok(ClassAtom::Code(u32::from(c))),
        }
    }
}

fn add_atom(atom: ClassAtom, ranges: &mut Vec<(u32, u32)>, set: &mut ClassUnicode) {
    match atom {
        ClassAtom::Code(code) => ranges.push((code, code)),
        ClassAtom::Set(other) => set.union(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Factor, Language};
    use crate::options::Limits;
    use std::sync::Arc;

    fn matches(pattern: &str, text: &str) -> bool {
        let limits = Limits::default();
        let factor = Factor::pattern(pattern, &limits).unwrap_or_else(|e| panic!("{pattern}: {e}"));
        let alphabet = Arc::new(Alphabet::full(false));
        Language::compile(&[factor], &[], 0, None, &alphabet, &limits).unwrap().matches(text)
    }

    #[test]
    fn what_matches() {
        let cases: [(&str, &[&str], &[&str]); 34] = [
            (r"^\d+$", &["0", "123"], &["", "٣", "1a"]),
            (r"^\w$", &["a", "_", "9"], &["é", "-"]),
            (r"^\W$", &["é", "-", "\n"], &["a"]),
            (
                r"^\s$",
                &["\u{FEFF}", "\u{A0}", "\u{2028}", "\u{3000}", "\t"],
                &["\u{200B}", "\u{85}"],
            ),
            (r"^\S$", &["\u{85}", "a"], &["\u{FEFF}", " "]),
            (r"^.$", &["a", "😀", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}", ""]),
            (r"^[^]$", &["\n", "a"], &["", "aa"]),
            (r"^\t\n\v\f\r\0$", &["\t\n\u{B}\u{C}\r\0"], &["t"]),
            (r"^\x41\u0042\u{43}\u{000044}$", &["ABCD"], &["x41"]),
            (r"^\uD83D\uDE00[\uD83D\uDE00-\u{1F602}]$", &["😀😁"], &["😀😃"]),
            (r"^\cA\cz$", &["\u{1}\u{1A}"], &[]),
            (r"^[\b\-\]\cA]+$", &["\u{8}-]\u{1}"], &["b"]),
            (r"^[\w-.]+$", &["a-.", "-"], &["/"]),
            (r"^[a-\d]+$", &["a-1"], &["b"]),
            (r"^[\d-a]+$", &["a-1"], &["b"]),
            (r"^[-a]+$", &["-a"], &["b"]),
            (r"^[a-]+$", &["-a"], &["b"]),
            (r"^\-\_\/\@\#\é$", &["-_/@#é"], &[]),
            (r"^a{,3}$", &["a{,3}"], &["aa"]),
            (r"^a{2}$", &["aa"], &["a", "aaa"]),
            (r"^a{2,}$", &["aa", "aaaa"], &["a"]),
            (r"^a{0}b$", &["b"], &["ab"]),
            (r"^{a}$", &["{a}"], &["a"]),
            (r"^x{1,2,3}{$", &["x{1,2,3}{"], &[]),
            (r"^]}$", &["]}"], &[]),
            (r"^(?<year>\d{4})-(\d\d)$", &["2024-01"], &["24-01"]),
            (r"^a+?b*?c??$", &["a", "aabbc"], &["b"]),
            (r"^\p{Lu}\p{L}$", &["Éa"], &["aa"]),
            (r"^\P{L}$", &["1"], &["a"]),
            (r"^\p{Script=Greek}\p{sc=Cyrillic}\p{scx=Latn}$", &["αяa"], &["aяa"]),
            (r"^\p{General_Category=Decimal_Number}[\p{Nd}x]\p{gc=Nd}$", &["1٣2", "1x2"], &["1a2"]),
            (r"^\p{Emoji}\p{ASCII}\p{Any}$", &["😀a\n"], &["aéa"]),
            (r"^[\uD800-\uDFFF]?$", &[""], &["a", "\u{FFFD}"]),
            (r"^[^\uD800]\P{Cs}$", &["aa", "😀é"], &["a"]),
        ];
        for (pattern, yes, no) in cases {
            yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
            no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
        }
    }

    #[test]
    fn what_is_no_pattern() {
        let cases = [
            ("(", 0),
            (")", 0),
            ("a(b", 1),
            ("[a", 0),
            ("*a", 0),
            ("a**", 2),
            ("a{2}{3}", 4),
            ("^*", 1),
            ("a|*", 2),
            ("(?a)", 0),
            ("(?i)a", 0),
            ("(?<1>a)", 0),
            ("(?<a", 0),
            ("[b-a]", 1),
            ("a{3,2}", 1),
            ("\\", 1),
            ("\\u{110000}", 1),
            ("\\u{}", 1),
            ("{2}", 0),
            ("(?=a)(", 5),
            ("(?P<a>b)", 0),
        ];
        for (pattern, at) in cases {
            match parse(pattern) {
                Err(PatternError::Invalid { offset, .. }) => assert_eq!(offset, at, "{pattern}"),
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_not_compiled() {
        let cases = [
            "(?=a)",
            "(?!a)b",
            "(?<=a)",
            "(?<!a)",
            "\\bword",
            "\\B",
            "(a)\\1",
            "(?<n>a)\\k<n>",
            "(?i:a)",
            "(?i-s:a)",
            "\\p{Nonsense}",
            "\\Z",
            "\\p",
            "\\01",
            "[\\1]",
            "(?=a)*",
        ];
        for pattern in cases {
            let error = parse(pattern).unwrap_err();
            assert!(matches!(error, PatternError::Unsupported { .. }), "{pattern}: {error}");
        }
    }

    #[test]
    fn nesting_and_size_are_bounded() {
        let nested =
            |open: &str, close: &str, n: usize| format!("^{}a{}$", open.repeat(n), close.repeat(n));
        assert!(matches(&nested("(", ")", 50_000), "a"));
        let deep = |text: &str| Factor::pattern(text, &Limits::default()).map(|_| ()).unwrap_err();
        let unsupported = |text: &str| matches!(deep(text), PatternError::Unsupported { .. });
        assert!(unsupported(&nested("(b", ")*", 50_000)));
        assert!(unsupported(&nested("(?:", ")*", 50_000)));
        assert!(unsupported(&nested("(b|", ")", 50_000)));
        assert!(matches(&nested("(?:", ")*", 62), "aaa"));
        let limited = |text: &str| deep(text) == PatternError::Limit { name: "pattern_bytes" };
        assert!(limited("(?:(?:a{1000}){1000}){1000}") && limited("a{99999999999}"));
        assert!(limited("(?:(?:(?:a|){1000}){1000}){1000}") && limited("^.{60000}$"));
        assert!(
            limited(&"\\p{L}".repeat(100_000)) && limited(&format!("[{}]", "\\p{L}".repeat(9000)))
        );
        assert!(limited(&"(".repeat(2_000_000)));
        assert!(matches("^(?:){60000}(?:(?:)*)*$", ""));
        assert!(matches("^a{60000}$", &"a".repeat(60_000)));
    }
}
