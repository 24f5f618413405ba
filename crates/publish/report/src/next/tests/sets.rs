//! Steps after a set of tests: one command for what several of them ask.

use record::{RunRecord, TestOfSet, TestType};
use verdict::judge;

use super::cases::crowded_out;
use crate::next::{JudgedTest, steps_of_set};
use crate::tests::{failing, too_small};
use record::synthetic::Synthetic;

fn options(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(option, value)| ((*option).to_owned(), (*value).to_owned())).collect()
}

/// A test of a set of 12 s for each load, in the folder `runs/a`.
fn of_set(run: RunRecord, test: TestType, kind: &str) -> RunRecord {
    let mut run = run;
    run.start.test = test;
    run.start.options = options(&[("--test", kind), ("--output", "runs/a")]);
    if matches!(test, TestType::Performance | TestType::Stress) {
        run.start.options.insert(1, ("--duration".to_owned(), "12s".to_owned()));
    }
    run.start.set = [(TestType::Performance, "performance"), (TestType::Stress, "stress")]
        .map(|(test, kind)| TestOfSet {
            test,
            options: options(&[("--test", kind), ("--duration", "12s")]),
        })
        .to_vec();
    run
}

fn short(test: TestType, kind: &str) -> RunRecord {
    let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
    run.start.settings.measure_ns = 15_000_000_000;
    of_set(run, test, kind)
}

fn told(runs: &[(RunRecord, &str)], set: Option<&str>) -> Vec<String> {
    let verdicts: Vec<_> = runs.iter().map(|(run, _)| judge(run)).collect();
    let tests: Vec<JudgedTest<'_>> = runs
        .iter()
        .zip(&verdicts)
        .map(|((run, folder), verdict)| JudgedTest { kind: run.start.test, run, verdict, folder })
        .collect();
    steps_of_set(&tests, &tests, set)
}

#[test]
fn one_test_that_was_too_short_is_repeated_within_its_set() {
    let stress = short(TestType::Stress, "stress");
    let steps = told(&[(stress.clone(), "2-stress")], Some("'my set'"));
    let expected = "Stress: Measure for longer, until enough is seen for a verdict. This run \
                    replaces 2-stress in the set (plimsoll report 'my set'): plimsoll run \
                    plan.toml --test stress --duration 30s --output 'my set'/2-stress-2";
    assert_eq!(steps, [expected]);
    let mut again = stress;
    again.start.set.clear();
    let steps = told(&[(again, "2-stress-2")], None);
    assert!(steps[0].contains("(plimsoll report FOLDER), with the folder of this set"));
    assert!(steps[0].ends_with(" --output FOLDER/2-stress-3"), "{}", steps[0]);
}

#[test]
fn a_cause_and_the_time_that_lacked_are_one_step() {
    let mut stress = short(TestType::Stress, "stress");
    stress.start.settings.thresholds.read_average_ns = 1;
    crowded_out(&mut stress);
    let steps = told(&[(stress, "2-stress")], Some("st"));
    let expected = "Stress: End the other programs on this machine. Measure for longer, ";
    assert!(steps.len() == 1 && steps[0].starts_with(expected), "{steps:?}");
}

#[test]
fn a_repeated_set_has_the_length_of_every_load() {
    let mut performance = short(TestType::Performance, "performance");
    performance.start.options = options(&[
        ("--test", "performance"),
        ("--duration", "20s"),
        ("--threads", "8"),
        ("--target-iops", "60"),
        ("--output", "runs/a"),
    ]);
    let runs = [
        (performance, "1-performance"),
        (of_set(failing(), TestType::Recovery, "recovery"), "4-recovery"),
    ];
    let steps = told(&runs, None);
    let damaged = steps.iter().find(|of| of.starts_with("Soft recovery")).expect("a step");
    let command = "(plimsoll prepare plan.toml --reset); then: plimsoll run plan.toml \
                   --threads 8 --target-iops 60 --test all --duration \
                   performance=30s,stress=12s --output runs/a-2";
    assert!(damaged.ends_with(command), "{damaged}");
}

