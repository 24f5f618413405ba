//! A run must have reached its planned end.

use record::{Issue, IssueKind, RunRecord};

use super::kind_of_a_cut_run;
use crate::{Evidence, Finding, Ruling, Unit};

/// Inconclusive if the run was interrupted, if its storage or the engine ended it early, or if its
/// journal just stops.
#[expect(clippy::unnecessary_wraps, reason = "every rule has the same shape")]
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let reason = match &run.finished {
        Some(finished) if !finished.interrupted => None,
        Some(finished) => {
            Some(finished.reason.clone().unwrap_or_else(|| "the run was interrupted".to_owned()))
        }
        None => Some("the record ends without an end: the program or machine stopped".to_owned()),
    };
    Some(Finding {
        rule: "completed",
        title: "Completion",
        kind: kind_of_a_cut_run(run),
        outcome: if reason.is_none() { Ruling::Pass } else { Ruling::CannotJudge },
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: reason.into_iter().map(Evidence::of_run).chain(undone(run)).collect(),
    })
}

/// Unfinished steps, and requests refused by the engine.
fn undone(run: &RunRecord) -> impl Iterator<Item = Evidence> {
    let is_of_it =
        |issue: &&Issue| matches!(issue.kind, IssueKind::Unfinished | IssueKind::Refused);
    run.issues.iter().filter(is_of_it).map(|issue| Evidence {
        database: issue.database,
        span_ns: Some((issue.at_ns, issue.at_ns)),
        text: issue.text.clone(),
        decides: false,
    })
}
