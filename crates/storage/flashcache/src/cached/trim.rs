//! Trims bytes that are no longer needed: the cache drops them before the volume does.

use std::future::Future;
use std::ops::Range;

use device::{DeviceError, Durability};

use super::Cached;
use super::locks::ClaimMode;

impl Cached {
    /// Drops the blocks of `bytes`, which are inside the device, while `give_back` releases their
    /// storage. Later reads return what the volume then holds, even after a crash.
    pub async fn trim(
        &self,
        bytes: Range<u64>,
        give_back: impl Future<Output = Result<(), DeviceError>>,
    ) -> Result<(), DeviceError> {
        let file = &self.file;
        let blocks = self.blocks_of(bytes.start, bytes.end - bytes.start);
        let _claimed = file.locks.claim(blocks.clone(), ClaimMode::Invalidate).await;
        let (Some(volume), Ok(first), Ok(end)) =
            (file.volume(), u32::try_from(blocks.start), u32::try_from(blocks.end))
        else {
            file.wrote_unseen.set(true);
            return give_back.await;
        };
        let store = file.cache.store();
        let Some(ticket) = store.begin_write(volume, first..end).await else {
            return Err(self.closed());
        };
        let result = give_back.await;
        store.end_write(&ticket, self.lasting(Durability::Volatile, &result));
        result
    }
}
