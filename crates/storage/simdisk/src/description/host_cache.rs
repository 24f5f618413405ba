//! The part of an array file that puts flash of the host in front of the array.

use serde::{Deserialize, Serialize};

use super::bounds::{ValueComplaint, whole, within};
use crate::flash::FlashParameters;
use crate::model::{HostCacheMode, HostCacheParameters};

/// Maximum number of blocks in a simulation: the in-memory index takes about 100 bytes for each.
const MOST_BLOCKS: f64 = 16e6;

/// A flash device in the host, and its use. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCacheSection {
    /// Decimal gigabytes of flash for cached blocks.
    pub size_gb: f64,
    /// `write-through`, or `storage`: flash alone holds the databases.
    #[serde(default)]
    pub(crate) mode: HostCacheMode,
    /// KiB of a cached block.
    #[serde(default = "usual_block_kib")]
    pub block_kib: u64,
    /// Percent of the cache that is filled from the start, evenly from all databases; 0: cold.
    #[serde(default)]
    pub warm_percent: f64,
    /// Microseconds to read a block.
    #[serde(default = "usual_read_us")]
    pub read_us: f64,
    /// Microseconds to write a block.
    #[serde(default = "usual_write_us")]
    pub write_us: f64,
    /// MB (decimal) per second in each direction.
    #[serde(default = "usual_mb_per_second")]
    pub mb_per_second: f64,
    /// Blocks that it reads and writes concurrently.
    #[serde(default = "usual_parallel")]
    pub parallel: usize,
    /// Microseconds that the caching layer, e.g. a virtual appliance, adds to every request.
    #[serde(default)]
    pub request_us: f64,
    /// Microseconds until another host has a copy of a write; only in mode `storage`.
    #[serde(default)]
    pub mirror_us: f64,
    /// MB (decimal) per second that admissions may write, for the drive's endurance; 0: no limit.
    #[serde(default)]
    pub budget_mb_per_second: f64,
}

const fn usual_block_kib() -> u64 {
    32
}

const fn usual_read_us() -> f64 {
    100.0
}

const fn usual_write_us() -> f64 {
    100.0
}

const fn usual_mb_per_second() -> f64 {
    500.0
}

const fn usual_parallel() -> usize {
    16
}

impl HostCacheSection {
    /// A cold cache of this size on typical flash.
    pub const fn of_size(size_gb: f64) -> Self {
        Self {
            size_gb,
            mode: HostCacheMode::WriteThrough,
            block_kib: usual_block_kib(),
            warm_percent: 0.0,
            read_us: usual_read_us(),
            write_us: usual_write_us(),
            mb_per_second: usual_mb_per_second(),
            parallel: usual_parallel(),
            request_us: 0.0,
            mirror_us: 0.0,
            budget_mb_per_second: 0.0,
        }
    }

    /// The cache to simulate.
    pub(super) fn checked(&self) -> Result<HostCacheParameters, ValueComplaint> {
        within("host_cache.block_kib", self.block_kib as f64, 4.0, 1_024.0)?;
        let block = self.block_kib << 10;
        let most_gb = MOST_BLOCKS * block as f64 / 1e9;
        within("host_cache.size_gb", self.size_gb, 0.001, most_gb)?;
        within("host_cache.warm_percent", self.warm_percent, 0.0, 100.0)?;
        within("host_cache.read_us", self.read_us, 0.0, 1e6)?;
        within("host_cache.write_us", self.write_us, 0.0, 1e6)?;
        within("host_cache.mb_per_second", self.mb_per_second, 0.1, 1e6)?;
        within("host_cache.parallel", self.parallel as f64, 1.0, 65_536.0)?;
        within("host_cache.request_us", self.request_us, 0.0, 1e6)?;
        within("host_cache.mirror_us", self.mirror_us, 0.0, 1e6)?;
        within("host_cache.budget_mb_per_second", self.budget_mb_per_second, 0.0, 1e6)?;
        let budget = whole(self.budget_mb_per_second * 1e6);
        Ok(HostCacheParameters {
            mode: self.mode,
            capacity: whole(self.size_gb * 1e9) / block * block,
            block,
            budget: (budget > 0).then_some(budget),
            warm_millionths: whole(self.warm_percent * 1e4),
            flash: self.flash(block),
            hop: whole(self.request_us * 1e3),
            mirror: whole(self.mirror_us * 1e3),
        })
    }

    fn flash(&self, block: u64) -> FlashParameters {
        FlashParameters {
            dies: self.parallel,
            read: self.read_us,
            program: self.write_us,
            page: block,
            rate: self.mb_per_second,
            overhead: 0.0,
            write_overhead: 0.0,
            durable: 0.0,
            read_beside_writes: 0.0,
            write_amplification: 1.0,
            buffer: 0.0,
            buffer_is_volatile: false,
        }
    }
}
