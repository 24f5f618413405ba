//! Keeps the operating system's page cache cold, so that only an engine's own cache counts: these
//! engines read through the page cache, and a warm one would hide the disk.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Pause between two rounds through the files.
const PAUSE: Duration = Duration::from_millis(50);

/// Drops the clean cached pages of all files in `folder`, mapped ones too, repeatedly while `work`
/// runs.
pub fn keep<T>(folder: &Path, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                unmap(folder).unwrap_or_default();
                drop_in(folder);
                thread::sleep(PAUSE);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Removes the pages of mapped files from this process's page tables, because the kernel drops no
/// mapped page. The next access maps it again.
fn unmap(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    for line in fs::read_to_string("/proc/self/maps")?.lines() {
        let Some((from, to)) = shared_map(line, &folder) else {
            continue;
        };
        // SAFETY: in a shared map of a file this loses nothing (man 2 madvise): the next access
        // reads the file's present content. LMDB keeps its map as long as it stays open, which is
        // longer than this runs.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_DONTNEED) };
    }
    Ok(())
}

/// The addresses that a line of `/proc/self/maps` gives to a shared map of a file in `folder`.
fn shared_map(line: &str, folder: &Path) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let is_shared = words.next()?.ends_with('s');
    let file = Path::new(words.nth(3)?);
    let address = |word| usize::from_str_radix(word, 16).ok();
    let range = (address(from)?, address(to)?);
    (is_shared && file.starts_with(folder)).then_some(range)
}

/// Drops the pages of all files below `folder`. Errors are ignored, because the engine may have
/// deleted a file.
fn drop_in(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            drop_in(&path);
        } else {
            drop_of(&path).unwrap_or_default();
        }
    }
}

fn drop_of(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // SAFETY: the descriptor is open until `file` is dropped; the call touches no memory of ours.
    let code = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::shared_map;

    #[test]
    fn only_shared_maps_of_the_folder_are_found() {
        let folder = Path::new("/data/bench");
        let line = "1000-3000 r--s 00000000 fe:00 42    /data/bench/data.mdb";
        assert_eq!(shared_map(line, folder), Some((0x1000, 0x3000)));
        assert_eq!(shared_map(&line.replace("r--s", "r--p"), folder), None);
        assert_eq!(shared_map(line, Path::new("/data/ben")), None);
        assert_eq!(shared_map("1000-3000 rw-p 00000000 00:00 0 ", folder), None);
    }
}
