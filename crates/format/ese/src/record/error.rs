//! Why a record could not be written or read.

use std::fmt;

use crate::schema::ColumnId;

/// Why a record could not be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The table has no such column.
    NoColumn {
        /// The column asked for.
        column: ColumnId,
    },
    /// The value does not match the size of its column.
    WrongSize {
        /// The column.
        column: ColumnId,
        /// Bytes of the value.
        bytes: usize,
        /// Exact or maximum size of the column in bytes.
        expected: usize,
    },
    /// The record is too long for its own offsets.
    TooLong {
        /// Bytes of the record.
        bytes: usize,
        /// Maximum length in bytes that offsets reach.
        most: usize,
    },
    /// The bytes do not form a record.
    Damaged {
        /// The part of the record that is inconsistent with the others.
        part: &'static str,
    },
    /// A tagged column repeats or precedes the previous one.
    TagOrder {
        /// The column.
        column: ColumnId,
    },
    /// The offset of a tagged column is not past the array, or precedes that of the previous
    /// column.
    TagOffset {
        /// The column.
        column: ColumnId,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn { column } => write!(f, "the table has no column {column}"),
            Self::WrongSize { column, bytes, expected } => {
                write!(f, "column {column} takes {expected} bytes and was given {bytes}")
            }
            Self::TooLong { bytes, most } => write!(
                f,
                "a record of {bytes} bytes is longer than {most}; \
                 keep long columns apart as long values"
            ),
            Self::Damaged { part } => {
                write!(f, "the record's {part} contradicts its length; restore from a copy")
            }
            Self::TagOrder { column } => {
                write!(f, "tagged column {column} is out of order; restore from a copy")
            }
            Self::TagOffset { column } => {
                write!(f, "tagged column {column} has a bad offset; restore from a copy")
            }
        }
    }
}

impl std::error::Error for RecordError {}
