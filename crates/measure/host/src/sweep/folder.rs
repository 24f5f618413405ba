//! The folder of a sweep: it records the designs, so that the same command resumes after an
//! interruption, and another is refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{ContentKey, ResultStore};
use crate::documents;
use crate::error::HostError;
use crate::system::{self, FolderHold, Hold};

/// Identifies the sweep that the folder belongs to.
const MANIFEST: &str = "sweep.json";

/// Folder for results if no other is given.
const RESULTS: &str = "results";

/// The folder of a sweep, held by this process.
pub struct SweepFolder {
    path: PathBuf,
    /// Results by content.
    pub store: ResultStore,
    /// Held for the duration of the sweep.
    _hold: Option<FolderHold>,
}

impl SweepFolder {
    /// Begins the sweep of `keys` in a new folder, or continues it. Results are kept in `cache`,
    /// or in the folder itself.
    pub fn open(path: &Path, keys: &[ContentKey], cache: Option<&Path>) -> Result<Self, HostError> {
        let own = manifest(keys);
        let is_new = is_vacant(path);
        if is_new {
            documents::make_folder(path)?;
        }
        let hold = match system::hold_folder(path) {
            Hold::Held(hold) => Some(hold),
            Hold::Unheld => None,
            Hold::Busy => {
                return Err(HostError::new(format!(
                    "{}: another sweep is at work here; wait for its end, or name another folder",
                    path.display()
                )));
            }
        };
        if is_new {
            documents::replace(&path.join(MANIFEST), own.to_string().as_bytes())?;
        } else {
            expect_same(path, &own)?;
        }
        let store = cache.map_or_else(|| path.join(RESULTS), Path::to_path_buf);
        Ok(Self { path: path.to_path_buf(), store: ResultStore::open(&store)?, _hold: hold })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one run, not created yet; remains of an earlier attempt are removed.
    pub fn run_folder(&self, name: &str) -> Result<PathBuf, HostError> {
        let folder = self.path.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(HostError::of_file(&folder, "remove"))?;
        }
        Ok(folder)
    }

    /// Whether the folder of a run exists.
    pub fn has_run(&self, name: &str) -> bool {
        self.path.join(name).is_dir()
    }

    /// Writes a file of the conclusion; one of an earlier attempt is replaced.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, HostError> {
        let path = self.path.join(name);
        documents::replace(&path, text.as_bytes())?;
        Ok(path)
    }
}

fn manifest(keys: &[ContentKey]) -> Value {
    let digest = record::digest(keys.iter().map(|key| key.as_str().as_bytes()));
    json!({ "kind": "sweep", "designs": keys.len(), "content": digest })
}

/// Whether the folder is missing or empty, or holds only the unfinished manifest of a sweep that
/// was killed at once.
fn is_vacant(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return !path.exists() };
    entries.flatten().all(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(MANIFEST) && name.ends_with(".new")
    })
}

fn expect_same(path: &Path, own: &Value) -> Result<(), HostError> {
    let text = fs::read_to_string(path.join(MANIFEST)).map_err(|_| {
        HostError::new(format!(
            "{}: is there already, and nothing is written over; name another folder",
            path.display()
        ))
    })?;
    let found: Value = serde_json::from_str(&text).unwrap_or_default();
    if found == *own {
        return Ok(());
    }
    let count = found["designs"].as_u64().map_or_else(String::new, |count| format!(" of {count}"));
    Err(HostError::new(format!(
        "{}: holds another sweep{count}: plan, array, values, seeds or program differ; name \
         another folder, and --cache DIR with the results of this one",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::SweepFolder;
    use crate::sweep::ContentKey;

    #[test]
    fn a_folder_goes_on_with_its_own_sweep_and_refuses_another() {
        let path = std::env::temp_dir().join(format!("plimsoll-sweep-{}", std::process::id()));
        let keys = ["a", "b"].map(|part| ContentKey::of(&[part]));
        let folder = SweepFolder::open(&path, &keys, None).unwrap();
        folder.store.put(&keys[0], "x").unwrap();
        assert!(SweepFolder::open(&path, &keys, None).is_err(), "it is held");
        drop(folder);
        let again = SweepFolder::open(&path, &keys, None).unwrap();
        assert_eq!(again.store.get(&keys[0]).as_deref(), Some("x"));
        drop(again);
        let other = SweepFolder::open(&path, &keys[..1], None);
        assert!(other.is_err_and(|error| error.to_string().contains("another sweep of 2")));
        fs::remove_file(path.join("sweep.json")).unwrap();
        assert!(SweepFolder::open(&path, &keys, None).is_err(), "a folder of something else");
        fs::remove_dir_all(&path).unwrap();
    }
}
