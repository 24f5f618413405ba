//! Every next step is executed: the command that a record prints must change the knowledge about
//! the storage.

pub(super) mod cases;
mod larger;
mod sequel;
mod sets;

use record::synthetic::{Synthetic, drawn};
use record::{IssueKind, Phase, RunRecord, Series, TestOfSet, TestType, Tuned};
use verdict::{Kind, Ruling, judge};

use cases::{Act, CASES, Case};

use super::step::{NextStep, StepKind};
use super::{advice, advice_beside, steps, steps_in};
use crate::sections::what_follows::unproven;
use crate::tests::golden::check;
use crate::tests::{imported, passing};

const TABLE: &str = include_str!("../../../../../docs/next-steps.md");

fn record_of(case: &Case) -> RunRecord {
    let mut run = (case.made)().run();
    (case.plan)(&mut run);
    (case.cause)(&mut run);
    run
}

/// The value of an option of a command.
fn option<'a>(command: &'a str, name: &str) -> Option<&'a str> {
    let mut words = command.split_whitespace().skip_while(|word| *word != name);
    words.nth(1)
}

/// The load of a command, as a percentage of the load of `run`.
fn load_percent(command: &str, run: &RunRecord) -> u64 {
    let number = |name| option(command, name)?.parse::<f64>().ok();
    let of = match (number("--target-iops"), number("--threads")) {
        _ if command.starts_with("plimsoll line ") => 0.5,
        (Some(target), _) => target / run.achieved_transactional_iops(),
        (None, Some(threads)) => threads / f64::from(run.sessions_per_database()),
        (None, None) => 1.0,
    };
    format!("{:.0}", of * 100.0).parse().expect("a share")
}

/// With less load, storage responds faster and the machine is less busy.
fn under(made: &Synthetic, percent: u64, seconds: Option<u64>) -> Synthetic {
    Synthetic {
        load_percent: made.load_percent * percent / 100,
        read_median_ns: made.read_median_ns * percent / 100,
        log_write_median_ns: made.log_write_median_ns * percent / 100,
        processor_percent: made.processor_percent * percent as f64 / 100.0,
        measure_intervals: seconds
            .map_or(made.measure_intervals, |seconds| seconds.div_ceil(made.interval_seconds)),
        ..made.clone()
    }
}

fn seconds(command: &str) -> Option<u64> {
    let value = option(command, "--duration")?;
    Some(plan::parse_duration(value).expect("a duration").0 / 1_000_000_000)
}

/// The run that results from taking the step.
fn taken(case: &Case, step: &NextStep, before: &RunRecord) -> RunRecord {
    let command = step.command.as_deref().unwrap_or_default();
    let made = under(&(case.made)(), load_percent(command, before), seconds(command));
    let mut run = made.run();
    (case.plan)(&mut run);
    match case.act {
        Act::Command => (case.cause)(&mut run),
        Act::Repeat => {}
        Act::Person(act) => act(&mut run),
        Act::Shorter => {
            let planned = before.start.settings.measure_ns / 1_000_000_000;
            assert!(seconds(command).is_some_and(|it| it < planned), "{command} is no shorter");
        }
    }
    if let Some(target) = option(command, "--target-iops") {
        run.start.settings.target_iops = Some(target.parse().expect("a rate"));
    } else if command.starts_with("plimsoll line ") {
        run.start.settings.target_iops = None;
    }
    match option(command, "--test") {
        Some("stress") => run.start.test = TestType::Stress,
        Some("performance") => run.start.test = TestType::Performance,
        Some("recovery") => run.start.test = TestType::Recovery,
        _ => {}
    }
    run
}

/// The knowledge after a run, limited to what a step may change.
fn known(run: &RunRecord) -> impl PartialEq + std::fmt::Debug {
    let verdict = judge(run);
    let is_simulated = run.simulated().is_some();
    let is_planned = super::command::has_plan(run);
    let test = run.start.test;
    let lacks = (verdict.lacks_room(), verdict.lacks_load());
    (verdict.outcome, lacks, unproven(run), test, is_simulated, is_planned)
}

