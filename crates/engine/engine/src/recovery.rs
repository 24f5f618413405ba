//! Recovery after a crash: redoes changes that are in the log but not in the file, and finds the
//! transactions to undo.
//!
//! Redo uses a separate set of pages, because no part of the database can be trusted before it has
//! finished. It repeats history exactly: transactions that never committed are redone as well.
//! Their undo stacks and pending cleanups are handed to the live engine, which undoes them through
//! the ordinary, logged path, so that a crash during recovery is like any other crash.

mod ahead;
mod analysis;
mod error;
mod growth;
mod pages;
mod redo;

#[cfg(test)]
mod tests;

use ese::Lgpos;
use ese::flush_map::FlushMap;
use units::{Bytes, Generation, Nanos};
use wal::edit::{TransactionId, Undo};
use wal::{LogEnd, LogIdentity};

use crate::counters::Mended;

pub use error::RecoveryError;
pub use growth::growth;
pub use pages::WRITES_IN_FLIGHT;
pub use redo::redo;

/// How redo uses memory and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoverySettings {
    /// Maximum size of the pages kept in memory.
    pub cache: Bytes,
    /// Page reads kept in flight.
    pub reads_in_flight: usize,
    /// Amount of log read ahead of redo, to find the pages that will be needed. Held in memory in
    /// addition to the pages.
    pub read_ahead: Bytes,
    /// Longest run of adjacent pages written with one request.
    pub longest_write: Bytes,
    /// How far redo may be ahead in the log of the oldest change it has not written.
    pub checkpoint_depth: Bytes,
}

impl Default for RecoverySettings {
    fn default() -> Self {
        Self {
            cache: Bytes::from_mib(256),
            reads_in_flight: 64,
            read_ahead: Bytes::from_mib(8),
            longest_write: Bytes::from_kib(512),
            checkpoint_depth: Bytes::from_mib(20),
        }
    }
}

/// Progress of redo, for displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// The first generation to replay.
    pub first: Generation,
    /// The generation being replayed.
    pub current: Generation,
    /// The last one to replay.
    pub last: Generation,
}

/// Result of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoverySummary {
    /// First generation replayed.
    pub first: Generation,
    /// Last generation replayed.
    pub last: Generation,
    /// End of the log.
    pub end: Lgpos,
    /// Log records read.
    pub records: u64,
    /// Page changes made.
    pub pages_redone: u64,
    /// Page changes that were already in the file.
    pub pages_skipped: u64,
    /// Pages read from the file.
    pub pages_read: u64,
    /// Corrected errors of those reads.
    pub mended: Mended,
    /// Pages written to the file.
    pub pages_written: u64,
    /// Torn pages rebuilt from the log.
    pub pages_made_anew: u64,
    /// Transactions that had not committed and must be undone.
    pub losers: u64,
    /// Deletes of committed transactions that may still have to be cleaned up.
    pub cleanups: u64,
    /// Duration of redo.
    pub redo_time: Nanos,
}

/// A transaction still open at the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loser {
    /// Its id.
    pub transaction: TransactionId,
    /// Position of its first record. The checkpoint must stay at or before it until the rollback is
    /// durable: a crash before that needs the records again.
    pub begin: Lgpos,
    /// Undo operations, one apply per push, the last one first.
    pub undo: Vec<Vec<Undo>>,
}

/// A delete of a committed transaction; the log cannot prove that it was physically removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingCleanup {
    /// Position of the transaction's first record. The checkpoint must stay at or before it until
    /// the cleanup is durable.
    pub begin: Lgpos,
    /// The delete: of a node or of a long value. It may have been cleaned up already.
    pub of: Undo,
}

/// Work that redo leaves to the live engine. All changes in the log are now in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redone {
    /// Identity of the replayed log.
    pub(crate) identity: LogIdentity,
    /// End of the log: logging resumes in the following generation.
    pub(crate) end: LogEnd,
    /// Start of redo. The checkpoint stays here until losers and cleanups let it advance.
    pub(crate) checkpoint: Lgpos,
    /// Transactions to undo, before anything else.
    pub(crate) losers: Vec<Loser>,
    /// Deletes to clean up, once all losers are undone.
    pub(crate) cleanups: Vec<PendingCleanup>,
    /// The highest transaction number in the log; new ones must be higher.
    pub(crate) last_transaction: TransactionId,
    /// The highest database time in log and pages; new ones must be later.
    pub(crate) dbtime: u64,
    /// Flush types of the pages that redo has written; unknown for all other pages.
    pub(crate) flush_map: FlushMap,
    /// The statistics of redo.
    pub summary: RecoverySummary,
}
