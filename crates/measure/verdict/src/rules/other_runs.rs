//! Whether another run used the same disks at the same time: each measured only the remaining
//! capacity.

use record::{OtherRun, RunRecord};

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Warns of each one seen; no finding if there were none. Runs on other machines, and those of
/// other users whose files this run may not list, are not seen.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if run.other_runs.is_empty() {
        return None;
    }
    Some(Finding {
        rule: "other-runs",
        title: "Other runs on the same disks",
        kind: Kind::Validity,
        outcome: Ruling::Warn,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: run.other_runs.iter().map(named).collect(),
    })
}

fn named(other: &OtherRun) -> Evidence {
    let OtherRun { at_ns, folder, volume, disk } = other;
    let text = format!(
        "the run in {folder} used {disk} too, which {volume} is on: each measured what the other \
         left of it; run one after the other"
    );
    Evidence { span_ns: Some((*at_ns, *at_ns)), ..Evidence::of_run(text) }
}

#[cfg(test)]
mod tests {
    use record::OtherRun;
    use record::synthetic::Synthetic;

    use crate::{Ruling, judge};

    #[test]
    fn another_run_on_the_disk_warns_and_is_named() {
        let mut run = Synthetic::default().run();
        assert!(judge(&run).objections().is_empty());
        run.other_runs.push(OtherRun {
            at_ns: 7_000_000_000,
            folder: "/tests/run-b".to_owned(),
            volume: "/mail/db01".to_owned(),
            disk: "sda".to_owned(),
        });
        let verdict = judge(&run);
        assert_eq!(verdict.outcome, Ruling::Pass);
        let warned = &verdict.objections()[0];
        assert_eq!((warned.rule, warned.outcome), ("other-runs", Ruling::Warn));
        let said = &warned.evidence[0].text;
        assert!(said.starts_with("the run in /tests/run-b used sda too"), "{said}");
    }
}
