//! Each rule of a published result: met, missed or without data; no result passes.

use record::{
    ImportedResult, PublishedChecksum, PublishedCounter, PublishedInstance, PublishedIo,
    PublishedOutcome, PublishedRequests, RunRecord, Seal, Start,
};

use crate::{Ruling, judge};

fn requests(latency_ms: f64) -> PublishedRequests {
    PublishedRequests {
        latency_ms: Some(latency_ms),
        per_second: Some(50.0),
        bytes: Some(32_768.0),
    }
}

/// A result that meets every limit.
fn kept() -> ImportedResult {
    let transactional = PublishedIo {
        database_reads: requests(12.0),
        database_writes: requests(30.0),
        log_writes: requests(3.0),
        ..PublishedIo::default()
    };
    let instance = |name: &str| PublishedInstance {
        name: name.to_owned(),
        transactional,
        ..PublishedInstance::default()
    };
    let stalls = PublishedCounter {
        name: "Database Page Fault Stalls/sec".to_owned(),
        average: Some(0.0),
        ..PublishedCounter::default()
    };
    let pages = PublishedChecksum {
        seen_pages: Some(9),
        bad_pages: Some(0),
        correctable_pages: Some(0),
        wrong_page_number_pages: Some(0),
        ..PublishedChecksum::default()
    };
    ImportedResult {
        outcome: Some(PublishedOutcome::Pass),
        instances: vec![instance("I.1"), instance("I.2")],
        host: vec![stalls],
        checksums: vec![pages],
        ..ImportedResult::default()
    }
}

fn run(imported: ImportedResult) -> RunRecord {
    RunRecord::begin(Start { imported: Some(Box::new(imported)), ..Start::default() })
}

fn ruling(imported: ImportedResult, rule: &str) -> Option<Ruling> {
    let verdict = judge(&run(imported));
    verdict.findings.iter().find(|finding| finding.rule == rule).map(|finding| finding.outcome)
}

#[test]
fn a_result_that_keeps_every_limit_cannot_be_judged_and_does_not_pass() {
    let verdict = judge(&run(kept()));
    assert_eq!((verdict.outcome, verdict.exit_code()), (Ruling::CannotJudge, 2));
    let objections = verdict.objections();
    assert_eq!(objections.len(), 1, "{objections:?}");
    assert_eq!(objections[0].rule, "imported");
}

#[test]
fn an_average_over_its_limit_fails() {
    let mut slow = kept();
    slow.instances[1].transactional.database_reads = requests(20.5);
    let verdict = judge(&run(slow.clone()));
    assert_eq!(verdict.outcome, Ruling::Fail);
    assert_eq!(ruling(slow, "read-latency-average"), Some(Ruling::Fail));
    let mut slow = kept();
    slow.instances[0].transactional.log_writes = requests(10.5);
    assert_eq!(ruling(slow, "log-write-latency-average"), Some(Ruling::Fail));
    let mut stalled = kept();
    stalled.host[0].average = Some(1.05);
    assert_eq!(ruling(stalled, "page-fault-stalls"), Some(Ruling::Fail));
    let mut damaged = kept();
    damaged.checksums[0].bad_pages = Some(1);
    assert_eq!(ruling(damaged, "checksums"), Some(Ruling::Fail));
    let failed = ImportedResult { outcome: Some(PublishedOutcome::Fail), ..kept() };
    assert_eq!(judge(&run(failed)).outcome, Ruling::Fail);
}

#[test]
fn what_is_missing_is_neither_kept_nor_zero() {
    let mut lacking = kept();
    lacking.instances[1].transactional.database_reads.latency_ms = None;
    assert_eq!(ruling(lacking.clone(), "read-latency-average"), Some(Ruling::CannotJudge));
    // A value that exceeds the limit still fails.
    lacking.instances[0].transactional.database_reads = requests(25.0);
    assert_eq!(ruling(lacking, "read-latency-average"), Some(Ruling::Fail));
    let empty = ImportedResult::default;
    let rules = ["read-latency-average", "log-write-latency-average", "page-fault-stalls"];
    for rule in rules.into_iter().chain(["published-outcome"]) {
        assert_eq!(ruling(empty(), rule), Some(Ruling::CannotJudge), "{rule}");
        assert_eq!(ruling(kept(), rule), Some(Ruling::Pass), "{rule}");
    }
    assert_eq!(ruling(empty(), "checksums"), None);
    let mut unknown = kept();
    unknown.checksums[0].bad_pages = None;
    assert_eq!(ruling(unknown, "checksums"), Some(Ruling::CannotJudge));
}

#[test]
fn an_altered_record_of_a_failed_result_cannot_be_judged() {
    let mut altered = run(ImportedResult { outcome: Some(PublishedOutcome::Fail), ..kept() });
    altered.seal = Seal::Altered { line: 1 };
    assert_eq!(judge(&altered).outcome, Ruling::CannotJudge);
}
