//! The folder that a benchmark creates for its files and removes at the end.

use std::fs;
use std::io;
use std::path::Path;

use xtask::failure::Failure;

/// Creates a folder, and its parents if missing.
pub(crate) fn create(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

/// Removes a folder and its contents; a missing one is not an error.
pub(crate) fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

fn failed(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", folder.display()))
}
