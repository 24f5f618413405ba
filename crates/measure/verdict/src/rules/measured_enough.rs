//! A measurement must be long enough to be conclusive.

use record::{Phase, RunRecord};

use super::{judges_load, kind_of_a_cut_run};
use crate::{Finding, Limit, Ruling, Unit};

/// Inconclusive if the run measured less than the stated minimum.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if !judges_load(run) {
        return None;
    }
    let measured = run.span_ns(Phase::Measure) as f64 / 1e9;
    let limit = Limit::AtLeast(run.start.settings.thresholds.minimum_measure_ns as f64 / 1e9);
    let enough = limit.admits(measured);
    Some(Finding {
        rule: "measured-time",
        title: "Measured time",
        kind: kind_of_a_cut_run(run),
        outcome: if enough { Ruling::Pass } else { Ruling::CannotJudge },
        measured: Some(measured),
        limit: Some(limit),
        unit: Unit::Seconds,
        evidence: Vec::new(),
    })
}
