//! The cache on flash: a log of segments, the in-memory index that finds blocks in it, checkpoints
//! of the index, and the dirty-region log that prevents stale blocks after a crash.
//!
//! Nothing here is urgent: the backing volume holds every byte. A block is cached once it is in the
//! index; its group reaches flash when it is full. The only write that requests wait for is a mark
//! in the dirty-region log, before the first write to a region.

mod blocks;
mod checkpoint;
mod dirty_bits;
mod dirty_log;
mod examine;
mod failure;
mod fields;
mod format;
mod geometry;
mod group;
mod index;
#[cfg(test)]
mod large;
mod reclaim;
mod recover;
mod save;
mod sectors;
mod segments;
mod state;
mod status;
mod superblock;
mod volumes;
mod writes;

use std::cell::RefCell;
use std::rc::Rc;

use device::{Device, Runtime};

pub use examine::{ExamineDepth, StoreContents, StoredVolume, examine};
pub use format::{FormatOptions, format};
pub use recover::{Recovery, StoreError};
pub use status::{CacheHealth, StoreCounters, StoreStatus, VolumeStatus};

pub(crate) use dirty_log::Lasting;
pub(crate) use index::Key;
pub(crate) use writes::WriteTicket;

use crate::signal::{Signal, WriterTurns};
use dirty_log::DirtyLog;
use geometry::StoreGeometry;
use state::StoreState;

/// An open cache on flash. Cheap to clone: clones are the same cache.
#[derive(Clone)]
pub struct CacheStore {
    core: Rc<CacheStoreCore>,
}

struct CacheStoreCore {
    flash: Rc<dyn Device>,
    runtime: Runtime,
    geometry: StoreGeometry,
    dirty: DirtyLog,
    state: RefCell<StoreState>,
    superblock_turns: WriterTurns,
    /// Signalled when a read, a write or a task has ended.
    changed: Signal,
}

impl CacheStore {
    /// Bytes of a block.
    pub fn block_bytes(&self) -> u32 {
        self.core.geometry.block_bytes
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.core.runtime
    }
}
