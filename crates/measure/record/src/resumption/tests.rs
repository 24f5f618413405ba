//! Journals cut at every byte, and journals of runs that must not resume.

use proptest::prelude::{any, proptest};

use super::{NotResumable, Resumption};
use crate::codec::{SCHEMA, Sealer};
use crate::{
    Attached, Break, DatabaseFacts, DatabaseInterval, Edge, Event, Finished, Interval, LogLine,
    LongRequest, Phase, PhaseMark, RunRecord, Seal, Series, SeriesInterval, Settings, Start,
    TestType, Unanswered,
};

const SECOND: u64 = 1_000_000_000;

/// The measurement is shorter than one interval, and so is the remainder of an interrupted run.
fn start(test: TestType) -> Event {
    let (interval_ns, measure_ns) = (15 * SECOND, 5 * SECOND);
    let settings = Settings { interval_ns, measure_ns, ..Settings::default() };
    let databases = vec![DatabaseFacts::default()];
    Event::Start(Box::new(Start { schema: SCHEMA, test, settings, databases, ..Start::default() }))
}

fn mark(second: u64, phase: Phase, edge: Edge) -> Event {
    Event::Phase(PhaseMark { at_ns: second * SECOND, phase, edge })
}

/// One interval of the measurement, with reads of `ms` each, and the requests waiting at its end.
fn interval(second: u64, ms: &[u64], unanswered: Unanswered) -> Event {
    let mut reads = SeriesInterval { unanswered, ..SeriesInterval::new(Series::DatabaseRead) };
    for ms in ms {
        reads.record(32_768, ms * 1_000_000);
    }
    let database = DatabaseInterval { series: vec![reads], ..DatabaseInterval::default() };
    Event::Interval(Interval {
        phase: Phase::Measure,
        from_ns: second * SECOND,
        to_ns: (second + 1) * SECOND,
        databases: vec![database],
        host: None,
        processors: None,
        flash_cache: None,
    })
}

/// A complete run of five seconds.
fn whole() -> Vec<Event> {
    let attached = Attached { at_ns: SECOND, ..Attached::default() };
    let mut events = vec![
        start(TestType::Performance),
        mark(0, Phase::Open, Edge::Begin),
        Event::Attached(attached),
        mark(1, Phase::Open, Edge::End),
        mark(2, Phase::Measure, Edge::Begin),
    ];
    events.extend((2..7).map(|second| interval(second, &[10, 30], Unanswered::default())));
    let finished = Finished {
        at_ns: 9 * SECOND,
        interrupted: false,
        reason: None,
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    };
    events.extend([
        mark(7, Phase::Measure, Edge::End),
        mark(7, Phase::Drain, Edge::Begin),
        Event::Finished(finished),
    ]);
    events
}

fn sealed(events: &[Event]) -> Vec<u8> {
    let mut sealer = Sealer::default();
    events.iter().flat_map(|event| sealer.line(event).into_bytes()).collect()
}

/// The journal of a run interrupted after `events` events.
fn cut_behind(events: usize) -> Vec<u8> {
    sealed(&whole()[..events])
}

#[test]
fn every_cut_goes_on_from_the_last_whole_line_or_is_refused_by_name() {
    let journal = sealed(&whole());
    let first_line = journal.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for length in 0..=journal.len() {
        let lines = journal[..length].split(|&byte| byte == b'\n').count() - 1;
        let mut resumption = match Resumption::of(&journal[..length]) {
            Ok(resumption) => resumption,
            Err(NotResumable::Unreadable(_)) => {
                assert!(length < first_line, "cut at {length}");
                continue;
            }
            Err(NotResumable::Ended { .. }) => {
                assert_eq!(length, journal.len());
                continue;
            }
            Err(error) => panic!("cut at {length}: {error}"),
        };
        assert_eq!(resumption.kept_bytes + resumption.cut_bytes, length as u64);
        let measured = lines.saturating_sub(5).min(5) as u64;
        assert_eq!(resumption.remaining_ns, (5 - measured) * SECOND, "cut at {length}");
        let mut resumed = journal[..usize::try_from(resumption.kept_bytes).unwrap()].to_vec();
        let event = resumption.event(20 * SECOND);
        resumed.extend(resumption.sealer.line(&event).into_bytes());
        let record = RunRecord::load(&resumed).unwrap();
        assert!(matches!(record.seal, Seal::Whole { .. }), "cut at {length}: {:?}", record.seal);
        assert_eq!(record.breaks.len(), 1);
    }
}

