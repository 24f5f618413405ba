//! The search for the number of sessions, in virtual time.

use std::rc::Rc;
use std::sync::Arc;

use record::{Edge, Event, Phase, RunRecord, Series, SeriesInterval};
use units::Nanos;

use super::{Group, PLAN, RunSummary, issues, phases, prepared, run, run_once};
use crate::coordinator::Coordinator;
use crate::testing::collector;

/// Reads take 2.25 ms on average here, so no number of sessions meets this limit.
const TOO_STRICT: &str = "[limits]\nread_average = \"1ms\"\n";

fn automatic(more: &str) -> String {
    PLAN.replace("threads = 2", "threads = \"auto\"") + more
}

fn tuned(events: &[Event]) -> Vec<u32> {
    let tuned = |event: &Event| match event {
        Event::Tuned(tuned) => Some(tuned.sessions_per_database),
        _ => None,
    };
    events.iter().filter_map(tuned).collect()
}

fn tried(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| {
        match event {
            Event::Log(line) => line.text.split_once(" sessions per database: "),
            _ => None,
        }
        .map(|(count, _)| count.to_owned())
    };
    events.iter().filter_map(line).collect()
}

#[test]
fn where_nothing_keeps_the_limits_one_session_is_measured() {
    // A warm-up of many batches: in a short one, too many batches begin or end outside it.
    let large_cache = automatic(TOO_STRICT).replace("\"2MiB\"", "\"8MiB\"");
    let world = prepared(&large_cache);
    let (summary, events) = run_once(&world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    assert_eq!(
        (tried(&events), tuned(&events)),
        (["4", "2", "1"].map(str::to_owned).to_vec(), vec![1])
    );
    let both = |phase| [(phase, Edge::Begin), (phase, Edge::End)];
    assert_eq!(
        phases(&events)[2..8],
        [Phase::Warm, Phase::Tune, Phase::Measure].map(both).concat()
    );
    let (four, one) = (busy(&events, Phase::Warm), busy(&events, Phase::Measure));
    assert!((3.0..4.2).contains(&four), "{four} sessions in the warm-up");
    assert!((0.8..1.1).contains(&one), "{one} sessions measured");
}

/// Mean number of sessions of each database inside a batch over the intervals of a phase: the total
/// time of batches that ended there, divided by the elapsed time.
fn busy(events: &[Event], phase: Phase) -> f64 {
    let (mut inside, mut nanos) = (0.0, 0.0);
    for event in events {
        let Event::Interval(interval) = event else {
            continue;
        };
        if interval.phase != phase {
            continue;
        }
        for database in &interval.databases {
            nanos += (interval.to_ns - interval.from_ns) as f64;
            let of_batches = |part: &&SeriesInterval| part.series == Series::Transaction;
            for part in database.series.iter().filter(of_batches) {
                inside += part.latency.mean_ns() * part.latency.count() as f64;
            }
        }
    }
    inside / nanos
}

#[test]
fn a_search_that_is_interrupted_ends_the_run() {
    let world = prepared(&automatic(TOO_STRICT));
    let began = {
        let (_, events) = run_once(&world, None);
        events.iter().find_map(|event| match event {
            Event::Phase(mark) if mark.phase == Phase::Tune => Some(Nanos(mark.at_ns)),
            _ => None,
        })
    };
    let within = began.expect("it tunes") + Nanos::from_millis(300);
    let (_, events) = run_once(&world, Some(within));
    assert_eq!(tuned(&events), Vec::<u32>::new());
    let seen = phases(&events);
    assert!(seen.contains(&(Phase::Tune, Edge::End)), "{seen:?}");
    assert!(!seen.contains(&(Phase::Measure, Edge::Begin)), "{seen:?}");
    assert!(seen.contains(&(Phase::Drain, Edge::End)), "{seen:?}");
}

#[test]
fn groups_come_to_one_number_together() {
    let world = prepared(&automatic(TOO_STRICT));
    let coordinator = Arc::new(Coordinator::new(2));
    let runtime = world.executor.runtime();
    let (events, kept) = collector();
    let group = |number: usize| {
        let (plan, locations) = (&world.plan, vec![world.locations[number].clone()]);
        let events = Rc::clone(&events);
        let group = Group::alone(&runtime, plan, locations, &coordinator, events);
        Group { is_leader: number == 0, ..group }
    };
    let other = runtime.spawn(run(group(1)));
    let leader = run(group(0));
    let summaries = world.executor.block_on(async move { [leader.await, other.await] });
    assert_eq!(summaries, [RunSummary::default(), RunSummary::default()]);
    let events = kept.borrow();
    assert_eq!((tried(&events).len(), tuned(&events)), (3, vec![1]));
    let measured = |index| {
        events.iter().any(|event| match event {
            Event::Interval(interval) => {
                interval.phase == Phase::Measure && interval.databases[0].index == index
            }
            _ => false,
        })
    };
    assert!(measured(0) && measured(1));
}

/// The target after the search, and the rate measured, per second over all databases.
fn held(threads: &str, percent: u32) -> (f64, f64) {
    let text = PLAN
        .replace("threads = 2", &format!("threads = {threads}\nthroughput_percent = {percent}"))
        .replace("1500ms", "20s");
    let (summary, events) = run_once(&prepared(&text), None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let mut run = RunRecord::default();
    for event in events {
        run.push(event);
    }
    let target = run.target_iops().expect("the load is held");
    (target, run.achieved_transactional_iops())
}

#[test]
fn the_load_is_held_at_a_share_of_the_highest_with_sessions_searched_for_or_given() {
    let (half, measured) = held("\"auto\"", 50);
    assert!((0.98..1.03).contains(&(measured / half)), "{measured} of {half}");
    let [(half, of_half), (tenth, of_tenth)] = [50, 10].map(|percent| held("2", percent));
    assert!((0.98..1.03).contains(&(of_half / half)), "{of_half} of {half}");
    assert!((0.95..1.05).contains(&(of_tenth / tenth)), "{of_tenth} of {tenth}");
    assert!((4.5..5.5).contains(&(half / tenth)), "shares of the same: {half} and {tenth}");
}
