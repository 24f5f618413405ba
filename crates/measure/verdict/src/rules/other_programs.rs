//! Whether other programs took processor time from the measuring one.

use record::{IntervalRow, ProcessorShares, RunRecord};
use units::thousands;

use super::judged_phase;
use super::processors::{is_starved, mean, told};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Name of the rule.
pub(crate) const RULE: &str = "other-programs";

/// Warns if others used much on average, or kept this program from the processors in any one
/// interval. No finding if the record has no such data.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let rows = told(run);
    let mean = mean(&rows)?;
    let starved = run.intervals_of(judged_phase(run)).filter(|row| is_starved(row));
    let starved = starved.filter_map(|row| Some(row.processors.as_ref()?.others_percent));
    let limit = Limit::AtMost(ProcessorShares::HEAVY_PERCENT);
    // If the mean is within the limit, report the worst starved interval, which exceeds it.
    let worst = starved.max_by(f64::total_cmp).filter(|_| limit.admits(mean.others_percent));
    let measured = worst.unwrap_or(mean.others_percent);
    let before = run.start.processors_before.as_ref();
    let before = before.filter(|shares| shares.has_heavy_others());
    let mut evidence: Vec<Evidence> = heavy(&rows).into_iter().collect();
    evidence.extend(before.map(|shares| Evidence::of_run(format!("before the start: {shares}"))));
    Some(Finding {
        rule: RULE,
        title: "Processor time of other programs",
        kind: Kind::Validity,
        outcome: if limit.admits(measured) { Ruling::Pass } else { Ruling::Warn },
        measured: Some(measured),
        limit: Some(limit),
        unit: Unit::Percent,
        evidence,
    })
}

/// Adds the other programs to the evidence of every limit that was exceeded or could not be judged
/// alongside them.
pub(crate) fn name_beside(run: &RunRecord, findings: &mut [Finding]) {
    let of_load = findings.iter_mut().filter(|of| of.kind == Kind::Load && !is_of_nothing(of));
    for finding in
        of_load.filter(|of: &&mut Finding| matches!(of.outcome, Ruling::Fail | Ruling::CannotJudge))
    {
        let mut rows = told(run);
        if let Some(evidence) = finding.evidence.first_mut() {
            if let Some((from_ns, to_ns)) = evidence.span_ns {
                rows.retain(|(row, _)| row.from_ns < to_ns && from_ns < row.to_ns);
            }
            if let Some(named) = heavy(&rows) {
                evidence.text = format!("{}; {}", evidence.text, named.text);
            }
        }
    }
}

/// Whether there were no requests at all, which no other program prevents.
fn is_of_nothing(finding: &Finding) -> bool {
    finding.unit == Unit::Requests && finding.measured.is_none_or(|seen| seen < 1.0)
}

/// The intervals in which others used much, with details of the worst; `None` if there are none.
fn heavy(rows: &[(&IntervalRow, &ProcessorShares)]) -> Option<Evidence> {
    let heavy = rows.iter().filter(|(_, shares)| shares.has_heavy_others());
    let count = heavy.clone().count();
    let (row, shares) =
        heavy.max_by(|(_, one), (_, two)| one.others_percent.total_cmp(&two.others_percent))?;
    let text = match rows.len() {
        1 => format!("other programs were at work: {shares}"),
        all => format!(
            "other programs were at work in {} of {} intervals, at most: {shares}",
            thousands(count as u64),
            thousands(all as u64)
        ),
    };
    Some(Evidence { span_ns: Some((row.from_ns, row.to_ns)), ..Evidence::of_run(text) })
}
