//! Runs whose measurement waits for another program to release it.

use std::sync::Arc;

use record::{Edge, Event, Phase};
use units::Nanos;

use super::{PLAN, group_of, issues, phases, prepared, run};
use crate::coordinator::{Coordinator, Stop};
use crate::testing::collector;

/// Runs a held run; `then` gets its coordinator 20 s after the start, long after warm-up.
fn held(then: fn(&Coordinator, Nanos)) -> Vec<Event> {
    let world = prepared(PLAN);
    let (events, kept) = collector();
    let coordinator = Arc::new(Coordinator::new(1));
    coordinator.hold();
    let group = group_of(&world, &coordinator, events);
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let twin = runtime.clone();
        drop(runtime.spawn(async move {
            twin.sleep(Nanos::from_secs(20)).await;
            assert!(coordinator.is_waiting(), "it is warm and waits");
            then(&coordinator, twin.now());
            assert!(!coordinator.is_waiting());
        }));
        run(group).await
    });
    kept.borrow().clone()
}

fn measured_from(events: &[Event]) -> Option<u64> {
    events.iter().find_map(|event| match event {
        Event::Phase(mark) if (mark.phase, mark.edge) == (Phase::Measure, Edge::Begin) => {
            Some(mark.at_ns)
        }
        _ => None,
    })
}

#[test]
fn a_held_run_measures_from_the_instant_it_is_given() {
    let events = held(|coordinator, now| coordinator.release(now + Nanos::from_secs(2)));
    assert_eq!(issues(&events), Vec::new());
    let from_ns = measured_from(&events).expect("a measurement");
    let late_ns = from_ns.checked_sub(22_000_000_000).expect("not before");
    assert!(late_ns < 10_000_000, "{late_ns} ns late");
    let measured: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Interval(interval) if interval.phase == Phase::Measure => Some(interval.from_ns),
            _ => None,
        })
        .collect();
    assert!(measured.iter().all(|&begin| begin >= from_ns), "{measured:?}");
}

#[test]
fn a_held_run_that_is_stopped_measures_nothing_and_closes_its_databases() {
    let events = held(|coordinator, _| coordinator.stop(Stop::Interrupted));
    assert_eq!(measured_from(&events), None);
    assert!(phases(&events).contains(&(Phase::Drain, Edge::End)));
}
