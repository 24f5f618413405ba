//! Mean latency of database reads, per database, in the worst interval: spikes that a mean hides.

use record::{RunRecord, Series};

use super::{judges_load, latency::LatencyRule};
use crate::Finding;

/// Fails if any one database is over the limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let thresholds = &run.start.settings.thresholds;
    let rule = LatencyRule {
        rule: "read-latency-maximum",
        title: "Database read latency, worst interval",
        series: Series::DatabaseRead,
        limit_ns: thresholds.read_maximum_ns,
        minimum_count: thresholds.minimum_reads,
    };
    judges_load(run).then(|| rule.of_worst_interval(run))
}
