//! Components of an array, every value checked.

use crate::disk::{DiskParameters, VirtualMoment};
use crate::flash::FlashParameters;
use crate::limit::LimitParameters;
use crate::link::PathParameters;
use crate::neighbours::NeighbourParameters;
use crate::raid::RaidLayout;
use serde::{Deserialize, Serialize};

/// A whole array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArrayModel {
    pub layout: RaidLayout,
    pub medium: Medium,
    /// Bytes of one drive.
    pub drive_bytes: u64,
    pub cache: CacheParameters,
    pub path: PathParameters,
    pub limits: LimitParameters,
    pub neighbours: NeighbourParameters,
    pub host_cache: Option<HostCacheParameters>,
    /// Percent of its time that a spare spends on replacing a failed disk.
    pub rebuild_percent: f64,
    /// Whether there is a spare from the beginning.
    pub has_spare: bool,
}

impl ArrayModel {
    /// Capacity of the set in bytes, in whole rows.
    pub(crate) const fn capacity(&self) -> u64 {
        let rows = self.drive_bytes / self.layout.stripe_unit;
        rows * self.layout.stripe_unit * self.layout.data_disks() as u64
    }
}

/// Kind of the drives of a set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Medium {
    Disk(DiskParameters),
    Flash(FlashParameters),
}

/// Write policy of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CacheMode {
    /// Acknowledges writes once they are in its memory, which survives a power failure.
    WriteBack,
    /// Acknowledges writes once the disks have them, and keeps them for reads.
    #[default]
    WriteThrough,
    /// Hands writes to the disks and keeps nothing.
    PassThrough,
}

/// The controller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheParameters {
    pub(crate) mode: CacheMode,
    /// Bytes that may be acknowledged before the disks have them.
    pub write_bytes: u64,
    /// Nothing is written to the disks unless more than this is waiting.
    pub low_mark: u64,
    /// Maximum number of extents being destaged.
    pub destage_concurrency: usize,
    /// Maximum length of a destaged extent, in bytes.
    pub destage_bytes: u64,
    /// Bytes read ahead of a stream.
    pub read_ahead: u64,
    /// Streams tracked at once.
    pub read_ahead_streams: usize,
    /// Percent of all pages cached for reads.
    pub read_hit_percent: u64,
    /// Time until the other controller has a copy.
    pub mirror: VirtualMoment,
}

/// Purpose of a host's flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostCacheMode {
    /// A cache for the array: reads are answered from flash if possible, writes by the array.
    #[default]
    WriteThrough,
    /// The storage itself, mirrored to another host; the array is not used.
    Storage,
}

/// Parameters of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostCacheParameters {
    pub(crate) mode: HostCacheMode,
    pub capacity: u64,
    pub block: u64,
    /// Bytes per second that admissions may write.
    pub budget: Option<u64>,
    /// Blocks per million that are held from the start.
    pub warm_millionths: u64,
    pub flash: FlashParameters,
    /// Time that every request spends in the caching layer.
    pub hop: VirtualMoment,
    /// Time until the other host has a copy of a write.
    pub mirror: VirtualMoment,
}
