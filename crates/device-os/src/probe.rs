//! What stands under a folder: a report that names the hardware can be compared and repeated.
//!
//! Whatever the kernel does not tell is left out rather than guessed.

use std::fmt;
use std::path::Path;

use device::DeviceError;

use crate::system;

/// A mounted file system and the disk it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeFacts {
    /// Where it is mounted.
    pub mount_point: String,
    /// Its kind: `ext4`, `xfs`, ...
    pub file_system: String,
    /// What is mounted: `/dev/sda1`, `tank/mail`, `server:/export`.
    pub source: String,
    /// Mount options, those of the mount and those of the file system.
    pub options: String,
    /// Free bytes for an ordinary user.
    pub free_bytes: u64,
    /// Bytes in all.
    pub total_bytes: u64,
    /// Whether a cache of the operating system is in the way of unbuffered requests.
    pub caching: Caching,
    /// The block device; none for network and memory file systems.
    pub disk: Option<DiskFacts>,
    /// What makes a write durable.
    pub durable_writes: DurableWrites,
    /// The kernel's release.
    pub kernel: String,
}

/// Whether a cache of the operating system answers in the storage's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caching {
    /// None does.
    None,
    /// The file system uses one whatever a request asks for; why.
    InFileSystem(String),
    /// One lies below the file system; where.
    Below(String),
    /// It cannot be known; why.
    Unknown(String),
}

/// What makes a write durable, as part of its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableWrites {
    /// A flag of the write, which the file system is known to heed.
    Flag,
    /// A flush behind the write.
    Flush,
}

impl fmt::Display for DurableWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "RWF_DSYNC",
            Self::Flush if cfg!(windows) => "write and FlushFileBuffers",
            Self::Flush => "write and fdatasync",
        })
    }
}

/// A block device, as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskFacts {
    /// The whole device's name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Vendor and model, where the device tells.
    pub model: Option<String>,
    /// Whether it is a spinning disk; none where it does not say, or is a virtual one, whose word
    /// means nothing.
    pub rotational: Option<bool>,
    /// Logical sector in bytes: what it can address. 512 where unknown.
    pub logical_sector: u32,
    /// Physical sector in bytes: what it writes at once. 512 where unknown.
    pub physical_sector: u32,
    /// Whether it has a write cache that loses its content with power.
    pub volatile_cache: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Requests that the kernel queues at most.
    pub queue_depth: Option<u32>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// The devices a device-mapper or RAID device is made of.
    pub members: Vec<String>,
}

/// What stands under `path`, which must exist.
pub fn volume(path: &Path) -> Result<VolumeFacts, DeviceError> {
    system::facts(path)
}

/// Free bytes for an ordinary user on what holds `path`, which must exist.
pub fn free_bytes(path: &Path) -> Result<u64, DeviceError> {
    system::free_bytes(path)
}

/// Whether a read at byte 1 of the file at `path`, unbuffered, is refused. It is where the system
/// does what it was asked for; where it is not, a cache answers some requests at least.
pub fn refuses_unaligned(path: &Path) -> Result<bool, DeviceError> {
    system::refuses_unaligned(path)
}

/// Bytes that the block devices under `path` have read so far; none where that is not counted.
pub fn device_read_bytes(path: &Path) -> Option<u64> {
    system::device_read_bytes(path)
}
