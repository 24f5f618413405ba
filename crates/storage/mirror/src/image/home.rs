//! Keeps folded blocks at their homes on flash, so that memory holds only their positions.
//!
//! Each block of the volume has one place, its home, which is overwritten as a whole. That loses
//! nothing: the log with the newer content is durable by then, and is kept until the homes are
//! durable. Readers of a home verify its checksum: it may have been overwritten after they looked
//! it up.

use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::{BlockData, BlockSlot, FlashImage};

/// The content of a block that an image holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// In memory.
    Here(BlockData),
    /// On flash.
    Home(HomeBlock),
}

/// Identity of a block stored in its home on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HomeBlock {
    /// The block.
    pub block: u64,
    /// The checksum of its content.
    pub sum: u64,
}

/// A block whose content has durably reached its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledBlock {
    /// The block and its checksum.
    pub home: HomeBlock,
    /// Log position of the stored write.
    pub lsn: u64,
}

impl HomeBlock {
    /// The home of `block` once it holds `data`.
    #[must_use]
    pub(crate) fn of(block: u64, data: &[u8]) -> Self {
        Self { block, sum: XxHash3_64::oneshot_with_seed(block, data) }
    }

    /// `true` if `data` is what the home held when it was looked up.
    #[must_use]
    pub fn is(&self, data: &[u8]) -> bool {
        *self == Self::of(self.block, data)
    }
}

impl From<BlockData> for BlockContent {
    fn from(data: BlockData) -> Self {
        Self::Here(data)
    }
}

impl<const N: usize> From<[u8; N]> for BlockContent {
    fn from(data: [u8; N]) -> Self {
        Self::Here(data.into())
    }
}

impl BlockContent {
    /// Its bytes, if they are in memory.
    #[must_use]
    pub fn here(&self) -> Option<&BlockData> {
        match self {
            Self::Here(data) => Some(data),
            Self::Home(_) => None,
        }
    }

    /// `true` if the block was trimmed. It is still tracked: a peer that was away must learn of the
    /// trim.
    #[must_use]
    pub(crate) fn is_trimmed(&self) -> bool {
        self.here().is_some_and(|data| data.is_empty())
    }
}

impl FlashImage {
    /// Folded blocks in memory that have not reached their homes.
    pub fn unsettled(&self) -> impl Iterator<Item = (SettledBlock, BlockData)> + '_ {
        self.base.iter().filter_map(|(block, slot)| {
            let data = slot.data.here().filter(|data| !data.is_empty())?;
            let home = HomeBlock::of(*block, data);
            Some((SettledBlock { home, lsn: slot.lsn }, Arc::clone(data)))
        })
    }

    /// Folded blocks that were trimmed, so that their homes may be freed.
    pub fn trimmed(&self) -> impl Iterator<Item = u64> + '_ {
        self.base.iter().filter(|(_, slot)| slot.data.is_trimmed()).map(|(block, _)| *block)
    }

    /// Records that the contents of `blocks` have reached their homes; later contents stay in
    /// memory.
    pub fn settle(&mut self, blocks: &[SettledBlock]) {
        for SettledBlock { home, lsn } in blocks {
            if let Some(slot) = self.base.get_mut(&home.block).filter(|slot| slot.lsn == *lsn) {
                slot.data = BlockContent::Home(*home);
            }
        }
    }

    /// `true` if it keeps a block at its home.
    #[must_use]
    pub fn uses_homes(&self) -> bool {
        self.settled().next().is_some()
    }

    /// Restores folded blocks that a file placed at their homes, after a restart.
    pub(crate) fn resettle(&mut self, blocks: Vec<SettledBlock>) {
        for SettledBlock { home, lsn } in blocks {
            self.keep(home.block, BlockSlot { lsn, data: BlockContent::Home(home) });
        }
    }

    /// Blocks that an image keeps at their homes.
    pub(crate) fn settled(&self) -> impl Iterator<Item = SettledBlock> + '_ {
        self.base.values().filter_map(|slot| match slot.data {
            BlockContent::Home(home) => Some(SettledBlock { home, lsn: slot.lsn }),
            BlockContent::Here(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockContent, HomeBlock, SettledBlock};
    use crate::image::{EntryKind, FlashImage, FlashOp, LogEntry};

    fn write(lsn: u64, byte: u8) -> FlashOp {
        let kind = EntryKind::Write { block: 3, data: [byte].into() };
        FlashOp::Append(vec![LogEntry { lsn, kind }])
    }

    #[test]
    fn a_folded_block_settles_and_a_later_write_returns_it_to_memory() {
        let mut image = FlashImage::empty(false, 0);
        image.apply(&write(1, 7));
        assert_eq!(image.unsettled().count(), 0, "the log is not folded yet");
        image.apply(&FlashOp::Mark { commit: 1, destaged: 0 });
        let settled: Vec<SettledBlock> = image.unsettled().map(|(block, _)| block).collect();
        let home = HomeBlock::of(3, &[7]);
        assert_eq!(settled, [SettledBlock { home, lsn: 1 }]);
        image.apply(&write(2, 8));
        image.apply(&FlashOp::Mark { commit: 2, destaged: 0 });
        image.settle(&settled);
        let slot = image.read(3, u64::MAX).expect("a block");
        assert_eq!((slot.lsn, slot.data), (2, [8].into()), "the home holds an older write");
        let settled: Vec<SettledBlock> = image.unsettled().map(|(block, _)| block).collect();
        image.settle(&settled);
        let home = BlockContent::Home(HomeBlock::of(3, &[8]));
        assert_eq!(image.read(3, u64::MAX).map(|slot| slot.data), Some(home));
        assert_eq!(image.unsettled().count(), 0);
    }

    #[test]
    fn a_trimmed_block_needs_no_home_and_a_committed_trim_is_not_made_again() {
        let trim = |lsn| {
            let kind = EntryKind::Write { block: 3, data: [].into() };
            FlashOp::Append(vec![LogEntry { lsn, kind }])
        };
        let mut image = FlashImage::empty(false, 0);
        assert_eq!(image.untrimmed(0..9), [0; 0], "never written");
        image.apply(&write(1, 7));
        assert_eq!(image.untrimmed(0..9), [3]);
        assert_eq!(image.untrimmed(4..9), [0; 0]);
        image.apply(&trim(2));
        assert_eq!(image.untrimmed(0..9), [3], "the trim may still be withdrawn");
        assert_eq!(image.trimmed().count(), 0, "its home may be needed");
        image.apply(&FlashOp::Mark { commit: 2, destaged: 0 });
        assert_eq!(image.untrimmed(0..9), [0; 0]);
        assert_eq!(image.trimmed().collect::<Vec<_>>(), [3]);
        assert_eq!(image.changed(1, u64::MAX), [3], "a peer that was away must learn of it");
        assert_eq!(image.unsettled().count(), 0);
        image.apply(&write(3, 8));
        image.apply(&FlashOp::Mark { commit: 3, destaged: 0 });
        assert_eq!(image.trimmed().count(), 0);
        assert_eq!(image.untrimmed(0..9), [3]);
    }

    #[test]
    fn a_home_is_recognised_by_block_and_content() {
        let home = HomeBlock::of(3, &[7]);
        assert!(home.is(&[7]) && !home.is(&[8]));
        assert_ne!(home.sum, HomeBlock::of(4, &[7]).sum);
    }
}
