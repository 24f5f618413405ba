//! Describes the storage underneath a folder: a report that names the hardware can be compared and
//! repeated.
//!
//! Facts that the kernel does not report are omitted, never guessed.

mod limit;

use std::fmt;
use std::path::Path;

use device::DeviceError;

use crate::system;

pub use limit::{IoLimit, SpaceLimit};

/// A mounted file system and the disk it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeFacts {
    /// Its mount point.
    pub mount_point: String,
    /// Its kind: `ext4`, `xfs`, ...
    pub file_system: String,
    /// The mounted source: `/dev/sda1`, `tank/mail`, `server:/export`.
    pub source: String,
    /// Mount options, those of the mount and those of the file system.
    pub options: String,
    /// Free bytes for an ordinary user.
    pub free_bytes: u64,
    /// Size in bytes.
    pub total_bytes: u64,
    /// Whether a cache of the operating system intercepts unbuffered requests.
    pub caching: Caching,
    /// The block device; `None` for network and memory file systems.
    pub disk: Option<DiskFacts>,
    /// How a write is made durable.
    pub durable_writes: DurableWrites,
    /// The kernel's release.
    pub kernel: String,
    /// Unit of file growth, in bytes; `None` for extents of any length.
    pub allocation_unit_bytes: Option<u64>,
    /// Attributes that new files in the folder inherit.
    pub marks: Vec<FileMark>,
    /// Whether `BitLocker` encrypts it; `None` on systems without it.
    pub bitlocker: Option<BitLocker>,
    /// Limits of this process's control groups on the disk.
    pub io_limits: Vec<IoLimit>,
    /// Limits of this process on the size of files and on the space that they take.
    pub space_limits: Vec<SpaceLimit>,
}

/// Whether Windows encrypts a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BitLocker {
    /// It does.
    On,
    /// It does not.
    Off,
    /// It cannot be known; holds the reason.
    Untold(String),
}

/// An automatic action of a file system on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// It is compressed.
    Compressed,
    /// The file itself is encrypted, whether or not its volume is.
    Encrypted,
    /// `ReFS` checksums its content, and writes each change to a new place.
    Integrity,
    /// It is overwritten in place on a file system that otherwise copies on write.
    OverwrittenInPlace,
}

/// Whether a cache of the operating system answers instead of the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caching {
    /// None does.
    None,
    /// The file system caches regardless of what a request asks for; holds the reason.
    InFileSystem(String),
    /// A cache lies below the file system; holds its location.
    Below(String),
    /// It cannot be known; holds the reason.
    Unknown(String),
}

/// How a write is made durable, as part of its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableWrites {
    /// A flag of the write, which the file system is known to honour.
    Flag,
    /// A flush after the write.
    Flush,
    /// The NBD server's offer: force unit access, or a flush after the write.
    Export,
    /// The iSCSI target's offer: force unit access, or a flush after the write.
    Lun,
}

impl fmt::Display for DurableWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "RWF_DSYNC",
            Self::Flush if cfg!(windows) => "write and FlushFileBuffers",
            Self::Flush => "write and fdatasync",
            Self::Lun => "WRITE with FUA, or SYNCHRONIZE CACHE behind the write",
            Self::Export => "NBD_CMD_FLAG_FUA, or NBD_CMD_FLUSH behind the write",
        })
    }
}

/// A block device, as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskFacts {
    /// The whole device's name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Vendor and model, if the device reports them.
    pub model: Option<String>,
    /// Whether it is a spinning disk; `None` if it does not report it, or is a virtual one, whose
    /// report means nothing.
    pub rotational: Option<bool>,
    /// Logical sector in bytes: its unit of addressing. 512 if unknown.
    pub logical_sector: u32,
    /// Physical sector in bytes: its unit of writing. 512 if unknown.
    pub physical_sector: u32,
    /// Whether it has a write cache that loses its content with power.
    pub volatile_cache: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Maximum number of requests that the kernel queues.
    pub queue_depth: Option<u32>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// The components of a device-mapper or RAID device.
    pub members: Vec<String>,
}

