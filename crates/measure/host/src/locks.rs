//! Waits for files that a process killed a moment ago still holds: they stay locked until the
//! kernel has completed its requests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use device::DeviceError;

use crate::error::HostError;
use crate::observer::HostObserver;
use crate::system::{self, FolderHold, Hold};
use crate::target::{RawDevice, RawTarget};

/// Longest wait. A process that holds a file for longer is using it.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this time the user is shown the reason for the wait.
const TELL_AFTER: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A database whose files are about to be opened for writes.
pub struct Files {
    /// The database file.
    pub database: PathBuf,
    /// The folder of its log.
    pub log_folder: PathBuf,
    /// Prefix of the names of all its log files.
    pub log_base: String,
}

/// Folders locked against preparation by other processes while this exists.
pub(crate) struct PreparedFolders {
    _held: Vec<FolderHold>,
}

impl PreparedFolders {
    /// Takes the folders of these databases and of their logs, and waits for a while if another
    /// process has one locked. On a file system that cannot lock folders, nothing is locked.
    pub(crate) fn take(databases: &[plan::Database]) -> Result<Self, HostError> {
        let both =
            |database: &plan::Database| [&database.folder, &database.log_folder].map(PathBuf::from);
        // In a fixed order, or two processes could deadlock.
        let folders: BTreeSet<PathBuf> = databases
            .iter()
            .flat_map(both)
            // A raw device is held by its open volume.
            .filter(|folder| RawTarget::of(folder).is_none())
            .map(|folder| folder.canonicalize().unwrap_or(folder))
            .collect();
        let started = Instant::now();
        let mut held = Vec::new();
        for folder in folders {
            held.extend(hold(&folder, started)?);
        }
        Ok(Self { _held: held })
    }
}

/// Locks a folder, waiting if necessary; `None` if folders cannot be locked.
fn hold(folder: &Path, started: Instant) -> Result<Option<FolderHold>, HostError> {
    loop {
        match system::hold_folder(folder) {
            Hold::Held(held) => return Ok(Some(held)),
            Hold::Unheld => return Ok(None),
            Hold::Busy if started.elapsed() >= PATIENCE => {
                return Err(HostError::new(format!(
                    "{}: another plimsoll process prepares databases there; wait for its end, or \
                     choose another folder",
                    folder.display()
                )));
            }
            Hold::Busy => thread::sleep(BETWEEN_LOOKS),
        }
    }
}

impl From<&plan::Database> for Files {
    fn from(database: &plan::Database) -> Self {
        Self {
            database: Path::new(&database.folder).join(&database.file),
            log_folder: PathBuf::from(&database.log_folder),
            log_base: database.log_base.clone(),
        }
    }
}

/// Waits for a limited time until none of these files is held. A file that is still held then is
/// refused when it is opened.
pub fn wait_for(databases: impl IntoIterator<Item = Files>, observer: &HostObserver) {
    let all: Vec<Files> = databases.into_iter().collect();
    wait_while(|| all.iter().find_map(Files::first_held), observer);
}

/// Waits the same time for the database at `path`, which is about to be read in full, and refuses
/// it if it is still held: changes during a read look like damage.
pub fn refuse_held(path: &Path, observer: &HostObserver) -> Result<(), HostError> {
    match wait_while(|| is_held(path).then(|| path.to_owned()), observer) {
        None => Ok(()),
        Some(held) => Err(DeviceError::Locked { file: held.display().to_string() }.into()),
    }
}

/// Whether a process holds the file at `path`, or the raw device that it is on. An export or LUN
/// that is held is refused when it is opened: asking would need a connection.
fn is_held(path: &Path) -> bool {
    match RawTarget::of(path).map(|target| target.device) {
        Some(RawDevice::Local(device)) => system::is_device_held(&device),
        Some(RawDevice::Export(_) | RawDevice::Lun(_) | RawDevice::NoAddress) => false,
        None => system::is_held(path),
    }
}

/// Waits until `held` returns no file; returns the file still held when the wait times out.
fn wait_while(held: impl Fn() -> Option<PathBuf>, observer: &HostObserver) -> Option<PathBuf> {
    let (started, mut told) = (Instant::now(), false);
    while let Some(file) = held() {
        if started.elapsed() >= PATIENCE {
            return Some(file);
        }
        if !told && started.elapsed() >= TELL_AFTER {
            told = true;
            observer.remark(&format_args!(
                "waiting up to {} s for another plimsoll process to let go of {}",
                PATIENCE.as_secs(),
                file.display()
            ));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    None
}

impl Files {
    /// The first file that is held: the database, what belongs to it, such as its flush map, or its
    /// log.
    fn first_held(&self) -> Option<PathBuf> {
        let folder = self.database.parent().filter(|folder| !folder.as_os_str().is_empty());
        let name = self.database.file_stem().unwrap_or_default().to_string_lossy();
        let mut all = [self.database.clone()]
            .into_iter()
            .chain(files_of(folder.unwrap_or(Path::new(".")), format!("{name}.")))
            .chain(files_of(&self.log_folder, self.log_base.clone()));
        all.find(|path| is_held(path))
    }
}

/// The files in `folder` whose names begin with `start`.
fn files_of(folder: &Path, start: String) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named =
        entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(&start));
    named.map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use std::{fs, process};

    use super::Files;
    use crate::system::create_held;

    /// A process that was killed may hold any of them for a moment.
    #[test]
    fn every_file_of_a_database_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("plimsoll-held-{}", process::id()));
        fs::create_dir_all(&folder).expect("a scratch folder");
        let files = Files {
            database: folder.join("A.edb"),
            log_folder: folder.clone(),
            log_base: "E00".to_owned(),
        };
        for name in ["A.edb", "A.jfm", "E00.plg", "E0000000001.plg"] {
            let held = create_held(&folder.join(name)).expect("a new file");
            assert_eq!(files.first_held(), Some(folder.join(name)));
            drop(held);
            assert_eq!(files.first_held(), None, "{name}");
        }
        let other = create_held(&folder.join("AB.jfm")).expect("a file of another database");
        assert_eq!(files.first_held(), None);
        drop(other);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
