//! The load of a copy that replays, from the load of the active copy: the same pages are read and
//! written, no user waits, and the log arrives instead of being made.

use simdisk::operations::{BatchShape, LogShape, OperationKind, OperationProfile, SpanShape};

/// Reads of replay under way at a time.
pub(crate) const READS_AHEAD: u32 = 4;

/// The profile of a copy that replays what one of `active` logs.
///
/// Replay asks for the pages that a stretch of log will change before it needs them:
/// `READS_AHEAD` of its reads are under way at a time. The log comes in large pieces, which are
/// written one after the other and read back. Nothing is formatted, and nothing is read for further
/// copies.
pub fn replay_of(active: &OperationProfile) -> OperationProfile {
    let batches = active.batches.iter().map(|batch| {
        let spans = batch.spans.iter();
        let reads = spans.clone().map(|span| span.reads + span.reads_beside).sum();
        let log_bytes = spans.clone().map(|span| span.log_bytes).sum();
        let updates = spans.map(|span| span.updates).sum();
        let span = SpanShape { reads, reads_beside: 0, updates, log_bytes, is_durable: false };
        BatchShape { spans: vec![span], reads: batch.reads.clone() }
    });
    let beside = active.log.beside.iter().filter(|of| is_kept(of.kind)).copied().collect();
    OperationProfile {
        batches: batches.collect(),
        log: LogShape { beside, ..active.log.clone() },
        ..active.clone()
    }
}

/// Whether replay keeps a log operation of the active copy.
const fn is_kept(kind: OperationKind) -> bool {
    matches!(kind, OperationKind::LogRead | OperationKind::HeaderWrite | OperationKind::Flush)
}
