//! Whether the load was as high as the plan's mailboxes need: a load held lower passes at its
//! target, which is less than required.

use record::{Phase, RunRecord};
use units::thousands;

use super::{allowance, judges_load};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "mailbox-load";

/// Warns below the stated share of the load that the mailboxes need. No finding for a run without a
/// measured load, or if the plan has no mailboxes.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let settings = &run.start.settings;
    let (wanted, each) = (settings.mailboxes?, settings.iops_per_mailbox?);
    if !judges_load(run) || run.span_ns(Phase::Measure) == 0 {
        return None;
    }
    let percent = settings.thresholds.target_reached_percent;
    let limit = Limit::AtLeast(wanted as f64 * each * run.held_share() * percent / 100.0);
    let achieved = run.achieved_transactional_iops();
    let has_load = limit.admits(achieved);
    let text = format!(
        "{} mailboxes of {each:.2} IOPS need {:.1} IOPS{}",
        thousands(wanted),
        wanted as f64 * each * run.held_share(),
        allowance(percent)
    );
    Some(Finding {
        rule: RULE,
        title: "Load of the plan's mailboxes",
        kind: Kind::Load,
        outcome: if has_load { Ruling::Pass } else { Ruling::Warn },
        measured: Some(achieved),
        limit: Some(limit),
        unit: Unit::IoPerSecond,
        evidence: vec![Evidence::of_run(text)],
    })
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;

    use super::RULE;
    use crate::{Ruling, judge};

    #[test]
    fn a_load_below_that_of_the_mailboxes_passes_with_a_warning() {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        // Held lower, as with `--target-iops`.
        run.start.settings.target_iops = Some(200.0);
        for (mailboxes, outcome) in [(2_000, Some(Ruling::Pass)), (4_000, Some(Ruling::Warn))] {
            run.start.settings.mailboxes = Some(mailboxes);
            let verdict = judge(&run);
            let found = verdict.findings.iter().find(|finding| finding.rule == RULE);
            assert_eq!(found.map(|found| found.outcome), outcome, "{mailboxes}");
            assert_eq!(verdict.outcome, Ruling::Pass);
            assert_eq!(verdict.lacks_load(), outcome == Some(Ruling::Warn));
        }
        run.start.settings.mailboxes = None;
        assert!(judge(&run).findings.iter().all(|finding| finding.rule != RULE));
    }
}
