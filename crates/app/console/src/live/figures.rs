//! Figures of one interval, as shown during a live run.

use std::collections::BTreeMap;

use record::{Interval, Series};

use super::latency::SampledLatency;

/// Figures of one interval, summed over all databases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Database reads per second.
    pub reads_per_second: f64,
    /// Database writes per second.
    pub(crate) writes_per_second: f64,
    /// Log writes per second.
    pub(crate) log_writes_per_second: f64,
    /// Mean and worst latency of database reads.
    pub(crate) read: SampledLatency,
    /// Mean and worst latency of database writes.
    pub(crate) write: SampledLatency,
    /// Mean and worst latency of log writes.
    pub(crate) log_write: SampledLatency,
    /// Other programs with considerable processor use, if any.
    pub others: Option<String>,
}

impl Figures {
    /// Sums up an interval.
    pub fn of(interval: &Interval) -> Self {
        let span_ns = interval.to_ns.saturating_sub(interval.from_ns).max(1);
        let counts = counts(interval);
        let others = interval.processors.as_deref().filter(|shares| shares.has_heavy_others());
        Self {
            reads_per_second: per_second(&counts, Series::DatabaseRead, span_ns),
            writes_per_second: per_second(&counts, Series::DatabaseWrite, span_ns),
            log_writes_per_second: per_second(&counts, Series::LogWrite, span_ns),
            read: SampledLatency::of(interval, Series::DatabaseRead),
            write: SampledLatency::of(interval, Series::DatabaseWrite),
            log_write: SampledLatency::of(interval, Series::LogWrite),
            others: others.map(ToString::to_string),
        }
    }

    /// Reads and writes of database pages per second.
    pub(crate) fn iops(&self) -> f64 {
        self.reads_per_second + self.writes_per_second
    }

    /// All figures in a few words.
    pub fn words(&self) -> String {
        let others = self.others.as_deref();
        format!(
            "{:.0} reads/s at {}, {:.0} writes/s, {:.0} log writes/s at {}{}",
            self.reads_per_second,
            self.read,
            self.writes_per_second,
            self.log_writes_per_second,
            self.log_write,
            others.map_or_else(String::new, |others| format!("; {others}")),
        )
    }
}

/// Requests of each kind, summed over all databases.
fn counts(interval: &Interval) -> BTreeMap<Series, u64> {
    let mut counts = BTreeMap::new();
    for series in interval.databases.iter().flat_map(|database| &database.series) {
        *counts.entry(series.series).or_default() += series.latency.count();
    }
    counts
}

fn per_second(counts: &BTreeMap<Series, u64>, series: Series, span_ns: u64) -> f64 {
    counts.get(&series).map_or(0.0, |count| *count as f64 * 1e9 / span_ns as f64)
}
