//! A full volume is not at fault, and a run that ended because of it is inconclusive.

use record::{Issue, IssueKind, RunRecord};

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Inconclusive if a volume was full; no finding otherwise.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    nothing_proved(run, IssueKind::VolumeFull, ("volume-full", "Room on the volumes"), |issue| {
        let limits = space_limits(run).join("; ");
        let limits = if limits.is_empty() { limits } else { format!("; {limits}") };
        format!(
            "{} had no room left ({}){limits}",
            issue.volume.as_deref().unwrap_or("a volume of the run"),
            issue.text
        )
    })
}

/// The distinct quotas and file size limits: a volume with free space may be full for this process.
fn space_limits(run: &RunRecord) -> Vec<&str> {
    let volumes = run.start.databases.iter().flat_map(|of| [&of.volume, &of.log_volume]);
    let mut limits: Vec<&str> =
        volumes.flat_map(|volume| &volume.space_limits).map(String::as_str).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// Makes a run inconclusive because of its first issue of this kind, described by `text`; `None` if
/// there is no such issue.
pub(super) fn nothing_proved(
    run: &RunRecord,
    kind: IssueKind,
    (rule, title): (&'static str, &'static str),
    text: impl Fn(&Issue) -> String,
) -> Option<Finding> {
    let issues = run.issues.iter().filter(|issue| issue.kind == kind);
    let first = issues.min_by_key(|issue| issue.at_ns)?;
    Some(Finding {
        rule,
        title,
        kind: Kind::Validity,
        outcome: Ruling::CannotJudge,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: vec![Evidence {
            database: first.database,
            span_ns: Some((first.at_ns, first.at_ns)),
            text: text(first),
            decides: false,
        }],
    })
}
