//! A failure that depends on starved intervals alone is not the storage's: answers that wait for a
//! processor look like answers of a slow disk.

use record::{IntervalRow, Phase, RunRecord};

use units::three_digits_beside;

use super::{LatencyRule, waiting};
use crate::rules::processors::is_starved;
use crate::rules::{milliseconds, starved_lag};
use crate::{Evidence, Finding, Limit, Ruling};

/// Whether an interval is suitable for confirming a failure.
pub(super) fn is_calm(row: &IntervalRow) -> bool {
    !is_starved(row)
}

/// Withdraws the failure of `finding` if, for every database that failed, the mean over the calm
/// intervals (`calm_mean_ns`) is within the limit.
pub(super) fn doubted(
    mut finding: Finding,
    run: &RunRecord,
    limit: Limit,
    calm_mean_ns: impl Fn(u32) -> f64,
) -> Finding {
    let lag_ms = starved_lag::longest(run).map(|(lag_ns, _)| milliseconds(lag_ns as f64));
    let starved = lag_ms.filter(|lag_ms| !starved_lag::limit().admits(*lag_ms));
    let mut failed = finding.evidence.iter().filter_map(|one| one.database);
    let is_in_doubt = finding.outcome == Ruling::Fail
        && !failed.any(|database: u32| !limit.admits(milliseconds(calm_mean_ns(database))));
    if let Some(lag_ms) = starved.filter(|_| is_in_doubt) {
        withdraw(&mut finding, lag_ms);
    }
    finding
}

/// Makes `finding` inconclusive, and states next to its latency the lag that explains it.
fn withdraw(finding: &mut Finding, lag_ms: f64) {
    finding.outcome = Ruling::CannotJudge;
    if let Some(worst) = finding.evidence.first_mut() {
        let most_ms = starved_lag::limit().value();
        worst.decides = true;
        worst.text = format!(
            "{}, over the limit only in intervals in which this program noticed answers up to {} \
             ms late, limit {most_ms} ms",
            worst.text,
            three_digits_beside(lag_ms, most_ms),
        );
    }
    finding.evidence.push(Evidence::of_run("end the other programs and run again"));
}

impl LatencyRule {
    /// The worst 99th percentile of a database in any calm interval: it may be higher than that of
    /// all calm intervals together, so a failure is withdrawn only if none of them showed it.
    pub(super) fn calm_p99_ns(&self, run: &RunRecord, database: u32) -> f64 {
        run.intervals_of(Phase::Measure)
            .filter(|row| !row.is_left_out && is_calm(row))
            .flat_map(|row| row.databases.iter().filter(|of| of.index == database))
            .filter_map(|of| of.series.get(&self.series))
            .map(|part| {
                waiting::p99_ns(&part.unanswered, part.latency.count, |_| part.latency.p99_ns)
            })
            .fold(0.0, f64::max)
    }

    /// The mean of a database over the calm intervals of the measurement.
    pub(super) fn calm_mean_ns(&self, run: &RunRecord, database: u32) -> f64 {
        let rows = run.intervals_of(Phase::Measure);
        let calm = rows.filter(|row| !row.is_left_out && is_calm(row));
        let (mut count, mut sum_ns) = (0_u64, 0.0);
        let mut unanswered = record::Unanswered::default();
        for row in calm {
            let of_database = row.databases.iter().find(|of| of.index == database);
            let Some(part) = of_database.and_then(|of| of.series.get(&self.series)) else {
                continue;
            };
            count += part.latency.count;
            sum_ns += part.latency.mean_ns * part.latency.count as f64;
            unanswered = record::Unanswered { stalled_ns: 0, ..part.unanswered };
        }
        let mean_ns = if count == 0 { 0.0 } else { sum_ns / count as f64 };
        unanswered.mean_ns((count, mean_ns), 0)
    }
}
