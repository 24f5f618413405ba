//! One group of databases through the phases of a run: open, warm, tune, measure, drain, check; or
//! open and one read pass; or open, generate logs, replay, check.
//!
//! Every group of a run executes [`run`] on its own thread; the [`Coordinator`] holds each at the
//! end of a phase until all have arrived, so that every database is loaded while any is measured.

mod backup_copy;
mod check;
mod copy;
pub(crate) mod failure;
mod hung;
mod open;
mod reading;
mod recovery;
mod replay;
mod resumed;
mod sessions;
mod standstill;
mod steps;
#[cfg(test)]
mod tests;
mod tuning;
mod undone;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use device::{Boxed, Runtime};
use plan::Plan;
use record::{Edge, Event, LogLine, Phase, PhaseMark};
use units::Nanos;

use crate::Sink;
use crate::bounds::{self, RunStage};
use crate::commits::CommitStep;
use crate::coordinator::{Barrier, Coordinator, Member, Stop};
use crate::host_sampler::HostSampler;
use crate::location::Location;
use crate::outlast::value_within;
use crate::policy;
pub use crate::sampler::FlashCacheReading;
use crate::sampler::{Sampled, Sampler};
use crate::worker::ProcessorTime;
pub use failure::Failure;
use open::Opened;
pub use open::growth;
use reading::Reading;
pub use resumed::{ResumedRun, is_opened_since};
use sessions::Sessions;

/// Delay between all groups being warm and the start of the measurement, so that every group has
/// noticed.
const SETTLE: Nanos = Nanos::from_millis(50);

/// Interval between checks of the load.
const LOOK: Nanos = Nanos::from_millis(50);

/// One thread's share of a run.
pub struct Group {
    /// Clock and tasks of the thread.
    pub runtime: Runtime,
    /// The plan.
    pub plan: Plan,
    /// The databases of this group.
    pub locations: Vec<Location>,
    /// Receives events.
    pub events: Sink<Event>,
    /// Receives the progress of passes over whole databases, and of replays of their logs: database
    /// and bytes read.
    pub checked: Sink<(u32, u64)>,
    /// Observer of commits, if any.
    pub commits: Option<Sink<CommitStep>>,
    /// The group's place among the others.
    pub member: Rc<Member>,
    /// The run's zero on the clock.
    pub origin: Nanos,
    /// The leading group announces the phases and samples the machine.
    pub is_leader: bool,
    /// Pause of a session after a batch, in percent of the batch's duration. 0 loads the storage
    /// fully; 100 matches the published sessions of Jetstress 2010, which are busy half of the
    /// time.
    pub rest_percent: u32,
    /// When simulated processors finish a transaction. `None` if the processors are the machine's,
    /// or take no time.
    pub processors: Option<ProcessorTime>,
    /// Whether simulated storage has settled under the load, so that it may be measured. `None` for
    /// storage that cannot report this.
    pub settled: Option<StorageSettled>,
    /// Reads the counters of the flash cache in front of the databases, if there is one.
    pub flash_cache: Option<FlashCacheReading>,
    /// Whether pages that the load reads are not verified; see [`engine::Verification::Trusted`].
    /// Passes over whole databases always verify them.
    pub is_storage_trusted: bool,
    /// State of a run that resumes here.
    pub resumed: Option<ResumedRun>,
    /// Machine activity, if available. Sampled by the leading group.
    pub host: Option<Rc<dyn HostSampler>>,
}

/// Whether storage has settled at a given time. Called until it has.
pub type StorageSettled = Rc<dyn Fn(Nanos) -> bool>;

/// How a group's share of a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Number of issues, recorded or only counted.
    pub issues: u32,
    /// Why a database could not continue, if any could not.
    pub failure: Option<Failure>,
    /// Whether requests were abandoned that the storage may still be working on: dropping their
    /// reactor would wait for them, so it must be leaked.
    pub gave_up: bool,
}

/// Runs a group's share. Never fails as a whole: failures are issues in the record.
pub fn run(group: Group) -> Boxed<'static, RunSummary> {
    Box::pin(async move {
        let group = Rc::new(group);
        let opened: Vec<Opened> =
            group.locations.iter().map(|at| open::followed(&group, at)).collect();
        let sampler = Rc::new(RefCell::new(group.sampler()));
        let phases = phases(Rc::clone(&group), opened.clone(), Rc::clone(&sampler));
        let phases = group.runtime.spawn(phases);
        let gave_up = group.outlast(&opened, &sampler, phases).await;
        for opened in &opened {
            opened.meter.note_unanswered();
            opened.tell_what_came(&group);
        }
        let failures = opened.iter().filter_map(|opened| opened.issue_recorder.fatal());
        RunSummary {
            issues: opened.iter().map(|opened| opened.issue_recorder.count()).sum(),
            failure: failures.into_iter().next(),
            gave_up,
        }
    })
}

