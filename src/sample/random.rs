//! A small seeded generator (SplitMix64): the same seed gives the same documents everywhere.

/// A stream of pseudo-random numbers; not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            return 0;
        }
        // The high half of the product: the bias is below 2^-32 for every bound used here.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number of `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high - low.min(high)) as usize + 1) as u32
    }

    /// A number of `0.0..1.0`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index drawn in proportion to `weights`; `None` where none is above zero.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 || !total.is_finite() {
            return None;
        }
        let mut rest = self.unit() * total;
        for (index, &weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 && weight > 0.0 {
                return Some(index);
            }
        }
        weights.iter().rposition(|&weight| weight > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        // The reference value of SplitMix64 for seed 0.
        assert_eq!(draw(0)[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn ranges_are_closed_and_weights_are_respected() {
        let mut random = Random::new(1);
        let drawn: Vec<u32> = (0..500).map(|_| random.between(3, 5)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&5));
        assert_eq!(random.below(0), 0);
        assert_eq!(random.weighted(&[0.0, 2.0, 0.0]), Some(1));
        assert_eq!(random.weighted(&[0.0]), None);
        let ones = (0..1000).filter(|_| random.weighted(&[1.0, 9.0]) == Some(1)).count();
        assert!((850..950).contains(&ones), "{ones}");
    }
}
