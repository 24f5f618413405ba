//! Status and counters that a cache reports.

use std::fmt;

use device::DeviceError;

/// Whether the cache is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheHealth {
    /// It caches.
    Working,
    /// The flash failed; every request goes to the backing volume.
    Failed {
        /// The first failure.
        error: DeviceError,
        /// `true` if the failed flash could still be marked as empty. Otherwise it must not be used
        /// again without a format: its content is older than the volumes.
        marked_empty: bool,
    },
    /// It was closed.
    Closed,
}

impl fmt::Display for CacheHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Working => write!(f, "working"),
            Self::Failed { error, marked_empty: true } => write!(
                f,
                "the flash failed, and every request goes to the backing volume ({error}); replace \
                 the flash"
            ),
            Self::Failed { error, marked_empty: false } => write!(
                f,
                "the flash failed, and every request goes to the backing volume ({error}); its \
                 content is out of date: format it before you use it again"
            ),
            Self::Closed => write!(f, "closed"),
        }
    }
}

/// Activity of a cache since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounters {
    /// Blocks that were read from the cache.
    pub block_hits: u64,
    /// Blocks requested but not cached.
    pub block_misses: u64,
    /// Blocks cached from reads and writes.
    pub admitted: u64,
    /// Blocks not cached for lack of room, budget or share.
    pub refused: u64,
    /// Blocks copied from a reclaimed segment.
    pub moved: u64,
    /// Blocks evicted.
    pub evicted: u64,
    /// Blocks dropped because a write changed them.
    pub invalidated: u64,
    /// Blocks found corrupt on flash, and served from the backing volume.
    pub damaged: u64,
    /// Bytes written to flash, of every kind.
    pub flash_bytes_written: u64,
    /// Checkpoints completed.
    pub checkpoints: u64,
}

/// One volume's part of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeStatus {
    /// Its name.
    pub name: String,
    /// Blocks that it holds.
    pub blocks: u64,
    /// Its stamp: blocks are used only if the volume is opened with the same stamp.
    pub stamp: u64,
}

/// A cache at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatus {
    /// Whether it caches.
    pub health: CacheHealth,
    /// Activity since it was opened.
    pub counters: StoreCounters,
    /// Blocks that fit.
    pub capacity_blocks: u64,
    /// Blocks that are cached.
    pub cached_blocks: u64,
    /// Bytes of memory that index and ghost take.
    pub memory_bytes: u64,
    /// Its volumes, by name.
    pub volumes: Vec<VolumeStatus>,
}
