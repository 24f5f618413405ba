//! The figures of an interval that a person watches.

use std::collections::BTreeMap;

use record::{DatabaseInterval, Interval, Series};

/// What one interval says, all databases together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// Database reads per second.
    pub reads_per_second: f64,
    /// Database writes per second.
    pub writes_per_second: f64,
    /// Log writes per second.
    pub log_writes_per_second: f64,
    /// Mean and worst latency of database reads.
    pub read: SampledLatency,
    /// The same of log writes.
    pub log_write: SampledLatency,
    /// Other programs that used the processors, where they used much.
    pub others: Option<String>,
}

/// Latencies of one kind of requests in one interval; none where none was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampledLatency {
    /// Mean over all databases.
    pub mean_ns: Option<f64>,
    /// The mean of the database that was slowest, which is what limits are held against.
    pub slowest_ns: Option<f64>,
}

impl Figures {
    /// Of this interval.
    pub(crate) fn of(interval: &Interval) -> Self {
        let span_ns = interval.to_ns.saturating_sub(interval.from_ns).max(1);
        let counts = counts(interval);
        let others = interval.processors.as_deref().filter(|shares| shares.has_heavy_others());
        Self {
            reads_per_second: per_second(&counts, Series::DatabaseRead, span_ns),
            writes_per_second: per_second(&counts, Series::DatabaseWrite, span_ns),
            log_writes_per_second: per_second(&counts, Series::LogWrite, span_ns),
            read: SampledLatency::of(interval, Series::DatabaseRead),
            log_write: SampledLatency::of(interval, Series::LogWrite),
            others: others.map(ToString::to_string),
        }
    }

    /// Reads and writes of database pages per second.
    pub(crate) fn iops(&self) -> f64 {
        self.reads_per_second + self.writes_per_second
    }

    /// All of it in a few words.
    pub(crate) fn words(&self) -> String {
        let others = self.others.as_deref();
        format!(
            "{:.0} reads/s at {}, {:.0} writes/s, {:.0} log writes/s at {}{}",
            self.reads_per_second,
            milliseconds(self.read.mean_ns),
            self.writes_per_second,
            self.log_writes_per_second,
            milliseconds(self.log_write.mean_ns),
            others.map_or_else(String::new, |others| format!("; {others}")),
        )
    }
}

impl SampledLatency {
    fn of(interval: &Interval, series: Series) -> Self {
        let (mut count, mut time_ns, mut slowest_ns) = (0, 0.0, None);
        for (of_one, mean_ns) in interval.databases.iter().filter_map(|one| mean_of(one, series)) {
            count += of_one;
            time_ns += mean_ns * of_one as f64;
            slowest_ns = Some(slowest_ns.map_or(mean_ns, |slowest: f64| slowest.max(mean_ns)));
        }
        Self { mean_ns: (count > 0).then(|| time_ns / count as f64), slowest_ns }
    }
}

/// Requests of a kind of one database and their mean latency; none where there were none.
fn mean_of(database: &DatabaseInterval, wanted: Series) -> Option<(u64, f64)> {
    let mine = database.series.iter().find(|series| series.series == wanted)?;
    let count = mine.latency.count();
    (count > 0).then(|| (count, mine.latency.mean_ns()))
}

/// Requests of each kind, all databases together.
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

/// A latency as people read it.
pub(super) fn milliseconds(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or_else(|| "- ms".to_owned(), |ns| format!("{:.2} ms", ns / 1e6))
}
