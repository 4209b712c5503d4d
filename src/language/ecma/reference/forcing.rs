//! Copies of a subtree in which groups capture a given text.

use super::super::tree::{Node, NodeId, Tree};
use super::{MAX_NODES, Round, copy};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// One text forced upon groups, in a copy of a subtree.
pub(super) struct Forcing<'r, 't> {
    pub(super) round: &'r Round<'t>,
    /// What each group can capture.
    pub(super) captures: FxHashMap<usize, BTreeSet<String>>,
    /// The references to them.
    pub(super) references: FxHashSet<usize>,
    /// What they capture; `None`: nothing, or no characters.
    pub(super) text: Option<&'r str>,
}

impl Forcing<'_, '_> {
    /// The copy of the subtree at `root`; the inner `None` where the text cannot be captured.
    pub(super) fn branch(&self, tree: &mut Tree, root: usize) -> Option<Option<NodeId>> {
        let round = self.round;
        let first = round.first[root];
        let mut map: Vec<Option<NodeId>> = Vec::with_capacity(root - first + 1);
        for at in first..=root {
            if tree.nodes().len() > MAX_NODES.max(round.root + 1) {
                return None;
            }
            let node = &round.nodes[at];
            let is_forced =
                |node: usize| self.captures.keys().any(|&group| round.holds(node, group));
            let new = if !round.used[at] {
                None
            } else if let Node::Reference { fold, .. } = node
                && self.references.contains(&at)
            {
                Some(tree.text(self.text.unwrap_or(""), *fold))
            } else if !is_forced(at) {
                Some(copy(tree, node, &map, first))
            } else {
                let children = node.children().iter().map(|child| child.index());
                let forced: Vec<usize> = children.filter(|&child| is_forced(child)).collect();
                self.forced(tree, at, &forced, &map, first)?
            };
            map.push(new);
        }
        map.pop()
    }

    /// The copy of a node that holds a forced group.
    fn forced(
        &self,
        tree: &mut Tree,
        at: usize,
        forced: &[usize],
        map: &[Option<NodeId>],
        first: usize,
    ) -> Option<Option<NodeId>> {
        let new = |child: usize| map.get(child - first).copied().flatten();
        Some(match &self.round.nodes[at] {
            Node::Group { index, child } => match self.captures.get(&at) {
                Some(texts) if texts.contains(self.text.unwrap_or("")) => {
                    let text = tree.text(self.text.unwrap_or(""), false);
                    Some(tree.group(*index, text))
                }
                Some(_) => None,
                None => new(child.index()).map(|child| tree.group(*index, child)),
            },
            Node::Concat(items) => {
                // Two groups of one name never take part together.
                if forced.len() > 1 {
                    return None;
                }
                let items: Option<Vec<_>> = items.iter().map(|item| new(item.index())).collect();
                items.map(|items| tree.concat(items))
            }
            Node::Alternation(items) => {
                let takes_part = |item: usize| self.text.is_none() || forced.contains(&item);
                let items = items.iter().map(|item| item.index()).filter(|&item| takes_part(item));
                let items: Vec<_> = items.filter_map(new).collect();
                (!items.is_empty()).then(|| tree.alternation(items))
            }
            Node::Repeat { child, min, max } => {
                let last = new(child.index());
                let rounds = last.map(|last| {
                    let before = self.fresh(tree, child.index());
                    let less = |count: u32| count.saturating_sub(1);
                    let before = tree.repeat(before, less(*min), max.map(less));
                    let backwards = self.round.is_backwards(at);
                    tree.concat(if backwards { vec![last, before] } else { vec![before, last] })
                });
                match (rounds, self.text.is_none() && *min == 0) {
                    (Some(rounds), true) => {
                        let none = tree.empty();
                        Some(tree.alternation(vec![none, rounds]))
                    }
                    (None, true) => Some(tree.empty()),
                    (rounds, false) => rounds,
                }
            }
            _ => return None,
        })
    }

    /// A copy of a subtree whose groups are nobody else's.
    fn fresh(&self, tree: &mut Tree, root: usize) -> NodeId {
        let round = self.round;
        let first = round.first[root];
        // Numbers that no other copy has: each takes a node of the new tree.
        let last = round.groups.keys().max().copied().unwrap_or(0);
        let base = last.saturating_add(tree.nodes().len() as u32 + 1);
        let mut names: FxHashMap<u32, u32> = FxHashMap::default();
        for at in first..=root {
            if let Node::Group { index, .. } = round.nodes[at] {
                let next = base + names.len() as u32;
                names.entry(index).or_insert(next);
            }
        }
        let rename = |index: &u32| names.get(index).copied().unwrap_or(*index);
        let mut map: Vec<Option<NodeId>> = Vec::with_capacity(root - first + 1);
        for at in first..=root {
            map.push(Some(match &round.nodes[at] {
                _ if !round.used[at] => tree.empty(),
                Node::Group { index, child } => {
                    let child = map[child.index() - first].unwrap_or_else(|| tree.empty());
                    tree.group(rename(index), child)
                }
                Node::Reference { groups, fold } => {
                    tree.reference(groups.iter().map(rename).collect(), *fold)
                }
                node => copy(tree, node, &map, first),
            }));
        }
        map.pop().flatten().unwrap_or_else(|| tree.empty())
    }
}
