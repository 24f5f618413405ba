//! Linux and similar systems: values missing from `/proc` are unknown.

use std::fs::{self, DirBuilder, File, FileType, OpenOptions, TryLockError};
use std::io;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, chown,
};
#[cfg(target_os = "linux")]
use std::os::unix::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use device_os::probe::Platform;
use inspection::layout::LayoutRoots;
use record::Machine;

use super::{Hold, HostReading, ProcessorCount};
use crate::documents;
use crate::ticks;

/// A folder is held by locking it as a file.
pub use std::fs::File as FolderHold;

/// Returns a note on files created for databases: none here.
pub const fn of_new_files() -> Option<&'static str> {
    None
}

/// Ticks per second in which the kernel counts processor time for programs (`USER_HZ`, the same on
/// every system that Linux runs on today).
const TICKS_PER_SECOND: f64 = 100.0;

/// A local program that takes longer is considered hung.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Holds a folder by locking it.
pub fn hold_folder(folder: &Path) -> Hold<FolderHold> {
    let Ok(file) = File::open(folder) else {
        return Hold::Unheld;
    };
    match file.try_lock() {
        Ok(()) => Hold::Held(file),
        Err(TryLockError::WouldBlock) => Hold::Busy,
        Err(TryLockError::Error(_)) => Hold::Unheld,
    }
}

/// Whether a process has the file's lock. A file that cannot be opened has no lock to wait for.
pub(crate) fn is_held(path: &Path) -> bool {
    let shared = documents::open(path).map(|file| file.try_lock_shared());
    matches!(shared, Ok(Err(TryLockError::WouldBlock)))
}

/// Whether a process has the lock of a raw device, or of the file used as one.
pub(crate) fn is_device_held(device: &Path) -> bool {
    let shared = File::open(device).map(|file| file.try_lock_shared());
    matches!(shared, Ok(Err(TryLockError::WouldBlock)))
}

/// A name is held by binding an abstract socket to it, which disappears with the process.
pub(crate) use std::os::unix::net::UnixDatagram as NameHold;

/// Takes a name for this process alone, among the processes of its network namespace.
#[cfg(target_os = "linux")]
pub(crate) fn hold_name(name: &str) -> Hold<NameHold> {
    let bound = SocketAddr::from_abstract_name(name).and_then(|it| NameHold::bind_addr(&it));
    match bound {
        Ok(held) => Hold::Held(held),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Hold::Busy,
        Err(_) => Hold::Unheld,
    }
}

/// Whether a process has taken a name.
#[cfg(target_os = "linux")]
pub(crate) fn is_name_held(name: &str) -> bool {
    let reached = NameHold::unbound()
        .and_then(|asking| asking.connect_addr(&SocketAddr::from_abstract_name(name)?));
    reached.is_ok()
}

/// Other systems of the kind have no such names.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hold_name(_: &str) -> Hold<NameHold> {
    Hold::Unheld
}

/// Always `false`: names cannot be held here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_name_held(_: &str) -> bool {
    false
}

/// Creates a file that only this process may write; no error on a file system without locks.
pub fn create_held(path: &Path) -> io::Result<File> {
    let file = File::create_new(path)?;
    let _ = file.try_lock();
    Ok(file)
}

/// An existing file for this process alone to write.
pub(crate) fn open_held(path: &Path) -> io::Result<Hold<File>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    Ok(match file.try_lock() {
        Err(TryLockError::WouldBlock) => Hold::Busy,
        _ => Hold::Held(file),
    })
}

/// Connects to a local program by its socket. Gives up if the program hangs.
pub fn connect_local(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(LONGEST_ANSWER))?;
    stream.set_write_timeout(Some(LONGEST_ANSWER))?;
    Ok(stream)
}

/// A new file that only its owner reads.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a folder that only its owner may access.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Whether only its owner reads or writes a file.
pub fn is_private(path: &Path) -> io::Result<bool> {
    const OTHERS: u32 = 0o077;
    Ok(fs::metadata(path)?.mode() & OTHERS == 0)
}

/// Unique identity of the file at `path`.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let facts = fs::metadata(path)?;
    Ok((facts.dev(), facts.ino()))
}

