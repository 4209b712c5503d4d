//! The syntax tree of a pattern: an arena in which children stand before their parents, and a
//! subtree is one range, so that nothing recurses, with what is known of every node.

use super::class;
use super::{Look, Pattern, PatternError};
use crate::base::define_id;
use regex_syntax::hir::{self, Capture, Class, ClassUnicode, Hir, Repetition};

/// Nesting up to which a pattern is compiled, concatenations, alternations, quantifiers and
/// assertions each counting: the NFA compiler recurses, with up to 12 KB a level in debug builds.
const MAX_DEPTH: u32 = 64;

/// Nesting of assertions up to which a pattern is compiled.
const MAX_LOOK_DEPTH: u32 = 16;

/// Different assertions up to which a pattern is compiled.
const MAX_LOOKS: usize = 256;

/// Estimated NFA states above which compiling is not even tried.
const MAX_SIZE: u64 = 1 << 18;

define_id! {
    /// A node of a [`Tree`].
    NodeId
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    Char(char),
    Class(ClassUnicode),
    /// One character of a class that is not known.
    Unknown,
    /// `^` and `$` of the whole text.
    Start,
    End,
    Repeat {
        child: NodeId,
        min: u32,
        max: Option<u32>,
    },
    Concat(Box<[NodeId]>),
    Alternation(Box<[NodeId]>),
    /// A capturing group.
    Group {
        index: u32,
        child: NodeId,
    },
    Look {
        child: NodeId,
        behind: bool,
        negative: bool,
    },
    /// What one of the groups captured, or nothing; `fold`: in either case.
    Reference {
        groups: Box<[u32]>,
        fold: bool,
    },
}

impl Node {
    pub(super) fn children(&self) -> &[NodeId] {
        match self {
            Node::Repeat { child, .. } | Node::Group { child, .. } | Node::Look { child, .. } => {
                std::slice::from_ref(child)
            }
            Node::Concat(items) | Node::Alternation(items) => items,
            _ => &[],
        }
    }
}

/// What is known of the subtree of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    depth: u32,
    /// Nesting of assertions.
    looks: u32,
    /// Estimated NFA states.
    size: u64,
    /// Whether it can match characters.
    reads: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    measures: Vec<Measure>,
}

impl Tree {
    pub(super) fn empty(&mut self) -> NodeId {
        self.push(Node::Empty, Measure { size: 1, ..Measure::default() })
    }

    pub(super) fn char(&mut self, c: char) -> NodeId {
        let size = c.len_utf8() as u64;
        self.push(Node::Char(c), Measure { size, reads: true, ..Measure::default() })
    }

    /// A class; the empty class matches nothing.
    pub(super) fn class(&mut self, class: ClassUnicode) -> NodeId {
        let size = class.ranges().len() as u64 + 1;
        self.push(Node::Class(class), Measure { size, reads: true, ..Measure::default() })
    }

    pub(super) fn unknown(&mut self) -> NodeId {
        self.push(Node::Unknown, Measure { size: 1, reads: true, ..Measure::default() })
    }

    /// The characters of `text`, in either case if `fold`.
    pub(super) fn text(&mut self, text: &str, fold: bool) -> NodeId {
        let items: Vec<NodeId> = text
            .chars()
            .map(|c| if fold { self.class(class::folded(class::single(c))) } else { self.char(c) })
            .collect();
        self.concat(items)
    }

    /// `^` or `$`.
    pub(super) fn edge(&mut self, is_start: bool) -> NodeId {
        let node = if is_start { Node::Start } else { Node::End };
        self.push(node, Measure { size: 1, ..Measure::default() })
    }

    pub(super) fn repeat(&mut self, child: NodeId, min: u32, max: Option<u32>) -> NodeId {
        let below = self.measures[child.index()];
        if max == Some(0) || (min == 0 && !below.reads) {
            return self.empty();
        }
        // Assertions hold as often as they are asked.
        if (min, max) == (1, Some(1)) || !below.reads {
            return child;
        }
        let copies = u64::from(max.unwrap_or(min).max(1));
        let size = below.size.saturating_mul(copies).saturating_add(1);
        let measure = Measure { depth: below.depth + 1, size, ..below };
        self.push(Node::Repeat { child, min, max }, measure)
    }

    pub(super) fn concat(&mut self, items: Vec<NodeId>) -> NodeId {
        match items[..] {
            [] => self.empty(),
            [only] => only,
            _ => {
                let measure = self.measure(&items);
                self.push(Node::Concat(items.into()), measure)
            }
        }
    }

    pub(super) fn alternation(&mut self, branches: Vec<NodeId>) -> NodeId {
        match branches[..] {
            [] => self.class(ClassUnicode::empty()),
            [only] => only,
            _ => {
                let measure = self.measure(&branches);
                self.push(Node::Alternation(branches.into()), measure)
            }
        }
    }

    pub(super) fn group(&mut self, index: u32, child: NodeId) -> NodeId {
        let measure = self.measures[child.index()];
        self.push(Node::Group { index, child }, measure)
    }

