//! Reads: from flash if every block is there, else from the backing volume, whole blocks at once if
//! they are worth keeping.

use std::ops::Range;

use device::{Buffer, Purpose, Request};

use super::Cached;
use super::device::ServedRequest;
use super::locks::ClaimMode;
use crate::policy::{Classifier, IoDirection, RequestClass, Route};
use crate::store::Key;

impl Cached {
    pub(super) async fn read(
        &self,
        purpose: Purpose,
        offset: u64,
        buffer: Buffer,
    ) -> ServedRequest {
        let file = &self.file;
        let length = buffer.len() as u64;
        let class = file.classifier.borrow_mut().classify(IoDirection::Read, offset, length);
        let begun = file.cache.store().runtime().now();
        let (served, is_hit) = self.read_in(class, purpose, offset, buffer).await;
        // Counted together at the end, so that a reader of the counters never finds more hits than
        // reads.
        let time = file.cache.store().runtime().now().since(begun);
        file.count_read(class, length, (is_hit, time));
        served
    }

    /// Reads for a request of this class; `true` if the cache answered it.
    async fn read_in(
        &self,
        class: RequestClass,
        purpose: Purpose,
        offset: u64,
        buffer: Buffer,
    ) -> (ServedRequest, bool) {
        let file = &self.file;
        let length = buffer.len() as u64;
        let admits = Classifier::route(class) == Route::Admit;
        if admits {
            file.attach(&self.inner).await;
        }
        let blocks = self.blocks_of(offset, length);
        let _claimed = file.locks.claim(blocks.clone(), ClaimMode::Read).await;
        let is_inside = offset + length <= self.inner.length();
        let Some(volume) = file.volume().filter(|_| is_inside) else {
            return (self.pass_read(purpose, offset, buffer).await, false);
        };
        let mut buffer = buffer;
        if self.read_cached(volume, offset, &mut buffer).await {
            file.cache.store().count_read(blocks.end - blocks.start, 0);
            return ((Some(buffer), Ok(())), true);
        }
        file.cache.store().count_read(0, blocks.end - blocks.start);
        let bytes = (blocks.end - blocks.start) * file.block_bytes();
        if admits && file.cache.may_write(bytes) {
            return (self.fill(purpose, (volume, blocks), offset, buffer).await, false);
        }
        (self.pass_read(purpose, offset, buffer).await, false)
    }

    /// The blocks that some bytes touch.
    pub(super) fn blocks_of(&self, offset: u64, length: u64) -> Range<u64> {
        let block_bytes = self.file.block_bytes();
        offset / block_bytes..(offset + length).div_ceil(block_bytes)
    }

    async fn pass_read(&self, purpose: Purpose, offset: u64, buffer: Buffer) -> ServedRequest {
        let outcome = self.inner.submit(Request::read_into(purpose, offset, buffer)).await;
        (outcome.buffer, outcome.result)
    }

    /// Fills the buffer from the cache; `false` if a block is missing or not valid.
    async fn read_cached(&self, volume: u16, offset: u64, buffer: &mut Buffer) -> bool {
        let store = self.file.cache.store();
        let blocks = self.blocks_of(offset, buffer.len() as u64);
        if !blocks.clone().all(|block| key(volume, block).is_some_and(|key| store.holds(key))) {
            return false;
        }
        let block_bytes = self.file.block_bytes();
        if offset == blocks.start * block_bytes && buffer.len() as u64 == block_bytes {
            return self.read_block((volume, blocks.start), buffer).await;
        }
        let mut bytes = Buffer::zeroed(index(block_bytes));
        for block in blocks {
            if !self.read_block((volume, block), &mut bytes).await {
                return false;
            }
            let first = block * block_bytes;
            let from = first.max(offset);
            let end = (first + block_bytes).min(offset + buffer.len() as u64);
            buffer[index(from - offset)..index(end - offset)]
                .copy_from_slice(&bytes[index(from - first)..index(end - first)]);
        }
        true
    }

    /// Fills a block's buffer from the cache; `false` if the block is missing or not valid.
    async fn read_block(&self, (volume, block): (u16, u64), buffer: &mut Buffer) -> bool {
        match key(volume, block) {
            Some(key) => self.file.cache.store().read(key, buffer).await,
            None => false,
        }
    }

    /// Reads whole blocks from the backing volume and caches them.
    async fn fill(
        &self,
        purpose: Purpose,
        (volume, blocks): (u16, Range<u64>),
        offset: u64,
        mut buffer: Buffer,
    ) -> ServedRequest {
        let block_bytes = self.file.block_bytes();
        let whole = blocks.start * block_bytes..blocks.end * block_bytes;
        let is_exact = whole.start == offset && whole.end == offset + buffer.len() as u64;
        if is_exact || whole.end > self.inner.length() {
            let (buffer, result) = self.pass_read(purpose, offset, buffer).await;
            if let (Some(buffer), Ok(())) = (&buffer, &result) {
                self.take_in(volume, offset, buffer);
            }
            return (buffer, result);
        }
        let larger = Request::read(purpose, whole.start, index(whole.end - whole.start));
        let Ok(bytes) = self.inner.submit(larger).await.into_buffer() else {
            // The error may be outside the bytes that were requested.
            return self.pass_read(purpose, offset, buffer).await;
        };
        let from = index(offset - whole.start);
        let length = buffer.len();
        buffer.copy_from_slice(&bytes[from..from + length]);
        self.take_in(volume, whole.start, &bytes);
        (Some(buffer), Ok(()))
    }

    /// Caches the whole blocks among some bytes, except those that are cached already.
    fn take_in(&self, volume: u16, offset: u64, bytes: &Buffer) {
        let store = self.file.cache.store();
        for (block, range) in whole_blocks(offset, bytes.len() as u64, self.file.block_bytes()) {
            if let Some(key) = key(volume, block).filter(|&key| !store.holds(key)) {
                store.insert(key, &bytes[range], None);
            }
        }
    }
}

pub(super) fn key(volume: u16, block: u64) -> Option<Key> {
    let block = u32::try_from(block).ok()?;
    Some(Key { volume, block })
}

pub(super) fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("invariant: inside a buffer")
}

/// The blocks that are entirely inside some bytes, with their ranges of the caller's buffer.
pub(super) fn whole_blocks(
    offset: u64,
    length: u64,
    block_bytes: u64,
) -> impl Iterator<Item = (u64, Range<usize>)> {
    let blocks = offset.div_ceil(block_bytes)..(offset + length) / block_bytes;
    blocks.map(move |block| {
        let from = block * block_bytes - offset;
        (block, index(from)..index(from + block_bytes))
    })
}