/// The inode number of a file, which restarts do not change.
pub fn file_number(path: &Path) -> io::Result<String> {
    Ok(fs::metadata(path)?.ino().to_string())
}

/// The number of the volume that holds `path`, unique among the current volumes.
pub(crate) fn volume_number(path: &Path) -> io::Result<u64> {
    Ok(fs::metadata(path)?.dev())
}

/// Folder in which the Linux scripts of `plan` mount volumes.
pub fn layout_roots() -> LayoutRoots {
    LayoutRoots {
        volumes: "/mnt/mail".to_owned(),
        databases: None,
        restore: None,
        platform: Platform::Linux,
    }
}

/// Whether reads from a file of this kind may never end.
pub(crate) fn is_device(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

/// Whether a file of this kind consumes bytes in order and keeps none: a pipe, a terminal,
/// `/dev/null`.
pub fn is_stream(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_char_device()
}

/// Whether a file of this kind is a disk or a part of one.
pub(crate) fn is_block_device(kind: FileType) -> bool {
    kind.is_block_device()
}

/// Sets the owner of `other` to that of `path`.
pub fn keep_owner(path: &Path, other: &Path) -> io::Result<()> {
    let owner = fs::metadata(path)?;
    chown(other, Some(owner.uid()), Some(owner.gid()))
}

/// Makes the name of `path` durable by syncing its folder.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Puts a program into its own process group, so that it survives signals from this one's terminal.
pub fn set_apart(program: &mut Command) {
    program.process_group(0);
}

/// The counts of `/proc`.
pub(crate) fn host_reading() -> HostReading {
    let own = ticks::process(&text_of("/proc/self/stat"));
    let machine = ticks::machine(&text_of("/proc/stat"));
    HostReading {
        processors: machine.map(|machine| ProcessorCount {
            busy: machine.busy,
            steal: Some(machine.steal),
            total: machine.total,
        }),
        process_seconds: own.map(|own| own.ticks as f64 / TICKS_PER_SECOND),
        available_memory_bytes: available_memory(),
        resident_bytes: bytes_of("/proc/self/status", "VmRSS:"),
        ..HostReading::default()
    }
}

/// Memory that programs could have without swapping, if it is known.
pub(crate) fn available_memory() -> Option<u64> {
    bytes_of("/proc/meminfo", "MemAvailable:")
}

/// Describes the machine. `input_output` names the way requests reach the storage.
pub fn machine(input_output: String) -> Machine {
    let release = text_of("/etc/os-release");
    let system = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = text_of("/proc/sys/kernel/osrelease");
    let processors = text_of("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: text_of("/proc/sys/kernel/hostname").trim().to_owned(),
        id: Machine::id_of(&text_of("/etc/machine-id")),
        operating_system: format!(
            "{}, kernel {}",
            system.unwrap_or("Linux").trim_matches('"'),
            kernel.trim()
        ),
        processor: model.map_or("", |rest| rest.trim_start_matches([':', ' ', '\t'])).to_owned(),
        logical_processors: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_bytes: bytes_of("/proc/meminfo", "MemTotal:").unwrap_or(0),
        input_output,
    }
}

/// Random id of this boot; empty if the kernel has none.
pub fn boot_id() -> String {
    text_of("/proc/sys/kernel/random/boot_id").trim().to_owned()
}

fn text_of(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Bytes of a file of `Name: value kB` lines, if known.
fn bytes_of(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Returns the serial number or world-wide name of the disk under `path`, according to the kernel;
/// `None` for a file system that is not on a single disk.
pub fn disk_id(path: &Path) -> Option<String> {
    let number = fs::metadata(path).ok()?.dev();
    let major = (number >> 8) & 0xfff | (number >> 32) & !0xfff;
    let minor = number & 0xff | (number >> 12) & !0xff;
    let node = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    // A partition is below its disk.
    let places = [Some(node.as_path()), node.parent()];
    let names = ["wwid", "device/wwid", "serial", "device/serial"];
    let files = places.into_iter().flatten().flat_map(|place| names.map(|name| place.join(name)));
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}
