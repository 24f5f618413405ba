//! The volumes that a store knows by name, and their parts of it.

use device::DeviceError;

use super::index::MOST_VOLUMES;
use super::status::{StoreStatus, VolumeStatus};
use super::superblock::NamedVolume;
use super::{CacheStore, CacheStoreCore};
use crate::policy::PoolShare;

impl CacheStore {
    /// The number of the volume `name`, which is `length` bytes long; `None` if the store has no
    /// free number, so that it is not cached. Existing blocks are dropped if the volume had a
    /// different length or stamp: it was written elsewhere.
    pub(crate) async fn attach(
        &self,
        name: &str,
        length: u64,
        stamp: u64,
        share: PoolShare,
    ) -> Option<u16> {
        let wanted = NamedVolume { name: name.to_owned(), length, stamp, share };
        let core = &self.core;
        let known = self.find(name).and_then(|id| {
            let state = core.state.borrow();
            Some((id, state.superblock.volumes.get(&id)?.clone()))
        });
        if let Some((id, volume)) = known {
            if volume.length == length && volume.stamp == stamp {
                if volume.share != share {
                    core.change_volumes(|volumes| _ = volumes.insert(id, wanted)).await;
                }
                return Some(id);
            }
            self.release(id).await;
        }
        let id = core.unused_number(name)?;
        core.change_volumes(|volumes| _ = volumes.insert(id, wanted)).await;
        Some(id)
    }

    /// The number of the volume `name`, if the store knows it.
    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        let state = self.core.state.borrow();
        let mut volumes = state.superblock.volumes.iter();
        volumes.find_map(|(&id, volume)| (volume.name == name).then_some(id))
    }

    /// Durably drops a volume and its blocks.
    pub(crate) async fn release(&self, volume: u16) {
        let core = &self.core;
        {
            let mut state = core.state.borrow_mut();
            for position in 0..core.geometry.positions() {
                if state.index.entry(position).is_some_and(|e| e.key.volume == volume) {
                    state.forget(position);
                }
            }
            state.retired.push(volume);
        }
        core.change_volumes(|volumes| _ = volumes.remove(&volume)).await;
        core.dirty.flushed(volume, u64::MAX);
    }

    /// Changes a volume's bounds, durably.
    pub(crate) async fn set_share(&self, volume: u16, share: PoolShare) {
        self.core.change_volume(volume, |known| known.share = share).await;
    }

    /// Changes a volume's stamp, durably.
    pub(crate) async fn set_stamp(&self, volume: u16, stamp: u64) {
        self.core.change_volume(volume, |known| known.stamp = stamp).await;
    }

    /// Records that a volume has a new length; the next superblock stores it.
    pub(crate) fn set_length(&self, volume: u16, length: u64) {
        let mut state = self.core.state.borrow_mut();
        if let Some(volume) = state.superblock.volumes.get_mut(&volume) {
            volume.length = length;
        }
    }

    /// Records the stamp of the volume `name` after its last write; [`CacheStore::close`] stores it
    /// in the superblock.
    pub fn restamp(&self, name: &str, stamp: u64) {
        let Some(volume) = self.find(name) else {
            return;
        };
        let mut state = self.core.state.borrow_mut();
        if let Some(volume) = state.superblock.volumes.get_mut(&volume) {
            volume.stamp = stamp;
        }
    }

    /// Properties and activity of the store.
    pub fn status(&self) -> StoreStatus {
        let state = self.core.state.borrow();
        let memory = state.index.memory_bytes() + state.ghost.memory_bytes();
        let mut volumes = Vec::new();
        for (&id, volume) in &state.superblock.volumes {
            let (name, blocks) = (volume.name.clone(), state.held(id));
            volumes.push(VolumeStatus { name, blocks, stamp: volume.stamp });
        }
        volumes.sort_by(|a, b| a.name.cmp(&b.name));
        StoreStatus {
            health: state.health.clone(),
            counters: state.counters,
            capacity_blocks: u64::from(self.core.geometry.positions()),
            cached_blocks: u64::from(state.index.live()),
            memory_bytes: memory as u64,
            volumes,
        }
    }
}

type NamedVolumes = std::collections::BTreeMap<u16, NamedVolume>;

impl CacheStoreCore {
    fn unused_number(&self, name: &str) -> Option<u16> {
        let state = self.state.borrow();
        if !state.is_working() || !state.superblock.has_room_for(name) {
            return None;
        }
        (0..MOST_VOLUMES).find(|id| !state.is_used(*id))
    }

    async fn change_volume(&self, volume: u16, change: impl FnOnce(&mut NamedVolume)) {
        self.change_volumes(|volumes| {
            if let Some(known) = volumes.get_mut(&volume) {
                change(known);
            }
        })
        .await;
    }

    /// Changes the table of volumes, durably.
    async fn change_volumes(&self, change: impl FnOnce(&mut NamedVolumes)) {
        let written: Result<(), DeviceError> =
            self.write_superblock(|superblock| change(&mut superblock.volumes)).await;
        if let Err(error) = written {
            self.fail(error).await;
        }
    }
}
