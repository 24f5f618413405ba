//! Safe functions for system calls that the standard library lacks.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use device::Buffer;
use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, FARPROC, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FILE_STORAGE_INFO, FileAllocationInfo, FileStorageInfo,
    GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetDriveTypeW, GetFileInformationByHandleEx,
    GetVolumeInformationW, GetVolumePathNameW, SetFileCompletionNotificationModes,
    SetFileInformationByHandle, SetFileValidData, WriteFile,
};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetOverlappedResult, GetQueuedCompletionStatusEx, OVERLAPPED,
    OVERLAPPED_0, OVERLAPPED_0_0, OVERLAPPED_ENTRY, PostQueuedCompletionStatus,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE};
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_REMOTE, FILE_SKIP_SET_EVENT_ON_HANDLE};

/// Length of the longest path, in characters.
const LONGEST_PATH: usize = 32_768;

/// Maximum number of completions taken by one call.
const MOST_ENTRIES: usize = 256;

/// The last error if a call returned 0.
pub(super) fn check(result: i32) -> io::Result<()> {
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Converts a path to null-terminated UTF-16.
pub(super) fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// Decodes UTF-16 up to the terminating null.
pub(super) fn from_wide(text: &[u16]) -> String {
    let end = text.iter().position(|&unit| unit == 0).unwrap_or(text.len());
    String::from_utf16_lossy(&text[..end])
}

/// A request's offset in the file, for the kernel.
pub(super) fn overlapped_at(offset: u64) -> OVERLAPPED {
    let place =
        OVERLAPPED_0_0 { Offset: (offset & 0xFFFF_FFFF) as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED {
        Internal: 0,
        InternalHigh: 0,
        Anonymous: OVERLAPPED_0 { Anonymous: place },
        hEvent: ptr::null_mut(),
    }
}

/// A completion port for one thread.
#[derive(Debug)]
pub(super) struct Port(OwnedHandle);

/// Entries taken from a port.
pub(super) struct Entries {
    entries: Box<[OVERLAPPED_ENTRY; MOST_ENTRIES]>,
    count: usize,
}

impl Entries {
    /// Room for some completions.
    pub(super) fn new() -> Self {
        let none = OVERLAPPED_ENTRY {
            lpCompletionKey: 0,
            lpOverlapped: ptr::null_mut(),
            Internal: 0,
            dwNumberOfBytesTransferred: 0,
        };
        Self { entries: Box::new([none; MOST_ENTRIES]), count: 0 }
    }

    /// The requests that are done; null for a wake-up.
    pub(super) fn taken(&self) -> impl Iterator<Item = *mut OVERLAPPED> {
        self.entries[..self.count].iter().map(|entry| entry.lpOverlapped)
    }

    /// Whether more may be waiting.
    pub(super) const fn is_full(&self) -> bool {
        self.count == MOST_ENTRIES
    }
}

impl Port {
    /// Creates an empty port.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: takes no pointers; without a file and a port, it makes a port.
        let port = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, ptr::null_mut(), 0, 1) };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call above made this handle, so it is open and has no other owner.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(port) }))
    }

    /// Directs completions of requests on `file` to this port from now on.
    pub(super) fn attach(&self, file: &File) -> io::Result<()> {
        let (file, port) = (file.as_raw_handle(), self.0.as_raw_handle());
        // SAFETY: both handles are open as long as they are borrowed.
        let attached = unsafe { CreateIoCompletionPort(file, port, 0, 1) };
        if attached.is_null() {
            return Err(io::Error::last_os_error());
        }
        // Nothing waits on the file itself, so its event need not be set. If the system refuses,
        // only a little time is lost.
        // SAFETY: takes an open handle and an integer.
        let _ = unsafe {
            SetFileCompletionNotificationModes(file, FILE_SKIP_SET_EVENT_ON_HANDLE as u8)
        };
        Ok(())
    }

    /// Wakes the thread that waits here.
    pub(super) fn wake(&self) -> io::Result<()> {
        // SAFETY: the port stays open while borrowed; the packet has no pointer.
        check(unsafe { PostQueuedCompletionStatus(self.0.as_raw_handle(), 0, 0, ptr::null()) })
    }

    /// Takes completed requests, and waits for them up to `limit`; `None` waits without limit.
    pub(super) fn take(&self, entries: &mut Entries, limit: Option<Duration>) -> io::Result<()> {
        let whole = |limit: Duration| u32::try_from(limit.as_millis()).unwrap_or(INFINITE - 1);
        let (mut count, milliseconds) = (0, limit.map_or(INFINITE, whole));
        // SAFETY: the pointers are to live memory for the given number of entries and for a count,
        // which the call only writes to.
        let result = check(unsafe {
            GetQueuedCompletionStatusEx(
                self.0.as_raw_handle(),
                entries.entries.as_mut_ptr(),
                MOST_ENTRIES as u32,
                &raw mut count,
                milliseconds,
                0,
            )
        });
        entries.count = count as usize;
        match result {
            Err(error) if error.raw_os_error() == Some(WAIT_TIMEOUT.cast_signed()) => {
                entries.count = 0;
                Ok(())
            }
            result => result,
        }
    }
}

