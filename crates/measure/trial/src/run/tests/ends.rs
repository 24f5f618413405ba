//! Storage that answers every request, and each of them late: every run ends, and in its time.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use device::Volume;
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use record::{Edge, Event, IssueKind, Phase, RunRecord};
use units::{Nanos, Seed};

use super::{group_of, prepared};
use crate::bounds::{RunStage, longest, longest_search};
use crate::coordinator::{Coordinator, Stop};
use crate::location::Location;
use crate::run::{RunSummary, run};
use crate::testing::World;

/// One database, so that a hundred runs take no minute.
const PLAN: &str = "seed = 7\n\
    [databases]\nfolders = [\"a\"]\nsize = \"16MiB\"\n\
    [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"2MiB\"\n\
    [workload]\nthreads = \"auto\"\n\
    [test]\nduration = \"2s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n";

const CALLS: [Option<Call>; 4] = [Some(Call::Read), Some(Call::Write), Some(Call::Flush), None];

const PHASES: [Phase; 6] =
    [Phase::Open, Phase::Warm, Phase::Tune, Phase::Measure, Phase::Drain, Phase::Check];

/// How a run ended on storage that became slow.
struct Ended {
    summary: RunSummary,
    record: RunRecord,
    stop: Option<Stop>,
    /// Requests that were slow.
    slow: usize,
    /// When.
    at: Nanos,
}

/// Requests of one kind take `delay` more from the begin of `phase` on.
fn slow_from(world: &mut World, phase: Phase, call: Option<Call>, delay: Nanos) -> Ended {
    let location = &world.locations[0];
    let runtime = world.executor.runtime();
    let inner = Rc::clone(&location.database);
    let slow = FaultyVolume::new(inner, FaultPlan::default(), runtime.clone());
    let twin: Rc<dyn Volume> = Rc::new(slow.clone());
    world.locations[0] = Location { database: Rc::clone(&twin), log: twin, ..location.clone() };
    let faults = [call].into_iter().flat_map(|call| match call {
        Some(call) => vec![call],
        None => vec![Call::Read, Call::Write, Call::Flush, Call::SetLength, Call::Open],
    });
    let faults = faults.map(|call| Fault {
        matching: Matching { call: Some(call), ..Matching::default() },
        occurrence: Occurrence::From(1),
        effect: Effect::Stall(delay),
    });
    let faults = FaultPlan { seed: Seed(1), faults: faults.collect() };
    let record = Rc::new(RefCell::new(RunRecord::default()));
    let kept = Rc::clone(&record);
    let suffers = slow.clone();
    let events = Rc::new(move |event: Event| {
        if let Event::Phase(mark) = &event
            && (mark.phase, mark.edge) == (phase, Edge::Begin)
        {
            suffers.follow(faults.clone());
        }
        kept.borrow_mut().push(event);
    });
    let coordinator = Arc::new(Coordinator::new(1));
    let group = group_of(world, &coordinator, events);
    let began = runtime.now();
    let summary = world.executor.block_on(run(group));
    let at = Nanos(runtime.now().since(began).0);
    let record = record.borrow().clone();
    Ended { summary, record, stop: coordinator.stopped(), slow: slow.injections().len(), at }
}

/// The longest that a run of `plan` may last.
fn longest_run(plan: &plan::Plan) -> Nanos {
    let test = &plan.test;
    let load = test.warm_up_limit + longest_search(plan) + test.duration;
    let finish = longest(plan, RunStage::Finishing);
    longest(plan, RunStage::Opening) + load + finish + Nanos::from_secs(5)
}

fn sweep(delay: u64) {
    for (number, phase) in PHASES.into_iter().enumerate() {
        // Half of the kinds in each phase: 60 runs in all.
        for call in CALLS.into_iter().skip(number % 2).step_by(2) {
            let mut world = prepared(PLAN);
            let limit = longest_run(&world.plan);
            let ended = slow_from(&mut world, phase, call, Nanos::from_secs(delay));
            let case = format!("{delay} s for {call:?} from {phase:?}");
            assert!(ended.at <= limit, "{case}: {}, at most {limit}", ended.at);
            let unfinished: Vec<&str> = ended
                .record
                .issues
                .iter()
                .map(|issue| {
                    assert_eq!(issue.kind, IssueKind::Unfinished, "{case}: {}", issue.text);
                    issue.text.as_str()
                })
                .collect();
            let is_overdue = ended.stop == Some(Stop::Overdue);
            assert_eq!(is_overdue, !unfinished.is_empty(), "{case}: {unfinished:?}");
            assert_eq!(ended.stop.is_some(), is_overdue, "{case}: {:?}", ended.stop);
            assert_eq!(ended.summary.failure, None, "{case}");
            // Only a request longer than 5 s fails the storage.
            let longest = ended.record.long_requests.iter().map(|one| one.time_ns).max();
            let is_told = longest.is_some_and(|time_ns| time_ns > 5_000_000_000);
            assert_eq!(is_told, delay >= 5 && ended.slow > 0, "{case}: {longest:?}");
            if !is_overdue {
                assert_eq!(ended.record.checksums.len(), 1, "{case}");
            }
        }
    }
}

#[test]
fn a_run_whose_requests_take_a_second_ends() {
    sweep(1);
}

#[test]
fn a_run_whose_requests_take_five_seconds_ends() {
    sweep(5);
}

#[test]
fn a_run_whose_requests_take_eleven_seconds_ends() {
    sweep(11);
}

#[test]
fn a_run_whose_requests_take_half_a_minute_ends() {
    sweep(30);
}

#[test]
fn a_run_whose_requests_take_almost_as_long_as_they_may_ends() {
    sweep(59);
}
