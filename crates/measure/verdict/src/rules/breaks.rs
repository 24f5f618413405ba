//! Interrupted and resumed runs: the storage's behaviour just before a crash is unknown.

use record::{Break, Phase, RunRecord};

use super::unseen;
use crate::{Evidence, Finding};

/// If more than this share of the measurement may be unseen, the rest does not count as a
/// measurement.
const MOST_UNSEEN_PERCENT: f64 = 25.0;

/// Warns of every break; inconclusive if there are too many for the measurement. No finding if
/// there were none.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if run.breaks.is_empty() {
        return None;
    }
    let crashes = crashes(run);
    let percent = unseen_percent(run, crashes, run.span_ns(Phase::Measure));
    let mut evidence: Vec<Evidence> = run.breaks.iter().take(10).map(gap).collect();
    if crashes > 0 {
        evidence.push(Evidence::of_run(
            "the storage's behaviour between the last sample and a crash is not known: a stall \
             there is in no number here",
        ));
    }
    let title = if crashes > 0 {
        "Time before interruptions that may be missing"
    } else {
        "Stopped and resumed"
    };
    Some(unseen("resumed", title, percent, MOST_UNSEEN_PERCENT, evidence))
}

/// Whether a run that a crash has just cut off can be judged once it is resumed and measures all
/// of its planned time.
pub fn is_worth_resuming(run: &RunRecord) -> bool {
    let now = u64::from(run.finished.is_none());
    let measured_ns = run.start.settings.measure_ns;
    unseen_percent(run, crashes(run) + now, measured_ns) <= MOST_UNSEEN_PERCENT
}

fn crashes(run: &RunRecord) -> u64 {
    run.breaks.iter().filter(|of| !of.is_orderly).count() as u64
}

/// The share of the measurement that `crashes` may have hidden, in percent. A journal never
/// lags by more than one sample.
fn unseen_percent(run: &RunRecord, crashes: u64, measured_ns: u64) -> f64 {
    let unseen_ns = run.start.settings.interval_ns.saturating_mul(crashes);
    unseen_ns as f64 * 100.0 / unseen_ns.saturating_add(measured_ns).max(1) as f64
}

fn gap(one: &Break) -> Evidence {
    let seconds = one.to_ns.saturating_sub(one.from_ns) as f64 / 1e9;
    let text =
        format!("ended early; the run went on {seconds:.1} s later, and the gap counts nowhere");
    Evidence { span_ns: Some((one.from_ns, one.to_ns)), ..Evidence::of_run(text) }
}
