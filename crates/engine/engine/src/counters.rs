//! Counters of a database, for samplers that take differences.

use ese::Lgpos;
use units::{Bytes, Nanos};

/// Corrected read errors of the file. The load continues regardless; a report must mention them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Reads that failed but succeeded on retry.
    pub failed_reads: u64,
    /// Reads of wrong data that succeeded on retry: the fault is in the path, not on the medium.
    pub wrong_reads: u64,
    /// Pages with a single flipped bit, corrected by their checksum.
    pub flipped_bits: u64,
}

impl Mended {
    /// Reads that succeeded on retry.
    pub const fn reads(&self) -> u64 {
        self.failed_reads + self.wrong_reads
    }

    /// The sum of both, such as those of recovery and of the load after it.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            failed_reads: self.failed_reads + other.failed_reads,
            wrong_reads: self.wrong_reads + other.wrong_reads,
            flipped_bits: self.flipped_bits + other.flipped_bits,
        }
    }

    /// Records a read that succeeded on retry; `was_wrong` if an earlier attempt got a wrong page.
    pub(crate) const fn note_read(&mut self, was_wrong: bool) {
        if was_wrong {
            self.wrong_reads += 1;
        } else {
            self.failed_reads += 1;
        }
    }
}

/// Cumulative since the database was opened, unless a field says "now".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages looked up in the cache.
    pub page_requests: u64,
    /// Lookups that found the page.
    pub page_hits: u64,
    /// Pages read from the file.
    pub pages_read: u64,
    /// Pages written to the file.
    pub pages_written: u64,
    /// Requests that wrote those pages.
    pub page_write_requests: u64,
    /// Corrected read errors of transactions and the scan.
    pub mended: Mended,
    /// Number of times that transactions or the scan read a page that had lost its last write.
    pub lost_flushes: u64,
    /// Number of times that a page fault had to wait because no cache page was free.
    pub page_fault_stalls: u64,
    /// Time spent in those waits, summed over sessions.
    pub page_fault_stall_time: Nanos,
    /// Pages evicted.
    pub evictions: u64,
    /// Evicted pages that had to be written first.
    pub dirty_evictions: u64,
    /// Bytes of pages in the cache, now.
    pub cache_bytes: Bytes,
    /// Changed pages not yet written, now.
    pub dirty_pages: u64,
    /// Length of the database file, now.
    pub file_bytes: Bytes,
    /// Log between the checkpoint and the newest record, now.
    pub checkpoint_depth: Bytes,
    /// Unit of log writes, in bytes.
    pub log_segment: Bytes,
    /// Log position up to which everything is on stable storage, now.
    pub log_durable_to: Lgpos,
    /// Page splits, including vertical ones.
    pub splits: u64,
    /// Pages merged into a neighbour or removed because they were empty.
    pub merges: u64,
    /// Rows inserted.
    pub inserts: u64,
    /// Rows replaced.
    pub replaces: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Rows read by key.
    pub reads: u64,
    /// Commits that did not wait for the log.
    pub lazy_commits: u64,
    /// Commits that waited until the log was durable.
    pub durable_commits: u64,
    /// Transactions rolled back.
    pub rollbacks: u64,
    /// Updates refused because another transaction had changed the row.
    pub conflicts: u64,
    /// Flag-deleted rows and released long values physically removed.
    pub cleanups: u64,
    /// Log volume: bytes of log files used up, including fill and headers.
    pub log_volume: Bytes,
    /// Bytes written to log files, including the formatting of next files.
    pub log_bytes_written: Bytes,
    /// Log write requests.
    pub log_writes: u64,
    /// Log files begun.
    pub log_generations: u64,
    /// Flushes of the database file.
    pub database_flushes: u64,
    /// Pages verified by the maintenance scan.
    pub maintenance_pages: u64,
    /// Those that differed from their last write, each once; lost writes count as lost flushes.
    pub maintenance_bad_pages: u64,
    /// Whole passes of the maintenance scan.
    pub maintenance_passes: u64,
}
