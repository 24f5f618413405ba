//! Windows. Files are held by their share mode: a lock would keep readers out as well.

use std::env;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use device_os::machine::{self as told, FileIdentity, MemoryCounts, MemoryInUse, ProcessorTimes};
use device_os::probe::Platform;
use inspection::layout::LayoutRoots;
use record::Machine;

use super::{Hold, HostReading, ProcessorCount};

pub use device_os::machine::FolderHold;

/// A note on files created for databases.
pub fn of_new_files() -> Option<&'static str> {
    Some(if told::takes_space_as_it_is() {
        "The privilege to perform volume maintenance tasks is held: new databases are written \
         once, over what deleted files left there, unless the file system refuses that. Until one \
         is complete, who may read it may read that, too."
    } else {
        "New databases are written out with zeros first, which takes as long as filling them; \
         nothing is shown meanwhile. An administrator's account, which may perform volume \
         maintenance tasks, is spared that."
    })
}

/// Other processes may read, rename and remove a file, and may not write to it: `FILE_SHARE_READ`
/// and `FILE_SHARE_DELETE` of winnt.h.
const SHARED_WITH_READERS: u32 = 1 | 4;

/// `ERROR_SHARING_VIOLATION` of winerror.h: the access or sharing requested conflicts with that of
/// a process that has the file open.
const SHARING_VIOLATION: i32 = 32;

/// Locks a folder by a system-wide name derived from its identity, not from its path.
pub fn hold_folder(folder: &Path) -> Hold<FolderHold> {
    as_hold(FolderHold::take(folder))
}

fn as_hold(taken: io::Result<Option<FolderHold>>) -> Hold<FolderHold> {
    match taken {
        Ok(Some(held)) => Hold::Held(held),
        Ok(None) => Hold::Busy,
        Err(_) => Hold::Unheld,
    }
}

/// A name is locked in the same way as a folder.
pub(crate) use device_os::machine::FolderHold as NameHold;

/// Locks a name for this process.
pub(crate) fn hold_name(name: &str) -> Hold<NameHold> {
    as_hold(FolderHold::take_name(name))
}

/// Whether a process has locked a name.
pub(crate) fn is_name_held(name: &str) -> bool {
    matches!(hold_name(name), Hold::Busy)
}

/// Whether a process has the file open for writes, or keeps readers out.
pub(crate) fn is_held(path: &Path) -> bool {
    let opened = OpenOptions::new().read(true).share_mode(SHARED_WITH_READERS).open(path);
    opened.is_err_and(|error| is_busy(&error))
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(SHARING_VIOLATION)
}

/// Creates a file that only this process may write.
pub fn create_held(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).share_mode(SHARED_WITH_READERS).open(path)
}

/// Opens an existing file that only this process may write.
pub(crate) fn open_held(path: &Path) -> io::Result<Hold<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).share_mode(SHARED_WITH_READERS);
    match options.open(path) {
        Ok(file) => Ok(Hold::Held(file)),
        Err(error) if is_busy(&error) => Ok(Hold::Busy),
        Err(error) => Err(error),
    }
}

/// Programs with such sockets exist only on other systems.
pub fn connect_local(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file, readable by those who may read its folder.
pub fn create_private(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Creates a folder, accessible to those who may access its parent.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Access rights are those of the folder, which the user chose.
pub fn is_private(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Identity of a file.
pub fn file_number(path: &Path) -> io::Result<String> {
    Ok(format!("{:?}", identity(path)?))
}

/// Unique identity of the file at `path`.
pub fn identity(path: &Path) -> io::Result<FileIdentity> {
    FileIdentity::of(path)
}

/// The number of the volume that holds `path`, unique among the current volumes.
pub(crate) fn volume_number(path: &Path) -> io::Result<u64> {
    Ok(FileIdentity::of(path)?.volume())
}

/// Folders in which the product expects volumes and databases.
pub fn layout_roots() -> LayoutRoots {
    LayoutRoots {
        volumes: r"C:\ExchangeVolumes".to_owned(),
        databases: Some(r"C:\ExchangeDatabases".to_owned()),
        restore: Some(r"C:\ExchangeRestore".to_owned()),
        platform: Platform::Windows,
    }
}

/// File types do not show devices here. A device such as `NUL` has no metadata, and is refused for
/// that reason.
pub(crate) const fn is_device(_: FileType) -> bool {
    false
}

/// Pipes and consoles have no file type here.
pub const fn is_stream(_: FileType) -> bool {
    false
}

/// Devices are not files here.
pub(crate) const fn is_block_device(_: FileType) -> bool {
    false
}

/// Whether a process has the file used as a device open for writes.
pub(crate) fn is_device_held(device: &Path) -> bool {
    is_held(device)
}

/// A new file belongs to its creator, and its access rights are inherited from its folder.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail at it")]
pub fn keep_owner(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the file system's journal keeps names.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail at it")]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Starts `program` in a separate process group, so that Ctrl-C here does not end it.
pub fn set_apart(program: &mut Command) {
    const NEW_PROCESS_GROUP: u32 = 0x200;
    program.creation_flags(NEW_PROCESS_GROUP);
}

/// Reads the counters of Windows, which do not include time that a hypervisor gives to others.
pub(crate) fn host_reading() -> HostReading {
    let (times, memory) = (ProcessorTimes::now().ok(), MemoryInUse::now().ok());
    let counts = MemoryCounts::latest();
    HostReading {
        processors: times.map(|times| ProcessorCount {
            busy: micros(times.busy),
            steal: None,
            total: micros(times.total),
        }),
        process_seconds: times.map(|times| times.process.as_secs_f64()),
        available_memory_bytes: memory.map(|memory| memory.available),
        resident_bytes: memory.map(|memory| memory.resident),
        pools: memory.map(|memory| (memory.pool_nonpaged, memory.pool_paged)),
        free_page_table_entries: counts.free_page_table_entries,
        repurposed_pages: counts.repurposed_pages,
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Memory that programs could have without swapping, if it is known.
pub(crate) fn available_memory() -> Option<u64> {
    MemoryInUse::now().ok().map(|memory| memory.available)
}

/// Describes the machine. `input_output` names the way requests reach the storage.
pub fn machine(input_output: String) -> Machine {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: env::var("COMPUTERNAME").unwrap_or_default(),
        id: String::new(),
        operating_system: told::release(),
        processor: env::var("PROCESSOR_IDENTIFIER").unwrap_or_default(),
        logical_processors: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_bytes: MemoryInUse::now().map_or(0, |memory| memory.total),
        input_output,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{create_held, is_held, open_held};
    use crate::system::Hold;

    #[test]
    fn who_writes_a_file_holds_it_and_readers_stay() {
        let path = std::env::temp_dir().join(format!("plimsoll-held-{}", std::process::id()));
        let held = create_held(&path).unwrap();
        assert!(is_held(&path));
        assert!(matches!(open_held(&path), Ok(Hold::Busy)));
        assert_eq!(fs::read(&path).unwrap(), b"");
        drop(held);
        assert!(!is_held(&path));
        assert!(matches!(open_held(&path), Ok(Hold::Held(_))));
        fs::remove_file(path).unwrap();
    }
}

/// Returns the random id of this boot: empty, as this system has none.
pub fn boot_id() -> String {
    String::new()
}

/// Serial number or world-wide name of the disk under `path`: not asked for on this system.
pub fn disk_id(_: &Path) -> Option<String> {
    None
}
