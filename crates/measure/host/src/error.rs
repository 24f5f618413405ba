//! Why work on this machine ended without a result: one sentence that names the subject and the
//! remedy.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use plan::{Complaint, PlanError};

use crate::target::TargetError;

/// Why work ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// Work could not be done: a sentence that names the subject and the remedy.
    Sentence(String),
    /// A file is at fault, not the request.
    Damage(String),
    /// Only options of the command line are at fault.
    Usage(String),
    /// A simulated design is at fault, on whichever machine it is tried.
    Design(String),
}

impl HostError {
    /// An error with this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self::Sentence(sentence.into())
    }

    /// The same error, attributed to the design that cannot be simulated.
    pub(crate) fn of_design(self) -> Self {
        Self::Design(self.to_string())
    }

    /// [`Self::file`] as a function of the error, for several operations on one file.
    pub(crate) fn of_file(path: &Path, doing: &str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::file(path, doing, &error)
    }

    /// A failed operation of the standard library on `path`, with the remedy if there is one.
    pub fn file(path: &Path, doing: &str, error: &io::Error) -> Self {
        if let Some(told) = error.get_ref().filter(|inner| inner.is::<TargetError>()) {
            // Its message already names the place and the remedy.
            return Self::new(told.to_string());
        }
        let remedy = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => "check the path",
            io::ErrorKind::PermissionDenied => {
                "run as a user who may do that, or choose another place"
            }
            io::ErrorKind::ReadOnlyFilesystem => "mount it for writing, or choose another place",
            io::ErrorKind::InvalidInput => "name a file on a disk",
            io::ErrorKind::InvalidData => "save it as text in UTF-8",
            io::ErrorKind::StorageFull => "free some space, or choose another place",
            io::ErrorKind::IsADirectory => "name a file in it",
            io::ErrorKind::NotADirectory => "name a folder",
            // Symbolic links in a circle have no stable name yet.
            _ => "check the path, then the disk and the system log",
        };
        Self::new(format!("{}: cannot {doing}: {error}; {remedy}", path.display()))
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(text) | Self::Damage(text) | Self::Usage(text) | Self::Design(text) => {
                f.write_str(text)
            }
        }
    }
}

impl Error for HostError {}

/// A plan may be another person's; an option that replaces a key of it is the
/// caller's.
impl From<PlanError> for HostError {
    fn from(error: PlanError) -> Self {
        let is_option = |of: &Complaint| of.line == 0 && of.key.starts_with("--");
        if error.complaints.iter().all(is_option) {
            return Self::Usage(error.to_string());
        }
        Self::new(error.to_string())
    }
}

/// Converts errors that already are sentences naming the subject and the remedy.
macro_rules! sentences {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for HostError {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        })+
    };
}

sentences!(
    io::Error,
    TargetError,
    device::DeviceError,
    trial::prepare::PrepareError,
    trial::room::Shortage,
);
