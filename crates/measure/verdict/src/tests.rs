//! Every rule on a record that passes, one that fails and one that cannot be judged.

use record::synthetic::Synthetic;
use record::{
    BackupCopy, Checksum, Event, Finished, FurtherErrors, Issue, IssueKind, Phase, PhaseTotals,
    RunRecord, Series, SeriesTotal, Severity, TestType, Thresholds, Tuned, VolumeReads,
};

use crate::{Finding, Limit, LoadStep, Ruling, Unit, Verdict, judge};

const MS: u64 = 1_000_000;

fn small() -> Synthetic {
    Synthetic { warm_intervals: 1, measure_intervals: 4, ..Synthetic::default() }
}

/// A run without a measurement: it ended in the warm-up.
fn unmeasured() -> RunRecord {
    Synthetic { measure_intervals: 0, ..small() }.run()
}

fn finding<'a>(verdict: &'a Verdict, rule: &str) -> &'a Finding {
    let mut of_rule = verdict.findings.iter().filter(|finding| finding.rule == rule);
    of_rule.next().unwrap_or_else(|| panic!("no finding of {rule}"))
}

fn outcome_of(run: &RunRecord, rule: &str) -> Ruling {
    finding(&judge(run), rule).outcome
}

fn issue(severity: Severity) -> Issue {
    Issue {
        at_ns: 40_000 * MS,
        database: Some(1),
        severity,
        kind: IssueKind::InputOutput,
        volume: Some("/mail/db02".to_owned()),
        file: Some("/mail/db02/Plimsoll002.edb".to_owned()),
        offset_bytes: Some(65_536),
        text: "read of 32768 bytes at 65536 failed: Input/output error".to_owned(),
    }
}

#[test]
fn a_healthy_run_passes_every_rule() {
    let verdict = judge(&small().run());
    for finding in &verdict.findings {
        assert_eq!(finding.outcome, Ruling::Pass, "{finding:?}");
    }
    assert_eq!(verdict.findings.len(), 15);
    assert_eq!((verdict.outcome, verdict.exit_code()), (Ruling::Pass, 0));
    assert!(verdict.objections().is_empty());
}

/// Changes the number and duration of the reads of interval `number` of the measurement.
fn reshape(run: &mut RunRecord, reshape: impl Fn(usize, &mut record::Summary)) {
    let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
    for (number, row) in rows.enumerate() {
        let reads = row.series.get_mut(&Series::DatabaseRead).expect("a load reads");
        reshape(number, &mut reads.latency);
    }
}

#[test]
fn a_load_that_changes_from_begin_to_end_is_named() {
    let long = Synthetic { warm_intervals: 1, measure_intervals: 24, ..Synthetic::default() };
    assert_eq!(outcome_of(&long.run(), "steady-state"), Ruling::Pass);
    let mut slowing = long.run();
    reshape(&mut slowing, |number, reads| reads.count -= reads.count * number as u64 / 100);
    let verdict = judge(&slowing);
    let found = finding(&verdict, "steady-state");
    assert_eq!((found.outcome, verdict.outcome), (Ruling::Warn, Ruling::Pass));
    assert!((10.0..25.0).contains(&found.measured.unwrap()), "{found:?}");
    assert!(found.evidence[0].text.contains("rate of reads and writes fell"), "{found:?}");
    let mut delayed = long.run();
    reshape(&mut delayed, |number, reads| reads.mean_ns *= 1.0 + 0.02 * number as f64);
    let verdict = judge(&delayed);
    let found = finding(&verdict, "steady-state");
    assert_eq!((found.outcome, found.limit), (Ruling::Warn, Some(Limit::AtMost(20.0))));
    assert!(found.evidence[0].text.contains("database reads rose"), "{found:?}");
    // Writes take the place of reads in a held load: their sum stays.
    let mut held = long.run();
    held.start.settings.target_iops = Some(1.0);
    for (number, row) in
        held.intervals.iter_mut().filter(|row| row.phase == Phase::Measure).enumerate()
    {
        let [reads, writes] = [Series::DatabaseRead, Series::DatabaseWrite];
        let fewer = row.series[&reads].latency.count * number as u64 / 100;
        row.series.get_mut(&reads).expect("a load reads").latency.count -= fewer;
        row.series.get_mut(&writes).expect("and writes").latency.count += fewer;
    }
    let verdict = judge(&held);
    let found = finding(&verdict, "steady-state");
    assert_eq!(found.outcome, Ruling::Warn);
    assert!(found.evidence[0].text.contains("rate of database reads fell"), "{found:?}");
    assert!(judge(&small().run()).findings.iter().all(|finding| finding.rule != "steady-state"));
}

