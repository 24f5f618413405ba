//! The queue of cleanup: removals left by committed transactions until no snapshot needs the data.

use std::cell::RefCell;
use std::collections::VecDeque;

use ese::Lgpos;

use crate::cache::Kept;
use crate::versions::{Cleanup, CommitNumber};

/// How many batches of cleanup are worked on at a time.
const MOST_RUNNING: usize = 16;

/// Cleanup that a committed transaction has left.
pub(crate) struct CleanupBatch {
    /// It may begin once everybody sees this commit.
    pub number: CommitNumber,
    /// Log position at which the transaction began: recovery must be able to find the batch again.
    pub since: Lgpos,
    /// Removals, operation by operation.
    pub groups: Vec<CleanupGroup>,
}

/// Removals of one operation, in one apply.
pub(crate) struct CleanupGroup {
    /// The items to remove.
    pub items: Vec<Cleanup>,
    /// Its pages stay in the cache until then, or each would be written, read and written again.
    _kept: Kept,
}

impl CleanupGroup {
    /// Work on pages that need not stay in the cache until it is done.
    pub(crate) fn new(items: Vec<Cleanup>) -> Self {
        Self::on(Kept::default(), items)
    }

    /// Cleanup of pages that are pinned for it.
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

    /// Takes the next batch and marks it in progress, unless too many are or some snapshot may
    /// still need it: all see everything committed up to `seen_by_all`.
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

    /// The end of work that [`CleanupQueue::hold`] or [`CleanupQueue::take`] has marked.
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

    /// The oldest place of the log that some batch needs.
    pub(super) fn oldest_needed(&self) -> Option<Lgpos> {
        let (waiting, running) = (self.waiting.borrow(), self.running.borrow());
        let waiting = waiting.iter().map(|batch| batch.since);
        waiting.chain(running.iter().copied()).min()
    }
}
