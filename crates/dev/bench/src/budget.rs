//! Limits for the cost of one batch transaction, from the original tool's figures, and whether this
//! program keeps them.

use std::fmt;
use std::ops::{AddAssign, RangeInclusive};

use record::{DatabaseInterval, Series};

/// Limits of one figure, per batch transaction unless its name says otherwise.
struct CallLimit {
    name: &'static str,
    within: RangeInclusive<f64>,
}

/// Around the original tool's 20 reads, 13.7 pages and 24.5 KB of log, measured in two versions and
/// on two arrays, and around its ratio of log bytes written to log volume: every log file is
/// formatted before use.
const LIMITS: [CallLimit; 4] = [
    CallLimit { name: "database reads", within: 17.0..=23.0 },
    CallLimit { name: "pages written", within: 11.7..=15.7 },
    CallLimit { name: "log volume in KB", within: 24.5 * 0.85..=24.5 * 1.15 },
    CallLimit { name: "log bytes written per byte of volume", within: 2.0..=2.1 },
];

/// Counts summed over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Time, in nanoseconds.
    pub nanos: u64,
    /// Batch transactions that committed.
    pub batches: u64,
    /// Reads of the database file for transactions.
    pub reads: Requests,
    /// Writes to the database file.
    pub writes: Requests,
    /// Pages written to the database file.
    pub pages_written: u64,
    /// Writes of log records.
    pub log_writes: Requests,
    /// Writes that formatted log files.
    pub log_formats: Requests,
    /// Reads of the maintenance scan.
    pub maintenance: Requests,
    /// Bytes of log files consumed.
    pub log_volume: u64,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    pub count: u64,
    /// Sum of their lengths.
    pub bytes: u64,
}

impl Requests {
    fn of(interval: &DatabaseInterval, series: Series) -> Self {
        let found = interval.series.iter().find(|part| part.series == series);
        found.map_or_else(Self::default, |part| Self {
            count: part.latency.count(),
            bytes: part.bytes,
        })
    }
}

impl Totals {
    /// Counts of one database in an interval of `nanos`.
    pub(crate) fn of(interval: &DatabaseInterval, nanos: u64) -> Self {
        Self {
            nanos,
            batches: interval.count(Series::Transaction),
            reads: Requests::of(interval, Series::DatabaseRead),
            writes: Requests::of(interval, Series::DatabaseWrite),
            pages_written: interval.counters.pages_written,
            log_writes: Requests::of(interval, Series::LogWrite),
            log_formats: Requests::of(interval, Series::LogFormat),
            maintenance: Requests::of(interval, Series::MaintenanceRead),
            log_volume: interval.counters.log_volume_bytes,
        }
    }
}

impl AddAssign for Requests {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.nanos += other.nanos;
        self.batches += other.batches;
        self.reads += other.reads;
        self.writes += other.writes;
        self.pages_written += other.pages_written;
        self.log_writes += other.log_writes;
        self.log_formats += other.log_formats;
        self.maintenance += other.maintenance;
        self.log_volume += other.log_volume;
    }
}

/// The four figures, in the order of [`LIMITS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget([f64; LIMITS.len()]);

impl Budget {
    /// Computes the figures from `settled`, the counts after the load had settled, and from the
    /// whole life of the log: the bytes written to its files, and the part of them that was used.
    pub(crate) fn new(settled: &Totals, log_written: u64, log_volume: u64) -> Self {
        let batches = settled.batches.max(1) as f64;
        Self([
            settled.reads.count as f64 / batches,
            settled.pages_written as f64 / batches,
            settled.log_volume as f64 / 1000.0 / batches,
            log_written as f64 / log_volume.max(1) as f64,
        ])
    }

    /// Number of figures outside their limits.
    pub(crate) fn missed(&self) -> usize {
        let pairs = self.0.iter().zip(&LIMITS);
        pairs.filter(|(value, limit)| !limit.is_kept(**value)).count()
    }
}

impl CallLimit {
    fn is_kept(&self, value: f64) -> bool {
        self.within.contains(&value)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (value, limit) in self.0.iter().zip(&LIMITS) {
            let word = if limit.is_kept(*value) { "kept" } else { "MISSED" };
            writeln!(
                f,
                "{:<37} {value:>8.3}   {:.2} to {:.2}: {word}",
                limit.name,
                limit.within.start(),
                limit.within.end(),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use record::{DatabaseInterval, IntervalCounters, Series, SeriesInterval};

    use super::{Budget, Requests, Totals};

    const fn reads(count: u64) -> Requests {
        Requests { count, bytes: count << 15 }
    }

    fn settled() -> Totals {
        Totals {
            batches: 100,
            reads: reads(2_000),
            pages_written: 1_370,
            log_volume: 2_450_000,
            ..Totals::default()
        }
    }

    #[test]
    fn the_original_keeps_to_its_own_figures() {
        assert_eq!(Budget::new(&settled(), 2_050, 1_000).missed(), 0);
    }

    #[test]
    fn every_figure_can_miss_on_either_side() {
        for share in [7, 13] {
            let of = |value: u64| value * share / 10;
            let all = Totals {
                reads: reads(of(2_000)),
                pages_written: of(1_370),
                log_volume: of(2_450_000),
                ..settled()
            };
            let budget = Budget::new(&all, of(2_050), 1_000);
            assert_eq!(budget.missed(), 4, "{budget}");
            assert_eq!(budget.to_string().matches("MISSED").count(), 4);
        }
    }

    #[test]
    fn only_database_reads_are_reads() {
        let mut reads = SeriesInterval::new(Series::DatabaseRead);
        reads.record(32_768, 1);
        let mut transaction = SeriesInterval::new(Series::Transaction);
        transaction.record(0, 1);
        let mut scan = SeriesInterval::new(Series::MaintenanceRead);
        scan.record(262_144, 1);
        let interval = DatabaseInterval {
            series: vec![reads, scan, transaction],
            counters: IntervalCounters {
                transactions_lazy: 2,
                transactions_durable: 1,
                pages_written: 5,
                log_volume_bytes: 7,
                ..IntervalCounters::default()
            },
            ..DatabaseInterval::default()
        };
        let expected = Totals {
            nanos: 9,
            batches: 1,
            reads: Requests { count: 1, bytes: 32_768 },
            maintenance: Requests { count: 1, bytes: 262_144 },
            pages_written: 5,
            log_volume: 7,
            ..Totals::default()
        };
        assert_eq!(Totals::of(&interval, 9), expected);
    }
}
