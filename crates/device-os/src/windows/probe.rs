//! What Windows tells of a volume and the disk below it.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use device::DeviceError;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_INTEGRITY_STREAM,
    FILE_FLAG_BACKUP_SEMANTICS,
};

use super::{errors, sys};
use crate::probe::{
    BlockDevice, Caching, DiskFacts, DurableWrites, FileMark, OwnCache, VolumeFacts,
};

/// What stands under `path`, which must exist.
pub(crate) fn facts(path: &Path) -> Result<VolumeFacts, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: io::Error| errors::of(&error, &name, "probe", 0);
    let path = std::fs::canonicalize(path).map_err(wrong)?;
    let folder = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
    let (free_bytes, total_bytes) = sys::space(folder).map_err(wrong)?;
    let root = sys::volume_root(folder).map_err(wrong)?;
    let (file_system, label) = sys::file_system(&root).unwrap_or_default();
    let unit = sys::geometry(&root).map_or(0, |(_, unit)| unit);
    let (logical_sector, physical_sector) = sectors(folder).unwrap_or((512, 512));
    Ok(VolumeFacts {
        mount_point: root.strip_prefix(r"\\?\").unwrap_or(&root).to_owned(),
        file_system,
        source: label,
        options: format!("allocation unit {unit} bytes"),
        free_bytes,
        total_bytes,
        caching: if sys::is_wine() {
            Caching::Below("Wine, which reads and writes through the cache of Linux".to_owned())
        } else {
            Caching::None
        },
        disk: Some(DiskFacts { logical_sector, physical_sector, ..DiskFacts::default() }),
        durable_writes: DurableWrites::Flush,
        allocation_unit_bytes: (unit > 0).then_some(u64::from(unit)),
        marks: marks(folder),
        kernel: if sys::is_wine() { "Windows (Wine)" } else { "Windows" }.to_owned(),
    })
}

/// The device under `path`, as far as the volume tells of it.
pub(crate) fn devices(path: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    let facts = facts(path)?;
    let device = facts.disk.map(|disk| BlockDevice {
        facts: DiskFacts { name: facts.mount_point, ..disk },
        own_cache: OwnCache::Untold("Windows is not asked for it".to_owned()),
        ..BlockDevice::default()
    });
    Ok(device.into_iter().collect())
}

/// What new files in the folder get from it (`GetFileAttributes`).
fn marks(folder: &Path) -> Vec<FileMark> {
    let attributes = std::fs::metadata(folder).map_or(0, |facts| facts.file_attributes());
    [
        (FILE_ATTRIBUTE_COMPRESSED, FileMark::Compressed),
        (FILE_ATTRIBUTE_ENCRYPTED, FileMark::Encrypted),
        (FILE_ATTRIBUTE_INTEGRITY_STREAM, FileMark::Integrity),
    ]
    .into_iter()
    .filter_map(|(flag, mark)| (attributes & flag != 0).then_some(mark))
    .collect()
}

/// Free bytes for an ordinary user on the volume that holds `path`.
pub(crate) fn free_bytes(path: &Path) -> Result<u64, DeviceError> {
    let wrong = |error: io::Error| errors::of(&error, &path.display().to_string(), "probe", 0);
    let path = std::fs::canonicalize(path).map_err(wrong)?;
    let folder = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
    let (free, _) = sys::space(folder).map_err(wrong)?;
    Ok(free)
}

/// Not counted.
pub(crate) fn device_read_bytes(_: &Path) -> Option<u64> {
    None
}

/// Logical and physical bytes of a sector under a folder; none where nothing tells.
pub(super) fn sectors(folder: &Path) -> Option<(u32, u32)> {
    let opened =
        OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(folder);
    let stated = opened.ok().and_then(|folder| sys::sectors(&folder));
    stated.or_else(|| {
        let root = sys::volume_root(folder).ok()?;
        let (sector, _) = sys::geometry(&root).ok()?;
        // A physical sector that nothing tells of is taken for a long one.
        Some((sector, sector.max(4096)))
    })
}
