//! A record must be unaltered.

use record::{RunRecord, Seal};

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Inconclusive if the record was changed afterwards; no finding for a record without hashes, which
/// proves nothing.
pub(crate) fn judge(run: &RunRecord) -> Option<Finding> {
    let (outcome, evidence) = match run.seal {
        Seal::Unsealed => return None,
        Seal::Whole { .. } => (Ruling::Pass, Vec::new()),
        Seal::Altered { line } => (
            Ruling::CannotJudge,
            vec![Evidence::of_run(format!(
                "the record was altered after it was written: line {line} of the journal does not \
                 fit the hashes before it; report the original, or run again"
            ))],
        ),
    };
    Some(Finding {
        rule: "record-intact",
        title: "Record as written",
        kind: Kind::Record,
        outcome,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence,
    })
}
