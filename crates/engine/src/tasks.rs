//! Background work of an open database: cleanup after commits and the checkpoint.

use std::rc::Rc;

use ese::Lgpos;
use units::{Generation, Nanos};

use crate::core::{CleanupBatch, CleanupGroup, Core, log_distance};
use crate::edit::{TransactionId, UndoAction};
use crate::error::TransactionError;
use crate::rows::clean_up;
use crate::stage::Stage;
use crate::versions::Versions;

/// How many batches of cleanup are worked on at a time.
const MOST_CLEANUPS: usize = 16;
/// Longest time between two advances of the checkpoint while the log grows.
const CHECKPOINT_PERIOD: Nanos = Nanos::from_secs(1);
/// The checkpoint looks at its depth at least so often.
const LOOK_PERIOD: Nanos = Nanos::from_millis(10);
/// The longest step of [`step_bytes`].
const LONGEST_STEP_BYTES: u64 = 4 << 20;

impl Core {
    /// Does the cleanup that no snapshot stands against any more, until the database stops. Several
    /// batches at a time: the sooner it is done, the likelier the pages are still in the cache.
    pub(crate) async fn clean_up_forever(self: Rc<Self>) {
        while !self.is_over() {
            let ended = self.ended.notified();
            match self.next_cleanup() {
                Some(batch) => {
                    let core = Rc::clone(&self);
                    // Damage stays where it is; the next reader of the page reports it.
                    drop(
                        self.runtime
                            .spawn(async move { core.clean_up_batch(batch).await }),
                    );
                }
                None => ended.await,
            }
        }
        let cleaning = &self.cleaning;
        self.ended.wait_until(|| cleaning.borrow().is_empty()).await;
    }

    /// Does all cleanup that may be done now.
    pub(crate) async fn clean_up_now(&self) -> Result<(), TransactionError> {
        while let Some(batch) = self.next_cleanup() {
            self.clean_up_batch(batch).await?;
        }
        Ok(())
    }

    /// The next batch that may be done, marked as being worked on.
    fn next_cleanup(&self) -> Option<CleanupBatch> {
        let seen_by_all = self.versions.borrow_mut().trim();
        let mut cleanups = self.cleanups.borrow_mut();
        let mut cleaning = self.cleaning.borrow_mut();
        let ready = cleanups
            .front()
            .is_some_and(|batch| batch.number <= seen_by_all);
        if !ready || cleaning.len() >= MOST_CLEANUPS {
            return None;
        }
        let batch = cleanups.pop_front()?;
        cleaning.push(batch.since);
        Some(batch)
    }

    async fn clean_up_batch(&self, batch: CleanupBatch) -> Result<(), TransactionError> {
        let done = self.clean_up_groups(batch.groups).await;
        self.keep_until_durable(batch.since);
        let mut cleaning = self.cleaning.borrow_mut();
        let mine = cleaning.iter().position(|since| *since == batch.since);
        cleaning.swap_remove(mine.expect("invariant: it was marked when it was taken"));
        self.ended.notify_all();
        done
    }

    async fn clean_up_groups(&self, groups: Vec<CleanupGroup>) -> Result<(), TransactionError> {
        for group in groups {
            let plan = |stage: &mut Stage<'_>, versions: &Versions| {
                clean_up(stage, &self.trees, versions, &group.items)
            };
            let cleaned = self
                .change(TransactionId::NONE, plan, |_| UndoAction::None)
                .await?;
            self.count(|counters| counters.cleanups += cleaned);
        }
        Ok(())
    }

    /// Keeps the distance between the oldest unwritten change and the end of the log below the
    /// checkpoint depth, until the database stops.
    pub(crate) async fn checkpoint_forever(self: Rc<Self>) {
        let mut last_advance = self.runtime.now();
        while !self.is_over() {
            let done = self.keep_depth(&mut last_advance).await;
            if done.is_err() {
                return;
            }
            self.rest(LOOK_PERIOD).await;
        }
    }

    async fn keep_depth(&self, last_advance: &mut Nanos) -> Result<(), TransactionError> {
        let depth = self.settings.checkpoint_depth.0;
        let tip = self.cache.log.tip();
        let oldest = self.cache.frames().oldest_dirt();
        if oldest.is_some_and(|oldest| log_distance(oldest, tip) > depth) {
            // What has come half of the way will be due by the time the rest of its run is.
            let bounds = (place_before(tip, depth), place_before(tip, depth / 2));
            self.cache
                .write_older_than(bounds, self.settings.checkpoint_writes)
                .await?;
        }
        let step = log_distance(self.cache.log.checkpoint(), self.safe_checkpoint());
        let waited = self.runtime.now().since(*last_advance) >= CHECKPOINT_PERIOD;
        if step >= step_bytes(depth) || waited && step > 0 {
            self.advance_checkpoint().await?;
            *last_advance = self.runtime.now();
        }
        Ok(())
    }

    /// Makes what has been written durable and moves the checkpoint up to it.
    pub(crate) async fn advance_checkpoint(&self) -> Result<(), TransactionError> {
        let place = self.safe_checkpoint();
        self.cache.flush_file().await?;
        let header = &self.cache.header;
        // The tip may lie in a generation that a crash prevents.
        let (end, dbtime) = (self.cache.log.durable(), self.dbtime());
        header
            .move_range(place, end, dbtime)
            .await
            .map_err(|error| self.poison(&error))?;
        self.cache
            .log
            .advance_checkpoint(place)
            .await
            .map_err(|error| self.poison(&error))
    }
}

/// The checkpoint file moves when it can move by this much, whatever the time: a fifth of the depth
/// that it is to keep, so that the log beyond that depth stays short whatever the depth.
fn step_bytes(depth: u64) -> u64 {
    (depth / 5).clamp(1, LONGEST_STEP_BYTES)
}

/// The place `bytes` before another one, to a segment.
fn place_before(place: Lgpos, bytes: u64) -> Lgpos {
    let segments = (u64::from(place.generation.0) << 8) + u64::from(place.segment);
    let before = segments.saturating_sub(bytes >> 12);
    Lgpos {
        generation: Generation(u32::try_from(before >> 8).unwrap_or(0)),
        segment: u16::try_from(before & 0xFF).unwrap_or(0),
        byte: 0,
    }
}

#[cfg(test)]
mod tests {
    use ese::Lgpos;
    use units::Generation;

    use super::{place_before, step_bytes};
    use crate::core::log_distance;

    #[test]
    fn a_checkpoint_moves_in_steps_that_suit_its_depth() {
        assert_eq!(step_bytes(20 << 20), 4 << 20);
        assert_eq!(step_bytes(1 << 30), 4 << 20);
        assert_eq!(step_bytes(20 << 10), 4 << 10);
        assert_eq!(step_bytes(0), 1, "never without need");
    }

    #[test]
    fn places_and_distances_agree() {
        let tip = Lgpos {
            generation: Generation(30),
            segment: 5,
            byte: 0,
        };
        let before = place_before(tip, 20 << 20);
        assert_eq!(
            before,
            Lgpos {
                generation: Generation(10),
                ..tip
            }
        );
        assert_eq!(log_distance(before, tip), 20 << 20);
        assert_eq!(place_before(tip, u64::MAX), Lgpos::NONE);
    }
}
