//! The decisions of S3-FIFO (Yang et al., SOSP 2023), one function each. The exact queues of
//! [`super::S3Fifo`] and the segments of the store both ask them.

/// Highest access count that a block carries: two bits.
pub(crate) const MOST_ACCESSES: u8 = 3;

/// Accesses in the small queue that earn a place in the main queue.
const PROMOTED_BY: u8 = 2;

/// The two queues of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FifoQueue {
    /// Newcomers.
    Small,
    /// Blocks that were accessed again.
    Main,
}

impl FifoQueue {
    pub(crate) const ALL: [Self; 2] = [Self::Small, Self::Main];

    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Small => 0,
            Self::Main => 1,
        }
    }
}

/// What becomes of the oldest block of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvictionFate {
    /// It joins the main queue with this access count.
    ToMain(u8),
    /// It is evicted and remembered by the ghost.
    ToGhost,
    /// It is evicted and forgotten.
    Dropped,
}

/// Blocks of `capacity` available to new blocks: a tenth.
pub(crate) const fn small_share(capacity: u64) -> u64 {
    let share = capacity / 10;
    if share == 0 { 1 } else { share }
}

/// The queue that evicts the next block.
pub(crate) const fn victim(small: u64, main: u64, capacity: u64) -> FifoQueue {
    if main > capacity - small_share(capacity) || small == 0 {
        FifoQueue::Main
    } else {
        FifoQueue::Small
    }
}

/// The queue of a block that was missed; `remembered` if the ghost holds it.
pub(crate) const fn admitted_to(remembered: bool) -> FifoQueue {
    if remembered { FifoQueue::Main } else { FifoQueue::Small }
}

/// The access count after one more access.
pub(crate) const fn touched(accesses: u8) -> u8 {
    if accesses < MOST_ACCESSES { accesses + 1 } else { accesses }
}

/// What becomes of the oldest block of `queue`.
pub(crate) const fn fate(queue: FifoQueue, accesses: u8) -> EvictionFate {
    match (queue, accesses) {
        (FifoQueue::Small, PROMOTED_BY..) => EvictionFate::ToMain(0),
        (FifoQueue::Small, _) => EvictionFate::ToGhost,
        (FifoQueue::Main, 0) => EvictionFate::Dropped,
        (FifoQueue::Main, accesses) => EvictionFate::ToMain(accesses - 1),
    }
}
