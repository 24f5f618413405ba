//! Where keys were found lately. One change of a row seeks the same keys several times, and again
//! whenever it has waited for a page; most of those descents end where the one before ended.
//!
//! A path stays right until a tree takes another shape, so every change of shape forgets them all.

use std::hash::{BuildHasher, Hasher};

use units::PageNumber;

use crate::hash::QuickHash;
use crate::tree::Path;

/// How many keys are remembered: several for each session that may be waiting for pages.
const PLACES: usize = 256;

/// The last path to each of some keys.
pub(crate) struct RememberedPaths {
    places: Vec<Option<Remembered>>,
    /// Counts the changes of shape.
    shape: u64,
}

struct Remembered {
    root: PageNumber,
    key: Vec<u8>,
    data: Vec<u8>,
    path: Path,
    shape: u64,
}

impl Default for RememberedPaths {
    fn default() -> Self {
        Self { places: std::iter::repeat_with(|| None).take(PLACES).collect(), shape: 0 }
    }
}

impl RememberedPaths {
    /// The path to a key of the tree with this root, as [`crate::tree::descend`] would find it.
    pub(crate) fn find(&self, root: PageNumber, key: &[u8], data: &[u8]) -> Option<Path> {
        let found = self.places[place_of(root, key)].as_ref()?;
        let is_it = found.shape == self.shape
            && found.root == root
            && found.key == key
            && found.data == data;
        is_it.then_some(found.path)
    }

    /// Remembers the path to a key, in the place of another one.
    pub(crate) fn remember(&mut self, root: PageNumber, key: &[u8], data: &[u8], path: &Path) {
        let place = self.places[place_of(root, key)].get_or_insert_with(|| Remembered {
            root,
            key: Vec::new(),
            data: Vec::new(),
            path: *path,
            shape: 0,
        });
        (place.root, place.path, place.shape) = (root, *path, self.shape);
        for (kept, new) in [(&mut place.key, key), (&mut place.data, data)] {
            kept.clear();
            kept.extend_from_slice(new);
        }
    }

    /// Forgets every path.
    pub(crate) fn forget(&mut self) {
        self.shape += 1;
    }
}

fn place_of(root: PageNumber, key: &[u8]) -> usize {
    let mut hash = QuickHash::default().build_hasher();
    hash.write_u32(root.0);
    hash.write(key);
    (hash.finish() >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::RememberedPaths;
    use crate::tree::Path;

    #[test]
    fn a_path_is_found_by_root_key_and_data_until_a_tree_changes_its_shape() {
        let (root, leaf) = (PageNumber(4), PageNumber(9));
        let mut paths = RememberedPaths::default();
        paths.remember(root, b"key", b"data", &Path::to(leaf));
        let found = |paths: &RememberedPaths, root, key, data| {
            paths.find(root, key, data).map(|path: Path| path.leaf)
        };
        assert_eq!(found(&paths, root, b"key", b"data"), Some(leaf));
        assert_eq!(found(&paths, root, b"key", b"other"), None);
        assert_eq!(found(&paths, root, b"kez", b"data"), None);
        assert_eq!(found(&paths, PageNumber(5), b"key", b"data"), None);
        paths.forget();
        assert_eq!(found(&paths, root, b"key", b"data"), None);
        paths.remember(root, b"key", b"data", &Path::to(root));
        assert_eq!(found(&paths, root, b"key", b"data"), Some(root));
    }
}
