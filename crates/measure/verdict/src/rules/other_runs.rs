//! Whether another run used the same disks at the same time: each measured only the remaining
//! capacity.

use std::collections::BTreeSet;

use record::{OtherRun, RunRecord};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "other-runs";

/// Most runs to name.
const MOST_NAMED: usize = 3;

/// Warns of each one seen; [`crate::judge`] turns that into doubt if the load failed. No
/// finding if there were none. Runs on other machines, and those of other users whose files this
/// run may not list, are not seen.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if run.other_runs.is_empty() {
        return None;
    }
    let folders: BTreeSet<&String> = run.other_runs.iter().map(|of| &of.folder).collect();
    Some(Finding {
        rule: RULE,
        title: "Other runs on the same disks",
        kind: Kind::Validity,
        outcome: Ruling::Warn,
        measured: Some(folders.len() as f64),
        limit: Some(Limit::AtMost(0.0)),
        unit: Unit::Count,
        evidence: named(&run.other_runs),
    })
}

/// The first one with what it means, a few more by name, and how many there were beside them.
fn named(others: &[OtherRun]) -> Vec<Evidence> {
    let mut evidence: Vec<Evidence> = others.iter().take(MOST_NAMED).map(of_one).collect();
    if let Some(first) = evidence.first_mut() {
        first.text += ": each measured what the other left of it; run one after the other";
    }
    let more = others.len().saturating_sub(MOST_NAMED);
    let rest = (more > 0).then(|| Evidence::of_run(format!("and {more} more times")));
    evidence.extend(rest);
    evidence
}

fn of_one(other: &OtherRun) -> Evidence {
    let OtherRun { at_ns, folder, volume, disk } = other;
    let text = format!("the run in {folder} used {disk} too, which {volume} is on");
    Evidence { span_ns: Some((*at_ns, *at_ns)), ..Evidence::of_run(text) }
}

#[cfg(test)]
mod tests {
    use record::OtherRun;
    use record::synthetic::Synthetic;

    use crate::{Limit, Ruling, Verdict, judge};

    /// A run in the given folder, on a disk of the judged one.
    fn other(folder: &str, disk: &str) -> OtherRun {
        OtherRun {
            at_ns: 7_000_000_000,
            folder: folder.to_owned(),
            volume: "/mail/db01".to_owned(),
            disk: disk.to_owned(),
        }
    }

    fn outcomes(verdict: &Verdict) -> (Ruling, Option<Ruling>) {
        let found = verdict.findings.iter().find(|of| of.rule == super::RULE);
        (verdict.outcome, found.map(|of| of.outcome))
    }

    /// The latency of a disk that another run drives says nothing about the disk alone.
    #[test]
    fn a_failure_beside_another_run_cannot_be_judged_and_names_the_limit() {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        run.start.settings.thresholds.read_average_ns = 1_000_000;
        assert_eq!(judge(&run).outcome, Ruling::Fail);
        run.other_runs = vec![other("/a", "sda"), other("/a", "sdb"), other("/b", "sda")];
        let verdict = judge(&run);
        assert_eq!(outcomes(&verdict), (Ruling::CannotJudge, Some(Ruling::CannotJudge)));
        let decisive = verdict.decisive();
        assert_eq!(decisive.len(), 1, "{decisive:?}");
        assert_eq!(decisive[0].numbers(), " 2, limit 0");
        let why = decisive[0].deciding_evidence().unwrap_or_default();
        let missed = "it may be why a limit was not kept: Database read latency, mean of the worst";
        assert!(why.starts_with(missed) && why.ends_with(" ms, limit 1 ms"), "{why}");
    }

    /// Requests of two runs queue for milliseconds.
    #[test]
    fn a_request_that_takes_seconds_beside_another_run_is_a_failure() {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        run.start.settings.thresholds.longest_request_ns = Some(1);
        run.other_runs.push(other("/a", "sda"));
        assert_eq!(outcomes(&judge(&run)), (Ruling::Fail, Some(Ruling::Warn)));
    }

    /// Bad pages stay bad, whatever other run read beside.
    #[test]
    fn damage_beside_another_run_is_a_failure() {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        run.checksums[0].bad_pages = 1;
        run.other_runs.push(other("/a", "sda"));
        assert_eq!(outcomes(&judge(&run)), (Ruling::Fail, Some(Ruling::Warn)));
    }

    #[test]
    fn another_run_on_the_disk_warns_and_is_named() {
        let mut run = Synthetic::default().run();
        assert!(judge(&run).objections().is_empty());
        run.other_runs.push(other("/tests/run-b", "sda"));
        let verdict = judge(&run);
        assert_eq!(verdict.outcome, Ruling::Pass);
        let warned = &verdict.objections()[0];
        assert_eq!((warned.rule, warned.outcome), (super::RULE, Ruling::Warn));
        assert_eq!((warned.measured, warned.limit), (Some(1.0), Some(Limit::AtMost(0.0))));
        let said = &warned.evidence[0].text;
        assert!(said.starts_with("the run in /tests/run-b used sda too"), "{said}");
        run.other_runs.extend(["/c", "/d", "/e", "/f"].map(|folder| other(folder, "sda")));
        let verdict = judge(&run);
        let evidence = &verdict.objections()[0].evidence;
        let said: Vec<&str> = evidence.iter().map(|of| of.text.as_str()).collect();
        assert_eq!(said.concat().matches("run one after the other").count(), 1, "{said:?}");
        assert_eq!(said[3..], ["and 2 more times"]);
    }
}
