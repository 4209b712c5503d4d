//! The parser: one pass, an explicit stack of open groups.

use super::class;
use super::escape::Escape;
use super::name::{self, Names, Scope};
use super::reference;
use super::tree::{NodeId, Tree};
use super::{Pattern, PatternError};
use regex_syntax::hir::ClassUnicode;

/// Bytes of a pattern's text above which it is not read.
const MAX_TEXT: usize = 1 << 20;

/// Ranges of all classes of a pattern together, above which it is not read further.
pub(super) const MAX_WORK: usize = 1 << 19;

/// Lenient readings that are told one by one.
const MAX_NOTES: usize = 3;

/// Reads an ECMA-262 pattern.
///
/// # Errors
/// Invalid where it is none (this comes before the others); a limit where it cannot be compiled.
pub(in crate::language) fn parse(text: &str) -> Result<Pattern, PatternError> {
    if text.len() > MAX_TEXT {
        return Err(PatternError::SIZE);
    }
    let (groups, has_names) = name::count(text);
    let mut parser = Parser {
        text,
        position: 0,
        tree: Tree::default(),
        frames: vec![Frame::default()],
        group_count: groups,
        groups: 0,
        has_names,
        names: Names::default(),
        named: Vec::new(),
        lead: 0,
        work: 0,
        notes: Vec::new(),
    };
    while parser.item()? {}
    let root = parser.finish()?;
    let lenient = parser.told();
    let (tree, root, is_exact) = reference::resolve(parser.tree, root)?;
    Ok(Pattern { is_exact, lenient, ..tree.into_pattern(root)? })
}

/// The flags that modifiers change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `i`: case does not matter, by simple case folding.
    pub(super) fold: bool,
    /// `m`: `^` and `$` stand at every line.
    pub(super) multiline: bool,
    /// `s`: `.` is every character.
    pub(super) dot_all: bool,
}

/// What a group is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Kind {
    #[default]
    Plain,
    Capture(u32),
    Look {
        behind: bool,
        negative: bool,
    },
}

/// A group that is open.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) offset: usize,
    pub(super) kind: Kind,
    pub(super) flags: Flags,
    pub(super) alternatives: Vec<NodeId>,
    pub(super) items: Vec<NodeId>,
    /// What a quantifier would repeat.
    pub(super) last: Last,
    pub(super) scope: Scope,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Last {
    /// Nothing that may be repeated.
    #[default]
    Fixed,
    Item,
    /// A look-ahead: only the lenient reading repeats it.
    LookAhead,
}

pub(super) struct Parser<'a> {
    text: &'a str,
    position: usize,
    pub(super) tree: Tree,
    pub(super) frames: Vec<Frame>,
    /// How many capturing groups there are in all, and were opened so far.
    group_count: u32,
    pub(super) groups: u32,
    has_names: bool,
    pub(super) names: Names,
    /// References by name, which are resolved when all names are known: the node and its place.
    named: Vec<(NodeId, String, usize)>,
    /// Where flags for the whole pattern may stand: at its beginning, or after `^` or others.
    pub(super) lead: usize,
    /// Ranges of classes met so far: they take memory before the automaton does.
    pub(super) work: usize,
    /// What only the lenient reading takes: from, to, how it is read.
    notes: Vec<(usize, usize, &'static str)>,
}

