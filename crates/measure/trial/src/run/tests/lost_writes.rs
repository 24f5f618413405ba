//! A disk that acknowledges writes without performing them: the running engine and the checksum
//! phase both report lost flushes and no other damage.

use device::Purpose;
use faults::{Call, Effect, Fault, Matching, Occurrence};
use record::{Event, Issue, IssueKind};

use super::{PLAN, further, prepared, run_once, suffer};

/// The second database's disk drops all page writes from the third on.
fn lossy() -> Fault {
    Fault {
        matching: Matching {
            call: Some(Call::Write),
            purpose: Some(Purpose::Database),
            file: Some("Plimsoll002.edb".to_owned()),
        },
        occurrence: Occurrence::From(3),
        effect: Effect::LoseWrite,
    }
}

fn issues(events: &[Event]) -> Vec<&Issue> {
    let issues = events.iter().filter_map(|event| match event {
        Event::Issue(issue) => Some(issue),
        _ => None,
    });
    issues.collect()
}

#[test]
fn a_lost_write_that_is_read_again_ends_the_run() {
    let mut world = prepared(PLAN);
    suffer(&mut world, 1, lossy());
    let (summary, events) = run_once(&world, None);
    let failure = summary.failure.expect("the run cannot go on");
    assert!(failure.text.contains("lost flush"), "{failure:?}");
    let issues = issues(&events);
    assert_eq!(issues[0].kind, IssueKind::LostFlush, "{issues:?}");
    assert_eq!(issues[0].database, Some(1));
}

#[test]
fn lost_writes_that_are_not_read_are_counted_by_the_checksum_phase() {
    // Everything stays in the cache and no scan runs, so that only the last phase reads it back.
    let plan = PLAN.replace("1MiB", "64MiB").replace("2MiB", "128MiB") + "maintenance = false\n";
    let mut world = prepared(&plan);
    suffer(&mut world, 1, lossy());
    let (summary, events) = run_once(&world, None);
    assert_eq!(summary.failure, None);
    let checksums = events.iter().filter_map(|event| match event {
        Event::Checksum(checksum) => Some((checksum.database, checksum)),
        _ => None,
    });
    let mut lost = 0;
    for (database, found) in checksums {
        lost += found.lost_flush_pages;
        let others = found.bad_pages + found.correctable_pages + found.wrong_page_number_pages;
        assert_eq!((found.lost_flush_pages > 0, others), (database == 1, 0));
    }
    let issues = issues(&events);
    assert!(!issues.is_empty());
    let is_lost = |issue: &&Issue| issue.kind == IssueKind::LostFlush && issue.database == Some(1);
    assert!(issues.iter().all(is_lost), "{issues:?}");
    assert!(issues.iter().all(|issue| issue.volume.as_deref() == Some("b")), "{issues:?}");
    assert_eq!(issues.len() as u64 + further(&events).damaged_content, lost);
}
