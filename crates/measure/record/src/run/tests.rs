//! Folded journals, compared with the events written into them.

use crate::codec::{SCHEMA, encode};
use crate::{
    DatabaseInterval, Edge, Event, Finished, Gauges, Interval, IntervalCounters, LoadError,
    LogLine, Phase, PhaseMark, RunRecord, Series, SeriesInterval, Start,
};

const SECOND: u64 = 1_000_000_000;

fn start() -> Event {
    Event::Start(Box::new(Start { schema: SCHEMA, seed: u64::MAX - 1, ..Start::default() }))
}

fn reads(series: Series, latencies_ms: &[u64]) -> SeriesInterval {
    let mut part = SeriesInterval::new(series);
    for ms in latencies_ms {
        part.record(32_768, ms * 1_000_000);
    }
    part
}

fn interval(second: u64, databases: Vec<DatabaseInterval>) -> Event {
    Event::Interval(Interval {
        phase: Phase::Measure,
        from_ns: second * SECOND,
        to_ns: (second + 1) * SECOND,
        databases,
        host: None,
        processors: None,
        flash_cache: None,
    })
}

fn database(index: u32, series: Vec<SeriesInterval>) -> DatabaseInterval {
    DatabaseInterval {
        index,
        series,
        counters: IntervalCounters {
            transactions_lazy: 7,
            transactions_durable: 3,
            ..IntervalCounters::default()
        },
        gauges: Gauges { cache_bytes: 100 + u64::from(index), ..Gauges::default() },
    }
}

pub(super) fn journal() -> Vec<Event> {
    let mark = |second: u64, edge| {
        Event::Phase(PhaseMark { at_ns: second * SECOND, phase: Phase::Measure, edge })
    };
    vec![
        start(),
        mark(1, Edge::Begin),
        interval(
            1,
            vec![
                database(0, vec![reads(Series::DatabaseRead, &[10, 20])]),
                database(
                    1,
                    vec![
                        reads(Series::DatabaseRead, &[30]),
                        reads(Series::DatabaseWrite, &[4, 4, 4]),
                        reads(Series::MaintenanceRead, &[9; 40]),
                    ],
                ),
            ],
        ),
        interval(
            2,
            vec![database(0, vec![reads(Series::DatabaseRead, &[40])]), database(1, vec![])],
        ),
        mark(3, Edge::End),
        Event::Log(LogLine { at_ns: 3 * SECOND, text: "done \u{2713}".to_owned() }),
        Event::Finished(Finished {
            at_ns: 3 * SECOND,
            interrupted: false,
            reason: None,
            is_for_room: false,
            is_overdue: false,
            was_stopped: false,
        }),
    ]
}

pub(super) fn text(events: &[Event]) -> String {
    events.iter().map(encode).collect()
}

#[test]
fn totals_are_those_of_the_intervals() {
    let run = RunRecord::load(text(&journal()).as_bytes()).unwrap();
    let first = run.totals_of(Phase::Measure, 0).unwrap();
    assert_eq!(first.count(Series::DatabaseRead), 3);
    assert_eq!(first.span_ns, 2 * SECOND);
    assert_eq!(first.counters.transactions_lazy + first.counters.transactions_durable, 20);
    let all = run.sum_of(Phase::Measure);
    let database_reads = &all.series[&Series::DatabaseRead];
    assert_eq!(database_reads.latency.sum_ns(), 100_000_000);
    assert_eq!(database_reads.bytes, 4 * 32_768);
    assert_eq!(all.gauges.cache_bytes, 201);
    assert_eq!(run.start.seed, u64::MAX - 1);
    assert_eq!(run.phases[0].to_ns, Some(3 * SECOND));
    assert!(run.finished.is_some() && !run.torn_tail);
}

#[test]
fn achieved_iops_counts_page_reads_and_writes_and_nothing_else() {
    let run = RunRecord::load(text(&journal()).as_bytes()).unwrap();
    let seven_in_two_seconds = 3.5;
    assert!((run.achieved_transactional_iops() - seven_in_two_seconds).abs() < 1e-9);
}

#[test]
fn rows_summarise_their_interval() {
    let run = RunRecord::load(text(&journal()).as_bytes()).unwrap();
    let row = &run.intervals[0];
    let of_first = &row.databases[0].series[&Series::DatabaseRead];
    assert!((of_first.latency.mean_ns - 15_000_000.0).abs() < 0.5);
    assert_eq!(of_first.latency.maximum_ns, 20_000_000);
    assert_eq!(row.series[&Series::DatabaseRead].latency.count, 3);
    assert!((row.per_second(Series::DatabaseRead) - 3.0).abs() < 1e-9);
}

#[test]
fn a_journal_cut_anywhere_loads_up_to_the_last_whole_line() {
    let whole = text(&journal());
    let start_length = whole.find('\n').unwrap();
    for length in start_length..whole.len() {
        let run = RunRecord::load(&whole.as_bytes()[..length]).unwrap();
        let on_a_line_end =
            whole.as_bytes()[length - 1] == b'\n' || { whole.as_bytes()[length] == b'\n' };
        assert_eq!(run.torn_tail, !on_a_line_end, "cut at {length}");
        assert!(run.finished.is_none() || length == whole.len() - 1);
    }
}

#[test]
fn damage_before_the_last_line_names_the_line() {
    let mut lines: Vec<String> = journal().iter().map(encode).collect();
    lines[2].truncate(60);
    lines[2].push('\n');
    let error = RunRecord::load(lines.concat().as_bytes()).unwrap_err();
    assert!(matches!(error, LoadError::Line { line: 3, .. }), "{error}");
}

#[test]
fn other_files_are_refused() {
    assert_eq!(RunRecord::load(b"").unwrap_err(), LoadError::Empty);
    assert_eq!(RunRecord::load(b"\n\n").unwrap_err(), LoadError::Empty);
    assert_eq!(RunRecord::load(b"\xEF\xCD\xAB\x89").unwrap_err(), LoadError::NoStart);
    let headless = text(&journal()[1..]);
    assert_eq!(RunRecord::load(headless.as_bytes()).unwrap_err(), LoadError::NoStart);
    let doubled = text(&[start(), start()]);
    let error = RunRecord::load(doubled.as_bytes()).unwrap_err();
    assert_eq!(error, LoadError::SecondStart { line: 2 });
}

#[test]
fn idle_series_take_no_room() {
    let idle = encode(&interval(1, vec![DatabaseInterval::default()]));
    assert!(idle.len() < 600, "{} bytes: {idle}", idle.len());
}