#[test]
fn every_step_that_is_taken_changes_what_is_known() {
    for case in CASES {
        let before = record_of(case);
        let verdict = judge(&before);
        let advised = advice(&before, &verdict);
        let name = case.kind.name();
        let step = advised.iter().find(|step| step.kind == case.kind);
        let step = step.unwrap_or_else(|| panic!("{name} is not advised, but {advised:?}"));
        let after = taken(case, step, &before);
        assert!(known(&before) != known(&after), "{name} changes nothing: {step}");
        let after = judge(&after);
        let was_judged = matches!(verdict.outcome, Ruling::Pass | Ruling::Warn);
        assert!(
            was_judged || after.outcome == Ruling::Pass || case.kind == StepKind::RecoveryTest,
            "{name}: {step}: {:?}",
            after.objections()
        );
    }
}

/// The program parses every command of this file (`cmd/commands.rs` of `plimsoll`).
#[test]
fn every_step_is_printed_as_before() {
    let mut printed = String::new();
    for case in CASES {
        let run = record_of(case);
        for step in advice(&run, &judge(&run)) {
            printed.extend([step.kind.name(), ": ", &step.to_string(), "\n"]);
        }
    }
    check("steps.txt", include_str!("../../golden/steps.txt"), &printed);
}

/// Steps after a result that is not the record of one run on storage; their modules test them.
const ELSEWHERE: &[StepKind] = &[
    StepKind::CompareImported,
    StepKind::RestOfSet,
    StepKind::ReportOfSet,
    StepKind::SimulateBest,
    StepKind::LoseHost,
    StepKind::MoreCopies,
    StepKind::OtherStorage,
    StepKind::MeasureDeployment,
];

/// Names in the first column of the page.
fn rows() -> Vec<&'static str> {
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).collect()
}

#[test]
fn every_step_has_a_row_and_a_record() {
    let named: Vec<&str> = StepKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(rows(), named, "docs/next-steps.md and StepKind list the same steps");
    for kind in StepKind::ALL {
        let is_tried = CASES.iter().any(|case| case.kind == *kind);
        assert!(is_tried || ELSEWHERE.contains(kind), "{} has no record", kind.name());
    }
}

/// A request met the damage, and the pages were not read to their end.
#[test]
fn damage_that_a_request_met_is_filled_anew() {
    let told = |kind| {
        let mut run = Synthetic::default().run();
        cases::issue(&mut run, kind);
        steps(&run, &judge(&run)).concat()
    };
    assert!(told(IssueKind::Corruption).contains("(plimsoll prepare plan.toml --reset); then"));
    assert!(!told(IssueKind::InputOutput).contains("--reset"));
}

/// The reports of a set and of its tests give one answer.
#[test]
fn a_test_of_a_set_is_repeated_in_its_set_by_its_own_report() {
    let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
    run.start.settings.measure_ns = 15_000_000_000;
    let test = TestOfSet { test: TestType::Performance, options: Vec::new() };
    run.start.set = vec![test];
    run.start.options = vec![("--output".to_owned(), "'my set'".to_owned())];
    let verdict = judge(&run);
    let joins = "This run replaces 1-performance in the set (plimsoll report 'my set'): ";
    let told = steps(&run, &verdict);
    assert!(told[0].contains(joins), "{told:?}");
    assert!(told[0].ends_with(" --output 'my set'/1-performance-2"), "{told:?}");
    let told = steps_in(&run, &verdict, "'a b/1-performance'");
    assert!(told[0].ends_with(" --output 'a b'/1-performance-2"), "{told:?}");
    run.start.options.clear();
    let told = steps(&run, &verdict);
    assert!(told[0].contains("with the folder of this set for FOLDER"), "{told:?}");
}

#[test]
fn a_test_made_alone_in_the_folder_of_a_set_is_a_part_of_it() {
    let case = CASES.iter().find(|case| case.kind == StepKind::LoadTest).expect("a record");
    let mut run = record_of(case);
    run.start.test = TestType::Backup;
    run.start.options = vec![("--output".to_owned(), "set/3-backup".to_owned())];
    let kinds: Vec<StepKind> = advice(&run, &judge(&run)).iter().map(|of| of.kind).collect();
    assert_eq!(kinds, [StepKind::ReportOfSet], "the set measures the load");
    run.start.options[0].1 = "set/3-copies".to_owned();
    let kinds: Vec<StepKind> = advice(&run, &judge(&run)).iter().map(|of| of.kind).collect();
    assert_eq!(kinds, [StepKind::LoadTest]);
}

