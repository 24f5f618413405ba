//! Runs alongside other programs: these are named, and blamed only if they provably kept this
//! program from the processors.

use record::synthetic::Synthetic;
use record::{
    IntervalRow, Phase, ProcessorShares, ProgramShare, RunRecord, Series, TestType, VolumeReads,
};

use crate::{Finding, Ruling, Verdict, judge};

const MS: u64 = 1_000_000;

/// Processors used by others to `others_percent`.
fn shares(others_percent: f64) -> ProcessorShares {
    ProcessorShares {
        busy_percent: 34.0 + others_percent,
        own_percent: 34.0,
        kernel_percent: 0.0,
        others_percent,
        top: Some(ProgramShare { name: "rustc".to_owned(), percent: others_percent }),
    }
}

/// Four intervals of a load on quiet processors.
fn quiet(load: &Synthetic) -> RunRecord {
    let mut run = Synthetic { warm_intervals: 1, measure_intervals: 4, ..load.clone() }.run();
    for row in &mut run.intervals {
        row.processors = Some(shares(2.0));
    }
    run
}

/// The given interval of the measurement.
fn measured(run: &mut RunRecord, number: usize) -> &mut IntervalRow {
    let rows = run.intervals.iter_mut();
    let mut rows = rows.filter(|row| row.phase == Phase::Measure);
    rows.nth(number).expect("so many intervals")
}

/// Other programs take the processors in an interval, and answers are noticed `late_ns` late.
fn starve(run: &mut RunRecord, number: usize, late_ns: u64) {
    let row = measured(run, number);
    row.processors = Some(shares(66.0));
    row.host.as_mut().expect("a machine").pause_maximum_ns = Some(late_ns);
}

fn spike() -> Synthetic {
    Synthetic { spike: Some(2), ..Synthetic::default() }
}

fn finding<'a>(verdict: &'a Verdict, rule: &str) -> &'a Finding {
    let mut found = verdict.findings.iter().filter(|one| one.rule == rule);
    found.next().unwrap_or_else(|| panic!("no finding of {rule}"))
}

fn says(finding: &Finding, words: &str) -> bool {
    finding.evidence.iter().any(|one| one.text.contains(words))
}

const NAMED: &str = "processors 100 % busy: Plimsoll 34 %, others 66 % (top: rustc 66 %)";

#[test]
fn quiet_processors_pass_and_name_no_one() {
    let verdict = judge(&quiet(&Synthetic::default()));
    let found = finding(&verdict, "other-programs");
    assert_eq!(found.outcome, Ruling::Pass);
    assert!(!says(found, "rustc"), "{found:?}");
    assert_eq!(verdict.outcome, Ruling::Pass);
}

#[test]
fn a_record_that_does_not_tell_is_not_asked() {
    let verdict = judge(&Synthetic::default().run());
    let others = verdict.findings.iter();
    assert_eq!(
        others.filter(|one| one.rule == "other-programs").count(),
        0,
        "older records say nothing"
    );
}

#[test]
fn a_load_that_passes_beside_others_has_passed_and_names_them() {
    let mut run = quiet(&Synthetic::default());
    for number in 0..4 {
        starve(&mut run, number, 30 * MS);
    }
    let verdict = judge(&run);
    let found = finding(&verdict, "other-programs");
    assert_eq!(found.outcome, Ruling::Warn);
    assert!(says(found, "in 4 of 4 intervals"), "{found:?}");
    assert!(says(found, NAMED), "{found:?}");
    // Numbers over a limit that do not count against a pass say so first.
    for (rule, also) in [("other-programs", "; "), ("starved-lag", ", but can make a failure")] {
        let first = &finding(&verdict, rule).evidence[0].text;
        assert!(first.starts_with(&format!("does not weaken the pass{also}")), "{first}");
    }
    assert_eq!(verdict.outcome, Ruling::Pass);
}

#[test]
fn a_latency_of_a_starved_interval_alone_cannot_be_judged() {
    let mut run = quiet(&spike());
    assert_eq!(judge(&run).outcome, Ruling::Fail);
    starve(&mut run, 2, 30 * MS);
    let verdict = judge(&run);
    let worst = finding(&verdict, "read-latency-maximum");
    assert_eq!(worst.outcome, Ruling::CannotJudge, "{worst:?}");
    assert!(worst.evidence[0].text.contains(NAMED), "{worst:?}");
    assert!(says(worst, "end the other programs and run again"), "{worst:?}");
    // The number that decided, beside the latency that does not count, and in its own row.
    assert!(
        worst.deciding_evidence().is_some_and(|why| why.contains(" up to 30 ms late, limit 5 ms"))
    );
    let lag = finding(&verdict, "starved-lag");
    assert_eq!((lag.outcome, lag.measured), (Ruling::Warn, Some(30.0)));
    assert_eq!(lag.limit, Some(crate::Limit::AtMost(5.0)));
    assert!(!says(lag, "does not weaken the pass"), "{lag:?}");
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
    assert_eq!(finding(&verdict, "other-programs").outcome, Ruling::Warn);
}

