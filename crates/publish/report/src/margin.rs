//! Distance of a run from the limit that it would break first.

use verdict::{Finding, Limit, Unit, Verdict};

/// The least distance of a latency from its limit, in percent of the limit; negative beyond it.
/// `None` if no latency was judged.
pub fn margin_percent(verdict: &Verdict) -> Option<f64> {
    verdict.findings.iter().filter_map(margin_of_finding).reduce(f64::min)
}

/// The same for one finding; `None` if it does not concern a latency.
pub(crate) fn margin_of_finding(finding: &Finding) -> Option<f64> {
    match (finding.limit?, finding.unit) {
        (Limit::AtMost(limit), Unit::Milliseconds) if limit > 0.0 => {
            Some((limit - finding.measured?) / limit * 100.0)
        }
        _ => None,
    }
}
