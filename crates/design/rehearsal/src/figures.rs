//! Observations of copies and arrays in one piece of the timeline.

use simdisk::operations::{ArrayUsage, OperationAnswer, OperationKind};
use units::Nanos;

/// Requests of one kind: their number and total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestSum {
    /// Number of requests.
    pub count: u64,
    /// Sum of their latencies, in nanoseconds.
    pub nanoseconds: u64,
}

impl RequestSum {
    /// Adds a request.
    pub(crate) const fn add(&mut self, latency: Nanos) {
        self.count += 1;
        self.nanoseconds += latency.0;
    }

    /// Adds another sum.
    pub(crate) const fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.nanoseconds += other.nanoseconds;
    }

    /// Mean in milliseconds; `None` without requests.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.nanoseconds as f64 / self.count as f64 / 1e6)
    }
}

/// Requests of one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyFigures {
    /// Reads of the active copy that users wait for, or cause.
    pub(crate) reads: RequestSum,
    /// Those of the reads that a warm cache would have answered.
    pub warming: u64,
    /// Page writes of the active copy.
    pub(crate) writes: RequestSum,
    /// Log writes of the active copy.
    pub(crate) log_writes: RequestSum,
    /// Reads and page writes of replay.
    pub(crate) replay: RequestSum,
}

impl CopyFigures {
    pub(crate) fn note(&mut self, answer: &OperationAnswer, is_replay: bool) {
        self.warming += u64::from(answer.is_warming);
        let sum = match (answer.kind, is_replay) {
            (OperationKind::DatabaseRead | OperationKind::DatabaseWrite, true) => &mut self.replay,
            (OperationKind::DatabaseRead, false) => &mut self.reads,
            (OperationKind::DatabaseWrite, false) => &mut self.writes,
            (OperationKind::LogWrite, false) => &mut self.log_writes,
            _ => return,
        };
        sum.add(answer.latency);
    }

    /// Adds the figures of another copy or time.
    pub(crate) const fn merge(&mut self, other: &Self) {
        self.reads.merge(other.reads);
        self.warming += other.warming;
        self.writes.merge(other.writes);
        self.log_writes.merge(other.log_writes);
        self.replay.merge(other.replay);
    }
}

/// Utilisation of an array's parts, 0 to 1: busy shares of the time, and the fill level of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageShares {
    /// Its busiest drive.
    pub drives: f64,
    /// Fill level of its write memory.
    pub cache: f64,
    /// Its links.
    pub link: f64,
    /// The processors of its front end.
    pub processors: f64,
}

/// The part with the highest utilisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitingPart {
    /// The drives.
    Drives,
    /// The memory for writes.
    Cache,
    /// The links.
    Link,
    /// The processors of the front end.
    Processors,
}

impl LimitingPart {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drives => "disks",
            Self::Cache => "cache",
            Self::Link => "link",
            Self::Processors => "processors",
        }
    }
}

/// Fill level of memory above which writes wait for the drives.
const FULL: f64 = 0.98;

impl UsageShares {
    /// Returns an array's shares between two moments that are `span` apart.
    pub(crate) fn between(before: &ArrayUsage, after: &ArrayUsage, span: Nanos) -> Self {
        Self {
            drives: busy_share(before.drive_ns, after.drive_ns, span),
            cache: after.memory_filled.unwrap_or(0.0),
            link: busy_share(before.link_ns, after.link_ns, span),
            processors: busy_share(before.front_end_ns, after.front_end_ns, span),
        }
    }

    /// The larger share of each part.
    #[must_use]
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            drives: self.drives.max(other.drives),
            cache: self.cache.max(other.cache),
            link: self.link.max(other.link),
            processors: self.processors.max(other.processors),
        }
    }

    /// Returns the limiting part: memory if it is full and the drives are not saturated, otherwise
    /// the busiest of the other parts.
    pub fn limit(self) -> LimitingPart {
        if self.cache >= FULL && self.drives < FULL {
            return LimitingPart::Cache;
        }
        let parts = [
            (self.drives, LimitingPart::Drives),
            (self.link, LimitingPart::Link),
            (self.processors, LimitingPart::Processors),
        ];
        let busiest = parts.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        busiest.map_or(LimitingPart::Drives, |(_, limit)| limit)
    }
}

/// The busy nanoseconds between two counts, as a share of `span`.
fn busy_share(before: u64, after: u64, span: Nanos) -> f64 {
    (after.saturating_sub(before) as f64 / span.0.max(1) as f64).min(1.0)
}

/// Which part of a stretch a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Its start, while queues and the caches of newly active copies fill.
    Transition,
    /// A piece that represents the rest of a stretch, or the time until something else changes.
    Steady,
}

/// A piece of one group's timeline, at most a minute of which is played.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlayedPiece {
    /// Number of its stretch.
    pub stretch: usize,
    /// Its start in the timeline.
    pub from: Nanos,
    /// Its end; the piece represents the time up to it.
    pub to: Nanos,
    /// Duration that was played.
    pub played: Nanos,
    /// Which part of its stretch it is.
    pub(crate) kind: PieceKind,
    /// Arrays of the group with a lost or rebuilding drive.
    pub degraded: Vec<usize>,
    /// The figures of each copy of the group.
    pub(crate) copies: Vec<CopyFigures>,
    /// Utilisation of each array of the group.
    pub usage: Vec<UsageShares>,
}
