//! Summary of a run, and the state of the files behind it.

use std::sync::Arc;

use crate::summary::RunLine;

/// Distinguishes states of a journal and of the labels beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalStamp {
    /// Its length.
    pub bytes: u64,
    /// The time of its last change, in nanoseconds since 1970, if the file system has one.
    pub changed_ns: Option<i64>,
    /// The same of the labels beside it; none if the run was given none.
    pub labelled_ns: Option<i64>,
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
