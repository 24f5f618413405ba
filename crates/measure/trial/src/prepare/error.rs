//! Why databases could not be prepared.

use std::fmt;

use device::DeviceError;
use units::Bytes;

use crate::manifest::ManifestError;

/// Why databases could not be prepared. Nothing that existed before was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrepareError {
    /// A folder could not be read or written.
    Device(DeviceError),
    /// A manifest could not be read or written, or belongs to another plan.
    Manifest(ManifestError),
    /// A file exists where a database or its log would go.
    NotEmpty {
        /// The folder.
        folder: String,
        /// The file.
        file: String,
    },
    /// Another database keeps its log here.
    LogInUse {
        /// The folder.
        folder: String,
        /// A file of the log.
        file: String,
    },
    /// The log folder belongs to another database, which may have no log there yet.
    LogFolderTaken {
        /// The folder.
        folder: String,
        /// The file that proves it.
        file: String,
        /// The other database.
        database: String,
    },
    /// The manifest exists, but its database is missing.
    Gone {
        /// The manifest.
        manifest: String,
        /// The database.
        file: String,
    },
    /// The storage is too small.
    NoSpace {
        /// The storage, by the name that the program uses.
        storage: String,
        /// Bytes that the databases and logs on it will need.
        needed: Bytes,
        /// Bytes that are free.
        free: Bytes,
    },
    /// The fill itself failed.
    Fill {
        /// The database.
        file: String,
        /// The failure.
        problem: String,
    },
    /// The storage does not answer. Its requests are still in flight: their reactor must be leaked,
    /// since dropping it would wait for them.
    Unanswered {
        /// The waiting request, its file and its age.
        what: String,
    },
    /// A person asked to stop.
    Interrupted {
        /// The database that was being filled.
        file: String,
    },
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::Manifest(error) => error.fmt(f),
            Self::NotEmpty { folder, file } => write!(
                f,
                "{folder}: {file} is already there and no manifest says that plimsoll made it; \
                 choose an empty folder, or remove the file yourself"
            ),
            Self::LogInUse { folder, file } => write!(
                f,
                "{folder}: {file} is the log of another database, and a fill makes none; name \
                 another log folder in the plan, or remove the log yourself where its database is \
                 gone"
            ),
            Self::LogFolderTaken { folder, file, database } => write!(
                f,
                "{folder}: {file} says that {database} keeps its log there; name another log \
                 folder in the plan, or remove {file} yourself where that database is gone"
            ),
            Self::Gone { manifest, file } => write!(
                f,
                "{manifest}: its database {file} is gone; remove the manifest to prepare anew"
            ),
            Self::NoSpace { storage, needed, free } => write!(
                f,
                "{storage}: {needed} are needed and {free} are free; free some space, or lower \
                 `size` or `count` in the plan (for `quick`: --size)"
            ),
            Self::Fill { file, problem } => write!(f, "{file}: {problem}"),
            Self::Unanswered { what } => {
                write!(f, "{what}; the fill was not finished, and the same command starts it over")
            }
            Self::Interrupted { file } => write!(
                f,
                "{file}: its fill was interrupted; the same command starts it over and keeps the \
                 databases that are complete"
            ),
        }
    }
}

impl std::error::Error for PrepareError {}

impl From<DeviceError> for PrepareError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<ManifestError> for PrepareError {
    fn from(error: ManifestError) -> Self {
        Self::Manifest(error)
    }
}
