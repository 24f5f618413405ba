//! Whether a hypervisor took processor time away: a task that waits for a descheduled virtual
//! processor looks like slow storage.

use record::RunRecord;

use super::processors::{host_samples, mean_of};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "processor-steal";

/// Stolen time, in percent, above which latencies are affected.
const LIMIT_PERCENT: f64 = 5.0;

/// Warns of stolen time; [`crate::judge`] turns that into doubt if the load failed. No finding for
/// a record without this figure.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let steal_percent = mean_of(&host_samples(run), |sample| sample.steal_percent)?;
    let limit = Limit::AtMost(LIMIT_PERCENT);
    let is_kept = limit.admits(steal_percent);
    let remedy = "the hypervisor ran other guests in that time: give this VM dedicated cores";
    Some(Finding {
        rule: RULE,
        title: "CPU steal",
        kind: Kind::Validity,
        outcome: if is_kept { Ruling::Pass } else { Ruling::Warn },
        measured: Some(steal_percent),
        limit: Some(limit),
        unit: Unit::Percent,
        evidence: if is_kept { Vec::new() } else { vec![Evidence::of_run(remedy)] },
    })
}
