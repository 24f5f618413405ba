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
    fn first_held(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(&self.log_folder).into_iter().flatten();
        let log = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| name.starts_with(&self.log_base))
        });
        let mut all = [self.database.clone()].into_iter().chain(log.map(|entry| entry.path()));
        all.find(|path| is_held(path))
    }
}
