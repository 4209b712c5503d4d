//! Graphs, followed backwards.

use fixedbitset::FixedBitSet;

/// The edges of a graph turned round, as offsets into one list.
#[derive(Debug)]
pub(super) struct Reversed {
    offsets: Vec<usize>,
    sources: Vec<u32>,
}

impl Reversed {
    /// `edges` visits what a node leads to, each time in the same way.
    pub(super) fn new(len: usize, edges: impl Fn(usize, &mut dyn FnMut(usize))) -> Reversed {
        let mut offsets = vec![0usize; len + 1];
        for from in 0..len {
            edges(from, &mut |to| offsets[to + 1] += 1);
        }
        for i in 0..len {
            offsets[i + 1] += offsets[i];
        }
        let mut sources = vec![0u32; offsets[len]];
        let mut next_free = offsets.clone();
        for from in 0..len {
            edges(from, &mut |to| {
                sources[next_free[to]] = from as u32;
                next_free[to] += 1;
            });
        }
        Reversed { offsets, sources }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The nodes that lead to `node`, as often as they do.
    pub(super) fn before(&self, node: usize) -> &[u32] {
        &self.sources[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The nodes from which a seed can be reached, seeds among them.
    pub(super) fn leading_to(&self, is_seed: impl Fn(usize) -> bool) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.len());
        let mut stack: Vec<usize> = (0..self.len()).filter(|&node| is_seed(node)).collect();
        while let Some(node) = stack.pop() {
            if !reached.put(node) {
                stack.extend(self.before(node).iter().map(|&from| from as usize));
            }
        }
        reached
    }
}

/// The nodes of a graph from which a seed can be reached.
pub(super) fn backward(
    len: usize,
    is_seed: impl Fn(usize) -> bool,
    edges: impl Fn(usize, &mut dyn FnMut(usize)),
) -> FixedBitSet {
    Reversed::new(len, edges).leading_to(is_seed)
}