#[test]
fn slow_reads_fail_and_name_every_slow_database() {
    let slow = Synthetic { read_median_ns: 30 * MS, ..small() };
    let verdict = judge(&slow.run());
    let finding = finding(&verdict, "read-latency-average");
    assert_eq!(finding.outcome, Ruling::Fail);
    let databases: Vec<_> = finding.evidence.iter().map(|of| of.database).collect();
    assert_eq!(databases, [Some(1), Some(0)]);
    assert!(finding.measured.is_some_and(|ms| ms > 35.0), "{finding:?}");
    assert_eq!(verdict.exit_code(), 1);
}

#[test]
fn a_mean_on_the_limit_passes_and_one_nanosecond_more_fails() {
    let run = small().run();
    let mean_ns = |run: &RunRecord| {
        run.totals[&(Phase::Measure, 1)].series[&Series::DatabaseRead].latency.mean_ns()
    };
    let with_limit = |limit_ns: f64| {
        let mut run = run.clone();
        let whole = format!("{limit_ns:.0}").parse().unwrap();
        run.start.settings.thresholds.read_average_ns = whole;
        outcome_of(&run, "read-latency-average")
    };
    assert_eq!(with_limit(mean_ns(&run).ceil()), Ruling::Pass);
    assert_eq!(with_limit(mean_ns(&run).floor() - 1.0), Ruling::Fail);
}

#[test]
fn few_reads_cannot_be_judged() {
    let mut run = small().run();
    run.start.settings.thresholds.minimum_reads = 1_000_000;
    let verdict = judge(&run);
    let finding = finding(&verdict, "read-latency-average");
    assert_eq!(finding.outcome, Ruling::CannotJudge);
    assert_eq!(finding.limit, Some(Limit::AtLeast(1_000_000.0)));
    assert_eq!(finding.unit, Unit::Requests);
    assert!(finding.evidence[0].text.ends_with(" database reads"), "{finding:?}");
    assert_eq!(verdict.exit_code(), 2);
}

#[test]
fn a_spike_fails_only_the_worst_interval_and_names_it() {
    let spiky = Synthetic { spike: Some(2), measure_intervals: 20, ..small() };
    let verdict = judge(&spiky.run());
    let worst = finding(&verdict, "read-latency-maximum");
    assert_eq!(worst.outcome, Ruling::Fail);
    let fifteen_seconds = 15_000 * MS;
    let span = (3 * fifteen_seconds, 4 * fifteen_seconds);
    assert_eq!(worst.evidence[0].span_ns, Some(span));
    let average = finding(&verdict, "read-latency-average");
    assert_eq!(average.outcome, Ruling::Pass);
}

#[test]
fn the_lenient_set_admits_the_spike() {
    let mut run = Synthetic { spike: Some(2), measure_intervals: 20, ..small() }.run();
    run.start.settings.thresholds = Thresholds::lenient();
    assert_eq!(outcome_of(&run, "read-latency-maximum"), Ruling::Pass);
}

#[test]
fn slow_log_writes_fail() {
    let slow = Synthetic { log_write_median_ns: 80 * MS, ..small() };
    let run = slow.run();
    assert_eq!(outcome_of(&run, "log-write-latency-average"), Ruling::Fail);
    assert_eq!(outcome_of(&run, "log-write-latency-maximum"), Ruling::Fail);
}

#[test]
fn few_log_writes_cannot_be_judged() {
    let mut run = small().run();
    run.start.settings.thresholds.minimum_log_writes = 1_000_000;
    assert_eq!(outcome_of(&run, "log-write-latency-average"), Ruling::CannotJudge);
}

#[test]
fn an_unmeasured_run_cannot_be_judged_by_any_load_rule() {
    let run = unmeasured();
    for rule in [
        "target-iops",
        "read-latency-average",
        "read-latency-maximum",
        "log-write-latency-average",
        "log-write-latency-maximum",
        "longest-request",
        "page-fault-stalls",
        "measured-time",
    ] {
        assert_eq!(outcome_of(&run, rule), Ruling::CannotJudge, "{rule}");
    }
    assert_eq!(judge(&run).exit_code(), 2);
}