proptest! {
    /// A power cut may leave any remains of a line.
    #[test]
    fn rubbish_behind_the_last_line_is_taken_out(
        cut in 1_usize..14, rubbish in proptest::collection::vec(any::<u8>(), 0..40)
    ) {
        let mut journal = cut_behind(cut.min(12));
        let kept = journal.len() as u64;
        let rubbish = rubbish.into_iter().filter(|&byte| byte != b'\n');
        let rubbish: Vec<u8> = std::iter::once(b'x').chain(rubbish).collect();
        journal.extend(&rubbish);
        let resumption = Resumption::of(&journal).unwrap();
        assert_eq!((resumption.kept_bytes, resumption.cut_bytes), (kept, rubbish.len() as u64));
        journal.push(b'\n');
        let ended = Resumption::of(&journal).unwrap();
        assert_eq!((ended.kept_bytes, ended.record.torn_tail), (kept, false));
    }

    /// No byte of a journal makes this panic.
    #[test]
    fn a_changed_byte_is_refused_or_lies_in_what_is_cut_off(at in any::<usize>(), byte: u8) {
        let mut journal = cut_behind(11);
        let at = at % journal.len();
        let is_same = journal[at] == byte;
        journal[at] = byte;
        if let Ok(resumption) = Resumption::of(&journal) {
            assert!(is_same || resumption.kept_bytes <= at as u64, "{at}");
        }
    }
}

#[test]
fn what_cannot_go_on_is_refused() {
    let refusal = |events: &[Event]| Resumption::of(&sealed(events)).unwrap_err();
    let mut stopped = whole();
    *stopped.last_mut().unwrap() = Event::Finished(Finished {
        at_ns: 9 * SECOND,
        interrupted: true,
        reason: Some("a person asked to stop".to_owned()),
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    });
    let reason = Some("a person asked to stop".to_owned());
    assert_eq!(refusal(&stopped), NotResumable::Ended { reason });
    let backup = [start(TestType::Backup), mark(1, Phase::Backup, Edge::Begin)];
    assert_eq!(refusal(&backup), NotResumable::OnlyReads(TestType::Backup));
    let mut old = whole();
    old.retain(|event| !matches!(event, Event::Attached(_) | Event::Finished(_)));
    assert_eq!(refusal(&old), NotResumable::NoAttachment { database: 0 });
    let bare: String = whole()[..8].iter().map(crate::codec::encode).collect();
    assert_eq!(Resumption::of(bare.as_bytes()).unwrap_err(), NotResumable::Unsealed);
    let changed = String::from_utf8(cut_behind(8)).unwrap();
    let changed = changed.replace("\"bytes\":65536", "\"bytes\":65537");
    let altered = Resumption::of(changed.as_bytes()).unwrap_err();
    assert_eq!(altered, NotResumable::Altered { line: 6 });
    for error in [altered, refusal(&stopped), refusal(&backup), refusal(&old)] {
        assert!(error.to_string().contains("start"), "says what to do: {error}");
    }
}

