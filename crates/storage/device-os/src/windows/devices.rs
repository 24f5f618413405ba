//! The disks under a volume, each queried in turn. Anything that Windows, or Wine, does not answer
//! is unknown.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use device::DeviceError;
use windows_sys::Win32::Foundation as codes;
use windows_sys::Win32::System::Ioctl::{
    StorageAccessAlignmentProperty, StorageDeviceProperty, StorageDeviceSeekPenaltyProperty,
    StorageDeviceWriteCacheProperty,
};

use super::folder::{folder_of, sectors, shown_root};
use super::{ioctl, sys};
use crate::disk_answers::{
    Descriptor, DiskExtent, SectorSizes, ToldCache, bytes_read, disk_bytes, extents,
    has_seek_penalty, is_bitlocker, scheme,
};
use crate::probe::{BitLocker, BlockDevice, DiskFacts, Makeup, OwnCache, Partition, Platform};

/// The devices under `path`, which must exist.
pub(crate) fn devices(path: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    let folder = folder_of(path)?;
    let root = sys::volume_root(&folder)
        .map_err(|error| super::errors::of(&error, &path.display().to_string(), "probe", 0))?;
    let below = Below::of(&root);
    if below.extents.is_empty() {
        return Ok(vec![below.first(&folder)]);
    }
    Ok(below.extents.iter().map(|extent| below.disk(*extent, &folder)).collect())
}

/// Disks under a volume.
pub(super) struct Below {
    root: String,
    extents: Vec<DiskExtent>,
    scheme: Option<&'static str>,
}

impl Below {
    /// The disk extents of the volume mounted at `root`; empty if unknown.
    pub(super) fn of(root: &str) -> Self {
        let volume = ioctl::volume(&shown_root(root));
        let told = volume.as_ref().ok().and_then(|volume| ioctl::extents(volume).ok());
        let table = volume.ok().and_then(|volume| ioctl::partition(&volume).ok());
        Self {
            root: root.to_owned(),
            extents: told.map(|answer| extents(&answer)).unwrap_or_default(),
            scheme: table.and_then(|answer| scheme(&answer)),
        }
    }

    /// The first device, or, if there is none, the facts of the volume in its place.
    pub(super) fn first(&self, folder: &Path) -> BlockDevice {
        if let Some(extent) = self.extents.first() {
            return self.disk(*extent, folder);
        }
        let (logical_sector, physical_sector) = sectors(folder).unwrap_or((512, 512));
        let name = shown_root(&self.root);
        BlockDevice {
            facts: DiskFacts { name, logical_sector, physical_sector, ..DiskFacts::default() },
            kernel: Platform::Windows,
            own_cache: OwnCache::Untold("no disk is known under the volume".to_owned()),
            ..BlockDevice::default()
        }
    }

    fn disk(&self, extent: DiskExtent, folder: &Path) -> BlockDevice {
        let name = format!("PhysicalDrive{}", extent.disk);
        let partition =
            Partition { begin_bytes: extent.begin_bytes, scheme: self.scheme.map(str::to_owned) };
        let mut device = match ioctl::disk(extent.disk) {
            Ok(disk) => told_of(&disk),
            Err(error) => BlockDevice {
                own_cache: OwnCache::Untold(reason(&error)),
                ..BlockDevice::default()
            },
        };
        if device.facts.logical_sector == 0 {
            let (logical, physical) = sectors(folder).unwrap_or((512, 512));
            (device.facts.logical_sector, device.facts.physical_sector) = (logical, physical);
        }
        device.facts.name = name;
        BlockDevice { kernel: Platform::Windows, partition: Some(partition), ..device }
    }

    /// Bytes read by the disks, for any volume; `None` if a disk does not count.
    pub(super) fn read_bytes(&self) -> Option<u64> {
        let disks: BTreeSet<u32> = self.extents.iter().map(|extent| extent.disk).collect();
        let counts = disks
            .into_iter()
            .map(|disk| bytes_read(&ioctl::performance(&ioctl::disk(disk).ok()?).ok()?));
        counts.sum::<Option<u64>>().filter(|_| !self.extents.is_empty())
    }

    /// Reads the first sector from the disk: the volume would show it decrypted.
    pub(super) fn bitlocker(&self) -> BitLocker {
        let Some(extent) = self.extents.first() else {
            return BitLocker::Untold("no disk is known under the volume".to_owned());
        };
        match ioctl::first_bytes(extent.disk, extent.begin_bytes) {
            Ok(sector) if is_bitlocker(&sector) => BitLocker::On,
            Ok(_) => BitLocker::Off,
            Err(error) => BitLocker::Untold(reason(&error)),
        }
    }
}

fn told_of(disk: &std::fs::File) -> BlockDevice {
    let property = |of| ioctl::property(disk, of);
    let descriptor = property(StorageDeviceProperty).ok().and_then(|of| Descriptor::of(&of));
    let descriptor = descriptor.unwrap_or_default();
    let sectors = property(StorageAccessAlignmentProperty).ok().and_then(|of| SectorSizes::of(&of));
    let spins = property(StorageDeviceSeekPenaltyProperty).ok();
    let spins = spins.and_then(|answer| has_seek_penalty(&answer));
    let cache = match property(StorageDeviceWriteCacheProperty) {
        Ok(answer) => ToldCache::of(&answer),
        Err(error) => ToldCache { own: OwnCache::Untold(reason(&error)), is_flushed: None },
    };
    BlockDevice {
        facts: DiskFacts {
            model: descriptor.model,
            rotational: spins.filter(|_| !descriptor.is_virtual),
            logical_sector: sectors.map_or(0, |of| of.logical),
            physical_sector: sectors.map_or(0, |of| of.physical),
            volatile_cache: cache.is_flushed,
            size_bytes: ioctl::geometry(disk).ok().and_then(|answer| disk_bytes(&answer)),
            ..DiskFacts::default()
        },
        transport: descriptor.transport,
        makeup: if descriptor.is_made_of_others { Makeup::Mapped } else { Makeup::Plain },
        own_cache: cache.own,
        misalignment_bytes: sectors.map(|of| u64::from(of.misalignment)),
        ..BlockDevice::default()
    }
}

/// Why a disk did not answer.
fn reason(error: &io::Error) -> String {
    match error.raw_os_error().unwrap_or(0).cast_unsigned() {
        codes::ERROR_ACCESS_DENIED => "asking was not permitted (an administrator may)".to_owned(),
        codes::ERROR_INVALID_FUNCTION
        | codes::ERROR_NOT_SUPPORTED
        | codes::ERROR_INVALID_PARAMETER
        | codes::ERROR_CALL_NOT_IMPLEMENTED => "it cannot be asked".to_owned(),
        _ => error.to_string(),
    }
}
