//! How much of a failed load late answers can explain: the program that makes the load notices an
//! answer late if it waits for a processor, and each step of a session may wait as long again.

use record::{Phase, RunRecord, Series};

use super::processors::{host_samples, on_average};
use super::{judges_load, milliseconds};
use crate::{Evidence, Finding, Limit, Unit};

/// A program that used more of the processors may itself have been what set the pace.
const MOST_OWN_PERCENT: f64 = 50.0;

/// The time of one read, and the lateness of a typical interval at its worst, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Lateness {
    read_ns: f64,
    late_ns: f64,
}

/// Why the failure of `finding` is the storage's own whatever the processors did: the limit is
/// missed even if no answer had been noticed late. None if lateness may explain it.
pub(crate) fn outlasted(run: &RunRecord, finding: &Finding) -> Option<Evidence> {
    let lateness = Lateness::of(run)?;
    let (measured, limit) = (finding.measured?, finding.limit?);
    let at_best = match (finding.unit, limit) {
        (Unit::IoPerSecond, Limit::AtLeast(_)) => lateness.most(measured)?,
        (Unit::Milliseconds, Limit::AtMost(_)) if finding.rule.ends_with("-average") => {
            measured - milliseconds(lateness.late_ns)
        }
        _ => return None,
    };
    (!limit.admits(at_best)).then(|| {
        let late_ms = milliseconds(lateness.late_ns);
        let seen = format!("answers were noticed {late_ms:.1} ms late");
        Evidence::of_run(format!("{seen}; without that it would be {at_best:.1} at best"))
    })
}

impl Lateness {
    /// None unless the record knows who used the processors, and that this program used few.
    fn of(run: &RunRecord) -> Option<Self> {
        on_average(run).filter(|of| judges_load(run) && of.own_percent <= MOST_OWN_PERCENT)?;
        let mut late: Vec<u64> = host_samples(run)
            .iter()
            .map(|of| of.reactor_lag_maximum_ns.max(of.pause_maximum_ns.unwrap_or(0)))
            .collect();
        late.sort_unstable();
        let late_ns = *late.get(late.len().checked_sub(1)? / 2)? as f64;
        let sum = run.sum_of(Phase::Measure);
        let read_ns = sum.series.get(&Series::DatabaseRead)?.latency.mean_ns();
        Some(Self { read_ns, late_ns })
    }

    /// The highest rate that sessions would have reached without lateness. Each step of a session
    /// is one read, after which its turn comes late once; the read itself took all but its own
    /// lateness. None if that is nothing.
    fn most(self, rate: f64) -> Option<f64> {
        let storage_ns = self.read_ns - self.late_ns;
        (storage_ns > 0.0).then(|| rate * (self.read_ns + self.late_ns) / storage_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Lateness;

    #[test]
    fn the_rate_without_lateness_is_bounded_by_what_the_reads_took() {
        let ms = 1e6;
        let close = |rate: Option<f64>, to: f64| rate.is_some_and(|of| (of - to).abs() < 1e-9);
        let of = |read_ns, late_ns| Lateness { read_ns, late_ns }.most(100.0);
        assert!(close(of(40.0 * ms, 0.0), 100.0));
        assert!(close(of(60.0 * ms, 20.0 * ms), 200.0));
        assert!(of(5.0 * ms, 5.0 * ms).is_none(), "the reads may have taken no time at all");
    }
}
