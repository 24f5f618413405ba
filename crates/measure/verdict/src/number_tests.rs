//! Readers compare numbers: every outcome follows from the two numbers printed next to it.

use std::collections::BTreeSet;

use record::RunRecord;
use record::synthetic::drawn;

use crate::{Finding, Ruling, judge};

/// More records than rules, so that each rule meets each of its outcomes.
const DRAWS: u64 = 1_500;

/// Whether the numbers of `finding` agree with its outcome; a simulation near its limit is
/// undecided on either side.
fn follows(finding: &Finding) -> bool {
    if finding.deciding_evidence().is_some() {
        return finding.outcome == Ruling::CannotJudge;
    }
    let (Some(measured), Some(limit)) = (finding.measured, finding.limit) else {
        return finding.measured.is_none() || finding.limit.is_none();
    };
    limit.admits(measured) == (finding.outcome == Ruling::Pass)
}

fn contradictions(run: &RunRecord, seed: u64) -> Vec<String> {
    let findings = judge(run).findings;
    let wrong = findings.iter().filter(|finding| !follows(finding));
    wrong.map(|finding| format!("{seed}: {finding:?}")).collect()
}

#[test]
fn every_outcome_follows_from_the_numbers_beside_it() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for seed in 0..DRAWS {
        let run = drawn(seed);
        wrong.extend(contradictions(&run, seed));
        let numbered = judge(&run).findings.into_iter().filter(|finding| finding.limit.is_some());
        seen.extend(numbered.map(|finding| (finding.rule, finding.outcome == Ruling::Pass)));
    }
    wrong.truncate(5);
    assert_eq!(wrong, Vec::<String>::new());
    for rule in NUMBERED {
        for is_pass in [true, false] {
            assert!(seen.contains(&(rule, is_pass)), "{rule} was never seen to pass: {is_pass}");
        }
    }
}

/// Rules that show numbers both when they pass and when they object.
const NUMBERED: [&str; 26] = [
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
    "other-programs",
    "other-reads",
];
