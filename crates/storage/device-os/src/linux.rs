//! Linux: `io_uring` or a pool of threads under the same files and folders.

mod counter;
mod durability;
mod errors;
mod file;
mod inherited;
mod lookouts;
mod options;
mod own_cache;
mod packets;
mod pool;
mod probe;
mod raw;
mod sparse;
mod sys;
mod uring;
mod volume;
mod watch;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use device::{Completer, Device, DeviceError, Lookout, Op, OpenMode, Pending, Reactor, Volume};

use crate::Backend;
use crate::helpers::Helpers;
use file::OpenFile;

pub use counter::EventCounter;
pub(crate) use file::refuses_unaligned;
pub use inherited::inherited_sockets;
pub use packets::PacketSocket;
pub(crate) use probe::{accounted_read_bytes, device_read_bytes, devices, facts, free_bytes};
pub use sparse::{SparseFile, StorageExtent};
pub(crate) use sys::{boot_clock, prefer_huge_pages, raise_file_size, raise_open_files};
pub use watch::{Readiness, Watch, Watcher};

/// Services of a backend for files and folders.
pub(crate) trait Host: Reactor {
    /// The backend as the executor sees it.
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor>;

    /// Starts a read, write or flush of `file`; the range is inside the file.
    fn start(&self, file: &Rc<OpenFile>, op: Op, completer: Completer);

    /// Calls `then` once, as soon as the socket is ready.
    fn watch(&self, socket: &Arc<OwnedFd>, readiness: Readiness, then: Box<dyn FnOnce()>);

    /// Polls this lookout in each turn; `false` if this backend never does.
    fn look_at(&self, lookout: Weak<dyn Lookout>) -> bool;

    /// Threads for calls that have no asynchronous form.
    fn helpers(&self) -> &Helpers;
}

/// The requested backend, and its kind.
pub(crate) fn host(backend: Backend) -> Result<(Rc<dyn Host>, Backend), DeviceError> {
    if backend == Backend::CompletionPort {
        let unsupported = io::ErrorKind::Unsupported.into();
        return Err(errors::of(&unsupported, "completion port", "setup", 0));
    }
    if backend != Backend::Pool {
        match uring::UringHost::new() {
            Ok(host) => return Ok((Rc::new(host), Backend::Uring)),
            Err(error) if backend == Backend::Uring => {
                return Err(errors::of(&error, "io_uring", "setup", 0));
            }
            Err(_) => {}
        }
    }
    Ok((Rc::new(pool::PoolHost::new()), Backend::Pool))
}

/// The folder `path`.
pub(crate) fn volume(host: &Rc<dyn Host>, path: &Path) -> Result<Rc<dyn Volume>, DeviceError> {
    Ok(Rc::new(volume::OsVolume::new(host, path)?))
}

/// The existing file `path`, for reads only.
pub(crate) fn open_to_read(host: &Rc<dyn Host>, path: &Path) -> Pending<Rc<dyn Device>> {
    volume::open_to_read(host, path)
}

/// The block device or file `path` as a whole, called `name`.
pub(crate) fn raw_device(
    host: &Rc<dyn Host>,
    path: &Path,
    name: &str,
    mode: OpenMode,
) -> Pending<Rc<dyn Device>> {
    raw::open(host, path, name, mode)
}

/// Backends to test: the best one here, and the fallback that always works.
#[cfg(test)]
pub(crate) const BACKENDS: &[Backend] = &[Backend::Auto, Backend::Pool];

#[cfg(test)]
mod tests;
