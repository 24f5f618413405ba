//! What one batch transaction may cost: the original tool's figures, and whether ours keep to them.

use std::fmt;
use std::ops::{AddAssign, RangeInclusive};

use record::{DatabaseInterval, Series};

/// What one figure may be, per batch transaction unless its name says otherwise.
struct Limit {
    name: &'static str,
    within: RangeInclusive<f64>,
}

/// The original tool's 20 reads, 13.7 pages and 24.5 KB of log, which it showed in two versions and
/// on two arrays, and its ratio of log bytes written to log volume: every file is formatted before
/// it is used.
const LIMITS: [Limit; 4] = [
    Limit {
        name: "database reads",
        within: 17.0..=23.0,
    },
    Limit {
        name: "pages written",
        within: 11.7..=15.7,
    },
    Limit {
        name: "log volume in KB",
        within: 24.5 * 0.85..=24.5 * 1.15,
    },
    Limit {
        name: "log bytes written per byte of volume",
        within: 2.0..=2.1,
    },
];

/// What was counted over some intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Batch transactions that committed.
    pub batches: u64,
    /// Read requests of the database file.
    pub reads: u64,
    /// Pages written to it.
    pub pages_written: u64,
    /// Bytes of log files used up.
    pub log_volume: u64,
}

impl Totals {
    /// What one database did in an interval.
    pub fn of(interval: &DatabaseInterval) -> Self {
        let reads = interval
            .series
            .iter()
            .filter(|part| part.series == Series::DatabaseRead)
            .map(|part| part.latency.count());
        Self {
            batches: interval.counters.transactions(),
            reads: reads.sum(),
            pages_written: interval.counters.pages_written,
            log_volume: interval.counters.log_volume_bytes,
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.batches += other.batches;
        self.reads += other.reads;
        self.pages_written += other.pages_written;
        self.log_volume += other.log_volume;
    }
}

/// The four figures, in the order of [`LIMITS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget([f64; LIMITS.len()]);

impl Budget {
    /// From what happened once the load had settled, and from the whole life of the log: what was
    /// written to its files, and how much of them was used.
    pub fn new(settled: &Totals, log_written: u64, log_volume: u64) -> Self {
        let batches = settled.batches.max(1) as f64;
        Self([
            settled.reads as f64 / batches,
            settled.pages_written as f64 / batches,
            settled.log_volume as f64 / 1000.0 / batches,
            log_written as f64 / log_volume.max(1) as f64,
        ])
    }

    /// How many figures are outside their limits.
    pub fn missed(&self) -> usize {
        let pairs = self.0.iter().zip(&LIMITS);
        pairs
            .filter(|(value, limit)| !limit.is_kept(**value))
            .count()
    }
}

impl Limit {
    fn is_kept(&self, value: f64) -> bool {
        self.within.contains(&value)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (value, limit) in self.0.iter().zip(&LIMITS) {
            let word = if limit.is_kept(*value) {
                "kept"
            } else {
                "MISSED"
            };
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
    use record::{Counters, DatabaseInterval, Series, SeriesInterval};

    use super::{Budget, Totals};

    const SETTLED: Totals = Totals {
        batches: 100,
        reads: 2_000,
        pages_written: 1_370,
        log_volume: 2_450_000,
    };

    #[test]
    fn the_original_keeps_to_its_own_figures() {
        assert_eq!(Budget::new(&SETTLED, 2_050, 1_000).missed(), 0);
    }

    #[test]
    fn every_figure_can_miss_on_either_side() {
        for share in [7, 13] {
            let of = |value: u64| value * share / 10;
            let all = Totals {
                batches: 100,
                reads: of(SETTLED.reads),
                pages_written: of(SETTLED.pages_written),
                log_volume: of(SETTLED.log_volume),
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
        let mut scan = SeriesInterval::new(Series::MaintenanceRead);
        scan.record(262_144, 1);
        let interval = DatabaseInterval {
            series: vec![reads, scan],
            counters: Counters {
                transactions_lazy: 2,
                transactions_durable: 1,
                pages_written: 5,
                log_volume_bytes: 7,
                ..Counters::default()
            },
            ..DatabaseInterval::default()
        };
        let expected = Totals {
            batches: 3,
            reads: 1,
            pages_written: 5,
            log_volume: 7,
        };
        assert_eq!(Totals::of(&interval), expected);
    }
}
