//! An open file, unbuffered and held by its share mode, and the checks before each call to the
//! kernel.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{
    ALIGNMENT, Buffer, Caps, Clock, Completed, Completer, Completion, Device, DeviceError, Op,
    OpenMode, Request, completion,
};
use units::Nanos;
use windows_sys::Win32::Foundation as codes;
use windows_sys::Win32::Foundation::GENERIC_WRITE;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE,
};

use super::{Host, errors, privilege, sys};
use crate::OsClock;

/// Zeros written by one request.
const ZEROS_BYTES: usize = 1 << 20;

/// An open file. Requests in flight keep it open, and with it the lock: its share mode.
pub(crate) struct OpenFile {
    /// Its path, for errors.
    pub name: String,
    /// The file itself; helper threads share it.
    pub file: Arc<File>,
    clock: OsClock,
    length: Cell<u64>,
    writable: bool,
}

/// Result of an open call on a helper thread.
pub(super) struct Opened {
    /// The file.
    pub file: File,
    /// Its length in bytes.
    pub length: u64,
    /// Whether requests bypass the system's cache.
    pub unbuffered: bool,
    /// Whether unwritten bytes read as zeros.
    pub zeroed: bool,
}

/// Opens `path` read-only: bypassing the cache if the file system supports that, else through it.
pub(super) fn open_anywhere(path: &Path) -> Result<Opened, DeviceError> {
    match open_as(path, OpenMode::ReadOnly, FILE_FLAG_NO_BUFFERING) {
        Err(DeviceError::Unbuffered { .. }) => open_as(path, OpenMode::ReadOnly, 0),
        opened => opened,
    }
}

/// Opens `path` unbuffered, excludes other writers if it is opened for writes, and sets the length
/// of a new file.
pub(super) fn open(path: &Path, mode: OpenMode) -> Result<Opened, DeviceError> {
    open_as(path, mode, FILE_FLAG_NO_BUFFERING)
}

fn open_as(path: &Path, mode: OpenMode, unbuffered: u32) -> Result<Opened, DeviceError> {
    let name = super::volume::shown(path);
    let wrong = |error: &io::Error| errors::of(error, &name, "open", 0);
    if let Ok(found) = std::fs::metadata(path)
        && !found.is_file()
    {
        return Err(DeviceError::NotAFile { file: name });
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_OVERLAPPED | unbuffered);
    // Others may read, rename and remove a file at any time, as on other systems.
    let others = FILE_SHARE_READ | FILE_SHARE_DELETE;
    match mode {
        OpenMode::ReadOnly => options.share_mode(others | FILE_SHARE_WRITE),
        OpenMode::ReadWrite => options.write(true).share_mode(others),
        OpenMode::CreateNew { .. } | OpenMode::CreateUnwritten { .. } => {
            options.write(true).create_new(true).share_mode(others)
        }
    };
    let file = options.open(path).map_err(|error| wrong(&error))?;
    let mut zeroed = true;
    if let Some(length) = mode.new_length() {
        let content = match mode {
            OpenMode::CreateUnwritten { .. } => Content::Any,
            _ => Content::Zeros,
        };
        let filled = set_length(&file, path, &name, (0, length), content);
        let filled = filled.and_then(|content| sync_folder(path).map(|()| content));
        if filled.is_err() {
            // The first error is the one to report; a file left behind is empty.
            let _ = std::fs::remove_file(path);
        }
        zeroed = filled? == Content::Zeros;
    }
    let length = file.metadata().map_err(|error| wrong(&error))?.len();
    Ok(Opened { file, length, unbuffered: unbuffered != 0, zeroed })
}

/// See [`crate::probe::refuses_unaligned`].
pub(crate) fn refuses_unaligned(path: &Path) -> Result<bool, DeviceError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_NO_BUFFERING);
    let opened = options.open(path);
    let file =
        opened.map_err(|error| errors::of(&error, &super::volume::shown(path), "open", 0))?;
    let code = file.seek_read(&mut [0; 100], 1).err().and_then(|error| error.raw_os_error());
    Ok(code == Some(codes::ERROR_INVALID_PARAMETER.cast_signed()))
}

/// Makes the entries of the folder that holds `path` durable, as far as Windows allows: NTFS and
/// ReFS write their own journal out when one of their folders is flushed. Others refuse a flush of
/// a folder, and promise nothing.
pub(super) fn sync_folder(path: &Path) -> Result<(), DeviceError> {
    let folder = path.parent().unwrap_or(path);
    let mut options = OpenOptions::new();
    options.access_mode(GENERIC_WRITE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    match options.open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if !refuses_folders(&error) => {
            Err(errors::of(&error, &super::volume::shown(folder), "sync", 0))
        }
        _ => Ok(()),
    }
}

