//! Storage requests of one database, as measured: counts, bytes and dependencies.

use units::Nanos;

use super::OperationKind;

/// The requests of a database engine under a load, measured from the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationProfile {
    /// The batches of a session, one after the other.
    pub batches: Vec<BatchShape>,
    /// Writes of the database as measured, one burst after the other.
    pub bursts: Vec<WriteBurst>,
    /// Bytes of one read of the database.
    pub read_bytes: u64,
    /// Maximum number of database writes in flight.
    pub writes_in_flight: usize,
    /// Reads wait for room once more than this many writes have not started.
    pub writes_behind: usize,
    /// Shape of the log writes.
    pub log: LogShape,
    /// Additional reads of a cold cache.
    pub cold: ColdCache,
}

/// Reads that a load makes only because its cache is initially empty. The default costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColdCache {
    /// Pages of the cache: it is warm after this many reads.
    pub pages: u64,
    /// Additional reads per read with an empty cache; they decrease to zero until it is warm.
    pub extra_reads: f64,
}

/// One batch of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchShape {
    /// Its transactions.
    pub spans: Vec<SpanShape>,
    /// Placement of its reads in order; any further ones go anywhere.
    pub reads: Vec<Placement>,
}

/// Placement of a request of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Any page, all equally likely.
    #[default]
    Anywhere,
    /// This many bytes from the start of the previous one: for a read, that of its session; for a
    /// write, that of its database.
    Near(i64),
}

/// One transaction: reads, bytes of log, a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanShape {
    /// Reads that the session waits for, one after the other.
    pub reads: u32,
    /// Reads that it does not wait for.
    pub reads_beside: u32,
    /// Changes that it makes.
    pub updates: u32,
    /// Bytes that it adds to the log.
    pub log_bytes: u64,
    /// Whether the session waits until these bytes are durable.
    pub is_durable: bool,
}

/// Writes of the database that begin at the same moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteBurst {
    /// Reads of the database since the burst before.
    pub after_reads: u32,
    /// Whether a log write begins right after it: the changes of a transaction have taken new
    /// pages, and the transaction commits.
    pub is_before_log_write: bool,
    /// The writes, in their order.
    pub writes: Vec<WriteShape>,
}

/// One write of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteShape {
    /// Its length in bytes.
    pub bytes: u64,
    /// Its placement.
    pub placement: Placement,
}

/// How the log of a database is written: one write at a time, which carries everything added until
/// then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogShape {
    /// Bytes of a log file.
    pub file_bytes: u64,
    /// Bytes of its header, which is written before anything else in the file.
    pub header_bytes: u64,
    /// Writes are multiples of this.
    pub segment_bytes: u64,
    /// Written without a flush when this many bytes are pending.
    pub write_behind_bytes: u64,
    /// Sessions wait while more than this is not written.
    pub buffer_bytes: u64,
    /// Bytes of the longest write.
    pub longest_write_bytes: u64,
    /// Writes in a million that begin right behind a read of the same moment: the session that
    /// reads and the one that commits have waited for the same page.
    pub behind_reads_per_million: u64,
    /// Requests that come with a log file, by the byte of the file after which they come.
    pub beside: Vec<RequestBeside>,
    /// How the checkpoint follows it.
    pub checkpoint: CheckpointShape,
}

/// How a checkpoint advances: by time, because a busy log must not delay it and a slow one needs it
/// too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointShape {
    /// Requests of one advance, one after the other: purpose and bytes. Empty if there is no
    /// checkpoint.
    pub requests: Vec<(OperationKind, u64)>,
    /// Time between two advances while the log grows.
    pub period: Nanos,
    /// Bytes of the log after which it advances sooner.
    pub step_bytes: u64,
}

impl Default for CheckpointShape {
    fn default() -> Self {
        Self { requests: Vec::new(), period: Nanos::from_secs(1), step_bytes: 4 << 20 }
    }
}

impl Default for LogShape {
    /// The log as the engine writes it in segments of a sector, without accompanying requests.
    fn default() -> Self {
        Self {
            file_bytes: 1 << 20,
            header_bytes: 4 << 10,
            segment_bytes: 512,
            write_behind_bytes: 512 << 10,
            buffer_bytes: 2 << 20,
            longest_write_bytes: 512 << 10,
            behind_reads_per_million: 0,
            beside: Vec::new(),
            checkpoint: CheckpointShape::default(),
        }
    }
}

/// A request that comes with the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBeside {
    /// The byte of the file after which it comes.
    pub at: u64,
    /// Number of the chain, below `RequestBeside::CHAINS`. Requests of one chain wait for each
    /// other.
    pub chain: usize,
    /// Its purpose.
    pub kind: OperationKind,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its place.
    pub place: BesidePlace,
}

impl RequestBeside {
    /// Number of chains.
    pub(crate) const CHAINS: usize = 5;

    /// The chain of the checkpoint's requests.
    pub(crate) const CHECKPOINT_CHAIN: usize = 4;
}

/// Place of a request that accompanies the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BesidePlace {
    /// This many bytes from the start of the log file in use; files before it lie at negative
    /// offsets.
    Log(i64),
    /// The start of the database.
    Header,
}

impl OperationProfile {
    /// Writes of the database for each of its reads.
    pub fn writes_per_read(&self) -> f64 {
        let reads: u64 = self.bursts.iter().map(|burst| u64::from(burst.after_reads)).sum();
        let writes: usize = self.bursts.iter().map(|burst| burst.writes.len()).sum();
        writes as f64 / reads.max(1) as f64
    }

    /// Mean of `count` over the batches.
    pub fn mean(&self, count: impl Fn(&SpanShape) -> u64) -> f64 {
        let spans = self.batches.iter().flat_map(|batch| &batch.spans);
        spans.map(count).sum::<u64>() as f64 / self.batches.len().max(1) as f64
    }
}
