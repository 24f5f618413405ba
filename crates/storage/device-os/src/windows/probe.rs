//! Windows' facts about a volume and the disk below it.

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
use crate::probe::{Caching, DurableWrites, FileMark, SpaceLimit, VolumeFacts};

/// Facts about the storage underneath `path`, which must exist.
pub(crate) fn facts(path: &Path) -> Result<VolumeFacts, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: io::Error| errors::of(&error, &name, "probe", 0);
    let folder = &folder_of(path)?;
    let (free_bytes, total_bytes) = sys::space(folder).map_err(wrong)?;
    let root = sys::volume_root(folder).map_err(wrong)?;
    let below = Below::of(&root);
    let (file_system, label) = sys::file_system(&root).unwrap_or_default();
    let unit = sys::geometry(&root).map_or(0, |(_, unit)| unit);
    let marks = marks(folder);
    Ok(VolumeFacts {
        mount_point: shown_root(&root),
        source: label,
        options: format!("allocation unit {unit} bytes"),
        free_bytes,
        total_bytes,
        caching: if sys::is_wine() {
            Caching::Below("Wine, which reads and writes through the cache of Linux".to_owned())
        } else {
            caching(&file_system, &marks)
        },
        file_system,
        disk: Some(below.first(folder).facts),
        durable_writes: DurableWrites::Flush,
        allocation_unit_bytes: (unit > 0).then_some(u64::from(unit)),
        marks,
        bitlocker: Some(below.bitlocker()),
        io_limits: Vec::new(),
        space_limits: vec![SpaceLimit::Unread {
            what: "a quota".to_owned(),
            why: "quotas of Windows are not queried (`fsutil quota query`)".to_owned(),
        }],
        kernel: if sys::is_wine() { "Windows (Wine)" } else { "Windows" }.to_owned(),
    })
}

/// Attributes that new files inherit from the folder (`GetFileAttributes`; on `ReFS` also whether
/// it checksums content).
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

/// Bytes that the disks under `path` have read; `None` if no disk can be identified, or if one does
/// not count.
pub(crate) fn device_read_bytes(path: &Path) -> Option<u64> {
    let root = sys::volume_root(&folder_of(path).ok()?).ok()?;
    Below::of(&root).read_bytes()
}

/// Whether requests on files in a folder bypass the cache of Windows.
fn caching(file_system: &str, marks: &[FileMark]) -> Caching {
    for (mark, what) in [(FileMark::Compressed, "compressed"), (FileMark::Encrypted, "encrypted")] {
        if marks.contains(&mark) {
            return Caching::InFileSystem(format!(
                "files in this folder are {what}, and {file_system} serves those one request at a \
                 time by way of the system's cache"
            ));
        }
    }
    match file_system {
        "NTFS" | "ReFS" | "FAT32" | "exFAT" => Caching::None,
        "CSVFS" => Caching::Unknown("another node of the cluster may answer".to_owned()),
        "" => Caching::Unknown("Windows does not name its file system".to_owned()),
        other => Caching::Unknown(format!("whether {other} goes past the cache is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::caching;
    use crate::probe::{Caching, FileMark};

    #[test]
    fn what_windows_serves_from_its_cache_is_not_measured() {
        assert_eq!(caching("NTFS", &[]), Caching::None);
        assert_eq!(caching("ReFS", &[FileMark::Integrity]), Caching::None);
        for mark in [FileMark::Compressed, FileMark::Encrypted] {
            assert!(matches!(caching("NTFS", &[mark]), Caching::InFileSystem(_)));
        }
        for file_system in ["CSVFS", "", "FUSE-like"] {
            assert!(matches!(caching(file_system, &[]), Caching::Unknown(_)));
        }
    }
}

/// Unknown: Windows counts all reads of a process, including those that its cache answered.
pub(crate) const fn accounted_read_bytes(_: &Path) -> Option<u64> {
    None
}
