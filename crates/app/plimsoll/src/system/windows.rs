//! Windows. Files are held by their share mode: a lock would keep readers out as well.

use std::env;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device_os::console;
use device_os::machine::{self as told, FileIdentity, MemoryCounts, MemoryInUse, ProcessorTimes};
use device_os::probe::Platform;
use inspection::layout::LayoutRoots;
use record::Machine;

use super::{Hold, HostReading, ProcessorCount};

pub(crate) use device_os::machine::FolderHold;

/// What the command prompt and PowerShell take as it is, beside letters and digits.
pub(crate) const PLAIN_CHARACTERS: &str = "\\/._-+=:";

/// What to know while files are made that databases are to fill.
pub(crate) fn of_new_files() -> Option<&'static str> {
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

/// What begins or ends more than itself between double quotation marks: variables of PowerShell and
/// of the command prompt, escapes, and the marks that PowerShell takes for double ones. The plain
/// double mark is in no path, but in a value it may be.
const REPLACED: [char; 7] = ['$', '`', '%', '"', '\u{201c}', '\u{201d}', '\u{201e}'];

/// What PowerShell takes for a single quotation mark; within such marks, twice.
const SINGLE_MARKS: [char; 5] = ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}'];

/// Other processes may read, rename and remove a file, and may not write to it: `FILE_SHARE_READ`
/// and `FILE_SHARE_DELETE` of winnt.h.
const SHARED_WITH_READERS: u32 = 1 | 4;

/// `ERROR_SHARING_VIOLATION` of winerror.h: another process has it open for something that this
/// one would not share, or shares less.
const SHARING_VIOLATION: i32 = 32;

/// Takes a folder by its name.
pub(crate) fn hold_folder(folder: &Path) -> Hold<FolderHold> {
    as_hold(FolderHold::take(folder))
}

fn as_hold(taken: io::Result<Option<FolderHold>>) -> Hold<FolderHold> {
    match taken {
        Ok(Some(held)) => Hold::Held(held),
        Ok(None) => Hold::Busy,
        Err(_) => Hold::Unheld,
    }
}

/// A name is taken as that of a folder is.
pub(crate) use device_os::machine::FolderHold as NameHold;

/// Takes a name for this process alone.
pub(crate) fn hold_name(name: &str) -> Hold<NameHold> {
    as_hold(FolderHold::take_name(name))
}

/// Whether a process has taken a name.
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

/// A new file for this process alone to write.
pub(crate) fn create_held(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).share_mode(SHARED_WITH_READERS).open(path)
}

/// An existing file for this process alone to write.
pub(crate) fn open_held(path: &Path) -> io::Result<Hold<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).share_mode(SHARED_WITH_READERS);
    match options.open(path) {
        Ok(file) => Ok(Hold::Held(file)),
        Err(error) if is_busy(&error) => Ok(Hold::Busy),
        Err(error) => Err(error),
    }
}

