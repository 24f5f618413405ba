//! Examines a store without writing: the next session would find the same.

use std::rc::Rc;

use device::{Boxed, Device, Purpose, Request, Runtime};

use super::recover::{StoreError, open_superblock, recover};
use super::{CacheStore, CacheStoreCore};
use crate::policy::PoolShare;

/// How much of a store is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamineDepth {
    /// The index: superblocks, checkpoint, the log since.
    Index,
    /// Every cached block as well, against its checksum.
    Blocks,
}

/// A volume that a store knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVolume {
    /// Its name.
    pub name: String,
    /// Its length in bytes when it was last attached.
    pub length: u64,
    /// State stamp from its owner.
    pub stamp: u64,
    /// Its bounds.
    pub share: PoolShare,
    /// Blocks that it holds.
    pub blocks: u64,
}

/// Contents of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreContents {
    /// Identifies the store.
    pub identity: [u8; 16],
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Blocks that fit.
    pub capacity_blocks: u64,
    /// Blocks that the next session finds.
    pub cached_blocks: u64,
    /// How often the store was opened.
    pub sessions: u64,
    /// `true` if the last session ended cleanly.
    pub was_clean: bool,
    /// `true` if the newest checkpoint is damaged, so that the store starts empty.
    pub checkpoint_damaged: bool,
    /// Groups of the log after the checkpoint.
    pub groups_replayed: u64,
    /// Blocks that a crash may have left out of date: the next session drops them.
    pub blocks_dropped: u64,
    /// Blocks that do not match their checksum; `None` if they were not read.
    pub damaged_blocks: Option<u64>,
    /// Its volumes, by name.
    pub volumes: Vec<StoredVolume>,
}

/// Examines the store on `flash`, which may be open read-only.
pub fn examine(
    flash: Rc<dyn Device>,
    runtime: &Runtime,
    depth: ExamineDepth,
) -> Boxed<'_, Result<StoreContents, StoreError>> {
    Box::pin(async move {
        let superblock = open_superblock(&flash).await?;
        let was_empty = superblock.checkpoint.is_none();
        let sessions = superblock.session;
        let recovered = recover(&flash, superblock, runtime).await;
        let (core, recovery) = recovered.map_err(StoreError::Device)?;
        let store = CacheStore { core: Rc::new(core) };
        let damaged_blocks = match depth {
            ExamineDepth::Index => None,
            ExamineDepth::Blocks => Some(store.core.damaged_blocks().await),
        };
        Ok(StoreContents {
            identity: store.core.state.borrow().superblock.identity,
            block_bytes: store.block_bytes(),
            capacity_blocks: u64::from(store.core.geometry.positions()),
            cached_blocks: recovery.blocks,
            sessions,
            was_clean: recovery.was_clean,
            checkpoint_damaged: recovery.checkpoint_damaged && !was_empty,
            groups_replayed: recovery.groups_replayed,
            blocks_dropped: recovery.blocks_dropped,
            damaged_blocks,
            volumes: store.stored_volumes(),
        })
    })
}

impl CacheStore {
    /// The volumes that the store knows, by name: if called right after opening, in the state that
    /// the last session left.
    pub fn stored_volumes(&self) -> Vec<StoredVolume> {
        let state = self.core.state.borrow();
        let mut volumes = Vec::new();
        for (&id, volume) in &state.superblock.volumes {
            volumes.push(StoredVolume {
                name: volume.name.clone(),
                length: volume.length,
                stamp: volume.stamp,
                share: volume.share,
                blocks: state.held(id),
            });
        }
        volumes.sort_by(|a, b| a.name.cmp(&b.name));
        volumes
    }
}

impl CacheStoreCore {
    /// Reads every cached block; returns how many do not match their checksum or cannot be read.
    async fn damaged_blocks(&self) -> u64 {
        let length = self.geometry.block_bytes as usize;
        let mut damaged = 0;
        for position in 0..self.geometry.positions() {
            let Some(entry) = self.state.borrow().index.entry(position) else {
                continue;
            };
            let read = Request::read(Purpose::Checksum, self.geometry.block_at(position), length);
            let bytes = self.flash.submit(read).await.into_buffer();
            let is_sound = bytes.is_ok_and(|bytes| entry.key.checksum(&bytes) == entry.checksum);
            damaged += u64::from(!is_sound);
        }
        damaged
    }
}
