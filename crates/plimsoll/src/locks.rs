//! Waits for files that a process which was just killed still holds: the kernel ends its requests
//! first, and until then the files stay locked.

use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use device::DeviceError;

use crate::console::say;
use crate::documents;
use crate::error::CommandError;

/// Longest wait. Who holds a file for longer is at work on it.
const PATIENCE: Duration = Duration::from_secs(5);
/// After so long, the user is told what the program waits for.
const TELL_AFTER: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A database whose files are about to be opened for writes.
pub struct Files {
    /// The database file.
    pub database: PathBuf,
    /// The folder of its log.
    pub log_folder: PathBuf,
    /// First letters of every file of its log.
    pub log_base: String,
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

/// Waits, for a while, until none of these files is held. A file that is still held then is
/// refused where it is opened.
pub fn wait_for(databases: impl IntoIterator<Item = Files>, quiet: bool) {
    let (started, mut told) = (Instant::now(), quiet);
    for files in databases {
        while let Some(held) = files.first_held() {
            if started.elapsed() >= PATIENCE {
                return;
            }
            if !told && started.elapsed() >= TELL_AFTER {
                told = true;
                say(&format_args!(
                    "waiting up to {} s for another plimsoll process to let go of {}",
                    PATIENCE.as_secs(),
                    held.display()
                ));
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Waits as long for the database at `path`, which is about to be read as a whole, and refuses it
/// where it is still held: what changes under a reader looks like damage.
pub fn refuse_held(path: &Path) -> Result<(), CommandError> {
    let started = Instant::now();
    while is_held(path) {
        if started.elapsed() >= PATIENCE {
            let file = path.display().to_string();
            return Err(DeviceError::Locked { file }.into());
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

impl Files {
    fn first_held(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(&self.log_folder).into_iter().flatten();
        let log = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            name.to_str()
                .is_some_and(|name| name.starts_with(&self.log_base))
        });
        let mut all = [self.database.clone()]
            .into_iter()
            .chain(log.map(|entry| entry.path()));
        all.find(|path| is_held(path))
    }
}

/// Whether a process has the file's lock. One that cannot be opened has no lock to wait for.
fn is_held(path: &Path) -> bool {
    let shared = documents::open(path).map(|file| file.try_lock_shared());
    matches!(shared, Ok(Err(TryLockError::WouldBlock)))
}
