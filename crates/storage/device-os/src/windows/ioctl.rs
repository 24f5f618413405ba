//! Queries to volumes, disks and file systems. Results are raw bytes that `disk_answers` parses.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, GetVolumeNameForVolumeMountPointW,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    FSCTL_GET_INTEGRITY_INFORMATION, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX,
    IOCTL_DISK_GET_PARTITION_INFO_EX, IOCTL_DISK_PERFORMANCE, IOCTL_STORAGE_QUERY_PROPERTY,
    STORAGE_PROPERTY_ID,
};

use super::sys;

/// `IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS` of `winioctl.h`.
const GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;

/// Maximum size of an answer; that of a volume on more than forty disks is truncated.
const ANSWER_BYTES: usize = 1024;

/// The volume mounted at `root`, opened by its name, which does not depend on mount points.
pub(super) fn volume(root: &str) -> io::Result<File> {
    const LONGEST_NAME: usize = 64;
    let root = sys::wide(Path::new(root));
    let mut name = [0; LONGEST_NAME];
    // SAFETY: the path is terminated, and the buffer has the given length.
    sys::check(unsafe {
        GetVolumeNameForVolumeMountPointW(root.as_ptr(), name.as_mut_ptr(), LONGEST_NAME as u32)
    })?;
    // With a trailing backslash the name would mean the root folder of the volume.
    asked(Path::new(sys::from_wide(&name).trim_end_matches('\\')))
}

/// Opens `PhysicalDriveN`.
pub(super) fn disk(number: u32) -> io::Result<File> {
    asked(Path::new(&format!(r"\\.\PhysicalDrive{number}")))
}

/// Opens only for queries, which needs no privilege.
fn asked(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// The disk extents of a volume.
pub(super) fn extents(volume: &File) -> io::Result<Vec<u8>> {
    ask(volume, GET_VOLUME_DISK_EXTENTS, &[])
}

/// The partition's entry in the partition table.
pub(super) fn partition(volume: &File) -> io::Result<Vec<u8>> {
    ask(volume, IOCTL_DISK_GET_PARTITION_INFO_EX, &[])
}

/// The bytes at `begin_bytes` of a physical disk, as stored: `BitLocker` has not decrypted them.
/// Requires administrator rights.
pub(super) fn first_bytes(disk: u32, begin_bytes: u64) -> io::Result<Vec<u8>> {
    /// Whole sectors of any disk.
    const BYTES: usize = 4096;
    let disk = OpenOptions::new().read(true).open(format!(r"\\.\PhysicalDrive{disk}"))?;
    let mut bytes = vec![0; BYTES];
    let length = disk.seek_read(&mut bytes, begin_bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The size of a disk.
pub(super) fn geometry(disk: &File) -> io::Result<Vec<u8>> {
    ask(disk, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &[])
}

/// Bytes a disk has read and written since Windows began to count; counting starts with this query
/// at the latest.
pub(super) fn performance(disk: &File) -> io::Result<Vec<u8>> {
    ask(disk, IOCTL_DISK_PERFORMANCE, &[])
}

/// Asks for a property of a disk.
pub(super) fn property(disk: &File, property: STORAGE_PROPERTY_ID) -> io::Result<Vec<u8>> {
    // `STORAGE_PROPERTY_QUERY`: the property, the standard query, no parameters.
    let question = [property.cast_unsigned(), 0, 0].map(u32::to_le_bytes);
    ask(disk, IOCTL_STORAGE_QUERY_PROPERTY, question.as_flattened())
}

/// Whether a folder's new files get the file system's checksums.
pub(super) fn integrity(folder: &Path) -> io::Result<Vec<u8>> {
    ask(&asked(folder)?, FSCTL_GET_INTEGRITY_INFORMATION, &[])
}

fn ask(of: &File, code: u32, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut answer = vec![0; ANSWER_BYTES];
    let mut length = 0;
    // SAFETY: the handle is open, the pointers are to live memory of the given lengths, and the
    // call returns when the kernel no longer uses them, as the file is not overlapped.
    sys::check(unsafe {
        DeviceIoControl(
            of.as_raw_handle(),
            code,
            question.as_ptr().cast::<c_void>(),
            question.len() as u32,
            answer.as_mut_ptr().cast::<c_void>(),
            ANSWER_BYTES as u32,
            &raw mut length,
            ptr::null_mut(),
        )
    })?;
    answer.truncate(length as usize);
    Ok(answer)
}
