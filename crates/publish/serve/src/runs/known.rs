//! What is known of a run, and of which state of its journal.

use std::sync::Arc;

use crate::summary::RunLine;

/// What tells one state of a journal from the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalStamp {
    /// Its length.
    pub bytes: u64,
    /// The time of its last change, in nanoseconds since 1970, where the file system has one.
    pub changed_ns: Option<i64>,
}

/// What is known of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// Its journal is still to be read.
    Unread,
    /// Its journal says so.
    Summary(Arc<RunLine>),
    /// Its journal cannot be read, and why.
    Unreadable(String),
}
