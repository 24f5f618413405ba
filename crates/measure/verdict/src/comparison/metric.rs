//! Metrics of a comparison: their values for a run, and for its intervals to get the spread.

use record::{FlashCacheInterval, IntervalRow, PhaseTotals, Series, SeriesRow, SeriesTotal};

/// A number common to all runs of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name for programs.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Unit of the number.
    pub unit: &'static str,
    /// Its glossary entry.
    pub glossary: &'static str,
    /// Whether more is better; `None` if neither direction is.
    pub more_is_better: Option<bool>,
    /// Its source in the record.
    pub(super) quantity: MetricSource,
}

/// How a metric is computed, from totals or from an interval.
#[derive(Clone, Copy, Debug)]
pub(super) enum MetricSource {
    /// Requests of these kinds per second.
    Rate(&'static [Series]),
    /// Mean latency in milliseconds.
    MeanLatency(Series),
    /// The 99th percentile of latencies in milliseconds.
    TailLatency(Series),
    /// MiB per second.
    Throughput(Series),
    /// Mean size of these kinds of requests in KiB.
    Size(&'static [Series]),
    /// Busy time of all processors, in percent.
    Processors,
    /// Page reads served from the flash cache, in percent.
    FlashHits,
    /// Bytes that the flash cache kept off the volumes, in percent.
    FlashTraffic,
    /// Mean time of page reads served from the cache, in milliseconds.
    FlashHitTime,
    /// Mean time of other page reads, in milliseconds.
    FlashMissTime,
}

/// Every read of a database, as counted in tables of total I/O.
pub(super) const ALL_READS: &[Series] = &[Series::DatabaseRead, Series::MaintenanceRead];

const PER_SECOND: &str = "1/s";
const MILLISECONDS: &str = "ms";

/// Metrics of loads, the most important first.
pub(super) static OF_LOADS: [Metric; 28] = [
    Metric {
        id: "achieved_transactional_iops",
        title: "Achieved transactional IOPS",
        unit: PER_SECOND,
        glossary: "achieved-transactional-iops",
        more_is_better: Some(true),
        quantity: MetricSource::Rate(&[Series::DatabaseRead, Series::DatabaseWrite]),
    },
    latency("read_latency_mean", "Database reads: mean of all requests", Series::DatabaseRead),
    tail("read_latency_p99", "Database reads: 99th percentile", Series::DatabaseRead),
    latency("log_write_latency_mean", "Log writes: mean of all requests", Series::LogWrite),
    tail("log_write_latency_p99", "Log writes: 99th percentile", Series::LogWrite),
    latency("write_latency_mean", "Database writes: mean of all requests", Series::DatabaseWrite),
    tail("write_latency_p99", "Database writes: 99th percentile", Series::DatabaseWrite),
    latency("transaction_mean", "Batch transactions: mean time", Series::Transaction),
    tail("transaction_p99", "Batch transactions: 99th percentile", Series::Transaction),
    rate("transactions", "Batch transactions", &[Series::Transaction], "batch-transactions"),
    rate("reads", "Database reads", &[Series::DatabaseRead], "database-reads-rate"),
    rate("writes", "Database writes", &[Series::DatabaseWrite], "database-writes-rate"),
    rate("log_writes", "Log writes", &[Series::LogWrite], "log-writes-rate"),
    size("read_size", "Database reads: size", &[Series::DatabaseRead], "database-reads-bytes"),
    size("write_size", "Database writes: size", &[Series::DatabaseWrite], "database-writes-bytes"),
    size("log_write_size", "Log writes: size", &[Series::LogWrite], "log-writes-bytes"),
    throughput("maintenance", "Maintenance reads", Series::MaintenanceRead),
    latency(
        "maintenance_latency",
        "Maintenance reads: mean of all requests",
        Series::MaintenanceRead,
    ),
    rate("all_reads", "All reads of databases", ALL_READS, "database-reads-rate"),
    size("all_read_size", "All reads of databases: size", ALL_READS, "database-reads-bytes"),
    rate("log_reads", "Replication reads", &[Series::ReplicationRead], "log-reads-rate"),
    latency("log_read_latency", "Replication reads: mean of all requests", Series::ReplicationRead),
    size("log_read_size", "Replication reads: size", &[Series::ReplicationRead], "log-reads-bytes"),
    Metric {
        id: "processors",
        title: "Processor time",
        unit: "%",
        glossary: "processor-time",
        more_is_better: Some(false),
        quantity: MetricSource::Processors,
    },
    flash("flash_hit_ratio", "Flash cache: page reads answered", MetricSource::FlashHits),
    flash("flash_traffic_spared", "Flash cache: traffic spared", MetricSource::FlashTraffic),
    of_flash_reads(
        "flash_hit_latency",
        "Flash cache: hits, mean latency",
        MetricSource::FlashHitTime,
    ),
    of_flash_reads(
        "flash_miss_latency",
        "Flash cache: misses, mean latency",
        MetricSource::FlashMissTime,
    ),
];

/// Metrics of backups.
pub(super) static OF_BACKUPS: [Metric; 3] = of_pass(Series::BackupRead);
/// Metrics of checksum passes.
pub(super) static OF_CHECKSUMS: [Metric; 3] = of_pass(Series::ChecksumRead);

const fn of_pass(series: Series) -> [Metric; 3] {
    [
        throughput("throughput", "Read from all databases", series),
        latency("latency_mean", "Reads: mean of all requests", series),
        tail("latency_p99", "Reads: 99th percentile", series),
    ]
}

const fn rate(
    id: &'static str,
    title: &'static str,
    series: &'static [Series],
    glossary: &'static str,
) -> Metric {
    let quantity = MetricSource::Rate(series);
    Metric { id, title, unit: PER_SECOND, glossary, more_is_better: None, quantity }
}

const fn latency(id: &'static str, title: &'static str, series: Series) -> Metric {
    Metric {
        id,
        title,
        unit: MILLISECONDS,
        glossary: latency_entry(series),
        more_is_better: Some(false),
        quantity: MetricSource::MeanLatency(series),
    }
}

const fn tail(id: &'static str, title: &'static str, series: Series) -> Metric {
    let quantity = MetricSource::TailLatency(series);
    Metric { quantity, ..latency(id, title, series) }
}

const fn size(
    id: &'static str,
    title: &'static str,
    series: &'static [Series],
    glossary: &'static str,
) -> Metric {
    let quantity = MetricSource::Size(series);
    Metric { id, title, unit: "KiB", glossary, more_is_better: None, quantity }
}

const fn throughput(id: &'static str, title: &'static str, series: Series) -> Metric {
    let glossary = match series {
        Series::BackupRead => "backup-reads-rate",
        Series::ChecksumRead => "checksum-reads-rate",
        _ => "maintenance-reads-rate",
    };
    Metric {
        id,
        title,
        unit: "MiB/s",
        glossary,
        more_is_better: Some(true),
        quantity: MetricSource::Throughput(series),
    }
}

const fn flash(id: &'static str, title: &'static str, quantity: MetricSource) -> Metric {
    let glossary = match quantity {
        MetricSource::FlashTraffic => "flash-traffic-spared",
        _ => "flash-hit-ratio",
    };
    Metric { id, title, unit: "%", glossary, more_is_better: Some(true), quantity }
}

const fn of_flash_reads(id: &'static str, title: &'static str, quantity: MetricSource) -> Metric {
    let glossary = "flash-read-latency";
    Metric { id, title, unit: MILLISECONDS, glossary, more_is_better: Some(false), quantity }
}

const fn latency_entry(series: Series) -> &'static str {
    match series {
        Series::DatabaseRead => "database-reads-latency",
        Series::DatabaseWrite => "database-writes-latency",
        Series::LogWrite => "log-writes-latency",
        Series::Transaction => "batch-transaction-latency",
        Series::BackupRead => "backup-reads-latency",
        Series::ChecksumRead => "checksum-reads-latency",
        Series::ReplicationRead => "log-reads-latency",
        _ => "maintenance-reads-rate",
    }
}

const MIB: f64 = 1_048_576.0;
const KIB: f64 = 1_024.0;
const MILLISECOND_NS: f64 = 1e6;

impl MetricSource {
    /// The value over a whole phase; `None` if it had no such request.
    pub(super) fn of_phase(self, totals: &PhaseTotals) -> Option<f64> {
        match self {
            Self::Rate(kinds) => {
                let any = kinds.iter().any(|&series| total(totals, series).is_some());
                any.then(|| kinds.iter().map(|&series| totals.per_second(series)).sum())
            }
            Self::MeanLatency(series) => {
                Some(total(totals, series)?.latency.mean_ns() / MILLISECOND_NS)
            }
            Self::TailLatency(series) => {
                Some(total(totals, series)?.latency.quantile(0.99) as f64 / MILLISECOND_NS)
            }
            Self::Throughput(series) => Some(totals.rate(total(totals, series)?.bytes) / MIB),
            Self::Size(kinds) => {
                let parts = kinds.iter().filter_map(|&series| total(totals, series));
                mean_kib(parts.map(|part| (part.latency.count(), part.bytes)))
            }
            Self::Processors
            | Self::FlashHits
            | Self::FlashTraffic
            | Self::FlashHitTime
            | Self::FlashMissTime => None,
        }
    }

