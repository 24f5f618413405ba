//! How late this program picked up completions: if it waits for a processor, the disk appears slow.

use record::{HostSample, ProcessorShares, RunRecord};

use super::processors::{self, LAG_LIMIT_NS, host_samples};
use super::{judges_load, milliseconds};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "completion-lag";

/// Warns if completions were late in a typical interval; [`crate::judge`] turns that into doubt if
/// the load failed. No finding without samples of the machine.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let lag_ns = median_lag_ns(&host_samples(run))?;
    let is_prompt = lag_ns <= LAG_LIMIT_NS;
    Some(Finding {
        rule: RULE,
        title: "Completion lag",
        kind: Kind::Validity,
        outcome: if is_prompt { Ruling::Pass } else { Ruling::Warn },
        measured: Some(milliseconds(lag_ns as f64)),
        limit: Some(Limit::AtMost(milliseconds(LAG_LIMIT_NS as f64))),
        unit: Unit::Milliseconds,
        evidence: if is_prompt { Vec::new() } else { vec![Evidence::of_run(remedy(run))] },
    })
}

fn remedy(run: &RunRecord) -> String {
    match processors::on_average(run).filter(ProcessorShares::has_heavy_others) {
        Some(shares) => format!("{shares}: stop the other programs and run again"),
        None if judges_load(run) => {
            "I/O completions were picked up late in half of the intervals: stop other load, or use \
             fewer threads"
                .to_owned()
        }
        None => "I/O completions were picked up late in half of the intervals: stop other load"
            .to_owned(),
    }
}

/// The lag of a typical interval, since one hiccup in an hour must not spoil a run. `None` without
/// samples.
fn median_lag_ns(samples: &[HostSample]) -> Option<u64> {
    let mut lags: Vec<u64> = samples.iter().map(|sample| sample.reactor_lag_maximum_ns).collect();
    lags.sort_unstable();
    lags.get(lags.len().checked_sub(1)? / 2).copied()
}
