//! The policy over blocks without data, for simulated arrays. The functions that classify, admit
//! and evict are those of the cache on real flash.

use std::collections::BTreeMap;
use std::ops::Range;

use units::{Bytes, Nanos};

use super::{Classifier, IoDirection, RequestClass, Route, S3Fifo, WriteBudget};

/// Requests of one class since the cache was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounters {
    /// Reads.
    pub reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Reads that the cache answered.
    pub hits: u64,
    /// Bytes of the hits, saved on the backing volume.
    pub hit_bytes: u64,
    /// Total time of the hits, in nanoseconds.
    pub hit_ns: u64,
    /// Total time of all other reads, in nanoseconds.
    pub miss_ns: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes of these writes.
    pub written_bytes: u64,
}

impl ClassCounters {
    /// Counts a request of `bytes`.
    pub(crate) const fn count(&mut self, access: IoDirection, bytes: u64) {
        match access {
            IoDirection::Read => {
                self.reads += 1;
                self.read_bytes += bytes;
            }
            IoDirection::Write => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
        }
    }

    /// Counts a read of `bytes` that took `time`; `is_hit` if the cache answered it.
    pub(crate) const fn count_read(&mut self, bytes: u64, is_hit: bool, time: Nanos) {
        self.count(IoDirection::Read, bytes);
        if is_hit {
            self.count_hit(bytes);
        }
        self.count_time(is_hit, time);
    }

    /// Counts a read of `bytes` as answered by the cache.
    pub(crate) const fn count_hit(&mut self, bytes: u64) {
        self.hits += 1;
        self.hit_bytes += bytes;
    }

    /// Counts the time of a read.
    pub(crate) const fn count_time(&mut self, is_hit: bool, time: Nanos) {
        if is_hit {
            self.hit_ns += time.0;
        } else {
            self.miss_ns += time.0;
        }
    }
}

/// What a cache does with a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShadowRead {
    /// Every block is cached.
    Hit(RequestClass),
    /// The backing volume answers; [`ShadowCache::fill`] caches the blocks.
    Fill(RequestClass),
    /// The backing volume answers, and nothing is cached.
    Pass(RequestClass),
}

/// See the module. Addresses are byte addresses in one space for all volumes.
#[derive(Clone, Debug)]
pub struct ShadowCache {
    block_bytes: u64,
    capacity: u64,
    blocks: S3Fifo,
    classifiers: BTreeMap<u64, Classifier>,
    budget: WriteBudget,
    classes: [ClassCounters; 3],
    flash_bytes_written: u64,
}

impl ShadowCache {
    /// An empty cache of `capacity` in blocks of `block_bytes`; admissions write at most `budget`
    /// per second.
    pub fn new(capacity: Bytes, block_bytes: u64, budget: Option<Bytes>) -> Self {
        let capacity = capacity.0 / block_bytes;
        Self {
            block_bytes,
            capacity,
            blocks: S3Fifo::new(capacity),
            classifiers: BTreeMap::new(),
            budget: WriteBudget::new(budget),
            classes: Default::default(),
            flash_bytes_written: 0,
        }
    }

    /// Blocks that fit.
    pub const fn capacity_blocks(&self) -> u64 {
        self.capacity
    }

    /// Blocks that are cached.
    pub fn cached_blocks(&self) -> u64 {
        self.blocks.len()
    }

    /// Requests of a class.
    pub const fn class(&self, class: RequestClass) -> ClassCounters {
        self.classes[class as usize]
    }

    /// Bytes written to flash.
    pub const fn flash_bytes_written(&self) -> u64 {
        self.flash_bytes_written
    }

    /// Holds a block from the start, as after an earlier session.
    pub fn warm(&mut self, block: u64) {
        self.blocks.admit(block);
    }

    /// Begins a read on `volume` at `now`.
    pub fn read(&mut self, now: Nanos, volume: u64, (offset, length): (u64, u64)) -> ShadowRead {
        let class = self.classify(IoDirection::Read, volume, (offset, length));
        let blocks = self.blocks_of(offset, length);
        let count = blocks.end - blocks.start;
        let mut held = 0;
        for block in blocks {
            held += u64::from(self.blocks.touch(block));
        }
        if held == count {
            self.classes[class as usize].count_hit(length);
            return ShadowRead::Hit(class);
        }
        let admits = Classifier::route(class) == Route::Admit;
        if admits && self.budget.take(now, count * self.block_bytes) {
            return ShadowRead::Fill(class);
        }
        ShadowRead::Pass(class)
    }