/// Outcome of a request on `file` whose structure a port has returned: bytes moved, or an error.
///
/// # Safety
/// `overlapped` points to the structure of a request on `file`, and a port gave it out as done.
pub(super) unsafe fn result_of(file: &File, overlapped: *const OVERLAPPED) -> io::Result<usize> {
    let mut moved = 0;
    // SAFETY: the caller promises that the kernel is done with the structure, and `moved` is live.
    check(unsafe { GetOverlappedResult(file.as_raw_handle(), overlapped, &raw mut moved, 0) })?;
    Ok(moved as usize)
}

/// Result of a call that starts a request: `Ok` if its completion will arrive at the port, else an
/// error.
pub(super) fn started(result: i32) -> io::Result<()> {
    match check(result) {
        Err(error) if error.raw_os_error() == Some(ERROR_IO_PENDING.cast_signed()) => Ok(()),
        result => result,
    }
}

/// Writes all of `buffer` at `offset` and waits for it, bypassing any port that the file belongs
/// to.
pub(super) fn write_at(file: &File, offset: u64, buffer: &Buffer) -> io::Result<()> {
    // SAFETY: takes no pointers but null.
    let event = unsafe { CreateEventW(ptr::null(), 1, 0, ptr::null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above made this handle, so it is open and has no other owner.
    let event = unsafe { OwnedHandle::from_raw_handle(event) };
    let mut overlapped = overlapped_at(offset);
    // An event whose lowest bit is set keeps the completion out of the port.
    overlapped.hEvent = event.as_raw_handle().map_addr(|address| address | 1);
    let length = u32::try_from(buffer.len()).expect("invariant: zeros are written in short pieces");
    let (handle, pointer) = (file.as_raw_handle(), &raw mut overlapped);
    // SAFETY: the buffer is borrowed and the structure lives until the wait below is over.
    started(unsafe { WriteFile(handle, buffer.as_ptr(), length, ptr::null_mut(), pointer) })?;
    let mut moved = 0;
    // SAFETY: the structure is that of the request above, and `moved` is live. The call waits until
    // the kernel is done with both the structure and the buffer.
    check(unsafe { GetOverlappedResult(handle, pointer, &raw mut moved, 1) })?;
    if moved == length { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Reserves `bytes` for the file without changing its length.
pub(super) fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let size = i64::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let wanted = FILE_ALLOCATION_INFO { AllocationSize: size };
    // SAFETY: the pointer is to a live structure of the kind and length named, only read.
    check(unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileAllocationInfo,
            (&raw const wanted).cast::<c_void>(),
            size_of::<FILE_ALLOCATION_INFO>() as u32,
        )
    })
}

/// Declares the file's contents up to `bytes`, inside its length, as written. Requires the
/// privilege of [`super::privilege`].
pub(super) fn declare_written(file: &File, bytes: u64) -> io::Result<()> {
    let length = i64::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: takes an open handle and an integer.
    check(unsafe { SetFileValidData(file.as_raw_handle(), length) })
}

/// Free bytes for this user and total bytes of the volume of the folder `path`.
pub(super) fn space(path: &Path) -> io::Result<(u64, u64)> {
    let (path, mut free, mut total) = (wide(path), 0, 0);
    // SAFETY: the path is terminated, and the other pointers are to live integers or null.
    check(unsafe {
        GetDiskFreeSpaceExW(path.as_ptr(), &raw mut free, &raw mut total, ptr::null_mut())
    })?;
    Ok((free, total))
}

/// The root of the volume that holds `path`, which may be a folder used as a mount point.
pub(super) fn volume_root(path: &Path) -> io::Result<String> {
    let (path, mut root) = (wide(path), vec![0; LONGEST_PATH]);
    // SAFETY: the path is terminated, and the buffer has the given length.
    check(unsafe { GetVolumePathNameW(path.as_ptr(), root.as_mut_ptr(), LONGEST_PATH as u32) })?;
    Ok(from_wide(&root))
}

/// Whether the drive or folder above `path` maps to a share of another computer.
pub(super) fn is_of_a_share(path: &Path) -> bool {
    let Ok(root) = volume_root(path) else {
        return false;
    };
    let root = wide(Path::new(&root));
    // SAFETY: the path is terminated.
    (unsafe { GetDriveTypeW(root.as_ptr()) }) == DRIVE_REMOTE
}

/// The kind of the file system at a volume's root, such as `NTFS`, and its label.
pub(super) fn file_system(root: &str) -> io::Result<(String, String)> {
    const LONGEST_NAME: usize = 261;
    let (root, mut label, mut kind) = (wide(Path::new(root)), [0; LONGEST_NAME], [0; LONGEST_NAME]);
    // SAFETY: the path is terminated, the buffers have the given lengths, the other outputs are not
    // requested.
    check(unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            label.as_mut_ptr(),
            LONGEST_NAME as u32,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            kind.as_mut_ptr(),
            LONGEST_NAME as u32,
        )
    })?;
    Ok((from_wide(&kind), from_wide(&label)))
}