#[test]
fn a_percentile_is_judged_where_the_plan_sets_its_limit() {
    let with_limit = |mut run: RunRecord, limit_ns| {
        let thresholds = &mut run.start.settings.thresholds;
        (thresholds.read_p99_ns, thresholds.log_write_p99_ns) = (Some(limit_ns), Some(limit_ns));
        run
    };
    let p99_of = |series: Series| {
        let run = small().run();
        let totals = run.totals_of(Phase::Measure, 0).unwrap();
        totals.series[&series].latency.quantile(0.99)
    };
    for (rule, series) in
        [("read-latency-p99", Series::DatabaseRead), ("log-write-latency-p99", Series::LogWrite)]
    {
        let p99_ns = p99_of(series);
        assert_eq!(outcome_of(&with_limit(small().run(), p99_ns * 2), rule), Ruling::Pass);
        assert_eq!(outcome_of(&with_limit(small().run(), p99_ns / 2), rule), Ruling::Fail);
        assert_eq!(outcome_of(&with_limit(unmeasured(), p99_ns), rule), Ruling::CannotJudge);
        assert!(judge(&small().run()).findings.iter().all(|one| one.rule != rule));
    }
}

#[test]
fn requests_without_an_answer_are_the_slowest_of_a_percentile() {
    let mut run = small().run();
    run.start.settings.thresholds.read_p99_ns = Some(1_000_000_000);
    assert_eq!(outcome_of(&run, "read-latency-p99"), Ruling::Pass);
    for ((_, _), totals) in run.totals.iter_mut().filter(|((phase, _), _)| *phase == Phase::Measure)
    {
        let reads = totals.series.get_mut(&Series::DatabaseRead).unwrap();
        reads.unanswered.waiting = reads.latency.count() / 50;
        reads.unanswered.oldest_ns = 2_000_000_000;
    }
    assert_eq!(outcome_of(&run, "read-latency-p99"), Ruling::Fail);
}

#[test]
fn stalls_fail_above_one_a_second_over_all_databases() {
    let stalling = |page_fault_stalls| {
        let run = Synthetic { page_fault_stalls, ..small() };
        outcome_of(&run.run(), "page-fault-stalls")
    };
    // Two databases, intervals of 15 s.
    assert_eq!(stalling(7), Ruling::Pass);
    assert_eq!(stalling(8), Ruling::Fail);
}

#[test]
fn any_kind_of_damaged_page_fails() {
    let damages: [fn(&mut Checksum); 4] = [
        |of| of.bad_pages = 1,
        |of| of.correctable_pages = 1,
        |of| of.wrong_page_number_pages = 1,
        |of| of.lost_flush_pages = 1,
    ];
    for damage in damages {
        let mut run = small().run();
        damage(&mut run.checksums[1]);
        let verdict = judge(&run);
        let finding = finding(&verdict, "checksums");
        assert_eq!(finding.outcome, Ruling::Fail);
        assert_eq!(finding.evidence.len(), 1);
        assert_eq!(finding.evidence[0].database, Some(1));
        assert_eq!(verdict.exit_code(), 1);
    }
}

#[test]
fn pages_ahead_of_their_use_are_no_damage() {
    let mut run = small().run();
    run.checksums[0].uninitialised_pages = 500;
    run.checksums[0].foreign_pages = 500;
    assert_eq!(outcome_of(&run, "checksums"), Ruling::Pass);
}

#[test]
fn a_database_that_was_not_checked_cannot_be_judged() {
    let mut run = small().run();
    run.checksums.pop();
    assert_eq!(outcome_of(&run, "checksums"), Ruling::CannotJudge);
}

#[test]
fn checksums_are_not_asked_of_a_plan_without_them() {
    let mut run = small().run();
    run.checksums.clear();
    run.start.settings.verify_checksums = false;
    let verdict = judge(&run);
    assert!(verdict.findings.iter().all(|finding| finding.rule != "checksums"));
    assert_eq!(verdict.outcome, Ruling::Pass);
}