/// Programs that used much but took no processor time from this one are named, and excuse nothing.
#[test]
fn others_excuse_no_failure_unless_answers_were_noticed_late() {
    let mut run = quiet(&spike());
    starve(&mut run, 2, MS);
    let verdict = judge(&run);
    let lag = finding(&verdict, "starved-lag");
    assert_eq!(lag.outcome, Ruling::Pass, "{lag:?}");
    let worst = finding(&verdict, "read-latency-maximum");
    assert_eq!(worst.outcome, Ruling::Fail, "{worst:?}");
    assert!(worst.evidence[0].text.contains(NAMED), "{worst:?}");
    let mut run = quiet(&spike());
    starve(&mut run, 2, 30 * MS);
    let left_over = measured(&mut run, 2).processors.as_mut();
    left_over.expect("shares").busy_percent = 80.0;
    assert_eq!(judge(&run).outcome, Ruling::Fail);
}

/// An interval that is left out shows no latency, so its delay excuses none.
#[test]
fn a_delay_of_an_interval_that_is_left_out_excuses_nothing() {
    let mut run = quiet(&spike());
    starve(&mut run, 1, 900 * MS);
    measured(&mut run, 1).is_left_out = true;
    let verdict = judge(&run);
    assert!(verdict.findings.iter().all(|one| one.rule != "starved-lag"));
    assert_eq!(verdict.outcome, Ruling::Fail);
}

#[test]
fn a_failure_of_calm_intervals_stands_whatever_others_did_in_another() {
    let mut run = quiet(&spike());
    starve(&mut run, 1, 30 * MS);
    let verdict = judge(&run);
    let worst = finding(&verdict, "read-latency-maximum");
    assert_eq!(worst.outcome, Ruling::Fail);
    assert!(!says(worst, "rustc"), "{worst:?}");
    let slow = Synthetic { read_median_ns: 30 * MS, ..Synthetic::default() };
    let mut run = quiet(&slow);
    starve(&mut run, 1, 30 * MS);
    let verdict = judge(&run);
    let average = finding(&verdict, "read-latency-average");
    assert_eq!(average.outcome, Ruling::Fail);
    assert!(says(average, "in 1 of 4 intervals"), "{average:?}");
}

#[test]
fn an_average_that_starved_intervals_raised_cannot_be_judged() {
    let mut run = quiet(&Synthetic::default());
    let limit_ns = 9 * MS;
    run.start.settings.thresholds.read_average_ns = limit_ns;
    assert_eq!(judge(&run).outcome, Ruling::Fail);
    for number in 0..2 {
        for database in &mut measured(&mut run, number + 2).databases {
            let reads = database.series.get_mut(&record::Series::DatabaseRead);
            reads.expect("reads").latency.mean_ns = 1e6;
        }
        starve(&mut run, number, 30 * MS);
    }
    let verdict = judge(&run);
    let average = finding(&verdict, "read-latency-average");
    assert_eq!(average.outcome, Ruling::CannotJudge, "{average:?}");
    assert_eq!(verdict.outcome, Ruling::CannotJudge);
}

#[test]
fn a_percentile_is_excused_only_where_no_calm_interval_has_it() {
    let mut run = quiet(&Synthetic::default());
    let calm_p99_ns = |row: &IntervalRow| {
        let databases = row.databases.iter();
        let reads = databases.filter_map(|one| one.series.get(&Series::DatabaseRead));
        reads.map(|reads| reads.latency.p99_ns).max().expect("reads")
    };
    // Below every interval's value, so nothing excuses the failure.
    run.start.settings.thresholds.read_p99_ns = Some(calm_p99_ns(measured(&mut run, 0)) / 2);
    starve(&mut run, 1, 30 * MS);
    let outcome = |run: &RunRecord| finding(&judge(run), "read-latency-p99").outcome;
    assert_eq!(outcome(&run), Ruling::Fail);
    // Calm intervals met it, so the failure came from the starved one.
    for number in [0, 2, 3] {
        for database in &mut measured(&mut run, number).databases {
            let reads = database.series.get_mut(&Series::DatabaseRead);
            reads.expect("reads").latency.p99_ns = 1;
        }
    }
    assert_eq!(outcome(&run), Ruling::CannotJudge);
    // Their answered requests met it, while others waited without end.
    for database in &mut measured(&mut run, 3).databases {
        let reads = database.series.get_mut(&Series::DatabaseRead).expect("reads");
        reads.unanswered.waiting = reads.latency.count;
        reads.unanswered.oldest_ns = 3_000 * MS;
    }
    assert_eq!(outcome(&run), Ruling::Fail);
}