#[test]
fn a_stopped_test_of_a_set_is_started_again_in_its_set() {
    let mut run = record_of(CASES.iter().find(|of| of.kind == StepKind::Resume).expect("one"));
    run.start.options = vec![("--output".to_owned(), "set/2-stress".to_owned())];
    run.start.test = TestType::Stress;
    let told = steps_in(&run, &judge(&run), "set/2-stress").concat();
    let again = "or start it again (plimsoll run plan.toml --output set/2-stress-2): plimsoll run \
                 --resume set/2-stress";
    assert!(told.ends_with(again), "{told}");
    // Only the caller knows the folder of a run that was given none.
    run.start.options.clear();
    let text = crate::text_in(&run, &judge(&run), "moved/here", 500);
    assert!(text.contains("--resume moved/here") && !text.contains("FOLDER"), "{text}");
}

/// What changes the plan changes every test, so it is no part of this set.
#[test]
fn another_load_of_one_test_lies_beside_the_set() {
    let mut run = record_of(CASES.iter().find(|of| of.kind == StepKind::FindLine).expect("one"));
    run.start.set = vec![TestOfSet { test: run.start.test, options: Vec::new() }];
    run.start.options = vec![("--output".to_owned(), "'my set'".to_owned())];
    let told = steps(&run, &judge(&run));
    let line = told.iter().find(|of| of.contains("plimsoll line ")).expect("a line");
    assert!(line.ends_with(" --output 'my set-2-performance'"), "{line}");
}

#[test]
fn an_imported_result_is_set_beside_a_run() {
    let run = imported::performance();
    let told = advice(&run, &judge(&run));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].kind, StepKind::CompareImported);
    assert!(told[0].to_string().ends_with(": plimsoll compare RESULT RUN"), "{}", told[0]);
}

#[test]
fn a_set_is_not_advised_a_test_that_it_holds() {
    let held = [
        (StepKind::DayOfStress, TestType::Stress),
        (StepKind::RecoveryTest, TestType::Recovery),
        (StepKind::LoadTest, TestType::Performance),
    ];
    for (step, test) in held {
        let case = CASES.iter().find(|case| case.kind == step).expect("a record");
        let run = record_of(case);
        let verdict = judge(&run);
        let alone = advice_beside(&run, &verdict, &[TestType::Checksum]);
        assert_eq!(alone, advice(&run, &verdict));
        assert!(advice_beside(&run, &verdict, &[test]).len() < alone.len(), "{}", step.name());
    }
}

/// A backup within a set is not followed by the load that the set holds already.
#[test]
fn a_test_of_a_set_leaves_other_tests_to_the_report_of_the_set() {
    let case = |kind| CASES.iter().find(|case| case.kind == kind).expect("a record");
    for kind in [StepKind::LoadTest, StepKind::RecoveryTest] {
        let mut run = record_of(case(kind));
        run.start.settings.mailboxes = None;
        let set = [TestType::Performance, TestType::Stress, TestType::Backup, TestType::Recovery];
        run.start.set = set.map(|test| TestOfSet { test, options: Vec::new() }).to_vec();
        let told = steps(&run, &judge(&run));
        let expected = "Read the report of the whole set, with the folder of this set for FOLDER: \
                        plimsoll report FOLDER";
        assert_eq!(told, [expected], "{}", kind.name());
        let told = steps_in(&run, &judge(&run), "set/3-backup");
        assert_eq!(told, ["Read the report of the whole set: plimsoll report set"]);
    }
    let mut failed = record_of(case(StepKind::FindCause));
    let alone = steps(&failed, &judge(&failed));
    failed.start.set = vec![TestOfSet { test: TestType::Backup, options: Vec::new() }];
    assert_eq!(steps(&failed, &judge(&failed)), alone, "its own faults stay its own");
}

