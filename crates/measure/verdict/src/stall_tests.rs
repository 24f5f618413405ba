//! Runs whose storage stood still, and runs whose program did.

use record::synthetic::Synthetic;
use record::{Event, Interval, LongRequest, Phase, Resumed, RunRecord, Series, SeriesInterval};

use crate::{Finding, Ruling, Verdict, is_worth_resuming, judge};

const SECOND: u64 = 1_000_000_000;

/// A healthy run of forty intervals, with measurement interval `number` modified by `change`.
fn changed(number: usize, change: impl FnOnce(&mut Interval)) -> RunRecord {
    let mut events = Synthetic::default().events();
    let mut intervals = events.iter_mut().filter_map(|event| match event {
        Event::Interval(interval) if interval.phase == Phase::Measure => Some(interval),
        _ => None,
    });
    change(intervals.nth(number).expect("so many intervals"));
    folded(events)
}

fn folded(events: Vec<Event>) -> RunRecord {
    let mut events = events.into_iter();
    let Some(Event::Start(start)) = events.next() else {
        panic!("a run begins with its start");
    };
    let mut run = RunRecord::begin(*start);
    events.for_each(|event| run.push(event));
    run
}

fn series(interval: &mut Interval, database: usize, wanted: Series) -> &mut SeriesInterval {
    let all = &mut interval.databases[database].series;
    if let Some(at) = all.iter().position(|one| one.series == wanted) {
        return &mut all[at];
    }
    all.push(SeriesInterval::new(wanted));
    all.last_mut().expect("one was added")
}

fn finding<'a>(verdict: &'a Verdict, rule: &str) -> &'a Finding {
    let mut found = verdict.findings.iter().filter(|one| one.rule == rule);
    found.next().unwrap_or_else(|| panic!("no finding of {rule}"))
}

fn failing(run: &RunRecord) -> Vec<&'static str> {
    let verdict = judge(run);
    let failing = verdict.findings.iter().filter(|one| one.outcome == Ruling::Fail);
    failing.map(|one| one.rule).collect()
}

#[test]
fn a_freeze_within_an_interval_fails_by_its_average_and_by_its_length() {
    let run = changed(7, |interval| {
        let reads = series(interval, 1, Series::DatabaseRead);
        reads.unanswered.note_stall(10 * SECOND);
        reads.record(32_768, 10 * SECOND);
    });
    assert_eq!(failing(&run), ["read-latency-maximum", "longest-request"]);
    let verdict = judge(&run);
    let worst = finding(&verdict, "read-latency-maximum");
    assert_eq!(worst.evidence[0].database, Some(1));
    let from_ns = (6 + 7) * 15 * SECOND;
    assert_eq!(worst.evidence[0].span_ns, Some((from_ns, from_ns + 15 * SECOND)));
    // Two thirds of the requests that would have arrived wait five seconds on average.
    assert!(worst.measured.is_some_and(|ms| (3_300.0..3_400.0).contains(&ms)), "{worst:?}");
    assert!(worst.evidence[0].text.contains("none answered for 10000 ms"), "{worst:?}");
}

/// A busy machine delays by milliseconds.
#[test]
fn a_freeze_on_a_busy_machine_is_a_freeze() {
    let mut run = changed(7, |interval| {
        series(interval, 1, Series::DatabaseRead).record(32_768, 10 * SECOND);
    });
    for row in &mut run.intervals {
        row.host.as_mut().expect("a machine").processor_percent = Some(99.0);
    }
    assert_eq!(judge(&run).outcome, Ruling::Fail);
    run.start.settings.thresholds.read_average_ns = 1_000_000;
    run.start.settings.thresholds.longest_request_ns = Some(60 * SECOND);
    assert_eq!(judge(&run).outcome, Ruling::CannotJudge);
}

#[test]
fn an_interval_without_an_answer_is_judged_by_the_age_of_those_who_wait() {
    let run = changed(39, |interval| {
        let log = series(interval, 0, Series::LogWrite);
        *log = SeriesInterval::new(Series::LogWrite);
        log.unanswered.note_waiting(4 * SECOND);
    });
    assert_eq!(failing(&run), ["log-write-latency-maximum"]);
    let verdict = judge(&run);
    let worst = finding(&verdict, "log-write-latency-maximum");
    assert_eq!(worst.measured, Some(4_000.0));
    assert_eq!(
        worst.evidence[0].text,
        "4,000 ms over 0 log writes, 1 more without an answer for up to 4000 ms"
    );
}

#[test]
fn what_waits_at_the_end_of_the_measurement_is_in_the_average() {
    let hang = |interval: &mut Interval| {
        let reads = series(interval, 0, Series::DatabaseRead);
        (0..3_000).for_each(|_| reads.unanswered.note_waiting(SECOND));
    };
    let last = changed(39, hang);
    let average = |run: &RunRecord| finding(&judge(run), "read-latency-average").outcome;
    assert_eq!(average(&last), Ruling::Fail);
    // In the middle, the same requests were answered later and are in the mean with their full
    // time.
    assert_eq!(average(&changed(20, hang)), Ruling::Pass);
}

