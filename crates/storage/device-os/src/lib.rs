//! The device layer on the operating system: real files, unbuffered, in real time.
//!
//! A [`World`] belongs to the thread that made it: one completion ring, one executor, any number of
//! volumes. On Linux the ring is `io_uring`; if the kernel refuses it, a thread pool does the same
//! work. On Windows it is a completion port. Other systems get a clear error. All `unsafe` of the
//! storage path is here, each block with its justification.

mod clock;
#[cfg(any(windows, test))]
mod disk_answers;
#[cfg(any(target_os = "linux", windows))]
mod helpers;
#[cfg(target_os = "linux")]
mod linux;
mod memory;
#[cfg(not(target_os = "linux"))]
mod no_packets;
pub mod probe;
#[cfg(any(target_os = "linux", windows))]
mod remote;
#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests;
#[cfg(any(target_os = "linux", windows))]
mod transfer;
#[cfg(not(any(target_os = "linux", windows)))]
mod unsupported;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::path::Path;
use std::rc::Rc;

use device::{Device, DeviceError, Executor, OpenMode, Pending, Volume};

pub use clock::{OsClock, boot_clock};
pub use memory::BufferMemory;
pub use system::PacketSocket;
#[cfg(target_os = "linux")]
pub use system::{
    EventCounter, Readiness, SparseFile, StorageExtent, Watch, Watcher, inherited_sockets,
};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(any(target_os = "linux", windows)))]
use unsupported as system;
#[cfg(windows)]
use windows as system;
#[cfg(windows)]
pub use windows::{console, machine};

/// Raises this process's limit on open files as far as permitted. Returns the limit, or an error if
/// the system does not report it.
pub fn raise_open_files() -> std::io::Result<u64> {
    system::raise_open_files()
}

/// Raises this process's limit on file sizes as far as permitted, and makes a write beyond the
/// limit fail instead of ending the process. Returns the limit in bytes (`u64::MAX` for none), or
/// an error if the system does not report it.
pub fn raise_file_size() -> std::io::Result<u64> {
    system::raise_file_size()
}

/// How requests reach the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring` if the kernel allows it, otherwise the pool; a completion port on Windows.
    #[default]
    Auto,
    /// `io_uring` or an error.
    Uring,
    /// Threads that make blocking calls.
    Pool,
    /// A completion port of Windows.
    CompletionPort,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Uring => "io_uring",
            Self::Pool => "thread pool",
            Self::CompletionPort => "completion port",
        })
    }
}

/// One thread's access to real storage and real time.
pub struct World {
    executor: Executor,
    host: Rc<dyn system::Host>,
    backend: Backend,
}

impl World {
    /// Sets the backend up. [`Backend::Auto`] fails only if no backend exists at all.
    pub fn new(backend: Backend) -> Result<Self, DeviceError> {
        let (host, backend) = system::host(backend)?;
        Ok(Self { executor: Executor::new(Rc::clone(&host).reactor()), host, backend })
    }

    /// The executor that the backend feeds.
    pub const fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The backend in use: never [`Backend::Auto`].
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The existing folder `path` as a volume. `NotFound` if it does not exist, `Unbuffered` if its
    /// file system keeps files in memory.
    pub fn volume(&self, path: &Path) -> Result<Rc<dyn Volume>, DeviceError> {
        system::volume(&self.host, path)
    }

    /// Returns a completer for requests to devices implemented elsewhere, such as network exports.
    pub fn remote(&self) -> Rc<dyn device::Remote> {
        #[cfg(any(target_os = "linux", windows))]
        return Rc::new(remote::HostRemote(Rc::clone(&self.host)));
        #[cfg(not(any(target_os = "linux", windows)))]
        unreachable!("invariant: there is no world on a system without a backend");
    }

    /// A watcher through which ready sockets wake tasks of this executor.
    #[cfg(target_os = "linux")]
    pub fn watcher(&self) -> Watcher {
        Watcher::new(Rc::clone(&self.host))
    }

    /// Opens a second handle on the file or device at `path` to find and punch holes; `writable` if
    /// it may punch any.
    #[cfg(target_os = "linux")]
    pub fn sparse_file(&self, path: &Path, writable: bool) -> Result<SparseFile, DeviceError> {
        SparseFile::open(Rc::clone(&self.host), path, writable)
    }

    /// Opens the block device at `path` as a whole, or a file used as one; errors call it `name`.
    /// Opening for writes locks it against every other user: `Busy` if it is mounted or part of
    /// another device, `Locked` if another of our processes has it. `mode` creates nothing.
    pub fn raw_device(&self, path: &Path, name: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        system::raw_device(&self.host, path, name, mode)
    }

    /// Opens the existing file `path` read-only, on any file system: bypassing the system's cache
    /// if possible, else through it. [`device::Caps::unbuffered`] shows which.
    pub fn open_to_read(&self, path: &Path) -> Pending<Rc<dyn Device>> {
        system::open_to_read(&self.host, path)
    }
}
