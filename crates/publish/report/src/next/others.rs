//! Whether other programs were at work beside a run.

use record::RunRecord;
use verdict::{Ruling, Verdict};

/// Whether other programs used much of the processors in any interval.
pub(super) fn has_busy_others(run: &RunRecord) -> bool {
    let mut rows = run.intervals.iter().filter_map(|row| row.processors.as_ref());
    rows.any(record::ProcessorShares::has_heavy_others)
}

/// Whether a finding names other programs; programs with little processor use are not named.
pub(super) fn names_others(verdict: &Verdict) -> bool {
    let mut findings = verdict.findings.iter();
    findings.any(|of| of.rule == "other-programs" && of.outcome != Ruling::Pass)
}
