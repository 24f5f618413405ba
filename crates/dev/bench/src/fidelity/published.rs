//! Published results: the runs whose individual counters are known.

use std::ops::RangeInclusive;

use plan::Preset;
use units::Nanos;

/// A published run, and the conditions under which its counterpart here is counted.
pub(super) struct Case {
    /// Name of the published run.
    pub name: &'static str,
    /// The preset that reproduces it.
    pub preset: Preset,
    /// Sessions of each database.
    pub threads: u32,
    /// Published average of database reads; every read of the counterpart takes exactly this long.
    pub read_latency: Nanos,
    /// Published average of log writes; every log write of the counterpart takes exactly this long.
    pub log_latency: Nanos,
    /// Log writes per batch, including formatting.
    pub log_writes: RangeInclusive<f64>,
    /// Pages written per batch.
    pub pages_written: RangeInclusive<f64>,
    /// Average length of log writes, in bytes.
    pub log_write_bytes: RangeInclusive<f64>,
    /// Pause between two maintenance reads, in milliseconds.
    pub maintenance_pause: RangeInclusive<f64>,
}

/// Two databases of 995 GB on seven disks under Jetstress 2010, with 3 and with 6 threads per
/// database (averages of both databases); one of 186 GB on flash under Jetstress 2013, with 12
/// threads. A batch wrote 13.3 to 14.2 pages in the first two runs, and 17.0 to 17.2 in the third,
/// whose database is small relative to its cache (16.3 requests of 34,500 bytes, 1.23 reads each).
pub(super) const CASES: [Case; 3] = [
    Case {
        name: "Jetstress 2010, 3 threads",
        preset: Preset::Exchange2010,
        threads: 3,
        read_latency: Nanos::from_micros(12_774),
        log_latency: Nanos::from_micros(3_553),
        log_writes: 8.5..=10.5,
        pages_written: 11.7..=15.7,
        log_write_bytes: 5_000.0..=5_600.0,
        maintenance_pause: 19.5..=20.5,
    },
    Case {
        name: "Jetstress 2010, 6 threads",
        preset: Preset::Exchange2010,
        threads: 6,
        read_latency: Nanos::from_micros(18_037),
        log_latency: Nanos::from_micros(5_819),
        log_writes: 6.5..=9.0,
        pages_written: 11.7..=15.7,
        log_write_bytes: 5_600.0..=7_400.0,
        maintenance_pause: 19.5..=20.5,
    },
    Case {
        name: "Jetstress 2013, 12 threads",
        preset: Preset::Exchange2013,
        threads: 12,
        read_latency: Nanos::from_micros(8_900),
        log_latency: Nanos::from_micros(5_200),
        log_writes: 1.8..=2.3,
        pages_written: 15.1..=19.1,
        log_write_bytes: 24_000.0..=27_000.0,
        maintenance_pause: 99.5..=100.5,
    },
];
