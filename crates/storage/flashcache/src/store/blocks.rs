//! Blocks in and out.

use std::rc::Rc;

use device::{Buffer, DeviceError, Durability, Purpose, Request};

use super::index::Key;
use super::state::SealedGroup;
use super::{CacheStore, CacheStoreCore};
use crate::policy::rules::{self, FifoQueue};

impl CacheStore {
    /// `true` if the block is cached.
    pub(crate) fn holds(&self, key: Key) -> bool {
        self.core.state.borrow().index.position(key).is_some()
    }

    /// Counts a read that found `hits` blocks and missed `misses`.
    pub(crate) fn count_read(&self, hits: u64, misses: u64) {
        let counters = &mut self.core.state.borrow_mut().counters;
        counters.block_hits += hits;
        counters.block_misses += misses;
    }

    /// Fills a block's buffer; `false` if the block is not cached or no longer valid, in which case
    /// the content of the buffer is arbitrary.
    pub(crate) async fn read(&self, key: Key, buffer: &mut Buffer) -> bool {
        let core = &self.core;
        let (position, checksum) = {
            let mut state = core.state.borrow_mut();
            let found = state.index.position(key);
            let Some((position, entry)) = found.and_then(|at| Some((at, state.index.entry(at)?)))
            else {
                return false;
            };
            state.index.set_accesses(position, rules::touched(entry.accesses));
            if let Some(bytes) = state.in_memory(position) {
                buffer.copy_from_slice(bytes);
                return true;
            }
            (position, entry.checksum)
        };
        let is_read = core.read_position(position, buffer).await.is_ok();
        if is_read && key.checksum(buffer) == checksum {
            return true;
        }
        let mut state = core.state.borrow_mut();
        if state.index.position(key) == Some(position) {
            state.forget(position);
        }
        state.counters.damaged += 1;
        false
    }

    /// Caches a block. `accesses` is the count of the version that it replaces, if there was one.
    pub(crate) fn insert(&self, key: Key, bytes: &[u8], accesses: Option<u8>) {
        let core = &self.core;
        let sealed = {
            let mut state = core.state.borrow_mut();
            if !state.is_working() {
                return;
            }
            let older = state.index.position(key).and_then(|at| state.index.entry(at));
            let accesses = accesses.or(older.map(|entry| entry.accesses));
            let held = state.held(key.volume);
            if accesses.is_none() && !state.share(key.volume).may_grow(held) {
                state.counters.refused += 1;
                return;
            }
            let queue = match accesses {
                Some(0) => FifoQueue::Small,
                Some(_) => FifoQueue::Main,
                None => rules::admitted_to(state.ghost.take(key.hash())),
            };
            let appended = state.append(queue, (key, accesses.unwrap_or(0)), bytes);
            match appended {
                Ok(_) => state.counters.admitted += 1,
                Err(_) => state.counters.refused += 1,
            }
            appended.ok().flatten()
        };
        core.write_out(sealed);
        core.reclaim_if_needed();
        core.save_if_due();
    }
}

impl CacheStoreCore {
    /// Reads the bytes at a position in a segment that is not written meanwhile.
    pub(super) async fn read_position(
        &self,
        position: u32,
        buffer: &mut Buffer,
    ) -> Result<(), DeviceError> {
        let segment = position / self.geometry.blocks_per_segment();
        self.state.borrow_mut().segments.pin(segment);
        let length = self.geometry.block_bytes as usize;
        assert_eq!(buffer.len(), length, "a buffer of a block");
        let own = std::mem::replace(buffer, Buffer::zeroed(0));
        let read = Request::read_into(Purpose::Database, self.geometry.block_at(position), own);
        let outcome = self.flash.submit(read).await;
        self.state.borrow_mut().segments.unpin(segment);
        self.changed.notify();
        *buffer = outcome.buffer.unwrap_or_else(|| Buffer::zeroed(length));
        outcome.result
    }

    /// Starts the write of a sealed group.
    pub(super) fn write_out(self: &Rc<Self>, sealed: Option<SealedGroup>) {
        let Some(SealedGroup { group, buffer }) = sealed else {
            return;
        };
        let core = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            let at = core.geometry.group_at(group);
            let write = Request::write(Purpose::Database, at, buffer, Durability::Volatile);
            let result = core.flash.submit(write).await.result;
            core.state.borrow_mut().in_flight.remove(&group);
            if let Err(error) = result {
                core.fail(error).await;
            }
            core.changed.notify();
        }));
    }
}
