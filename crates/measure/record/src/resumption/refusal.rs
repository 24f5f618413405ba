//! Why an interrupted run cannot resume, and what to do.

use std::fmt;

use crate::{LoadError, TestType};

/// Why a run cannot resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotResumable {
    /// The journal cannot be loaded.
    Unreadable(LoadError),
    /// Its lines carry no hashes.
    Unsealed,
    /// It was changed after it was written.
    Altered {
        /// The first mismatching line, counted from 1.
        line: usize,
    },
    /// It has completed.
    Ended {
        /// The reason, if it ended before its plan was complete.
        reason: Option<String>,
    },
    /// It only reads, and has no position to resume from.
    OnlyReads(TestType),
    /// It does not record where a database was opened, so later use cannot be detected.
    NoAttachment {
        /// Index of the database.
        database: u32,
    },
}

impl fmt::Display for NotResumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Unsealed => write!(
                f,
                "the lines of its journal carry no hashes, so nothing shows what was measured; \
                 start the test anew"
            ),
            Self::Altered { line } => write!(
                f,
                "its journal was changed after it was written, from line {line} on; start the test \
                 anew"
            ),
            Self::Ended { reason: None } => {
                write!(f, "the run is complete; start another, or read it with `plimsoll report`")
            }
            Self::Ended { reason: Some(reason) } => {
                write!(f, "the run was ended and not cut off: {reason}; start the test anew")
            }
            Self::OnlyReads(test) => write!(
                f,
                "a test of type {} runs by no clock and has nothing to go on from; start it \
                 anew",
                test.name()
            ),
            Self::NoAttachment { database } => write!(
                f,
                "its journal does not say where database {} was opened, so nothing shows whether \
                 it was used since; start the test anew",
                database + 1
            ),
        }
    }
}

impl std::error::Error for NotResumable {}
