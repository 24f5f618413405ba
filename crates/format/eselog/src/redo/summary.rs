//! Result of a replay, and the pages that it could not bring up to date.

use std::collections::BTreeMap;
use std::fmt;

use ese::Lgpos;
use ese::page::PageError;
use units::{ObjectId, PageNumber};

use super::DeletedRows;
use crate::layout::Field;
use crate::record::LogRecord;

/// Why a page could not be brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BehindCause {
    /// Its checksum is wrong.
    Damaged,
    /// It has lost earlier changes.
    TooOld {
        /// The database time that it states; 0 for a page that was never written.
        stated: u64,
        /// The database time expected.
        expected: u64,
    },
    /// It has changes that the log does not contain.
    TooNew {
        /// The database time that it states.
        stated: u64,
        /// The database time expected.
        expected: u64,
    },
    /// The change does not fit the content of the page.
    Impossible(PageError),
    /// The image or the difference in the record cannot be unpacked.
    BadRecord,
    /// A record of a type that engines of this format do not write.
    OldRecord,
    /// It is so far past the end of the file that its number must be wrong.
    BeyondFile,
    /// It depends on another page that could not be brought up to date.
    DependsOn(PageNumber),
    /// An uncommitted change could not be undone: its row is not where its tree places it.
    NotUndone,
}

impl fmt::Display for BehindCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("its checksum is wrong"),
            Self::TooOld { stated: 0, .. } => f.write_str("it was never written"),
            Self::TooOld { stated, expected } => write!(
                f,
                "it lacks changes: its database time is {stated:#x} instead of {expected:#x}"
            ),
            Self::TooNew { stated, expected } => write!(
                f,
                "it has changes that this log does not know of: its database time is {stated:#x} \
                 instead of {expected:#x}"
            ),
            Self::Impossible(error) => write!(f, "the change does not fit: {error}"),
            Self::BadRecord => f.write_str("the record cannot be unpacked"),
            Self::OldRecord => f.write_str("the record is of a type that is no longer written"),
            Self::BeyondFile => f.write_str("it is far behind the end of the file"),
            Self::DependsOn(page) => write!(f, "it was made of page {page}, which is behind"),
            Self::NotUndone => f.write_str("a change that was not committed could not be undone"),
        }
    }
}

/// A page that the replay could not bring up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The first record that could not be applied to it.
    pub place: Lgpos,
    /// The cause.
    pub cause: BehindCause,
}

/// Result of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplaySummary {
    /// Records read.
    pub records: u64,
    /// Number of page changes applied.
    pub changes_made: u64,
    /// Changes that pages had already.
    pub changes_present: u64,
    /// Number of uncommitted transactions that were undone.
    pub transactions_undone: u64,
    /// Changes that were undone.
    pub changes_undone: u64,
    /// Transactions that are open at the end.
    pub open_transactions: usize,
    /// Pages that could not be brought up to date.
    pub behind: BTreeMap<PageNumber, Behind>,
    /// The highest database time.
    pub dbtime: u64,
    /// The highest object identifier.
    pub last_object: ObjectId,
    /// The highest page created.
    pub last_page: PageNumber,
    /// The last record.
    pub end: Lgpos,
    /// Format version, update and minor update, if a record has changed them.
    pub format: Option<[u32; 3]>,
    /// Rows that were deleted and not restored by undo; `None` unless requested.
    pub deleted: Option<DeletedRows>,
}

impl ReplaySummary {
    pub(super) fn note(&mut self, record: &LogRecord<'_>) {
        self.records += 1;
        self.end = record.place();
    }

    pub(super) fn set_version(&mut self, record: &LogRecord<'_>) {
        let fields = [Field::FormatVersion, Field::FormatUpdate, Field::FormatUpdateMinor];
        let numbers = fields.map(|field| u32::try_from(record.number(field)).unwrap_or_default());
        self.format = Some(numbers);
    }
}
