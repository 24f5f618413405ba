//! Soft recovery test: a load generates logs under a checkpoint that does not move, every database
//! is abandoned, and all of them replay their logs at the same time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::JoinHandle;
use record::Phase;
use units::Nanos;

use super::open::Opened;
use super::reading::Reading;
use super::standstill::Standstill;
use super::{Group, GroupLoad, LOOK};
use crate::bounds::{self, RunStage};
use crate::coordinator::{Barrier, Stop};
use crate::outlast::value_within;
use crate::sampler::Sampler;

/// Maximum interval between samples of a replay, as in the original.
const REPLAY_INTERVAL: Nanos = Nanos::from_secs(2);

impl Group {
    /// Runs the whole test, starting from open databases.
    pub(super) async fn recovery(
        self: &Rc<Self>,
        opened: &[Opened],
        sampler: Rc<RefCell<Sampler>>,
    ) {
        self.pass_over(&[Barrier::Warm, Barrier::Tuned]);
        let began = self.runtime.now();
        let load = match self.coordinator().stopped() {
            None => Some(self.generate(opened, Rc::clone(&sampler)).await),
            Some(_) => None,
        };
        self.leave(opened, load, began).await;
        self.replay(opened, &sampler).await;
        self.read((Reading::AfterLoad, Barrier::Checked), opened, None).await;
    }

    /// Loads every database until it has as many logs as the plan asks for, or the time is up.
    async fn generate(&self, opened: &[Opened], sampler: Rc<RefCell<Sampler>>) -> GroupLoad {
        self.begin(Phase::Measure, opened);
        let load = self.start(opened, sampler, Phase::Measure);
        let test = &self.plan.test;
        let wanted = u64::from(test.replay_logs);
        let longest = bounds::longest(&self.plan, RunStage::Generating);
        let deadline = self.runtime.now() + longest;
        let mut sample_at = self.runtime.now() + test.interval;
        while load.sessions.end_beyond(wanted) > 0 && !self.ends_early(opened) {
            if self.runtime.now() >= deadline {
                self.tell_unfinished(opened, (RunStage::Generating, longest));
                break;
            }
            if self.runtime.now() >= sample_at {
                load.sampler.borrow_mut().sample(Phase::Measure);
                sample_at = self.runtime.now() + test.interval;
            }
            self.runtime.sleep(LOOK).await;
        }
        load.sampler.borrow_mut().sample(Phase::Measure);
        self.end(Phase::Measure, opened);
        load
    }

    /// Ends the load that started at `began`, and leaves the databases to recovery.
    async fn leave(&self, opened: &[Opened], load: Option<GroupLoad>, began: Nanos) {
        self.enter(RunStage::Finishing);
        self.begin(Phase::Drain, opened);
        let mut sampler = None;
        if let Some(mut load) = load {
            load.sessions.set(0, &self.plan);
            load.sessions.settle(None).await;
            sampler = Some(load.sampler);
        }
        let generated = self.runtime.now().since(began);
        self.member.meet(Barrier::Measured, &self.runtime).await;
        for opened in opened {
            opened.leave(self, generated).await;
        }
        if let Some(sampler) = sampler {
            sampler.borrow_mut().sample(Phase::Drain);
            // The files can be reopened only after all handles to them are closed.
            let unopened = opened.iter().map(Opened::unopened).collect();
            sampler.borrow_mut().begin(unopened, Phase::Recover);
        }
        for opened in opened {
            opened.use_copy(self).await;
        }
        self.member.meet(Barrier::Drained, &self.runtime).await;
        self.end(Phase::Drain, opened);
    }

    /// Replays the logs of all databases, and closes them once all groups have replayed theirs.
    async fn replay(self: &Rc<Self>, opened: &[Opened], sampler: &RefCell<Sampler>) {
        let wanted = self.coordinator().stopped().is_none();
        if wanted {
            self.enter(RunStage::Replaying);
            self.begin(Phase::Recover, opened);
            sampler.borrow_mut().skip();
            self.replay_all(opened, sampler).await;
        }
        self.member.meet(Barrier::Replayed, &self.runtime).await;
        if wanted {
            self.end(Phase::Recover, opened);
        }
        self.enter(RunStage::Finishing);
        for opened in opened {
            opened.close(self).await;
        }
    }

    /// Runs the replays until all have ended, the user asks to stop, or nothing moves.
    async fn replay_all(self: &Rc<Self>, opened: &[Opened], sampler: &RefCell<Sampler>) {
        let generations = Rc::new(Cell::new(0));
        let mut replays = self.start_replays(opened, &generations);
        let interval = self.plan.test.interval.min(REPLAY_INTERVAL);
        let mut still = Standstill::new(self.runtime.now());
        let mut sample_at = self.runtime.now() + interval;
        while value_within(&self.runtime, &mut replays, LOOK).await.is_none() {
            let now = self.runtime.now();
            let requests: u64 = opened.iter().map(|opened| opened.meter.requests()).sum();
            if still.look(now, requests + generations.get(), self.plan.test.give_up) {
                self.tell_standstill(opened);
            }
            if self.coordinator().stopped().is_some() {
                self.log(LEFT.to_owned());
                break;
            }
            if now >= sample_at {
                sampler.borrow_mut().sample(Phase::Recover);
                sample_at = now + interval;
            }
        }
        sampler.borrow_mut().sample(Phase::Recover);
        if opened.iter().any(|opened| opened.issue_recorder.fatal().is_some()) {
            self.coordinator().stop(Stop::Failed);
        }
    }

    /// Starts replays of all databases at the same time.
    fn start_replays(
        self: &Rc<Self>,
        opened: &[Opened],
        generations: &Rc<Cell<u64>>,
    ) -> JoinHandle<()> {
        let mut all = Vec::new();
        for opened in opened {
            let (group, opened) = (Rc::clone(self), opened.clone());
            let generations = Rc::clone(generations);
            all.push(self.runtime.spawn(async move { opened.replay(&group, generations).await }));
        }
        self.runtime.spawn(async move {
            for replay in all {
                replay.await;
            }
        })
    }

    fn tell_standstill(&self, opened: &[Opened]) {
        let now = self.runtime.now();
        for opened in opened.iter().filter(|opened| opened.live.borrow().is_none()) {
            let path = opened.location.path();
            let text = format!("{path}: the replay has stood still for {}", self.plan.test.give_up);
            opened.issue_recorder.stands_still(now, text);
        }
        self.coordinator().stop(Stop::Failed);
    }
}

/// Note for databases whose replay was interrupted.
const LEFT: &str = "the replay was broken off; databases that were not through are recovered when \
                    they are next opened";
