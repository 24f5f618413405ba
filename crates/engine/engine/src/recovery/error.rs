//! Why a database cannot be recovered, and the remedy.

use std::fmt;

use device::DeviceError;
use ese::Lgpos;
use ese::header::{DatabaseState, HeaderError};
use ese::page::PageError;
use units::PageNumber;
use wal::LogError;

/// Why recovery refused or failed. The files are no worse than before: retry is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryError {
    /// A file operation on the database failed.
    Device(DeviceError),
    /// The log cannot be used.
    Log(LogError),
    /// The file has no usable header.
    Header {
        /// The database file.
        file: String,
        /// The problem found.
        problem: HeaderError,
    },
    /// The file is in a state from which recovery cannot proceed.
    State {
        /// The database file.
        file: String,
        /// Its state.
        state: DatabaseState,
    },
    /// A page is older than the log requires: a write was lost.
    LostWrite {
        /// The database file.
        file: String,
        /// The page.
        page: PageNumber,
        /// Database time of the page.
        found: u64,
        /// Database time of the page before the change, according to the record at `place`.
        expected: u64,
        /// Position of the record.
        place: Lgpos,
    },
    /// A page cannot be read, and the log does not hold it whole.
    DamagedPage {
        /// The database file.
        file: String,
        /// The page.
        page: PageNumber,
        /// The problem with it.
        problem: String,
        /// The first record that needed it.
        place: Lgpos,
    },
    /// A change does not fit its page.
    Mismatch {
        /// The database file.
        file: String,
        /// The page.
        page: PageNumber,
        /// The mismatch.
        problem: PageError,
        /// The record.
        place: Lgpos,
    },
    /// A page is newer than everything in the log: the end of the log is lost.
    LogTooOld {
        /// The database file.
        file: String,
        /// The page.
        page: PageNumber,
        /// Its database time.
        found: u64,
        /// The latest database time in the log.
        latest: u64,
        /// End of the log.
        end: Lgpos,
    },
}

impl RecoveryError {
    /// Whether the storage is at fault, as [`LogError::is_damage`] defines it for the log.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Log(error) => error.is_damage(),
            Self::Device(error) => matches!(error, DeviceError::Io { .. }),
            Self::LostWrite { .. }
            | Self::DamagedPage { .. }
            | Self::Mismatch { .. }
            | Self::LogTooOld { .. } => true,
            Self::Header { .. } | Self::State { .. } => false,
        }
    }
}

impl fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Header { file, problem } => write!(f, "{file}: {problem}"),
            Self::State { file, state } => write!(
                f,
                "{file}: is in state \"{state}\", which this program cannot recover from; \
                 restore a backup"
            ),
            Self::LostWrite { file, page, found, expected, place } => write!(
                f,
                "{file}: page {page} has database time {found} where the log record at {place} \
                 expects {expected}: a write was lost; check the disk, then restore a backup"
            ),
            Self::DamagedPage { file, page, problem, place } => write!(
                f,
                "{file}: page {page}: {problem}; the log from {place} on changes it but does not \
                 hold it whole; check the disk, then restore a backup"
            ),
            Self::Mismatch { file, page, problem, place } => write!(
                f,
                "{file}: page {page} does not fit the log record at {place} ({problem}); \
                 check the disk, then restore a backup"
            ),
            Self::LogTooOld { file, page, found, latest, end } => write!(
                f,
                "{file}: page {page} has database time {found}, but the log ends at {end} with \
                 {latest}: its end is lost; bring the latest log files back or restore a backup"
            ),
        }
    }
}

impl std::error::Error for RecoveryError {}

impl From<DeviceError> for RecoveryError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<LogError> for RecoveryError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
