//! One pool for all volumes, with optional bounds for individual ones. A volume without bounds
//! holds as much as its blocks earn; an idle one loses its blocks to the others, oldest first.

/// Bounds of a volume's part of the pool, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolShare {
    /// Blocks that others may not evict.
    pub least: u64,
    /// Blocks that it may hold.
    pub most: u64,
}

impl Default for PoolShare {
    fn default() -> Self {
        Self { least: 0, most: u64::MAX }
    }
}

impl PoolShare {
    /// `true` if the volume may take one more block than the `held` ones.
    pub(crate) const fn may_grow(self, held: u64) -> bool {
        held < self.most
    }

    /// `true` if the volume's blocks are protected from eviction.
    pub(crate) const fn protects(self, held: u64) -> bool {
        held <= self.least
    }
}
