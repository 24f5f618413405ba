//! Tests of `mailbox_room`.

use record::synthetic::Synthetic;
use record::{RunRecord, TestType};

use super::{RULE, judge, volumes_bytes};
use crate::Ruling;

const MAILBOX_BYTES: u64 = 2 << 30;

/// A run whose plan has `wanted` mailboxes, of which `fitting` fit.
fn planned(fitting: u64, wanted: u64) -> RunRecord {
    let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
    for facts in &mut run.start.databases {
        facts.volume.size_bytes = fitting * MAILBOX_BYTES / 2;
    }
    run.start.settings.mailboxes = Some(wanted);
    run.start.settings.mailbox_bytes = Some(MAILBOX_BYTES);
    run
}

#[test]
fn mailboxes_without_room_are_a_warning_and_no_failure() {
    for (fitting, outcome) in [(400, Ruling::Pass), (399, Ruling::Warn), (126, Ruling::Warn)] {
        let verdict = crate::judge(&planned(fitting, 400));
        let found = verdict.findings.iter().find(|finding| finding.rule == RULE);
        assert_eq!(found.expect("a plan of mailboxes").outcome, outcome, "{fitting}");
        assert_eq!(verdict.outcome, Ruling::Pass);
    }
}

#[test]
fn what_was_not_asked_for_is_not_judged() {
    let mut run = planned(1, 400);
    run.start.settings.mailbox_bytes = None;
    assert_eq!(judge(&run), None);
    let mut run = planned(1, 400);
    run.start.settings.mailboxes = None;
    assert_eq!(judge(&run), None);
    assert_eq!(judge(&planned(0, 400)), None);
    let mut run = planned(1, 400);
    run.start.test = TestType::Backup;
    assert_eq!(judge(&run), None);
    // Two databases on one volume share its space.
    let mut run = planned(400, 400);
    run.start.databases[1].volume = run.start.databases[0].volume.clone();
    assert_eq!(volumes_bytes(&run), 200 * MAILBOX_BYTES);
}
