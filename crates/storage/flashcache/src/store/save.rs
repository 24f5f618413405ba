//! Checkpoints during operation, and the final one of a clean shutdown.

use std::rc::Rc;

use device::{Boxed, DeviceError, Durability, Purpose, Request};

use super::checkpoint::{self, CheckpointHead, ChunkName, LogPosition};
use super::geometry::{CHUNK_BYTES, SUPERBLOCKS};
use super::state::StoreState;
use super::status::CacheHealth;
use super::superblock::{CacheSuperblock, CheckpointPlace};
use super::{CacheStore, CacheStoreCore};
use crate::policy::rules::FifoQueue;

/// Log length that triggers a checkpoint, as a multiple of the checkpoint's length: at most an
/// eighth more is written to flash.
const LOG_PER_CHECKPOINT: u64 = 8;

/// Share of marked bits in the dirty-region log that triggers a checkpoint to clear them.
const MARKED_SHARE: f64 = 0.25;

impl CacheStore {
    /// Writes all state and closes the cache. Flush the volumes first: regions with unflushed
    /// writes start cold.
    pub fn close(&self) -> Boxed<'_, Result<(), DeviceError>> {
        Box::pin(async move {
            let core = &self.core;
            for queue in FifoQueue::ALL {
                let sealed = core.state.borrow_mut().seal(queue);
                core.write_out(sealed);
            }
            let idle = Rc::clone(core);
            core.changed.until(|| idle.state.borrow().is_idle()).await;
            if !core.state.borrow().is_working() {
                return Ok(());
            }
            core.state.borrow_mut().is_saving = true;
            let saved = core.save(true).await;
            core.state.borrow_mut().health = CacheHealth::Closed;
            saved
        })
    }
}

impl StoreState {
    fn is_idle(&self) -> bool {
        self.reclaims == 0 && self.in_flight.is_empty() && !self.is_saving
    }

    /// Head of a checkpoint that begins now.
    fn checkpoint_head(&self) -> CheckpointHead {
        let logs = self.segments.open.map(|open| LogPosition {
            segment: open.segment,
            group: open.group,
            next_segment: open.next_segment,
        });
        let full = [0, 1].map(|queue| self.segments.full[queue].iter().copied().collect());
        CheckpointHead { sequence: self.sequence, logs, full }
    }
}

impl CacheStoreCore {
    /// Starts a checkpoint if the log since the last one is long, or much is marked.
    pub(super) fn save_if_due(self: &Rc<Self>) {
        let checkpoint = self.geometry.checkpoint_bytes();
        {
            let mut state = self.state.borrow_mut();
            let is_long = state.log_bytes >= checkpoint * LOG_PER_CHECKPOINT;
            let is_marked =
                state.log_bytes >= checkpoint && self.dirty.marked_share() > MARKED_SHARE;
            if state.is_saving || !state.is_working() || !(is_long || is_marked) {
                return;
            }
            state.is_saving = true;
        }
        let core = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            if let Err(error) = core.save(false).await {
                core.fail(error).await;
            }
            core.state.borrow_mut().is_saving = false;
            core.changed.notify();
        }));
    }

    /// Writes a checkpoint to the area that does not hold the newest one, then the superblock that
    /// names it, then clears the marks that it makes unnecessary.
    pub(super) async fn save(&self, clean: bool) -> Result<(), DeviceError> {
        let (place, head, identity) = {
            let mut state = self.state.borrow_mut();
            state.log_bytes = 0;
            let retired = std::mem::take(&mut state.retired);
            state.retiring.extend(retired);
            let number = state.superblock.generation + 1;
            let place = match state.superblock.checkpoint {
                Some(newest) => CheckpointPlace { number, area: 1 - newest.area },
                None => CheckpointPlace { number, area: 0 },
            };
            (place, state.checkpoint_head(), state.superblock.identity)
        };
        self.dirty.begin_clearing();
        for chunk in 0..self.geometry.checkpoint_chunks() {
            let name = ChunkName { identity, number: place.number, chunk };
            self.write_chunk(&name, &head, place.area).await?;
        }
        self.flash.submit(Request::flush(Purpose::Header)).await.result?;
        if !self.state.borrow().is_working() {
            return Ok(());
        }
        self.write_superblock(|superblock| {
            superblock.checkpoint = Some(place);
            superblock.clean = clean;
        })
        .await?;
        {
            let mut state = self.state.borrow_mut();
            state.counters.checkpoints += 1;
            state.retiring.clear();
        }
        self.dirty.finish_clearing().await
    }

    /// Writes the next superblock over the older copy. Failed flash stays marked as empty; a
    /// closed cache is not written to.
    pub(super) async fn write_superblock(
        &self,
        change: impl FnOnce(&mut CacheSuperblock),
    ) -> Result<(), DeviceError> {
        let _turn = self.superblock_turns.take().await;
        let superblock = {
            let mut state = self.state.borrow_mut();
            change(&mut state.superblock);
            state.superblock.generation += 1;
            match state.health {
                CacheHealth::Working => {}
                CacheHealth::Failed { .. } => state.superblock.checkpoint = None,
                CacheHealth::Closed => return Ok(()),
            }
            state.superblock.clone()
        };
        self.flash.submit(superblock_write(&superblock)).await.result
    }

    async fn write_chunk(
        &self,
        name: &ChunkName,
        head: &CheckpointHead,
        area: u8,
    ) -> Result<(), DeviceError> {
        let bytes = {
            let mut state = self.state.borrow_mut();
            let bytes = checkpoint::encode(name, head, self.geometry, &state.index);
            state.counters.flash_bytes_written += bytes.len() as u64;
            bytes
        };
        let offset = u64::from(name.chunk) * CHUNK_BYTES as u64;
        let at = self.geometry.checkpoint_at(area) + offset;
        let write = Request::write(Purpose::Header, at, bytes, Durability::Volatile);
        self.flash.submit(write).await.result
    }
}

/// The request that writes a superblock to the copy whose turn it is.
pub(super) fn superblock_write(superblock: &CacheSuperblock) -> Request {
    let copy = usize::from(superblock.generation % 2 == 1);
    let at = SUPERBLOCKS[copy];
    Request::write(Purpose::Header, at, superblock.encode(), Durability::Durable)
}