/// Whether `error` means that folders cannot be flushed here, rather than that the flush failed.
fn refuses_folders(error: &io::Error) -> bool {
    let code = error.raw_os_error().unwrap_or(0).cast_unsigned();
    matches!(code, codes::ERROR_INVALID_FUNCTION | codes::ERROR_NOT_SUPPORTED)
}

/// Content of a file's growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Zeros,
    /// Unspecified: remains of deleted files, if that is permitted and faster.
    Any,
}

/// Makes the file `to` bytes long, durably; returns the content of its growth. On failure the
/// length is unchanged.
fn set_length(
    file: &File,
    path: &Path,
    name: &str,
    (from, to): (u64, u64),
    content: Content,
) -> Result<Content, DeviceError> {
    let changed = if to > from {
        grow(file, path, (from, to), content)
    } else {
        file.set_len(to).map(|()| Content::Zeros)
    };
    changed.and_then(|content| file.sync_all().map(|()| content)).map_err(|error| {
        let _ = file.set_len(from); // The first error is the one to report.
        errors::of(&error, name, "change of length", to)
    })
}

fn grow(file: &File, path: &Path, (from, to): (u64, u64), content: Content) -> io::Result<Content> {
    // Checked first, because a refused allocation fills the volume before it fails.
    let (free, _) = sys::space(path.parent().unwrap_or(path))?;
    if to - from > free {
        return Err(io::Error::from_raw_os_error(codes::ERROR_DISK_FULL.cast_signed()));
    }
    match sys::allocate(file, to) {
        // The zeros written below allocate.
        Err(error) if refuses_allocation(&error) => {}
        result => result?,
    }
    file.set_len(to)?;
    let begun = to.min(from + OpenMode::ZEROED_BYTES);
    write_zeros(file, from, begun)?;
    if content == Content::Any && begun < to && privilege::is_held() {
        // If the file system refuses, as for compressed files, zeros are written instead.
        if sys::declare_written(file, to).is_ok() {
            return Ok(Content::Any);
        }
    }
    write_zeros(file, begun, to)?;
    Ok(Content::Zeros)
}

fn refuses_allocation(error: &io::Error) -> bool {
    let code = error.raw_os_error().unwrap_or(0).cast_unsigned();
    matches!(
        code,
        codes::ERROR_INVALID_FUNCTION
            | codes::ERROR_NOT_SUPPORTED
            | codes::ERROR_INVALID_PARAMETER
            | codes::ERROR_CALL_NOT_IMPLEMENTED
    )
}

/// Writes zeros to the whole blocks between two lengths. Windows remembers how far a file was ever
/// written, reads zeros beyond that, and before a write further on fills the gap itself, with the
/// caller waiting: a load would measure that.
fn write_zeros(file: &File, from: u64, to: u64) -> io::Result<()> {
    const BLOCK: u64 = ALIGNMENT as u64;
    let (mut at, end) = (from.next_multiple_of(BLOCK), to / BLOCK * BLOCK);
    let mut zeros = Buffer::zeroed(ZEROS_BYTES);
    while at < end {
        let length = (end - at).min(ZEROS_BYTES as u64);
        if length < ZEROS_BYTES as u64 {
            zeros = Buffer::zeroed(usize::try_from(length).expect("invariant: below 1 MiB"));
        }
        sys::write_at(file, at, &zeros)?;
        at += length;
    }
    Ok(())
}

impl OpenFile {
    /// The error of `operation` at byte `offset`.
    pub(crate) fn error(
        &self,
        error: &io::Error,
        operation: &'static str,
        offset: u64,
    ) -> DeviceError {
        errors::of(error, &self.name, operation, offset)
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
    path: Arc<Path>,
    host: Rc<dyn Host>,
    caps: Caps,
}

impl OsDevice {
    /// A device over a file that a helper thread has opened.
    pub(super) fn new(
        host: Rc<dyn Host>,
        path: &Path,
        opened: Opened,
        mode: OpenMode,
        caps: Caps,
    ) -> Result<Self, DeviceError> {
        let zeroed = opened.zeroed;
        let file = Rc::new(OpenFile {
            name: super::volume::shown(path),
            file: Arc::new(opened.file),
            clock: OsClock::new(),
            length: Cell::new(opened.length),
            writable: mode != OpenMode::ReadOnly,
        });
        host.attach(&file).map_err(|error| file.error(&error, "open", 0))?;
        Ok(Self { file, path: Arc::from(path), host, caps: Caps { zeroed, ..caps } })
    }

    /// Changes the length on a helper thread, since Windows has no asynchronous call for it.
    fn change_length(&self, length: u64, completer: Completer, submitted: Nanos) {
        let (handle, file) = (Rc::clone(&self.file), Arc::clone(&self.file.file));
        let (from, name) = (handle.length.get(), handle.name.clone());
        let path = Arc::clone(&self.path);
        self.host.helpers().run(
            move || set_length(&file, &path, &name, (from, length), Content::Zeros).map(drop),
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
