//! Storage that became unreachable may have done nothing wrong, and was not measured.

use record::{IssueKind, RunRecord};

use super::volume_full::nothing_proved;
use crate::Finding;

/// Inconclusive if the run lost the connection to its storage; no finding otherwise.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let rule = ("connection-lost", "Connection to the storage");
    nothing_proved(run, IssueKind::ConnectionLost, rule, |issue| issue.text.clone())
}
