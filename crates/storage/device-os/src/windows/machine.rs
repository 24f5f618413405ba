//! Windows' facts about the machine, this process and files, apart from their content.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io;
use std::mem;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, FILETIME, GetLastError,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_ID_INFO, FileIdInfo, GetFileInformationByHandleEx,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32GetPerformanceInfo, K32GetProcessMemoryInfo, PERFORMANCE_INFORMATION,
    PROCESS_MEMORY_COUNTERS,
};
use windows_sys::Win32::System::SystemInformation::{
    GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{
    CreateMutexW, GetCurrentProcess, GetProcessTimes, GetSystemTimes,
};

use super::sys::{self, check, wide};

pub use super::counters::MemoryCounts;
pub use super::privilege::is_held as takes_space_as_it_is;

/// Identity of a file or folder on the machine, independent of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    volume: u64,
    file: u128,
}

impl FileIdentity {
    /// The number of its volume.
    pub const fn volume(&self) -> u64 {
        self.volume
    }

    /// The identity of the file at `path`, following links.
    pub fn of(path: &Path) -> io::Result<Self> {
        // Requests no access, so that it does not conflict with any other open handle.
        let mut options = OpenOptions::new();
        options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        let file = options.open(path)?;
        let mut info = FILE_ID_INFO::default();
        // SAFETY: the pointer is to a live structure of the kind and length named.
        check(unsafe {
            GetFileInformationByHandleEx(
                file.as_raw_handle(),
                FileIdInfo,
                (&raw mut info).cast::<c_void>(),
                length_of::<FILE_ID_INFO>(),
            )
        })?;
        let file = u128::from_le_bytes(info.FileId.Identifier);
        Ok(Self { volume: info.VolumeSerialNumber, file })
    }
}

/// A folder that no other process of this machine has taken; released when dropped, or when the
/// process ends in any way.
#[derive(Debug)]
pub struct FolderHold {
    _mutex: OwnedHandle,
}

impl FolderHold {
    /// Takes the folder at `path`; `None` if another process has it. This takes a name in the
    /// system: a lock on the folder itself would block changes of its contents.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let FileIdentity { volume, file } = FileIdentity::of(path)?;
        Self::take_name(&format!("plimsoll-folder-{volume:x}-{file:x}"))
    }

    /// Takes a name that belongs to no folder; `None` if another process has it.
    pub fn take_name(name: &str) -> io::Result<Option<Self>> {
        let name = wide(Path::new(&format!("Global\\{name}")));
        // SAFETY: the name is terminated; no security attributes are given.
        let mutex = unsafe { CreateMutexW(ptr::null(), 0, name.as_ptr()) };
        // SAFETY: takes no argument. It returns the status of the call above, which may find the
        // name taken.
        let error = unsafe { GetLastError() };
        if mutex.is_null() {
            // Another user has it.
            return if error == ERROR_ACCESS_DENIED {
                Ok(None)
            } else {
                Err(io::Error::from_raw_os_error(error.cast_signed()))
            };
        }
        // SAFETY: the call above made this handle, so it is open and has no other owner.
        let mutex = unsafe { OwnedHandle::from_raw_handle(mutex) };
        Ok((error != ERROR_ALREADY_EXISTS).then_some(Self { _mutex: mutex }))
    }
}

/// Processor time up to now.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTimes {
    /// Busy time of all processors of the machine.
    pub busy: Duration,
    /// Total time of all processors of the machine.
    pub total: Duration,
    /// Time used by this process.
    pub process: Duration,
}

impl ProcessorTimes {
    /// The times up to now.
    pub fn now() -> io::Result<Self> {
        let [mut idle, mut kernel, mut user] = [FILETIME::default(); 3];
        // SAFETY: the pointers are to live structures.
        check(unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) })?;
        // Windows counts the idle time as time of the kernel.
        let total = span(kernel) + span(user);
        let [mut created, mut ended] = [FILETIME::default(); 2];
        // SAFETY: the handle denotes this process, the pointers are to live structures.
        check(unsafe {
            GetProcessTimes(
                GetCurrentProcess(),
                &raw mut created,
                &raw mut ended,
                &raw mut kernel,
                &raw mut user,
            )
        })?;
        let process = span(kernel) + span(user);
        Ok(Self { busy: total.saturating_sub(span(idle)), total, process })
    }
}

