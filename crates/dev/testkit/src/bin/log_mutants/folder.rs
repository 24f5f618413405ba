//! The folder of one mutant, which contains its files in `set`, files that commands may write in
//! `out`, and an empty folder for temporary files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::log_mutants::Files;

/// Names of the files that the commands were asked to write.
const ASKED_FOR: [&str; 3] = ["copy.edb", "redone.edb", "rows"];

/// A folder that is removed at the end.
pub(crate) struct MutantFolder {
    path: PathBuf,
}

impl MutantFolder {
    /// Creates the folder with `files` in its `set`.
    pub(crate) fn make(files: &Files) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("log-mutants-{}", std::process::id()));
        let folder = Self { path };
        for part in ["set", "out", "tmp"] {
            let part = folder.part(part);
            fs::create_dir_all(&part).map_err(|error| format!("{}: {error}", part.display()))?;
        }
        for (name, bytes) in files {
            let path = folder.part("set").join(name);
            fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(folder)
    }

    /// Path of a folder inside.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Fails if a file of the set has changed, or if there is a file that no command was asked to
    /// write. Removes the requested files.
    pub(crate) fn is_untouched(&self, files: &Files) -> Result<(), String> {
        let wanted: BTreeSet<String> = files.keys().cloned().collect();
        let found = names(&self.part("set"))?;
        if found != wanted {
            return Err(format!("the set's folder holds {found:?}"));
        }
        for (name, bytes) in files {
            let path = self.part("set").join(name);
            if fs::read(&path).ok().as_ref() != Some(bytes) {
                return Err(format!("{name} was written"));
            }
        }
        let temporary = names(&self.part("tmp"))?;
        if !temporary.is_empty() || names(&self.path)?.len() != 3 {
            return Err(format!("left behind: {temporary:?}"));
        }
        self.take_out()
    }

    /// Removes the requested files; fails if there are others.
    fn take_out(&self) -> Result<(), String> {
        for name in names(&self.part("out"))? {
            if !ASKED_FOR.contains(&name.as_str()) {
                return Err(format!("{name} was written"));
            }
            let path = self.part("out").join(&name);
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

impl Drop for MutantFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn names(folder: &Path) -> Result<BTreeSet<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let named = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(named.collect())
}
