//! Whether other programs delayed this one: a latency over its limit only in such intervals is not
//! held against the storage, so the delay that decides it is shown.

use record::{IntervalRow, RunRecord};

use super::processors::{LAG_LIMIT_NS, lag_beside_others_ns};
use super::{judged_phase, milliseconds};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "starved-lag";

/// The limit of [`RULE`].
pub(super) fn limit() -> Limit {
    Limit::AtMost(milliseconds(LAG_LIMIT_NS as f64))
}

/// Warns if this program was late in any interval in which others left it no processor. No finding
/// without such an interval.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let (lag_ns, row) = longest(run)?;
    let is_prompt = lag_ns <= LAG_LIMIT_NS;
    let shares = row.processors.as_ref().map(ToString::to_string).unwrap_or_default();
    let evidence = Evidence { span_ns: Some((row.from_ns, row.to_ns)), ..Evidence::of_run(shares) };
    Some(Finding {
        rule: RULE,
        title: "Longest lag beside other programs",
        kind: Kind::Validity,
        outcome: if is_prompt { Ruling::Pass } else { Ruling::Warn },
        measured: Some(milliseconds(lag_ns as f64)),
        limit: Some(limit()),
        unit: Unit::Milliseconds,
        evidence: if is_prompt { Vec::new() } else { vec![evidence] },
    })
}

/// The longest lag in the judged intervals in which others left no processor.
pub(super) fn longest(run: &RunRecord) -> Option<(u64, &IntervalRow)> {
    let rows = run.counting_intervals_of(judged_phase(run));
    rows.filter_map(|row| Some((lag_beside_others_ns(row)?, row))).max_by_key(|(lag, _)| *lag)
}
