//! Events of the operation model on a published array, counted and timed.

use std::time::{Duration, Instant};

use simdisk::ArrayDescription;
use simdisk::operations::{
    BatchShape, ColdCache, LoadedDatabase, LogShape, OperationLoad, OperationPlace,
    OperationProfile, OperationRun, Placement, ScanShape, SpanShape, WriteBurst, WriteShape,
};
use units::{Nanos, Seed};

use xtask::failure::Failure;

/// The simulated array: the one of the published run.
const ARRAY: &str = include_str!("../../../../arrays/vnxe3300.toml");

const DATABASE_BYTES: u64 = 900 << 30;

/// Counts the events of a load like the published one in `span` of virtual time, and measures how
/// long they take.
pub(crate) fn counted(span: Nanos) -> Result<(u64, Duration), Failure> {
    let array = ArrayDescription::parse("vnxe3300", ARRAY, &[]).map_err(Failure::of)?;
    let profile = profile();
    let databases = [0, 1].map(|number| {
        let base = number * (DATABASE_BYTES + (64 << 30));
        let place = OperationPlace { array: 0, base, bytes: DATABASE_BYTES };
        let log = OperationPlace { array: 0, base: base + DATABASE_BYTES, bytes: 32 << 30 };
        LoadedDatabase { sessions: 3, place, log, pace: None, profile: None }
    });
    let load = OperationLoad {
        profile: &profile,
        databases: databases.into(),
        rest_percent: 100,
        scan: Some(ScanShape { pause: Nanos::from_micros(31_200), bytes: 256 << 10 }),
        processors: None,
    };
    let mut run = OperationRun::new(&[array], load, Seed(1)).map_err(Failure::of)?;
    let begun = Instant::now();
    run.advance(span, &mut |_| ());
    Ok((run.events(), begun.elapsed()))
}

/// A published batch: 20 reads, each with 0.6 page writes and 2.6 KB of log; every second
/// transaction is durable.
pub(crate) fn profile() -> OperationProfile {
    let span = |is_durable| SpanShape {
        reads: 2,
        reads_beside: 0,
        updates: 4,
        log_bytes: 5_200,
        is_durable,
    };
    let write = WriteShape { bytes: 32 << 10, placement: Placement::Anywhere };
    let spans = (0..10).map(|number| span(number % 2 == 0)).collect();
    OperationProfile {
        batches: vec![BatchShape { spans, reads: Vec::new() }],
        bursts: vec![WriteBurst {
            after_reads: 20,
            writes: vec![write; 12],
            ..WriteBurst::default()
        }],
        read_bytes: 32 << 10,
        writes_in_flight: 32,
        writes_behind: 1_000,
        log: LogShape::default(),
        cold: ColdCache::default(),
    }
}
