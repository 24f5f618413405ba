//! Results of an interval, the basis of the search for the best number of sessions.

use record::{DatabaseInterval, Series};

/// Results of an interval, over databases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Database reads and writes of transactions.
    pub requests: u64,
    /// Database reads among them.
    pub reads: u64,
    /// Their total latency, in nanoseconds.
    pub read_nanos: u64,
    /// Log writes.
    pub log_writes: u64,
    /// Their total latency, in nanoseconds.
    pub log_write_nanos: u64,
    /// Pages that had to wait for a free place in the cache.
    pub page_fault_stalls: u64,
}

impl Sums {
    pub(crate) fn of(databases: &[DatabaseInterval]) -> Self {
        let stalls = databases.iter().map(|database| database.counters.page_fault_stalls);
        let mut sums = Self { page_fault_stalls: stalls.sum(), ..Self::default() };
        for series in databases.iter().flat_map(|database| &database.series) {
            let count = series.latency.count();
            let nanos = whole(series.latency.mean_ns() * count as f64);
            match series.series {
                Series::DatabaseRead => {
                    sums.requests += count;
                    sums.reads += count;
                    sums.read_nanos += nanos;
                }
                Series::DatabaseWrite => sums.requests += count,
                Series::LogWrite => {
                    sums.log_writes += count;
                    sums.log_write_nanos += nanos;
                }
                _ => {}
            }
        }
        sums
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of latencies is positive and far below 2^63 ns"
)]
const fn whole(nanos: f64) -> u64 {
    nanos as u64
}
