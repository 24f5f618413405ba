//! A folder of real files. Calls that the kernel may block in run on helper threads.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use device::{Caps, Device, DeviceError, FileEntry, OpenMode, Pending, Volume};

use super::file::{self, OsDevice};
use super::{Host, errors, probe, sys};
use crate::probe::DiskFacts;

/// See the module.
pub(super) struct OsVolume {
    host: Rc<dyn Host>,
    path: PathBuf,
    name: String,
    folder: Arc<File>,
    caps: Caps,
}

impl OsVolume {
    /// The existing folder `path`.
    pub(super) fn new(host: &Rc<dyn Host>, path: &Path) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let wrong = |error: &io::Error| errors::of(error, &name, "open", 0);
        let path = std::fs::canonicalize(path).map_err(|error| wrong(&error))?;
        let folder = File::open(&path).map_err(|error| wrong(&error))?;
        if !folder.metadata().map_err(|error| wrong(&error))?.is_dir() {
            return Err(wrong(&io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        if sys::lives_in_memory(&folder).map_err(|error| wrong(&error))? {
            return Err(DeviceError::Unbuffered { file: name });
        }
        Ok(Self { host: Rc::clone(host), caps: caps(&path), path, name, folder: Arc::new(folder) })
    }

    /// Runs `work` on a helper thread once the result is awaited.
    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, DeviceError> + Send + 'static,
    ) -> Pending<T> {
        let host = Rc::clone(&self.host);
        Box::pin(async move { host.helpers().call(work).await })
    }
}

/// Opens the existing file `path` read-only, on any file system.
pub(super) fn open_to_read(host: &Rc<dyn Host>, path: &Path) -> Pending<Rc<dyn Device>> {
    let (host, path) = (Rc::clone(host), path.to_path_buf());
    let name = path.display().to_string();
    Box::pin(async move {
        let opening = host.helpers().call(move || {
            let opened = file::open_anywhere(&path)?;
            let unbuffered = opened.unbuffered;
            Ok((opened, Caps { unbuffered, ..caps(&path) }))
        });
        let (opened, caps) = opening.await?;
        let device = OsDevice::new(host, name, opened, OpenMode::ReadOnly, caps);
        Ok(Rc::new(device) as Rc<dyn Device>)
    })
}

/// Guarantees of the disk under `path`; if unknown, the weakest ones.
pub(super) fn caps(path: &Path) -> Caps {
    caps_of(probe::facts(path).ok().and_then(|volume| volume.disk).as_ref())
}

/// Guarantees of a disk; if unknown, the weakest ones.
pub(super) fn caps_of(disk: Option<&DiskFacts>) -> Caps {
    let sectors = disk.map_or((512, 4096), |disk| (disk.logical_sector, disk.physical_sector));
    Caps {
        atomic_write_unit: sectors.0.max(512),
        sector: sectors.0.max(512),
        physical_sector: sectors.1.max(512),
        volatile_cache: disk.is_none_or(|disk| disk.volatile_cache != Some(false)),
        unbuffered: true,
        zeroed: true,
    }
}

fn list(path: &Path) -> io::Result<Vec<FileEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // Removed since the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if metadata.is_file() {
            entries.push(FileEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                length: metadata.len(),
            });
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

impl Volume for OsVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let path = self.path.join(file);
        let (host, caps, name) = (Rc::clone(&self.host), self.caps, path.display().to_string());
        let opening = self.call(move || file::open(&path, mode));
        Box::pin(async move {
            let opened = opening.await?;
            Ok(Rc::new(OsDevice::new(host, name, opened, mode, caps)) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let (from, to) = (self.path.join(from), self.path.join(to));
        self.call(move || {
            std::fs::rename(&from, &to)
                .map_err(|error| errors::of(&error, &from.display().to_string(), "rename", 0))?;
            file::sync_folder(&to)
        })
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let path = self.path.join(file);
        self.call(move || {
            std::fs::remove_file(&path)
                .map_err(|error| errors::of(&error, &path.display().to_string(), "removal", 0))?;
            file::sync_folder(&path)
        })
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let (path, name) = (self.path.clone(), self.name.clone());
        self.call(move || list(&path).map_err(|error| errors::of(&error, &name, "list", 0)))
    }

    fn free_bytes(&self) -> Pending<u64> {
        let (folder, name) = (Arc::clone(&self.folder), self.name.clone());
        self.call(move || {
            let space = sys::space(&folder);
            let (free, _) = space.map_err(|error| errors::of(&error, &name, "statvfs", 0))?;
            Ok(free)
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}
