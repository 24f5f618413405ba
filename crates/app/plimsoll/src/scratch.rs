//! Folders for files that a command needs while it measures and nothing needs afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// A folder that goes with its content.
pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// A new folder in `parent`, whose name begins with `name`.
    pub(crate) fn new(parent: &Path, name: &str) -> Result<Self, CommandError> {
        let path = parent.join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| CommandError::file(&path, "make the folder", &error))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            crate::console::say(&format_args!(
                "{}: is left and may be removed: {error}",
                self.0.display()
            ));
        }
    }
}