/// The intervals of a complete measurement may add up to a little less than planned.
#[test]
fn a_complete_measurement_may_lack_a_little() {
    let remaining = |planned_ns, events: usize| {
        let mut whole = whole();
        let Event::Start(start) = &mut whole[0] else { panic!("{:?}", whole[0]) };
        start.settings.measure_ns = planned_ns;
        Resumption::of(&sealed(&whole[..events])).unwrap().remaining_ns
    };
    let (little, more) = (5_040_000_000, 5_060_000_000);
    assert_eq!(remaining(little, 12), 0);
    assert_eq!(remaining(little, 10), little - 5 * SECOND, "cut off in the measurement");
    assert_eq!(remaining(more, 12), more - 5 * SECOND);
}

/// The user may resume a run they stopped, and only the rest is measured.
#[test]
fn a_stopped_run_resumes_behind_its_end() {
    let mut events = whole();
    events.drain(8..10);
    let was_stopped = Finished {
        at_ns: 9 * SECOND,
        interrupted: true,
        reason: Some("stopped by the user".to_owned()),
        is_for_room: false,
        is_overdue: false,
        was_stopped: true,
    };
    *events.last_mut().unwrap() = Event::Finished(was_stopped);
    let mut journal = sealed(&events);
    let mut resumption = Resumption::of(&journal).unwrap();
    assert_eq!((resumption.remaining_ns, resumption.cut_bytes), (2 * SECOND, 0));
    let event = resumption.event(20 * SECOND);
    journal.extend(resumption.sealer.line(&event).into_bytes());
    let record = RunRecord::load(&journal).unwrap();
    assert_eq!(record.finished, None);
    assert!(matches!(record.breaks[..], [Break { is_orderly: true, .. }]), "{:?}", record.breaks);
}

#[test]
fn a_break_ends_phases_and_what_waited_took_at_least_its_age() {
    let stalled = Unanswered {
        waiting: 2,
        mean_age_ns: 3 * SECOND,
        oldest_ns: 4 * SECOND,
        ..Unanswered::default()
    };
    let mut events = whole();
    events.truncate(5);
    let request = |time_ns| {
        Event::LongRequest(LongRequest {
            at_ns: 3 * SECOND,
            phase: Phase::Measure,
            database: 0,
            file: "a.edb".to_owned(),
            operation: "flush".to_owned(),
            offset_bytes: 0,
            length_bytes: 0,
            time_ns,
            is_answered: true,
        })
    };
    events.extend([interval(2, &[10, 30], stalled), request(7 * SECOND), request(6 * SECOND)]);
    let resumption = Resumption::of(&sealed(&events)).unwrap();
    assert_eq!(resumption.remaining_ns, 4 * SECOND);
    events.push(resumption.event(60 * SECOND));
    events.extend([
        mark(60, Phase::Measure, Edge::Begin),
        interval(61, &[10], Unanswered::default()),
    ]);
    let record = RunRecord::load(&sealed(&events)).unwrap();
    let is_orderly = false;
    assert_eq!(record.breaks, [Break { from_ns: 3 * SECOND, to_ns: 60 * SECOND, is_orderly }]);
    assert_eq!(record.phases[1].to_ns, Some(3 * SECOND));
    assert_eq!(record.span_ns(Phase::Measure), 2 * SECOND, "the gap is no time");
    let reads = &record.totals_of(Phase::Measure, 0).unwrap().series[&Series::DatabaseRead];
    assert_eq!(reads.latency.count(), 5);
    assert!(reads.latency.mean_ns() > 1e9);
    assert_eq!(record.long_requests.len(), 1);
    assert_eq!(record.long_requests[0].time_ns, 7 * SECOND);
}

#[test]
fn events_move_as_a_whole() {
    let log = Event::Log(LogLine { at_ns: 5, text: String::new() }).later(7);
    assert_eq!(log.end_ns(), Some(12));
    let Event::Interval(moved) = interval(1, &[], Unanswered::default()).later(9) else {
        panic!("an interval stays one");
    };
    assert_eq!((moved.from_ns, moved.to_ns), (SECOND + 9, 2 * SECOND + 9));
}
