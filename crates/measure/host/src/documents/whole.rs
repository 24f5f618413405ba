//! Whole files and folders: each is written from first byte to last, or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::HostError;

/// Creates the parent folders of `path`.
pub fn make_parents(path: &Path) -> Result<(), HostError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => make_folder(parent),
        _ => Ok(()),
    }
}

/// Creates a folder and its parents unless they exist.
pub fn make_folder(path: &Path) -> Result<(), HostError> {
    fs::create_dir_all(path).map_err(HostError::of_file(path, "make this folder"))
}

/// Creates a folder, which must not exist yet, with its parents.
pub fn make_new_folder(path: &Path) -> Result<(), HostError> {
    make_parents(path)?;
    fs::create_dir(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_there(path, "name another folder"),
        _ => HostError::file(path, "make this folder", &error),
    })
}

/// Replaces a file atomically: the old one stays until the new one is complete, and a symbolic link
/// is replaced, not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), HostError> {
    let kind = fs::symlink_metadata(path).map(|facts| facts.file_type());
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_symlink()) {
        return Err(HostError::new(format!(
            "{}: is a folder, a pipe or a device, and only a file is replaced; name a file",
            path.display()
        )));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    write_new(&temporary, bytes)?;
    fs::rename(&temporary, path).map_err(|error| {
        // The temporary file is useless without its final name.
        let _ = fs::remove_file(&temporary);
        HostError::file(path, "write", &error)
    })
}

/// Writes a complete file, which must not exist yet.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), HostError> {
    create(path, bytes, "remove it or name another")
}

/// The same; `remedy` is the advice if the file exists.
pub fn create(path: &Path, bytes: &[u8], remedy: &str) -> Result<(), HostError> {
    make_parents(path)?;
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_there(path, remedy),
        _ => HostError::file(path, "write", &error),
    })?;
    file.write_all(bytes).map_err(|error| {
        // A truncated answer would look complete.
        drop(file);
        let _ = fs::remove_file(path);
        HostError::file(path, "write", &error)
    })
}

/// The refusal of a path at which something exists; `remedy` is the advice.
pub fn already_there(path: &Path, remedy: &str) -> HostError {
    let path = path.display();
    HostError::new(format!("{path}: is there already, and nothing is written over; {remedy}"))
}
