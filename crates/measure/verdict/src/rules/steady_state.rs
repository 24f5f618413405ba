//! Whether the load was steady: storage with a filling cache, or with a mirror being rebuilt, was
//! measured in transition.

use record::{IntervalRow, Phase, RunRecord, Series};

use super::judges_load;
use crate::samples::{Trend, trend};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "steady-state";

/// Maximum change of the rate from start to end, in percent.
const RATE_PERCENT: f64 = 5.0;

/// The largest permitted change of the read latency. It varies more than the rate: at 80 % of a
/// single server's capacity, 5 % more load makes 25 % more latency (M/M/1, 1 / (1 - load)).
const LATENCY_PERCENT: f64 = 20.0;

/// Warns if the rate or the latency of reads rose or fell throughout. No finding if there are too
/// few intervals.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if !judges_load(run) {
        return None;
    }
    let of_both = ("rate of reads and writes", trend_of_the_rate(run)?, RATE_PERCENT);
    // The target of a held load keeps the sum as it is, whatever becomes of its parts.
    let reads = run.target_iops().and_then(|_| trend_of_read_rate(run));
    let of_reads = ("rate of database reads", reads.unwrap_or(Trend::Steady), RATE_PERCENT);
    let latency = trend_of_reads(run).unwrap_or(Trend::Steady);
    let of_latency = ("latency of database reads", latency, LATENCY_PERCENT);
    let trends = [of_both, of_reads, of_latency];
    let drifting = trends.into_iter().find(|(_, trend, _)| *trend != Trend::Steady);
    let (what, shown, limit) = drifting.unwrap_or(of_both);
    let percent = shown.share() * 100.0;
    let way = if percent < 0.0 { "fell" } else { "rose" };
    let drift = Evidence::of_run(format!(
        "the {what} {way} from start to end: the storage may have been on its way from one state \
         to another, which no average stands for; measure longer"
    ));
    let is_steady = shown == Trend::Steady;
    Some(Finding {
        rule: RULE,
        title: "Change from start to end",
        kind: Kind::Validity,
        outcome: if is_steady { Ruling::Pass } else { Ruling::Warn },
        measured: Some(percent.abs()),
        limit: Some(Limit::AtMost(limit)),
        unit: Unit::Percent,
        evidence: if is_steady { Vec::new() } else { vec![drift] },
    })
}

/// Trend of the rate of database reads and writes over the measurement.
pub(crate) fn trend_of_the_rate(run: &RunRecord) -> Option<Trend> {
    let rates: Vec<f64> =
        run.counting_intervals_of(Phase::Measure).map(IntervalRow::transactional_iops).collect();
    trend(&rates, RATE_PERCENT / 100.0)
}

fn trend_of_read_rate(run: &RunRecord) -> Option<Trend> {
    let rates: Vec<f64> = run
        .counting_intervals_of(Phase::Measure)
        .map(|row| row.per_second(Series::DatabaseRead))
        .collect();
    trend(&rates, RATE_PERCENT / 100.0)
}

fn trend_of_reads(run: &RunRecord) -> Option<Trend> {
    let means: Vec<f64> = run
        .counting_intervals_of(Phase::Measure)
        .filter_map(|row| row.series.get(&Series::DatabaseRead))
        .map(|reads| reads.latency.mean_ns)
        .collect();
    trend(&means, LATENCY_PERCENT / 100.0)
}
