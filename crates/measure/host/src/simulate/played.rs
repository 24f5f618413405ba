//! Plays a deployment's groups as runs: the profile for playing them, and the journal of each host,
//! whose clock counts only the time played.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use device::{Executor, VirtualReactor};
use plan::Plan;
use record::{DatabaseInterval, Edge, Event, Finished, Interval, LogLine, Phase, PhaseMark, Start};
use simdisk::operations::{OperationAnswer, OperationProfile};
use units::Nanos;

use super::series::OperationSeries;
use super::{SimulationOrder, facts, measured, measured_profile, operations};
use crate::crew;
use crate::error::HostError;
use crate::measure::{Measured, RunFolder, conclude};

/// The operation model's profile of the load of an order at the pace of its array, with the cost of
/// a cold cache, which a copy has when it takes over.
pub fn paced_profile(order: &SimulationOrder<'_>) -> Result<OperationProfile, HostError> {
    let profile = measured_profile(order.plan)?;
    let cold = measured::cold(order.plan, &profile)?;
    Ok(OperationProfile { cold, ..operations::at_pace(order, &profile)? })
}

/// Sessions of each database of `plan`, in its order.
pub fn sessions(plan: &Plan) -> Vec<u32> {
    plan.databases.iter().map(|database| trial::sessions_of(plan, database)).collect()
}

/// `work` for every number below `count`, as many at a time as there are processors; the results
/// are in the order of the numbers, whichever finished first.
pub fn side_by_side<T: Send, E: Send + From<HostError>>(
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(count).max(1);
    let mut all = Vec::with_capacity(count);
    thread::scope(|scope| {
        let mut started = Vec::new();
        started.resize_with(workers, || scope.spawn(|| share(&next, count, &work)));
        for worker in started {
            all.extend(worker.join().map_err(|_| crew::panicked())??);
        }
        Ok::<(), E>(())
    })?;
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// One worker's share of the numbers below `count`, taken from `next`, with their results.
fn share<T, E>(
    next: &AtomicUsize,
    count: usize,
    work: impl Fn(usize) -> Result<T, E>,
) -> Result<Vec<(usize, T)>, E> {
    let mut done = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(done);
        }
        done.push((number, work(number)?));
    }
}

/// Marks the run as one host of a deployment, which is not judged alone.
fn as_part(mut start: Start) -> Start {
    if let Some(simulation) = &mut start.simulated {
        simulation.is_host_of_deployment = true;
    }
    start
}

/// Marks the run as one host of a deployment without a timeline: the rules apply to each host, and
/// the worst verdict is that of all.
pub(super) fn as_judged_part(start: Start) -> Start {
    let mut start = as_part(start);
    if let Some(simulation) = &mut start.simulated {
        simulation.is_judged_by_hosts = true;
    }
    start
}

/// The journal of one host of a deployment.
pub struct HostJournal {
    folder: RunFolder,
    path: PathBuf,
    at: Nanos,
    /// Requests of the interval under way, by the number of the copy in the plan.
    copies: Vec<OperationSeries>,
}

impl HostJournal {
    /// Begins the journal of a host whose copies are the databases of the order's plan.
    pub fn create(order: &SimulationOrder<'_>) -> Result<Self, HostError> {
        let epoch = Executor::new(VirtualReactor::new()).runtime().clock().epoch();
        let mut plan = order.plan.clone();
        // Nothing is stored, so that no page can be verified.
        plan.test.checksum = false;
        let start = as_part(facts::start(order, &plan, 1.0, epoch));
        let mut folder = RunFolder::create(order.folder)?;
        folder.write(&Event::Start(Box::new(start)))?;
        let path = order.folder.to_path_buf();
        let copies = vec![OperationSeries::default(); plan.databases.len()];
        let mut journal = Self { folder, path, at: Nanos::ZERO, copies };
        journal.mark(Edge::Begin)?;
        Ok(journal)
    }

    /// Notes a line for people.
    pub fn log(&mut self, text: String) -> Result<(), HostError> {
        self.folder.write(&Event::Log(LogLine { at_ns: self.at.0, text }))
    }

    /// Notes a request of the copy at `position` of the plan; `is_replay` if it replays.
    pub fn note(&mut self, position: usize, answer: &OperationAnswer, is_replay: bool) {
        if let Some(copy) = self.copies.get_mut(position) {
            copy.note(answer, is_replay);
        }
    }

    /// Forgets the operations noted since the last interval, during which the host was down.
    pub fn skip(&mut self) {
        self.copies.fill(OperationSeries::default());
    }

    /// Writes the interval of `span` with everything noted since the one before.
    pub fn end_interval(&mut self, span: Nanos) -> Result<(), HostError> {
        let databases: Vec<DatabaseInterval> = (0..)
            .zip(&self.copies)
            .map(|(index, series)| DatabaseInterval {
                index,
                series: series.all(),
                ..DatabaseInterval::default()
            })
            .collect();
        self.skip();
        let (from, to) = (self.at, self.at + span);
        self.at = to;
        self.folder.write(&Event::Interval(Interval {
            phase: Phase::Measure,
            from_ns: from.0,
            to_ns: to.0,
            databases,
            host: None,
            processors: None,
            flash_cache: None,
        }))
    }

    /// Ends the journal and writes the reports of the host.
    pub fn finish(mut self) -> Result<Measured, HostError> {
        self.mark(Edge::End)?;
        let last = Event::Finished(Finished {
            at_ns: self.at.0,
            interrupted: false,
            reason: None,
            is_for_room: false,
            is_overdue: false,
            was_stopped: false,
        });
        let (record, verdict) = conclude(&self.path, self.folder, [&last].into_iter())?;
        Ok(Measured { record, verdict, storage_owes: false })
    }

    fn mark(&mut self, edge: Edge) -> Result<(), HostError> {
        let (at_ns, phase) = (self.at.0, Phase::Measure);
        self.folder.write(&Event::Phase(PhaseMark { at_ns, phase, edge }))
    }
}
