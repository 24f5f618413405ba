//! Readers compare numbers: every outcome follows from the two numbers printed next to it.

use std::collections::BTreeMap;

use record::synthetic::drawn;
use record::{OtherRun, RunRecord};

use crate::{Finding, Limit, Ruling, Verdict, judge};

/// More records than rules, so that each rule meets each of its outcomes.
const DRAWS: u64 = 1_500;

/// What decides the outcome of a finding: the rule, what it counts, whether its number keeps the
/// limit, whether nothing at all is allowed, and whether the target was found by the run itself.
type Decisive = (&'static str, String, bool, bool, bool);

fn decisive(finding: &Finding) -> Option<Decisive> {
    let (measured, limit) = (finding.measured?, finding.limit?);
    let is_found = finding.evidence.iter().any(|of| of.text.contains("load that was found"));
    let unit = format!("{:?}", finding.unit);
    Some((finding.rule, unit, limit.admits(measured), limit == Limit::AtMost(0.0), is_found))
}

/// The findings of `verdict` whose outcome does not follow from what they show: another run showed
/// the same and ended otherwise, or a pass is beside a limit that was missed.
fn contradictions(verdict: &Verdict, known: &mut BTreeMap<Decisive, Ruling>) -> Vec<String> {
    let mut wrong = Vec::new();
    for finding in &verdict.findings {
        let expected = match decisive(finding) {
            _ if finding.deciding_evidence().is_some() => Ruling::CannotJudge,
            Some(numbers) => *known.entry(numbers).or_insert(finding.outcome),
            None => finding.outcome,
        };
        // Only the range of a simulation decides against a number that keeps its limit.
        let keeps = finding.measured.zip(finding.limit).is_some_and(|(of, limit)| limit.admits(of));
        if keeps && finding.deciding_evidence().is_some_and(|why| !why.contains("a simulation")) {
            wrong.push(format!("{finding:?}"));
        }
        let has_passed = finding.outcome == Ruling::Pass;
        if finding.outcome != expected || (has_passed && finding.misses_limit()) {
            wrong.push(format!("{expected:?} expected: {finding:?}"));
        }
    }
    wrong
}

/// One run in three has another one beside it.
fn beside_another(seed: u64) -> RunRecord {
    let mut run = drawn(seed);
    let (folder, volume, disk) = ("/other".to_owned(), "/mail".to_owned(), "sda".to_owned());
    let other = OtherRun { at_ns: 1, folder, volume, disk };
    run.other_runs.extend(seed.is_multiple_of(3).then_some(other));
    run
}

#[test]
fn every_outcome_follows_from_the_numbers_beside_it() {
    let (mut wrong, mut known) = (Vec::new(), BTreeMap::new());
    for seed in 0..DRAWS {
        let verdict = judge(&beside_another(seed));
        wrong.extend(contradictions(&verdict, &mut known).into_iter().map(|of| (seed, of)));
    }
    wrong.truncate(5);
    assert_eq!(wrong, Vec::new());
    for ((rule, _, keeps, ..), outcome) in &known {
        assert_eq!(*keeps, *outcome == Ruling::Pass, "{rule}");
    }
    for rule in NUMBERED {
        for is_kept in [true, false] {
            let is_seen = known.keys().any(|(of, _, keeps, ..)| *of == rule && *keeps == is_kept);
            assert!(is_seen, "{rule} was never seen to keep its limit: {is_kept}");
        }
    }
    for rule in UNSEEN_TIME {
        let of_rule = known.iter().filter(|((of, ..), _)| *of == rule);
        let outcomes: Vec<Ruling> = of_rule.map(|(_, outcome)| *outcome).collect();
        assert_eq!(outcomes, [Ruling::CannotJudge, Ruling::Warn], "{rule}");
    }
}

/// Rules that are silent while they have nothing to object to.
const UNSEEN_TIME: [&str; 2] = ["pauses", "resumed"];

/// Rules that show numbers both when they pass and when they object.
const NUMBERED: [&str; 27] = [
    "possible-reads",
    "target-iops",
    "read-latency-average",
    "read-latency-maximum",
    "log-write-latency-average",
    "log-write-latency-maximum",
    "read-latency-p99",
    "log-write-latency-p99",
    "mailbox-load",
    "mailbox-room",
    "read-rate",
    "copy-rate",
    "replay-time",
    "replayed-logs",
    "longest-request",
    "page-fault-stalls",
    "checksums",
    "input-output-errors",
    "device-reads",
    "measured-time",
    "steady-state",
    "generator-limited",
    "processor-steal",
    "completion-lag",
    "starved-lag",
    "other-programs",
    "other-reads",
];
