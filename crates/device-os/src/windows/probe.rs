//! What Windows tells of a volume and the disk below it.

use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;

use device::DeviceError;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_INTEGRITY_STREAM,
};

use super::devices::Below;
use super::folder::{folder_of, shown_root};
use super::{errors, ioctl, sys};
use crate::disk_answers::has_integrity;
use crate::probe::{Caching, DurableWrites, FileMark, VolumeFacts};

/// What stands under `path`, which must exist.
pub(crate) fn facts(path: &Path) -> Result<VolumeFacts, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: io::Error| errors::of(&error, &name, "probe", 0);
    let folder = &folder_of(path)?;
    let (free_bytes, total_bytes) = sys::space(folder).map_err(wrong)?;
    let root = sys::volume_root(folder).map_err(wrong)?;
    let below = Below::of(&root);
    let (file_system, label) = sys::file_system(&root).unwrap_or_default();
    let unit = sys::geometry(&root).map_or(0, |(_, unit)| unit);
    Ok(VolumeFacts {
        mount_point: shown_root(&root),
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
        disk: Some(below.first(folder).facts),
        durable_writes: DurableWrites::Flush,
        allocation_unit_bytes: (unit > 0).then_some(u64::from(unit)),
        marks: marks(folder),
        bitlocker: Some(below.bitlocker()),
        kernel: if sys::is_wine() { "Windows (Wine)" } else { "Windows" }.to_owned(),
    })
}

/// What new files in the folder get from it (`GetFileAttributes`; of `ReFS` also what it answers).
fn marks(folder: &Path) -> Vec<FileMark> {
    let mut attributes = std::fs::metadata(folder).map_or(0, |facts| facts.file_attributes());
    if ioctl::integrity(folder).ok().and_then(|answer| has_integrity(&answer)) == Some(true) {
        attributes |= FILE_ATTRIBUTE_INTEGRITY_STREAM;
    }
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
    let (free, _) = sys::space(&folder_of(path)?).map_err(wrong)?;
    Ok(free)
}

/// Not counted.
pub(crate) fn device_read_bytes(_: &Path) -> Option<u64> {
    None
}