#[test]
fn room_that_a_passed_test_found_missing_is_a_step_of_every_set() {
    let passed = of_set(too_small(), TestType::Performance, "performance");
    let stress = short(TestType::Stress, "stress");
    let runs = [(stress, "2-stress"), (passed, "1-performance")];
    let verdicts = runs.each_ref().map(|(run, _)| judge(run));
    let tests = [0, 1].map(|at| JudgedTest {
        kind: runs[at].0.start.test,
        run: &runs[at].0,
        verdict: &verdicts[at],
        folder: runs[at].1,
    });
    let steps = steps_of_set(&tests[..1], &tests, None);
    assert!(steps[0].starts_with("Stress: Measure for longer"), "{steps:?}");
    assert!(steps[1].starts_with("Performance: Take volumes of"), "{steps:?}");
    assert_eq!(steps.len(), 2, "{steps:?}");
}

/// Some tests see damaged pages, others only that requests failed.
#[test]
fn damaged_databases_are_filled_anew_in_one_step() {
    let mut failed = of_set(failing(), TestType::Performance, "performance");
    failed.checksums.clear();
    failed.start.options.push(("--target-iops".to_owned(), "60".to_owned()));
    let backup = of_set(failing(), TestType::Backup, "backup");
    let steps = told(&[(failed, "1-performance"), (backup, "3-backup")], None);
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0].starts_with("Performance, Database backup: Do not put data"));
    assert!(steps[0].contains(" --reset); then: plimsoll run plan.toml --target-iops 60 "));
    assert_eq!(steps[0].matches("Do not put data").count(), 1, "{steps:?}");
}

/// A passed load of a set on volumes with `taken_bytes` less room than others have, which is too
/// little already.
fn without_room(test: TestType, kind: &str, taken_bytes: u64) -> RunRecord {
    let mut run = of_set(too_small(), test, kind);
    for database in &mut run.start.databases {
        database.volume.size_bytes -= taken_bytes;
    }
    run
}

#[test]
fn tests_that_found_other_room_ask_for_the_smaller_in_one_step() {
    let more = without_room(TestType::Performance, "performance", 0);
    let less = without_room(TestType::Stress, "stress", 40 << 30);
    let alone = |run: &RunRecord| told(&[(run.clone(), "1")], None).remove(0);
    let [of_more, of_less] = [&more, &less].map(alone);
    let fitting = |step: &str| step.split_once("at most ").map(|(_, rest)| rest.to_owned());
    assert_ne!(fitting(&of_more), fitting(&of_less), "{of_more} {of_less}");
    let steps = told(&[(more, "1-performance"), (less, "2-stress")], None);
    let room: Vec<&String> = steps.iter().filter(|of| of.contains("Take volumes")).collect();
    assert!(room.len() == 1 && room[0].starts_with("Performance, Stress: "), "{steps:?}");
    let least = fitting(&of_less).expect("a number of mailboxes");
    let number = least.split(' ').next().expect("a word");
    assert!(room[0].contains(&format!("at most {number} mailboxes")), "{room:?}");
}

/// Another test of the set may have been too short, whatever the step is about.
#[test]
fn a_repeated_set_is_long_enough_for_every_verdict() {
    let mut slow = of_set(Synthetic::default().run(), TestType::Performance, "performance");
    slow.start.settings.thresholds.read_average_ns = 1;
    let runs = [(slow, "1-performance"), (short(TestType::Stress, "stress"), "2-stress")];
    let verdicts = runs.each_ref().map(|(run, _)| judge(run));
    let tests = [0, 1].map(|at| JudgedTest {
        kind: runs[at].0.start.test,
        run: &runs[at].0,
        verdict: &verdicts[at],
        folder: runs[at].1,
    });
    let steps = steps_of_set(&tests[..1], &tests, None);
    let whole = steps.iter().find(|of| of.contains(" --test all")).expect("a whole set");
    assert!(whole.contains("--duration performance=12s,stress=30s"), "{steps:?}");
}
