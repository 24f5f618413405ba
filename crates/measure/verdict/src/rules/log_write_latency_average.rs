//! Mean latency of log writes, per database, over the whole measurement.

use record::{RunRecord, Series};

use super::{judges_load, latency::LatencyRule};
use crate::Finding;

/// Fails if any one database is over the limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let thresholds = &run.start.settings.thresholds;
    let rule = LatencyRule {
        rule: "log-write-latency-average",
        title: "Log write latency, mean of the worst database",
        series: Series::LogWrite,
        limit_ns: thresholds.log_write_average_ns,
        minimum_count: thresholds.minimum_log_writes,
    };
    judges_load(run).then(|| rule.of_average(run))
}