#[test]
fn any_kind_of_request_may_be_the_longest_also_in_the_drain() {
    for kind in [Series::DatabaseWrite, Series::Flush, Series::MaintenanceRead, Series::HeaderWrite]
    {
        let run = changed(3, |interval| {
            series(interval, 1, kind).record(4_096, 6 * SECOND);
        });
        assert_eq!(failing(&run), ["longest-request"], "{kind:?}");
    }
    let drained = changed(39, |interval| {
        interval.phase = Phase::Drain;
        series(interval, 1, Series::DatabaseWrite).unanswered.note_waiting(9 * SECOND);
    });
    assert_eq!(failing(&drained), ["longest-request"]);
    let verdict = judge(&drained);
    let longest = finding(&verdict, "longest-request");
    assert!(longest.evidence[0].text.ends_with("and it was not answered yet"), "{longest:?}");
    let transaction = changed(3, |interval| {
        series(interval, 1, Series::Transaction).record(0, 60 * SECOND);
    });
    assert_eq!(failing(&transaction), [""; 0]);
}

/// Requests outside all intervals, such as header reads while a database is opened.
#[test]
fn a_request_of_any_phase_may_be_the_longest() {
    let told = |phase, time_ns| {
        let mut run = changed(3, |_| ());
        run.push(Event::LongRequest(LongRequest {
            at_ns: 20 * SECOND,
            phase,
            database: 1,
            file: "/mail/db2.edb".to_owned(),
            operation: "read".to_owned(),
            offset_bytes: 0,
            length_bytes: 4_096,
            time_ns,
            is_answered: true,
        }));
        run
    };
    for phase in [Phase::Open, Phase::Warm, Phase::Tune, Phase::Check] {
        assert_eq!(failing(&told(phase, 6 * SECOND)), ["longest-request"]);
        assert_eq!(failing(&told(phase, 4 * SECOND)), [""; 0]);
    }
    let verdict = judge(&told(Phase::Open, 6 * SECOND));
    let longest = finding(&verdict, "longest-request");
    assert_eq!(longest.measured, Some(6_000.0));
    let evidence = &longest.evidence[0];
    assert_eq!(
        (evidence.database, evidence.text.as_str()),
        (Some(1), "6,000 ms of the read of 4096 bytes at 0 of /mail/db2.edb (open)")
    );
    assert_eq!(evidence.span_ns, Some((14 * SECOND, 20 * SECOND)));
}

#[test]
fn older_records_have_no_limit_for_the_longest_request() {
    let mut run = changed(3, |interval| {
        series(interval, 1, Series::DatabaseWrite).record(4_096, 6 * SECOND);
    });
    run.start.settings.thresholds.longest_request_ns = None;
    let verdict = judge(&run);
    assert!(verdict.findings.iter().all(|one| one.rule != "longest-request"));
    assert_eq!(verdict.outcome, Ruling::Pass);
}

fn paused(interval: &mut Interval) {
    for database in 0..2 {
        for _ in 0..500 {
            series(interval, database, Series::DatabaseRead).record(32_768, 10 * SECOND);
        }
    }
    let host = interval.host.as_mut().expect("a machine");
    host.reactor_lag_maximum_ns = 10_004_000_000;
}

#[test]
fn a_pause_of_the_program_is_left_out_and_said() {
    let run = changed(7, paused);
    let verdict = judge(&run);
    assert_eq!((verdict.outcome, failing(&run)), (Ruling::Pass, Vec::new()));
    let pauses = finding(&verdict, "pauses");
    assert_eq!((pauses.outcome, pauses.measured), (Ruling::Warn, Some(2.5)));
    assert!(pauses.evidence[0].text.starts_with("1 interval, 15.0 s together, left out"));
    assert_eq!(run.span_ns(Phase::Measure), 39 * 15 * SECOND);
}

/// The reactor waited in the kernel for the storage while the program ran.
#[test]
fn a_thread_that_the_storage_holds_up_is_no_pause() {
    let run = changed(7, |interval| {
        paused(interval);
        let host = interval.host.as_mut().expect("a machine");
        host.pause_maximum_ns = Some(3_000_000);
    });
    let expected = ["read-latency-average", "read-latency-maximum", "longest-request"];
    assert_eq!(failing(&run), expected);
}

#[test]
fn the_interval_behind_a_pause_that_outlasted_its_own_is_left_out_as_well() {
    let run = changed(7, |interval| {
        paused(interval);
        interval.to_ns += 10 * SECOND;
    });
    let left_out = run.intervals_of(Phase::Measure).filter(|row| row.is_left_out);
    assert_eq!(left_out.count(), 2);
}

