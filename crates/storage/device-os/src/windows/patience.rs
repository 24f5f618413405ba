//! Waits for programs that have a file open briefly: scanners, indexers and backups open every
//! changed file, and Windows does not move or remove open files.

use std::time::{Duration, Instant};
use std::{io, thread};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE,
};

/// A program that has a file open for longer is doing more than scanning it.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Moves or removes a file, and retries for a second if the file may be open. A missing permission
/// has the same error, so it is reported a second late.
pub(super) fn patiently(operation: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match operation() {
            Err(error) if may_be_open(&error) && started.elapsed() < PATIENCE => {
                thread::sleep(BETWEEN_TRIES);
            }
            outcome => return outcome,
        }
    }
}

/// Whether the file to move or remove, or the one to replace, may be open.
fn may_be_open(error: &io::Error) -> bool {
    let code = error.raw_os_error().unwrap_or(0).cast_unsigned();
    [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE].contains(&code)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

    use super::patiently;

    fn look_at(path: &Path, duration: Duration) -> thread::JoinHandle<()> {
        let opened = OpenOptions::new().read(true).share_mode(FILE_SHARE_READ).open(path).unwrap();
        thread::spawn(move || {
            thread::sleep(duration);
            drop(opened);
        })
    }

    #[test]
    fn a_file_that_is_looked_at_is_moved_and_removed_afterwards() {
        let folder = std::env::temp_dir().join(format!("plimsoll-patience-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.join(name));
        fs::write(&one, "new").unwrap();
        fs::write(&two, "old").unwrap();
        let look = look_at(&two, Duration::from_millis(200));
        patiently(|| fs::rename(&one, &two)).unwrap();
        assert_eq!(fs::read(&two).unwrap(), b"new");
        look.join().unwrap();
        let look = look_at(&two, Duration::from_millis(200));
        patiently(|| fs::remove_file(&two)).unwrap();
        look.join().unwrap();
        fs::write(&two, "kept").unwrap();
        let work = look_at(&two, Duration::from_secs(3));
        patiently(|| fs::remove_file(&two)).unwrap_err();
        work.join().unwrap();
        assert_eq!(fs::read(&two).unwrap(), b"kept");
        fs::remove_dir_all(folder).unwrap();
    }
}
