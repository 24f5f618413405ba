//! The 99th percentile of each database's requests, if the plan limits it: an average hides a tail
//! that users notice.

use record::{RunRecord, Series};

use super::{judges_load, latency::LatencyRule};
use crate::Finding;

/// The 99th percentile is meaningful from a thousand requests on: ten are slower.
const MINIMUM_COUNT: u64 = 1_000;

/// Database reads. Fails if any one database is over the limit.
pub(super) fn judge_reads(run: &RunRecord) -> Option<Finding> {
    let limit_ns = run.start.settings.thresholds.read_p99_ns?;
    judges_load(run).then(|| {
        LatencyRule {
            rule: "read-latency-p99",
            title: "Database read latency, 99 %",
            series: Series::DatabaseRead,
            limit_ns,
            minimum_count: MINIMUM_COUNT,
        }
        .of_percentile(run)
    })
}

/// Log writes. Fails if any one database is over the limit.
pub(super) fn judge_log_writes(run: &RunRecord) -> Option<Finding> {
    let limit_ns = run.start.settings.thresholds.log_write_p99_ns?;
    judges_load(run).then(|| {
        LatencyRule {
            rule: "log-write-latency-p99",
            title: "Log write latency, 99 %",
            series: Series::LogWrite,
            limit_ns,
            minimum_count: MINIMUM_COUNT,
        }
        .of_percentile(run)
    })
}