#[test]
fn one_error_fails_and_a_warning_does_not() {
    let mut run = small().run();
    run.issues.push(issue(Severity::Warning));
    assert_eq!(outcome_of(&run, "input-output-errors"), Ruling::Warn);
    assert_eq!(judge(&run).exit_code(), 0);
    run.issues.push(issue(Severity::Error));
    let verdict = judge(&run);
    let finding = finding(&verdict, "input-output-errors");
    assert_eq!(finding.outcome, Ruling::Fail);
    assert_eq!(finding.measured, Some(1.0));
    assert_eq!(verdict.exit_code(), 1);
}

#[test]
fn a_failed_request_fails_even_where_it_was_not_noted() {
    let mut run = small().run();
    let totals = run.totals.get_mut(&(Phase::Measure, 0)).unwrap();
    totals.series.get_mut(&Series::DatabaseWrite).unwrap().errors = 2;
    assert_eq!(outcome_of(&run, "input-output-errors"), Ruling::Fail);
}

#[test]
fn a_long_list_of_errors_is_cut() {
    let mut run = small().run();
    run.issues = vec![issue(Severity::Error); 25];
    let verdict = judge(&run);
    let evidence = &finding(&verdict, "input-output-errors").evidence;
    assert_eq!(evidence.len(), 11);
    assert_eq!(evidence[10].text, "and 15 more");
}

#[test]
fn errors_that_are_only_counted_fail_too() {
    let mut run = small().run();
    run.issues.push(issue(Severity::Error));
    for failed_requests in [7, 3_000] {
        let further = FurtherErrors { failed_requests, ..FurtherErrors::default() };
        run.push(Event::FurtherErrors(further));
    }
    let verdict = judge(&run);
    let finding = finding(&verdict, "input-output-errors");
    assert_eq!((finding.outcome, finding.measured), (Ruling::Fail, Some(3_008.0)));
    assert_eq!(finding.evidence[1].text, "and 3,007 more");
}

#[test]
fn a_missed_target_fails_and_a_missing_target_is_not_judged() {
    let mut run = small().run();
    run.start.settings.target_iops = Some(400.0);
    run.tuned = Some(Tuned::default());
    assert_eq!(outcome_of(&run, "target-iops"), Ruling::Fail);
    run.start.settings.target_iops = None;
    let verdict = judge(&run);
    assert!(verdict.findings.iter().all(|finding| finding.rule != "target-iops"));
}

/// Three sessions that wait for answers in time say nothing of what more would get.
#[test]
fn a_target_missed_with_the_sessions_of_the_plan_is_not_held_against_quick_storage() {
    let mut run = small().run();
    let achieved = run.achieved_transactional_iops();
    run.start.settings.target_iops = Some(2.1 * achieved);
    let verdict = judge(&run);
    let sessions = finding(&verdict, "sessions");
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    assert_eq!(sessions.numbers(), " 3, at least 7");
    assert!(verdict.decisive().iter().any(|of| of.rule == "sessions"));
    assert_eq!(LoadStep::of(&run, &verdict).holds, Some(false), "a line has these sessions");
    let mut idle = run.clone();
    idle.start.settings.threads_per_database = 1_000;
    assert_eq!(judge(&idle).outcome, Ruling::Fail, "sessions that hardly wait are no excuse");
    run.start.settings.thresholds.read_average_ns = 1;
    let verdict = judge(&run);
    assert_eq!(verdict.outcome, Ruling::Fail, "slow storage needs no more sessions to be slow");
    assert!(verdict.findings.iter().all(|of| of.rule != "sessions"));
    run.start.settings.target_iops = Some(achieved);
    assert!(judge(&run).findings.iter().all(|of| of.rule != "sessions"));
}

#[test]
fn a_missed_share_of_what_a_search_had_seen_is_a_warning() {
    let mut run = small().run();
    let settings = &mut run.start.settings;
    (settings.target_iops, settings.throughput_percent) = (None, Some(80.0));
    run.tuned = Some(Tuned { target_iops: Some(400), ..Tuned::default() });
    let verdict = judge(&run);
    let missed = finding(&verdict, "target-iops");
    assert_eq!((missed.outcome, verdict.outcome), (Ruling::Warn, Ruling::Pass));
    assert!(missed.evidence[0].text.contains("80 % of the highest load"), "{missed:?}");
    run.tuned = Some(Tuned { target_iops: Some(100), ..Tuned::default() });
    assert_eq!(outcome_of(&run, "target-iops"), Ruling::Pass);
}

