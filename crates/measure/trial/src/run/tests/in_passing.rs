//! Content that arrives wrong and is repaired: the load continues, and the report says so.

use device::Purpose;
use faults::{Call, Effect, Fault, Matching, Occurrence};
use record::{Event, Issue, IssueKind, Severity};

use super::{PLAN, further, issues, prepared, run_once, suffer};

/// A fraction of the reads for `purpose` gets `effect`; the scan reads rarely.
fn now_and_then(purpose: Purpose, effect: Effect) -> Fault {
    let one_in = if purpose == Purpose::Maintenance { 3 } else { 50 };
    Fault {
        matching: Matching {
            call: Some(Call::Read),
            purpose: Some(purpose),
            file: Some("Plimsoll002.edb".to_owned()),
        },
        occurrence: Occurrence::Every(one_in),
        effect,
    }
}

/// The issues of a run in which reads for `purpose` suffer `effect`.
fn issues_of(purpose: Purpose, effect: Effect) -> Vec<Issue> {
    let mut world = prepared(PLAN);
    suffer(&mut world, 1, now_and_then(purpose, effect));
    let (summary, events) = run_once(&world, None);
    assert_eq!(summary.failure, None, "the load goes on");
    let issues = events.into_iter().filter_map(|event| match event {
        Event::Issue(issue) => Some(issue),
        _ => None,
    });
    issues.collect()
}

#[test]
fn wrong_content_that_is_read_again_fails_the_test_all_the_same() {
    for purpose in [Purpose::Database, Purpose::Maintenance] {
        // Enough bits that every page in a batch of the scan has more than one flipped.
        let issues = issues_of(purpose, Effect::FlipBits(4_000));
        assert_eq!(issues.len(), 1, "{issues:?}");
        let issue = &issues[0];
        assert_eq!(
            (issue.kind, issue.severity, issue.database),
            (IssueKind::Checksum, Severity::Error, Some(1))
        );
        assert_eq!(issue.file.as_deref(), Some("b/Plimsoll002.edb"));
        assert_eq!(issue.volume.as_deref(), Some("b"));
        let words = "reads gave content that was never written";
        assert!(issue.text.contains(words), "{issue:?}");
    }
}

#[test]
fn flipped_bits_that_are_put_right_fail_the_test_all_the_same() {
    let issues = issues_of(Purpose::Database, Effect::FlipBits(1));
    assert_eq!(issues.len(), 1, "{issues:?}");
    let words = "came in with one bit flipped";
    assert!(issues[0].text.contains(words), "{issues:?}");
}

#[test]
fn each_failed_read_is_told_by_itself() {
    let issues = issues_of(Purpose::Database, Effect::Fail { done: false });
    assert!(!issues.is_empty());
    let is_failure = |issue: &Issue| issue.kind == IssueKind::InputOutput;
    assert!(issues.iter().all(is_failure), "{issues:?}");
}

#[test]
fn errors_too_many_to_list_are_counted_all_the_same() {
    let mut world = prepared(PLAN);
    let fault = now_and_then(Purpose::Database, Effect::Fail { done: false });
    suffer(&mut world, 1, Fault { occurrence: Occurrence::Every(5), ..fault });
    let (summary, events) = run_once(&world, None);
    let mut failed = 0;
    for event in &events {
        if let Event::Interval(interval) = event {
            let series = interval.databases.iter().flat_map(|database| &database.series);
            failed += series.map(|part| part.errors).sum::<u64>();
        }
    }
    let further = further(&events);
    assert_eq!((further.database, further.volume.as_deref()), (1, Some("b")));
    assert_eq!(issues(&events).len(), 20);
    assert!(failed > 100, "{failed}");
    // Reads made while opening the database belong to no interval.
    assert!((failed..failed + 10).contains(&(20 + further.failed_requests)), "{further:?}");
    assert_eq!(
        (u64::from(summary.issues), further.damaged_content),
        (20 + further.failed_requests, 0)
    );
}
