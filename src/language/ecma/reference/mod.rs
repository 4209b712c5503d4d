//! Back-references, which no automaton knows: a tree in, a tree without them out.
//!
//! Where the group has a finite language, the smallest subtree that holds the group and the
//! reference becomes an alternation over what the group may capture: each branch forces the group
//! to capture that text, and has it in place of the reference. Forcing a group inside a repetition
//! forces its last round, since each round forgets what the one before captured. A reference
//! before its group (after it, in a look-behind, which is read backwards), inside it, or beside
//! it in another alternative matches nothing, as does one out of a negative assertion.
//!
//! Anything else becomes a superset: the language of the group, or nothing; where a negative
//! assertion holds it, the whole assertion holds. The same is done to classes that are not known.

mod forcing;
mod texts;

use super::PatternError;
use super::class;
use super::tree::{Node, NodeId, Tree};
use forcing::Forcing;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use texts::MAX_TEXTS;

/// References of one pattern, above which it is not compiled.
const MAX_REFERENCES: usize = 1024;

/// Nodes up to which references are expanded, at the end and on the way there.
const MAX_NODES: usize = 1 << 17;
const MAX_WORK: usize = 1 << 20;

/// Steps up the tree in one round.
const MAX_STEPS: usize = 4_000_000;

/// The tree without references; whether it denotes the same language.
///
/// # Errors
/// A limit, where there are too many.
pub(super) fn resolve(
    mut tree: Tree,
    mut root: NodeId,
) -> Result<(Tree, NodeId, bool), PatternError> {
    let mut budget = MAX_WORK;
    loop {
        let round = Round::new(&tree, root);
        if round.references.len() > MAX_REFERENCES {
            return Err(PatternError::SIZE);
        }
        if round.references.is_empty() && !round.has_unknown {
            return Ok((tree, root, true));
        }
        let uses = round.uses().ok_or(PatternError::SIZE)?;
        match uses.iter().find_map(|one| round.expand(one, &uses, &mut budget)) {
            Some(next) => (tree, root) = next,
            None => {
                let (tree, root) = round.widen(&uses);
                return Ok((tree, root, false));
            }
        }
    }
}

/// What is known of a tree while one reference is replaced.
struct Round<'t> {
    nodes: &'t [Node],
    root: usize,
    used: Vec<bool>,
    parent: Vec<usize>,
    /// Where the range of a subtree begins; it ends at its root.
    first: Vec<usize>,
    /// Whether a node can match no characters at all.
    nullable: Vec<bool>,
    references: Vec<usize>,
    groups: FxHashMap<u32, Vec<usize>>,
    has_unknown: bool,
}

/// A reference and the groups that it can be to.
struct Use {
    reference: usize,
    groups: Vec<usize>,
    /// The subtree that holds them all.
    scope: usize,
    /// Whether every round and assertion between is seen through.
    is_plain: bool,
}

