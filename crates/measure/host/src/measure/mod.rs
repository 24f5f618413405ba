//! Runs a plan on its databases: threads, run folder, events, verdict.

mod acknowledge;
mod circumstances;
mod device_reads;
mod digests;
mod folder;
mod follow;
mod gate;
mod host;
mod job;
mod merge;
mod neighbours;
mod pause;
mod places;
mod processors;
mod questions;
mod resume;
mod room;
mod runs;
mod silence;
mod start;
mod steps;
mod stop_request;
mod tally;

use std::path::Path;
use std::sync::Arc;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::{Event, Finished, RunRecord, Start, TestOfSet};
use trial::room::Shortage;
use trial::{Coordinator, Stop};
use units::Nanos;
use verdict::Verdict;

use crate::allowance::{self, DatabaseUse};
use crate::crew::{self, Crew};
use crate::error::HostError;
use crate::locks::{self, Files};
use crate::look::Outputs;
use crate::observer::{HostEvent, HostObserver};
use crate::patient;
use crate::stop::StopFlag;
use crate::wire;

use device_reads::DeviceReads;
pub use digests::{load_by_digest, load_to_digest};
pub(crate) use folder::RunFolder;
pub use folder::write_reports;
use follow::{End, Follower, GroupCrew, Watched};
use gate::Gate;
pub use gate::{MEASURE_AT, WAITING};
use job::{Job, jobs};
use neighbours::NeighbourRuns;
use pause::PauseWatch;
use processors::ProcessorWatch;
pub use resume::CutRun;
use room::RoomWatch;
pub use runs::{is_live, journal_of, load, refusal_to_resume, runs_at};
pub use steps::LOAD_STEPS;
pub use stop_request::{STOP_REQUEST, StopRequest};

/// A completed run, successful or not, with its reports written.
pub struct Measured {
    /// The record.
    pub record: RunRecord,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether requests are still unanswered; they may keep files locked.
    pub storage_owes: bool,
}

/// Description of a run.
pub struct RunOrder<'a> {
    /// The plan, its databases prepared.
    pub plan: &'a Plan,
    /// The command that runs it again, without its options.
    pub command: String,
    /// Options that affect the measurement, each with its value.
    pub options: Vec<(String, String)>,
    /// Words that the run can be found by.
    pub tags: &'a [String],
    /// The tests of the set that the run is one of; empty for a run alone.
    pub set: &'a [TestOfSet],
    /// Destination of the journal and reports.
    pub folder: &'a Path,
    /// The run to resume; `None` for a new one.
    pub resumed: Option<CutRun>,
    /// Log of every commit, for programs that kill this one.
    pub acknowledge: Option<&'a Path>,
    /// Whether the measurement waits for another program to start it.
    pub is_held: bool,
}

/// Runs a plan, notifies `observer`, and writes journal and reports. Fails only if there is nothing
/// to report: a missing folder, or a database that cannot be opened.
pub fn run(
    order: RunOrder<'_>,
    stop: &StopFlag,
    observer: &HostObserver,
) -> Result<Measured, HostError> {
    let folder = order.folder;
    let plan = &places::with_whole_paths(order.plan)?;
    allowance::check(plan, use_of(plan))?;
    let clock = OsClock::new();
    let groups = wire::run_groups(plan);
    let count = u32::try_from(groups.len()).expect("invariant: as many groups as processors");
    let mut processors = ProcessorWatch::start();
    let command = (order.command, order.options);
    let (mut start, mut room, mut reads, mut neighbours) =
        first_look(plan, command, (count, clock), (stop, observer))?;
    (start.tags, start.set) = (order.tags.to_vec(), order.set.to_vec());
    let steps = steps::load_steps(folder, plan, order.resumed.is_some())?;
    start.settings.target_iops =
        start.settings.target_iops.map(|target| target * steps.mean_share(plan));
    start.processors_before = processors.before_the_run(observer);
    let commits = order.acknowledge.map(acknowledge::open).transpose()?;
    let resumed = order.resumed.as_ref().map(CutRun::known);
    let watch = PauseWatch::start()?;
    let mut request = StopRequest::start(folder)?;
    let (mut run_folder, origin) = open_folder(folder, order.resumed, start, &clock)?;
    let coordinator = Arc::new(Coordinator::new(count).with_load_steps(steps));
    let gate = order.is_held.then(|| Gate::close(folder, &coordinator)).transpose()?;
    let known = (commits.as_ref(), resumed.as_ref());
    let jobs = jobs(plan, groups, &coordinator, known, (origin, watch));
    let mut crew = Crew::start(jobs, Job::run);
    let watched = Watched {
        folder: &mut run_folder,
        room: &mut room,
        reads: &mut reads,
        neighbours: &mut neighbours,
        processors: &mut processors,
        request: &mut request,
        origin,
        gate,
    };
    let mut follower = Follower::new(plan, stop, &coordinator, watched, observer);
    let ends = follower.follow(&mut crew);
    let followed = follower.end();
    let is_kept = ends.iter().any(End::gave_up);
    if let Some(refused) = refused(crew.refusal.take(), ends)? {
        run_folder.discard();
        return Err(refused);
    }
    followed?;
    let end = finished(&coordinator, room.shortage(), clock.now().since(origin));
    let finished = Event::Finished(end);
    observer.tell(HostEvent::Event(&finished));
    let found = [reads.events(), neighbours.events()].concat();
    let (record, verdict) = conclude(folder, run_folder, found.iter().chain([&finished]))?;
    let storage_owes = is_kept || room.is_stuck() || reads.is_stuck() || neighbours.is_stuck();
    leave(crew, storage_owes, observer);
    Ok(Measured { record, verdict, storage_owes })
}

