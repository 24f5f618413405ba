//! Distance of a run from the limit that it would break first.

use verdict::{Finding, Kind, Limit, Unit, Verdict};

/// Smallest distance of any storage latency from its limit, in percent of the limit; negative if
/// the limit is missed. `None` if no latency was judged.
pub fn margin_percent(verdict: &Verdict) -> Option<f64> {
    verdict.findings.iter().filter_map(margin_of_finding).reduce(f64::min)
}

/// Distance of one finding's latency from its limit, in percent of the limit; `None` if the finding
/// does not concern a latency of the storage but, for example, the completion lag of the load
/// generator.
pub(crate) fn margin_of_finding(finding: &Finding) -> Option<f64> {
    match (finding.limit?, finding.unit) {
        (Limit::AtMost(limit), Unit::Milliseconds) if limit > 0.0 && finding.kind == Kind::Load => {
            Some((limit - finding.measured?) / limit * 100.0)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use verdict::{Finding, Kind, Limit, Ruling, Unit};

    use super::margin_of_finding;

    /// A busy processor says nothing about the latency of the storage.
    #[test]
    fn the_lag_of_the_load_generator_is_no_margin_of_the_storage() {
        let finding = |kind| Finding {
            rule: "any",
            title: "Any",
            kind,
            outcome: Ruling::Warn,
            measured: Some(35.2),
            limit: Some(Limit::AtMost(10.0)),
            unit: Unit::Milliseconds,
            evidence: Vec::new(),
        };
        let margin = margin_of_finding(&finding(Kind::Load));
        assert!(margin.is_some_and(|margin| (margin + 252.0).abs() < 1e-9), "{margin:?}");
        assert_eq!(margin_of_finding(&finding(Kind::Validity)), None);
    }
}
