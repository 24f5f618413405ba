//! Frees segments for new blocks. The oldest segment of a queue is emptied: its blocks that were
//! accessed again are copied to the main queue, the others are evicted.

use std::rc::Rc;

use device::Buffer;

use super::CacheStoreCore;
use super::index::CachedEntry;
use super::state::StoreState;
use crate::policy::rules::{self, EvictionFate, FifoQueue};

/// A block to keep, and its new access count.
struct KeptBlock {
    position: u32,
    entry: CachedEntry,
    accesses: u8,
}

impl CacheStoreCore {
    /// Starts a task for each queue that has no segment to continue with.
    pub(super) fn reclaim_if_needed(self: &Rc<Self>) {
        for queue in FifoQueue::ALL {
            let mut state = self.state.borrow_mut();
            let starves = state.segments.open[queue.index()].next_segment.is_none();
            if !starves || !state.is_working() || state.starving[queue.index()] {
                continue;
            }
            state.starving[queue.index()] = true;
            state.reclaims += 1;
            let core = Rc::clone(self);
            drop(self.runtime.spawn(async move {
                core.find_segment(queue).await;
                let mut state = core.state.borrow_mut();
                state.starving[queue.index()] = false;
                state.reclaims -= 1;
                drop(state);
                core.changed.notify();
            }));
        }
    }

    /// Finds the segment that `queue` continues with.
    async fn find_segment(self: &Rc<Self>, queue: FifoQueue) {
        let free = self.state.borrow_mut().segments.free.pop();
        let segment = match free {
            Some(free) => Some(free),
            None => self.empty_a_segment(queue).await,
        };
        let mut state = self.state.borrow_mut();
        state.segments.open[queue.index()].next_segment = segment;
    }

    /// Empties the oldest segment; `None` if all segments are open. Kept blocks move to the main
    /// queue, which is served first if it needs a segment itself.
    async fn empty_a_segment(self: &Rc<Self>, wanted_by: FifoQueue) -> Option<u32> {
        let (kept, segment) = {
            let mut state = self.state.borrow_mut();
            let (queue, segment) = state.segments.take_victim()?;
            (state.evict_from(queue, segment), segment)
        };
        for kept in kept {
            if wanted_by == FifoQueue::Small {
                self.changed.until(|| !self.main_starves()).await;
            }
            self.keep(&kept).await;
            self.reclaim_if_needed();
        }
        self.changed.until(|| !self.state.borrow().is_in_use(segment)).await;
        Some(segment)
    }

    fn main_starves(&self) -> bool {
        self.state.borrow().starving[FifoQueue::Main.index()]
    }

    /// Copies one block to the main queue, or forgets it if that fails.
    async fn keep(self: &Rc<Self>, kept: &KeptBlock) {
        let KeptBlock { position, entry, accesses } = *kept;
        let in_memory = self.state.borrow().in_memory(position).map(Buffer::copy_of);
        let bytes = if let Some(bytes) = in_memory {
            Ok(bytes)
        } else {
            let mut buffer = Buffer::zeroed(self.geometry.block_bytes as usize);
            self.read_position(position, &mut buffer).await.map(|()| buffer)
        };
        let sealed = {
            let mut state = self.state.borrow_mut();
            if state.index.position(entry.key) != Some(position) {
                return; // Written to since: this version is old.
            }
            let sound = bytes.ok().filter(|bytes| entry.key.checksum(bytes) == entry.checksum);
            let appended = match &sound {
                Some(bytes) => state.append(FifoQueue::Main, (entry.key, accesses), bytes).ok(),
                None => None,
            };
            state.counters.moved += u64::from(appended.is_some());
            state.counters.damaged += u64::from(sound.is_none());
            if appended.is_none() {
                state.forget(position);
                state.counters.evicted += 1;
            }
            appended.flatten()
        };
        self.write_out(sealed);
    }
}

impl StoreState {
    /// Evicts blocks from a segment and returns those to keep. At least an eighth is evicted, so
    /// that every reclaimed segment makes room.
    fn evict_from(&mut self, queue: FifoQueue, segment: u32) -> Vec<KeptBlock> {
        let blocks = self.geometry.blocks_per_segment();
        let most = blocks - blocks.div_ceil(8);
        let mut kept = Vec::new();
        for position in segment * blocks..(segment + 1) * blocks {
            let Some(entry) = self.index.entry(position) else {
                continue;
            };
            let fate = self.fate(queue, entry);
            match fate {
                EvictionFate::ToMain(accesses) if kept.len() < most as usize => {
                    kept.push(KeptBlock { position, entry, accesses });
                    continue;
                }
                EvictionFate::ToGhost => self.ghost.remember(entry.key.hash()),
                _ => {}
            }
            self.forget(position);
            self.counters.evicted += 1;
        }
        kept
    }

    fn fate(&self, queue: FifoQueue, entry: CachedEntry) -> EvictionFate {
        let volume = entry.key.volume;
        if self.share(volume).protects(self.held(volume)) {
            return EvictionFate::ToMain(entry.accesses);
        }
        rules::fate(queue, entry.accesses)
    }
}
