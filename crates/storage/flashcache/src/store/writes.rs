//! The store's steps before and after a write to the backing volume.

use std::ops::Range;

use super::CacheStore;
use super::dirty_bits;
use super::dirty_log::Lasting;
use super::index::Key;
use super::status::CacheHealth;

/// A write under way.
#[derive(Debug)]
#[must_use = "a write that is begun must be ended"]
pub(crate) struct WriteTicket {
    volume: u16,
    bits: Vec<u32>,
    /// Blocks that were cached, with their access counts.
    pub replaced: Vec<(u32, u8)>,
}

impl CacheStore {
    /// Marks the regions of `blocks` as dirty on flash and drops the blocks; the write may then
    /// begin. `None` if the cache is closed: the caller must not write, as it would make the cache
    /// stale.
    pub(crate) async fn begin_write(&self, volume: u16, blocks: Range<u32>) -> Option<WriteTicket> {
        let mut ticket = WriteTicket { volume, bits: Vec::new(), replaced: Vec::new() };
        if self.core.state.borrow().health == CacheHealth::Closed {
            return None;
        }
        if !self.core.state.borrow().is_working() {
            self.core.failure_ends().await;
            return Some(ticket);
        }
        ticket.bits = self.bits_of(volume, &blocks);
        if let Err(error) = self.core.dirty.begin(&ticket.bits).await {
            self.core.fail(error).await;
        }
        ticket.replaced = self.invalidate(volume, blocks);
        Some(ticket)
    }

    /// Ends a write whose durability is `lasting`.
    pub(crate) fn end_write(&self, ticket: &WriteTicket, lasting: Lasting) {
        self.core.dirty.end(ticket.volume, &ticket.bits, lasting);
        self.core.save_if_due();
    }

    /// Called when a flush of the backing volume begins; returns the number to pass to
    /// [`Self::flushed`].
    pub(crate) fn flush_begins(&self) -> u64 {
        self.core.dirty.flush_begins()
    }

    /// The flush succeeded.
    pub(crate) fn flushed(&self, volume: u16, number: u64) {
        self.core.dirty.flushed(volume, number);
    }

    /// The flush failed.
    pub(crate) fn flush_failed(&self, volume: u16) {
        self.core.dirty.flush_failed(volume);
    }

    fn bits_of(&self, volume: u16, blocks: &Range<u32>) -> Vec<u32> {
        let geometry = self.core.geometry;
        let step = ((1 << 20) / geometry.block_bytes).max(1);
        let mut bits = Vec::new();
        let first = blocks.start / step * step;
        for block in (first..blocks.end).step_by(step as usize) {
            let key = Key { volume, block };
            bits.push(dirty_bits::bit_of(key, geometry.block_bytes, geometry.dirty_pages));
        }
        bits.sort_unstable();
        bits.dedup();
        bits
    }

    fn invalidate(&self, volume: u16, blocks: Range<u32>) -> Vec<(u32, u8)> {
        let mut state = self.core.state.borrow_mut();
        let mut found = Vec::new();
        if blocks.len() > self.core.geometry.positions() as usize {
            for position in 0..self.core.geometry.positions() {
                let entry = state.index.entry(position);
                let hit = entry.filter(|e| e.key.volume == volume && blocks.contains(&e.key.block));
                found.extend(hit.map(|entry| (entry.key.block, entry.accesses, position)));
            }
        } else {
            for block in blocks {
                let position = state.index.position(Key { volume, block });
                let entry = position.and_then(|at| Some((at, state.index.entry(at)?)));
                found.extend(entry.map(|(at, entry)| (block, entry.accesses, at)));
            }
        }
        for &(_, _, position) in &found {
            state.forget(position);
        }
        state.counters.invalidated += found.len() as u64;
        found.into_iter().map(|(block, accesses, _)| (block, accesses)).collect()
    }
}
