//! The files of a package before it is packed, sorted by name.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use xtask::failure::Failure;

/// A file or folder at a path.
pub(super) enum Content {
    File(Vec<u8>),
    Folder,
}

/// A file or a folder, with its attributes.
pub(super) struct Item {
    /// Permission bits.
    pub mode: u32,
    /// Numeric id of its user and group.
    pub owner: u32,
    pub content: Content,
}

/// Files and folders by path, without a leading slash.
#[derive(Default)]
pub(super) struct Tree(BTreeMap<String, Item>);

impl Tree {
    /// Adds a file, and the folders above it if they are missing.
    pub(super) fn file(&mut self, path: &str, mode: u32, bytes: Vec<u8>) {
        self.parents(path);
        self.0.insert(path.to_owned(), Item { mode, owner: 0, content: Content::File(bytes) });
    }

    /// Adds a folder with an owner, and the folders above it if they are missing.
    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.parents(path);
        self.0.insert(path.to_owned(), Item { mode, owner, content: Content::Folder });
    }

    fn parents(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            let folder = Item { mode: 0o755, owner: 0, content: Content::Folder };
            self.0.entry(path[..at].to_owned()).or_insert(folder);
        }
    }

    /// All entries, each folder before its contents.
    pub(super) fn items(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.0.iter().map(|(path, item)| (path.as_str(), item))
    }

    /// All files, without the folders.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u32, &[u8])> {
        self.items().filter_map(|(path, item)| match &item.content {
            Content::File(bytes) => Some((path, item.mode, bytes.as_slice())),
            Content::Folder => None,
        })
    }

    /// Total bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files().map(|(_, _, bytes)| bytes.len() as u64).sum()
    }

    /// Writes all entries into `folder`, with the time `epoch`.
    pub(super) fn lay(&self, folder: &Path, epoch: u64) -> Result<(), Failure> {
        let failed = |error| Failure::new(format!("{}: {error}", folder.display()));
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(epoch);
        for (path, item) in self.items() {
            let path = folder.join(path);
            match &item.content {
                Content::File(bytes) => fs::write(&path, bytes).map_err(failed)?,
                Content::Folder => fs::create_dir_all(&path).map_err(failed)?,
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(item.mode)).map_err(failed)?;
        }
        for (path, _) in self.items() {
            let file = File::open(folder.join(path)).map_err(failed)?;
            file.set_times(FileTimes::new().set_modified(time)).map_err(failed)?;
        }
        Ok(())
    }
}
