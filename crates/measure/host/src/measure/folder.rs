//! The folder of a run: the journal, written during the run, and the reports made from it.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use record::codec::Sealer;
use record::{Event, JOURNAL, RunRecord};
use verdict::Verdict;

use super::questions::Questions;
use super::resume::CutRun;
use super::runs;
use crate::documents;
use crate::error::HostError;
use crate::system;

/// A run folder whose journal is being written.
pub(crate) struct RunFolder {
    path: PathBuf,
    journal: PathBuf,
    file: File,
    sealer: Sealer,
    /// Offset of event times in the record from this program's own clock.
    later_ns: u64,
    origin: Origin,
    /// Makes the journal survive a crash of the machine, on a dedicated thread.
    syncs: Questions<io::Result<()>>,
}

/// Origin of a run folder.
enum Origin {
    /// Made for this run.
    New,
    /// Existed already, without a run.
    Found,
    /// It holds the beginning of the run, a journal of this many bytes.
    Resumed(u64),
}

impl RunFolder {
    /// Creates the folder if it is missing, and a journal in it, locked while it is being written;
    /// an existing run is not touched.
    pub(crate) fn create(path: &Path) -> Result<Self, HostError> {
        // First: if no thread can be started, no files are left behind.
        let syncs = Questions::start()?;
        let origin = if path.exists() { Origin::Found } else { Origin::New };
        documents::make_folder(path)?;
        let journal = path.join(JOURNAL);
        if journal.exists() {
            let text = format!(
                "{}: holds a run already; choose another folder with --output",
                path.display()
            );
            return Err(HostError::new(text));
        }
        // Locked only to show `report` that the run is live.
        let file = system::create_held(&journal)
            .map_err(|error| HostError::file(&journal, "create", &error))?;
        let path = path.to_path_buf();
        let sealer = Sealer::default();
        Ok(Self { path, journal, file, sealer, later_ns: 0, origin, syncs })
    }

    /// Resumes the journal of an interrupted run, `later_ns` after its start: a torn last line is
    /// removed, and the break is recorded.
    pub(super) fn resume(cut: CutRun, later_ns: u64) -> Result<Self, HostError> {
        let syncs = Questions::start()?;
        let CutRun { path, journal, mut file, resumption } = cut;
        let kept = resumption.kept_bytes;
        let wrong = HostError::of_file(&journal, "write");
        file.set_len(kept).map_err(wrong)?;
        file.seek(SeekFrom::Start(kept)).map_err(wrong)?;
        let resumed = resumption.event(0);
        let mut folder = Self {
            path,
            file,
            sealer: resumption.sealer,
            later_ns,
            origin: Origin::Resumed(kept),
            syncs,
            journal,
        };
        folder.write(&resumed)?;
        Ok(folder)
    }

    /// Appends an event and hands it to the operating system, so that only a crash of the machine
    /// can lose it.
    pub(crate) fn write(&mut self, event: &Event) -> Result<(), HostError> {
        let line = match self.later_ns {
            0 => self.sealer.line(event),
            later_ns => self.sealer.line(&event.clone().later(later_ns)),
        };
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| HostError::file(&self.journal, "write", &error))
    }

    /// Syncs the journal, so that it survives a crash of the machine.
    pub(super) fn sync(&mut self) -> Result<(), HostError> {
        self.file.sync_data().map_err(|error| HostError::file(&self.journal, "write", &error))
    }

    /// Starts a sync without waiting for it: the journal may be on the volume under test, which may
    /// have stalled.
    pub(super) fn sync_soon(&mut self) -> Result<(), HostError> {
        let wrong = HostError::of_file(&self.journal, "write");
        self.syncs.answers().into_iter().collect::<io::Result<()>>().map_err(wrong)?;
        if self.syncs.waiting().is_none() {
            let file = self.file.try_clone().map_err(wrong)?;
            self.syncs.ask(&self.path, move || file.sync_data());
        }
        Ok(())
    }

    /// The run so far.
    pub(super) fn load(&mut self) -> Result<RunRecord, HostError> {
        self.sync()?;
        runs::load(&self.journal)
    }

    /// Removes the journal of a run that never began, and the folder if it was created for it. The
    /// folder of a run that could not resume is restored.
    pub(crate) fn discard(self) {
        // At worst an empty journal is left behind.
        if let Origin::Resumed(kept) = self.origin {
            let _ = self.file.set_len(kept);
            return;
        }
        drop(self.file);
        let _ = fs::remove_file(&self.journal);
        if let Origin::New = self.origin {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Writes every form of the report into a run folder.
pub fn write_reports(
    folder: &Path,
    record: &RunRecord,
    verdict: &Verdict,
) -> Result<(), HostError> {
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
