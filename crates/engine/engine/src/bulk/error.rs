//! Errors of a fill, in words an operator can act on.

use std::fmt;

use device::DeviceError;
use ese::key::KeyError;
use ese::record::RecordError;

use super::tree::EntryProblem;

/// Why a row cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowProblem {
    /// A value does not fit its column.
    Record(RecordError),
    /// A value has no key.
    Key(KeyError),
    /// A key is not greater than that of the row before.
    Unordered,
    /// The record does not fit on a page.
    TooLarge,
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Unordered => f.write_str(
                "a key is not greater than the one before it; rows of a fill come in key order",
            ),
            Self::TooLarge => f.write_str("the record does not fit on a page; choose larger pages"),
        }
    }
}

impl From<RecordError> for RowProblem {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<KeyError> for RowProblem {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<EntryProblem> for RowProblem {
    fn from(problem: EntryProblem) -> Self {
        match problem {
            EntryProblem::Unordered => Self::Unordered,
            EntryProblem::TooLarge => Self::TooLarge,
        }
    }
}

/// Why a database file could not be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BulkError {
    /// A file operation failed.
    Device(DeviceError),
    /// The source of the rows aborted the fill.
    BrokenOff {
        /// The file.
        file: String,
    },
    /// The table cannot be filled.
    Schema {
        /// The file.
        file: String,
        /// The problem with the table.
        problem: String,
    },
    /// A row cannot be stored.
    Row {
        /// The file.
        file: String,
        /// Number of the row, counted from 0.
        row: u64,
        /// The problem with it.
        problem: RowProblem,
    },
}

impl fmt::Display for BulkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::BrokenOff { file } => write!(f, "{file}: its fill was broken off; fill it anew"),
            Self::Schema { file, problem } => {
                write!(f, "{file}: the table cannot be filled: {problem}")
            }
            Self::Row { file, row, problem } => write!(f, "{file}: row {row}: {problem}"),
        }
    }
}

impl std::error::Error for BulkError {}

impl From<DeviceError> for BulkError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}