/// The start of a run of `count` threads, and the watches on its storage.
fn first_look(
    plan: &Plan,
    command: (String, Vec<(String, String)>),
    (count, clock): (u32, OsClock),
    (stop, observer): (&StopFlag, &HostObserver),
) -> Result<(Start, RoomWatch, DeviceReads, NeighbourRuns), HostError> {
    // Done first, since `patient::first_look` would blame the storage for a slow tool.
    let outputs = Outputs::installed();
    let heard = observer.clone();
    patient::first_look(plan, stop, move |plan| {
        locks::wait_for(plan.databases.iter().map(Files::from), &heard);
        let since = (count, clock.epoch() + clock.now());
        let start = start::start(plan, command, since, &outputs)?;
        let room = RoomWatch::start(plan)?;
        Ok((start, room, DeviceReads::new(plan)?, NeighbourRuns::new(plan)?))
    })
}

/// Why a run leaves nothing to report: a thread that could not start, or a database that could not
/// be opened.
fn refused(crew: Option<HostError>, ends: Vec<End>) -> Result<Option<HostError>, HostError> {
    match crew {
        Some(refusal) => Ok(Some(refusal)),
        None => refusal(ends),
    }
}

/// Returns how a run of `plan` uses its databases.
const fn use_of(plan: &Plan) -> DatabaseUse {
    if plan.test.kind.is_load() { DatabaseUse::Load } else { DatabaseUse::Read }
}

/// Refuses a run of `plan` if descriptors, memory or space are insufficient.
pub fn refuse_shortage(plan: &Plan, stop: &StopFlag) -> Result<(), HostError> {
    allowance::check(plan, use_of(plan))?;
    patient::first_look(plan, stop, |plan| RoomWatch::start(plan).map(drop))
}

/// Opens the journal with this program's first line, and returns the origin of its time.
fn open_folder(
    folder: &Path,
    cut: Option<CutRun>,
    mut start: Start,
    clock: &OsClock,
) -> Result<(RunFolder, Nanos), HostError> {
    let Some(cut) = cut else {
        let mut run_folder = RunFolder::create(folder)?;
        let origin = clock.now();
        // The first look took a while, and times of the record count from here.
        start.started_epoch_ns = (clock.epoch() + origin).0;
        run_folder.write(&Event::Start(Box::new(start)))?;
        return Ok((run_folder, origin));
    };
    cut.refuse_other_circumstances(start)?;
    let origin = clock.now();
    let later_ns = cut.later_ns(clock.epoch() + origin);
    Ok((RunFolder::resume(cut, later_ns)?, origin))
}

/// Explanation for a user whose terminal does not return; see docs/method.md.
const KEPT: &str = "The reports are complete. The storage still owes an answer: where this process \
                    does not end now, Linux keeps it until the storage answers or is taken away, \
                    and no signal ends it before.";

/// Waits for the threads to exit, unless requests are unanswered: then warns that they may not.
fn leave(crew: GroupCrew, storage_owes: bool, observer: &HostObserver) {
    if storage_owes {
        observer.warn(&KEPT);
    } else {
        crew.join();
    }
}

/// Writes the last events of a run, judges it and writes its reports.
pub(crate) fn conclude<'a>(
    folder: &Path,
    mut run_folder: RunFolder,
    last: impl Iterator<Item = &'a Event>,
) -> Result<(RunRecord, Verdict), HostError> {
    for event in last {
        run_folder.write(event)?;
    }
    let record = run_folder.load()?;
    let verdict = verdict::judge(&record);
    write_reports(folder, &record, &verdict)?;
    Ok((record, verdict))
}

/// Why a thread could not start, or a database could not be opened; `None` otherwise.
fn refusal(ends: Vec<End>) -> Result<Option<HostError>, HostError> {
    let mut failures = Vec::new();
    for end in ends {
        match end {
            End::Came(Ok(summary)) => failures.extend(summary.failure),
            End::Came(Err(refusal)) => return Ok(Some(refusal)),
            End::Panicked => return Err(crew::panicked()),
            End::GivenUp => {}
        }
    }
    let at_open = failures.into_iter().find(|failure| failure.at_open);
    Ok(at_open.map(|failure| HostError::new(failure.text)))
}

/// The last event of a run.
pub(crate) fn finished(
    coordinator: &Coordinator,
    shortage: Option<&Shortage>,
    at: Nanos,
) -> Finished {
    let reason = coordinator.stopped().map(|stop| match (stop, shortage) {
        (Stop::NoRoom, Some(shortage)) => shortage.to_string(),
        (Stop::NoRoom, None) => "a volume was about to be full".to_owned(),
        (Stop::Interrupted, _) => "stopped by the user".to_owned(),
        (Stop::Failed, _) => "a database could not go on".to_owned(),
        (Stop::Overdue, _) => {
            "the storage was too slow for the run to come to its end within its time".to_owned()
        }
    });
    let is_for_room = matches!(coordinator.stopped(), Some(Stop::NoRoom));
    let is_overdue = matches!(coordinator.stopped(), Some(Stop::Overdue));
    let was_stopped = matches!(coordinator.stopped(), Some(Stop::Interrupted));
    let interrupted = reason.is_some();
    Finished { at_ns: at.0, interrupted, reason, is_for_room, is_overdue, was_stopped }
}
