//! Runs a plan on a simulated array: the database engine itself, on page images in memory, in
//! virtual time.

mod alike;
pub mod arrays;
mod engine_run;
mod facts;
mod flash_cache;
mod level;
mod measured;
mod memo;
mod operations;
mod pace;
pub mod played;
mod scale;
mod scan;
mod series;
mod storage;
mod together;
mod trace;

use std::path::Path;
use std::thread;

use device::{Executor, VirtualReactor};
use plan::Plan;
use record::{Event, Start};
use simdisk::operations::OperationProfile;
use units::Seed;

use crate::error::HostError;
use crate::measure::{Measured, RunFolder, conclude};
use crate::stop::StopFlag;
use crate::system;

use engine_run::{EngineRun, SimulatedJournal};
pub(crate) use flash_cache::recorded;
pub use level::SimulationLevel;
use memo::Memo;
use played::as_judged_part;
use scale::scaled;
pub use scale::usual_duration;
pub use scan::scan;
pub use storage::SimulatedStorage;
pub use together::{SharedHost, simulate_together};

/// Description of a simulation.
pub struct SimulationOrder<'a> {
    /// The plan as the user wrote it.
    pub plan: &'a Plan,
    /// The array, and the layout of folders on it.
    pub storage: &'a SimulatedStorage,
    /// The operation model's profile of the load; `None` if the engine itself runs.
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
    /// Destination of the journal and reports.
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
    simulate_marked(order, |start| start, stop, told)
}

/// The same for one host of a deployment whose hosts share nothing.
pub fn simulate_host(
    order: &SimulationOrder<'_>,
    stop: &StopFlag,
    told: impl Fn(&Event) + 'static,
) -> Result<Measured, HostError> {
    simulate_marked(order, as_judged_part, stop, told)
}

fn simulate_marked(
    order: &SimulationOrder<'_>,
    mark: fn(Start) -> Start,
    stop: &StopFlag,
    told: impl Fn(&Event) + 'static,
) -> Result<Measured, HostError> {
    match order.profile {
        None => simulate_engine(order, mark, stop, told),
        Some(profile) => simulate_operations((order, profile), mark, stop, told),
    }
}

/// The operation model's profile of the load of `plan`, measured from the engine.
pub fn measured_profile(plan: &Plan) -> Result<OperationProfile, HostError> {
    static PROFILES: Memo<Plan, OperationProfile> = Memo::new();
    let small = scaled(plan).0;
    PROFILES.of(trace::key(&small, 1), || measured::profile(&small))
}

/// Simulates the order with the operation model.
fn simulate_operations(
    (order, profile): (&SimulationOrder<'_>, &OperationProfile),
    mark: fn(Start) -> Start,
    stop: &StopFlag,
    told: impl Fn(&Event),
) -> Result<Measured, HostError> {
    let epoch = Executor::new(VirtualReactor::new()).runtime().clock().epoch();
    // Nothing is stored, so that no page can be verified.
    let mut plan = order.plan.clone();
    plan.test.checksum = false;
    let start = mark(facts::start(order, &plan, 1.0, epoch));
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

/// Simulates the order with the engine itself.
fn simulate_engine(
    order: &SimulationOrder<'_>,
    mark: fn(Start) -> Start,
    stop: &StopFlag,
    told: impl Fn(&Event) + 'static,
) -> Result<Measured, HostError> {
    let run = EngineRun::prepared(order)?;
    let start = mark(facts::start(order, &run.plan, run.stretch, run.epoch()));
    let journal = SimulatedJournal::create(order.folder, &Event::Start(Box::new(start)))?;
    let noted = journal.clone();
    let ended = run.play(order, stop, move |event| {
        told(event);
        noted.add(event);
    });
    journal.end(order.folder, ended)
}
