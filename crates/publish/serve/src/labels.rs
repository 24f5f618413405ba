//! User-assigned name, tags and description of a finished run, in a file next to the journal, which
//! is sealed and does not change.

mod typed;

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use record::Start;

pub(crate) use typed::Labels;

/// Name of the labels file in the folder of a run.
pub(crate) const LABELS: &str = "labels.json";

/// Why labels could not be read or kept.
#[derive(Debug)]
pub(crate) enum LabelsError {
    /// An I/O error on this file.
    Io(PathBuf, io::Error),
    /// This file has other contents and is not overwritten.
    Foreign(PathBuf),
}

impl fmt::Display for LabelsError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(file, error) => write!(to, "{}: {error}", file.display()),
            Self::Foreign(file) => {
                write!(to, "{}: not the labels of a run; move the file away", file.display())
            }
        }
    }
}

/// Overrides the labels in the record of the run in `folder` with those from its file. An
/// unreadable file only changes the description, which then states the reason.
pub fn apply_labels(folder: &Path, start: &mut Start) {
    match of_run(folder) {
        Ok(labels) => {
            if let Some(labels) = labels {
                labels.put_on(start);
            }
        }
        Err(error) => start.description = error.to_string(),
    }
}

/// The labels of the run in `folder`, if it has any.
fn of_run(folder: &Path) -> Result<Option<Labels>, LabelsError> {
    let file = folder.join(LABELS);
    match fs::read(&file) {
        Ok(bytes) => Labels::from_json(&bytes).map(Some).ok_or(LabelsError::Foreign(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabelsError::Io(file, error)),
    }
}

/// Stores labels for the run in `folder`; an existing file with other contents is left alone.
pub(crate) fn give(folder: &Path, labels: &Labels) -> Result<(), LabelsError> {
    of_run(folder)?;
    let (file, fresh) = (folder.join(LABELS), folder.join("labels.json.new"));
    let kept = fs::write(&fresh, labels.to_json()).and_then(|()| fs::rename(&fresh, &file));
    kept.map_err(|error| LabelsError::Io(file, error))
}
