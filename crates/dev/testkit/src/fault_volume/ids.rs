//! The inode numbers that the kernel uses for files, and the path of each in the backing folder.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Inode of the backing folder itself.
const ROOT: u64 = 1;

/// Inode numbers and paths, which are relative to the backing folder.
pub(super) struct InodeIds {
    paths: HashMap<u64, PathBuf>,
    numbers: HashMap<PathBuf, u64>,
    next: u64,
}

impl InodeIds {
    pub(super) fn new() -> Self {
        let root = PathBuf::new();
        Self {
            paths: HashMap::from([(ROOT, root.clone())]),
            numbers: HashMap::from([(root, ROOT)]),
            next: ROOT + 1,
        }
    }

    /// Path of inode `id`; `None` if it was removed.
    pub(super) fn path(&self, id: u64) -> Option<&Path> {
        self.paths.get(&id).map(PathBuf::as_path)
    }

    /// Path of `name` in the folder with inode `parent`.
    pub(super) fn child(&self, parent: u64, name: &OsStr) -> Option<PathBuf> {
        self.path(parent).map(|parent| parent.join(name))
    }

    /// The number of `path`, which exists.
    pub(super) fn id(&mut self, path: &Path) -> u64 {
        if let Some(id) = self.numbers.get(path) {
            return *id;
        }
        let id = self.next;
        self.next += 1;
        self.numbers.insert(path.to_owned(), id);
        self.paths.insert(id, path.to_owned());
        id
    }

    /// Forgets `path`, so that a later file with its name gets another number.
    pub(super) fn remove(&mut self, path: &Path) {
        if let Some(id) = self.numbers.remove(path) {
            self.paths.remove(&id);
        }
    }

    /// Moves everything at and below `from` to `to`.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        self.remove(to);
        let moved: Vec<_> = self.numbers.extract_if(|path, _| path.starts_with(from)).collect();
        for (old, id) in moved {
            let below = old.strip_prefix(from).unwrap_or(Path::new(""));
            let new = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
            self.paths.insert(id, new.clone());
            self.numbers.insert(new, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{InodeIds, ROOT};

    #[test]
    fn a_number_follows_its_file_and_is_not_used_again() {
        let mut ids = InodeIds::new();
        let first = ids.id(Path::new("a/one"));
        let replaced = ids.id(Path::new("b"));
        ids.rename(Path::new("a/one"), Path::new("b"));
        assert_eq!(ids.id(Path::new("b")), first);
        assert_eq!(ids.path(replaced), None);
        ids.remove(Path::new("b"));
        assert_ne!(ids.id(Path::new("b")), first);
        ids.rename(Path::new("b"), Path::new("c"));
        assert_eq!(ids.path(ROOT), Some(Path::new("")));
    }
}
