//! Options for opening a database; the defaults follow common practice.

use ese::log_file::SegmentSize;
use ese::page::PageSize;
use units::{Bytes, Nanos};

/// Minimum number of free pages when eviction starts, unless the cache is very small: that many
/// writes may be in flight before any of them frees a page, and 1 % of a small cache is used up
/// meanwhile.
const FEWEST_FREE_PAGES: u64 = 32;

/// In a very small cache that minimum is one in this many of its pages instead.
const SMALLEST_SHARE: u64 = 64;

/// Behaviour of an open database's checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointMode {
    /// It keeps to its depth.
    Advancing,
    /// It stays where it was when the database was opened: no page is written and no log file
    /// removed on its behalf, so that recovery has all of that log to replay.
    Held,
}

/// Settings of one open database. [`Settings::default`] matches mail servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The cache never shrinks below this.
    pub cache_minimum: Bytes,
    /// The cache never keeps more than this, except for pages that running operations hold.
    pub cache_maximum: Bytes,
    /// How much log may separate the oldest unwritten change from the log's end (ESE
    /// `JET_paramCheckpointDepthMax`).
    pub checkpoint_depth: Bytes,
    /// Eviction starts when free pages fall below this share of the cache maximum (ESE
    /// `JET_paramStartFlushThreshold`, 1 %); see [`Settings::free_pool_marks`] for small caches.
    pub start_flush_percent: f64,
    /// Eviction stops when free pages reach this share of the cache maximum (ESE
    /// `JET_paramStopFlushThreshold`, 2 %).
    pub stop_flush_percent: f64,
    /// Longest run of adjacent pages written with one request.
    pub longest_write: Bytes,
    /// Whether the checkpoint advances with the log.
    pub checkpoint: CheckpointMode,
    /// How many page writes the checkpoint keeps in flight.
    pub checkpoint_writes: usize,
    /// Pause between two reads of the background maintenance scan; `None` disables it.
    pub maintenance_pause: Option<Nanos>,
    /// Length of one read of the maintenance scan.
    pub maintenance_read: Bytes,
    /// Size of a log segment, the unit in which the log is written. `None`: 512 bytes if the disk's
    /// logical and physical sectors are no longer, else 4 KiB.
    pub log_segment: Option<SegmentSize>,
    /// Whether log generations below the checkpoint are removed.
    pub circular_log: bool,
    /// Number of further copies of the database, each of which reads every closed log file.
    pub log_copies: u32,
    /// Whether the first change to a page after each write logs the whole page, so that recovery
    /// can repair a page torn by a power failure. ESE does not do this and relies on storage that
    /// writes pages whole; it makes the log many times larger.
    pub log_whole_pages: bool,
    /// Whether log files are read back and compared with the data written, each before it is
    /// removed, and the header, the checkpoint and the flush map once the database is closed; see
    /// [`Database::take_not_as_written`](crate::Database::take_not_as_written).
    pub read_back: bool,
    /// Which pages are verified when they are read.
    pub verification: Verification,
}

/// Which pages are verified when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Every read: checksum, structure, and the state of its last write.
    #[default]
    EveryRead,
    /// No page. Only for storage known to return the data written to it, such as memory in virtual
    /// time, where verifying pages takes a fifth of a simulation's time.
    Trusted,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache_minimum: Bytes::from_mib(32),
            cache_maximum: Bytes::from_mib(256),
            checkpoint_depth: Bytes::from_mib(20),
            start_flush_percent: 1.0,
            stop_flush_percent: 2.0,
            longest_write: Bytes::from_kib(512),
            checkpoint: CheckpointMode::Advancing,
            checkpoint_writes: 16,
            maintenance_pause: None,
            maintenance_read: Bytes::from_kib(256),
            log_segment: None,
            circular_log: true,
            log_copies: 0,
            log_whole_pages: false,
            read_back: false,
            verification: Verification::EveryRead,
        }
    }
}

impl Settings {
    /// Free cache space at which eviction starts, and at which it stops.
    pub fn free_pool_marks(&self, page_size: PageSize) -> (Bytes, Bytes) {
        let cache = self.cache_maximum.max(self.cache_minimum);
        let fewest = FEWEST_FREE_PAGES * page_size.bytes_u64();
        let fewest = fewest.min(cache.0 / SMALLEST_SHARE);
        let start = share_of(cache.0, self.start_flush_percent).max(fewest);
        let stop = share_of(cache.0, self.stop_flush_percent).max(2 * fewest);
        (Bytes(start), Bytes(stop))
    }
}

/// How many pages fit into an amount of memory.
pub(crate) fn whole_pages(memory: Bytes, page_size: PageSize) -> usize {
    usize::try_from(memory.0 / page_size.bytes_u64()).unwrap_or(0)
}

/// A percentage of a number of bytes.
fn share_of(bytes: u64, percent: f64) -> u64 {
    let share = bytes as f64 * percent.clamp(0.0, 50.0) / 100.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "half of a cache size at most, and positive"
    )]
    let share = share.round() as u64;
    share
}

#[cfg(test)]
mod tests {
    use ese::page::PageSize;
    use units::Bytes;

    use super::Settings;

    fn marks(cache: Bytes) -> (Bytes, Bytes) {
        let settings =
            Settings { cache_minimum: Bytes(0), cache_maximum: cache, ..Settings::default() };
        settings.free_pool_marks(PageSize::KIB_32)
    }

    #[test]
    fn a_large_cache_keeps_its_percentages_free() {
        let (start, stop) = marks(Bytes::from_mib(256));
        assert_eq!((start, stop), (Bytes(2_684_355), Bytes(5_368_709)));
    }

    #[test]
    fn a_small_cache_has_room_for_the_writes_on_their_way() {
        let (start, stop) = marks(Bytes::from_mib(64));
        assert_eq!((start, stop), (Bytes::from_mib(1), Bytes::from_mib(2)));
        let (start, stop) = marks(Bytes::from_mib(4));
        assert_eq!((start, stop), (Bytes::from_kib(64), Bytes::from_kib(128)));
    }
}
