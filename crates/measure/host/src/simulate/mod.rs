//! Runs a plan on a simulated array: the database engine itself, on page images in memory, in
//! virtual time.

mod alike;
pub mod arrays;
mod facts;
mod flash_cache;
mod level;
mod measured;
mod operations;
mod pace;
pub mod played;
mod scale;
mod series;
mod storage;
mod trace;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use device::{Executor, VirtualReactor};
use plan::Plan;
use record::{Event, LogLine};
use simdisk::HostProcessors;
use simdisk::operations::OperationProfile;
use trial::run::Group;
use trial::{Coordinator, ProcessorTime, Stop};
use units::Seed;

use crate::error::HostError;
use crate::measure::{Measured, RunFolder, conclude, finished};
use crate::stop::StopFlag;
use crate::system;

use alike::Alike;
pub(crate) use flash_cache::recorded;
pub use level::SimulationLevel;
pub use scale::usual_duration;
use scale::{scaled, scaled_to};
pub use storage::SimulatedStorage;

/// Description of a simulation.
pub struct SimulationOrder<'a> {
    /// The plan as a person wrote it.
    pub plan: &'a Plan,
    /// The array, and how folders lie on it.
    pub storage: &'a SimulatedStorage,
    /// What the operation model makes of the load; none: the engine itself runs.
    pub profile: Option<&'a OperationProfile>,
    /// How long a session rests after a batch, in percent of the batch.
    pub rest_percent: u32,
    /// Seed of the array's streams.
    pub seed: Seed,
    /// The command that simulates it again, without its options.
    pub command: String,
    /// Options that affect the result, each with its value.
    pub options: Vec<(String, String)>,
    /// Words that the run can be found by.
    pub tags: &'a [String],
    /// Where journal and reports are written.
    pub folder: &'a Path,
}

/// Maximum memory of a simulation beyond its images: the engine, its caches, and growth under load.
pub const BYTES_OF_A_SIMULATION: u64 = 2 << 30;

/// How many of `count` simulations run in parallel: as many as the processors and half of the
/// memory permit.
pub fn at_a_time(count: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let memory = system::machine(String::new()).memory_bytes / 2 / BYTES_OF_A_SIMULATION;
    processors.min(count).min(usize::try_from(memory).unwrap_or(1)).max(1)
}

/// Simulates a plan, passes every event to the callback, and writes journal and reports.
pub fn simulate(
    order: &SimulationOrder<'_>,
    stop: &StopFlag,
    told: impl Fn(&Event) + 'static,
) -> Result<Measured, HostError> {
    match order.profile {
        None => simulate_engine(order, stop, told),
        Some(profile) => simulate_operations(order, profile, stop, told),
    }
}

/// The operation model's profile of the load of `plan`, measured from the engine.
pub fn measured_profile(plan: &Plan) -> Result<OperationProfile, HostError> {
    measured::profile(&scaled(plan).0)
}

/// The same by the operation model.
fn simulate_operations(
    order: &SimulationOrder<'_>,
    profile: &OperationProfile,
    stop: &StopFlag,
    told: impl Fn(&Event),
) -> Result<Measured, HostError> {
    let epoch = Executor::new(VirtualReactor::new()).runtime().clock().epoch();
    // Nothing is stored, so that no page can be verified.
    let mut plan = order.plan.clone();
    plan.test.checksum = false;
    let start = facts::start(order, &plan, 1.0, epoch);
    let mut folder = RunFolder::create(order.folder)?;
    let mut written = folder.write(&Event::Start(Box::new(start)));
    let played = operations::play(order, profile, &mut |event| {
        told(&event);
        if written.is_ok() {
            written = folder.write(&event);
        }
        written.is_ok() && !stop.is_set()
    });
    let last = match written.and(played.map_err(HostError::of_design)) {
        Ok(finished) => Event::Finished(finished),
        Err(error) => {
            folder.discard();
            return Err(error);
        }
    };
    let (record, verdict) = conclude(order.folder, folder, [&last].into_iter())?;
    Ok(Measured { record, verdict, storage_owes: false })
}

/// The same by the engine itself.
fn simulate_engine(
    order: &SimulationOrder<'_>,
    stop: &StopFlag,
    told: impl Fn(&Event) + 'static,
) -> Result<Measured, HostError> {
    let alike = Alike::of_engine(order.storage, order.plan);
    let (plan, stretch) = scaled_to(order.plan, alike.simulated.len());
    let world = order
        .storage
        .world(&plan, &alike.simulated, stretch, order.seed)
        .map_err(HostError::of_design)?;
    let runtime = world.executor.runtime();
    let start = facts::start(order, &plan, stretch, runtime.clock().epoch() + runtime.now());
    let journal = SimulatedJournal::create(order.folder, &Event::Start(Box::new(start)))?;
    let coordinator = Arc::new(Coordinator::new(1));
    let (origin, locations) = (runtime.now(), world.locations.clone());
    if let Some(text) = alike.words() {
        journal.add(&Event::Log(LogLine { at_ns: 0, text }));
    }
    let noted = {
        let (journal, coordinator, stop) =
            (journal.clone(), Arc::clone(&coordinator), stop.clone());
        let plan = plan.clone();
        move |event: Event| {
            for event in alike.of_all(&plan, event) {
                told(&event);
                journal.add(&event);
            }
            if stop.is_set() {
                coordinator.stop(Stop::Interrupted);
            }
        }
    };
    let mut group = Group::alone(&runtime, &plan, locations, &coordinator, Rc::new(noted));
    group.rest_percent = order.rest_percent;
    group.is_storage_trusted = true;
    group.settled = world.settled();
    group.flash_cache = world.flash_cache();
    group.processors = HostProcessors::of(&order.storage.array).map(|of| {
        let of = RefCell::new(of);
        Rc::new(move |now, updates| of.borrow_mut().done(now, updates)) as ProcessorTime
    });
    let summary = world.executor.block_on(trial::run::run(group));
    let mut folder = journal.close()?;
    if let Some(failure) = summary.failure.filter(|failure| failure.at_open) {
        folder.discard();
        return Err(HostError::Design(failure.text));
    }
    let at = runtime.now().since(origin);
    let last = Event::Finished(finished(&coordinator, None, at));
    folder.write(&last)?;
    let (record, verdict) = conclude(order.folder, folder, [].into_iter())?;
    Ok(Measured { record, verdict, storage_owes: false })
}

/// The journal, shared with the tasks that write it, until it cannot be written any more.
#[derive(Clone)]
struct SimulatedJournal(Rc<RefCell<(RunFolder, Result<(), HostError>)>>);

impl SimulatedJournal {
    fn create(path: &Path, start: &Event) -> Result<Self, HostError> {
        let mut folder = RunFolder::create(path)?;
        folder.write(start)?;
        Ok(Self(Rc::new(RefCell::new((folder, Ok(()))))))
    }

    fn add(&self, event: &Event) {
        let (folder, written) = &mut *self.0.borrow_mut();
        if written.is_ok() {
            *written = folder.write(event);
        }
    }

    /// The folder; the first error of the journal.
    fn close(self) -> Result<RunFolder, HostError> {
        let inner = Rc::into_inner(self.0);
        let (folder, written) = inner.expect("invariant: all tasks have ended").into_inner();
        written.map(|()| folder)
    }
}