#[test]
fn a_load_that_was_not_steady_is_measured_for_longer_with_every_step() {
    let mut run = Synthetic { measure_intervals: 12, ..Synthetic::default() }.run();
    run.start.settings.target_iops = None;
    run.start.command = "plimsoll quick disk".to_owned();
    let drifting = |run: &RunRecord| {
        let mut verdict = judge(run);
        let trend = verdict.findings.iter_mut().find(|of| of.rule == "steady-state");
        trend.expect("enough intervals").outcome = Ruling::Warn;
        steps(run, &verdict)
    };
    let told = drifting(&run);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("or more, and measure for longer: plimsoll quick disk"), "{told:?}");
    assert!(told[0].contains(" --size 5GiB --duration 15min --reset"), "{told:?}");
    cases::large(&mut run);
    assert!(drifting(&run)[0].ends_with(" --duration 2h"), "that is longer");
    let mut day = record_of(CASES.iter().find(|of| of.kind == StepKind::OwnPlan).expect("one"));
    day.start.settings.mailboxes = None;
    let told = drifting(&day);
    let longer = "Measure for longer, until the load is steady: plimsoll quick disk --duration 8h";
    assert_eq!(told, [longer]);
}

/// A run in which the caches answered every read needs larger databases and more time, in one
/// command: either change alone leaves it without a verdict.
#[test]
fn databases_that_were_not_read_are_enlarged_and_measured_long_enough() {
    let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
    cases::from_memory(&mut run);
    run.start.command = "plimsoll quick disk".to_owned();
    let told = steps(&run, &judge(&run));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(" --duration 30s --reset"), "{told:?}");
}

/// The kinds of the steps after a run.
fn kinds(run: &RunRecord) -> Vec<StepKind> {
    advice(run, &judge(run)).iter().map(|step| step.kind).collect()
}

/// A run whose reads, too few for a verdict, became rare.
fn fading() -> RunRecord {
    let mut run = reading_four_times_too_little();
    let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
    for (row, count) in rows.zip([43, 24, 18, 7, 3, 4, 2, 1, 1, 0, 0, 0, 1, 0, 1, 0]) {
        row.series.get_mut(&Series::DatabaseRead).expect("reads").latency.count = count;
    }
    run
}

fn reading_four_times_too_little() -> RunRecord {
    let mut run = Synthetic { measure_intervals: 16, ..Synthetic::default() }.run();
    let seen = run.totals_of(Phase::Measure, 0).map_or(0, |of| of.count(Series::DatabaseRead));
    run.start.settings.thresholds.minimum_reads = 4 * seen;
    run
}

/// Reads that caches take over do not come with time.
#[test]
fn databases_whose_reads_fade_are_enlarged_and_not_measured_longer() {
    let mut steady = reading_four_times_too_little();
    assert_eq!(kinds(&steady), [StepKind::MeasureLonger]);
    assert_eq!(kinds(&fading()), [StepKind::LargerDatabases]);
    // The cache of 256 MiB can hold databases of 192.
    steady.start.databases.iter_mut().for_each(|of| of.initial_bytes = 192 << 20);
    assert_eq!(kinds(&steady), [StepKind::LargerDatabases]);
}

/// Reads of large databases fade for another reason: the time follows from their latest rate.
#[test]
fn the_time_for_rarer_reads_is_longer() {
    let lengths = [reading_four_times_too_little(), fading()].map(|mut run| {
        cases::large(&mut run);
        seconds(&steps(&run, &judge(&run)).concat()).expect("a length")
    });
    assert!(lengths[1] > 2 * lengths[0], "{lengths:?}");
}

/// A stress test of half a minute is not followed by a day.
#[test]
fn a_day_of_stress_follows_two_hours() {
    let case = CASES.iter().find(|case| case.kind == StepKind::DayOfStress).expect("a record");
    let mut run = Synthetic { measure_intervals: 3, ..Synthetic::default() }.run();
    (case.plan)(&mut run);
    for test in [TestType::Performance, TestType::Stress] {
        run.start.test = test;
        let told = steps(&run, &judge(&run));
        assert!(told[0].ends_with(" --duration 2h"), "{told:?}");
    }
}

