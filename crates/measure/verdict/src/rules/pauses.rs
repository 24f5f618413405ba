//! Intervals in which the program was not scheduled are excluded; too many of them leave too little
//! to judge.

use record::RunRecord;

use super::{judged_phase, unseen};
use crate::{Evidence, Finding};

/// If more than this share of the measurement was missed, the rest does not count as a measurement.
const MOST_LEFT_OUT_PERCENT: f64 = 25.0;

/// Warns of every interval that was left out; inconclusive if there are too many. No finding for a
/// run that was never paused.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let phase = judged_phase(run);
    let left_out: Vec<_> = run.intervals_of(phase).filter(|row| row.is_left_out).collect();
    if left_out.is_empty() {
        return None;
    }
    let missed_ns: u64 = left_out.iter().map(|row| row.span_ns()).sum();
    let percent = missed_ns as f64 * 100.0 / (missed_ns + run.span_ns(phase)) as f64;
    let count = left_out.len();
    let intervals = if count == 1 { "interval" } else { "intervals" };
    let seconds = missed_ns as f64 / 1e9;
    let sum = format!(
        "{count} {intervals}, {seconds:.1} s together, left out of latencies and rates: the \
         program or the machine was stopped"
    );
    let mut evidence = vec![Evidence::of_run(sum)];
    evidence.extend(left_out.iter().take(10).map(|row| Evidence {
        span_ns: Some((row.from_ns, row.to_ns)),
        ..Evidence::of_run("left out")
    }));
    let title = "Time in which the program did not run";
    Some(unseen("pauses", title, percent, MOST_LEFT_OUT_PERCENT, evidence))
}
