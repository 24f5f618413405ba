//! The number that decided a verdict, next to its limit: a mean does not explain a run that failed
//! by its slowest percent.

use verdict::{Finding, Kind, Limit, Ruling, Unit, Verdict};

use crate::margin::margin_of_finding;
use crate::meaning;
use crate::sections::findings::ACCEPT_A_SHARE;

/// The deciding number and its limit: for a failed run, the number that misses its limit by most;
/// for a passed run, the latency closest to its limit; for an inconclusive run, the number of the
/// first decisive finding, with the range of a simulated number that is too near its limit. `None`
/// if no number decided.
pub fn deciding_number(verdict: &Verdict) -> Option<String> {
    let finding = match verdict.outcome {
        Ruling::Fail => worst_miss(verdict)?,
        Ruling::Pass | Ruling::Warn => closest(verdict)?,
        Ruling::CannotJudge => *meaning::decisive(verdict).first()?,
    };
    let numbers = meaning::numbers(finding);
    let why = explanation(finding).map(|why| format!(": {why}")).unwrap_or_default();
    (!numbers.is_empty()).then(|| format!("{}{numbers}{why}", finding.title))
}

/// What a reader must know beside the two numbers: the range of a simulated one, or the load that
/// was asked for, of which the limit is a share.
fn explanation(finding: &Finding) -> Option<&str> {
    finding.deciding_evidence().or_else(|| {
        let first = finding.evidence.first().filter(|_| ACCEPT_A_SHARE.contains(&finding.rule));
        first.map(|of| of.text.as_str())
    })
}

fn worst_miss(verdict: &Verdict) -> Option<&Finding> {
    let failed = verdict.findings.iter().filter(|of| of.outcome == Ruling::Fail);
    let worst = failed.max_by(|one, two| excess(one).total_cmp(&excess(two)))?;
    Some(worst)
}

/// How far a number exceeds its limit, as a multiple of it; damage, which has no limit, is worse
/// than any number.
fn excess(finding: &Finding) -> f64 {
    match (finding.kind, finding.measured, finding.limit) {
        (Kind::Damage, ..) => f64::INFINITY,
        (_, Some(measured), Some(Limit::AtMost(limit))) => measured / limit,
        (_, Some(measured), Some(Limit::AtLeast(limit))) => limit / measured,
        _ => 0.0,
    }
}

fn closest(verdict: &Verdict) -> Option<&Finding> {
    let latencies = verdict.findings.iter().filter(|of| of.unit == Unit::Milliseconds);
    let kept = latencies.filter_map(|of| margin_of_finding(of).map(|margin| (margin, of)));
    kept.min_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, of)| of)
}

#[cfg(test)]
mod tests {
    use super::deciding_number;
    use record::Tuned;

    use crate::tests::passing;

    /// The limit of a target is the share of it that is enough; the number alone would seem to be
    /// the target.
    #[test]
    fn what_decided_names_the_target_and_the_share_that_is_enough() {
        let mut run = passing();
        run.tuned = Some(Tuned::default());
        let target = run.achieved_transactional_iops() / 0.949_9;
        run.start.settings.target_iops = Some(target);
        let decided = deciding_number(&verdict::judge(&run)).unwrap_or_default();
        let [measured, limit] = ["IOPS ", "at least "].map(|before| {
            let rest = decided.split(before).nth(1).unwrap_or_default();
            rest.split(' ').next().and_then(|of| of.replace(',', "").parse::<f64>().ok())
        });
        assert!(measured.is_some() && measured < limit, "{decided}");
        assert!(decided.contains(": the target is ") && decided.ends_with("5 % less is allowed"));
    }
}
