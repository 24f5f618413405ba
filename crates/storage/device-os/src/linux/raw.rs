//! A block device opened as a whole, or a file used as one, locked against every other user: the
//! kernel refuses an exclusive open of a device that is mounted, used as swap, or part of another.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::rc::Rc;

use device::{Caps, Device, DeviceError, OpenMode, Pending};

use super::file::{self, Opened, OsDevice};
use super::{Host, durability, errors, probe, sys, volume};
use crate::probe::DurableWrites;

/// Opens the device or file at `path`, which errors call `name`; `mode` creates nothing.
pub(super) fn open(
    host: &Rc<dyn Host>,
    path: &Path,
    name: &str,
    mode: OpenMode,
) -> Pending<Rc<dyn Device>> {
    let (host, path, name) = (Rc::clone(host), path.to_path_buf(), name.to_owned());
    Box::pin(async move {
        let for_helper = name.clone();
        let writable = mode != OpenMode::ReadOnly;
        let opening = host.helpers().call(move || open_whole(&path, &for_helper, writable));
        let (opened, caps) = opening.await?;
        Ok(Rc::new(OsDevice::new(host, name, opened, mode, caps)) as Rc<dyn Device>)
    })
}

fn open_whole(path: &Path, name: &str, writable: bool) -> Result<(Opened, Caps), DeviceError> {
    let found = fs::metadata(path).map_err(|error| wrong(&error, name))?;
    let is_device = found.file_type().is_block_device();
    if !is_device && !found.is_file() {
        return Err(DeviceError::NotAFile { file: name.to_owned() });
    }
    if writable && loop_device_of(path, Path::new("/sys/block")).is_some() {
        return Err(DeviceError::Busy { file: name.to_owned() });
    }
    let exclusive = if is_device && writable { libc::O_EXCL } else { 0 };
    let mut options = OpenOptions::new();
    options.read(true).write(writable).custom_flags(libc::O_DIRECT | exclusive);
    let mut file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => DeviceError::Busy { file: name.to_owned() },
        _ => wrong(&error, name),
    })?;
    if writable {
        file::lock(&file, name)?;
    }
    // Metadata does not include the length of a device.
    let length = file.seek(SeekFrom::End(0)).map_err(|error| wrong(&error, name))?;
    let unbuffered = !sys::lives_in_memory(&file).unwrap_or(false) || is_device;
    let direct_alignment = file::direct_alignment(&file).map_err(|error| wrong(&error, name))?;
    let durable_writes = durable_writes(&file, &found).map_err(|error| wrong(&error, name))?;
    let opened = Opened { file, length, durable_writes, unbuffered, direct_alignment };
    Ok((opened, Caps { unbuffered, zeroed: false, ..caps(path, &found) }))
}

fn wrong(error: &std::io::Error, name: &str) -> DeviceError {
    errors::of(error, name, "open", 0)
}

/// Writes to a raw device honour the flag: the kernel asks for force unit access or flushes.
fn durable_writes(file: &File, found: &Metadata) -> std::io::Result<DurableWrites> {
    if found.file_type().is_block_device() { Ok(DurableWrites::Flag) } else { durability::of(file) }
}

fn caps(path: &Path, found: &Metadata) -> Caps {
    if found.file_type().is_block_device() {
        return volume::caps_of(probe::block_disk(found.rdev()).as_ref());
    }
    volume::caps(path)
}

/// The loop device backed by the file at `path`, if any: the kernel takes no lock on that file.
fn loop_device_of(path: &Path, block: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let devices = fs::read_dir(block).ok()?.flatten();
    let mut serving = devices.filter(|device| {
        let backing = fs::read_to_string(device.path().join("loop/backing_file"));
        backing.is_ok_and(|backing| Path::new(backing.trim_end_matches('\n')) == path)
    });
    Some(serving.next()?.file_name().to_string_lossy().into_owned())
}
