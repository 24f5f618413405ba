//! Storage that stops: for a while, or for good, in every phase.

use device::Purpose;
use faults::{Call, Effect, Fault, Matching, Occurrence};
use record::{Edge, Event, Interval, Phase, Series, Severity, codec};
use units::Nanos;

use super::{PLAN, RunSummary, phases, prepared, run_once, suffer};

/// A month: no request returns from this within a run.
const FOR_GOOD: Effect = Effect::Stall(Nanos::from_secs(30 * 86_400));

fn patient_for(seconds: u64) -> String {
    PLAN.replace("[test]\n", &format!("[test]\ngive_up = \"{seconds}s\"\n"))
}

fn fault(call: Call, purpose: Option<Purpose>, occurrence: Occurrence, effect: Effect) -> Fault {
    Fault {
        matching: Matching { call: Some(call), purpose, ..Matching::default() },
        occurrence,
        effect,
    }
}

fn with(plan: &str, fault: Fault) -> (RunSummary, Vec<Event>) {
    let mut world = prepared(plan);
    suffer(&mut world, 1, fault);
    run_once(&world, None)
}

fn issue(events: &[Event]) -> (Severity, String) {
    let issue = events.iter().find_map(|event| match event {
        Event::Issue(issue) => Some((issue.severity, issue.text.clone())),
        _ => None,
    });
    issue.expect("an issue")
}

fn intervals(events: &[Event], phase: Phase) -> Vec<&Interval> {
    let mut found = Vec::new();
    for event in events {
        if let Event::Interval(interval) = event
            && interval.phase == phase
        {
            found.push(interval);
        }
    }
    found
}

#[test]
fn reads_that_never_come_back_end_the_run_and_are_named() {
    let from = Occurrence::From(600);
    let hang = fault(Call::Read, Some(Purpose::Database), from, FOR_GOOD);
    let plan = patient_for(3).replace("1500ms", "60s");
    let (summary, events) = with(&plan, hang);
    assert!(summary.gave_up);
    let failure = summary.failure.expect("the database could not go on");
    assert!(!failure.at_open);
    let (severity, text) = issue(&events);
    assert_eq!(severity, Severity::Error);
    assert!(
        text.starts_with("b/Plimsoll002.edb: no answer to the read of 32768 bytes at "),
        "{text}"
    );
    assert!(text.contains(" for 3.0 s; look at the disk"), "{text}");
    let seen = phases(&events);
    assert!(seen.contains(&(Phase::Measure, Edge::End)), "{seen:?}");
    let measured = intervals(&events, Phase::Measure);
    let last = measured.last().expect("a last sample");
    let reads = last.databases[1].series.iter().find(|one| one.series == Series::DatabaseRead);
    let waiting = reads.expect("reads wait").unanswered;
    assert_eq!(waiting.waiting, 2, "one of each session");
    assert!(waiting.oldest_ns >= 3_000_000_000, "{waiting:?}");
}

#[test]
fn every_phase_ends_when_its_requests_do_not() {
    let plan = patient_for(2);
    let ends = [
        (Call::Open, None, Phase::Open),
        (Call::Read, Some(Purpose::Header), Phase::Open),
        (Call::Write, Some(Purpose::Log), Phase::Measure),
        (Call::Read, Some(Purpose::Checksum), Phase::Check),
    ];
    for (call, purpose, phase) in ends {
        let hang = fault(call, purpose, Occurrence::From(1), FOR_GOOD);
        let (summary, events) = with(&plan, hang);
        assert!(summary.gave_up, "{call:?} of {purpose:?}");
        let (severity, text) = issue(&events);
        assert_eq!(severity, Severity::Error);
        assert!(text.contains("b/") && text.contains("no answer to the "), "{text}");
        let last = phases(&events).into_iter().rev().find(|(_, edge)| *edge == Edge::Begin);
        assert!(last.is_some_and(|(last, _)| last <= phase), "{last:?} after {text}");
    }
}

#[test]
fn a_person_who_stops_a_hung_run_does_not_wait_for_all_of_its_patience() {
    let mut world = prepared(&patient_for(60).replace("1500ms", "600s"));
    let from = Occurrence::From(600);
    let hang = fault(Call::Read, Some(Purpose::Database), from, FOR_GOOD);
    suffer(&mut world, 1, hang);
    let (summary, events) = run_once(&world, Some(Nanos::from_secs(5)));
    assert!(summary.gave_up && summary.failure.is_none());
    assert_eq!(issue(&events).0, Severity::Warning);
    let Some(Event::LongRequest(last)) = events.last() else {
        panic!("{}", codec::encode(events.last().expect("events")));
    };
    assert!(last.at_ns < 16_000_000_000 && !last.is_answered, "{last:?}");
}

/// Reads of one database stop for ten seconds in the middle of long intervals, and resume.
#[test]
fn a_freeze_within_an_interval_is_in_its_average() {
    let freeze = Effect::Stall(Nanos::from_secs(10));
    let nth = Occurrence::Nth(3_000);
    let hang = fault(Call::Read, Some(Purpose::Database), nth, freeze);
    let plan =
        PLAN.replace("threads = 2", "threads = 1").replace("1500ms", "60s").replace("500ms", "15s");
    let (summary, events) = with(&plan, hang);
    assert_eq!(summary, RunSummary::default());
    let measured = intervals(&events, Phase::Measure);
    let stalls: Vec<u64> = measured
        .iter()
        .flat_map(|interval| &interval.databases[1].series)
        .filter(|one| one.series == Series::DatabaseRead)
        .map(|one| one.unanswered.stalled_ns)
        .filter(|stalled| *stalled > 0)
        .collect();
    let stalled: u64 = stalls.iter().sum();
    assert!((10_000_000_000..10_010_000_000).contains(&stalled), "{stalls:?}");
}

/// Stalls for seven seconds, in which no interval is sampled, and then answers everything.
#[test]
fn a_freeze_in_any_phase_is_told_with_its_request() {
    let freeze = Effect::Stall(Nanos::from_secs(7));
    for (call, purpose, operation, phase) in [
        (Call::Open, None, "open", Phase::Open),
        (Call::Read, Some(Purpose::Header), "read", Phase::Open),
        (Call::Read, Some(Purpose::Checksum), "read", Phase::Check),
    ] {
        let nth = fault(call, purpose, Occurrence::Nth(1), freeze);
        let (summary, events) = with(&patient_for(60), nth);
        assert_eq!(summary, RunSummary::default());
        let told = events.iter().find_map(|event| match event {
            Event::LongRequest(told) => Some(told),
            _ => None,
        });
        let told = told.expect("a long request");
        assert_eq!((told.operation.as_str(), told.phase), (operation, phase));
        assert_eq!((told.database, told.is_answered), (1, true));
        assert!((7_000_000_000..7_010_000_000).contains(&told.time_ns));
    }
}
