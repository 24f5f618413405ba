//! Records of the hosts of a fleet run. A day of 16 hosts has a gigabyte of journals, so all
//! processors read.

use std::path::{Path, PathBuf};
use std::thread;

use record::{DIGEST, JOURNAL, RunRecord};

use crate::console;
use crate::error::CommandError;
use host::{crew, load_by_digest};

/// What `read` makes of each of `folders` and of its place among them, in their order; none for a
/// folder without a journal.
pub(super) fn of_each<T: Send>(
    folders: &[PathBuf],
    read: impl Fn(usize, &Path) -> Result<T, CommandError> + Sync,
) -> Result<Vec<Option<T>>, CommandError> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = folders.len().div_ceil(workers).max(1);
    let read = &read;
    let mut all = Vec::with_capacity(folders.len());
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(workers);
        for (at, share_of_all) in folders.chunks(share).enumerate() {
            threads.push(scope.spawn(move || of_share(share_of_all, at * share, read)));
        }
        for thread in threads {
            all.extend(thread.join().map_err(|_| crew::panicked())??);
        }
        Ok::<(), CommandError>(())
    })?;
    Ok(all)
}

/// The same on one thread, for folders of which the first has the place `first`.
fn of_share<T>(
    folders: &[PathBuf],
    first: usize,
    read: &impl Fn(usize, &Path) -> Result<T, CommandError>,
) -> Result<Vec<Option<T>>, CommandError> {
    let mut results = Vec::with_capacity(folders.len());
    for (folder, place) in folders.iter().zip(first..) {
        let has_journal = folder.join(JOURNAL).exists();
        results.push(if has_journal { Some(read(place, folder)?) } else { None });
    }
    Ok(results)
}

/// The record of the run in `folder`, by the digest of its journal if that fits.
pub(super) fn by_digest(folder: &Path) -> Result<RunRecord, CommandError> {
    let (record, fault) = load_by_digest(folder)?;
    if let Some(fault) = fault {
        console::complain(&format!(
            "{}: {fault} and is ignored: the figures are those of {JOURNAL}, read anew",
            folder.join(DIGEST).display()
        ));
    }
    Ok(record)
}
