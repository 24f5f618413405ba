//! The load line: the highest load at which every rule still holds, from steps of rising load.

use record::{IntervalRow, Phase, RunRecord, Series};

use crate::samples::{Estimate, Trend, estimate};
use crate::{Finding, Kind, Limit, Ruling, Verdict, rules};

/// One load step and its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadStep {
    /// Target in database reads and writes per second; `None` for as many as the sessions produce.
    pub asked_iops: Option<f64>,
    /// Sessions of each database.
    pub sessions: u32,
    /// Database reads and writes per second.
    pub iops: Estimate,
    /// Latency of a database read in milliseconds.
    pub read_ms: Estimate,
    /// Latency of a log write in milliseconds.
    pub log_write_ms: Estimate,
    /// Trend of the rate within the step; `None` if the step is too short.
    pub trend: Option<Trend>,
    /// Whether every rule passed; `None` if the step cannot be judged.
    pub holds: Option<bool>,
    /// Whether data was lost or changed.
    pub is_damaged: bool,
    /// The rules that did not hold, or why the step cannot be judged.
    pub objections: Vec<&'static str>,
    /// Numeric judgements: rule, number, maximum.
    pub readings: Vec<(&'static str, f64, f64)>,
}

/// Position of the load line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Database reads and writes per second.
    pub iops: f64,
    /// The highest load observed to hold.
    pub held_iops: f64,
    /// Whether a higher load failed; else the line lies at or above the number.
    pub is_passed: bool,
}

impl LoadStep {
    /// The load step of `run`, judged as `verdict`.
    pub fn of(run: &RunRecord, verdict: &Verdict) -> Self {
        let rates: Vec<f64> = run
            .counting_intervals_of(Phase::Measure)
            .map(IntervalRow::transactional_iops)
            .collect();
        Self {
            asked_iops: run.start.settings.target_iops,
            sessions: run.sessions_per_database(),
            iops: estimate(&rates),
            read_ms: latency(run, Series::DatabaseRead),
            log_write_ms: latency(run, Series::LogWrite),
            trend: rules::trend_of_the_rate(run),
            holds: holds(verdict),
            is_damaged: failed(verdict, Kind::Damage),
            objections: objections(verdict),
            readings: verdict.findings.iter().filter_map(reading).collect(),
        }
    }

    /// Share of the way from `self`, which holds, to `above` over which every rule still holds.
    fn share_of_the_way(&self, above: &Self) -> f64 {
        let over = above.readings.iter().filter(|(_, failed, limit)| failed > limit);
        over.map(|&(rule, failed, limit)| {
            let below = self.readings.iter().find(|reading| reading.0 == rule);
            below.map_or(0.0, |below| ((limit - below.1) / (failed - below.1)).clamp(0.0, 1.0))
        })
        .fold(1.0, f64::min)
    }

    fn load(&self) -> f64 {
        self.asked_iops.unwrap_or(self.iops.mean)
    }
}

/// The mean over all requests, as in the run's report. The means of the intervals, all with the
/// same weight, only determine its uncertainty.
fn latency(run: &RunRecord, series: Series) -> Estimate {
    let rows = run.counting_intervals_of(Phase::Measure);
    let found = rows.filter_map(|row| row.series.get(&series));
    let of_intervals = estimate(&found.map(|row| row.latency.mean_ns / 1e6).collect::<Vec<f64>>());
    let sum = run.sum_of(Phase::Measure);
    let mean = sum.series.get(&series).map(|total| total.latency.mean_ns() / 1e6);
    Estimate { mean: mean.unwrap_or(of_intervals.mean), ..of_intervals }
}

fn reading(finding: &Finding) -> Option<(&'static str, f64, f64)> {
    match (finding.measured?, finding.limit?) {
        (measured, Limit::AtMost(limit)) => Some((finding.rule, measured, limit)),
        (_, Limit::AtLeast(_)) => None,
    }
}

/// The rules that failed; the mailboxes of the plan do not matter to a step, which is held at
/// another load.
fn objections(verdict: &Verdict) -> Vec<&'static str> {
    let mut names: Vec<&'static str> =
        verdict.objections().iter().map(|finding| finding.rule).collect();
    names.retain(|name| ![rules::MAILBOX_LOAD, rules::MAILBOX_ROOM].contains(name));
    names
}

fn judged(steps: &[LoadStep], holds: bool) -> impl Iterator<Item = &LoadStep> {
    steps.iter().filter(move |step| step.holds == Some(holds))
}

/// A failure alongside other programs or pauses cannot be attributed to the storage with certainty.
fn holds(verdict: &Verdict) -> Option<bool> {
    let is_disturbed = verdict.findings.iter().any(|finding| {
        rules::DISTURBANCES.contains(&finding.rule) && finding.outcome != Ruling::Pass
    });
    // A line is drawn with the sessions that its first load found, or with those of the plan.
    let is_for_sessions = verdict.decisive().iter().all(|of| of.rule == rules::SESSIONS);
    match verdict.outcome {
        Ruling::Pass | Ruling::Warn => Some(true),
        Ruling::Fail if failed(verdict, Kind::Damage) || !is_disturbed => Some(false),
        Ruling::CannotJudge if is_for_sessions && !is_disturbed => Some(false),
        Ruling::Fail | Ruling::CannotJudge => None,
    }
}

fn failed(verdict: &Verdict, kind: Kind) -> bool {
    let mut of_kind = verdict.findings.iter().filter(|finding| finding.kind == kind);
    of_kind.any(|finding| finding.outcome == Ruling::Fail)
}

/// The load line of `steps`, in any order; `None` if no load passed. The line lies between the
/// highest load that passed and the next higher one that failed, where the first rule reaches its
/// limit. A missed target counts with the rate achieved. A load without a target counts only if
/// none of the others passed: its sessions wait for the storage, so it may meet the limits at a
/// rate at which users, who do not wait, see them exceeded.
pub fn knee(steps: &[LoadStep]) -> Option<Knee> {
    let asked = judged(steps, true).filter(|step| step.asked_iops.is_some());
    let held = highest(asked).or_else(|| highest(judged(steps, true)))?;
    let above = judged(steps, false).filter(|step| step.load() >= held.iops.mean * 0.98);
    let above = above.min_by(|one, two| one.load().total_cmp(&two.load()));
    let more = above.map_or(0.0, |above| {
        let further = (above.iops.mean - held.iops.mean).max(0.0);
        further * held.share_of_the_way(above)
    });
    Some(Knee {
        iops: held.iops.mean + more,
        held_iops: held.iops.mean,
        is_passed: above.is_some(),
    })
}

fn highest<'a>(steps: impl Iterator<Item = &'a LoadStep>) -> Option<&'a LoadStep> {
    steps.max_by(|one, two| one.iops.mean.total_cmp(&two.iops.mean))
}

#[cfg(test)]
mod tests;
