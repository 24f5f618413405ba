//! The load in the plan must have been reached: low latency at half the load proves nothing about
//! the full load.

use record::{Phase, RunRecord};

use super::{allowance, judges_load};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "target-iops";

/// Fails below the stated share of the target, and warns if the target was a share of the rate
/// found by a search, which may exceed the sustained rate of the storage. No finding if there is no
/// target.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let settings = &run.start.settings;
    let target = run.target_iops().filter(|_| judges_load(run))?;
    let percent = settings.thresholds.target_reached_percent;
    let limit = Limit::AtLeast(target * percent / 100.0);
    let measured = (run.span_ns(Phase::Measure) > 0).then(|| run.achieved_transactional_iops());
    let outcome = match measured {
        None => Ruling::CannotJudge,
        Some(iops) if limit.admits(iops) => Ruling::Pass,
        Some(_) if settings.target_iops.is_none() => Ruling::Warn,
        Some(_) => Ruling::Fail,
    };
    let origin = match settings.throughput_percent {
        Some(share) if settings.target_iops.is_none() => {
            format!(", {share:.0} % of the highest load that was found")
        }
        _ => String::new(),
    };
    let shown = units::decimal(target, usize::from(target.fract() != 0.0));
    let text = format!("the target is {shown} IOPS{origin}{}", allowance(percent));
    Some(Finding {
        rule: RULE,
        title: "Achieved transactional IOPS",
        kind: Kind::Load,
        outcome,
        measured,
        limit: Some(limit),
        unit: Unit::IoPerSecond,
        evidence: vec![Evidence::of_run(text)],
    })
}
