//! Simulations of sweeps on this host: each thread takes one item at a time from the fleet's queue,
//! and never during a test.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use carrier::{Carrier, ServerAccess, WorkItem};
use fleet::{
    AgentJob, AgentStep, ItemStep, SimulationItem, SimulationOutcome, SimulationResult, decode,
    encode, item_step,
};
use host::{StopFlag, crew};

use console::error::CommandError;
use designs::simulate::item::{LoadProfiles, build, figures};

/// Longest wait for an item.
const PATIENCE: Duration = Duration::from_secs(2);

/// Interval between checks for a queue, or for the end of a test.
const LOOK: Duration = Duration::from_millis(500);

/// Delay before an item that this host returned to the queue is redelivered.
const OTHERS_FIRST: Duration = Duration::from_secs(5);

/// The threads that simulate.
pub(super) struct Simulations {
    is_testing: Arc<AtomicBool>,
}

/// State of one simulating thread.
struct Simulator {
    carrier: Carrier,
    folder: PathBuf,
    host: String,
    is_testing: Arc<AtomicBool>,
    stop: StopFlag,
    profiles: LoadProfiles,
}

impl Simulations {
    /// Starts `count` threads, which work in subfolders of `folder`.
    pub(super) fn start(
        (count, host): (u32, &str),
        access: &ServerAccess,
        folder: &std::path::Path,
        stop: &StopFlag,
    ) -> Result<Self, CommandError> {
        let is_testing = Arc::new(AtomicBool::new(false));
        for number in 0..count {
            let folder = folder.join(format!("simulation-{number}"));
            let (carrier, host) = (Carrier::connect(access)?, host.to_owned());
            let (is_testing, stop) = (Arc::clone(&is_testing), stop.clone());
            let profiles = LoadProfiles::default();
            let mut simulator = Simulator { carrier, folder, host, is_testing, stop, profiles };
            crew::start_thread("simulation", move || simulator.work())?;
        }
        Ok(Self { is_testing })
    }

    /// Notes the agent's current job.
    pub(super) fn look_at(&self, job: Option<&AgentJob>) {
        let is_over =
            |step: &AgentStep| matches!(step, AgentStep::Ended { .. } | AgentStep::Failed { .. });
        self.is_testing.store(job.is_some_and(|job| !is_over(&job.step)), Ordering::Relaxed);
    }
}

impl Simulator {
    fn work(&mut self) {
        while !self.stop.is_set() {
            // Without a sweep there is no queue, and a lost server comes back.
            let Ok(queue) = self.carrier.work_queue() else {
                thread::sleep(LOOK);
                continue;
            };
            while !self.stop.is_set() {
                if self.is_testing.load(Ordering::Relaxed) {
                    thread::sleep(LOOK);
                    continue;
                }
                match self.carrier.next_work(&queue, PATIENCE) {
                    Ok(Some(work)) => self.take(&work),
                    Ok(None) => {}
                    Err(_) => break,
                }
            }
        }
    }

    /// Processes an item. An item that cannot be completed is redelivered, to this agent or
    /// another.
    fn take(&mut self, work: &WorkItem) {
        let Ok(item) = decode::<SimulationItem>(&work.bytes) else {
            console::complain("an item of the queue is no simulation; it was taken off");
            let _ = work.done(&self.carrier);
            return;
        };
        match item_step(&item, &build(), self.is_testing.load(Ordering::Relaxed)) {
            ItemStep::Simulate => self.simulate(&item, work),
            ItemStep::LaterForTest => {
                let _ = work.give_back(&self.carrier, OTHERS_FIRST);
            }
            ItemStep::OtherBuild { why } => {
                console::complain(&why);
                let _ = work.give_back(&self.carrier, OTHERS_FIRST);
            }
        }
    }

    fn simulate(&mut self, item: &SimulationItem, work: &WorkItem) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let (carrier, profiles) = (&self.carrier, &mut self.profiles);
        let place = (self.folder.as_path(), &self.stop);
        let found = beside(|| figures(item, profiles, place), || drop(work.still_at_it(carrier)));
        if self.stop.is_set() {
            let _ = work.give_back(&self.carrier, Duration::ZERO);
            return;
        }
        let outcome = found.map_or_else(failed, SimulationOutcome::Figures);
        let result = SimulationResult { key: item.key.clone(), host: self.host.clone(), outcome };
        // The item leaves the queue only once its result is kept.
        if self.carrier.keep_result(&item.key, encode(&result)).is_ok() {
            let _ = work.done(&self.carrier);
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_or_else` takes")]
fn failed(error: CommandError) -> SimulationOutcome {
    let why = error.told().map_or_else(String::new, |(text, _)| text.to_owned());
    SimulationOutcome::Failed { why }
}

/// Runs `work`, and `now_and_then` alongside it: often enough that the server does not consider the
/// agent lost.
fn beside<T>(work: impl FnOnce() -> T, now_and_then: impl Fn() + Sync) -> T {
    let is_done = AtomicBool::new(false);
    let between = Carrier::lost_after() / 5;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut waited = Duration::ZERO;
            while !is_done.load(Ordering::Relaxed) {
                thread::sleep(LOOK / 10);
                waited += LOOK / 10;
                if waited >= between {
                    waited = Duration::ZERO;
                    now_and_then();
                }
            }
        });
        let done = work();
        is_done.store(true, Ordering::Relaxed);
        done
    })
}