    /// Counts the time of a read of this class.
    pub fn took(&mut self, class: RequestClass, is_hit: bool, time: Nanos) {
        self.classes[class as usize].count_time(is_hit, time);
    }

    /// Caches the blocks of a read; returns the number of bytes that this writes to flash.
    pub fn fill(&mut self, (offset, length): (u64, u64)) -> u64 {
        let before = self.flash_bytes_written;
        for block in self.blocks_of(offset, length) {
            if !self.blocks.holds(block) {
                self.admit(block);
            }
        }
        self.flash_bytes_written - before
    }

    /// Records a write on `volume` that reached the backing volume at `now`; returns the number of
    /// bytes that this writes to flash. Partially changed blocks are dropped.
    pub fn written(&mut self, now: Nanos, volume: u64, (offset, length): (u64, u64)) -> u64 {
        let class = self.classify(IoDirection::Write, volume, (offset, length));
        let admits = Classifier::route(class) == Route::Admit;
        let before = self.flash_bytes_written;
        for block in self.blocks_of(offset, length) {
            let begin = block * self.block_bytes;
            let is_whole = begin >= offset && begin + self.block_bytes <= offset + length;
            if admits && is_whole && self.budget.take(now, self.block_bytes) {
                self.admit(block);
            } else {
                self.blocks.remove(block);
            }
        }
        self.flash_bytes_written - before
    }

    fn admit(&mut self, block: u64) {
        self.blocks.admit(block);
        self.flash_bytes_written += self.block_bytes;
    }

    fn classify(
        &mut self,
        access: IoDirection,
        volume: u64,
        (offset, length): (u64, u64),
    ) -> RequestClass {
        let classifier = self.classifiers.entry(volume).or_default();
        let class = classifier.classify(access, offset, length);
        self.classes[class as usize].count(access, length);
        class
    }

    const fn blocks_of(&self, offset: u64, length: u64) -> Range<u64> {
        offset / self.block_bytes..(offset + length).div_ceil(self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};

    use super::{ShadowCache, ShadowRead};
    use crate::policy::RequestClass;

    const PAGES: RequestClass = RequestClass::Database;
    const BLOCK: u64 = 32 << 10;

    fn cache() -> ShadowCache {
        ShadowCache::new(Bytes::from_mib(64), BLOCK, None)
    }

    #[test]
    fn a_page_is_filled_once_and_hits_until_a_part_of_it_is_written() {
        let (mut cache, now) = (cache(), Nanos::ZERO);
        let page = (5 * BLOCK, BLOCK);
        assert_eq!(cache.read(now, 0, page), ShadowRead::Fill(PAGES));
        assert_eq!(cache.fill(page), BLOCK);
        assert_eq!(cache.read(now, 0, page), ShadowRead::Hit(PAGES));
        assert_eq!(cache.written(now, 0, page), BLOCK, "the new version replaces the old one");
        assert_eq!(cache.read(now, 0, page), ShadowRead::Hit(PAGES));
        assert_eq!(cache.written(now, 0, (5 * BLOCK + 4_096, 4_096)), 0);
        assert_eq!(cache.read(now, 0, page), ShadowRead::Fill(PAGES));
        let class = cache.class(RequestClass::Database);
        assert_eq!((class.reads, class.hits, class.writes), (4, 2, 2));
    }

    #[test]
    fn scans_and_reads_beyond_the_budget_pass() {
        let mut cache = ShadowCache::new(Bytes::from_mib(64), BLOCK, Some(Bytes(2 * BLOCK)));
        assert_eq!(
            cache.read(Nanos::ZERO, 0, (1 << 30, 256 << 10)),
            ShadowRead::Pass(RequestClass::Sequential),
            "a scan"
        );
        let read = |cache: &mut ShadowCache, page: u64| {
            cache.read(Nanos::ZERO, 0, (page * 7 * BLOCK, BLOCK))
        };
        let pages = [1, 2, 3].map(|page| read(&mut cache, page));
        assert_eq!(
            pages,
            [ShadowRead::Fill(PAGES), ShadowRead::Fill(PAGES), ShadowRead::Pass(PAGES)]
        );
    }
}