#[test]
fn a_busy_generator_warns_and_casts_doubt_on_failures_only() {
    let busy = Synthetic { processor_percent: 97.0, ..small() };
    let verdict = judge(&busy.run());
    assert_eq!(finding(&verdict, "generator-limited").outcome, Ruling::Warn);
    assert_eq!(verdict.outcome, Ruling::Pass);
    let busy_and_slow = Synthetic { read_median_ns: 30 * MS, ..busy.clone() };
    let verdict = judge(&busy_and_slow.run());
    let doubt = finding(&verdict, "generator-limited");
    assert_eq!(doubt.outcome, Ruling::CannotJudge);
    let why = doubt.deciding_evidence().unwrap_or_default();
    let missed = "it may be why a limit was not kept: Database read latency, mean of the worst";
    assert!(why.starts_with(missed) && why.ends_with(" ms, limit 20 ms"), "{why}");
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    // Too short to be judged, without a limit that was not kept.
    let verdict = judge(&Synthetic { measure_intervals: 1, ..busy }.run());
    let idle = finding(&verdict, "generator-limited");
    assert_eq!((idle.outcome, verdict.outcome), (Ruling::Warn, Ruling::CannotJudge));
    assert!(idle.evidence[0].text.starts_with("does not decide this run, but"), "{idle:?}");
}

#[test]
fn a_machine_that_does_not_tell_its_busy_time_is_not_idle() {
    let mut run = small().run();
    for row in &mut run.intervals {
        row.host.as_mut().unwrap().processor_percent = None;
    }
    let verdict = judge(&run);
    assert!(verdict.findings.iter().all(|finding| finding.rule != "generator-limited"));
    // A reported share counts as its busy time.
    let measured = run.intervals.iter().rposition(|row| row.phase == Phase::Measure).unwrap();
    run.intervals[measured].host.as_mut().unwrap().processor_percent = Some(97.0);
    assert_eq!(outcome_of(&run, "generator-limited"), Ruling::Warn);
}

#[test]
fn steal_and_lag_are_rules_with_numbers_of_theirs() {
    let mut stolen = small().run();
    let mut lagging = small().run();
    for row in &mut stolen.intervals {
        row.host.as_mut().unwrap().steal_percent = Some(12.0);
    }
    for row in &mut lagging.intervals {
        row.host.as_mut().unwrap().reactor_lag_maximum_ns = 8 * MS;
    }
    for (run, rule, numbers) in [
        (&stolen, "processor-steal", (Some(12.0), Some(Limit::AtMost(5.0)))),
        (&lagging, "completion-lag", (Some(8.0), Some(Limit::AtMost(5.0)))),
    ] {
        let verdict = judge(run);
        let found = finding(&verdict, rule);
        assert_eq!((found.outcome, verdict.outcome), (Ruling::Warn, Ruling::Pass), "{rule}");
        assert_eq!((found.measured, found.limit), numbers, "{rule}");
        assert_eq!(finding(&verdict, "generator-limited").outcome, Ruling::Pass, "{rule}");
        // A load that failed on such a machine is not judged, and this rule says why.
        let mut slow = run.clone();
        slow.start.settings.target_iops = Some(1e6);
        let verdict = judge(&slow);
        assert_eq!(verdict.outcome, Ruling::CannotJudge, "{rule}");
        assert_eq!(finding(&verdict, rule).outcome, Ruling::CannotJudge, "{rule}");
        assert_eq!(finding(&verdict, "generator-limited").outcome, Ruling::Pass, "{rule}");
    }
    lagging.intervals.truncate(2);
    lagging.intervals[1].host.as_mut().unwrap().reactor_lag_maximum_ns = 4 * MS;
    assert_eq!(outcome_of(&lagging, "completion-lag"), Ruling::Pass);
}

#[test]
fn an_interrupted_run_cannot_be_judged_unless_it_shows_damage() {
    let mut run = small().run();
    run.finished = Some(Finished {
        at_ns: 50_000 * MS,
        interrupted: true,
        reason: Some("interrupted by Ctrl-C".to_owned()),
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    });
    assert_eq!(outcome_of(&run, "completed"), Ruling::CannotJudge);
    assert_eq!(judge(&run).exit_code(), 2);
    run.issues.push(issue(Severity::Error));
    assert_eq!(judge(&run).exit_code(), 1);
}

#[test]
fn a_journal_that_just_stops_cannot_be_judged() {
    let mut run = small().run();
    run.finished = None;
    assert_eq!(outcome_of(&run, "completed"), Ruling::CannotJudge);
}

