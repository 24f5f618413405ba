//! The worst hour of a load that followed the hours of a day.

use std::collections::BTreeMap;

use record::{HOUR_NS, Phase, RunRecord, Series, Unanswered};

use super::Measured;

/// Totals of the intervals of one hour.
#[derive(Default)]
struct HourLatency {
    count: u64,
    nanoseconds: f64,
    span_ns: Option<(u64, u64)>,
}

impl HourLatency {
    fn mean_ns(&self) -> f64 {
        self.nanoseconds / self.count.max(1) as f64
    }
}

/// The hour with the highest mean latency of `series` of `database`; hours count from the start of
/// the measurement.
pub(super) fn worst(run: &RunRecord, database: u32, series: Series) -> Measured {
    let mut hours: BTreeMap<u64, HourLatency> = BTreeMap::new();
    let mut begun = None;
    for row in run.intervals_of(Phase::Measure) {
        let from = *begun.get_or_insert(row.from_ns);
        let of_database = row.databases.iter().find(|of| of.index == database);
        let Some(part) = of_database.and_then(|of| of.series.get(&series)) else {
            continue;
        };
        let hour = hours.entry((row.from_ns - from) / HOUR_NS).or_default();
        hour.count += part.latency.count;
        hour.nanoseconds += part.latency.mean_ns * part.latency.count as f64;
        let began = hour.span_ns.map_or(row.from_ns, |(from, _)| from);
        hour.span_ns = Some((began, row.to_ns));
    }
    let worst = hours
        .into_values()
        .reduce(|worst, hour| if hour.mean_ns() > worst.mean_ns() { hour } else { worst });
    let worst = worst.unwrap_or_default();
    Measured {
        database,
        count: worst.count,
        latency_ns: worst.mean_ns(),
        span_ns: worst.span_ns,
        unanswered: Unanswered::default(),
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{HOUR_NS, Phase, Series};

    use crate::{Ruling, judge};

    /// Half hours of a fast hour and a slow one, whose mean keeps the limit of 20 ms.
    #[test]
    fn a_quiet_hour_does_not_make_up_for_a_slow_one() {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
        for (row, half) in rows.zip(0..) {
            (row.from_ns, row.to_ns) = (half * HOUR_NS / 2, (half + 1) * HOUR_NS / 2);
            let reads = row.databases[0].series.get_mut(&Series::DatabaseRead).unwrap();
            reads.latency.mean_ns = if half < 2 { 5e6 } else { 25e6 };
        }
        let ruling = |run: &record::RunRecord| {
            let verdict = judge(run);
            let mut found = verdict.findings.into_iter();
            found.find(|finding| finding.rule == "read-latency-average").unwrap()
        };
        assert_eq!(ruling(&run).outcome, Ruling::Pass, "its mean over the measurement");
        run.start.settings.hourly_percent = vec![20.0, 100.0];
        let slow = ruling(&run);
        assert_eq!((slow.outcome, slow.measured), (Ruling::Fail, Some(25.0)));
        assert_eq!(slow.evidence[0].span_ns, Some((HOUR_NS, 2 * HOUR_NS)));
    }
}
