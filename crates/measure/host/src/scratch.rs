//! Folders for files that a command needs while it measures and nothing needs afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::HostError;
use crate::observer::HostObserver;

/// A folder that is deleted on drop, with its contents.
pub struct ScratchFolder {
    path: PathBuf,
    observer: HostObserver,
}

impl ScratchFolder {
    /// Creates a folder in `parent` whose name begins with `name`; reports to `observer` if it
    /// cannot be removed.
    pub fn new(parent: &Path, name: &str, observer: &HostObserver) -> Result<Self, HostError> {
        let path = parent.join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| HostError::file(&path, "make the folder", &error))?;
        Ok(Self { path, observer: observer.clone() })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            self.observer.warn(&format_args!(
                "{}: is left and may be removed: {error}",
                self.path.display()
            ));
        }
    }
}
