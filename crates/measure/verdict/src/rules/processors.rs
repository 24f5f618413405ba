//! Processor use in the intervals of the measurement: shared by the rules about the load-generating
//! machine.

use std::collections::BTreeMap;

use record::{HostSample, IntervalRow, ProcessorShares, ProgramShare, RunRecord};

use super::judged_phase;

/// Above this the processors had no time left: a fully busy one is rarely sampled as 100 %.
pub(super) const BUSY_LIMIT_PERCENT: f64 = 90.0;
/// Limit for a typical interval's longest lag: half of the tightest latency limit (10 ms).
pub(super) const LAG_LIMIT_NS: u64 = 5_000_000;

/// The machine's activity in the intervals of the test's main phase. Empty in a simulation, whose
/// machine is never busy.
pub(super) fn host_samples(run: &RunRecord) -> Vec<HostSample> {
    run.intervals_of(judged_phase(run)).filter_map(|row| row.host).collect()
}

/// The mean of the samples that have the value; `None` if none has.
pub(super) fn mean_of(
    samples: &[HostSample],
    value: impl Fn(&HostSample) -> Option<f64>,
) -> Option<f64> {
    let values: Vec<f64> = samples.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The intervals of the main phase whose shares are known.
pub(super) fn told(run: &RunRecord) -> Vec<(&IntervalRow, &ProcessorShares)> {
    run.intervals_of(judged_phase(run))
        .filter_map(|row| Some((row, row.processors.as_ref()?)))
        .collect()
}

/// Whether others kept this program from the processors long enough for answers to be noticed late.
pub(super) fn is_starved(row: &IntervalRow) -> bool {
    lag_beside_others_ns(row).is_some_and(|lag_ns| lag_ns > LAG_LIMIT_NS)
}

/// How late this program noticed answers or the clock in an interval in which other programs used
/// much and no processor had time left; `None` in any other interval.
pub(super) fn lag_beside_others_ns(row: &IntervalRow) -> Option<u64> {
    let shares = row.processors.as_ref()?;
    let is_crowded = shares.has_heavy_others() && shares.busy_percent > BUSY_LIMIT_PERCENT;
    let host = row.host.filter(|_| is_crowded)?;
    Some(host.reactor_lag_maximum_ns.max(host.pause_maximum_ns.unwrap_or(0)))
}

/// The mean shares in the judged phase, if known.
pub(super) fn on_average(run: &RunRecord) -> Option<ProcessorShares> {
    mean(&told(run))
}

/// The mean shares in these intervals, weighted by time; `None` without intervals.
pub(super) fn mean(rows: &[(&IntervalRow, &ProcessorShares)]) -> Option<ProcessorShares> {
    let all = rows.iter().map(|(row, _)| row.span_ns() as f64).sum::<f64>();
    if all <= 0.0 {
        return None;
    }
    let mut mean = ProcessorShares::default();
    let mut programs: BTreeMap<&str, f64> = BTreeMap::new();
    for (row, shares) in rows {
        let weight = row.span_ns() as f64 / all;
        mean.busy_percent += shares.busy_percent * weight;
        mean.own_percent += shares.own_percent * weight;
        mean.kernel_percent += shares.kernel_percent * weight;
        mean.others_percent += shares.others_percent * weight;
        if let Some(top) = &shares.top {
            *programs.entry(&top.name).or_default() += top.percent * weight;
        }
    }
    let top = programs.into_iter().max_by(|(_, one), (_, two)| one.total_cmp(two));
    mean.top = top.map(|(name, percent)| ProgramShare { name: name.to_owned(), percent });
    Some(mean)
}
