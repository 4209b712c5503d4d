//! Finite languages of subtrees, as their texts.

use super::super::tree::Node;
use super::Round;
use std::collections::BTreeSet;

/// Texts of a group up to which references to it are exact, and bytes of each.
pub(super) const MAX_TEXTS: usize = 64;
const MAX_BYTES: usize = 1024;

impl Round<'_> {
    /// The language of a subtree, if it is finite, small and depends on nothing around it.
    pub(super) fn texts(&self, root: usize) -> Option<BTreeSet<String>> {
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
}

/// The texts of one set before those of another; `None` where they are too many or too long.
fn product(one: &BTreeSet<String>, two: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let all: BTreeSet<String> =
        one.iter().flat_map(|a| two.iter().map(move |b| format!("{a}{b}"))).collect();
    (all.len() <= MAX_TEXTS && all.iter().all(|text| text.len() <= MAX_BYTES)).then_some(all)
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
