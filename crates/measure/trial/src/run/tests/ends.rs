//! Storage that answers every request late: every run ends, and within its time limit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use device::{Purpose, Volume};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use record::{DatabaseFacts, Edge, Event, IssueKind, Phase, RunRecord, Start};
use units::{Nanos, Seed};
use verdict::Ruling;

use super::{group_of, prepared};
use crate::bounds::{RunStage, longest, longest_search};
use crate::coordinator::{Coordinator, Stop};
use crate::location::Location;
use crate::run::{RunSummary, run};
use crate::settings::record_settings;
use crate::testing::World;

/// One database, so that a hundred runs take less than a minute.
const PLAN: &str = "seed = 7\n\
    [databases]\nfolders = [\"a\"]\nsize = \"16MiB\"\n\
    [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"2MiB\"\n\
    [workload]\nthreads = \"auto\"\n\
    [test]\nduration = \"2s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n";

/// Requests that become slow.
#[derive(Clone, Copy, Debug)]
enum Slow {
    Reads,
    Writes,
    Flushes,
    /// Writes of the log, on a volume that is quick otherwise.
    Logs,
    Everything,
}

const KINDS: [Slow; 5] = [Slow::Reads, Slow::Writes, Slow::Flushes, Slow::Logs, Slow::Everything];

impl Slow {
    fn matching(self) -> Vec<Matching> {
        let calls: &[Call] = match self {
            Self::Reads => &[Call::Read],
            Self::Writes => &[Call::Write],
            Self::Flushes => &[Call::Flush],
            Self::Logs => {
                let (call, purpose) = (Some(Call::Write), Some(Purpose::Log));
                return vec![Matching { call, purpose, ..Matching::default() }];
            }
            Self::Everything => {
                &[Call::Read, Call::Write, Call::Flush, Call::SetLength, Call::Open]
            }
        };
        let of = |call: &Call| Matching { call: Some(*call), ..Matching::default() };
        calls.iter().map(of).collect()
    }
}

const PHASES: [Phase; 6] =
    [Phase::Open, Phase::Warm, Phase::Tune, Phase::Measure, Phase::Drain, Phase::Check];

/// How a run ended on storage that became slow.
struct Ended {
    summary: RunSummary,
    record: RunRecord,
    stop: Option<Stop>,
    /// Requests that were slow.
    slow: usize,
    /// Duration of the run.
    at: Nanos,
}

/// A record that contains only the start.
fn started(start: Start) -> RunRecord {
    let mut record = RunRecord::default();
    record.start = start;
    record
}

/// Delays requests of one kind by `delay` from the start of `phase`.
fn slow_from(world: &mut World, phase: Phase, kind: Slow, delay: Nanos) -> Ended {
    let location = &world.locations[0];
    let runtime = world.executor.runtime();
    let inner = Rc::clone(&location.database);
    let slow = FaultyVolume::new(inner, FaultPlan::default(), runtime.clone());
    let twin: Rc<dyn Volume> = Rc::new(slow.clone());
    world.locations[0] = Location { database: Rc::clone(&twin), log: twin, ..location.clone() };
    let faults = kind.matching().into_iter().map(|matching| Fault {
        matching,
        occurrence: Occurrence::From(1),
        effect: Effect::Stall(delay),
    });
    let faults = FaultPlan { seed: Seed(1), faults: faults.collect() };
    let record = Rc::new(RefCell::new(started(start(world))));
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

/// The facts that a verdict needs.
fn start(world: &World) -> Start {
    let index = world.plan.databases[0].index;
    Start {
        settings: record_settings(&world.plan, 1),
        databases: vec![DatabaseFacts { index, ..DatabaseFacts::default() }],
        ..Start::default()
    }
}

/// Checks that only a request longer than 5 s fails the storage, and that no slow storage passes.
fn is_judged_rightly(ended: &Ended, delay: u64, case: &str) {
    let longest = ended.record.long_requests.iter().map(|one| one.time_ns).max();
    let is_told = longest.is_some_and(|time_ns| time_ns > 5_000_000_000);
    let is_too_slow = delay >= 5 && ended.slow > 0;
    assert_eq!(is_told, is_too_slow, "{case}: {longest:?}");
    let verdict = verdict::judge(&ended.record);
    let rule = verdict.findings.iter().find(|of| of.rule == "longest-request").unwrap();
    let of_time = verdict.findings.iter().find(|of| of.rule == "measured-time").unwrap();
    let expected = match (is_too_slow, of_time.outcome) {
        // Storage that opens no database in time is named, and was not measured.
        (true, Ruling::CannotJudge) => Ruling::CannotJudge,
        (true, _) => Ruling::Fail,
        (false, _) => rule.outcome,
    };
    assert_eq!(rule.outcome, expected, "{case}: {rule:?} {of_time:?}");
    assert!(is_too_slow || rule.outcome != Ruling::Fail, "{case}: {rule:?}");
    assert!(verdict.outcome != Ruling::Pass, "{case}: two seconds prove nothing");
}

/// Maximum duration of a run of `plan`.
fn longest_run(plan: &plan::Plan) -> Nanos {
    let test = &plan.test;
    let load = test.warm_up_limit + longest_search(plan) + test.duration;
    let finish = longest(plan, RunStage::Finishing);
    longest(plan, RunStage::Opening) + load + finish + Nanos::from_secs(5)
}

fn sweep(delay: u64) {
    for (number, phase) in PHASES.into_iter().enumerate() {
        // Half of the kinds in each phase: 75 runs in all.
        for kind in KINDS.into_iter().skip(number % 2).step_by(2) {
            let mut world = prepared(PLAN);
            let limit = longest_run(&world.plan);
            let ended = slow_from(&mut world, phase, kind, Nanos::from_secs(delay));
            let case = format!("{delay} s for {kind:?} from {phase:?}");
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
            is_judged_rightly(&ended, delay, &case);
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