/// A plan for exactly what fits would lack room after the next run, which writes logs.
#[test]
fn a_plan_that_fits_leaves_room_for_logs_and_growth() {
    let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
    let settings = &mut run.start.settings;
    (settings.mailboxes, settings.mailbox_bytes) = (Some(2_000), Some(2 << 30));
    let room = verdict::MailboxRoom::of(&run).expect("a size");
    assert_eq!(room.fitting(), 1_117);
    let told = steps(&run, &judge(&run));
    assert!(told[0].contains("at most 1,061 mailboxes"), "{told:?}");
    assert!(told[0].contains("Take volumes of 4.11 TiB or more"), "{told:?}");
    assert!(told[0].contains("with 5 % of the space for logs and growth"), "{told:?}");
}

/// The busy machine would disturb the larger or longer run as it did this one.
#[test]
fn other_programs_are_ended_before_the_next_measurement() {
    let quiet = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
    let mut run = quiet.clone();
    cases::crowded_out(&mut run);
    let (before, told) = (steps(&quiet, &judge(&quiet)), steps(&run, &judge(&run)));
    assert_eq!(told, [format!("End the other programs on this machine first. {}", before[0])]);
    run.start.settings.thresholds.minimum_log_writes = 1 << 40;
    let told = steps(&run, &judge(&run));
    assert!(told[0].starts_with("End the other programs on this machine first. Measure"));
}

#[test]
fn a_cause_and_the_time_that_lacked_are_one_step() {
    let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
    run.start.settings.thresholds.read_average_ns = 1;
    cases::crowded_out(&mut run);
    let told = steps(&run, &judge(&run));
    let expected = "End the other programs on this machine. Measure for longer, ";
    assert!(told.len() == 1 && told[0].starts_with(expected), "{told:?}");
}

/// What the crash hid of a short run leaves nothing to judge.
#[test]
fn a_short_run_that_crashed_is_not_resumed() {
    let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
    cases::cut_off(&mut run);
    let least_ns = 3 * run.start.settings.interval_ns;
    for (measure_ns, is_resumed) in [(least_ns, true), (least_ns - 1, false)] {
        run.start.settings.measure_ns = measure_ns;
        assert_eq!(kinds(&run).contains(&StepKind::Resume), is_resumed, "{measure_ns}");
    }
}

#[test]
fn nothing_larger_is_advised_on_a_full_volume() {
    let full = CASES.iter().find(|case| case.kind == StepKind::SmallerDatabases).expect("one");
    let mut run = record_of(full);
    cases::from_memory(&mut run);
    run.issues.clear();
    run.finished.as_mut().expect("it has ended").is_for_room = true;
    let mut verdict = judge(&run);
    // All findings decide together, so that the reads that are missing ask for a step too.
    verdict.findings.iter_mut().for_each(|of| of.kind = Kind::Validity);
    let told = advice(&run, &verdict);
    let kinds: Vec<StepKind> = told.iter().map(|step| step.kind).collect();
    assert!(kinds.contains(&StepKind::SmallerDatabases), "{told:?}");
    for grows in [StepKind::LargerDatabases, StepKind::MeasureLonger] {
        assert!(!kinds.contains(&grows), "{told:?}");
    }
}

#[test]
fn a_simulation_is_measured_with_the_options_that_it_was_given() {
    let case = CASES.iter().find(|case| case.kind == StepKind::MeasureSimulated);
    let mut run = record_of(case.expect("a record"));
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    run.start.command = "plimsoll simulate 'my plan.toml' --array shelf-15k".to_owned();
    run.start.options = vec![
        option("--duration", "1h"),
        option("--what-if", "raid.level=5"),
        option("--level", "2"),
        option("--tag", "rack-3"),
        option("--output", "out"),
    ];
    let told = steps(&run, &judge(&run));
    let command = "plimsoll prepare 'my plan.toml', then: plimsoll run 'my plan.toml' --duration \
                   1h --tag rack-3 --output out-2";
    assert!(told[0].ends_with(command), "{told:?}");
}

