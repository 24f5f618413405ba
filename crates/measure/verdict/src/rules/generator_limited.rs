//! Whether the processors of the load-generating machine had time left: without it the machine
//! cannot offer more load, and answers wait as if the storage were slow.

use record::{ProcessorShares, RunRecord};

use super::judges_load;
use super::processors::{self, BUSY_LIMIT_PERCENT, host_samples, mean_of};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "generator-limited";

/// Warns of busy processors; [`crate::judge`] turns that into doubt if the load failed. No finding
/// for a record without their busy time.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let busy_percent = mean_of(&host_samples(run), |sample| sample.processor_percent)?;
    let limit = Limit::AtMost(BUSY_LIMIT_PERCENT);
    let is_free = limit.admits(busy_percent);
    Some(Finding {
        rule: RULE,
        title: "Load on the processors",
        kind: Kind::Validity,
        outcome: if is_free { Ruling::Pass } else { Ruling::Warn },
        measured: Some(busy_percent),
        limit: Some(limit),
        unit: Unit::Percent,
        evidence: if is_free { Vec::new() } else { vec![Evidence::of_run(remedy(run))] },
    })
}

fn remedy(run: &RunRecord) -> String {
    match processors::on_average(run).filter(ProcessorShares::has_heavy_others) {
        Some(shares) => format!("{shares}: stop the other programs and run again"),
        None if judges_load(run) => "use a faster machine or fewer threads".to_owned(),
        None => "use a faster machine".to_owned(),
    }
}