#[test]
fn too_many_pauses_leave_nothing_to_judge() {
    let mut events = Synthetic::default().events();
    let measured = events.iter_mut().filter_map(|event| match event {
        Event::Interval(interval) if interval.phase == Phase::Measure => Some(interval),
        _ => None,
    });
    measured.take(11).for_each(paused);
    let verdict = judge(&folded(events));
    assert_eq!(finding(&verdict, "pauses").outcome, Ruling::CannotJudge);
    assert_eq!(verdict.exit_code(), 2);
}

#[test]
fn a_run_that_proves_nothing_names_no_rule_that_failed() {
    let slow = Synthetic { read_median_ns: 30_000_000, ..Synthetic::default() };
    let mut run = slow.run();
    run.finished = None;
    let verdict = judge(&run);
    assert_eq!((verdict.outcome, failing(&run)), (Ruling::CannotJudge, Vec::new()));
    let average = finding(&verdict, "read-latency-average");
    assert_eq!(average.outcome, Ruling::CannotJudge);
    assert!(average.measured.is_some_and(|ms| ms > 30.0), "{average:?}");
    let last = average.evidence.last().expect("evidence");
    assert!(last.text.starts_with("the limit was not kept, in a run that proves nothing"));
}

/// The synthetic run, interrupted after `events` of its events and resumed there `times` times.
fn resumed(events: usize, times: u64) -> RunRecord {
    let mut all = Synthetic::default().events();
    let rest = all.split_off(events);
    let event = |number| Event::Resumed(Resumed { at_ns: number * 3_600 * SECOND, cut_bytes: 0 });
    all.extend((1..=times).map(event));
    all.extend(rest);
    folded(all)
}

#[test]
fn a_run_that_was_resumed_passes_with_a_warning_that_tells_the_gap() {
    let verdict = judge(&resumed(30, 1));
    assert_eq!(verdict.outcome, Ruling::Pass);
    let found = finding(&verdict, "resumed");
    assert_eq!(found.outcome, Ruling::Warn);
    assert!(found.evidence[0].text.starts_with("ended early; the run went on "), "{found:?}");
    let whole = judge(&Synthetic::default().run());
    assert!(whole.findings.iter().all(|one| one.rule != "resumed"));
}

#[test]
fn too_many_crashes_leave_nothing_to_judge() {
    let verdict = judge(&resumed(30, 14));
    assert_eq!(finding(&verdict, "resumed").outcome, Ruling::CannotJudge);
    assert_eq!(verdict.exit_code(), 2);
}

/// A run that the user stopped has recorded all that it saw.
#[test]
fn an_orderly_stop_hides_nothing() {
    let mut run = resumed(30, 14);
    run.breaks.iter_mut().for_each(|of| of.is_orderly = true);
    let verdict = judge(&run);
    let found = finding(&verdict, "resumed");
    assert_eq!((found.outcome, found.measured), (Ruling::Warn, None), "{found:?}");
    assert_eq!(found.title, "Stopped and resumed");
    assert!(found.evidence.iter().all(|of| !of.text.contains("not known")), "{found:?}");
}

/// A sample of 15 s may be missing beside the measured time.
#[test]
fn a_short_run_that_crashed_is_not_worth_resuming() {
    let cut = |measure_seconds: u64, was_stopped: bool| {
        let mut run = Synthetic::default().run();
        run.start.settings.interval_ns = 15 * SECOND;
        run.start.settings.measure_ns = measure_seconds * SECOND;
        run.finished = run.finished.filter(|_| was_stopped);
        run
    };
    assert!(!is_worth_resuming(&cut(44, false)) && is_worth_resuming(&cut(45, false)));
    assert!(is_worth_resuming(&cut(10, true)), "nothing is missing");
}

/// Reads waiting when the machine went down are not answered in any later interval.
#[test]
fn a_stall_before_a_crash_fails_the_run_that_goes_on() {
    let mut events = Synthetic::default().events();
    let at = events.iter().position(|event| match event {
        Event::Interval(interval) => interval.phase == Phase::Measure,
        _ => false,
    });
    let at = at.expect("a measurement");
    if let Event::Interval(interval) = &mut events[at] {
        let reads = series(interval, 0, Series::DatabaseRead);
        (0..4_000).for_each(|_| reads.unanswered.note_waiting(14 * SECOND));
    }
    let rest = events.split_off(at + 1);
    let mut whole = events.clone();
    whole.extend(rest.clone());
    let average =
        |run: &RunRecord| finding(&judge(run), "read-latency-average").measured.expect("a mean");
    let (was_answered, mut cut) = (average(&folded(whole)), events);
    cut.push(Event::Resumed(Resumed { at_ns: 86_400 * SECOND, cut_bytes: 0 }));
    cut.extend(rest);
    let run = folded(cut);
    assert!(average(&run) > was_answered + 100.0, "{was_answered} against {}", average(&run));
    assert!(failing(&run).contains(&"longest-request"), "{:?}", failing(&run));
}
