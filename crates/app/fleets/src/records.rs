//! Reads the records of a fleet run's hosts. A day of 16 hosts has a gigabyte of journals, so all
//! processors take part.

use std::path::{Path, PathBuf};
use std::thread;

use record::{DIGEST, JOURNAL, RunRecord};

use console::error::CommandError;
use host::{crew, load_by_digest};

/// Applies `read` to each of `folders` and its index, and returns the results in order; `None` for
/// a folder without a journal.
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

/// Reads a share of the folders on one thread; the first has the index `first`.
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

/// Reads the record of the run in `folder`, from the digest of its journal if that matches.
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