/// All phases of a run, one after the other.
async fn phases(group: Rc<Group>, opened: Vec<Opened>, sampler: Rc<RefCell<Sampler>>) {
    group.open(&opened).await;
    if let Some(reading) = Reading::of(group.plan.test.kind) {
        group.pass_over(&Barrier::ALL[Barrier::Warm as usize..Barrier::Replayed as usize]);
        return group.pass(reading, &opened, sampler).await;
    }
    if group.plan.test.is_recovery() {
        return group.recovery(&opened, sampler).await;
    }
    let loaded = group.load(&opened, sampler).await;
    group.drain(&opened, loaded).await;
    group.pass_over(&[Barrier::Replayed]);
    group.read((Reading::AfterLoad, Barrier::Checked), &opened, None).await;
}

/// The load of a group while it runs.
struct GroupLoad {
    sessions: Sessions,
    sampler: Rc<RefCell<Sampler>>,
}

impl Group {
    /// Runs everything in one group, which reports only `events`.
    pub fn alone(
        runtime: &Runtime,
        plan: &Plan,
        locations: Vec<Location>,
        coordinator: &Arc<Coordinator>,
        events: Sink<Event>,
    ) -> Self {
        Self {
            runtime: runtime.clone(),
            plan: plan.clone(),
            locations,
            events,
            checked: Rc::new(|_| ()),
            commits: None,
            member: Rc::new(Member::new(coordinator)),
            origin: runtime.now(),
            is_leader: true,
            rest_percent: 0,
            processors: None,
            settled: None,
            flash_cache: None,
            is_storage_trusted: false,
            resumed: None,
            host: None,
        }
    }

    fn sampler(&self) -> Sampler {
        Sampler::new(
            &self.runtime,
            self.coordinator(),
            &self.events,
            self.origin,
            self.host.clone().filter(|_| self.is_leader),
            self.flash_cache.clone(),
        )
    }

    fn coordinator(&self) -> &Arc<Coordinator> {
        self.member.coordinator()
    }

    /// Starts the time limit that the plan gives to `part`.
    fn enter(&self, part: RunStage) {
        let whole = bounds::longest(&self.plan, part);
        self.member.countdown.begin(part, whole, self.runtime.now());
    }

    async fn open(&self, all: &[Opened]) {
        self.enter(RunStage::Opening);
        self.begin(Phase::Open, all);
        for opened in all {
            opened.open(self).await;
            if opened.issue_recorder.fatal().is_some() {
                self.coordinator().stop(Stop::Failed);
            }
        }
        self.member.meet(Barrier::Opened, &self.runtime).await;
        self.member.countdown.stop();
        self.end(Phase::Open, all);
    }

    /// Warms up and measures; `None` if a database could not be opened, the user has already asked
    /// to stop, or a resumed run has nothing left to measure.
    async fn load(&self, opened: &[Opened], sampler: Rc<RefCell<Sampler>>) -> Option<GroupLoad> {
        let has_been_measured = self.plan.test.duration == Nanos::ZERO;
        if has_been_measured || self.coordinator().stopped().is_some() {
            self.pass_over(&[Barrier::Warm, Barrier::Tuned]);
            return None;
        }
        self.begin(Phase::Warm, opened);
        let mut load = self.start(opened, sampler, Phase::Warm);
        let is_held = policy::held_from_start(&self.plan).is_some();
        if let Some(target_iops) = policy::target_of_a_database(&self.plan).filter(|_| is_held) {
            self.hold(&load, target_iops, Nanos::ZERO);
        }
        self.warm(opened, &load.sampler).await;
        self.member.meet(Barrier::Warm, &self.runtime).await;
        load.sampler.borrow_mut().sample(Phase::Warm);
        self.end(Phase::Warm, opened);
        let target_iops = self.tune(opened, &mut load).await;
        if target_iops.is_some() && !is_held {
            self.rest(opened, &load).await;
        }
        let tuned = self.member.meet(Barrier::Tuned, &self.runtime).await;
        if let Some(begin) = self.coordinator().begin(tuned + SETTLE, &self.runtime).await {
            self.runtime.sleep_until(begin).await;
        }
        // Waking up late must not shorten the measurement.
        let measured_from = self.runtime.now();
        let steps_from = self.coordinator().load_steps().origin(measured_from);
        if let Some(target_iops) = target_iops {
            // The measurement does not make up the backlog left by cold caches.
            self.hold(&load, target_iops, measured_from.since(steps_from));
        }
        load.sampler.borrow_mut().skip();
        if self.coordinator().stopped().is_none() {
            self.begin(Phase::Measure, opened);
            self.measure(opened, measured_from, (&load, target_iops)).await;
            self.end(Phase::Measure, opened);
        }
        Some(load)
    }

