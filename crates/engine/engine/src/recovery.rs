//! After a crash: redo what the log holds and the file lacks, and find what must be undone.
//!
//! Redo runs over its own pages, because nothing of the database may be believed before it has
//! finished. It repeats history exactly: transactions that never committed are redone as well.
//! What it finds of them - undo stacks, pending cleanups - is handed to the live engine, which
//! undoes it through the ordinary, logged way, so that a crash during recovery is one more crash.

mod ahead;
mod analysis;
mod error;
mod pages;
mod redo;

#[cfg(test)]
mod tests;

use ese::Lgpos;
use ese::flush_map::FlushMap;
use units::{Bytes, Generation, Nanos};

use crate::counters::Mended;
use crate::edit::TransactionId;
use crate::edit::Undo;
use crate::log::{LogEnd, LogIdentity};

pub use error::RecoveryError;
pub use pages::WRITES_IN_FLIGHT;
pub use redo::redo;

/// How redo uses memory and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoverySettings {
    /// Pages kept in memory at most.
    pub cache: Bytes,
    /// Page reads kept in flight.
    pub reads_in_flight: usize,
    /// How much log is read ahead of redo: it says which pages will be needed. What it holds is in
    /// memory beside the pages.
    pub read_ahead: Bytes,
    /// Longest run of neighbouring pages written with one request.
    pub longest_write: Bytes,
    /// How much log redo may be ahead of the oldest change that it has not written.
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

/// How far redo has come, for progress displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// The first generation to replay.
    pub first: Generation,
    /// The generation being replayed.
    pub current: Generation,
    /// The last one to replay.
    pub last: Generation,
}

/// What recovery did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoverySummary {
    /// First generation replayed.
    pub first: Generation,
    /// Last generation replayed.
    pub last: Generation,
    /// Where the log ended.
    pub end: Lgpos,
    /// Log records read.
    pub records: u64,
    /// Page changes made.
    pub pages_redone: u64,
    /// Page changes that the file had already.
    pub pages_skipped: u64,
    /// Pages read from the file.
    pub pages_read: u64,
    /// What went wrong with those reads and was put right.
    pub mended: Mended,
    /// Pages written to the file.
    pub pages_written: u64,
    /// Torn pages made anew from the log.
    pub pages_made_anew: u64,
    /// Transactions that had not committed and must be undone.
    pub losers: u64,
    /// Deletes of committed transactions that may still have to be cleaned up.
    pub cleanups: u64,
    /// How long redo took.
    pub redo_time: Nanos,
}

/// A transaction that had not ended when the log did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loser {
    /// Which.
    pub transaction: TransactionId,
    /// Where its first record lies. The checkpoint must stay at or before it until the rollback is
    /// durable: a crash before that needs the records again.
    pub begin: Lgpos,
    /// What to undo, one apply per push, the last one first.
    pub undo: Vec<Vec<Undo>>,
}

/// A delete of a committed transaction, whose physical removal the log cannot prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingCleanup {
    /// Where the transaction's first record lies. The checkpoint must stay at or before it until
    /// the cleanup is durable.
    pub begin: Lgpos,
    /// The delete: of a node or of a long value. It may have been cleaned up already.
    pub of: Undo,
}

/// What redo leaves to the live engine. The file holds everything that the log does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redone {
    /// Whose log it was.
    pub(crate) identity: LogIdentity,
    /// Where it ends: logging resumes in the generation behind it.
    pub(crate) end: LogEnd,
    /// Where redo began. The checkpoint stays here until losers and cleanups allow otherwise.
    pub(crate) checkpoint: Lgpos,
    /// Transactions to undo, before anything else.
    pub(crate) losers: Vec<Loser>,
    /// Deletes to clean up, once all losers are undone.
    pub(crate) cleanups: Vec<PendingCleanup>,
    /// The highest transaction number in the log; new ones must be higher.
    pub(crate) last_transaction: TransactionId,
    /// The highest database time in log and pages; new ones must be later.
    pub(crate) dbtime: u64,
    /// The flush types of the pages that redo has written; of others nothing is known.
    pub(crate) flush_map: FlushMap,
    /// What was done.
    pub summary: RecoverySummary,
}
