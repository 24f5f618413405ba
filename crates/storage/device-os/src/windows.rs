//! Windows: a completion port under files and folders.

pub mod console;
mod counters;
mod devices;
mod errors;
mod file;
mod folder;
mod ioctl;
pub mod machine;
mod patience;
mod port;
mod privilege;
mod probe;
mod sys;
mod volume;

use std::io;
use std::path::Path;
use std::rc::Rc;

use device::{Completer, Device, DeviceError, Op, OpenMode, Pending, Reactor, Volume};

use crate::Backend;
use crate::helpers::Helpers;
use file::OpenFile;

pub use crate::no_packets::PacketSocket;
pub(crate) use devices::devices;
pub(crate) use file::refuses_unaligned;
pub(crate) use probe::{accounted_read_bytes, device_read_bytes, facts, free_bytes};
pub(crate) use sys::boot_clock;

/// Services of the backend for files and folders.
pub(crate) trait Host: Reactor {
    /// The backend as the executor sees it.
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor>;

    /// Directs completions of an opened file to this port.
    fn attach(&self, file: &OpenFile) -> io::Result<()>;

    /// Starts a read, write or flush of `file`; the range is inside the file.
    fn start(&self, file: &Rc<OpenFile>, op: Op, completer: Completer);

    /// Threads for calls that have no asynchronous form.
    fn helpers(&self) -> &Helpers;
}

/// The completion port; an error if another backend was requested.
pub(crate) fn host(backend: Backend) -> Result<(Rc<dyn Host>, Backend), DeviceError> {
    let made = match backend {
        Backend::Auto | Backend::CompletionPort => port::PortHost::new(),
        Backend::Uring | Backend::Pool => Err(io::ErrorKind::Unsupported.into()),
    };
    let host = made.map_err(|error| errors::of(&error, "completion port", "setup", 0))?;
    Ok((Rc::new(host), Backend::CompletionPort))
}

/// The folder `path`.
pub(crate) fn volume(host: &Rc<dyn Host>, path: &Path) -> Result<Rc<dyn Volume>, DeviceError> {
    Ok(Rc::new(volume::OsVolume::new(host, path)?))
}

/// The existing file `path`, for reads only.
pub(crate) fn open_to_read(host: &Rc<dyn Host>, path: &Path) -> Pending<Rc<dyn Device>> {
    volume::open_to_read(host, path)
}

/// Not written yet for Windows.
pub(crate) fn raw_device(
    _: &Rc<dyn Host>,
    _: &Path,
    name: &str,
    _: OpenMode,
) -> Pending<Rc<dyn Device>> {
    let unsupported = errors::of(&io::ErrorKind::Unsupported.into(), name, "open as a device", 0);
    Box::pin(async { Err(unsupported) })
}

/// Nothing to ask: large pages want a privilege that services rarely have.
pub(crate) fn prefer_huge_pages(_: *mut u8, _: usize) {}

/// Nothing to raise: handles are limited by memory.
pub(crate) fn raise_open_files() -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Nothing to raise: no such limit.
pub(crate) fn raise_file_size() -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Backends to test: the only one.
#[cfg(test)]
pub(crate) const BACKENDS: &[Backend] = &[Backend::CompletionPort];

#[cfg(test)]
mod tests;
