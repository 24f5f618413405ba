//! Files and the folder that holds them, as the engine sees them.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::{Completion, DeviceError, Request};

/// Guarantees of a device. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Smallest unit that is written whole or not at all when power fails.
    pub atomic_write_unit: u32,
    /// Offsets and lengths of requests are multiples of this.
    pub sector: u32,
    /// The unit that the medium writes. A write that fills part of it may destroy the rest when
    /// power fails, even data that was durable before.
    pub physical_sector: u32,
    /// Whether completed volatile writes can be lost when power fails.
    pub volatile_cache: bool,
    /// Whether reads and writes bypass the operating system's cache.
    pub unbuffered: bool,
    /// Whether unwritten bytes of the file are zeros. False only for a file made with
    /// [`OpenMode::CreateUnwritten`] that has not been written completely.
    pub zeroed: bool,
}

/// An open file.
pub trait Device {
    /// Starts a request. Requests in flight may complete in any order; a caller that needs an order
    /// waits. Overlapping requests in flight, if any of them changes bytes, are a bug of the
    /// caller. A file opened read-only refuses everything but reads with `PermissionDenied`.
    fn submit(&self, request: Request) -> Completion;

    /// Guarantees of the device.
    fn caps(&self) -> Caps;

    /// The file's present length in bytes.
    fn length(&self) -> u64;

    /// The path or name for error messages and reports.
    fn name(&self) -> &str;
}

/// The methods of a [`Device`] that wraps another one, in its field `inner`: all except `submit`.
#[macro_export]
macro_rules! same_as_inner {
    () => {
        fn caps(&self) -> $crate::Caps {
            self.inner.caps()
        }

        fn length(&self) -> u64 {
            self.inner.length()
        }

        fn name(&self) -> &str {
            self.inner.name()
        }
    };
}

/// The result of a file operation that takes time.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, DeviceError>>>>;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, read-only; neither takes nor respects the lock.
    ReadOnly,
    /// An existing file, locked against other processes.
    ReadWrite,
    /// A new file of `length` zero bytes, locked; an error if it exists.
    CreateNew {
        /// Initial length in bytes.
        length: u64,
    },
    /// Like `CreateNew`, for a caller that writes every byte before reading any. The volume may
    /// skip zeroing if that is faster: [`Caps::zeroed`] is then `false`, and the file holds remains
    /// of deleted ones, except for `OpenMode::ZEROED_BYTES` zeros at its start.
    CreateUnwritten {
        /// Initial length in bytes.
        length: u64,
    },
}

impl OpenMode {
    /// Bytes at the start of a new file that are always zero, so that no reader mistakes it for an
    /// older file by its header.
    pub const ZEROED_BYTES: u64 = 1 << 20;

    /// The length of a file to be created; `None` if it must exist.
    pub const fn new_length(self) -> Option<u64> {
        match self {
            Self::ReadOnly | Self::ReadWrite => None,
            Self::CreateNew { length } | Self::CreateUnwritten { length } => Some(length),
        }
    }
}

/// A file in a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// File name without the folder.
    pub name: String,
    /// Length in bytes.
    pub length: u64,
}

/// A folder on some storage. Every operation is durable when it completes (folder entries synced),
/// and does nothing until it is first polled. The lock of a file opened for writes lasts until its
/// device is dropped and nothing is in flight on it.
pub trait Volume {
    /// Opens a file by its name in this folder.
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>>;

    /// Renames a file, replacing `to` if it exists. Open devices follow their file.
    fn rename(&self, from: &str, to: &str) -> Pending<()>;

    /// Removes a file.
    fn remove(&self, file: &str) -> Pending<()>;

    /// The files of the folder, sorted by name.
    fn list(&self) -> Pending<Vec<FileEntry>>;

    /// Space left for new files, in bytes.
    fn free_bytes(&self) -> Pending<u64>;

    /// The path or name for error messages and reports.
    fn name(&self) -> &str;
}