#[test]
fn a_valid_run_with_one_failed_limit_fails_even_where_another_is_unknown() {
    let mut run = Synthetic { read_median_ns: 30 * MS, ..small() }.run();
    run.start.settings.thresholds.minimum_log_writes = 1_000_000;
    assert_eq!(judge(&run).outcome, Ruling::Fail);
    assert_eq!(judge(&run).objections()[0].outcome, Ruling::Fail);
}

#[test]
fn backups_are_not_judged_by_latency() {
    let mut run = small().run();
    run.start.test = TestType::Backup;
    let rules: Vec<_> = judge(&run).findings.iter().map(|finding| finding.rule).collect();
    let judged = ["longest-request", "checksums", "input-output-errors"];
    assert_eq!(rules[..3], judged);
    assert_eq!(rules[3..], ["completed"]);
}

/// A backup of every database of a made-up run, at `mebibytes` MiB per second.
fn backup(mebibytes: u64) -> RunRecord {
    let mut run = small().run();
    run.start.test = TestType::Backup;
    run.start.settings.verify_checksums = false;
    run.start.settings.thresholds.read_rate_bytes_per_second = Some(50 << 20);
    run.backups = std::mem::take(&mut run.checksums);
    for read in &mut run.backups {
        (read.bytes, read.elapsed_ns) = (mebibytes << 20, 1_000 * MS);
    }
    run
}

#[test]
fn a_backup_below_the_rate_of_the_plan_fails() {
    assert_eq!(outcome_of(&backup(50), "read-rate"), Ruling::Pass);
    assert_eq!(outcome_of(&backup(49), "read-rate"), Ruling::Fail);
    let mut short = backup(60);
    short.backups.pop();
    assert_eq!(outcome_of(&short, "read-rate"), Ruling::CannotJudge);
    assert_eq!(outcome_of(&short, "checksums"), Ruling::CannotJudge);
}

/// A backup at 49 of 50 MiB/s whose reads waited `waited_ms` milliseconds of a second for its
/// copies, and took `reads_ms` by themselves.
fn copied_slowly(waited_ms: u64, reads_ms: u64) -> RunRecord {
    let mut run = backup(49);
    for (facts, read) in run.start.databases.iter_mut().zip(&run.backups) {
        facts.backup_file = Some(format!("/copies/{}.edb", facts.name));
        let (database, reads_waited_ns) = (read.database, waited_ms * MS);
        run.backup_copies.push(BackupCopy { database, reads_waited_ns, ..BackupCopy::default() });
        let mut series = SeriesTotal { bytes: 1 << 20, ..SeriesTotal::default() };
        series.latency.record(reads_ms * MS / 49);
        let totals =
            PhaseTotals { series: [(Series::BackupRead, series)].into(), ..Default::default() };
        run.totals.insert((Phase::Backup, read.database), totals);
    }
    run.copy_checksums.clone_from(&run.backups);
    run
}

#[test]
fn a_slow_copy_is_blamed_and_the_volume_of_the_database_is_not_judged() {
    let run = copied_slowly(900, 500);
    assert_eq!(outcome_of(&run, "read-rate"), Ruling::CannotJudge);
    let verdict = judge(&run);
    let found = finding(&verdict, "copy-rate");
    assert_eq!((found.outcome, verdict.outcome), (Ruling::Fail, Ruling::Fail));
    let told = &found.evidence[0].text;
    assert!(told.contains("waited 0.9 s for the copy in /copies: that folder's volume"), "{told}");
    assert!(told.ends_with("the database itself gives 98 MiB/s or more"), "{told}");
    let unsure = judge(&copied_slowly(900, 1_500));
    let told = &finding(&unsure, "copy-rate").evidence[0].text;
    assert!(told.contains("without `backup_folders`"), "{told}");
    // It would have been too slow even without the waits.
    let slow = copied_slowly(1, 500);
    assert_eq!(outcome_of(&slow, "read-rate"), Ruling::Fail);
    assert_eq!(outcome_of(&slow, "copy-rate"), Ruling::Pass);
}

#[test]
fn a_page_damaged_in_a_backup_is_damage() {
    let mut run = backup(60);
    assert_eq!(outcome_of(&run, "checksums"), Ruling::Pass);
    run.backups[1].bad_pages = 1;
    assert_eq!(judge(&run).outcome, Ruling::Fail);
    assert_eq!(outcome_of(&run, "checksums"), Ruling::Fail);
}

