//! The folder of a run: the journal, written while the run goes on, and the reports made from it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use record::codec::Sealer;
use record::{Event, RunRecord};
use verdict::Verdict;

use crate::documents;
use crate::error::CommandError;

/// The journal's name in a run folder.
pub(super) const JOURNAL: &str = "record.jsonl";

/// So much of a file says whether it can be a journal at all.
const BEGINNING_BYTES: u64 = 64;

/// A run folder whose journal is being written.
pub(super) struct RunFolder {
    path: PathBuf,
    journal: PathBuf,
    file: File,
    sealer: Sealer,
    /// Whether the folder was made for this run.
    is_new: bool,
}

impl RunFolder {
    /// Makes the folder where it is missing, and a journal in it; a run that is there already is
    /// not touched.
    pub(super) fn create(path: &Path) -> Result<Self, CommandError> {
        let is_new = !path.exists();
        fs::create_dir_all(path)
            .map_err(|error| CommandError::file(path, "make the run folder", &error))?;
        let journal = path.join(JOURNAL);
        if journal.exists() {
            let text = format!(
                "{}: holds a run already; choose another folder with --output",
                path.display()
            );
            return Err(CommandError::new(text));
        }
        let file = File::create_new(&journal)
            .map_err(|error| CommandError::file(&journal, "create", &error))?;
        Ok(Self {
            path: path.to_path_buf(),
            journal,
            file,
            sealer: Sealer::default(),
            is_new,
        })
    }

    /// Appends an event and hands it to the operating system, so that only a crash of the machine
    /// can lose it.
    pub(super) fn write(&mut self, event: &Event) -> Result<(), CommandError> {
        let line = self.sealer.line(event);
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| CommandError::file(&self.journal, "write", &error))
    }

    /// Makes what has been written survive a crash of the machine.
    pub(super) fn sync(&mut self) -> Result<(), CommandError> {
        self.file
            .sync_data()
            .map_err(|error| CommandError::file(&self.journal, "write", &error))
    }

    /// The run so far.
    pub(super) fn load(&mut self) -> Result<RunRecord, CommandError> {
        self.sync()?;
        load(&self.journal)
    }

    /// Removes the journal of a run that never began, and the folder if it was made for it.
    pub(super) fn discard(self) {
        drop(self.file);
        // What is left behind, if anything, is a journal that says nothing.
        let _ = fs::remove_file(&self.journal);
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// The journal of a run folder, or the journal itself.
pub(crate) fn journal_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(JOURNAL)
    } else {
        path.to_path_buf()
    }
}

/// Loads a run from its folder, or from its journal.
pub(crate) fn load(path: &Path) -> Result<RunRecord, CommandError> {
    let journal = journal_of(path);
    let bytes = read(&journal).map_err(|error| CommandError::file(&journal, "read", &error))?;
    RunRecord::load(&bytes)
        .map_err(|error| CommandError::new(format!("{}: {error}", journal.display())))
}

/// The bytes of a journal, or the first ones of a file that begins like none: it may be a database
/// of many gigabytes.
fn read(journal: &Path) -> io::Result<Vec<u8>> {
    let mut file = documents::open(journal)?;
    let mut bytes = Vec::new();
    (&mut file).take(BEGINNING_BYTES).read_to_end(&mut bytes)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Writes every form of the report into a run folder.
pub(crate) fn write_reports(
    folder: &Path,
    record: &RunRecord,
    verdict: &Verdict,
) -> Result<(), CommandError> {
    let reports = [
        ("report.html", report::html(record, verdict)),
        ("report.txt", report::text(record, verdict)),
        ("report.json", report::json(record, verdict)),
    ];
    for (name, text) in reports {
        documents::replace(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}