/// Every outcome has at least one step; if one of them is a mere repeat, it is the only one.
#[test]
fn a_repeat_is_advised_beside_nothing_else() {
    for seed in 0..300 {
        let run = drawn(seed);
        let told = advice(&run, &judge(&run));
        assert!(!told.is_empty(), "{seed}");
        let is_repeat = told.iter().any(|step| step.kind == StepKind::MeasureAgain);
        assert!(!is_repeat || told.len() == 1, "{seed}: {told:?}");
    }
}

#[test]
fn a_held_load_is_never_advised_fewer_sessions() {
    let mut held = 0;
    for seed in 0..300 {
        let run = drawn(seed);
        if run.start.settings.target_iops.is_none() {
            continue;
        }
        held += 1;
        let target = run.start.settings.target_iops.unwrap_or_default();
        for step in advice(&run, &judge(&run)) {
            assert_ne!(step.kind, StepKind::FewerSessions, "{seed}");
            let lower = step.command.as_deref().and_then(|of| option(of, "--target-iops"));
            let lower: Option<f64> = lower.map(|lower| lower.parse().expect("a rate"));
            assert!(lower.is_none_or(|lower| lower <= target.max(1.0)), "{seed}: {step}");
        }
    }
    assert!(held > 50);
}

#[test]
fn the_time_for_enough_requests_is_worked_out() {
    let mut run = Synthetic { measure_intervals: 2, ..Synthetic::default() }.run();
    let told = |run: &RunRecord| steps(run, &judge(run));
    let totals = run.totals_of(record::Phase::Measure, 0).expect("a load");
    let seen = totals.count(record::Series::LogWrite);
    // 41 of 100 in 30 s: 73 s, plus a quarter.
    run.start.settings.thresholds.minimum_log_writes = seen * 100 / 41;
    assert_eq!(
        told(&run),
        ["Measure for longer, until enough is seen for a verdict: plimsoll run plan.toml \
          --duration 2min"]
    );
    // The plan measures that long already: the run only ended early.
    run.start.settings.measure_ns = 120_000_000_000;
    assert_eq!(told(&run), ["Measure again, to the end: plimsoll run plan.toml"]);
}

/// Requests of a kind that the database with the fewest makes in a run of this length at a load.
fn expected(run: &RunRecord, series: Series, (iops, seconds): (f64, u64)) -> f64 {
    let of = |facts: &record::DatabaseFacts| {
        run.totals_of(Phase::Measure, facts.index).map_or(0, |of| of.count(series))
    };
    let fewest = run.start.databases.iter().map(of).min().unwrap_or(0);
    let measured_s = run.span_ns(Phase::Measure) as f64 / 1e9;
    fewest as f64 / measured_s * seconds as f64 * iops / run.achieved_transactional_iops()
}

/// Fewer mailboxes make less load: the run that was long enough for the old one is not for theirs.
#[test]
fn fewer_mailboxes_are_measured_long_enough_for_their_load() {
    for (kind, mailboxes, each) in
        [(StepKind::FindRoom, 3_000, 200_u64 << 30), (StepKind::FewerMailboxes, 400_000, 1 << 20)]
    {
        let mut run = Synthetic { measure_intervals: 4, ..Synthetic::default() }.run();
        let settings = &mut run.start.settings;
        (settings.mailboxes, settings.mailbox_bytes) = (Some(mailboxes), Some(each));
        let told = advice(&run, &judge(&run));
        let step = told.iter().find(|of| of.kind == kind).expect("it is advised");
        let command = step.command.as_deref().expect("a command");
        let carried = crate::mailboxes::Carried::of(&run);
        let count = if kind == StepKind::FindRoom { carried.by_space } else { Some(carried.by_io) };
        let iops = count.expect("a number") * carried.iops_each;
        let planned = run.start.settings.measure_ns / 1_000_000_000;
        let length = seconds(command).unwrap_or(planned);
        for series in [Series::DatabaseRead, Series::LogWrite] {
            let count = expected(&run, series, (iops, length));
            assert!(count >= 100.0, "{}: {count} of {series:?}: {command}", kind.name());
        }
    }
}

