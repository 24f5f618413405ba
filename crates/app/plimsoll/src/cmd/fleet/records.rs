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
    let places: Vec<(usize, &PathBuf)> = folders.iter().enumerate().collect();
    let of_place = |&(place, folder): &(usize, &PathBuf)| {
        folder.join(JOURNAL).exists().then(|| read(place, folder)).transpose()
    };
    let of_share = |share: &[(usize, &PathBuf)]| share.iter().map(of_place).collect::<Vec<_>>();
    let of_share = &of_share;
    let mut all = Vec::with_capacity(folders.len());
    thread::scope(|scope| {
        let shares = places.chunks(share);
        let threads: Vec<_> = shares.map(|share| scope.spawn(move || of_share(share))).collect();
        for thread in threads {
            all.extend(thread.join().map_err(|_| crew::panicked())?);
        }
        Ok::<(), CommandError>(())
    })?;
    all.into_iter().collect()
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
