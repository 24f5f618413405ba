//! A folder of real files. Calls that the kernel may block in run on helper threads.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Caps, Device, DeviceError, FileEntry, OpenMode, Pending, Volume};
use windows_sys::Win32::Foundation::ERROR_DIRECTORY;

use super::file::{self, OsDevice};
use super::folder::{sectors, whole_path};
use super::patience::patiently;
use super::{Host, errors, sys};

/// See the module.
pub(super) struct OsVolume {
    host: Rc<dyn Host>,
    path: PathBuf,
    name: String,
    caps: Caps,
}

impl OsVolume {
    /// The existing folder `path`.
    pub(super) fn new(host: &Rc<dyn Host>, path: &Path) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let wrong = |error: &io::Error| errors::of(error, &name, "open", 0);
        let path = whole_path(path)?;
        if !path.metadata().map_err(|error| wrong(&error))?.is_dir() {
            return Err(wrong(&io::Error::from_raw_os_error(ERROR_DIRECTORY.cast_signed())));
        }
        Ok(Self { host: Rc::clone(host), caps: caps(&path), path, name })
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

/// A path in its usual notation.
pub(super) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix(r"\\?\").map_or(text.clone(), str::to_owned)
}

/// Opens the existing file `path` read-only, on any file system.
pub(super) fn open_to_read(host: &Rc<dyn Host>, path: &Path) -> Pending<Rc<dyn Device>> {
    let (host, path) = (Rc::clone(host), path.to_path_buf());
    Box::pin(async move {
        let wanted = path.clone();
        let opening = move || {
            let opened = file::open_anywhere(&wanted)?;
            let unbuffered = opened.unbuffered;
            let folder = wanted.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok((opened, Caps { unbuffered, ..caps(folder.unwrap_or(Path::new("."))) }))
        };
        let (opened, caps) = host.helpers().call(opening).await?;
        let device = OsDevice::new(host, &path, opened, OpenMode::ReadOnly, caps)?;
        Ok(Rc::new(device) as Rc<dyn Device>)
    })
}

/// Guarantees of the disk under the folder `path`; if unknown, the weakest ones.
fn caps(path: &Path) -> Caps {
    let (sector, physical) = sectors(path).unwrap_or((4096, 4096));
    Caps {
        atomic_write_unit: sector.max(512),
        sector: sector.max(512),
        physical_sector: physical.max(sector).max(512),
        volatile_cache: true,
        unbuffered: true,
        zeroed: true,
    }
}

fn list(path: &Path) -> io::Result<Vec<FileEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        // The length in the folder's entry lags behind the file's.
        let metadata = match std::fs::metadata(entry.path()) {
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
        let (host, caps) = (Rc::clone(&self.host), self.caps);
        let wanted = path.clone();
        let opening = self.call(move || file::open(&wanted, mode));
        Box::pin(async move {
            let opened = opening.await?;
            Ok(Rc::new(OsDevice::new(host, &path, opened, mode, caps)?) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let (from, to) = (self.path.join(from), self.path.join(to));
        self.call(move || {
            patiently(|| std::fs::rename(&from, &to))
                .map_err(|error| errors::of(&error, &shown(&from), "rename", 0))?;
            file::sync_folder(&to)
        })
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let path = self.path.join(file);
        self.call(move || {
            patiently(|| std::fs::remove_file(&path))
                .map_err(|error| errors::of(&error, &shown(&path), "removal", 0))?;
            file::sync_folder(&path)
        })
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let (path, name) = (self.path.clone(), self.name.clone());
        self.call(move || list(&path).map_err(|error| errors::of(&error, &name, "list", 0)))
    }

    fn free_bytes(&self) -> Pending<u64> {
        let (path, name) = (self.path.clone(), self.name.clone());
        self.call(move || {
            let space = sys::space(&path);
            let (free, _) = space.map_err(|error| errors::of(&error, &name, "space", 0))?;
            Ok(free)
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}
