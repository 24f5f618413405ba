//! Activity between two samples: the unit in which a run is recorded.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FlashCacheInterval, Histogram, LogPlace, Phase, ProcessorShares};

/// A kind of request, measured from submission to completion.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    /// Reads of database pages that a transaction waited for or will need.
    DatabaseRead,
    /// Writes of database pages.
    DatabaseWrite,
    /// Writes of log segments that hold records.
    LogWrite,
    /// Writes that format the next log file before it is used.
    LogFormat,
    /// Reads of log files for replay or verification.
    LogRead,
    /// Reads of closed log files, as made for further copies of the database.
    ReplicationRead,
    /// Reads of the background maintenance scan.
    MaintenanceRead,
    /// Reads of the checksum pass.
    ChecksumRead,
    /// Reads of the backup pass.
    BackupRead,
    /// Writes of backup copies.
    BackupCopyWrite,
    /// Reads of backup copies, to verify them.
    BackupCopyRead,
    /// Writes of database headers and checkpoints.
    HeaderWrite,
    /// Requests to flush the storage's caches.
    Flush,
    /// Whole batch transactions, from start to completed commit; no bytes.
    Transaction,
}

impl Series {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DatabaseRead => "Database reads",
            Self::DatabaseWrite => "Database writes",
            Self::LogWrite => "Log writes",
            Self::LogFormat => "Log formatting",
            Self::LogRead => "Log reads",
            Self::ReplicationRead => "Replication reads",
            Self::MaintenanceRead => "Maintenance reads",
            Self::ChecksumRead => "Checksum reads",
            Self::BackupRead => "Backup reads",
            Self::BackupCopyWrite => "Writes of backup copies",
            Self::BackupCopyRead => "Reads of backup copies",
            Self::HeaderWrite => "Header writes",
            Self::Flush => "Flushes",
            Self::Transaction => "Batch transactions",
        }
    }
}

/// The requests of one kind that completed in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesInterval {
    /// Which kind.
    pub series: Series,
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Requests that failed; they are not in the histogram.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Latencies of successful requests; its count is their number.
    pub latency: Histogram,
    /// Unanswered requests.
    #[serde(default, skip_serializing_if = "Unanswered::is_none")]
    pub unanswered: Unanswered,
}

/// Facts that an interval's latencies do not show: requests unanswered at its end, and time in
/// which requests waited and none was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Unanswered {
    /// Requests unanswered at the interval's end.
    pub waiting: u64,
    /// Their mean age then.
    pub mean_age_ns: u64,
    /// The age of the oldest.
    pub oldest_ns: u64,
    /// Time within the interval covered by stalls: stretches in which requests waited and none was
    /// answered, of at least [`STALL_MINIMUM_NS`] counted from their start, even if that was in an
    /// earlier interval.
    pub stalled_ns: u64,
    /// Mean time that a request arriving at a random moment of a stall would have waited, up to the
    /// end of the stall or of the interval.
    pub stalled_wait_ns: u64,
}

/// Shortest stall; shorter waits show only in the latencies of the requests.
pub const STALL_MINIMUM_NS: u64 = 1_000_000_000;

impl Unanswered {
    /// Whether it is empty.
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Notes a stall, `span_ns` of which lies in the interval.
    pub fn note_stall(&mut self, span_ns: u64) {
        let waits = u128::from(self.stalled_ns) * u128::from(self.stalled_wait_ns);
        let waits = waits + u128::from(span_ns) * u128::from(span_ns / 2);
        self.stalled_ns += span_ns;
        let mean = waits / u128::from(self.stalled_ns.max(1));
        self.stalled_wait_ns = u64::try_from(mean).unwrap_or(u64::MAX);
    }

    /// Sum of the ages of all requests.
    fn ages_ns(&self) -> u128 {
        u128::from(self.waiting) * u128::from(self.mean_age_ns)
    }

    /// Adds the requests of `other` that waited at the same moment; stalls belong to one database
    /// each, and the longest counts.
    pub(crate) fn join(&mut self, other: Self) {
        let sum = self.ages_ns() + other.ages_ns();
        self.waiting += other.waiting;
        let mean = sum / u128::from(self.waiting.max(1));
        self.mean_age_ns = u64::try_from(mean).unwrap_or(u64::MAX);
        self.oldest_ns = self.oldest_ns.max(other.oldest_ns);
        if other.stalled_ns > self.stalled_ns {
            self.stalled_ns = other.stalled_ns;
            self.stalled_wait_ns = other.stalled_wait_ns;
        }
    }

    /// The mean latency of an interval of `span_ns`, from the answered requests (count, mean) and
    /// these unanswered ones.
    ///
    /// Unanswered requests count with their age if that raises the mean. No new request is made
    /// during a stall; the requests that would have arrived at the rate of the rest of the interval
    /// count with the wait they would have had: a load made by people does not pause because the
    /// storage does.
    pub fn mean_ns(&self, (count, mean_ns): (u64, f64), span_ns: u64) -> f64 {
        let (answered, waiting) = (count as f64, self.waiting as f64);
        let stalled_ns = self.stalled_ns as f64;
        let moving_ns = span_ns as f64 - stalled_ns;
        let missed = if self.stalled_ns > 0 && moving_ns >= 1.0 {
            answered / moving_ns * stalled_ns
        } else {
            0.0
        };
        let all = answered + waiting + missed;
        if all == 0.0 {
            return 0.0;
        }
        let waited = waiting * self.mean_age_ns as f64;
        let missed_waited = missed * self.stalled_wait_ns as f64;
        let with_all = (answered * mean_ns + waited + missed_waited) / all;
        with_all.max(mean_ns)
    }

