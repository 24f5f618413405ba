//! Background work of an open database: cleanup after commits and the checkpoint.

use std::rc::Rc;

use units::Nanos;
use wal::edit::TransactionId;

use crate::core::{CleanupBatch, CleanupGroup, Core};
use crate::error::TransactionError;
use crate::header_file::HeaderFile;
use crate::rows::clean_up;

/// Longest time between two advances of the checkpoint while the log grows.
const CHECKPOINT_PERIOD: Nanos = Nanos::from_secs(1);
/// The checkpoint checks its depth at least this often.
const LOOK_PERIOD: Nanos = Nanos::from_millis(10);
/// The longest step of [`step_bytes`].
const LONGEST_STEP_BYTES: u64 = 4 << 20;

impl Core {
    /// Does the cleanup that no snapshot blocks any more, until the database stops. Several batches
    /// run at a time: the sooner they finish, the likelier their pages are still cached.
    pub(crate) async fn clean_up_forever(self: Rc<Self>) {
        while !self.is_over() {
            let ended = self.lifecycle.work_ended().notified();
            match self.next_cleanup() {
                Some(batch) => {
                    let core = Rc::clone(&self);
                    // Damage is left in place; the next reader of the page reports it.
                    drop(self.runtime.spawn(async move { core.clean_up_batch(batch).await }));
                }
                None => ended.await,
            }
        }
        let work_ended = self.lifecycle.work_ended();
        work_ended.wait_until(|| self.cleanups.is_idle()).await;
    }

    /// Does all cleanup that may be done now.
    pub(crate) async fn clean_up_now(&self) -> Result<(), TransactionError> {
        while let Some(batch) = self.next_cleanup() {
            self.clean_up_batch(batch).await?;
        }
        Ok(())
    }

    /// The next batch ready for cleanup, marked as in progress.
    fn next_cleanup(&self) -> Option<CleanupBatch> {
        let seen_by_all = self.versions.borrow_mut().trim();
        self.cleanups.take(seen_by_all)
    }

    async fn clean_up_batch(&self, batch: CleanupBatch) -> Result<(), TransactionError> {
        let done = self.clean_up_groups(batch.groups).await;
        self.end_cleanup(batch.since);
        done
    }

    async fn clean_up_groups(&self, groups: Vec<CleanupGroup>) -> Result<(), TransactionError> {
        for group in groups {
            let cleaned = self
                .change(
                    TransactionId::NONE,
                    |stage, versions| clean_up(stage, &self.tables, versions, &group.items),
                    |cleaned| cleaned.action(),
                )
                .await?;
            self.count(|counters| counters.cleanups += cleaned.count);
            for (tree, long_value) in cleaned.long_values {
                if let Some(numbers) = self.tables.long_value_numbers(tree) {
                    numbers.borrow_mut().give_back(long_value);
                }
            }
        }
        Ok(())
    }

    /// Keeps the distance between the oldest unwritten change and the end of the log below the
    /// checkpoint depth, until the database stops.
    pub(crate) async fn checkpoint_forever(self: Rc<Self>, header: Rc<HeaderFile>) {
        let mut last_advance = self.runtime.now();
        while !self.is_over() {
            let done = self.keep_depth(&header, &mut last_advance).await;
            if done.is_err() {
                return;
            }
            self.rest(LOOK_PERIOD).await;
        }
    }

    async fn keep_depth(
        &self,
        header: &HeaderFile,
        last_advance: &mut Nanos,
    ) -> Result<(), TransactionError> {
        let depth = self.settings.checkpoint_depth.0;
        let (tip, size) = (self.log.tip(), self.log.segment_size());
        let oldest = self.cache.frames().oldest_dirt();
        if oldest.is_some_and(|oldest| tip.bytes_since(oldest, size) > depth) {
            // Neighbours halfway to the limit are written along, since they will soon be due.
            let half = tip.segments_before(depth / 2, size);
            let bounds = (tip.segments_before(depth, size), half);
            self.cache.write_older_than(bounds, self.settings.checkpoint_writes).await?;
        }
        let step = self.safe_checkpoint();
        let step = step.bytes_since(self.log.checkpoint(), size);
        let waited = self.runtime.now().since(*last_advance) >= CHECKPOINT_PERIOD;
        if step >= step_bytes(depth) || waited && step > 0 {
            self.advance_checkpoint(header).await?;
            *last_advance = self.runtime.now();
        }
        Ok(())
    }

    /// Makes everything written durable and moves the checkpoint up to it.
    pub(crate) async fn advance_checkpoint(
        &self,
        header: &HeaderFile,
    ) -> Result<(), TransactionError> {
        let place = self.safe_checkpoint();
        self.cache.flush_file().await?;
        // The tip may be in a generation that will not exist after a crash.
        let (end, dbtime) = (self.log.durable(), self.dbtime());
        header.move_range(place, end, dbtime).await.map_err(|error| self.poison(&error))?;
        self.log.advance_checkpoint(place).await.map_err(|error| self.poison(&error))
    }
}

/// The step at which the checkpoint file advances regardless of time: a fifth of the configured
/// depth, so that the log exceeds that depth only slightly, whatever the depth.
fn step_bytes(depth: u64) -> u64 {
    (depth / 5).clamp(1, LONGEST_STEP_BYTES)
}

#[cfg(test)]
mod tests {
    use super::step_bytes;

    #[test]
    fn a_checkpoint_moves_in_steps_that_suit_its_depth() {
        assert_eq!(step_bytes(20 << 20), 4 << 20);
        assert_eq!(step_bytes(1 << 30), 4 << 20);
        assert_eq!(step_bytes(20 << 10), 4 << 10);
        assert_eq!(step_bytes(0), 1, "never without need");
    }
}
