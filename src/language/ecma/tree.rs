//! The syntax tree of a pattern: an arena in which children stand before their parents, so that
//! nothing recurses, with the depth and the estimated automaton size of every node.

use super::PatternError;
use crate::base::define_id;
use regex_syntax::hir::{Class, ClassUnicode, Hir, Look, Repetition};

/// Nesting up to which a pattern is compiled, concatenations, alternations and quantifiers each
/// counting: the NFA compiler recurses, with up to 12 KB a level in debug builds.
const MAX_DEPTH: u32 = 64;

/// Estimated NFA states above which compiling is not even tried.
const MAX_SIZE: u64 = 1 << 18;

define_id! {
    /// A node of a [`Tree`].
    NodeId
}

#[derive(Debug)]
enum Node {
    Empty,
    Char(char),
    Class(ClassUnicode),
    Look(Look),
    Repeat { child: NodeId, min: u32, max: Option<u32>, greedy: bool },
    Concat(Box<[NodeId]>),
    Alternation(Box<[NodeId]>),
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Depth and size of each node.
    measures: Vec<(u32, u64)>,
}

impl Tree {
    pub(super) fn empty(&mut self) -> NodeId {
        self.push(Node::Empty, 0, 1)
    }

    pub(super) fn char(&mut self, c: char) -> NodeId {
        self.push(Node::Char(c), 0, c.len_utf8() as u64)
    }

    /// A class; the empty class matches nothing.
    pub(super) fn class(&mut self, class: ClassUnicode) -> NodeId {
        let size = class.ranges().len() as u64 + 1;
        self.push(Node::Class(class), 0, size)
    }

    pub(super) fn look(&mut self, look: Look) -> NodeId {
        self.push(Node::Look(look), 0, 1)
    }

    pub(super) fn repeat(
        &mut self,
        child: NodeId,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    ) -> NodeId {
        if matches!(self.nodes[child.index()], Node::Empty) || max == Some(0) {
            return self.empty();
        }
        if (min, max) == (1, Some(1)) {
            return child;
        }
        let (depth, size) = self.measures[child.index()];
        let copies = u64::from(max.unwrap_or(min).max(1));
        let node = Node::Repeat { child, min, max, greedy };
        self.push(node, depth + 1, size.saturating_mul(copies).saturating_add(1))
    }

    pub(super) fn concat(&mut self, items: Vec<NodeId>) -> NodeId {
        match items[..] {
            [] => self.empty(),
            [only] => only,
            _ => {
                let (depth, size) = self.measure(&items);
                self.push(Node::Concat(items.into()), depth, size)
            }
        }
    }

    pub(super) fn alternation(&mut self, items: Vec<NodeId>) -> NodeId {
        match items[..] {
            [] => self.empty(),
            [only] => only,
            _ => {
                let (depth, size) = self.measure(&items);
                self.push(Node::Alternation(items.into()), depth, size)
            }
        }
    }

    fn measure(&self, items: &[NodeId]) -> (u32, u64) {
        items.iter().fold((1, 1), |(depth, size), item| {
            let (d, s) = self.measures[item.index()];
            (depth.max(d + 1), s.saturating_add(size))
        })
    }

    fn push(&mut self, node: Node, depth: u32, size: u64) -> NodeId {
        self.nodes.push(node);
        self.measures.push((depth, size));
        NodeId::new(self.nodes.len() - 1)
    }

    /// The tree below `root` as HIR.
    ///
    /// # Errors
    /// Unsupported where it is nested too deep, a limit where its automaton would be too large.
    pub(super) fn into_hir(mut self, root: NodeId) -> Result<Hir, PatternError> {
        let (depth, size) = self.measures[root.index()];
        if depth > MAX_DEPTH {
            return Err(PatternError::Unsupported { what: "nesting deeper than 64 levels" });
        }
        if size > MAX_SIZE {
            return Err(PatternError::Limit { name: "pattern_bytes" });
        }
        let mut built: Vec<Hir> = Vec::with_capacity(root.index() + 1);
        let take = |built: &mut Vec<Hir>, id: NodeId| {
            std::mem::replace(&mut built[id.index()], Hir::empty())
        };
        for node in self.nodes.drain(..=root.index()) {
            let hir = match node {
                Node::Empty => Hir::empty(),
                Node::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Node::Class(class) => Hir::class(Class::Unicode(class)),
                Node::Look(look) => Hir::look(look),
                Node::Repeat { child, min, max, greedy } => {
                    let sub = Box::new(take(&mut built, child));
                    Hir::repetition(Repetition { min, max, greedy, sub })
                }
                Node::Concat(items) => {
                    Hir::concat(items.iter().map(|&id| take(&mut built, id)).collect())
                }
                Node::Alternation(items) => {
                    Hir::alternation(items.iter().map(|&id| take(&mut built, id)).collect())
                }
            };
            built.push(hir);
        }
        Ok(built.pop().unwrap_or_else(Hir::empty))
    }
}
