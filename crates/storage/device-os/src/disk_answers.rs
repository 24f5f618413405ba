//! Parses Windows' answers about disks: structures of `winioctl.h`, read field by field from bytes,
//! so that the parsers can be tested on any system and no short answer is read past its end.

use crate::probe::{OwnCache, Transport};

const SOURCE: &str = "StorageDeviceWriteCacheProperty";

/// Contents of a `STORAGE_DEVICE_DESCRIPTOR`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// Vendor and product.
    pub model: Option<String>,
    /// The bus that connects it.
    pub transport: Option<Transport>,
    /// Whether Storage Spaces composes it of other disks.
    pub is_made_of_others: bool,
    /// Whether it is a virtual machine's disk or a file, for which the reported rotation means
    /// nothing.
    pub is_virtual: bool,
}

impl Descriptor {
    /// Parses the answer; `None` if it is too short to contain the bus.
    pub(crate) fn of(answer: &[u8]) -> Option<Self> {
        let bus = number(answer, 28)?;
        let model =
            [12, 16].into_iter().filter_map(|at| text(answer, at)).collect::<Vec<_>>().join(" ");
        let is_virtual_model = ["virtual", "qemu", "virtio", "vmware", "vbox"]
            .iter()
            .any(|maker| model.to_ascii_lowercase().contains(maker));
        Some(Self {
            transport: transport(bus),
            is_made_of_others: bus == bus_type::SPACES,
            is_virtual: is_virtual_model
                || matches!(bus, bus_type::VIRTUAL | bus_type::FILE_BACKED_VIRTUAL),
            model: (!model.is_empty()).then_some(model),
        })
    }
}

/// `STORAGE_BUS_TYPE`.
mod bus_type {
    pub(super) const ATAPI: u32 = 2;
    pub(super) const ATA: u32 = 3;
    pub(super) const FIBRE: u32 = 6;
    pub(super) const USB: u32 = 7;
    pub(super) const RAID: u32 = 8;
    pub(super) const ISCSI: u32 = 9;
    pub(super) const SAS: u32 = 10;
    pub(super) const SATA: u32 = 11;
    pub(super) const VIRTUAL: u32 = 14;
    pub(super) const FILE_BACKED_VIRTUAL: u32 = 15;
    pub(super) const SPACES: u32 = 16;
    pub(super) const NVME: u32 = 17;
}

const fn transport(bus: u32) -> Option<Transport> {
    Some(match bus {
        bus_type::ATAPI | bus_type::ATA | bus_type::SATA => Transport::Ata,
        bus_type::FIBRE => Transport::FibreChannel,
        bus_type::ISCSI => Transport::Iscsi,
        bus_type::NVME => Transport::Nvme,
        bus_type::RAID | bus_type::SAS => Transport::Sas,
        bus_type::USB => Transport::Usb,
        _ => return None,
    })
}

/// A write cache as reported by the device, and whether Windows flushes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldCache {
    /// The device's report; Windows reads its mode page.
    pub own: OwnCache,
    /// Whether Windows considers it volatile; `None` if it does not know.
    pub is_flushed: Option<bool>,
}

impl ToldCache {
    /// Parses a `STORAGE_WRITE_CACHE_PROPERTY`.
    pub(crate) fn of(answer: &[u8]) -> Self {
        const NONE: u32 = 1;
        const WRITE_THROUGH: u32 = 3;
        const DISABLED: u32 = 1;
        const ENABLED: u32 = 2;
        let untold =
            || Self { own: OwnCache::Untold("Windows does not know".to_owned()), is_flushed: None };
        let fields = (number(answer, 8), number(answer, 12), answer.get(25));
        let (Some(kind), Some(enabled), Some(is_protected)) = fields else {
            return untold();
        };
        match (kind, enabled) {
            (NONE | WRITE_THROUGH, _) | (_, DISABLED) => {
                Self { own: OwnCache::Off(SOURCE), is_flushed: Some(false) }
            }
            // If an administrator has declared the cache protected, Windows answers flushes itself.
            (_, ENABLED) => {
                Self { own: OwnCache::On(SOURCE), is_flushed: Some(*is_protected == 0) }
            }
            _ => untold(),
        }
    }
}

