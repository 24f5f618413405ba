//! Finds the number of sessions that an array can carry, and the highest load if a plan asks for a
//! share of it, by the same advice that a run follows: a plan has the same meaning at both levels.

use plan::{Plan, Sessions};
use record::{Edge, Event, Phase, Tuned};
use simdisk::operations::{OperationAnswer, OperationKind};
use trial::{
    Advice, LoadSteps, SearchGoal, TuneStep, advise, by_sessions, enough_iops, held_from_start,
    share_of_highest,
};
use units::Nanos;

use super::Playback;
use crate::error::HostError;

/// Queues and the array's memory fill before the sessions are observed: half a gigabyte of writes
/// takes most of a minute if the disks keep up with nine tenths of them.
const SETTLING: Nanos = Nanos::from_secs(60);

/// Observation time of each session count: longer than in a run, since virtual time is cheap.
const OBSERVED: Nanos = Nanos::from_secs(30);

/// The plan of the order with the number of sessions, and the target, that a search has found; the
/// plan itself if it leaves nothing to search for.
pub(super) fn settled(playback: &mut Playback<'_, '_>) -> Result<Plan, HostError> {
    let plan = playback.order.plan;
    let is_share = share_of_highest(plan, 0.0).is_some();
    if playback.is_stopped || plan.workload.sessions != Sessions::Auto && !is_share {
        return Ok(plan.clone());
    }
    playback.mark(Phase::Tune, Edge::Begin);
    let best = search(playback)?;
    let mut found = plan.clone();
    found.workload.sessions = Sessions::Count(best.sessions);
    let target_iops = share_of_highest(plan, best.iops);
    if target_iops.is_some() {
        found.workload.target_iops = target_iops;
    }
    let at_ns = playback.now.0;
    let sessions_per_database = best.sessions;
    playback.tell(Event::Tuned(Tuned { at_ns, sessions_per_database, target_iops }));
    playback.mark(Phase::Tune, Edge::End);
    Ok(found)
}

fn search(playback: &mut Playback<'_, '_>) -> Result<TuneStep, HostError> {
    let limits = &playback.order.plan.limits;
    let goal = SearchGoal {
        read_average: limits.read_average,
        log_write_average: limits.log_write_average,
        enough_iops: enough_iops(playback.order.plan, &LoadSteps::default(), OBSERVED),
    };
    let mut steps = Vec::new();
    loop {
        let advice = match playback.order.plan.workload.sessions {
            Sessions::Auto => advise(&steps, goal),
            Sessions::Count(count) if steps.is_empty() => Advice::Try(count),
            Sessions::Count(count) => Advice::Settle(count),
        };
        match advice {
            Advice::Try(sessions) => steps.push(step(playback, sessions)?),
            Advice::Settle(sessions) => {
                let tried = by_sessions(&steps).into_iter();
                let found = tried.into_iter().find(|step| step.sessions == sessions);
                return Ok(found.expect("invariant: a number that was tried is settled on"));
            }
        }
    }
}

/// Observes `sessions` of each database, at full load unless the plan holds it from the start.
fn step(playback: &mut Playback<'_, '_>, sessions: u32) -> Result<TuneStep, HostError> {
    let mut plan = playback.order.plan.clone();
    plan.workload.sessions = Sessions::Count(sessions);
    plan.workload.target_iops = held_from_start(&plan);
    let mut run = playback.operation_run(&plan)?;
    run.advance(SETTLING, &mut |_| ());
    let (mut reads, mut writes, mut log_writes) = <(Sum, Sum, Sum)>::default();
    let counts = playback.alike.counts();
    run.advance(SETTLING + OBSERVED, &mut |answer| {
        let count = counts[answer.database];
        match answer.kind {
            OperationKind::DatabaseRead => reads.add(&answer, count),
            OperationKind::DatabaseWrite => writes.add(&answer, count),
            OperationKind::LogWrite => log_writes.add(&answer, count),
            _ => {}
        }
    });
    let step = TuneStep {
        sessions,
        iops: (reads.count + writes.count) as f64 / OBSERVED.as_secs_f64(),
        read_average: reads.mean(),
        log_write_average: log_writes.mean(),
        stalls_per_second: 0.0,
    };
    playback.now = playback.now + SETTLING + OBSERVED;
    playback.log(format!(
        "{sessions} sessions per database: {:.0} IOPS, reads {:.2} ms, log writes {:.2} ms",
        step.iops,
        step.read_average.as_secs_f64() * 1e3,
        step.log_write_average.as_secs_f64() * 1e3,
    ));
    Ok(step)
}

/// Count and total time of the answers of one kind.
#[derive(Default)]
struct Sum {
    count: u64,
    nanoseconds: u64,
}

impl Sum {
    /// Adds an answer that counts for `count` databases.
    const fn add(&mut self, answer: &OperationAnswer, count: u64) {
        self.count += count;
        self.nanoseconds += answer.latency.0 * count;
    }

    fn mean(&self) -> Nanos {
        Nanos(self.nanoseconds / self.count.max(1))
    }
}
