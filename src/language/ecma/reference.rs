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

use super::PatternError;
use super::class;
use super::tree::{Node, NodeId, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// References of one pattern, above which it is not compiled.
const MAX_REFERENCES: usize = 1024;

/// Texts of a group up to which references to it are exact, and characters of each.
const MAX_TEXTS: usize = 64;
const MAX_CHARS: usize = 1024;

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
        if let Some(first) = children.first() {
            self.first[at] = self.first[first.index()];
        }
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

    /// The language of a subtree, if it is finite, small and depends on nothing around it.
    fn texts(&self, root: usize) -> Option<BTreeSet<String>> {
        let first = self.first[root];
        let mut sets: Vec<BTreeSet<String>> = Vec::with_capacity(root - first + 1);
        for at in first..=root {
            if !self.used[at] {
                sets.push(BTreeSet::new());
                continue;
            }
            let mut below = self.nodes[at]
                .children()
                .iter()
                .map(|child| child.index() - first)
                .collect::<Vec<_>>();
            let mut take = |place: usize| std::mem::take(&mut sets[place]);
            let set = match &self.nodes[at] {
                Node::Empty => BTreeSet::from([String::new()]),
                Node::Char(c) => BTreeSet::from([c.to_string()]),
                Node::Class(class) => {
                    let chars = class.ranges().iter().flat_map(|range| range.start()..=range.end());
                    chars.take(MAX_TEXTS + 1).map(String::from).collect()
                }
                Node::Group { .. } => take(below.pop()?),
                Node::Alternation(_) => below.into_iter().flat_map(take).collect(),
                Node::Concat(_) => {
                    let empty = BTreeSet::from([String::new()]);
                    below.into_iter().try_fold(empty, |all, one| product(&all, &take(one)))?
                }
                Node::Repeat { min, max, .. } => power(&take(below.pop()?), *min, *max)?,
                _ => return None,
            };
            if set.len() > MAX_TEXTS {
                return None;
            }
            sets.push(set);
        }
        sets.pop()
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

/// One text forced upon groups, in a copy of a subtree.
struct Forcing<'r, 't> {
    round: &'r Round<'t>,
    /// What each group can capture.
    captures: FxHashMap<usize, BTreeSet<String>>,
    /// The references to them.
    references: FxHashSet<usize>,
    /// What they capture; `None`: nothing, or no characters.
    text: Option<&'r str>,
}

impl Forcing<'_, '_> {
    /// The copy of the subtree at `root`; the inner `None` where the text cannot be captured.
    fn branch(&self, tree: &mut Tree, root: usize) -> Option<Option<NodeId>> {
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

/// A node again; `map` has the new children, from the one at `first` on.
fn copy(tree: &mut Tree, node: &Node, map: &[Option<NodeId>], first: usize) -> NodeId {
    tree.copy(node, |child| {
        map.get(child.index() - first).copied().flatten().unwrap_or(NodeId::new(0))
    })
}

/// The texts of one set before those of another; `None` where they are too many or too long.
fn product(one: &BTreeSet<String>, two: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let all: BTreeSet<String> =
        one.iter().flat_map(|a| two.iter().map(move |b| format!("{a}{b}"))).collect();
    (all.len() <= MAX_TEXTS && all.iter().all(|text| text.len() <= MAX_CHARS)).then_some(all)
}

fn power(one: &BTreeSet<String>, min: u32, max: Option<u32>) -> Option<BTreeSet<String>> {
    let (mut all, mut last) = (BTreeSet::new(), BTreeSet::from([String::new()]));
    let mut count = 0;
    loop {
        if count >= min {
            all.extend(last.iter().cloned());
        }
        if max.is_some_and(|max| count >= max) || all.len() > MAX_TEXTS {
            return Some(all);
        }
        let next = product(&last, one)?;
        if next == last {
            all.extend(next);
            return Some(all);
        }
        (last, count) = (next, count + 1);
    }
}