/// A block device underneath a file system, and the facts that decide how it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDevice {
    /// The kernel's facts about the whole device.
    pub facts: DiskFacts,
    /// The kernel it runs under: remedies use that system's commands.
    pub kernel: Platform,
    /// Whether this program talks to the storage directly, without a kernel device.
    pub is_unattached: bool,
    /// Its transport; `None` if it is composed of other devices, or unknown.
    pub transport: Option<Transport>,
    /// Its composition.
    pub makeup: Makeup,
    /// The device's own report of its write cache.
    pub own_cache: OwnCache,
    /// Bytes by which its start is off its own physical sectors.
    pub misalignment_bytes: Option<u64>,
    /// The partition in use, if any.
    pub partition: Option<Partition>,
}

/// Operating system that presents a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Linux.
    #[default]
    Linux,
    /// Windows.
    Windows,
}

/// The way to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// SATA or parallel ATA.
    Ata,
    /// Fibre Channel.
    FibreChannel,
    /// iSCSI.
    Iscsi,
    /// `NVMe`, of whatever wire.
    Nvme,
    /// SAS, or a RAID controller that presents its drives as SAS.
    Sas,
    /// USB.
    Usb,
    /// Virtio, the paravirtual bus of virtual machines.
    Virtio,
}

/// Composition of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Makeup {
    /// Not composed of other devices, as far as the kernel knows.
    #[default]
    Plain,
    /// Paths to the same device.
    Multipath {
        /// Number of paths.
        paths: u32,
        /// Number of paths in use or ready.
        running: u32,
    },
    /// An encrypted device.
    Encrypted,
    /// Devices combined by the kernel's software RAID (md).
    Array(SoftwareArray),
    /// Extents of other devices.
    Mapped,
    /// A slow device behind a fast one: bcache, dm-cache.
    Cached,
}

/// A software RAID of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftwareArray {
    /// `raid1`, `raid10`, ...
    pub level: String,
    /// Number of devices it is designed for.
    pub disks: u32,
    /// Number of missing devices.
    pub missing: u32,
    /// Consecutive bytes on one device before the next; `None` if the level has no chunks.
    pub chunk_bytes: Option<u64>,
}

/// A device's own report of its write cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnCache {
    /// It is on; holds the source of this fact.
    On(&'static str),
    /// It is off, or absent; holds the source of this fact.
    Off(&'static str),
    /// It reports nothing; holds the reason.
    Untold(String),
}

impl Default for OwnCache {
    fn default() -> Self {
        Self::Untold("it was not asked".to_owned())
    }
}

/// A part of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Offset in bytes from the start of the device.
    pub begin_bytes: u64,
    /// Scheme of the partition table, such as `gpt`.
    pub scheme: Option<String>,
}

/// The block devices underneath `path`, which must exist: the mounted one first, followed by its
/// components. Empty for network and memory file systems. Asks each device for the state of its
/// cache, and changes nothing.
pub fn devices(path: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    system::devices(path)
}

/// Facts about the storage underneath `path`, which must exist.
pub fn volume(path: &Path) -> Result<VolumeFacts, DeviceError> {
    system::facts(path)
}

/// Free bytes for this process on the volume of `path`, which must exist: those of an ordinary
/// user, or fewer if a quota leaves fewer.
pub fn free_bytes(path: &Path) -> Result<u64, DeviceError> {
    system::free_bytes(path)
}

/// Whether an unbuffered read at byte 1 of the file at `path` is refused. It is if the system
/// honours the request; otherwise a cache answers at least some requests.
pub fn refuses_unaligned(path: &Path) -> Result<bool, DeviceError> {
    system::refuses_unaligned(path)
}

/// Bytes read so far by the block devices under `path`; `None` if not counted.
pub fn device_read_bytes(path: &Path) -> Option<u64> {
    system::device_read_bytes(path)
}

/// Upper bound of the bytes that the system accounts to device reads of `path` so far: those that
/// this process caused, plus those of the file system's server if a process serves it. `None` if
/// unknown.
pub fn accounted_read_bytes(path: &Path) -> Option<u64> {
    system::accounted_read_bytes(path)
}
