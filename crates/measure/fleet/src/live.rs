//! The load of a host during its run, for people who follow it. Its journal is authoritative.

use std::fmt;

use record::{Interval, Series};
use serde::{Deserialize, Serialize};
use units::decimal;

/// The load of one interval of a run, of all databases of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveLoad {
    /// Length of the interval.
    pub span_ns: u64,
    /// Database reads and writes.
    pub requests: u64,
    /// Mean latency of database reads; 0 without any.
    pub read_ns: u64,
    /// Mean latency of log writes; 0 without any.
    pub log_write_ns: u64,
}

impl LiveLoad {
    /// The load of this interval.
    pub fn of(interval: &Interval) -> Self {
        let (reads, read_ns) = sum(interval, Series::DatabaseRead);
        let (writes, _) = sum(interval, Series::DatabaseWrite);
        let (_, log_write_ns) = sum(interval, Series::LogWrite);
        let span_ns = interval.to_ns.saturating_sub(interval.from_ns);
        Self { span_ns, requests: reads + writes, read_ns, log_write_ns }
    }

    /// Database reads and writes a second; 0 if no time passed.
    pub fn iops(&self) -> f64 {
        if self.span_ns == 0 { 0.0 } else { self.requests as f64 * 1e9 / self.span_ns as f64 }
    }
}

/// How many requests of a kind, and their mean latency in nanoseconds.
fn sum(interval: &Interval, series: Series) -> (u64, u64) {
    let parts = interval.databases.iter().flat_map(|of| &of.series);
    let parts = parts.filter(|of| of.series == series).map(|of| &of.latency);
    let (count, sum_ns) = parts.fold((0, 0_u64), |(count, sum_ns), of| {
        (count + of.count(), sum_ns.saturating_add(of.sum_ns()))
    });
    (count, sum_ns / count.max(1))
}

impl fmt::Display for LiveLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} IOPS, reads {:.2} ms, log writes {:.2} ms",
            decimal(self.iops(), 0),
            self.read_ns as f64 / 1e6,
            self.log_write_ns as f64 / 1e6
        )
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{Event, Interval};

    use super::LiveLoad;

    fn intervals() -> Vec<Interval> {
        let events = Synthetic { databases: 2, ..Synthetic::default() }.events();
        let of = |event| if let Event::Interval(of) = event { Some(of) } else { None };
        events.into_iter().filter_map(of).collect()
    }

    #[test]
    fn the_load_of_an_interval_is_that_of_all_databases() {
        let interval = intervals().swap_remove(0);
        let whole = LiveLoad::of(&interval);
        let part = |at: usize| {
            let databases = vec![interval.databases[at].clone()];
            LiveLoad::of(&Interval { databases, ..interval.clone() })
        };
        let parts = [part(0), part(1)];
        assert_eq!(whole.requests, parts[0].requests + parts[1].requests);
        assert!((parts[0].iops() + parts[1].iops() - whole.iops()).abs() < 1e-6);
        let between =
            parts[0].read_ns.min(parts[1].read_ns)..=parts[0].read_ns.max(parts[1].read_ns);
        assert!(between.contains(&whole.read_ns) && whole.log_write_ns > 0, "{whole:?}");
    }

    #[test]
    fn a_load_reads_as_a_sentence() {
        let load = LiveLoad {
            span_ns: 2_000_000_000,
            requests: 2_470,
            read_ns: 3_210_000,
            log_write_ns: 520_000,
        };
        assert_eq!(load.to_string(), "1,235 IOPS, reads 3.21 ms, log writes 0.52 ms");
        let none = LiveLoad { span_ns: 0, requests: 0, read_ns: 0, log_write_ns: 0 };
        assert_eq!(none.to_string(), "0 IOPS, reads 0.00 ms, log writes 0.00 ms");
    }
}