impl<'t> Round<'t> {
    fn new(tree: &'t Tree, root: NodeId) -> Round<'t> {
        let (nodes, root) = (tree.nodes(), root.index());
        let mut round = Round {
            nodes,
            root,
            used: vec![false; root + 1],
            parent: vec![root; root + 1],
            first: (0..=root).collect(),
            nullable: vec![true; root + 1],
            references: Vec::new(),
            groups: FxHashMap::default(),
            has_unknown: false,
        };
        round.used[root] = true;
        for at in (0..=root).rev() {
            if round.used[at] {
                for child in nodes[at].children() {
                    round.used[child.index()] = true;
                    round.parent[child.index()] = at;
                }
            }
        }
        for at in 0..=root {
            if round.used[at] {
                round.measure(at);
            }
        }
        round
    }

    fn measure(&mut self, at: usize) {
        let children = self.nodes[at].children();
        // Children need not stand in their own order.
        let first = children.iter().map(|child| self.first[child.index()]).min();
        self.first[at] = first.unwrap_or(at);
        let mut below = children.iter().map(|child| self.nullable[child.index()]);
        self.nullable[at] = match &self.nodes[at] {
            Node::Char(_) | Node::Class(_) | Node::Unknown => false,
            Node::Repeat { min, .. } => *min == 0 || below.all(|nullable| nullable),
            Node::Alternation(_) => below.any(|nullable| nullable),
            Node::Concat(_) | Node::Group { .. } => below.all(|nullable| nullable),
            _ => true,
        };
        match &self.nodes[at] {
            Node::Reference { .. } => self.references.push(at),
            Node::Group { index, .. } => self.groups.entry(*index).or_default().push(at),
            Node::Unknown => self.has_unknown = true,
            _ => {}
        }
    }

    fn holds(&self, ancestor: usize, node: usize) -> bool {
        (self.first[ancestor]..=ancestor).contains(&node)
    }

    /// What each reference can be to; `None` where finding out takes too long.
    fn uses(&self) -> Option<Vec<Use>> {
        let mut fuel = MAX_STEPS;
        self.references.iter().map(|&reference| self.use_of(reference, &mut fuel)).collect()
    }

    fn use_of(&self, reference: usize, fuel: &mut usize) -> Option<Use> {
        let mut one = Use { reference, groups: Vec::new(), scope: reference, is_plain: true };
        let Node::Reference { groups, .. } = &self.nodes[reference] else { return Some(one) };
        let candidates = groups.iter().filter_map(|index| self.groups.get(index)).flatten();
        for &group in candidates {
            let mut scope = reference;
            while !self.holds(scope, group) {
                scope = self.parent[scope];
                *fuel = fuel.checked_sub(1)?;
            }
            let is_before = || (group < reference) != self.is_backwards(scope);
            if !matches!(self.nodes[scope], Node::Concat(_)) || !is_before() {
                continue;
            }
            let (mut at, mut is_plain, mut is_lost) = (self.parent[group], true, false);
            while at != scope {
                match &self.nodes[at] {
                    Node::Look { negative: true, .. } => is_lost = true,
                    Node::Look { .. } => is_plain = false,
                    Node::Repeat { child, .. } => is_plain &= !self.nullable[child.index()],
                    _ => {}
                }
                at = self.parent[at];
                *fuel = fuel.checked_sub(1)?;
            }
            if !is_lost {
                one.groups.push(group);
                one.is_plain &= is_plain;
                one.scope = one.scope.max(scope);
            }
        }
        Some(one)
    }

    /// Whether a node is read backwards.
    fn is_backwards(&self, node: usize) -> bool {
        let mut at = node;
        while at != self.root {
            at = self.parent[at];
            if let Node::Look { behind, .. } = self.nodes[at] {
                return behind;
            }
        }
        false
    }

    /// The tree without one reference and those that are to the same groups; `None` where it
    /// cannot be done, or not yet.
    fn expand(&self, one: &Use, uses: &[Use], budget: &mut usize) -> Option<(Tree, NodeId)> {
        let needed = |node: usize| uses.iter().any(|other| other.groups.contains(&node));
        let is_settled = |&group: &usize| {
            (self.first[group]..group).filter(|&at| self.used[at]).all(|at| match self.nodes[at] {
                Node::Reference { .. } | Node::Unknown => false,
                Node::Group { .. } => !needed(at),
                _ => true,
            })
        };
        if !one.is_plain || !one.groups.iter().all(is_settled) {
            return None;
        }
        let mut captures = FxHashMap::default();
        let mut texts = BTreeSet::new();
        for &group in &one.groups {
            let own = self.texts(group)?;
            texts.extend(own.iter().filter(|text| !text.is_empty()).cloned());
            captures.insert(group, own);
        }
        if texts.len() > MAX_TEXTS {
            return None;
        }
        let same = uses.iter().filter(|other| other.groups == one.groups);
        let references: FxHashSet<usize> = same.map(|other| other.reference).collect();
        *budget = budget.checked_sub(self.root)?;
        let mut forcing = Forcing { round: self, captures, references, text: None };
        let mut tree = Tree::default();
        let mut map: Vec<Option<NodeId>> = vec![None; self.root + 1];
        let scope = self.first[one.scope]..=one.scope;
        for at in (0..=self.root).filter(|&at| self.used[at]) {
            if at == one.scope {
                let mut branches = Vec::new();
                for text in std::iter::once(None).chain(texts.iter().map(Some)) {
                    forcing.text = text.map(String::as_str);
                    branches.extend(forcing.branch(&mut tree, one.scope)?);
                }
                map[at] = Some(tree.alternation(branches));
            } else if one.groups.is_empty() && forcing.references.contains(&at) {
                map[at] = Some(tree.empty());
            } else if !scope.contains(&at) {
                map[at] = Some(copy(&mut tree, &self.nodes[at], &map, 0));
            }
        }
        *budget = budget.checked_sub(tree.nodes().len())?;
        (tree.nodes().len() <= MAX_NODES.max(self.root + 1)).then_some((tree, map[self.root]?))
    }

    /// The tree with a superset in place of each reference and unknown class.
    fn widen(&self, uses: &[Use]) -> (Tree, NodeId) {
        let uses: FxHashMap<usize, &Use> = uses.iter().map(|one| (one.reference, one)).collect();
        let inexact = |at: usize| match &self.nodes[at] {
            Node::Unknown => true,
            Node::Reference { .. } => uses.get(&at).is_some_and(|one| !one.groups.is_empty()),
            _ => false,
        };
        // Negative assertions that hold any of them, and what stands in those, top down.
        let mut holds = vec![false; self.root + 1];
        let mut lost = vec![false; self.root + 1];
        for at in (0..=self.root).filter(|&at| self.used[at]) {
            let below = self.nodes[at].children().iter().any(|child| holds[child.index()]);
            holds[at] = below || inexact(at);
        }
        for at in (0..=self.root).rev().filter(|&at| self.used[at]) {
            let is_negative = matches!(self.nodes[at], Node::Look { negative: true, .. });
            lost[at] = (at != self.root && lost[self.parent[at]]) || (is_negative && holds[at]);
        }
        let mut tree = Tree::default();
        let mut map: Vec<Option<NodeId>> = vec![None; self.root + 1];
        for at in (0..=self.root).filter(|&at| self.used[at]) {
            let node = match (&self.nodes[at], uses.get(&at)) {
                _ if lost[at] => tree.empty(),
                (Node::Unknown, _) => tree.class(class::any()),
                (Node::Reference { fold, .. }, Some(one)) => {
                    let mut branches = vec![tree.empty()];
                    for &group in &one.groups {
                        branches.push(self.anything_of(&mut tree, group, *fold));
                    }
                    tree.alternation(branches)
                }
                (node, _) => copy(&mut tree, node, &map, 0),
            };
            map[at] = Some(node);
        }
        let root = map[self.root].unwrap_or_else(|| tree.empty());
        (tree, root)
    }

    /// A superset of what a group can capture: its language without assertions.
    fn anything_of(&self, tree: &mut Tree, group: usize, fold: bool) -> NodeId {
        let range = self.first[group]..=group;
        let is_open = |at: usize| matches!(self.nodes[at], Node::Reference { .. } | Node::Unknown);
        if range.clone().any(is_open) || tree.nodes().len() + group - self.first[group] > MAX_NODES
        {
            let any = tree.class(class::any());
            return tree.repeat(any, 0, None);
        }
        let mut map = Vec::with_capacity(group - self.first[group] + 1);
        for at in range {
            map.push(Some(match &self.nodes[at] {
                Node::Start | Node::End | Node::Look { .. } => tree.empty(),
                _ if !self.used[at] => tree.empty(),
                Node::Class(class) if fold => tree.class(class::folded(class.clone())),
                Node::Char(c) if fold => tree.class(class::folded(class::single(*c))),
                node => copy(tree, node, &map, self.first[group]),
            }));
        }
        map.pop().flatten().unwrap_or_else(|| tree.empty())
    }
}

/// A node again; `map` has the new children, from the one at `first` on.
fn copy(tree: &mut Tree, node: &Node, map: &[Option<NodeId>], first: usize) -> NodeId {
    tree.copy(node, |child| {
        map.get(child.index() - first).copied().flatten().unwrap_or(NodeId::new(0))
    })
}