/// A span of time, which Windows counts in steps of 100 ns.
fn span(time: FILETIME) -> Duration {
    let steps = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos(steps.saturating_mul(100))
}

/// Memory of the machine and of this process, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryInUse {
    /// Total of the machine.
    pub total: u64,
    /// Available to programs without swapping.
    pub available: u64,
    /// Memory of this process that is resident.
    pub resident: u64,
    /// Kernel memory that must stay resident.
    pub pool_nonpaged: u64,
    /// Kernel memory that may be paged out.
    pub pool_paged: u64,
}

impl MemoryInUse {
    /// The memory in use now.
    pub fn now() -> io::Result<Self> {
        let mut machine =
            MEMORYSTATUSEX { dwLength: length_of::<MEMORYSTATUSEX>(), ..Default::default() };
        // SAFETY: the pointer is to a live structure that contains its length.
        check(unsafe { GlobalMemoryStatusEx(&raw mut machine) })?;
        let mut own = PROCESS_MEMORY_COUNTERS::default();
        let length = length_of::<PROCESS_MEMORY_COUNTERS>();
        // SAFETY: the handle denotes this process, the pointer is to a live structure of the length
        // named.
        check(unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut own, length) })?;
        let mut kernel = PERFORMANCE_INFORMATION::default();
        let length = length_of::<PERFORMANCE_INFORMATION>();
        // SAFETY: as above.
        check(unsafe { K32GetPerformanceInfo(&raw mut kernel, length) })?;
        let bytes = |pages: usize| pages as u64 * kernel.PageSize as u64;
        Ok(Self {
            total: machine.ullTotalPhys,
            available: machine.ullAvailPhys,
            resident: own.WorkingSetSize as u64,
            pool_nonpaged: bytes(kernel.KernelNonpaged),
            pool_paged: bytes(kernel.KernelPaged),
        })
    }
}

/// The Windows version, such as `Windows 10.0.20348`, whatever it reports to older programs.
pub fn release() -> String {
    let mut version =
        OSVERSIONINFOW { dwOSVersionInfoSize: length_of::<OSVERSIONINFOW>(), ..Default::default() };
    let name = if sys::is_wine() { "Windows (Wine)" } else { "Windows" };
    let Some(address) = sys::function_of_ntdll(c"RtlGetVersion") else {
        return name.to_owned();
    };
    // SAFETY: that is the type of the function of this name, which every Windows has.
    let get: unsafe extern "system" fn(*mut OSVERSIONINFOW) -> i32 =
        unsafe { mem::transmute(address) };
    // SAFETY: the pointer is to a live structure that contains its length.
    if unsafe { get(&raw mut version) } != 0 {
        return name.to_owned();
    }
    let OSVERSIONINFOW { dwMajorVersion, dwMinorVersion, dwBuildNumber, .. } = version;
    format!("{name} {dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber}")
}

const fn length_of<T>() -> u32 {
    size_of::<T>() as u32
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FileIdentity, FolderHold, MemoryInUse, ProcessorTimes};

    #[test]
    fn a_file_is_itself_under_every_name() {
        let folder = std::env::temp_dir().join(format!("plimsoll-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.join(name));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&two, "2").unwrap();
        let of = |path: &std::path::Path| FileIdentity::of(path).unwrap();
        assert_eq!(of(&one), of(&folder.join(".").join("ONE")));
        assert_ne!(of(&one), of(&two));
        assert_ne!(of(&one), of(&folder));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_is_taken_once() {
        let folder = std::env::temp_dir().join(format!("plimsoll-hold-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let take = || FolderHold::take(&folder).unwrap();
        let held = take().unwrap();
        assert!(take().is_none());
        std::fs::write(folder.join("file"), "x").unwrap();
        std::fs::rename(folder.join("file"), folder.join("other")).unwrap();
        drop(held);
        assert!(take().is_some());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_counted_grows_and_fits() {
        let before = ProcessorTimes::now().unwrap();
        let began = std::time::Instant::now();
        let mut number = 1_u64;
        while began.elapsed() < Duration::from_millis(200) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        let after = ProcessorTimes::now().unwrap();
        assert!(after.process > before.process && after.total > before.total);
        assert!(after.busy <= after.total);
        let memory = MemoryInUse::now().unwrap();
        assert!(memory.resident > 0 && memory.resident < memory.total);
        assert!(memory.available <= memory.total);
    }
}
