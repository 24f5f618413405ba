//! Exact S3-FIFO over blocks of equal size, used by simulations and miss-ratio curves. The store
//! evicts whole segments by the same rules.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use twox_hash::XxHash3_64;

use super::rules::{self, EvictionFate, FifoQueue};

type Hasher = BuildHasherDefault<XxHash3_64>;

#[derive(Clone, Copy, Debug)]
struct Resident {
    queue: FifoQueue,
    accesses: u8,
    /// Distinguishes the entry of a queue from an older one of the same key.
    entry: u64,
}

/// The keys of the blocks that a cache of fixed size holds.
#[derive(Clone, Debug)]
pub(crate) struct S3Fifo {
    capacity: u64,
    entries: u64,
    has_evicted: bool,
    resident: HashMap<u64, Resident, Hasher>,
    queues: [VecDeque<(u64, u64)>; 2],
    counts: [u64; 2],
    ghosts: HashMap<u64, u64, Hasher>,
    ghost_order: VecDeque<(u64, u64)>,
}

impl S3Fifo {
    /// A cache of `capacity` blocks, at least one.
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity.max(1),
            entries: 0,
            has_evicted: false,
            resident: HashMap::default(),
            queues: Default::default(),
            counts: [0; 2],
            ghosts: HashMap::default(),
            ghost_order: VecDeque::new(),
        }
    }

    /// Blocks that it holds.
    pub(crate) fn len(&self) -> u64 {
        self.counts[0] + self.counts[1]
    }

    /// Whether a block is held; does not count as an access.
    pub(crate) fn holds(&self, key: u64) -> bool {
        self.resident.contains_key(&key)
    }

    /// Looks a block up and counts the access; `true` if it is held.
    pub(crate) fn touch(&mut self, key: u64) -> bool {
        let found = self.resident.get_mut(&key);
        if let Some(found) = found {
            found.accesses = rules::touched(found.accesses);
            return true;
        }
        false
    }

    /// Admits a missed block, evicting as many as necessary.
    pub(crate) fn admit(&mut self, key: u64) {
        if self.holds(key) {
            return;
        }
        let remembered = self.ghosts.remove(&key).is_some();
        // While a new cache fills, the main queue takes the blocks that do not fit in the small
        // one.
        let overflows = !self.has_evicted && self.counts[0] >= rules::small_share(self.capacity);
        let queue = rules::admitted_to(remembered || overflows);
        while self.len() >= self.capacity {
            self.give_one_up();
        }
        self.push(key, queue, 0);
    }

    /// Drops a block, as after a write that went around the cache; `true` if it was held.
    pub(crate) fn remove(&mut self, key: u64) -> bool {
        let found = self.resident.remove(&key);
        if let Some(found) = found {
            self.counts[found.queue.index()] -= 1;
        }
        found.is_some()
    }

    fn push(&mut self, key: u64, queue: FifoQueue, accesses: u8) {
        self.entries += 1;
        let entry = self.entries;
        self.resident.insert(key, Resident { queue, accesses, entry });
        self.queues[queue.index()].push_back((key, entry));
        self.counts[queue.index()] += 1;
    }

    /// Handles the oldest block of the queue to evict from: moves or evicts it.
    fn give_one_up(&mut self) {
        self.has_evicted = true;
        let queue = rules::victim(self.counts[0], self.counts[1], self.capacity);
        while let Some((key, entry)) = self.queues[queue.index()].pop_front() {
            let there = self.resident.get(&key).filter(|resident| resident.entry == entry);
            let Some(&Resident { accesses, .. }) = there else {
                continue; // Removed since it was queued.
            };
            self.resident.remove(&key);
            self.counts[queue.index()] -= 1;
            match rules::fate(queue, accesses) {
                EvictionFate::ToMain(accesses) => self.push(key, FifoQueue::Main, accesses),
                EvictionFate::ToGhost => self.remember(key),
                EvictionFate::Dropped => {}
            }
            return;
        }
    }

    fn remember(&mut self, key: u64) {
        self.entries += 1;
        self.ghosts.insert(key, self.entries);
        self.ghost_order.push_back((key, self.entries));
        let most = self.capacity - rules::small_share(self.capacity);
        while self.ghosts.len() as u64 > most
            && let Some((key, entry)) = self.ghost_order.pop_front()
        {
            if self.ghosts.get(&key) == Some(&entry) {
                self.ghosts.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::S3Fifo;

    fn asked(cache: &mut S3Fifo, key: u64) -> bool {
        let hit = cache.touch(key);
        if !hit {
            cache.admit(key);
        }
        hit
    }

    #[test]
    fn one_scan_evicts_nothing_that_is_used() {
        let mut cache = S3Fifo::new(100);
        for _ in 0..4 {
            for key in 0..50 {
                asked(&mut cache, key);
            }
        }
        for key in 1_000..3_000 {
            asked(&mut cache, key);
        }
        let kept = (0..50).filter(|&key| cache.touch(key)).count();
        assert_eq!(kept, 50, "a scan of 20 times the cache passes through the small queue");
        assert_eq!(cache.len(), 100);
    }

    #[test]
    fn a_block_that_comes_back_goes_to_the_main_queue() {
        let mut cache = S3Fifo::new(100);
        for key in 0..150 {
            asked(&mut cache, key);
        }
        assert!(!asked(&mut cache, 120), "evicted");
        for key in 1_000..1_200 {
            asked(&mut cache, key);
        }
        assert!(cache.touch(120), "the ghost remembered it");
    }

    #[test]
    fn removed_blocks_make_room() {
        let mut cache = S3Fifo::new(10);
        for key in 0..10 {
            asked(&mut cache, key);
        }
        assert!(cache.remove(3) && !cache.remove(3));
        asked(&mut cache, 10);
        assert!(cache.touch(0), "nothing had to go");
        assert_eq!(cache.len(), 10);
    }
}
