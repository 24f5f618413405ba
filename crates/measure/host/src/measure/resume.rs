//! The run that `run --resume` continues: its journal, and whether everything is unchanged.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use record::{Resumption, RunRecord, Start};
use trial::run::ResumedRun;
use units::Nanos;

use super::circumstances;
use super::runs::journal_of;
use crate::error::HostError;
use crate::system::{self, Hold};
use crate::target::ByteSource;

/// An interrupted run, with its journal locked.
pub struct CutRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its journal.
    pub journal: PathBuf,
    /// The journal, open for writes.
    pub file: File,
    /// State from which it resumes.
    pub resumption: Resumption,
}

impl CutRun {
    /// The run whose folder or journal is at `path`.
    pub fn open(path: &Path) -> Result<Self, HostError> {
        let journal = journal_of(path);
        let wrong = HostError::of_file(&journal, "open");
        let shown = journal.display();
        if !journal.is_file() {
            let sentence = format!("{shown}: no journal of a run; name the folder of a run");
            return Err(HostError::new(sentence));
        }
        let Hold::Held(mut file) = system::open_held(&journal).map_err(wrong)? else {
            let sentence = format!("{shown}: the run goes on already; wait for its end");
            return Err(HostError::new(sentence));
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(wrong)?;
        let resumption =
            Resumption::of(&bytes).map_err(|why| HostError::new(format!("{shown}: {why}")))?;
        let folder = journal.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(Self { path: folder, journal, file, resumption })
    }

    /// The events so far.
    pub const fn record(&self) -> &RunRecord {
        &self.resumption.record
    }

    /// Returns the state in which the databases must be found.
    pub(super) fn known(&self) -> ResumedRun {
        ResumedRun::of(self.record())
    }

    /// Time since the start of the run by the wall clock, but never before the last time in the
    /// record, even if the clock was set back.
    pub(super) fn later_ns(&self, epoch: Nanos) -> u64 {
        let record = self.record();
        epoch.0.saturating_sub(record.start.started_epoch_ns).max(record.last_ns())
    }

    /// Refuses to continue if machine, program or storage have changed: `present` describes them as
    /// a run that began now would.
    pub(super) fn refuse_other_circumstances(&self, present: Start) -> Result<(), HostError> {
        let before = &self.record().start;
        // All are checked before any is opened: opening one recovers it, and a second attempt would
        // find it used.
        for database in &before.databases {
            let file = Path::new(&database.file);
            ByteSource::open(file).map_err(|error| HostError::file(file, "find", &error))?;
        }
        match circumstances::difference(before, present) {
            None => Ok(()),
            Some((what, was, is)) => Err(HostError::new(format!(
                "{}: {what} was {was} when the run began and is {is} now, and one report cannot \
                 speak for both; make it as it was, or start the test anew",
                self.journal.display()
            ))),
        }
    }
}
