//! What stands under a folder: a report that names the hardware can be compared and repeated.
//!
//! Whatever the kernel does not tell is left out rather than guessed.

use std::fmt;
use std::path::Path;

use device::DeviceError;
use units::{Bytes, thousands};

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
    /// Bytes that files grow by; none where they lie in extents of any length.
    pub allocation_unit_bytes: Option<u64>,
    /// What new files in the folder get.
    pub marks: Vec<FileMark>,
    /// Whether `BitLocker` encrypts it; none on systems that have no such.
    pub bitlocker: Option<BitLocker>,
    /// What the control groups of this process let it do with the disk.
    pub io_limits: Vec<IoLimit>,
}

/// What a control group lets its processes do with a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimit {
    /// The group, as the system names it.
    pub group: String,
    /// The disk by its numbers, such as `8:0`.
    pub device: String,
    /// What is limited, in the words of `io.max`: `rbps`, `wbps`, `riops`, `wiops` or another.
    pub what: String,
    /// How much of it in a second; none where that is no number.
    pub per_second: Option<u64>,
    /// Why `what`, a file of the group then, could not be read.
    pub unreadable: Option<String>,
}

impl fmt::Display for IoLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, device, what, per_second, unreadable } = self;
        write!(f, "the control group {group} ")?;
        if let Some(why) = unreadable {
            return write!(f, "may limit {device}: {what} cannot be read ({why})");
        }
        match (what.as_str(), *per_second) {
            ("rbps", Some(most)) => {
                write!(f, "allows reads of {} a second on {device}", Bytes(most))
            }
            ("wbps", Some(most)) => {
                write!(f, "allows writes of {} a second on {device}", Bytes(most))
            }
            ("riops", Some(most)) => {
                write!(f, "allows {} reads a second on {device}", thousands(most))
            }
            ("wiops", Some(most)) => {
                write!(f, "allows {} writes a second on {device}", thousands(most))
            }
            (what, Some(most)) => write!(f, "limits \"{what}\" on {device} to {most} a second"),
            (what, None) => {
                write!(f, "limits \"{what}\" on {device} in a way that is not understood")
            }
        }
    }
}

/// Whether Windows encrypts a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BitLocker {
    /// It does.
    On,
    /// It does not.
    Off,
    /// It cannot be known; why.
    Untold(String),
}

/// What a file system does to a file on its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// It is compressed.
    Compressed,
    /// It is encrypted by itself.
    Encrypted,
    /// `ReFS` checks its content, and writes each change to a new place.
    Integrity,
    /// It is overwritten in place where others are copied on write.
    OverwrittenInPlace,
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
    /// What an NBD server offers: force unit access, or a flush behind the write.
    Export,
    /// What an iSCSI target offers: force unit access, or a flush behind the write.
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

/// A block device of those that a file system stands on, and what decides how it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDevice {
    /// What the kernel tells of the whole device.
    pub facts: DiskFacts,
    /// Which kernel that is: what is to be mended is mended in its own way.
    pub kernel: Platform,
    /// Whether no kernel has attached it: the program itself speaks to its target.
    pub is_unattached: bool,
    /// How it is reached; none where it is made of other devices, or nothing tells.
    pub transport: Option<Transport>,
    /// What it is made of.
    pub makeup: Makeup,
    /// What the device itself says of its write cache.
    pub own_cache: OwnCache,
    /// Bytes by which its begin is off its own physical sectors.
    pub misalignment_bytes: Option<u64>,
    /// The partition that is used, where one is.
    pub partition: Option<Partition>,
}

/// A system with devices.
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
    /// SAS, or a RAID controller that shows its drives as such.
    Sas,
    /// USB.
    Usb,
    /// A virtual machine's own.
    Virtio,
}

/// What a block device is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Makeup {
    /// Nothing that the kernel knows of.
    #[default]
    Plain,
    /// Paths to the same device.
    Multipath {
        /// Paths that there are.
        paths: u32,
        /// Those that are in use or ready.
        running: u32,
    },
    /// An encrypted device.
    Encrypted,
    /// Devices under a RAID level of the kernel's own (md).
    Array(SoftwareArray),
    /// Extents of other devices.
    Mapped,
    /// A slow device behind a fast one: bcache, dm-cache.
    Cached,
}

/// A RAID of the kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftwareArray {
    /// `raid1`, `raid10`, ...
    pub level: String,
    /// Devices that it is made for.
    pub disks: u32,
    /// Those that are not there.
    pub missing: u32,
    /// Bytes on one device before the next; none where the level has no such.
    pub chunk_bytes: Option<u64>,
}

/// What a device says of its own write cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnCache {
    /// It is on; where that was read.
    On(&'static str),
    /// It is off, or there is none; where that was read.
    Off(&'static str),
    /// It does not say; why.
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
    /// Where it begins, in bytes from the begin of the device.
    pub begin_bytes: u64,
    /// The kind of table that it stands in, such as `gpt`.
    pub scheme: Option<String>,
}

/// The block devices that `path`, which must exist, stands on: the one that is mounted first, below
/// it what it is made of. None for network and memory file systems. Asks each device for the state
/// of its cache, and changes nothing.
pub fn devices(path: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    system::devices(path)
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