/// A run held at 2 IOPS made one log write in half a minute: ten times as long makes ten. At the
/// rate of the plan a hundred take most of an hour.
#[test]
fn a_count_of_one_is_not_extrapolated() {
    let mut run = Synthetic { measure_intervals: 2, ..Synthetic::default() }.run();
    cases::large(&mut run);
    run.start.settings.target_iops = Some(2.0);
    let span_ns = run.span_ns(Phase::Measure);
    for facts in run.start.databases.clone() {
        let totals = run.totals.get_mut(&(Phase::Measure, facts.index)).expect("a load");
        totals.series.remove(&Series::LogWrite);
    }
    let databases = run.start.databases.len() as f64;
    let command = steps(&run, &judge(&run)).concat();
    let length = seconds(&command).unwrap_or(span_ns / 1_000_000_000) as f64;
    // The lowest share of log writes that such a load was seen to make.
    assert!(length * 2.0 / databases * 0.05 >= 100.0, "{command}");
}

/// More sessions alone do so, too.
#[test]
fn a_short_run_with_too_few_sessions_is_measured_long_enough_with_more() {
    let mut run = Synthetic { measure_intervals: 2, ..Synthetic::default() }.run();
    run.start.settings.target_iops = Some(2.0 * run.achieved_transactional_iops());
    let log_writes = run.totals_of(record::Phase::Measure, 0).expect("a load");
    let seen = log_writes.count(record::Series::LogWrite);
    run.start.settings.thresholds.minimum_log_writes = seen * 2;
    let told = steps(&run, &judge(&run));
    assert!(told[0].ends_with(" --duration 90s --threads auto"), "{told:?}");
}

/// A larger cache alone leaves the run too short.
#[test]
fn a_remedy_for_a_short_run_measures_long_enough_too() {
    let mut run = Synthetic { measure_intervals: 2, ..Synthetic::default() }.run();
    run.start.settings.cache_maximum_bytes = 1 << 20;
    run.start.settings.thresholds.page_fault_stalls_per_second = -1.0;
    let totals = run.totals_of(record::Phase::Measure, 0).expect("a load");
    run.start.settings.thresholds.minimum_log_writes = totals.count(record::Series::LogWrite) * 2;
    let told = steps(&run, &judge(&run));
    assert!(told[0].starts_with("A cache of"), "{told:?}");
    assert!(told[0].ends_with(" --duration 90s"), "{told:?}");
}

#[test]
fn options_of_a_run_stay_but_for_the_one_that_changes() {
    let mut run = passing();
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    run.start.options = vec![option("--threads", "8"), option("--target-iops", "330")];
    run.start.settings.target_iops = Some(1e6);
    run.tuned = Some(Tuned::default());
    let told = steps(&run, &judge(&run));
    assert_eq!(told[0], "Find the load that it carries: plimsoll line plan.toml");
    assert_eq!(
        told[1],
        "Hold a lower target, which 2,500 mailboxes of 0.12 IOPS need: plimsoll run plan.toml \
         --threads 8 --target-iops 300"
    );
    run.start.command = String::new();
    assert!(steps(&run, &judge(&run))[0].ends_with("plimsoll line PLAN"));
}

#[test]
fn name_tags_and_folder_of_a_run_stay_and_the_folder_is_a_new_one() {
    let mut run = passing();
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    run.start.options = vec![
        option("--name", "a"),
        option("--target-iops", "330"),
        option("--tag", "rack-3"),
        option("--tag", "new"),
        option("--output", "/data/out"),
    ];
    run.start.settings.target_iops = Some(1e6);
    run.tuned = Some(Tuned::default());
    let told = steps(&run, &judge(&run));
    let kept = "--name a --tag rack-3 --tag new --output /data/out";
    assert!(told[0].ends_with(&format!(": plimsoll line plan.toml {kept}-2")), "{}", told[0]);
    let held = format!(": plimsoll run plan.toml --target-iops 300 {kept}-3");
    assert!(told[1].ends_with(&held), "{}", told[1]);
}