#[test]
fn a_generator_without_time_names_who_took_it() {
    let slow = Synthetic { processor_percent: 97.0, ..Synthetic::default() };
    let mut run = quiet(&slow);
    for number in 0..4 {
        starve(&mut run, number, MS);
    }
    let verdict = judge(&run);
    let limited = finding(&verdict, "generator-limited");
    assert!(says(limited, NAMED), "{limited:?}");
    assert!(says(limited, "stop the other programs"), "{limited:?}");
}

#[test]
fn what_was_seen_before_the_start_is_told() {
    let mut run = quiet(&Synthetic::default());
    run.start.processors_before = Some(shares(66.0));
    let verdict = judge(&run);
    let found = finding(&verdict, "other-programs");
    assert_eq!(found.outcome, Ruling::Pass);
    assert!(says(found, &format!("before the start: {NAMED}")));
}

#[test]
fn reads_of_others_from_the_same_device_are_told() {
    let mut run = quiet(&Synthetic::default());
    let volume = run.start.databases[0].volume.mount.clone();
    run.volume_reads.push(VolumeReads {
        volume,
        requested_bytes: 1 << 30,
        device_bytes: (1 << 30) + (90 << 20),
        accounted_bytes: None,
    });
    assert_eq!(finding(&judge(&run), "other-reads").outcome, Ruling::Pass);
    run.volume_reads[0].device_bytes = 3 << 30;
    let verdict = judge(&run);
    let found = finding(&verdict, "other-reads");
    assert_eq!(found.outcome, Ruling::Warn);
    assert!(says(found, "others read 2.00 GiB of the 3.00 GiB"), "{found:?}");
    assert_eq!(verdict.outcome, Ruling::Pass);
    // Two volumes of one device are counted by one counter.
    let device = run.start.databases[0].volume.device.clone();
    let other = &mut run.start.databases[1].volume;
    (other.device, other.mount) = (device, "/other".to_owned());
    run.volume_reads.push(VolumeReads {
        volume: "/other".to_owned(),
        requested_bytes: 2 << 30,
        device_bytes: 3 << 30,
        accounted_bytes: None,
    });
    assert_eq!(finding(&judge(&run), "other-reads").outcome, Ruling::Pass);
}

/// A backup slower than its plan requires.
fn slow_backup() -> RunRecord {
    let mut run = quiet(&Synthetic::default());
    run.start.test = TestType::Backup;
    run.start.settings.verify_checksums = false;
    run.start.settings.thresholds.read_rate_bytes_per_second = Some(50 << 20);
    run.backups = std::mem::take(&mut run.checksums);
    for read in &mut run.backups {
        (read.bytes, read.elapsed_ns) = (49 << 20, 1_000 * MS);
    }
    for row in run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure) {
        row.phase = Phase::Backup;
    }
    run
}

#[test]
fn a_slow_backup_beside_others_names_them_and_on_a_busy_machine_proves_nothing() {
    let quiet = judge(&slow_backup());
    assert_eq!(finding(&quiet, "other-programs").outcome, Ruling::Pass);
    assert_eq!(finding(&quiet, "generator-limited").outcome, Ruling::Pass);
    assert_eq!((quiet.outcome, quiet.exit_code()), (Ruling::Fail, 1));
    let mut beside = slow_backup();
    let mut busy = slow_backup();
    for (one, other) in beside.intervals.iter_mut().zip(&mut busy.intervals) {
        one.processors = Some(shares(66.0));
        if let Some(host) = &mut other.host {
            host.processor_percent = Some(97.0);
        }
    }
    let beside = judge(&beside);
    assert_eq!(finding(&beside, "other-programs").outcome, Ruling::Warn);
    assert!(says(finding(&beside, "read-rate"), "rustc"), "{beside:?}");
    let busy = judge(&busy);
    assert_eq!(finding(&busy, "generator-limited").outcome, Ruling::CannotJudge);
    assert!(says(finding(&busy, "generator-limited"), "use a faster machine"));
    assert_eq!((busy.outcome, busy.exit_code()), (Ruling::CannotJudge, 2));
}

#[test]
fn requests_that_there_were_none_of_are_not_blamed_on_others() {
    let mut run = quiet(&Synthetic::default());
    for row in &mut run.intervals {
        row.processors = Some(shares(66.0));
    }
    run.totals.retain(|(phase, _), _| *phase != Phase::Measure);
    let verdict = judge(&run);
    let reads = finding(&verdict, "read-latency-average");
    assert!(reads.measured.is_none_or(|seen| seen < 1.0), "{reads:?}");
    assert!(!says(reads, "other programs were at work"), "{reads:?}");
}
