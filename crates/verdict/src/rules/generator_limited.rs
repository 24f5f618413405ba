//! Whether the machine that made the load, and not the storage, set the pace.
//!
//! A completion that waits for a busy processor is measured as a slow disk, and a processor
//! without time left cannot offer more load.

use record::{HostSample, ProcessorShares, RunRecord};

use super::processors::{self, BUSY_LIMIT_PERCENT, LAG_LIMIT_NS};
use super::{judged_phase, judges_load, milliseconds};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// The rule's name for programs.
pub(crate) const RULE: &str = "generator-limited";

/// Above this a hypervisor took enough to show in latencies.
const STEAL_LIMIT_PERCENT: f64 = 5.0;
/// Warns where the machine was the limit; [`crate::judge`] turns that into doubt where the load
/// failed. Finds nothing in a simulated world, whose machine is never busy.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let samples: Vec<HostSample> =
        run.intervals_of(judged_phase(run)).filter_map(|row| row.host).collect();
    if samples.is_empty() {
        return None;
    }
    let busy = mean(&samples, |sample| sample.processor_percent);
    let steal = mean(&samples, |sample| sample.steal_percent);
    let lag_ns = median_lag_ns(&samples);
    let mut evidence = Vec::new();
    if let Some(busy) = busy.filter(|busy| *busy > BUSY_LIMIT_PERCENT) {
        let others = processors::on_average(run).filter(ProcessorShares::has_heavy_others);
        evidence.push(match others {
            Some(shares) => format!("{shares}: end the other programs"),
            None => format!("processors {busy:.0} % busy: use a faster machine{}", less(run)),
        });
    }
    if let Some(steal) = steal.filter(|steal| *steal > STEAL_LIMIT_PERCENT) {
        evidence
            .push(format!("a hypervisor took {steal:.0} % of the time: give the machine its own"));
    }
    if lag_ns > LAG_LIMIT_NS {
        let lag_ms = milliseconds(lag_ns as f64);
        evidence.push(format!("completions waited {lag_ms:.1} ms to be noticed: stop other load"));
    }
    Some(Finding {
        rule: RULE,
        title: "Load on the processors",
        kind: Kind::Validity,
        outcome: if evidence.is_empty() { Ruling::Pass } else { Ruling::Warn },
        measured: busy,
        limit: Some(Limit::AtMost(BUSY_LIMIT_PERCENT)),
        unit: Unit::Percent,
        evidence: evidence.into_iter().map(Evidence::of_run).collect(),
    })
}

/// What else relieves the machine.
fn less(run: &RunRecord) -> &'static str {
    if judges_load(run) { " or fewer threads" } else { "" }
}

/// None where the system told nothing at all.
fn mean(samples: &[HostSample], value: impl Fn(&HostSample) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in samples.iter().filter_map(value) {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// The lag of a typical interval: one hiccup in an hour shall not spoil a run.
fn median_lag_ns(samples: &[HostSample]) -> u64 {
    let mut lags: Vec<u64> = samples.iter().map(|sample| sample.reactor_lag_maximum_ns).collect();
    lags.sort_unstable();
    lags[(lags.len() - 1) / 2]
}
