//! The folder of a run: the journal, written while the run goes on, and the reports made from it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::codec::Sealer;
use record::{Event, RunRecord};
use verdict::Verdict;

use super::runs::{self, JOURNAL};
use crate::documents;
use crate::error::CommandError;

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
    /// Makes the folder where it is missing, and a journal in it, locked for as long as it is being
    /// written; a run that is there already is not touched.
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
        // Only tells `report` that the run goes on; a file system without locks says nothing.
        let _ = file.try_lock();
        Ok(Self { path: path.to_path_buf(), journal, file, sealer: Sealer::default(), is_new })
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
        self.file.sync_data().map_err(|error| CommandError::file(&self.journal, "write", &error))
    }

    /// The run so far.
    pub(super) fn load(&mut self) -> Result<RunRecord, CommandError> {
        self.sync()?;
        runs::load(&self.journal)
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
