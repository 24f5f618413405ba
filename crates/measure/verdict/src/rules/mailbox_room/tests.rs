//! Tests of `mailbox_room`.

use record::synthetic::Synthetic;
use record::{RunRecord, TestType};

use super::{RULE, judge, room_bytes};
use crate::Ruling;

const MAILBOX_BYTES: u64 = 2 << 30;

/// A run whose plan has `wanted` mailboxes, of which `fitting` fit.
fn planned(fitting: u64, wanted: u64) -> RunRecord {
    let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
    for facts in &mut run.start.databases {
        facts.volume.size_bytes = fitting * MAILBOX_BYTES / 2;
        facts.volume.free_bytes = facts.volume.size_bytes;
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
    assert_eq!(room_bytes(&run), 200 * MAILBOX_BYTES);
}

#[test]
fn files_of_others_take_room_and_the_run_s_own_databases_do_not() {
    let mut run = planned(400, 400);
    for facts in &mut run.start.databases {
        facts.volume.free_bytes = 50 * MAILBOX_BYTES;
        facts.initial_bytes = 10 * MAILBOX_BYTES;
    }
    assert_eq!(room_bytes(&run), 2 * 60 * MAILBOX_BYTES);
    assert_eq!(judge(&run).map(|finding| finding.outcome), Some(Ruling::Warn));
    // Two databases on one volume share its free space.
    run.start.databases[1].volume = run.start.databases[0].volume.clone();
    assert_eq!(room_bytes(&run), 70 * MAILBOX_BYTES);
}
