//! The load of a replaying copy, derived from that of the active copy: the same pages are read and
//! written, no user waits, and the log arrives instead of being generated.

use simdisk::operations::{BatchShape, LogShape, OperationKind, OperationProfile, SpanShape};

/// Replay reads in flight at once.
pub(crate) const READS_AHEAD: u32 = 4;

/// Derives the profile of a copy that replays the log of one with the `active` profile.
///
/// Replay requests the pages that a stretch of log will change before it needs them: `READS_AHEAD`
/// reads are in flight at a time. The log arrives in large pieces, which are written sequentially
/// and read back. Nothing is formatted, and nothing is read for further copies.
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
