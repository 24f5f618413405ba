//! Summary of a run, and the state of the journal behind it.

use std::sync::Arc;

use crate::summary::RunLine;

/// Distinguishes states of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalStamp {
    /// Its length.
    pub bytes: u64,
    /// The time of its last change, in nanoseconds since 1970, if the file system has one.
    pub changed_ns: Option<i64>,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// Its journal is still to be read.
    Unread,
    /// Read from its journal.
    Summary(Arc<RunLine>),
    /// Its journal cannot be read, and why.
    Unreadable(String),
}
