//! Runs a plan on its databases: threads, run folder, progress, verdict; shared by `run` and
//! `quick`.

mod acknowledge;
mod device_reads;
mod folder;
mod follow;
mod host;
mod merge;
mod room;
mod start;

use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::{Event, Finished, RunRecord};
use trial::room::Shortage;
use trial::run::{Failure, Group, Summary};
use trial::{Barrier, Coordinator, HostSampler, Stop};
use units::Nanos;
use verdict::Verdict;

use crate::error::CommandError;
use crate::locks::{self, Files};
use crate::signals::StopFlag;
use crate::wire;

use device_reads::DeviceReads;
use folder::RunFolder;
pub use folder::{journal_of, load, write_reports};
use follow::{Message, Watched, follow};
use host::LinuxHost;
use room::RoomWatch;

/// A run that has ended, one way or the other, with its reports written.
pub struct Measured {
    /// What happened.
    pub record: RunRecord,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Runs `plan`, writes journal and reports into `folder`. An error is one that leaves nothing to
/// report: a missing folder, a database that cannot be opened.
pub fn measure(
    plan: &Plan,
    folder: &Path,
    stop: &StopFlag,
    quiet: bool,
    acknowledge: Option<&Path>,
) -> Result<Measured, CommandError> {
    let clock = OsClock::new();
    locks::wait_for(plan.databases.iter().map(Files::from), quiet);
    let groups = wire::groups(plan);
    let count = u32::try_from(groups.len()).expect("invariant: as many groups as processors");
    let start = start::start(plan, count, clock.epoch() + clock.now())?;
    let commits = acknowledge.map(acknowledge::open).transpose()?;
    let mut room = RoomWatch::start(plan)?;
    let mut reads = DeviceReads::new(plan)?;
    let mut run_folder = RunFolder::create(folder)?;
    let origin = clock.now();
    run_folder.write(&Event::Start(Box::new(start)))?;
    let coordinator = Arc::new(Coordinator::new(count));
    let (followed, ends) = thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let (shared, commits) = (&coordinator, commits.as_ref());
        let work = move |index: usize, databases: Vec<plan::Database>| {
            let thread = Thread {
                plan,
                origin,
                coordinator: shared,
                commits,
                is_leader: index == 0,
            };
            thread.run(&databases, &sender)
        };
        let threads = wire::on_threads(scope, &groups, work)?;
        let followed = follow(
            plan,
            &receiver,
            stop,
            &coordinator,
            Watched {
                folder: &mut run_folder,
                room: &mut room,
                reads: &mut reads,
                origin,
            },
            quiet,
        );
        let end = |thread: thread::ScopedJoinHandle<'_, _>| {
            // A panic has been explained where it happened.
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let ends: Vec<Result<Summary, CommandError>> = threads.into_iter().map(end).collect();
        Ok::<_, CommandError>((followed, ends))
    })?;
    if let Some(failure) = refusal(ends)? {
        run_folder.discard();
        return Err(CommandError::new(failure.text));
    }
    followed?;
    let at = clock.now().since(origin);
    let finished = Event::Finished(finished(&coordinator, room.shortage(), at));
    conclude(folder, run_folder, reads.events().iter().chain([&finished]))
}

/// Writes the last events of a run, judges it and writes its reports.
fn conclude<'a>(
    folder: &Path,
    mut run_folder: RunFolder,
    last: impl Iterator<Item = &'a Event>,
) -> Result<Measured, CommandError> {
    for event in last {
        run_folder.write(event)?;
    }
    let record = run_folder.load()?;
    let verdict = verdict::judge(&record);
    write_reports(folder, &record, &verdict)?;
    Ok(Measured { record, verdict })
}

/// The failure of a database that could not even be opened, if there is one.
fn refusal(ends: Vec<Result<Summary, CommandError>>) -> Result<Option<Failure>, CommandError> {
    let summaries: Result<Vec<Summary>, CommandError> = ends.into_iter().collect();
    let failures = summaries?.into_iter().filter_map(|summary| summary.failure);
    Ok(failures.into_iter().find(|failure| failure.at_open))
}

fn finished(coordinator: &Coordinator, shortage: Option<&Shortage>, at: Nanos) -> Finished {
    let reason = coordinator.stopped().map(|stop| match (stop, shortage) {
        (Stop::NoRoom, Some(shortage)) => shortage.to_string(),
        (Stop::NoRoom, None) => "a volume was about to be full".to_owned(),
        (Stop::Interrupted, _) => "a person asked to stop".to_owned(),
        (Stop::Failed, _) => "a database could not go on".to_owned(),
    });
    Finished {
        at_ns: at.0,
        interrupted: reason.is_some(),
        reason,
    }
}

/// What one thread is given.
struct Thread<'a> {
    plan: &'a Plan,
    origin: Nanos,
    coordinator: &'a Arc<Coordinator>,
    commits: Option<&'a Arc<File>>,
    is_leader: bool,
}

impl Thread<'_> {
    fn run(
        &self,
        databases: &[plan::Database],
        messages: &Sender<Message>,
    ) -> Result<Summary, CommandError> {
        let opened = wire::world().and_then(|world| {
            let locations = wire::locations(&world, databases)?;
            Ok((world, locations))
        });
        let (world, locations) = opened.inspect_err(|_| self.give_up())?;
        let (events, checked) = (messages.clone(), messages.clone());
        let host: Option<Rc<dyn HostSampler>> = self
            .is_leader
            .then(|| Rc::new(LinuxHost::new()) as Rc<dyn HostSampler>);
        let group = Group {
            runtime: world.executor().runtime(),
            plan: self.plan.clone(),
            locations,
            events: Rc::new(move |event| _ = events.send(Message::Event(event))),
            checked: Rc::new(move |(_, bytes)| _ = checked.send(Message::Checked(bytes))),
            commits: (self.commits).map(|file| acknowledge::sink(file, self.coordinator)),
            coordinator: Arc::clone(self.coordinator),
            origin: self.origin,
            is_leader: self.is_leader,
            host,
        };
        Ok(world.executor().block_on(trial::run::run(group)))
    }

    /// Ends the run, and keeps the other threads from waiting for this one.
    fn give_up(&self) {
        self.coordinator.stop(Stop::Failed);
        for barrier in Barrier::ALL {
            self.coordinator.arrive(barrier, Nanos::ZERO);
        }
    }
}
