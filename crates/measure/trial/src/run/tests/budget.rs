//! The requests of a batch transaction depend only on the load and the engine: storage that is a
//! hundred times slower receives no more of them.

use record::{Event, Phase, Series};
use units::Nanos;

use super::{fill, run_once};
use crate::testing::World;

/// Measured time, in latencies of the storage: some 1200 batches.
const SPAN: u64 = 12_000;

/// Per batch: database reads and pages written.
struct Cost {
    reads: f64,
    written: f64,
}

/// Runs the load on databases 20 times its cache, and counts once the log is longer than the
/// checkpoint depth.
fn cost(latency: Nanos) -> Cost {
    let span = latency.0 * SPAN / 1_000_000;
    let text = format!(
        "seed = 7\n[databases]\nfolders = [\"a\"]\nsize = \"160MiB\"\n\
         [engine]\ncache_minimum = \"8MiB\"\ncache_maximum = \"8MiB\"\n\
         checkpoint_depth = \"5MiB\"\n\
         [workload]\nthreads = 4\n\
         [test]\nduration = \"{span}ms\"\ninterval = \"{}ms\"\n\
         checksum = false\nmaintenance = false\n",
        span / 4,
    );
    let world = fill(World::with_latency(&text, latency..Nanos(latency.0 * 2)));
    let (_, events) = run_once(&world, None);
    let measured = events.iter().filter_map(|event| match event {
        Event::Interval(interval) if interval.phase == Phase::Measure => Some(interval),
        _ => None,
    });
    let (mut batches, mut reads, mut written) = (0, 0, 0);
    for interval in measured.skip(1) {
        let database = &interval.databases[0];
        batches += database.count(Series::Transaction);
        written += database.counters.pages_written;
        reads += database.count(Series::DatabaseRead);
    }
    assert!(batches > 500, "{batches} batches are too few to tell");
    Cost { reads: reads as f64 / batches as f64, written: written as f64 / batches as f64 }
}

#[test]
fn slow_storage_is_asked_for_no_more_than_fast_storage() {
    let [fast, slow] = [Nanos::from_micros(100), Nanos::from_millis(10)].map(cost);
    for cost in [&fast, &slow] {
        let Cost { reads, written } = cost;
        assert!((17.0..23.0).contains(reads), "{reads} reads per batch");
        assert!((11.7..15.7).contains(written), "{written} pages per batch");
    }
    let differs = |one: f64, other: f64| (one / other - 1.0).abs() > 0.05;
    assert!(!differs(slow.reads, fast.reads), "{} {}", slow.reads, fast.reads);
    assert!(!differs(slow.written, fast.written), "{} {}", slow.written, fast.written);
}