/// Logical and physical bytes of a sector below an open file; `None` if the system does not report
/// it.
pub(super) fn sectors(file: &File) -> Option<(u32, u32)> {
    let mut info = MaybeUninit::<FILE_STORAGE_INFO>::zeroed();
    // SAFETY: the pointer is to a live structure of the kind and length named, only written to.
    check(unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStorageInfo,
            info.as_mut_ptr().cast::<c_void>(),
            mem::size_of::<FILE_STORAGE_INFO>() as u32,
        )
    })
    .ok()?;
    // SAFETY: the structure is plain integers, all zero before the call.
    let info = unsafe { info.assume_init() };
    let physical =
        info.PhysicalBytesPerSectorForAtomicity.max(info.PhysicalBytesPerSectorForPerformance);
    (info.LogicalBytesPerSector > 0).then_some((info.LogicalBytesPerSector, physical))
}

/// Bytes of a logical sector and of an allocation unit of the volume at `root`.
pub(super) fn geometry(root: &str) -> io::Result<(u32, u32)> {
    let root = wide(Path::new(root));
    let (mut sectors, mut bytes, mut free, mut total) = (0, 0, 0, 0);
    // SAFETY: the path is terminated, and the other pointers are to live integers.
    check(unsafe {
        GetDiskFreeSpaceW(
            root.as_ptr(),
            &raw mut sectors,
            &raw mut bytes,
            &raw mut free,
            &raw mut total,
        )
    })?;
    Ok((bytes, bytes.saturating_mul(sectors)))
}

/// Whether this is Wine, on top of a Linux file and its cache.
pub(super) fn is_wine() -> bool {
    function_of_ntdll(c"wine_get_version").is_some()
}

/// Address of the `ntdll` function of this name, if it exists.
pub(super) fn function_of_ntdll(name: &CStr) -> FARPROC {
    let library = wide(Path::new("ntdll.dll"));
    // SAFETY: both names are terminated; the library is part of every process.
    unsafe {
        let library = GetModuleHandleW(library.as_ptr());
        if library.is_null() { None } else { GetProcAddress(library, name.as_ptr().cast()) }
    }
}

/// Makes timers accurate to a millisecond instead of sixteen, for as long as this process runs.
pub(super) fn sharpen_timers() {
    // SAFETY: takes an integer. A system that refuses keeps its coarse timers.
    let _ = unsafe { timeBeginPeriod(1) };
}

/// Time since the machine was started, including sleep.
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such clock")]
pub(crate) fn boot_clock() -> Option<Duration> {
    // SAFETY: takes nothing.
    Some(Duration::from_millis(unsafe { GetTickCount64() }))
}
