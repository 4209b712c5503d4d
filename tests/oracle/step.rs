//! States and the byte step.

use super::lex::{Event, Pending};
use super::object::Object;
use super::shape::{ArraySet, ConjId, Shape, ShapeId};
use super::stack::{Container, Stack};
use super::text::Progress;
use super::{Oracle, OracleMargin, OracleWhitespace};
use std::rc::Rc;

/// A set of threads; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(Vec<Thread>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    phase: Phase,
    stack: Stack,
}

/// Where a thread stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Between the tokens of JSON, behind `run` bytes of whitespace.
    Gap {
        place: Place,
        run: u32,
    },
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
    Number {
        shape: ShapeId,
        text: Vec<u8>,
    },
    Text {
        shape: ShapeId,
        at: Progress,
        pending: Pending,
    },
    /// A key of the object on top of the stack.
    Key {
        text: String,
        pending: Pending,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Lead,
    Trail,
    /// After `{` or `[`.
    Open,
    /// After a key, with the conjunction of its value.
    Key(ConjId),
    Colon(ConjId),
    Comma,
    /// After a member or an item.
    Value,
}

impl Oracle {
    /// The state before the first byte.
    pub fn start(&self) -> State {
        let phase = Phase::Gap { place: Place::Lead, run: 0 };
        State(vec![Thread { phase, stack: Stack::default() }])
    }

    /// The state after one more byte; `None` where no text of the language goes on so.
    pub fn step(&self, state: &State, byte: u8) -> Option<State> {
        let mut out = Vec::new();
        for thread in &state.0 {
            self.step_thread(thread, byte, &mut out);
        }
        out.sort();
        out.dedup();
        (!out.is_empty()).then_some(State(out))
    }

    /// Whether the text may end here.
    pub fn may_end(&self, state: &State) -> bool {
        state.0.iter().any(|thread| match &thread.phase {
            Phase::Gap { place: Place::Trail, .. } => true,
            Phase::Number { shape, text } => {
                thread.stack.is_empty() && self.number_complete(*shape, text)
            }
            _ => false,
        })
    }

    fn step_thread(&self, thread: &Thread, byte: u8, out: &mut Vec<Thread>) {
        let stack = &thread.stack;
        match &thread.phase {
            Phase::Gap { place, run } => self.step_gap(*place, *run, stack, byte, out),
            Phase::Word(rest) => match rest {
                [last] if *last == byte => out.push(finished(stack.clone())),
                [first, rest @ ..] if *first == byte => {
                    out.push(Thread { phase: Phase::Word(rest), stack: stack.clone() });
                }
                _ => {}
            },
            Phase::Number { shape, text } => {
                let mut longer = text.clone();
                longer.push(byte);
                if self.number_live(*shape, &longer) {
                    let phase = Phase::Number { shape: *shape, text: longer };
                    out.push(Thread { phase, stack: stack.clone() });
                } else if self.number_complete(*shape, text) {
                    self.step_thread(&finished(stack.clone()), byte, out);
                }
            }
            Phase::Text { shape, at, pending } => {
                self.step_text(*shape, at, *pending, stack, byte, out)
            }
            Phase::Key { text, pending } => self.step_key(text, *pending, stack, byte, out),
        }
    }

    /// Whether whitespace may come at `place` after `run` bytes of it, and whether it may end there.
    fn whitespace(&self, place: Place, run: u32, byte: u8) -> (bool, bool) {
        let margin = match place {
            Place::Lead => Some(self.policy.margin != OracleMargin::None),
            Place::Trail => Some(self.policy.margin == OracleMargin::Both),
            _ => None,
        };
        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let below = |bound: u32| (blank && run < bound, true);
        match (self.policy.whitespace, margin) {
            (_, Some(false)) => (false, true),
            (OracleWhitespace::Bounded(bound), _) => below(bound),
            (OracleWhitespace::Flexible, _) | (_, Some(true)) => below(64),
            (OracleWhitespace::Compact, None) => (false, true),
            (OracleWhitespace::Spaced, None) => match place {
                Place::Comma | Place::Colon(_) => (byte == b' ' && run == 0, run == 1),
                _ => (false, true),
            },
        }
    }

    fn step_gap(&self, place: Place, run: u32, stack: &Stack, byte: u8, out: &mut Vec<Thread>) {
        let (more, done) = self.whitespace(place, run, byte);
        if more {
            out.push(Thread { phase: Phase::Gap { place, run: run + 1 }, stack: stack.clone() });
        }
        if !done {
            return;
        }
        match (place, stack.top()) {
            (Place::Lead, _) => self.begin_value(self.root, stack, byte, out),
            (Place::Colon(value), _) => self.begin_value(value, stack, byte, out),
            (Place::Key(value), _) if byte == b':' => {
                out.push(gap(Place::Colon(value), stack.clone()))
            }
            (Place::Open | Place::Comma | Place::Value, Some(top)) => match top {
                Container::Array { shape, count } => {
                    if let Shape::Array(set) = &*self.sets.shape(*shape) {
                        self.step_array(place, (*shape, set, *count), stack, byte, out);
                    }
                }
                Container::Object { shape, next, seen } => {
                    if let Shape::Object(set) = &*self.sets.shape(*shape) {
                        let object =
                            Object { set, next: *next, seen, declared: self.policy.declared_order };
                        self.step_object(place, &object, stack, byte, out);
                    }
                }
            },
            _ => {}
        }
    }

