//! Whether the sessions of the plan were enough for its target. Each waits for its own requests, so
//! a few of them make little load on any storage.

use record::{Phase, RunRecord, Series};

use super::judges_load;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "sessions";

/// Least share of their time that sessions which are too few wait for the storage, in percent. The
/// rest goes into their own work, and into log writes that another session began.
const LEAST_WAIT_PERCENT: f64 = 25.0;

/// Warns of a target that the plan's own number of sessions did not make; [`crate::judge`] turns
/// that into doubt if the storage missed nothing else, and drops it if it did. The limit is the
/// number that makes the target if no request takes longer (Little: rate = sessions / time). No
/// finding if the run searched for the number, or if something else kept the sessions waiting.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let settings = &run.start.settings;
    let target = run.target_iops().filter(|_| judges_load(run) && run.tuned.is_none())?;
    let achieved = run.achieved_transactional_iops();
    let enough = target * settings.thresholds.target_reached_percent / 100.0;
    if run.span_ns(Phase::Measure) == 0 || achieved <= 0.0 || achieved >= enough {
        return None;
    }
    let sessions = f64::from(settings.threads_per_database);
    let waited = waited_percent(run);
    let text = format!(
        "each request was answered in time, and the sessions waited for that {waited:.0} % of \
         their time: more of them make more load; `threads = \"auto\"` finds how many it takes"
    );
    (waited >= LEAST_WAIT_PERCENT).then(|| Finding {
        rule: RULE,
        title: "Sessions per database",
        kind: Kind::Validity,
        outcome: Ruling::Warn,
        measured: Some(sessions),
        limit: Some(Limit::AtLeast((sessions * target / achieved).ceil())),
        unit: Unit::Count,
        evidence: vec![Evidence::of_run(text)],
    })
}

/// Share of their time for which the sessions waited for database reads and log writes, in percent.
fn waited_percent(run: &RunRecord) -> f64 {
    let load = run.sum_of(Phase::Measure);
    let waited_ns: f64 = [Series::DatabaseRead, Series::LogWrite]
        .iter()
        .filter_map(|series| load.series.get(series))
        .map(|of| of.latency.count() as f64 * of.latency.mean_ns())
        .sum();
    let sessions = u64::from(run.start.settings.threads_per_database.max(1));
    let all = sessions * run.start.databases.len().max(1) as u64;
    (waited_ns / (run.span_ns(Phase::Measure) as f64 * all as f64) * 100.0).min(100.0)
}
