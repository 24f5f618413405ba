//! Whether a simulated array answered faster than its own disks can: then the simulation answered
//! from a cache that the array does not have, and users would buy disks based on that.

use record::{Phase, RunRecord, Series};

use super::milliseconds;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Fewer reads of a database may all have been short by chance.
const FEWEST_READS: u64 = 100;

/// Inconclusive if the mean read of any database in a simulated load is faster than physically
/// possible. No finding for other runs, or for records that do not state the minimum.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let least_ns = run.simulated()?.least_read_ns;
    let means = run.start.databases.iter().filter_map(|of| mean_ns(run, of.index));
    let mean_ns = means.min_by(f64::total_cmp).filter(|_| least_ns > 0)?;
    let (measured, limit) = (milliseconds(mean_ns), Limit::AtLeast(milliseconds(least_ns as f64)));
    let is_possible = limit.admits(measured);
    let text = "a read takes at least the shortest seek and half a revolution, or a flash page; \
                the simulation answered from memory that the array does not have: simulate with \
                --level 2";
    Some(Finding {
        rule: "possible-reads",
        title: "Fastest database's mean read",
        kind: Kind::Validity,
        outcome: if is_possible { Ruling::Pass } else { Ruling::CannotJudge },
        measured: Some(measured),
        limit: Some(limit),
        unit: Unit::Milliseconds,
        evidence: if is_possible { Vec::new() } else { vec![Evidence::of_run(text.to_owned())] },
    })
}

/// Mean read latency of a database during the measurement; `None` if it had too few reads.
fn mean_ns(run: &RunRecord, index: u32) -> Option<f64> {
    let reads = run.totals_of(Phase::Measure, index)?.series.get(&Series::DatabaseRead)?;
    (reads.latency.count() >= FEWEST_READS).then(|| reads.latency.mean_ns())
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{RunRecord, Simulation};

    use super::{judge, mean_ns};
    use crate::Ruling;

    fn simulated(least_read_ns: u64) -> RunRecord {
        let mut run = Synthetic::default().run();
        let simulation = Simulation { least_read_ns, ..Simulation::default() };
        run.start.simulated = Some(Box::new(simulation));
        run
    }

    #[test]
    fn reads_that_beat_the_disks_are_not_judged() {
        let mean = mean_ns(&simulated(0), 0).expect("a database with reads");
        let outcome = |part: f64| {
            let nanoseconds = std::time::Duration::from_secs_f64(mean * part / 1e9).as_nanos();
            let run = simulated(u64::try_from(nanoseconds).expect("a latency"));
            judge(&run).expect("a simulated run").outcome
        };
        assert_eq!(outcome(0.5), Ruling::Pass);
        assert_eq!(outcome(1.5), Ruling::CannotJudge);
    }

    #[test]
    fn measured_runs_and_older_records_have_no_such_finding() {
        assert!(judge(&Synthetic::default().run()).is_none());
        assert!(judge(&simulated(0)).is_none());
    }
}