    /// Whether it is the rate of a pass, whose time ends with the last database and not with the
    /// phase.
    pub(super) const fn is_of_pass(self) -> bool {
        matches!(self, Self::Throughput(Series::BackupRead | Series::ChecksumRead))
    }

    /// Whether it concerns the flash cache.
    pub(super) const fn is_of_flash(self) -> bool {
        matches!(
            self,
            Self::FlashHits | Self::FlashTraffic | Self::FlashHitTime | Self::FlashMissTime
        )
    }

    /// The value for the flash cache, over one interval or several.
    pub(super) fn of_flash(self, cache: &FlashCacheInterval) -> Option<f64> {
        let pages = &cache.database;
        match self {
            Self::FlashHits => Some(100.0 * pages.hit_ratio()?),
            Self::FlashTraffic => Some(100.0 * cache.traffic_saved()?),
            Self::FlashHitTime => Some(pages.mean_hit_ns()? / MILLISECOND_NS),
            Self::FlashMissTime => Some(pages.mean_miss_ns()? / MILLISECOND_NS),
            _ => None,
        }
    }

    /// The value in one interval; `None` if it had no such request, unless the metric counts
    /// requests.
    pub(super) fn of_interval(self, row: &IntervalRow) -> Option<f64> {
        match self {
            Self::Rate(kinds) => Some(kinds.iter().map(|&series| row.per_second(series)).sum()),
            Self::MeanLatency(series) => Some(part(row, series)?.latency.mean_ns / MILLISECOND_NS),
            Self::TailLatency(series) => {
                Some(part(row, series)?.latency.p99_ns as f64 / MILLISECOND_NS)
            }
            Self::Throughput(series) => {
                let bytes = row.series.get(&series).map_or(0, |part| part.bytes);
                Some(bytes as f64 * 1e9 / row.span_ns().max(1) as f64 / MIB)
            }
            Self::Size(kinds) => {
                let parts = kinds.iter().filter_map(|&series| part(row, series));
                mean_kib(parts.map(|part| (part.latency.count, part.bytes)))
            }
            Self::Processors => row.host.as_ref()?.processor_percent,
            Self::FlashHits | Self::FlashTraffic | Self::FlashHitTime | Self::FlashMissTime => {
                self.of_flash(row.flash_cache.as_ref()?)
            }
        }
    }

    /// Maximum difference between two repeats of one run, 19 times in 20, in percent; see
    /// `docs/method.md`.
    pub(super) const fn repeats_percent(self) -> f64 {
        match self {
            Self::Rate(_) | Self::Throughput(_) | Self::FlashHits | Self::FlashTraffic => 3.0,
            Self::Size(_) => 2.0,
            Self::MeanLatency(_) | Self::Processors | Self::FlashHitTime | Self::FlashMissTime => {
                8.0
            }
            Self::TailLatency(_) => 15.0,
        }
    }
}

/// `None` if there was no such request.
fn total(totals: &PhaseTotals, series: Series) -> Option<&SeriesTotal> {
    totals.series.get(&series).filter(|total| total.latency.count() > 0)
}

/// `None` if there was no such request.
fn part(row: &IntervalRow, series: Series) -> Option<&SeriesRow> {
    row.series.get(&series).filter(|part| part.latency.count > 0)
}

/// The mean size of requests, given as counts and bytes; `None` if there was none.
fn mean_kib(parts: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (count, bytes) =
        parts.fold((0, 0), |(count, bytes), part| (count + part.0, bytes + part.1));
    (count > 0).then(|| bytes as f64 / count as f64 / KIB)
}
