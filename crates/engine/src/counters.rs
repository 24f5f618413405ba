//! What a database counts about itself, for samplers that take differences.

use units::{Bytes, Nanos};

/// Cumulative since the database was opened, except where a field says "now".
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
    /// Write requests that carried those pages.
    pub page_write_requests: u64,
    /// Pages whose single flipped bit was repaired when they were read.
    pub pages_repaired: u64,
    /// Reads that failed or gave a page that was not right, and did well when they were repeated:
    /// what went wrong lies on the way and not on the medium.
    pub reads_mended: u64,
    /// Times that a page was read which had lost its last write, by transactions or the scan.
    pub lost_flushes: u64,
    /// Times that a page fault had to wait because no page of the cache was free.
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
    /// Page splits, vertical splits included.
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
    /// The log volume: bytes of log files used up, fill and headers included.
    pub log_volume: Bytes,
    /// Bytes written to log files, formatting of next files included.
    pub log_bytes_written: Bytes,
    /// Log write requests.
    pub log_writes: u64,
    /// Flushes of the database file.
    pub database_flushes: u64,
    /// Pages verified by the maintenance scan.
    pub maintenance_pages: u64,
    /// Pages of those that were not as they had been written. A write of the page in flight at the
    /// same moment can show here too: check the file when the run is over.
    pub maintenance_bad_pages: u64,
    /// Whole passes of the maintenance scan.
    pub maintenance_passes: u64,
}
