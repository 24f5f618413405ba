//! Writes: the region is marked on flash, the backing volume is written, the cache stores the new
//! version or drops the old one, and only then is the write acknowledged.

use device::{Buffer, DeviceError, Durability, Purpose, Request};

use super::Cached;
use super::device::ServedRequest;
use super::locks::ClaimMode;
use super::read::{key, whole_blocks};
use crate::policy::{Classifier, IoDirection, Route};
use crate::store::{Lasting, WriteTicket};

impl Cached {
    pub(super) async fn write(
        &self,
        purpose: Purpose,
        (offset, durability): (u64, Durability),
        buffer: Buffer,
    ) -> ServedRequest {
        let file = &self.file;
        let length = buffer.len() as u64;
        let class = file.classifier.borrow_mut().classify(IoDirection::Write, offset, length);
        file.count_write(class, length);
        let blocks = self.blocks_of(offset, length);
        let has_whole_block = whole_blocks(offset, length, file.block_bytes()).next().is_some();
        let admits = Classifier::route(class) == Route::Admit && has_whole_block;
        let mode = if admits { ClaimMode::Update } else { ClaimMode::Invalidate };
        let _claimed = file.locks.claim(blocks.clone(), mode).await;
        let write = Request::write(purpose, offset, buffer, durability);
        let is_inside = offset + length <= self.inner.length();
        let (Some(volume), Ok(first), Ok(end)) =
            (file.volume(), u32::try_from(blocks.start), u32::try_from(blocks.end))
        else {
            file.wrote_unseen.set(true);
            return self.pass_write(write).await;
        };
        if !is_inside {
            return self.pass_write(write).await; // Refused: nothing changes.
        }
        let store = file.cache.store();
        let Some(ticket) = store.begin_write(volume, first..end).await else {
            return (write.op.into_buffer(), Err(self.closed()));
        };
        let (buffer, result) = self.pass_write(write).await;
        if let (Some(buffer), Ok(()), ClaimMode::Update) = (&buffer, &result, mode) {
            self.take_over(&ticket, volume, offset, buffer);
        }
        store.end_write(&ticket, self.lasting(durability, &result));
        (buffer, result)
    }

    async fn pass_write(&self, write: Request) -> ServedRequest {
        let outcome = self.inner.submit(write).await;
        (outcome.buffer, outcome.result)
    }

    /// Caches the new version of the blocks that were written whole.
    fn take_over(&self, ticket: &WriteTicket, volume: u16, offset: u64, bytes: &Buffer) {
        let file = &self.file;
        for (block, range) in whole_blocks(offset, bytes.len() as u64, file.block_bytes()) {
            let Some(key) = key(volume, block) else {
                continue;
            };
            let replaced = ticket.replaced.iter().find(|(known, _)| *known == key.block);
            let accesses = replaced.map(|&(_, accesses)| accesses);
            if file.cache.may_write(file.block_bytes()) {
                file.cache.store().insert(key, &bytes[range], accesses);
            }
        }
    }

    pub(super) fn lasting(
        &self,
        durability: Durability,
        result: &Result<(), DeviceError>,
    ) -> Lasting {
        match result {
            Err(DeviceError::PermissionDenied { .. }) => Lasting::Durable,
            Err(_) => Lasting::Unknown,
            Ok(()) if durability == Durability::Durable => Lasting::Durable,
            Ok(()) if !self.inner.caps().volatile_cache => Lasting::Durable,
            Ok(()) => Lasting::UntilFlush,
        }
    }
}
