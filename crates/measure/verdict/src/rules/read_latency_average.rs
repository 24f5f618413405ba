//! Mean latency of database reads, per database, over the whole measurement.

use record::{RunRecord, Series};

use super::{judges_load, latency::LatencyRule};
use crate::Finding;

/// Fails if any one database is over the limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let thresholds = &run.start.settings.thresholds;
    let rule = LatencyRule {
        rule: "read-latency-average",
        title: "Database read latency, mean of the worst database",
        series: Series::DatabaseRead,
        limit_ns: thresholds.read_average_ns,
        minimum_count: thresholds.minimum_reads,
    };
    judges_load(run).then(|| rule.of_average(run))
}
