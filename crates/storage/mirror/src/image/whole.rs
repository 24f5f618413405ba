//! Takes an image apart and reassembles it, for a file that holds it.

use super::{BlockSlot, FlashImage, FlashOp, LogEntry, SettledBlock};

/// Everything in an image except its blocks and its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHead {
    /// See [`FlashOp::Epoch`].
    pub epoch: u64,
    /// Set while a resynchronisation is incomplete; see [`FlashOp::Begin`].
    pub floor: Option<u64>,
    /// See [`FlashOp::Mark`].
    pub commit: u64,
    /// See [`FlashOp::Mark`].
    pub destaged: u64,
    /// The entry before the first one of the log.
    pub start: u64,
}

impl FlashImage {
    pub(crate) fn head(&self) -> ImageHead {
        let Self { epoch, floor, commit, destaged, start, .. } = *self;
        ImageHead { epoch, floor, commit, destaged, start }
    }

    /// Starts over as the image that `head` belongs to; its blocks and its log follow.
    pub(crate) fn begin_image(&mut self, head: ImageHead) -> bool {
        let ImageHead { epoch, floor, commit, destaged, start } = head;
        let empty = Self::empty(self.backed, self.retained);
        *self = Self { epoch, floor, commit, destaged, start, ..empty };
        true
    }

    /// `true` if the entries of `op` are consecutive and continue the log.
    pub(crate) fn admits(&self, op: &FlashOp) -> bool {
        let (end, entries) = match op {
            FlashOp::Append(entries) => (self.end(), entries),
            FlashOp::ReplaceTail { base, entries } => (*base, entries),
            _ => return true,
        };
        let is_inside = self.start <= end && end <= self.end();
        is_inside && (end + 1..).zip(entries).all(|(lsn, entry)| entry.lsn == lsn)
    }

    pub(crate) fn base_parts(
        &self,
        most: usize,
    ) -> impl Iterator<Item = Vec<(u64, BlockSlot)>> + '_ {
        let here = self.base.iter().filter(|(_, slot)| slot.data.here().is_some());
        parts(here.map(|(block, slot)| (*block, slot.clone())), most)
    }

    pub(crate) fn home_parts(&self, most: usize) -> impl Iterator<Item = Vec<SettledBlock>> + '_ {
        parts(self.settled(), most)
    }

    pub(crate) fn log_parts(&self, most: usize) -> impl Iterator<Item = Vec<LogEntry>> + '_ {
        parts(self.log.iter().cloned(), most)
    }

    /// Blocks that it holds, in the log and folded.
    #[must_use]
    pub fn stored_blocks(&self) -> usize {
        self.base.len() + self.log.len()
    }

    /// Approximate size of its records in bytes once all folded blocks are at their homes, with
    /// blocks of `block` bytes.
    #[must_use]
    pub fn record_bytes(&self, block: u64) -> u64 {
        self.log.len() as u64 * block + self.base.len() as u64 * size_of::<SettledBlock>() as u64
    }

    /// Folded blocks, which may be evicted if a backing store exists.
    pub fn folded_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        self.base.keys().copied()
    }
}

/// Groups `members`, up to `most` at a time.
fn parts<T>(mut members: impl Iterator<Item = T>, most: usize) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        Some(members.by_ref().take(most).collect()).filter(|part: &Vec<T>| !part.is_empty())
    })
}
