//! Files that people name: plans in, reports out.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use plan::{Deployment, Overrides, Plan};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::error::CommandError;

/// Reads the plan at `path` with what the command line overrides.
pub fn read_plan(path: &Path, overrides: &Overrides) -> Result<Plan, CommandError> {
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::file(path, "read", &error))?;
    Ok(Plan::parse_with(
        &path.display().to_string(),
        &text,
        overrides,
    )?)
}

/// Reads the deployment at `path`.
pub fn read_deployment(path: &Path) -> Result<Deployment, CommandError> {
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::file(path, "read", &error))?;
    Ok(Deployment::parse(&path.display().to_string(), &text)?)
}

/// Opens a file for reads. Opening a pipe would wait for its other end, and a device
/// has no length.
pub fn open(path: &Path) -> io::Result<fs::File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        fs::File::open(path)
    } else {
        let problem = "it is a pipe or a device";
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    fs::write(path, bytes).map_err(|error| CommandError::file(path, "write", &error))
}

/// Writes a whole file that must not be there yet.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let file = fs::File::create_new(path);
    match file.and_then(|mut file| file.write_all(bytes)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(CommandError::new(format!(
                "{}: is there already, and nothing is written over; remove it or name another",
                path.display()
            )))
        }
        done => done.map_err(|error| CommandError::file(path, "write", &error)),
    }
}

/// A new folder for a run in `parent`, named for the moment.
pub fn dated_folder(parent: &Path) -> PathBuf {
    let format = format_description!("[year][month][day]-[hour][minute][second]");
    // The format has no part that could fail.
    let moment = OffsetDateTime::now_utc().format(format).unwrap_or_default();
    parent.join(format!("plimsoll-run-{moment}"))
}