impl Parser<'_> {
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or("")
    }

    /// The text from `start` up to `more` bytes after the current place.
    pub(super) fn text_from(&self, start: usize, more: usize) -> &str {
        self.text.get(start..self.position + more).unwrap_or("")
    }

    pub(super) fn offset(&self) -> usize {
        self.position
    }

    pub(super) fn flags(&self) -> Flags {
        self.frames.last().map_or_else(Flags::default, |frame| frame.flags)
    }

    pub(super) fn group_count(&self) -> u32 {
        self.group_count
    }

    pub(super) fn has_names(&self) -> bool {
        self.has_names
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

    pub(super) fn invalid<T>(
        &self,
        offset: usize,
        reason: &'static str,
    ) -> Result<T, PatternError> {
        Err(PatternError::Invalid { offset, reason })
    }

    /// Notes that what was read from `start` on is legal without the `u` flag only.
    pub(super) fn lenient(&mut self, start: usize, reading: &'static str) {
        if self.notes.len() <= MAX_NOTES {
            self.notes.push((start, self.position, reading));
        }
    }

    fn told(&self) -> Option<Box<str>> {
        let note = |&(from, to, reading): &(usize, usize, &str)| {
            format!("`{}` at byte {from} {reading}", self.text.get(from..to).unwrap_or(""))
        };
        let told: Vec<String> = self.notes.iter().take(MAX_NOTES).map(note).collect();
        let more = if self.notes.len() > MAX_NOTES { ", and so on" } else { "" };
        (!told.is_empty()).then(|| format!("{}{more}", told.join(", ")).into())
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn push(&mut self, node: NodeId, last: Last) {
        let frame = self.frame();
        frame.items.push(node);
        frame.last = last;
    }

    pub(super) fn push_class(&mut self, class: ClassUnicode) {
        self.work += class.ranges().len();
        let node = self.tree.class(class);
        self.push(node, Last::Item);
    }

    pub(super) fn push_code(&mut self, code: u32) {
        let class = match char::from_u32(code) {
            Some(c) if self.flags().fold => class::folded(class::single(c)),
            Some(c) => {
                let node = self.tree.char(c);
                return self.push(node, Last::Item);
            }
            // A lone surrogate: no string has it.
            None => ClassUnicode::empty(),
        };
        self.push_class(class);
    }

    /// Reads one item of the pattern; `false` at its end.
    fn item(&mut self) -> Result<bool, PatternError> {
        let offset = self.position;
        let Some(c) = self.bump() else { return Ok(false) };
        if self.work > MAX_WORK {
            return Err(PatternError::SIZE);
        }
        match c {
            '|' => self.next_alternative(),
            '(' => self.open(offset)?,
            ')' => self.close(offset)?,
            '[' => self.class(offset)?,
            '.' if self.flags().dot_all => self.push_class(class::any()),
            '.' => self.push_class(class::dot()),
            '^' | '$' => self.edge(offset, c == '^'),
            '*' => self.quantify(offset, 0, None)?,
            '+' => self.quantify(offset, 1, None)?,
            '?' => self.quantify(offset, 0, Some(1))?,
            '{' => match self.bounds(offset)? {
                Some((min, max)) => self.quantify(offset, min, max)?,
                None => self.literal(offset, c),
            },
            '}' | ']' => self.literal(offset, c),
            '\\' => {
                let escape = self.escape(false)?;
                self.escaped(offset, escape);
            }
            c => self.push_code(u32::from(c)),
        }
        Ok(true)
    }

    fn literal(&mut self, offset: usize, c: char) {
        self.lenient(offset, "is literal");
        self.push_code(u32::from(c));
    }

    fn escaped(&mut self, offset: usize, escape: Escape) {
        match escape {
            Escape::Code(code) => self.push_code(code),
            Escape::Set(set) if self.flags().fold => self.push_class(class::folded(set)),
            Escape::Set(set) => self.push_class(set),
            Escape::Unknown => {
                let node = self.tree.unknown();
                self.push(node, Last::Item);
            }
            Escape::Boundary { negative } => self.boundary(negative),
            Escape::Number(number) => {
                let fold = self.flags().fold;
                let node = self.tree.reference([number].into(), fold);
                self.push(node, Last::Item);
            }
            Escape::Name(name) => {
                let fold = self.flags().fold;
                let node = self.tree.reference([].into(), fold);
                self.named.push((node, name, offset));
                self.push(node, Last::Item);
            }
        }
    }

    /// `\b` or `\B`: whether the characters on both sides are of one kind.
    fn boundary(&mut self, negative: bool) {
        let word = class::shorthand('w', self.flags().fold).unwrap_or_else(ClassUnicode::empty);
        let mut branches = Vec::new();
        for before in [true, false] {
            let after = before == negative;
            let mut sides = Vec::new();
            for (behind, is_word) in [(true, before), (false, after)] {
                let class = self.tree.class(word.clone());
                sides.push(self.tree.look(class, behind, !is_word));
            }
            branches.push(self.tree.concat(sides));
        }
        let node = self.tree.alternation(branches);
        self.push(node, Last::Fixed);
    }

    /// `^` or `$`.
    fn edge(&mut self, offset: usize, is_start: bool) {
        if is_start && offset == self.lead {
            self.lead = self.position;
        }
        let edge = self.tree.edge(is_start);
        if !self.flags().multiline {
            return self.push(edge, Last::Fixed);
        }
        let end = self.tree.class(class::line_end());
        let look = self.tree.look(end, is_start, false);
        let node = self.tree.alternation(vec![edge, look]);
        self.push(node, Last::Fixed);
    }

    fn next_alternative(&mut self) {
        let items = std::mem::take(&mut self.frame().items);
        let branch = self.tree.concat(items);
        if let Some(frame) = self.frames.last_mut() {
            frame.alternatives.push(branch);
            frame.last = Last::Fixed;
            self.names.next_alternative(&mut frame.scope);
        }
    }

    fn finish(&mut self) -> Result<NodeId, PatternError> {
        if self.frames.len() > 1 {
            let offset = self.frame().offset;
            return self.invalid(offset, "a `(` without its `)`");
        }
        for (node, name, offset) in std::mem::take(&mut self.named) {
            let Some(groups) = self.names.groups(&name) else {
                return self.invalid(offset, "a reference to a group that does not exist");
            };
            self.tree.set_reference(node, groups.into());
        }
        Ok(self.pop_frame().0)
    }

    fn quantify(&mut self, offset: usize, min: u32, max: Option<u32>) -> Result<(), PatternError> {
        self.eat("?");
        match std::mem::take(&mut self.frame().last) {
            Last::Fixed => {
                return self.invalid(offset, "a quantifier without anything to repeat");
            }
            Last::LookAhead => self.lenient(offset, "repeats a look-ahead"),
            Last::Item => {}
        }
        if let Some(child) = self.frame().items.pop() {
            let node = self.tree.repeat(child, min, max);
            self.push(node, Last::Fixed);
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
}
