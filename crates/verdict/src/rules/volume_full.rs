//! A volume that had no room left has done nothing wrong, and a run that it ended proves nothing.

use record::{Issue, IssueKind, RunRecord};

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Cannot judge a run in which a volume was full; finds nothing in any other.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let mut full: Vec<&Issue> =
        run.issues.iter().filter(|issue| issue.kind == IssueKind::VolumeFull).collect();
    full.sort_by_key(|issue| issue.at_ns);
    let first = full.first()?;
    let volume = first.volume.as_deref().unwrap_or("a volume of the run");
    let text = format!(
        "{volume} had no room left ({}); free some space, run shorter, or prepare smaller \
         databases",
        first.text
    );
    Some(Finding {
        rule: "volume-full",
        title: "Room on the volumes",
        kind: Kind::Validity,
        outcome: Ruling::CannotJudge,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: vec![Evidence {
            database: first.database,
            span_ns: Some((first.at_ns, first.at_ns)),
            text,
        }],
    })
}
