//! Failed requests and damaged content encountered by the load itself.

use record::{Issue, RunRecord, Severity};
use units::{plural, thousands};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Maximum number of evidence lines; readers would not read more.
const EVIDENCE_SHOWN: usize = 10;

/// Fails on any error, like Jetstress 2013; warnings are shown and fail nothing.
#[expect(clippy::unnecessary_wraps, reason = "every rule has the same shape")]
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    // Separate rules report volumes that were full or unreachable.
    let mut shown: Vec<&Issue> =
        run.issues.iter().filter(|issue| issue.kind.blames_storage()).collect();
    let noted = shown.iter().filter(|issue| issue.severity == Severity::Error).count() as u64;
    let further = run.further_error_count();
    let noted = noted + further;
    let failed_requests: u64 = run
        .totals
        .values()
        .flat_map(|totals| totals.series.values())
        .map(|total| total.errors)
        .sum();
    // A failed request is usually noted as an issue too: not counted twice.
    let errors = noted.max(failed_requests);
    let outcome = if errors > 0 {
        Ruling::Fail
    } else if shown.is_empty() {
        Ruling::Pass
    } else {
        Ruling::Warn
    };
    shown.sort_by_key(|issue| (std::cmp::Reverse(issue.severity), issue.at_ns));
    let mut evidence: Vec<Evidence> =
        shown.iter().take(EVIDENCE_SHOWN).map(|of| place(of)).collect();
    let more = shown.len().saturating_sub(EVIDENCE_SHOWN) as u64 + further;
    if more > 0 {
        evidence.push(Evidence::of_run(format!("and {} more", thousands(more))));
    }
    if failed_requests > noted {
        let text = format!("{} failed", plural(failed_requests, "request"));
        evidence.push(Evidence::of_run(text));
    }
    let finding = Finding {
        rule: "input-output-errors",
        title: "I/O errors and damaged content",
        kind: Kind::Damage,
        outcome,
        measured: Some(errors as f64),
        limit: Some(Limit::AtMost(0.0)),
        unit: Unit::Count,
        evidence,
    };
    // A warning alone is not an error, so no number proves it.
    Some(if outcome == Ruling::Warn { finding.without_numbers() } else { finding })
}

fn place(issue: &Issue) -> Evidence {
    Evidence {
        database: issue.database,
        span_ns: Some((issue.at_ns, issue.at_ns)),
        text: issue.text.clone(),
        decides: false,
    }
}