    pub(super) fn look(&mut self, child: NodeId, behind: bool, negative: bool) -> NodeId {
        let below = self.measures[child.index()];
        let measure =
            Measure { depth: below.depth + 1, looks: below.looks + 1, reads: false, ..below };
        self.push(Node::Look { child, behind, negative }, measure)
    }

    pub(super) fn reference(&mut self, groups: Box<[u32]>, fold: bool) -> NodeId {
        let measure = Measure { size: 1, reads: true, ..Measure::default() };
        self.push(Node::Reference { groups, fold }, measure)
    }

    /// Says which groups a reference that stands already is to.
    pub(super) fn set_reference(&mut self, id: NodeId, to: Box<[u32]>) {
        if let Some(Node::Reference { groups, .. }) = self.nodes.get_mut(id.index()) {
            *groups = to;
        }
    }

    /// `node` again, with other children.
    pub(super) fn copy(&mut self, node: &Node, child: impl Fn(NodeId) -> NodeId) -> NodeId {
        match node {
            Node::Empty => self.empty(),
            Node::Char(c) => self.char(*c),
            Node::Class(class) => self.class(class.clone()),
            Node::Unknown => self.unknown(),
            Node::Start => self.edge(true),
            Node::End => self.edge(false),
            Node::Repeat { child: of, min, max } => self.repeat(child(*of), *min, *max),
            Node::Concat(items) => self.concat(items.iter().map(|&id| child(id)).collect()),
            Node::Alternation(items) => {
                self.alternation(items.iter().map(|&id| child(id)).collect())
            }
            Node::Group { index, child: of } => self.group(*index, child(*of)),
            Node::Look { child: of, behind, negative } => self.look(child(*of), *behind, *negative),
            Node::Reference { groups, fold } => self.reference(groups.clone(), *fold),
        }
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The deepest of the nodes, one level further up, and their size together.
    fn measure(&self, items: &[NodeId]) -> Measure {
        items.iter().fold(Measure { size: 1, ..Measure::default() }, |all, id| {
            let one = self.measures[id.index()];
            Measure {
                depth: all.depth.max(one.depth + 1),
                looks: all.looks.max(one.looks),
                size: all.size.saturating_add(one.size),
                reads: all.reads || one.reads,
            }
        })
    }

    fn push(&mut self, node: Node, measure: Measure) -> NodeId {
        self.nodes.push(node);
        self.measures.push(measure);
        NodeId::new(self.nodes.len() - 1)
    }

    /// The tree below `root` as HIR; there are no references and unknown classes left.
    ///
    /// # Errors
    /// A limit where it is nested too deep or its automaton would be too large.
    pub(super) fn into_pattern(mut self, root: NodeId) -> Result<Pattern, PatternError> {
        let measure = self.measures[root.index()];
        if measure.depth > MAX_DEPTH || measure.looks > MAX_LOOK_DEPTH || measure.size > MAX_SIZE {
            return Err(PatternError::SIZE);
        }
        // What a repetition dropped still stands among the nodes.
        let mut used = vec![false; root.index() + 1];
        used[root.index()] = true;
        for (index, node) in self.nodes.iter().enumerate().take(root.index() + 1).rev() {
            if used[index] {
                node.children().iter().for_each(|child| used[child.index()] = true);
            }
        }
        let mut looks: Vec<Look> = Vec::new();
        let mut built: Vec<Hir> = Vec::with_capacity(root.index() + 1);
        let take = |built: &mut Vec<Hir>, id: NodeId| {
            std::mem::replace(&mut built[id.index()], Hir::empty())
        };
        for (node, used) in self.nodes.drain(..=root.index()).zip(used) {
            let hir = match node {
                _ if !used => Hir::empty(),
                Node::Empty | Node::Unknown | Node::Reference { .. } => Hir::empty(),
                Node::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Node::Class(class) => Hir::class(Class::Unicode(class)),
                Node::Start => Hir::look(hir::Look::Start),
                Node::End => Hir::look(hir::Look::End),
                Node::Repeat { child, min, max } => {
                    let sub = Box::new(take(&mut built, child));
                    Hir::repetition(Repetition { min, max, greedy: true, sub })
                }
                Node::Concat(items) => {
                    Hir::concat(items.iter().map(|&id| take(&mut built, id)).collect())
                }
                Node::Alternation(items) => {
                    Hir::alternation(items.iter().map(|&id| take(&mut built, id)).collect())
                }
                Node::Group { child, .. } => take(&mut built, child),
                Node::Look { child, behind, negative } => {
                    let look = Look { body: take(&mut built, child), behind };
                    let known = looks.iter().position(|one| *one == look);
                    let place = known.unwrap_or_else(|| {
                        looks.push(look);
                        looks.len() - 1
                    });
                    if looks.len() > MAX_LOOKS {
                        return Err(PatternError::SIZE);
                    }
                    let index = Look::slot(place, negative);
                    Hir::capture(Capture { index, name: None, sub: Box::new(Hir::empty()) })
                }
            };
            built.push(hir);
        }
        let hir = built.pop().unwrap_or_else(Hir::empty);
        Ok(Pattern { hir, looks, is_exact: true, lenient: None })
    }
}
