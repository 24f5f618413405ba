use record::synthetic::Synthetic;
use record::{Issue, IssueKind, RunRecord, Severity};
use verdict::Ruling;

use super::judge;
use crate::record::Absence;
use crate::{ClockOffset, FleetEvent, FleetRecord, LossCause};

/// Two hosts whose runs passed; the second began `apart_ns` later by the controller's clock.
fn fleet(apart_ns: u64) -> FleetRecord {
    let started = FleetEvent::Started {
        run: "r1".to_owned().try_into().expect("sound"),
        name: "dag1".to_owned(),
        build: "plimsoll 0.1.0".to_owned(),
        hosts: vec!["EX01".to_owned(), "EX02".to_owned()],
        shared_storage: false,
    };
    let ended = FleetEvent::Ended { early: None };
    let text = [started, ended].map(|event| event.at(units::Nanos(5)).encode()).concat();
    let mut fleet = FleetRecord::load(&text).expect("a sound journal");
    for (host, apart) in fleet.hosts.iter_mut().zip([0, apart_ns]) {
        let mut record = passing();
        record.start.started_epoch_ns += apart;
        host.record = Some(record);
        host.clock = Some(ClockOffset { offset_ns: 0, error_ns: 100_000 });
    }
    fleet
}

fn passing() -> RunRecord {
    let mut record = Synthetic::USUAL.run();
    record.start.started_epoch_ns = 1_700_000_000_000_000_000;
    record
}

fn failing() -> RunRecord {
    Synthetic { read_median_ns: 40_000_000, ..Synthetic::USUAL }.run()
}

#[test]
fn hosts_that_pass_together_pass() {
    let verdict = judge(&fleet(2_000_000));
    assert_eq!(verdict.outcome, Ruling::Pass, "{:?}", verdict.findings);
}

#[test]
fn one_database_that_fails_fails_the_fleet_and_is_named() {
    let mut fleet = fleet(0);
    fleet.hosts[1].record = Some(failing());
    let verdict = judge(&fleet);
    assert_eq!(verdict.outcome, Ruling::Fail);
    let first = &verdict.findings[0];
    assert_eq!(first.host.as_deref(), Some("EX02"));
    assert!(first.text.contains("DB0"), "{}", first.text);
}

#[test]
fn hosts_that_did_not_begin_together_prove_nothing() {
    let verdict = judge(&fleet(1_500_000_000));
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    assert_eq!(verdict.findings[0].rule, "common-begin");
}

#[test]
fn a_lost_host_makes_the_run_prove_nothing_until_its_journal_is_complete() {
    let mut fleet = fleet(0);
    fleet.measure_from_ns = Some(1_700_000_000_000_000_000);
    let from_ns = 1_700_000_090_000_000_000;
    let absence = Absence { from_ns, to_ns: None, cause: LossCause::Silence };
    fleet.hosts[0].absences.push(absence);
    assert_eq!(judge(&fleet).outcome, Ruling::Pass);
    if let Some(record) = &mut fleet.hosts[0].record {
        record.finished = None;
    }
    let verdict = judge(&fleet);
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    let lost = verdict.findings.iter().find(|finding| finding.rule == "host-lost");
    let text = &lost.expect("the loss is named").text;
    assert!(text.contains("EX01 was lost 90 s into the measurement"), "{text}");
}

#[test]
fn the_second_of_a_loss_needs_no_journal() {
    let mut fleet = fleet(0);
    fleet.hosts[0].record = None;
    let absence = Absence { from_ns: 9_000_000_000, to_ns: None, cause: LossCause::Silence };
    fleet.hosts[0].absences.push(absence);
    let lost = |fleet: &FleetRecord| judge(fleet).findings[0].text.clone();
    assert!(lost(&fleet).contains("EX01 was lost before the measurement"), "{}", lost(&fleet));
    fleet.measure_from_ns = Some(4_000_000_000);
    assert!(lost(&fleet).contains("EX01 was lost 5 s into the measurement"), "{}", lost(&fleet));
}

#[test]
fn a_failed_write_is_named_before_the_load_that_it_cost() {
    let mut fleet = fleet(0);
    let mut record = passing();
    record.start.settings.target_iops = Some(1e9);
    record.issues.push(Issue {
        at_ns: 7,
        database: Some(0),
        severity: Severity::Error,
        kind: IssueKind::InputOutput,
        volume: None,
        file: None,
        offset_bytes: None,
        text: "E00.plg: write at byte 512 failed".to_owned(),
    });
    fleet.hosts[1].record = Some(record);
    let text = judge(&fleet).findings[0].text.clone();
    assert!(text.contains("write at byte 512 failed"), "{text}");
}

#[test]
fn a_journal_that_never_came_is_named() {
    let mut fleet = fleet(0);
    fleet.hosts[1].record = None;
    let verdict = judge(&fleet);
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    assert!(verdict.findings.iter().any(|of| of.text.contains("EX02 has not arrived")));
}

#[test]
fn a_controller_that_died_changes_nothing_once_all_journals_are_complete() {
    let mut fleet = fleet(0);
    fleet.has_ended = false;
    assert_eq!(judge(&fleet).outcome, Ruling::Pass);
    fleet.early = Some("stopped by a person".to_owned());
    assert_eq!(judge(&fleet).outcome, Ruling::CannotJudge);
}
