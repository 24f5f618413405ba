//! Chooses the blocks to evict when the cache is full: those not read since the hand last passed.

use std::collections::BTreeSet;

/// Cycles through the blocks and spares those read since its last pass.
#[derive(Debug, Default)]
pub(super) struct ClockHand {
    read: BTreeSet<u64>,
    /// The next block to pass.
    at: u64,
}

impl ClockHand {
    /// Notes a read.
    pub(super) fn touch(&mut self, block: u64) {
        self.read.insert(block);
    }

    /// Returns up to `count` blocks to evict from the ascending `blocks`; blocks that were read are
    /// spared once.
    pub(super) fn victims(&mut self, blocks: impl Iterator<Item = u64>, count: u64) -> Vec<u64> {
        let all: Vec<u64> = blocks.collect();
        let first = all.partition_point(|block| *block < self.at);
        let around = all[first..].iter().chain(&all[..first]).chain(&all);
        let mut victims = BTreeSet::new();
        for &block in around {
            if victims.len() as u64 == count {
                break;
            }
            self.at = block + 1;
            if !self.read.remove(&block) {
                victims.insert(block);
            }
        }
        victims.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ClockHand;

    #[test]
    fn the_hand_spares_blocks_that_were_read_and_goes_around() {
        let mut hand = ClockHand::default();
        hand.touch(1);
        assert_eq!(hand.victims([0, 1, 2, 3].into_iter(), 2), [0, 2]);
        assert_eq!(hand.victims([1, 3].into_iter(), 1), [3]);
        assert_eq!(hand.victims([1, 4].into_iter(), 1), [4]);
        hand.touch(1);
        assert_eq!(hand.victims([1].into_iter(), 1), [1], "spared only once");
        assert_eq!(hand.victims(std::iter::empty(), 5), [0; 0]);
    }
}
