//! What one batch transaction costs in reads, page writes and log, on a database far larger than
//! its cache: counted, not timed, so any machine gives the same answer.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{Observation, Observer, OpKind, Purpose, TracedVolume, Volume};
use device_os::{Backend, World};
use plan::Plan;
use record::{Event, Phase};
use trial::{Coordinator, Stop};
use units::Bytes;

use crate::budget::{Budget, Totals};
use crate::folder;
use crate::mail::{self, Mail};
use xtask::failure::Failure;

/// 32 times the cache.
const LOAD: Mail = Mail {
    database: "1GiB",
    cache: Bytes::from_mib(32),
    checkpoint_depth: None,
    threads: 4,
};

/// The load has settled when its log is twice the checkpoint's depth: by then pages are written
/// for the checkpoint as well as for want of room.
const SETTLED_DEPTHS: u64 = 2;

/// Batches counted after that. Twice as many change no figure by more than one part in a hundred.
const BATCHES: u64 = 4_000;

/// Runs the load in a folder of its own below `directory`, which is removed, and prints every
/// figure beside its limits. Fails where one misses.
pub fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("plimsoll-bench-batch");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = measure(&folder);
    folder::remove(&folder)?;
    let budget = measured?;
    println!("per batch of 16 updates, {LOAD}:");
    print!("{budget}");
    match budget.missed() {
        0 => Ok(()),
        missed => Err(Failure::new(format!(
            "{missed} of 4 figures miss their limits"
        ))),
    }
}

fn measure(folder: &Path) -> Result<Budget, Failure> {
    let failed = |error: device::DeviceError| Failure::new(error.to_string());
    let plan = LOAD.plan(folder)?;
    let world = World::new(Backend::Auto).map_err(failed)?;
    let volume = world.volume(folder).map_err(failed)?;
    let log_bytes = Rc::new(LogBytes::default());
    let observer = Rc::<LogBytes>::clone(&log_bytes);
    let traced: Rc<dyn Volume> = Rc::new(TracedVolume::new(Rc::clone(&volume), observer));
    let coordinator = Arc::new(Coordinator::new(1));
    let account = Rc::new(Account::new(&plan, &coordinator));
    let noted = Rc::clone(&account);
    let runtime = world.executor().runtime();
    let volumes = (volume, traced);
    let group = mail::group(&runtime, &plan, volumes, coordinator, move |event| {
        noted.note(event);
    });
    let summary = world.executor().block_on(async move {
        mail::prepare(&group).await?;
        Ok(trial::run::run(group).await)
    })?;
    if let Some(failure) = summary.failure {
        return Err(Failure::new(failure.text));
    }
    let whole = account.whole.borrow();
    Ok(Budget::new(
        &account.settled.borrow(),
        log_bytes.0.get(),
        whole.log_volume,
    ))
}

/// Adds up what the run tells of itself, and ends it when that is enough.
struct Account {
    settles_at: u64,
    coordinator: Arc<Coordinator>,
    whole: RefCell<Totals>,
    settled: RefCell<Totals>,
}

impl Account {
    fn new(plan: &Plan, coordinator: &Arc<Coordinator>) -> Self {
        Self {
            settles_at: SETTLED_DEPTHS * plan.checkpoint_depth.0,
            coordinator: Arc::clone(coordinator),
            whole: RefCell::default(),
            settled: RefCell::default(),
        }
    }

    fn note(&self, event: &Event) {
        let Event::Interval(interval) = event else {
            return;
        };
        for database in &interval.databases {
            let totals = Totals::of(database);
            let has_settled = self.whole.borrow().log_volume >= self.settles_at;
            *self.whole.borrow_mut() += totals;
            if has_settled && interval.phase == Phase::Measure {
                *self.settled.borrow_mut() += totals;
            }
        }
        if self.settled.borrow().batches >= BATCHES {
            self.coordinator.stop(Stop::Interrupted);
        }
    }
}

/// Bytes written to log files, from the first opening to the last closing: a part cut out of the
/// middle would miss that the file in use at its beginning had been formatted before.
#[derive(Default)]
struct LogBytes(Cell<u64>);

impl Observer for LogBytes {
    fn observe(&self, observation: &Observation) {
        let is_log = matches!(observation.purpose, Purpose::Log | Purpose::LogFormat);
        if is_log && observation.kind == OpKind::Write && observation.ok {
            self.0.set(self.0.get() + observation.length as u64);
        }
    }
}
