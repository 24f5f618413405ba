//! The rules of a soft recovery test, on records that pass, fail and cannot be judged.

use record::synthetic::Synthetic;
use record::{Phase, Replay, RunRecord, TestType};

use crate::{Finding, Ruling, judge};

/// A test in which both databases replayed 501 logs within `seconds`.
fn replayed(seconds: u64) -> RunRecord {
    let mut run =
        Synthetic { warm_intervals: 0, measure_intervals: 4, ..Synthetic::default() }.run();
    run.start.test = TestType::Recovery;
    for row in &mut run.intervals {
        row.phase = Phase::Recover;
    }
    run.start.settings.replay_logs = 500;
    run.start.settings.thresholds.replay_ns_per_log = Some(2_000_000_000);
    let replay = |database| Replay {
        at_ns: (60 + seconds) * 1_000_000_000,
        database,
        logs: 501,
        pages_changed: 3_000,
        pages_up_to_date: 440_000,
        elapsed_ns: seconds * 1_000_000_000,
        ..Replay::default()
    };
    run.replays = (0..2).map(replay).collect();
    run
}

fn finding(run: &RunRecord, rule: &str) -> Finding {
    let verdict = judge(run);
    let mut of_rule = verdict.findings.into_iter().filter(|finding| finding.rule == rule);
    of_rule.next().unwrap_or_else(|| panic!("no finding of {rule}"))
}

fn outcome_of(run: &RunRecord, rule: &str) -> Ruling {
    finding(run, rule).outcome
}

#[test]
fn a_log_may_take_as_long_as_the_plan_says() {
    let pass = replayed(1_002);
    assert_eq!(
        (outcome_of(&pass, "replay-time"), judge(&pass).outcome),
        (Ruling::Pass, Ruling::Pass)
    );
    let slow = finding(&replayed(1_117), "replay-time");
    assert_eq!((slow.outcome, slow.evidence.len()), (Ruling::Fail, 2));
    assert_eq!(slow.evidence[0].text, "501 log files in 1117.0 s");
    assert!(slow.measured.is_some_and(|time| (2_229.0..2_230.0).contains(&time)));
    let mut one = replayed(900);
    one.replays.pop();
    assert_eq!(outcome_of(&one, "replay-time"), Ruling::CannotJudge);
    one.start.settings.thresholds.replay_ns_per_log = None;
    assert!(judge(&one).findings.iter().all(|finding| finding.rule != "replay-time"));
}

#[test]
fn a_replay_of_too_few_logs_proves_nothing() {
    assert_eq!(outcome_of(&replayed(900), "replayed-logs"), Ruling::Pass);
    let mut few = replayed(900);
    few.replays[1].logs = 499;
    let found = finding(&few, "replayed-logs");
    assert_eq!((found.outcome, found.measured), (Ruling::CannotJudge, Some(499.0)));
    assert_eq!(found.evidence[0].text, "the load generated 499 logs in its time");
    assert_eq!(judge(&few).exit_code(), 2);
    few.replays.remove(0);
    let found = finding(&few, "replayed-logs");
    assert_eq!(found.evidence[0].text, "its replay did not come to an end");
}

/// However fast it was.
#[test]
fn a_replay_that_found_nothing_to_do_does_not_pass() {
    let mut idle = replayed(1);
    (idle.replays[0].pages_changed, idle.replays[0].pages_up_to_date) = (0, 0);
    let found = finding(&idle, "replayed-logs");
    assert_eq!(found.outcome, Ruling::CannotJudge);
    assert_eq!(found.evidence[0].text, "its replay found nothing to do");
    assert_eq!(judge(&idle).exit_code(), 2);
}

#[test]
fn the_load_that_made_the_logs_is_not_judged() {
    let mut run = replayed(900);
    run.start.settings.thresholds.read_average_ns = 1;
    run.start.settings.thresholds.minimum_measure_ns = u64::MAX;
    assert_eq!(judge(&run).outcome, Ruling::Pass);
}
