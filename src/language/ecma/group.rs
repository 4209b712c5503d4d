//! What stands in parentheses.

use super::PatternError;
use super::parse::{Flags, Frame, Kind, Last, Parser};
use super::tree::NodeId;

impl Parser<'_> {
    pub(super) fn open(&mut self, offset: usize) -> Result<(), PatternError> {
        let flags = self.flags();
        let mut frame = Frame { offset, flags, ..Frame::default() };
        if !self.eat("?") {
            frame.kind = self.capture();
        } else if self.eat("=") {
            frame.kind = Kind::Look { behind: false, negative: false };
        } else if self.eat("!") {
            frame.kind = Kind::Look { behind: false, negative: true };
        } else if self.eat("<=") {
            frame.kind = Kind::Look { behind: true, negative: false };
        } else if self.eat("<!") {
            frame.kind = Kind::Look { behind: true, negative: true };
        } else if self.eat("<") {
            let Some(name) = self.name() else {
                return self.invalid(offset, "a malformed group name");
            };
            frame.kind = self.capture();
            let group = self.groups;
            let scope = self.frames.last_mut().map(|frame| &mut frame.scope);
            if !scope.is_some_and(|scope| self.names.add(name, group, scope)) {
                return self.invalid(offset, "a group name that another group has");
            }
        } else if !self.eat(":") {
            match self.modifiers(flags) {
                Some(flags) if self.eat(":") => frame.flags = flags,
                Some(flags) if offset == self.lead && self.eat(")") => {
                    self.lenient(offset, "holds for the whole pattern");
                    self.lead = self.offset();
                    self.frame().flags = flags;
                    return Ok(());
                }
                _ => return self.invalid(offset, "an unknown kind of group"),
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    fn capture(&mut self) -> Kind {
        self.groups = self.groups.saturating_add(1);
        Kind::Capture(self.groups)
    }

    /// Flags that are added, and after `-` those that are removed; each at most once, and one at
    /// least.
    fn modifiers(&mut self, flags: Flags) -> Option<Flags> {
        let (mut flags, mut value, mut seen) = (flags, true, Vec::new());
        loop {
            let flag = match self.peek()? {
                '-' if value => {
                    value = false;
                    self.bump();
                    continue;
                }
                'i' => &mut flags.fold,
                'm' => &mut flags.multiline,
                's' => &mut flags.dot_all,
                _ => return (!seen.is_empty()).then_some(flags),
            };
            *flag = value;
            let letter = self.bump()?;
            if seen.contains(&letter) {
                return None;
            }
            seen.push(letter);
        }
    }

    pub(super) fn close(&mut self, offset: usize) -> Result<(), PatternError> {
        if self.frames.len() < 2 {
            return self.invalid(offset, "a `)` without its `(`");
        }
        let (node, kind) = self.pop_frame();
        let (node, last) = match kind {
            Kind::Plain => (node, Last::Item),
            Kind::Capture(index) => (self.tree.group(index, node), Last::Item),
            Kind::Look { behind, negative } => {
                let last = if behind { Last::Fixed } else { Last::LookAhead };
                (self.tree.look(node, behind, negative), last)
            }
        };
        self.push(node, last);
        Ok(())
    }

    pub(super) fn pop_frame(&mut self) -> (NodeId, Kind) {
        let Frame { mut alternatives, items, kind, scope, .. } =
            self.frames.pop().unwrap_or_default();
        let last = self.tree.concat(items);
        alternatives.push(last);
        if let Some(outer) = self.frames.last_mut() {
            self.names.close(scope, &mut outer.scope);
        }
        (self.tree.alternation(alternatives), kind)
    }
}
