//! Summary of a run, and the state of the files behind it.

use std::sync::Arc;

use crate::summary::RunLine;

/// Distinguishes versions of a journal and of its labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalStamp {
    /// Its length.
    pub bytes: u64,
    /// The time of its last change, in nanoseconds since 1970, if the file system reports it.
    pub changed_ns: Option<i64>,
    /// The time of the last change of its labels; `None` if the run has none.
    pub labelled_ns: Option<i64>,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// Its journal has not been read yet.
    Unread,
    /// Read from its journal.
    Summary(Arc<RunLine>),
    /// Its journal cannot be read, and why.
    Unreadable(String),
}