    /// Lets batches that began without a pace end: their requests are not part of a held load.
    /// Batches that take too long become part of it.
    async fn rest(&self, opened: &[Opened], load: &GroupLoad) {
        load.sessions.rest();
        let deadline = self.runtime.now() + bounds::linger(&self.plan);
        while load.sessions.are_at_work()
            && self.runtime.now() < deadline
            && !self.ends_early(opened)
        {
            self.runtime.sleep(LOOK).await;
        }
    }

    /// Arrives at the barriers of phases that this test does not have.
    fn pass_over(&self, barriers: &[Barrier]) {
        for barrier in barriers {
            self.member.arrive(*barrier, self.runtime.now());
        }
    }

    /// Starts the sessions of every database, in `phase`.
    fn start(&self, opened: &[Opened], sampler: Rc<RefCell<Sampler>>, phase: Phase) -> GroupLoad {
        let live: Vec<_> = opened.iter().filter_map(|opened| opened.share(self)).collect();
        let sampled = live.iter().map(|shared| Sampled {
            index: shared.index(),
            database: Some(shared.database.clone()),
            meter: Rc::clone(&shared.meter),
        });
        sampler.borrow_mut().begin(sampled.collect(), phase);
        let count = policy::sessions_per_database(&self.plan);
        let is_weighted = self.plan.weight(&self.plan.databases[0]).is_some();
        let each = if is_weighted { "for one of average weight" } else { "each" };
        if self.is_leader {
            let databases = units::plural(self.plan.databases.len() as u64, "database");
            let sessions = units::plural(count.into(), "session");
            self.log(format!("{databases}, {sessions} {each}{}", bound_of_load(&self.plan)));
        }
        let mut sessions = Sessions::new(&self.runtime, &self.plan, &live, self.first_session());
        sessions.set(count, &self.plan);
        GroupLoad { sessions, sampler }
    }

    /// Waits until every cache of the group is filled and its storage has settled, or until the
    /// time limit.
    async fn warm(&self, opened: &[Opened], sampler: &RefCell<Sampler>) {
        let began = self.runtime.now();
        let deadline = began + self.plan.test.warm_up_limit;
        let mut sampled = began;
        loop {
            let cold = opened.iter().filter(|opened| !opened.is_warm(&self.plan));
            let cold = cold.count();
            let now = self.runtime.now();
            let is_settled = self.settled.as_ref().is_none_or(|settled| settled(now));
            if cold == 0 && is_settled || self.ends_early(opened) {
                return;
            }
            if now >= deadline {
                let settled = if is_settled { "" } else { ", storage not settled" };
                let text = "warm-up limit reached with";
                self.log(format!("{text} {cold} caches below 90 percent{settled}"));
                return;
            }
            if now.since(sampled) >= self.plan.test.interval {
                sampler.borrow_mut().sample(Phase::Warm);
                sampled = now;
            }
            self.runtime.sleep(LOOK).await;
        }
    }

    async fn measure(
        &self,
        opened: &[Opened],
        from: Nanos,
        (load, target_iops): (&GroupLoad, Option<f64>),
    ) {
        let (test, sampler) = (&self.plan.test, &load.sampler);
        let steps_from = self.coordinator().load_steps().origin(from);
        let mut taken = from.since(steps_from);
        // After the program was stopped, it may have missed the ends of several samples: they
        // become one.
        while let Some(end) =
            policy::sample_end(from, test.duration, test.interval, self.runtime.now())
        {
            while self.runtime.now() < end {
                if self.ends_early(opened) {
                    sampler.borrow_mut().sample(Phase::Measure);
                    return;
                }
                let next = (self.runtime.now() + LOOK).min(end);
                self.runtime.sleep_until(next).await;
                let now = self.runtime.now().since(steps_from);
                self.take_steps(load, target_iops, (taken, now));
                taken = now;
            }
            sampler.borrow_mut().sample(Phase::Measure);
            // A crash would lose values that are only reported at the end.
            for opened in opened {
                opened.tell_what_came(self);
            }
        }
    }

    /// Whether the load must end now; notifies the other groups if this one has failed.
    fn ends_early(&self, opened: &[Opened]) -> bool {
        for opened in opened {
            opened.look_after_files(self);
        }
        if opened.iter().any(|opened| opened.issue_recorder.fatal().is_some()) {
            self.coordinator().stop(Stop::Failed);
        }
        self.coordinator().stopped().is_some()
    }