    /// Notes a request that has waited for `age_ns` at the interval's end.
    pub fn note_waiting(&mut self, age_ns: u64) {
        let ages = u128::from(self.waiting) * u128::from(self.mean_age_ns) + u128::from(age_ns);
        self.waiting += 1;
        self.mean_age_ns = u64::try_from(ages / u128::from(self.waiting)).unwrap_or(u64::MAX);
        self.oldest_ns = self.oldest_ns.max(age_ns);
    }
}

impl SeriesInterval {
    /// No requests yet.
    pub fn new(series: Series) -> Self {
        Self {
            series,
            bytes: 0,
            errors: 0,
            latency: Histogram::new(),
            unanswered: Unanswered::default(),
        }
    }

    /// Records one successful request.
    pub fn record(&mut self, bytes: u64, latency_ns: u64) {
        self.bytes += bytes;
        self.latency.record(latency_ns);
    }
}

/// Event counts of an interval, per database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalCounters {
    /// Commits that did not wait for the log.
    pub transactions_lazy: u64,
    /// Commits that waited for the log.
    pub transactions_durable: u64,
    /// Transactions that were rolled back.
    pub transactions_rolled_back: u64,
    /// Changes refused because another transaction had changed the record first.
    pub conflicts: u64,
    /// Records inserted.
    pub inserts: u64,
    /// Records deleted.
    pub deletes: u64,
    /// Records replaced.
    pub replaces: u64,
    /// Records read.
    pub reads: u64,
    /// Database pages written (one write request may carry several).
    pub pages_written: u64,
    /// Log file bytes used up: records, headers and padding after a flush, but no formatting.
    pub log_volume_bytes: u64,
    /// Times a page had to wait for a free place in the cache.
    pub page_fault_stalls: u64,
    /// Batch transactions that began late because the target rate could not be held.
    pub late_starts: u64,
}

impl AddAssign for IntervalCounters {
    fn add_assign(&mut self, other: Self) {
        self.transactions_lazy += other.transactions_lazy;
        self.transactions_durable += other.transactions_durable;
        self.transactions_rolled_back += other.transactions_rolled_back;
        self.conflicts += other.conflicts;
        self.inserts += other.inserts;
        self.deletes += other.deletes;
        self.replaces += other.replaces;
        self.reads += other.reads;
        self.pages_written += other.pages_written;
        self.log_volume_bytes += other.log_volume_bytes;
        self.page_fault_stalls += other.page_fault_stalls;
        self.late_starts += other.late_starts;
    }
}

impl IntervalCounters {}

/// Levels at the end of an interval, per database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gauges {
    /// Cache in use.
    pub cache_bytes: u64,
    /// Changed pages that are not yet written.
    pub dirty_pages: u64,
    /// Size of the database file.
    pub file_bytes: u64,
    /// Log volume from the checkpoint to the end of the log.
    pub checkpoint_depth_bytes: u64,
    /// Unit of log writes in bytes; 0 in records of earlier releases.
    pub log_segment_bytes: u64,
    /// Everything in the log before this position was acknowledged as durable; `None` if nothing
    /// was, and in records of earlier releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_durable_to: Option<LogPlace>,
}

/// Activity of one database in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseInterval {
    /// Its index.
    pub index: u32,
    /// Requests by kind; kinds without requests are omitted.
    pub series: Vec<SeriesInterval>,
    /// Event counts.
    #[serde(default)]
    pub counters: IntervalCounters,
    /// Levels at the end.
    #[serde(default)]
    pub gauges: Gauges,
}

impl DatabaseInterval {
    /// Successful requests of a kind; whole batches for [`Series::Transaction`].
    pub fn count(&self, series: Series) -> u64 {
        let found = self.series.iter().find(|part| part.series == series);
        found.map_or(0, |part| part.latency.count())
    }
}

/// Activity of the machine in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostSample {
    /// Busy time of all processors, in percent of their total; `None` if the system does not report
    /// it, here and in the fields below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_percent: Option<f64>,
    /// Time that a hypervisor gave to others, in percent of the total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
    /// Busy time of this program, in percent of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_percent: Option<f64>,
    /// Memory available without swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_memory_bytes: Option<u64>,
    /// Memory of this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_resident_bytes: Option<u64>,
    /// Longest time before a completion was noticed.
    pub reactor_lag_maximum_ns: u64,
    /// Longest time during which the whole program did not run, because it or the machine was
    /// stopped; `None` if this was not monitored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_maximum_ns: Option<u64>,
    /// Windows: free system page-table entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_system_page_table_entries: Option<u64>,
    /// Windows: transition pages repurposed per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_pages_repurposed_per_second: Option<f64>,
    /// Windows: non-paged pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_nonpaged_bytes: Option<u64>,
    /// Windows: paged pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_paged_bytes: Option<u64>,
}

/// Everything that happened between two samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The phase it lies in.
    pub phase: Phase,
    /// Start, in nanoseconds since the start of the run.
    pub from_ns: u64,
    /// End, in nanoseconds since the start of the run.
    pub to_ns: u64,
    /// Activity of each database.
    pub databases: Vec<DatabaseInterval>,
    /// Activity of the machine; `None` in a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSample>,
    /// Processor use, as seen by the thread that writes the journal; `None` if the system does not
    /// report it, in older records and in a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Box<ProcessorShares>>,
    /// Activity of the flash cache; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_cache: Option<Box<FlashCacheInterval>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
