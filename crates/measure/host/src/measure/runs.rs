//! Existing runs: where they are, whether they are still running, and the contents of their
//! journals.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use record::{JOURNAL, LoadError, Resumption, RunRecord, journal_lines};

use crate::documents;
use crate::error::HostError;
use crate::system;

/// Bytes of a file that show whether it can be a journal at all.
const BEGINNING_BYTES: u64 = 64;
/// Limit on decoded lines that wait to be folded: a line of a run with many databases takes
/// megabytes of memory.
const DECODED_AHEAD: usize = 16;

/// Whether the run whose folder or journal is at `path` is live.
pub fn is_live(path: &Path) -> bool {
    system::is_held(&journal_of(path))
}

/// Returns the runs at `path`, newest first: the path itself, or else the folders in it that
/// contain a journal. An error if there are none.
pub fn runs_at(path: &Path) -> Result<Vec<PathBuf>, HostError> {
    if !path.is_dir() || path.join(JOURNAL).exists() {
        return Ok(vec![path.to_path_buf()]);
    }
    let wrong = HostError::of_file(path, "look for a run in");
    let mut runs = Vec::new();
    for entry in fs::read_dir(path).map_err(wrong)? {
        let folder = entry.map_err(wrong)?.path();
        if let Ok(journal) = fs::metadata(folder.join(JOURNAL)) {
            runs.push((journal.modified().map_err(wrong)?, folder));
        }
    }
    if runs.is_empty() {
        return Err(HostError::new(format!(
            "{}: no {JOURNAL} is in it, nor in a folder of it; name the folder of a run",
            path.display()
        )));
    }
    runs.sort_by(|one, other| other.cmp(one));
    Ok(runs.into_iter().map(|(_, folder)| folder).collect())
}

/// The journal of a run folder, or the journal itself.
pub fn journal_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(JOURNAL) } else { path.to_path_buf() }
}

/// Loads a run from its folder, or from its journal.
pub fn load(path: &Path) -> Result<RunRecord, HostError> {
    let journal = journal_of(path);
    let bytes = read(&journal).map_err(|error| HostError::file(&journal, "read", &error))?;
    folded(&bytes).map_err(|error| HostError::new(format!("{}: {error}", journal.display())))
}

/// Returns why `run --resume` would refuse the run at `path`; `None` if it can be completed.
pub fn refusal_to_resume(path: &Path) -> Result<Option<String>, HostError> {
    let journal = journal_of(path);
    let bytes = read(&journal).map_err(|error| HostError::file(&journal, "read", &error))?;
    Ok(Resumption::of(&bytes).err().map(|why| why.to_string()))
}

/// The run of a journal. Decoding takes as long as everything else, so a thread does it.
pub(super) fn folded(journal: &[u8]) -> Result<RunRecord, LoadError> {
    thread::scope(|scope| {
        let (sender, lines) = mpsc::sync_channel(DECODED_AHEAD);
        // The folding thread stops at the first invalid line.
        scope.spawn(move || journal_lines(journal).all(|line| sender.send(line).is_ok()));
        RunRecord::of_lines(lines)
    })
}

/// Returns the bytes of a journal, or only the first ones if the file does not begin like a
/// journal: it may be a database of many gigabytes.
pub(super) fn read(journal: &Path) -> io::Result<Vec<u8>> {
    let mut file = documents::open(journal)?;
    let mut bytes = Vec::new();
    (&mut file).take(BEGINNING_BYTES).read_to_end(&mut bytes)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