    /// Ends the sessions and closes the databases.
    async fn drain(self: &Rc<Self>, opened: &[Opened], load: Option<GroupLoad>) {
        self.enter(RunStage::Finishing);
        self.begin(Phase::Drain, opened);
        let sampler = load.as_ref().map(|load| Rc::clone(&load.sampler));
        let (group, all) = (Rc::clone(self), opened.to_vec());
        let closing = async move {
            if let Some(mut load) = load {
                load.sessions.set(0, &group.plan);
                load.sessions.settle(None).await;
            }
            group.member.meet(Barrier::Measured, &group.runtime).await;
            for opened in all {
                opened.close(&group).await;
            }
        };
        self.sampled(sampler.as_deref(), Phase::Drain, closing).await;
        self.member.meet(Barrier::Drained, &self.runtime).await;
        self.end(Phase::Drain, opened);
    }

    /// Waits for the end of `work`; samples the phase meanwhile and once more at the end.
    async fn sampled(
        &self,
        sampler: Option<&RefCell<Sampler>>,
        phase: Phase,
        work: impl Future<Output = ()> + 'static,
    ) {
        let mut work = self.runtime.spawn(work);
        let mut is_done = false;
        while !is_done {
            is_done =
                value_within(&self.runtime, &mut work, self.plan.test.interval).await.is_some();
            if let Some(sampler) = sampler {
                sampler.borrow_mut().sample(phase);
            }
        }
    }

    /// The test that consists of one pass over the databases; any copies it makes of them are read
    /// back once all are made.
    async fn pass(
        self: &Rc<Self>,
        reading: Reading,
        opened: &[Opened],
        sampler: Rc<RefCell<Sampler>>,
    ) {
        self.read((reading, Barrier::Replayed), opened, Some(Rc::clone(&sampler))).await;
        let mut databases = self.plan.databases.iter();
        if databases.any(|database| self.plan.backup_folder(database).is_some()) {
            self.read((Reading::Copies, Barrier::Checked), opened, Some(sampler)).await;
        } else {
            self.pass_over(&[Barrier::Checked]);
        }
    }

    /// Reads every database to its end and verifies every page, with periodic samples if there is a
    /// sampler; ends when all groups have reached `barrier`.
    async fn read(
        self: &Rc<Self>,
        (reading, barrier): (Reading, Barrier),
        opened: &[Opened],
        sampler: Option<Rc<RefCell<Sampler>>>,
    ) {
        let wanted = reading != Reading::AfterLoad || self.plan.test.checksum;
        let wanted = wanted && self.coordinator().stopped().is_none();
        if wanted {
            if reading != Reading::AfterLoad {
                self.enter(RunStage::Passing);
            }
            self.begin(reading.phase(), opened);
            self.read_all(reading, opened, sampler).await;
        }
        self.member.meet(barrier, &self.runtime).await;
        if wanted {
            self.end(reading.phase(), opened);
        }
    }

    /// The reads themselves.
    async fn read_all(
        self: &Rc<Self>,
        reading: Reading,
        opened: &[Opened],
        sampler: Option<Rc<RefCell<Sampler>>>,
    ) {
        if let Some(sampler) = &sampler {
            let unopened = opened.iter().map(Opened::unopened).collect();
            sampler.borrow_mut().begin(unopened, reading.phase());
        }
        let (group, all) = (Rc::clone(self), opened.to_vec());
        let pass = async move { check::check(&group, reading, &all).await };
        self.sampled(sampler.as_deref(), reading.phase(), pass).await;
    }

    fn elapsed(&self) -> u64 {
        self.runtime.now().since(self.origin).0
    }

    fn begin(&self, phase: Phase, opened: &[Opened]) {
        for opened in opened {
            opened.meter.longest().enter(phase);
        }
        self.mark(phase, Edge::Begin);
    }

    fn end(&self, phase: Phase, opened: &[Opened]) {
        for opened in opened {
            opened.tell_what_came(self);
        }
        self.mark(phase, Edge::End);
    }

    fn mark(&self, phase: Phase, edge: Edge) {
        if self.is_leader {
            (self.events)(Event::Phase(PhaseMark { at_ns: self.elapsed(), phase, edge }));
        }
    }

    fn log(&self, text: String) {
        (self.events)(Event::Log(LogLine { at_ns: self.elapsed(), text }));
    }
}

/// What limits the load of a run of `plan`, if not its duration alone.
fn bound_of_load(plan: &Plan) -> String {
    if plan.test.is_recovery() {
        let logs = units::plural(plan.test.replay_logs.into(), "log file");
        return format!(", until each has filled {logs}; what it logs after these is replayed too");
    }
    policy::held_from_start(plan).map_or_else(String::new, |target| {
        format!(", held at {target} IOPS in all from the first request")
    })
}