    fn step_array(
        &self,
        place: Place,
        (shape, set, count): (ShapeId, &ArraySet, u64),
        stack: &Stack,
        byte: u8,
        out: &mut Vec<Thread>,
    ) {
        let more = set.max.is_none_or(|max| count < max);
        match byte {
            b']' if place != Place::Comma && count >= set.min => out.push(finished(stack.below())),
            b',' if place == Place::Value && more => out.push(gap(Place::Comma, stack.clone())),
            _ if place != Place::Value && more => {
                let stack = stack.replace(Container::Array { shape, count: count + 1 });
                self.begin_value(set.item(count), &stack, byte, out);
            }
            _ => {}
        }
    }

    /// The first byte of a value, for each of its shapes.
    fn begin_value(&self, value: ConjId, stack: &Stack, byte: u8, out: &mut Vec<Thread>) {
        if !matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
            return;
        }
        for &id in self.sets.shapes(value).iter() {
            let word = |rest| Some(Thread { phase: Phase::Word(rest), stack: stack.clone() });
            out.extend(match (&*self.sets.shape(id), byte) {
                (Shape::Null, b'n') => word(b"ull"),
                (Shape::Bool(true), b't') => word(b"rue"),
                (Shape::Bool(false), b'f') => word(b"alse"),
                (Shape::Number(_), b'-' | b'0'..=b'9') if self.number_live(id, &[byte]) => {
                    let phase = Phase::Number { shape: id, text: vec![byte] };
                    Some(Thread { phase, stack: stack.clone() })
                }
                (Shape::Text(set), b'"') => {
                    let at = self.sets.texts.start(set);
                    let phase = Phase::Text { shape: id, at, pending: Pending::None };
                    Some(Thread { phase, stack: stack.clone() })
                }
                (Shape::Array(_), b'[') => {
                    Some(gap(Place::Open, stack.push(Container::Array { shape: id, count: 0 })))
                }
                (Shape::Object(_), b'{') => {
                    let top = Container::Object { shape: id, next: 0, seen: Rc::default() };
                    Some(gap(Place::Open, stack.push(top)))
                }
                _ => None,
            });
        }
    }

    fn number_live(&self, shape: ShapeId, text: &[u8]) -> bool {
        let any = self.policy.any_numbers;
        matches!(&*self.sets.shape(shape), Shape::Number(set) if set.live(text, any))
    }

    fn number_complete(&self, shape: ShapeId, text: &[u8]) -> bool {
        let any = self.policy.any_numbers;
        matches!(&*self.sets.shape(shape), Shape::Number(set) if set.complete(text, any))
    }

    fn step_text(
        &self,
        shape: ShapeId,
        at: &Progress,
        pending: Pending,
        stack: &Stack,
        byte: u8,
        out: &mut Vec<Thread>,
    ) {
        let minimal = self.policy.minimal_escapes;
        let Shape::Text(set) = &*self.sets.shape(shape) else { return };
        let Some(event) = pending.step(byte, minimal) else { return };
        let texts = &self.sets.texts;
        let (at, pending) = match event {
            Event::Close => {
                if texts.complete(set, at) {
                    out.push(finished(stack.clone()));
                }
                return;
            }
            Event::Pending(pending) => (at.clone(), pending),
            Event::Char(c) => match texts.advance(set, at, c) {
                Some(at) => (at, Pending::None),
                None => return,
            },
        };
        if texts.live(set, &at, pending, minimal) {
            out.push(Thread { phase: Phase::Text { shape, at, pending }, stack: stack.clone() });
        }
    }

    fn step_key(
        &self,
        text: &str,
        pending: Pending,
        stack: &Stack,
        byte: u8,
        out: &mut Vec<Thread>,
    ) {
        let Some(Container::Object { shape, next, seen }) = stack.top() else { return };
        let Shape::Object(set) = &*self.sets.shape(*shape) else { return };
        let object = Object { set, next: *next, seen, declared: self.policy.declared_order };
        let minimal = self.policy.minimal_escapes;
        let (text, pending) = match pending.step(byte, minimal) {
            None => return,
            Some(Event::Close) => {
                for (value, next) in object.key(&self.sets.texts, text) {
                    let mut seen = (**seen).clone();
                    seen.insert(text.into());
                    let top = Container::Object { shape: *shape, next, seen: Rc::new(seen) };
                    out.push(gap(Place::Key(value), stack.replace(top)));
                }
                return;
            }
            Some(Event::Pending(pending)) => (text.to_owned(), pending),
            Some(Event::Char(c)) => (format!("{text}{c}"), Pending::None),
        };
        if object.key_begins(&self.sets.texts, &text, pending, minimal) {
            out.push(Thread { phase: Phase::Key { text, pending }, stack: stack.clone() });
        }
    }

    fn step_object(
        &self,
        place: Place,
        object: &Object<'_>,
        stack: &Stack,
        byte: u8,
        out: &mut Vec<Thread>,
    ) {
        let more =
            || object.key_begins(&self.sets.texts, "", Pending::None, self.policy.minimal_escapes);
        match byte {
            b'}' if place != Place::Comma && object.missing() == 0 => {
                out.push(finished(stack.below()))
            }
            b',' if place == Place::Value && more() => out.push(gap(Place::Comma, stack.clone())),
            b'"' if place != Place::Value && more() => {
                let phase = Phase::Key { text: String::new(), pending: Pending::None };
                out.push(Thread { phase, stack: stack.clone() });
            }
            _ => {}
        }
    }
}

fn gap(place: Place, stack: Stack) -> Thread {
    Thread { phase: Phase::Gap { place, run: 0 }, stack }
}

/// After a value.
fn finished(stack: Stack) -> Thread {
    let place = if stack.is_empty() { Place::Trail } else { Place::Value };
    gap(place, stack)
}