/// Contents of a `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectorSizes {
    /// Bytes of a logical sector.
    pub logical: u32,
    /// Bytes of a physical one.
    pub physical: u32,
    /// Offset of logical sector 0 from a physical sector boundary, in bytes.
    pub misalignment: u32,
}

impl SectorSizes {
    pub(crate) fn of(answer: &[u8]) -> Option<Self> {
        let (logical, physical) = (number(answer, 16)?, number(answer, 20)?);
        let misalignment = number(answer, 24)?;
        (logical > 0).then_some(Self { logical, physical: physical.max(logical), misalignment })
    }
}

/// Whether a disk spins: `DEVICE_SEEK_PENALTY_DESCRIPTOR`.
pub(crate) fn has_seek_penalty(answer: &[u8]) -> Option<bool> {
    answer.get(8).map(|&penalty| penalty != 0)
}

/// A part of a disk occupied by a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskExtent {
    /// The number in `PhysicalDrive0`.
    pub disk: u32,
    /// Offset in bytes from the start of the disk.
    pub begin_bytes: u64,
}

/// The extents in a `VOLUME_DISK_EXTENTS`.
pub(crate) fn extents(answer: &[u8]) -> Vec<DiskExtent> {
    const HEADER_BYTES: usize = 8;
    const EXTENT_BYTES: usize = 24;
    let count = number(answer, 0).unwrap_or(0) as usize;
    answer
        .get(HEADER_BYTES..)
        .unwrap_or_default()
        .chunks_exact(EXTENT_BYTES)
        .take(count)
        .filter_map(|of| {
            Some(DiskExtent { disk: number(of, 0)?, begin_bytes: wide_number(of, 8)? })
        })
        .collect()
}

/// Scheme of the partition table: `PARTITION_INFORMATION_EX`.
pub(crate) fn scheme(answer: &[u8]) -> Option<&'static str> {
    match number(answer, 0)? {
        0 => Some("MBR"),
        1 => Some("gpt"),
        _ => None,
    }
}

/// Size of a disk in bytes: `DISK_GEOMETRY_EX`.
pub(crate) fn disk_bytes(answer: &[u8]) -> Option<u64> {
    wide_number(answer, 24).filter(|&bytes| bytes > 0)
}

/// Bytes read from a disk: `DISK_PERFORMANCE`. `None` if the disk has never counted anything, as
/// with some drivers.
pub(crate) fn bytes_read(answer: &[u8]) -> Option<u64> {
    let (read, written) = (wide_number(answer, 0)?, wide_number(answer, 8)?);
    (read > 0 || written > 0).then_some(read)
}

/// Whether `ReFS` checks the content of a file: `FSCTL_GET_INTEGRITY_INFORMATION_BUFFER`.
pub(crate) fn has_integrity(answer: &[u8]) -> Option<bool> {
    let algorithm = answer.get(..2)?;
    Some(algorithm != [0, 0])
}

/// Whether the first sector of a volume, as stored on the disk, belongs to a volume that
/// `BitLocker` encrypts: its signature replaces that of the file system.
pub(crate) fn is_bitlocker(sector: &[u8]) -> bool {
    sector.get(3..11) == Some(b"-FVE-FS-")
}

fn number(answer: &[u8], at: usize) -> Option<u32> {
    let bytes = answer.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn wide_number(answer: &[u8], at: usize) -> Option<u64> {
    let bytes = answer.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// The text at an offset that is stored at byte `at`; an offset of 0 means `None`.
fn text(answer: &[u8], at: usize) -> Option<String> {
    let begin = number(answer, at)? as usize;
    let rest = answer.get(begin..).filter(|_| begin > 0)?;
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    let text = String::from_utf8_lossy(&rest[..end]).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
