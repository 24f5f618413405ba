//! The sessions at work on a group's databases; their number changes during the search for the best
//! number.

use std::cell::Cell;
use std::rc::Rc;

use device::{JoinHandle, Runtime};
use plan::Plan;
use units::Nanos;
use workload::MailMix;

use crate::bounds::linger;
use crate::outlast::value_within;
use crate::pace::{LoadHold, Pacer};
use crate::policy::sessions_of_share;
use crate::worker::{Shared, Worker};

/// All sessions of a group.
pub(super) struct Sessions {
    runtime: Runtime,
    databases: Vec<Loaded>,
    /// Sessions asked to end that may still be inside a batch.
    leaving: Vec<JoinHandle<()>>,
}

/// One database under load.
struct Loaded {
    shared: Rc<Shared>,
    /// Its load relative to that of an average database.
    share: f64,
    running: Vec<Running>,
    /// Sessions started so far; each draws a different stream of operations.
    started: u32,
}

struct Running {
    halt: Rc<Cell<bool>>,
    task: JoinHandle<()>,
}

impl Sessions {
    /// Creates an empty set of sessions on `databases` of `plan`; the first session will have
    /// number `first`.
    pub(super) fn new(
        runtime: &Runtime,
        plan: &Plan,
        databases: &[Rc<Shared>],
        first: u32,
    ) -> Self {
        let idle = databases.iter().map(|shared| Loaded {
            shared: Rc::clone(shared),
            share: plan.share(&plan.databases[shared.index() as usize]),
            running: Vec::new(),
            started: first,
        });
        Self { runtime: runtime.clone(), databases: idle.collect(), leaving: Vec::new() }
    }

    /// Stops sessions from beginning batches until the load is held at a target.
    pub(super) fn rest(&self) {
        for Loaded { shared, .. } in &self.databases {
            shared.hold.set(LoadHold::Closed);
        }
    }

    /// Whether a session is inside a batch.
    pub(super) fn are_at_work(&self) -> bool {
        self.databases.iter().any(|loaded| loaded.shared.under_way.get() > 0)
    }

    /// Holds each database at `target_iops` scaled by its weight (1 on average) and by the
    /// `percent` given for its index.
    pub(super) fn hold(&self, target_iops: f64, percent: impl Fn(u32) -> u32) {
        for loaded in &self.databases {
            loaded.hold(target_iops, percent(loaded.shared.index()), &self.runtime);
        }
    }

    /// The same for the database `index` alone, if it is loaded here.
    pub(super) fn hold_one(&self, index: u32, target_iops: f64, percent: u32) {
        let own = self.databases.iter().filter(|loaded| loaded.shared.index() == index);
        own.for_each(|loaded| loaded.hold(target_iops, percent, &self.runtime));
    }

    /// Asks the sessions of every database that has begun more than `generations` of its log to
    /// end; returns the number of databases still loaded.
    pub(super) fn end_beyond(&self, generations: u64) -> usize {
        let (done, at_work): (Vec<_>, Vec<_>) = self
            .databases
            .iter()
            .partition(|loaded| loaded.shared.database.counters().log_generations > generations);
        for running in done.iter().flat_map(|loaded| &loaded.running) {
            running.halt.set(true);
        }
        at_work.len()
    }

    /// Sets the session count to `count` for a database of average weight. Surplus sessions end
    /// after their current batch.
    pub(super) fn set(&mut self, count: u32, plan: &Plan) {
        for database in &mut self.databases {
            let count = sessions_of_share(count, database.share);
            while (database.running.len() as u64) < u64::from(count) {
                let running = database.start(&self.runtime, plan);
                database.running.push(running);
            }
            for surplus in database.running.drain(count as usize..) {
                surplus.halt.set(true);
                self.leaving.push(surplus.task);
            }
            if let LoadHold::At(pacer) = database.shared.hold.get() {
                database.shared.hold.set(LoadHold::At(pacer.for_sessions(count)));
            }
        }
    }

    /// The same, but waits a while for surplus sessions.
    pub(super) async fn set_and_settle(&mut self, count: u32, plan: &Plan) {
        self.set(count, plan);
        self.settle(Some(linger(plan))).await;
    }

    /// Waits for the ending sessions, for at most `longest` if given.
    pub(super) async fn settle(&mut self, longest: Option<Nanos>) {
        let began = self.runtime.now();
        while let Some(mut leaving) = self.leaving.pop() {
            let Some(longest) = longest else {
                leaving.await;
                continue;
            };
            let left = longest.since(self.runtime.now().since(began));
            if value_within(&self.runtime, &mut leaving, left).await.is_none() {
                self.leaving.push(leaving);
                return;
            }
        }
    }
}

impl Loaded {
    fn hold(&self, target_iops: f64, percent: u32, runtime: &Runtime) {
        let own_iops = target_iops * self.share * f64::from(percent) / 100.0;
        let hold = if own_iops > 0.0 {
            let requests = self.shared.meter.requests();
            let sessions = u32::try_from(self.running.len()).expect("invariant: few sessions");
            LoadHold::At(Pacer::new(own_iops, sessions, requests, runtime.now()))
        } else {
            LoadHold::Closed
        };
        self.shared.hold.set(hold);
    }

    fn start(&mut self, runtime: &Runtime, plan: &Plan) -> Running {
        let halt = Rc::new(Cell::new(false));
        let mix = MailMix::new(plan.seed, self.shared.index(), self.started, &plan.workload);
        self.started += 1;
        let worker = Worker::new(&self.shared, Box::new(mix), &halt);
        Running { halt, task: runtime.spawn(worker.work()) }
    }
}