#[test]
fn a_copy_counts_only_where_all_of_it_was_read_back() {
    let mut run = backup(60);
    run.start.databases[1].backup_file = Some("/copies/Plimsoll002.edb".to_owned());
    assert_eq!(outcome_of(&run, "checksums"), Ruling::CannotJudge);
    run.copy_checksums = vec![run.backups[1]];
    assert_eq!(outcome_of(&run, "checksums"), Ruling::Pass);
    run.copy_checksums[0].bad_pages = 1;
    assert_eq!(outcome_of(&run, "checksums"), Ruling::Fail);
}

#[test]
fn a_backup_that_stood_still_fails() {
    let mut run = backup(60);
    run.long_requests.push(record::LongRequest {
        at_ns: 9_000 * MS,
        phase: Phase::Backup,
        database: 0,
        file: "/mail/db01/Plimsoll001.edb".to_owned(),
        operation: "read".to_owned(),
        offset_bytes: 65_536,
        length_bytes: 262_144,
        time_ns: 8_000 * MS,
        is_answered: false,
    });
    assert_eq!(outcome_of(&run, "longest-request"), Ruling::Fail);
}

#[test]
fn one_hiccup_of_the_machine_is_no_limit() {
    let mut run = small().run();
    run.intervals[2].host.as_mut().unwrap().reactor_lag_maximum_ns = 900 * MS;
    assert_eq!(outcome_of(&run, "completion-lag"), Ruling::Pass);
}

#[test]
fn a_number_on_its_limit_keeps_it() {
    assert!(Limit::AtMost(1.0).admits(1.0) && !Limit::AtMost(1.0).admits(1.1));
    assert!(Limit::AtLeast(1.0).admits(1.0) && !Limit::AtLeast(1.0).admits(0.9));
}

#[test]
fn a_full_volume_is_no_damage_and_a_failed_request_beside_it_still_is() {
    let mut run = small().run();
    run.issues.push(Issue {
        kind: IssueKind::VolumeFull,
        text: "/mail/db02/E01tmp.plg: no space left on the volume".to_owned(),
        ..issue(Severity::Error)
    });
    let verdict = judge(&run);
    assert_eq!((verdict.outcome, verdict.exit_code()), (Ruling::CannotJudge, 2));
    let full = finding(&verdict, "volume-full");
    assert!(full.evidence[0].text.starts_with("/mail/db02 had no room"));
    let quota = "the quota of user 8 allows 2.0 MiB, and 1.0 MiB of them are in use";
    run.start.databases[0].log_volume.space_limits = vec![quota.to_owned()];
    let verdict = judge(&run);
    let said = &finding(&verdict, "volume-full").evidence[0].text;
    assert!(said.ends_with(&format!("on the volume); {quota}")), "{said}");
    assert_eq!(outcome_of(&run, "input-output-errors"), Ruling::Pass);
    run.issues.push(issue(Severity::Error));
    assert_eq!(outcome_of(&run, "input-output-errors"), Ruling::Fail);
    assert_eq!(judge(&run).exit_code(), 1);
}

#[test]
fn a_lost_connection_proves_nothing_and_names_the_export() {
    let mut run = small().run();
    run.issues.push(Issue {
        kind: IssueKind::ConnectionLost,
        text: "nbd://array/lun: the server closed the connection".to_owned(),
        ..issue(Severity::Error)
    });
    let verdict = judge(&run);
    assert_eq!((verdict.outcome, verdict.exit_code()), (Ruling::CannotJudge, 2));
    let lost = finding(&verdict, "connection-lost");
    assert!(lost.evidence[0].text.starts_with("nbd://array/lun: "));
    assert_eq!(outcome_of(&run, "input-output-errors"), Ruling::Pass);
    // It does not hide a fault of the storage, whenever that occurs.
    let mut faulty = run.clone();
    faulty.issues.push(issue(Severity::Error));
    assert_eq!(judge(&faulty).exit_code(), 1);
    // An exceeded limit is no judgement of storage that may have been unreachable.
    run.start.settings.target_iops = Some(u32::MAX.into());
    assert_eq!(judge(&run).exit_code(), 2);
}

