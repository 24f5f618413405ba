//! Files of a folder in memory, as bytes and as real files.

use std::path::{Path, PathBuf};

use crate::world::World;

impl World {
    /// The bytes of a file.
    pub(super) fn bytes(&self, file: &str) -> Vec<u8> {
        let image = self.image();
        let found = image.files.get(file);
        found.expect("a file of this world").to_vec()
    }

    /// Copies a file into the real folder `folder`, for readers that need one; returns its path.
    pub(super) fn export(&self, file: &str, folder: &Path) -> PathBuf {
        let path = folder.join(file);
        std::fs::write(&path, self.bytes(file)).expect("the folder is writable");
        path
    }
}
