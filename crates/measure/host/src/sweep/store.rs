//! Results of simulations by content: one computed by any sweep is found by all.
//!
//! Each result is a separate file, named by its key, written whole or not at all, with a seal in
//! its last line. A file that is cut off, damaged or renamed counts as missing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::documents;
use crate::error::HostError;

/// Key derived from everything that determines a result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentKey(String);

impl ContentKey {
    /// The key of these parts, in their order.
    pub fn of(parts: &[&str]) -> Self {
        Self(record::digest(parts.iter().map(|part| part.as_bytes())))
    }

    /// The key in hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The seal of a result with this key.
    fn seal(&self, text: &str) -> String {
        record::digest([self.0.as_bytes(), text.as_bytes()])
    }
}

/// A folder of results.
#[derive(Clone, Debug)]
pub struct ResultStore {
    folder: PathBuf,
}

impl ResultStore {
    /// Opens a folder, creating it if necessary.
    pub(crate) fn open(folder: &Path) -> Result<Self, HostError> {
        documents::make_folder(folder)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// The result of `key`; `None` if it is missing or damaged.
    pub fn get(&self, key: &ContentKey) -> Option<String> {
        let whole = fs::read_to_string(self.path(key)).ok()?;
        let (text, seal) = whole.strip_suffix('\n')?.rsplit_once('\n')?;
        (seal == key.seal(text)).then(|| text.to_owned())
    }

    /// Keeps `text` as the result of `key`.
    pub fn put(&self, key: &ContentKey, text: &str) -> Result<(), HostError> {
        let whole = format!("{text}\n{}\n", key.seal(text));
        documents::replace(&self.path(key), whole.as_bytes())
    }

    fn path(&self, key: &ContentKey) -> PathBuf {
        self.folder.join(format!("{}.result", key.0))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ContentKey, ResultStore};

    #[test]
    fn damaged_and_renamed_results_count_as_missing() {
        let folder = std::env::temp_dir().join(format!("plimsoll-store-{}", std::process::id()));
        let store = ResultStore::open(&folder).unwrap();
        let keys = ["one", "two"].map(|part| ContentKey::of(&[part]));
        assert_eq!(store.get(&keys[0]), None);
        store.put(&keys[0], "{\"iops\":1}").unwrap();
        assert_eq!(store.get(&keys[0]).as_deref(), Some("{\"iops\":1}"));
        fs::copy(store.path(&keys[0]), store.path(&keys[1])).unwrap();
        assert_eq!(store.get(&keys[1]), None, "renamed");
        let whole = fs::read(store.path(&keys[0])).unwrap();
        for cut in 0..whole.len() {
            fs::write(store.path(&keys[0]), &whole[..cut]).unwrap();
            assert_eq!(store.get(&keys[0]), None, "cut off at {cut}");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            fs::write(store.path(&keys[0]), &damaged).unwrap();
            assert_eq!(store.get(&keys[0]), None, "damaged at {place}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