/// Programs that listen so are for other systems.
pub(crate) fn connect_local(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A new file, which only those may read who may read its folder.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// A new folder, for those who may look into the one that it lies in.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Rights are those of the folder, which a person has chosen.
pub(crate) fn is_private(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// What tells a file from all others.
pub(crate) fn file_number(path: &Path) -> io::Result<String> {
    Ok(format!("{:?}", identity(path)?))
}

/// What tells the file at `path` from all others.
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    FileIdentity::of(path)
}

/// The number of the volume that holds `path`, which tells it from all others at the moment.
pub(crate) fn volume_number(path: &Path) -> io::Result<u64> {
    Ok(FileIdentity::of(path)?.volume())
}

/// Where the product expects volumes and databases.
pub(crate) fn layout_roots() -> LayoutRoots {
    LayoutRoots {
        volumes: r"C:\ExchangeVolumes".to_owned(),
        databases: Some(r"C:\ExchangeDatabases".to_owned()),
        restore: Some(r"C:\ExchangeRestore".to_owned()),
        platform: Platform::Windows,
    }
}

/// The kind of a file does not tell. A device such as `NUL` has no metadata, and is refused for
/// that.
pub(crate) const fn is_device(_: FileType) -> bool {
    false
}

/// Pipes and consoles have no kind of file here.
pub(crate) const fn is_stream(_: FileType) -> bool {
    false
}

/// Devices are no files here.
pub(crate) const fn is_block_device(_: FileType) -> bool {
    false
}

/// Whether a process has the file that stands for a device open for writes.
pub(crate) fn is_device_held(device: &Path) -> bool {
    is_held(device)
}

/// A new file belongs to who makes it, and what others may do with it is inherited of its folder.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail at it")]
pub(crate) fn keep_owner(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// The file system's journal keeps names.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail at it")]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Has the first Ctrl-C or Ctrl-Break, the window's end or a shutdown set `asked`, and the second
/// Ctrl-C or Ctrl-Break end the program.
pub(crate) fn stop_on_request(asked: &Arc<AtomicBool>) -> io::Result<()> {
    console::stop_on_request(asked)
}

/// A word that the command prompt and PowerShell take as it is. Where one of them would put
/// something else in its place, in whatever quotation marks, it is as PowerShell takes it: with
/// it, the command prompt finds no file, rather than another one.
pub(crate) fn quoted_word(text: &str) -> String {
    // A backslash before the last mark would make that a part of the word.
    let after = "\\".repeat(text.len() - text.trim_end_matches('\\').len());
    if !text.contains(REPLACED) {
        return format!("\"{text}{after}\"");
    }
    let mut inner = String::new();
    for character in text.chars() {
        inner.extend(SINGLE_MARKS.contains(&character).then_some(character));
        inner.push(character);
    }
    format!("'{inner}{after}'")
}

/// Has a program stay when this one's console asks its programs to end.
pub(crate) fn set_apart(program: &mut Command) {
    const NEW_PROCESS_GROUP: u32 = 0x200;
    program.creation_flags(NEW_PROCESS_GROUP);
}

/// The command line of a process; none if there is no such process.
pub(crate) fn words_of(process: u32) -> Option<String> {
    let filter = format!("ProcessId={process}");
    let words = ["process", "where", filter.as_str(), "get", "CommandLine"];
    let told = Command::new("wmic").args(words).output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    text.contains(".conf").then_some(text)
}

/// Ends a process.
pub(crate) fn terminate(process: u32) -> io::Result<()> {
    let process = process.to_string();
    Command::new("taskkill").args(["/F", "/PID", &process]).output().map(drop)
}

/// The system's shell with a line for it.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new("cmd.exe");
    // The shell takes the rest of its line as it is, and no other quoting.
    shell.arg("/C").raw_arg(line);
    shell
}

/// Whether a line on the console can be written again.
pub(crate) fn redraws() -> bool {
    console::error_output_redraws()
}

/// What Windows counts. It does not tell what a hypervisor gives to others.
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

/// Memory that programs could have without swapping, where it is known.
pub(crate) fn available_memory() -> Option<u64> {
    MemoryInUse::now().ok().map(|memory| memory.available)
}

/// What the machine is. `input_output` says how requests reach the storage.
pub(crate) fn machine(input_output: String) -> Machine {
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

    use super::{create_held, is_held, open_held, quoted_word};
    use crate::system::Hold;

    #[test]
    fn no_shell_puts_anything_in_the_place_of_a_quoted_word() {
        assert_eq!(quoted_word(r"D:\my disk"), r#""D:\my disk""#);
        assert_eq!(quoted_word(r"D:\my disk\"), r#""D:\my disk\\""#);
        assert_eq!(quoted_word(r"D:\it's & more"), r#""D:\it's & more""#);
        assert_eq!(quoted_word(r"D:\$env:x 1\"), r"'D:\$env:x 1\\'");
        assert_eq!(quoted_word(r"D:\100%PATH%"), r"'D:\100%PATH%'");
        assert_eq!(quoted_word(r"D:\it's a `tick"), r"'D:\it''s a `tick'");
        assert_eq!(quoted_word("D:\\\u{2019}$"), "'D:\\\u{2019}\u{2019}$'");
    }

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
