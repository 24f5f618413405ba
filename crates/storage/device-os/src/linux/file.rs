//! An open file, unbuffered and locked, and the checks that every backend makes before it calls the
//! kernel.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{
    Caps, Clock, Completed, Completer, Completion, Device, DeviceError, Op, OpenMode, Request,
    completion,
};
use units::Nanos;

use super::{Host, durability, errors, sys};
use crate::OsClock;
use crate::probe::DurableWrites;

/// An open file. Requests in flight keep it open.
pub(crate) struct OpenFile {
    /// Its path, for errors.
    pub name: String,
    /// The file itself; helper threads share it.
    pub file: Arc<File>,
    /// How a write is made durable here.
    pub durable_writes: DurableWrites,
    clock: OsClock,
    length: Cell<u64>,
    writable: bool,
    /// `true` if its file system keeps files in memory.
    pub lives_in_memory: bool,
    /// Requests on it that the ring holds.
    pub under_way: Cell<u32>,
}

/// Result of an open call on a helper thread.
pub(super) struct Opened {
    /// The file.
    pub file: File,
    /// Its length in bytes.
    pub length: u64,
    /// How a write to it is made durable.
    pub durable_writes: DurableWrites,
    /// Whether requests bypass the system's cache.
    pub unbuffered: bool,
    /// Required alignment of their offsets and lengths in that case, in bytes; `None` if the file
    /// system does not report it.
    pub direct_alignment: Option<u32>,
}

/// Opens `path` read-only: bypassing the cache if the file system supports that, else through it.
pub(super) fn open_anywhere(path: &Path) -> Result<Opened, DeviceError> {
    let mut opened = match open(path, OpenMode::ReadOnly) {
        Err(DeviceError::Unbuffered { .. }) => open_as(path, OpenMode::ReadOnly, false)?,
        opened => opened?,
    };
    opened.unbuffered &= !sys::lives_in_memory(&opened.file).unwrap_or(false);
    Ok(opened)
}

/// Opens `path` unbuffered, locks it if it is opened for writes, and sets the length of a new file.
pub(super) fn open(path: &Path, mode: OpenMode) -> Result<Opened, DeviceError> {
    open_as(path, mode, true)
}

fn open_as(path: &Path, mode: OpenMode, unbuffered: bool) -> Result<Opened, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: &io::Error| errors::of(error, &name, "open", 0);
    if let Ok(found) = std::fs::metadata(path)
        && !found.is_file()
    {
        // Opening a pipe would wait for its other end.
        return Err(DeviceError::NotAFile { file: name });
    }
    let mut options = OpenOptions::new();
    options.read(true);
    if unbuffered {
        options.custom_flags(libc::O_DIRECT);
    }
    match mode {
        OpenMode::ReadOnly => {}
        OpenMode::ReadWrite => _ = options.write(true),
        OpenMode::CreateNew { .. } | OpenMode::CreateUnwritten { .. } => {
            _ = options.write(true).create_new(true);
        }
    }
    let file = options.open(path).map_err(|error| wrong(&error))?;
    if mode != OpenMode::ReadOnly {
        lock(&file, &name)?;
    }
    if let Some(length) = mode.new_length() {
        // Fails harmlessly on other file systems.
        let _ = sys::overwrite_in_place(&file);
        let filled = set_length(&file, &name, 0, length).and_then(|()| sync_folder(path));
        if filled.is_err() {
            // The first error is the one to report; a file left behind is empty.
            let _ = std::fs::remove_file(path);
        }
        filled?;
    }
    let length = file.metadata().map_err(|error| wrong(&error))?.len();
    let durable_writes = durability::of(&file).map_err(|error| wrong(&error))?;
    let direct_alignment = direct_alignment(&file).map_err(|error| wrong(&error))?;
    Ok(Opened { file, length, durable_writes, unbuffered, direct_alignment })
}

/// The alignment that direct I/O needs. Older kernels do not report it for btrfs, which sends
/// smaller requests through the page cache.
pub(super) fn direct_alignment(file: &File) -> io::Result<Option<u32>> {
    const BTRFS_SECTOR: u32 = 4096;
    let stated = sys::direct_alignment(file)?.filter(|&bytes| bytes > 0);
    let is_btrfs = sys::file_system(file)? == libc::BTRFS_SUPER_MAGIC;
    Ok(stated.or(is_btrfs.then_some(BTRFS_SECTOR)))
}

/// See [`crate::probe::refuses_unaligned`].
pub(crate) fn refuses_unaligned(path: &Path) -> Result<bool, DeviceError> {
    let opened = open(path, OpenMode::ReadOnly)?;
    let read = opened.file.read_at(&mut [0; 100], 1);
    Ok(read.is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL)))
}

pub(super) fn lock(file: &File, name: &str) -> Result<(), DeviceError> {
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => DeviceError::Locked { file: name.to_owned() },
        std::fs::TryLockError::Error(error) => errors::of(&error, name, "lock", 0),
    })
}

/// Makes the entries of the folder that holds `path` durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), DeviceError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| errors::of(&error, &folder.display().to_string(), "sync", 0))
}

/// Makes the file `to` bytes long, durably, and allocates the growth. On failure the length is
/// unchanged.
fn set_length(file: &File, name: &str, from: u64, to: u64) -> Result<(), DeviceError> {
    let changed = if to > from { grow(file, from, to) } else { file.set_len(to) };
    changed.and_then(|()| file.sync_all()).map_err(|error| {
        let _ = file.set_len(from); // The first error is the one to report.
        errors::of(&error, name, "change of length", to)
    })
}

