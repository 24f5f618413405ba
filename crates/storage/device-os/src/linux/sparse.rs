//! Finds which parts of a file or block device occupy storage, and frees parts.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{DeviceError, Pending};

use super::{Host, errors, sys};

/// Unit in which storage is freed: no file system has a smaller one.
const UNIT: u64 = 4096;

/// Maximum number of extents in one answer: a fragmented file has millions.
const MOST_EXTENTS: usize = 4096;

/// Consecutive bytes that are all stored or all a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageExtent {
    /// Length in bytes, more than 0.
    pub bytes: u64,
    /// `true` if the bytes read as zeros and occupy no storage.
    pub is_hole: bool,
}

/// A second handle on a file or device that is open elsewhere for reads and writes.
#[derive(Clone)]
pub struct SparseFile {
    host: Rc<dyn Host>,
    file: Arc<File>,
    name: Rc<str>,
}

impl SparseFile {
    pub(crate) fn open(
        host: Rc<dyn Host>,
        path: &Path,
        writable: bool,
    ) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let file = OpenOptions::new().read(true).write(writable).open(path);
        let file = file.map_err(|error| errors::of(&error, &name, "open", 0))?;
        Ok(Self { host, file: Arc::new(file), name: name.into() })
    }

    /// Frees the storage of the whole 4 KiB units in `bytes`, which read as zeros afterwards;
    /// `false` if there are none, or if the file system or the device cannot: then nothing changed.
    /// A flush makes it durable.
    pub fn punch(&self, bytes: Range<u64>) -> Pending<bool> {
        let (this, whole) = (self.clone(), whole_units(&bytes));
        Box::pin(async move {
            if whole.is_empty() {
                return Ok(false);
            }
            let (file, name) = (Arc::clone(&this.file), this.name.to_string());
            let at = whole.start;
            let punching = move || match sys::punch_hole(&file, whole.start, whole.end) {
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
                punched => {
                    punched.map(|()| true).map_err(|error| errors::of(&error, &name, "trim", at))
                }
            };
            this.host.helpers().call(punching).await
        })
    }

    /// How the bytes of a range inside the file are stored, beginning at its start: at least one
    /// extent, covering the whole range unless it has thousands of extents.
    pub fn extents(&self, bytes: Range<u64>) -> Pending<Vec<StorageExtent>> {
        let this = self.clone();
        Box::pin(async move {
            let (file, name) = (Arc::clone(&this.file), this.name.to_string());
            let at = bytes.start;
            let looking = move || {
                extents(&file, bytes).map_err(|error| errors::of(&error, &name, "look", at))
            };
            this.host.helpers().call(looking).await
        })
    }
}

const fn whole_units(bytes: &Range<u64>) -> Range<u64> {
    bytes.start.next_multiple_of(UNIT)..bytes.end / UNIT * UNIT
}

fn extents(file: &File, bytes: Range<u64>) -> io::Result<Vec<StorageExtent>> {
    let (mut found, mut at) = (Vec::new(), bytes.start);
    while at < bytes.end && found.len() < MOST_EXTENTS {
        let data = sys::next_data(file, at)?.unwrap_or(bytes.end);
        let is_hole = data > at;
        let next = if is_hole { data } else { sys::next_hole(file, at)? };
        let end = next.clamp(at + 1, bytes.end);
        found.push(StorageExtent { bytes: end - at, is_hole });
        at = end;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    use super::{SparseFile, StorageExtent};
    use crate::{Backend, World};

    const MIB: u64 = 1 << 20;

    #[test]
    fn holes_are_seen_and_made_and_read_as_zeros() {
        let path = std::env::temp_dir().join(format!("plimsoll-sparse-{}", std::process::id()));
        let file = std::fs::File::options();
        let file = file.clone().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.unwrap();
        file.set_len(3 * MIB).unwrap();
        file.write_all_at(&vec![7; usize::try_from(MIB).unwrap()], MIB).unwrap();
        let world = World::new(Backend::Auto).unwrap();
        let sparse = SparseFile::open(std::rc::Rc::clone(&world.host), &path, true).unwrap();
        let look = |bytes| world.executor().block_on(sparse.extents(bytes)).unwrap();
        let [hole, data] = [true, false].map(|is_hole| StorageExtent { bytes: MIB, is_hole });
        assert_eq!(look(0..3 * MIB), [hole, data, hole]);
        assert_eq!(look(MIB + 5..MIB + 9), [StorageExtent { bytes: 4, ..data }]);
        let before = file.metadata().unwrap().blocks();
        let punched = world.executor().block_on(sparse.punch(MIB + 1..2 * MIB));
        assert_eq!(punched, Ok(true));
        assert!(file.metadata().unwrap().blocks() < before);
        let [first, second] = [MIB, MIB + 4096].map(|at| {
            let mut byte = [9; 1];
            file.read_exact_at(&mut byte, at).unwrap();
            byte[0]
        });
        assert_eq!((first, second), (7, 0), "a unit that is needed in part stays");
        let none = world.executor().block_on(sparse.punch(5..100));
        assert_eq!(none, Ok(false));
        std::fs::remove_file(&path).unwrap();
    }
}
