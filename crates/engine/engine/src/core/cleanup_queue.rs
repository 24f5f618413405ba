//! The cleanup queue: removals left by committed transactions, held until no snapshot needs the
//! data.

use std::cell::RefCell;
use std::collections::VecDeque;

use ese::Lgpos;

use crate::cache::Kept;
use crate::versions::{Cleanup, CommitNumber};

/// Maximum number of cleanup batches in progress.
const MOST_RUNNING: usize = 16;

/// Cleanup left by a committed transaction.
pub(crate) struct CleanupBatch {
    /// The cleanup may begin once all snapshots see this commit.
    pub number: CommitNumber,
    /// Log position at which the transaction began: recovery must be able to find the batch again.
    pub since: Lgpos,
    /// Removals, grouped by operation.
    pub groups: Vec<CleanupGroup>,
}

/// Removals of one operation, in one apply.
pub(crate) struct CleanupGroup {
    /// The items to remove.
    pub items: Vec<Cleanup>,
    /// Pins the group's pages in the cache until it is done; otherwise each would be written, read
    /// and written again.
    _kept: Kept,
}

impl CleanupGroup {
    /// Cleanup of pages that may leave the cache before it is done.
    pub(crate) fn new(items: Vec<Cleanup>) -> Self {
        Self::on(Kept::default(), items)
    }

    /// Cleanup of the pages pinned by `kept`.
    pub(crate) const fn on(kept: Kept, items: Vec<Cleanup>) -> Self {
        Self { items, _kept: kept }
    }
}

/// Batches of cleanup, in the order of their commits.
#[derive(Default)]
pub(crate) struct CleanupQueue {
    waiting: RefCell<VecDeque<CleanupBatch>>,
    /// Starting positions of the transactions whose cleanup is in progress.
    running: RefCell<Vec<Lgpos>>,
}

impl CleanupQueue {
    /// Appends a batch.
    pub(crate) fn push(&self, batch: CleanupBatch) {
        self.waiting.borrow_mut().push_back(batch);
    }

    /// Takes the next batch and marks it in progress, unless too many already are or some snapshot
    /// may still need it: all snapshots see everything committed up to `seen_by_all`.
    pub(crate) fn take(&self, seen_by_all: CommitNumber) -> Option<CleanupBatch> {
        let mut waiting = self.waiting.borrow_mut();
        if self.running.borrow().len() >= MOST_RUNNING {
            return None;
        }
        let batch = waiting.pop_front_if(|batch| batch.number <= seen_by_all)?;
        self.hold(batch.since);
        Some(batch)
    }

    /// Marks work that needs the log from `since` on.
    pub(crate) fn hold(&self, since: Lgpos) {
        self.running.borrow_mut().push(since);
    }

    /// Ends work marked by [`CleanupQueue::hold`] or [`CleanupQueue::take`].
    pub(crate) fn release(&self, since: Lgpos) {
        let mut running = self.running.borrow_mut();
        let mine = running.iter().position(|held| *held == since);
        running.swap_remove(mine.expect("invariant: it was marked when it was taken"));
    }

    /// Whether no batch is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }

    /// Whether no batch is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.borrow().is_empty()
    }

    /// The oldest log position that some batch needs.
    pub(super) fn oldest_needed(&self) -> Option<Lgpos> {
        let (waiting, running) = (self.waiting.borrow(), self.running.borrow());
        let waiting = waiting.iter().map(|batch| batch.since);
        waiting.chain(running.iter().copied()).min()
    }
}
