//! What people call a run afterwards: name, tags and description, in a file beside the journal,
//! which is sealed and does not change.

mod typed;

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use record::Start;

pub(crate) use typed::Labels;

/// Their name in the folder of a run.
pub(crate) const LABELS: &str = "labels.json";

/// Why labels could not be read or kept.
#[derive(Debug)]
pub(crate) enum LabelsError {
    /// The file system refused this file.
    Io(PathBuf, io::Error),
    /// This file holds something else, which is not overwritten.
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

/// Puts the labels of the run in `folder` over those in its record. A file that cannot be read
/// changes only the description, which then says why.
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

/// Those of the run in `folder`, if it was given any.
fn of_run(folder: &Path) -> Result<Option<Labels>, LabelsError> {
    let file = folder.join(LABELS);
    match fs::read(&file) {
        Ok(bytes) => Labels::from_json(&bytes).map(Some).ok_or(LabelsError::Foreign(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabelsError::Io(file, error)),
    }
}

/// Gives labels to the run in `folder`; a file there that holds anything else stays.
pub(crate) fn give(folder: &Path, labels: &Labels) -> Result<(), LabelsError> {
    of_run(folder)?;
    let (file, fresh) = (folder.join(LABELS), folder.join("labels.json.new"));
    let kept = fs::write(&fresh, labels.to_json()).and_then(|()| fs::rename(&fresh, &file));
    kept.map_err(|error| LabelsError::Io(file, error))
}
