//! Whitespace between tokens: a countdown.

use crate::options::{Margin, SurfacePolicy, Whitespace};

/// How much whitespace may still come here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gap {
    /// Bytes left in this run.
    pub(crate) left: u16,
    /// A space must come before anything else.
    pub(crate) need: bool,
    /// Only a space, not the other three.
    only_space: bool,
}

impl Gap {
    pub(crate) const NONE: Gap = Gap { left: 0, need: false, only_space: false };

    /// Whether each of the four whitespace bytes may come, as many as are left, or none.
    pub(crate) fn is_plain(&self) -> bool {
        !self.need && !self.only_space
    }

    /// Takes one whitespace byte; `false` where it is not allowed.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        if self.left == 0 || (self.only_space && byte != b' ') {
            return false;
        }
        self.left -= 1;
        self.need = false;
        true
    }
}

/// The gaps of a surface policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaps {
    /// Before the root value.
    pub(crate) lead: Gap,
    /// Behind the root value.
    pub(crate) tail: Gap,
    /// Behind `,` and `:`.
    pub(crate) separator: Gap,
    /// Everywhere else between two tokens.
    pub(crate) between: Gap,
}

impl Gaps {
    pub(crate) fn new(policy: &SurfacePolicy) -> Gaps {
        let run = |n: u32| Gap { left: n.min(Whitespace::MAX_BOUND) as u16, ..Gap::NONE };
        let (between, separator, margin) = match policy.whitespace {
            Whitespace::Flexible => {
                let gap = run(Whitespace::FLEXIBLE_BOUND);
                (gap, gap, gap)
            }
            Whitespace::Bounded(n) => (run(n), run(n), run(n)),
            Whitespace::Compact => (Gap::NONE, Gap::NONE, run(Whitespace::FLEXIBLE_BOUND)),
            Whitespace::Spaced => {
                let one = Gap { left: 1, need: true, only_space: true };
                (Gap::NONE, one, run(Whitespace::FLEXIBLE_BOUND))
            }
        };
        let lead = if policy.margin == Margin::None { Gap::NONE } else { margin };
        let tail = if policy.margin == Margin::Both { margin } else { Gap::NONE };
        Gaps { lead, tail, separator, between }
    }
}
