//! Control group limits on a disk, which may fully explain slow storage.

use record::RunRecord;

use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Warns of each limit. No finding if there are none or none are known.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let evidence: Vec<Evidence> = of(run).into_iter().map(Evidence::of_run).collect();
    if evidence.is_empty() {
        return None;
    }
    Some(Finding {
        rule: "io-limits",
        title: "Limits of the control group",
        kind: Kind::Validity,
        outcome: Ruling::Warn,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence,
    })
}

/// Adds the control group limits to the evidence of every failed limit of the load.
pub(crate) fn name_beside(run: &RunRecord, findings: &mut [Finding]) {
    let limits = of(run).join("; ");
    if limits.is_empty() {
        return;
    }
    for finding in findings {
        if finding.kind == Kind::Load && finding.outcome == Ruling::Fail {
            match finding.evidence.first_mut() {
                Some(first) => first.text = format!("{}; {limits}", first.text),
                None => finding.evidence.push(Evidence::of_run(limits.clone())),
            }
        }
    }
}

/// The distinct limits of all volumes.
fn of(run: &RunRecord) -> Vec<String> {
    let mut limits: Vec<String> = run
        .start
        .databases
        .iter()
        .flat_map(|of| [&of.volume, &of.log_volume])
        .flat_map(|volume| volume.io_limits.clone())
        .collect();
    limits.sort();
    limits.dedup();
    limits
}

#[cfg(test)]
mod tests {
    use record::Tuned;
    use record::synthetic::Synthetic;

    use crate::{Ruling, judge};

    #[test]
    fn a_limit_warns_and_is_named_beside_what_was_missed() {
        let mut run = Synthetic::default().run();
        let limit = "the control group /box allows 200 writes a second on 8:0";
        run.start.databases[0].volume.io_limits = vec![limit.to_owned()];
        let verdict = judge(&run);
        assert_eq!(verdict.outcome, Ruling::Pass);
        let warned: Vec<_> = verdict.objections().iter().map(|one| one.rule).collect();
        assert_eq!(warned, ["io-limits"]);
        run.start.settings.target_iops = Some(1e6);
        run.tuned = Some(Tuned::default());
        let verdict = judge(&run);
        assert_eq!(verdict.outcome, Ruling::Fail);
        let missed = verdict.objections()[0].evidence[0].text.clone();
        assert!(missed.ends_with(limit), "{missed}");
    }
}
