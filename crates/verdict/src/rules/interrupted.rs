//! A run must have come to its planned end.

use record::RunRecord;

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Cannot judge a run that was interrupted, or whose journal just stops.
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
        kind: Kind::Validity,
        outcome: if reason.is_none() { Ruling::Pass } else { Ruling::CannotJudge },
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: reason.into_iter().map(Evidence::of_run).collect(),
    })
}