fn grow(file: &File, from: u64, to: u64) -> io::Result<()> {
    // Checked first, because a refused allocation fills the volume before it fails.
    let (free, _) = sys::space(file)?;
    if to - from > free {
        return Err(io::Error::from_raw_os_error(libc::ENOSPC));
    }
    match sys::allocate(file, from, to) {
        // The file system cannot allocate in advance: a full volume shows only when it is written.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => file.set_len(to),
        result => result,
    }
}

impl Drop for OpenFile {
    /// Releases the lock at once. Otherwise it would last as long as the last reference to the
    /// file, and the kernel may hold one for a moment after it reports a request as complete;
    /// reopening the file right away would then fail.
    fn drop(&mut self) {
        if self.writable {
            // Closing the file would also release it, a little later.
            let _ = self.file.unlock();
        }
    }
}

impl OpenFile {
    /// The error of `operation` at byte `offset`.
    pub(crate) fn error(&self, code: i32, operation: &'static str, offset: u64) -> DeviceError {
        let error = io::Error::from_raw_os_error(code);
        errors::of(&error, &self.name, operation, offset)
    }

    /// The error of a transfer that ended early.
    pub(crate) fn short(&self, offset: u64, wanted: usize, moved: usize) -> DeviceError {
        DeviceError::Short { file: self.name.clone(), offset, wanted, moved }
    }

    /// Why `op` must fail without reaching the kernel, if so.
    fn refusal(&self, op: &Op) -> Option<DeviceError> {
        if !self.writable && !matches!(op, Op::Read { .. }) {
            return Some(DeviceError::PermissionDenied { file: self.name.clone() });
        }
        match op {
            Op::Write { offset, buffer, .. } => (*offset + buffer.len() as u64 > self.length.get())
                .then(|| self.short(*offset, buffer.len(), 0)),
            _ => None,
        }
    }
}

/// An open file as the seam sees it.
pub(super) struct OsDevice {
    file: Rc<OpenFile>,
    host: Rc<dyn Host>,
    caps: Caps,
}

impl OsDevice {
    /// A device over a file that a helper thread has opened.
    pub(super) fn new(
        host: Rc<dyn Host>,
        name: String,
        opened: Opened,
        mode: OpenMode,
        caps: Caps,
    ) -> Self {
        let caps = with_alignment(caps, opened.direct_alignment);
        let file = Rc::new(OpenFile {
            name,
            lives_in_memory: sys::lives_in_memory(&opened.file).unwrap_or(false),
            file: Arc::new(opened.file),
            durable_writes: opened.durable_writes,
            clock: OsClock::new(),
            length: Cell::new(opened.length),
            writable: mode != OpenMode::ReadOnly,
            under_way: Cell::new(0),
        });
        Self { file, host, caps }
    }

    /// Runs on a helper thread: no asynchronous call both changes the length and allocates.
    fn change_length(&self, length: u64, completer: Completer, submitted: Nanos) {
        let (handle, file) = (Rc::clone(&self.file), Arc::clone(&self.file.file));
        let (from, name) = (handle.length.get(), handle.name.clone());
        self.host.helpers().run(
            move || set_length(&file, &name, from, length),
            move |result| {
                if result.is_ok() {
                    handle.length.set(length);
                }
                completer.complete(Completed {
                    buffer: None,
                    result,
                    submitted,
                    completed: handle.clock.now(),
                });
            },
        );
    }
}

impl Device for OsDevice {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        if let Some(error) = self.file.refusal(&request.op) {
            let now = self.file.clock.now();
            completer.complete(Completed {
                buffer: request.op.into_buffer(),
                result: Err(error),
                submitted: now,
                completed: now,
            });
        } else if let Op::SetLength { length } = request.op {
            self.change_length(length, completer, self.file.clock.now());
        } else {
            self.host.start(&self.file, request.op, completer);
        }
        completion
    }

    fn caps(&self) -> Caps {
        self.caps
    }

    fn length(&self) -> u64 {
        self.file.length.get()
    }

    fn name(&self) -> &str {
        &self.file.name
    }
}

/// Guarantees of a disk and of the file system above it. If the file system does not report how its
/// requests map to those of the disk, a short one may be any part of a long sector.
fn with_alignment(disk: Caps, direct_alignment: Option<u32>) -> Caps {
    const LONG_SECTOR: u32 = 4096;
    let sector = direct_alignment.map_or(disk.sector, |bytes| bytes.max(disk.sector));
    let least = direct_alignment.map_or(LONG_SECTOR, |_| sector);
    Caps { sector, physical_sector: disk.physical_sector.max(least), ..disk }
}

#[cfg(test)]
mod tests {
    use device::Caps;

    use super::with_alignment;

    #[test]
    fn a_sector_is_as_long_as_disk_and_file_system_say() {
        for (sector, physical_sector, stated, expected) in [
            (512, 512, Some(512), (512, 512)),
            (512, 4096, Some(512), (512, 4096)),
            (512, 512, Some(4096), (4096, 4096)),
            (4096, 4096, Some(512), (4096, 4096)),
            // The file system does not report its alignment.
            (512, 512, None, (512, 4096)),
        ] {
            let disk = Caps {
                atomic_write_unit: sector,
                sector,
                physical_sector,
                volatile_cache: true,
                unbuffered: true,
                zeroed: true,
            };
            let caps = with_alignment(disk, stated);
            assert_eq!((caps.sector, caps.physical_sector), expected);
        }
    }
}