#[test]
fn a_record_that_was_changed_is_not_judged_whatever_it_says() {
    let sealed = |change: &dyn Fn(String) -> String| {
        let mut sealer = record::codec::Sealer::default();
        let events = small().events();
        let journal: String = events.iter().map(|event| sealer.line(event)).collect();
        RunRecord::load(change(journal).as_bytes()).unwrap()
    };
    let whole = sealed(&|journal| journal);
    assert_eq!(outcome_of(&whole, "record-intact"), Ruling::Pass);
    assert_eq!(judge(&whole).exit_code(), 0);
    let altered = sealed(&|journal| journal.replace("\"bad_pages\":0", "\"bad_pages\":7"));
    assert_eq!(outcome_of(&altered, "record-intact"), Ruling::CannotJudge);
    // Its contents are reported, and prove nothing.
    let verdict = judge(&altered);
    let checksums = finding(&verdict, "checksums");
    assert_eq!(
        (checksums.outcome, checksums.measured, verdict.exit_code()),
        (Ruling::CannotJudge, Some(14.0), 2)
    );
    let unsealed = judge(&small().run());
    assert!(!unsealed.findings.iter().any(|finding| finding.rule == "record-intact"));
}

/// A run that read `requested` mebibytes while its device counted `counted`.
fn compared(requested: u64, counted: u64) -> RunRecord {
    let mut run = small().run();
    run.volume_reads.push(VolumeReads {
        volume: "/mail/db01".to_owned(),
        requested_bytes: requested << 20,
        device_bytes: counted << 20,
        accounted_bytes: None,
    });
    run
}

#[test]
fn reads_that_the_device_has_not_seen_cannot_be_judged() {
    for (requested, counted, outcome) in [
        (380, 7, Ruling::CannotJudge),
        (380, 189, Ruling::CannotJudge),
        (380, 190, Ruling::Pass),
        (380, 9_000, Ruling::Pass),
    ] {
        let run = compared(requested, counted);
        assert_eq!(outcome_of(&run, "device-reads"), outcome, "{counted}");
        assert_eq!(judge(&run).outcome, outcome);
    }
    let verdict = judge(&compared(15, 0));
    assert!(
        verdict.findings.iter().all(|finding| finding.rule != "device-reads"),
        "too little to tell"
    );
}

#[test]
fn a_cache_that_is_known_or_may_be_there_cannot_be_judged() {
    let mut run = small().run();
    run.start.databases[0].volume.caching_unknown = Some("nfs does not say".to_owned());
    let verdict = judge(&run);
    let said = finding(&verdict, "caches");
    assert_eq!((said.outcome, verdict.outcome), (Ruling::CannotJudge, Ruling::CannotJudge));
    assert!(said.evidence[0].text.contains("unknown: nfs does not say, and no device counted"));
    let volume = run.start.databases[0].volume.mount.clone();
    for (requested_bytes, device_bytes, outcome) in [
        (100 << 20, 90 << 20, Ruling::Pass),
        (100 << 20, 9 << 20, Ruling::CannotJudge),
        // Too little data: the result is unknown.
        (15 << 20, 0, Ruling::CannotJudge),
        (15 << 20, 15 << 20, Ruling::CannotJudge),
    ] {
        let mut run = run.clone();
        run.volume_reads.push(VolumeReads {
            volume: volume.clone(),
            requested_bytes,
            device_bytes,
            accounted_bytes: None,
        });
        assert_eq!(judge(&run).outcome, outcome, "{device_bytes}");
    }
    run.start.settings.target_iops = Some(1e6);
    run.tuned = Some(Tuned::default());
    assert_eq!(judge(&run).outcome, Ruling::Fail, "no cache keeps a load from its target");
    run.start.databases[0].volume.cached = Some("loop0 reads its file".to_owned());
    assert_eq!(judge(&run).outcome, Ruling::CannotJudge);
}

#[test]
fn several_tests_are_as_good_as_the_worst_of_them() {
    use Ruling::{CannotJudge, Fail, Pass, Warn};
    for (outcomes, together, code) in [
        (&[Pass, Warn, Pass][..], Pass, 0),
        (&[Pass, CannotJudge, Fail], Fail, 1),
        (&[Pass, CannotJudge], CannotJudge, 2),
        (&[], CannotJudge, 2),
    ] {
        let worst = crate::worst(outcomes);
        assert_eq!((worst, worst.exit_code()), (together, code), "{outcomes:?}");
    }
}
