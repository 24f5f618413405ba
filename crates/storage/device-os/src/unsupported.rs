//! Substitute for systems without a backend: one clear error at the start.

use std::path::Path;
use std::rc::Rc;

use device::{Device, DeviceError, OpenMode, Pending, Reactor, Volume};

use crate::Backend;
use crate::probe::{BlockDevice, VolumeFacts};

pub use crate::no_packets::PacketSocket;

/// Nothing implements this here.
pub(crate) trait Host {
    /// The reactor of the host.
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor>;
}

fn unsupported() -> DeviceError {
    DeviceError::Io {
        file: std::env::consts::OS.to_owned(),
        offset: 0,
        operation: "start of unbuffered I/O",
        code: 0,
        message: "this system has no storage backend; run on Linux".to_owned(),
    }
}

pub(crate) fn host(_: Backend) -> Result<(Rc<dyn Host>, Backend), DeviceError> {
    Err(unsupported())
}

pub(crate) fn volume(_: &Rc<dyn Host>, _: &Path) -> Result<Rc<dyn Volume>, DeviceError> {
    Err(unsupported())
}

pub(crate) fn open_to_read(_: &Rc<dyn Host>, _: &Path) -> Pending<Rc<dyn Device>> {
    Box::pin(async { Err(unsupported()) })
}

pub(crate) fn raw_device(
    _: &Rc<dyn Host>,
    _: &Path,
    _: &str,
    _: OpenMode,
) -> Pending<Rc<dyn Device>> {
    Box::pin(async { Err(unsupported()) })
}

pub(crate) fn facts(_: &Path) -> Result<VolumeFacts, DeviceError> {
    Err(unsupported())
}

pub(crate) fn devices(_: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    Err(unsupported())
}

pub(crate) fn refuses_unaligned(_: &Path) -> Result<bool, DeviceError> {
    Err(unsupported())
}

pub(crate) fn free_bytes(_: &Path) -> Result<u64, DeviceError> {
    Err(unsupported())
}

/// Nothing is counted.
pub(crate) fn device_read_bytes(_: &Path) -> Option<u64> {
    None
}

pub(crate) fn accounted_read_bytes(_: &Path) -> Option<u64> {
    None
}

/// Nothing to ask.
pub(crate) fn prefer_huge_pages(_: *mut u8, _: usize) {}

/// Not available.
pub fn boot_clock() -> Option<std::time::Duration> {
    None
}

/// Unknown here.
pub(crate) fn raise_file_size() -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Nothing to raise.
pub(crate) fn raise_open_files() -> std::io::Result<u64> {
    Ok(u64::MAX)
}
