//! One run of the program's own load in memory and virtual time.

use std::rc::Rc;
use std::sync::Arc;

use device::{Executor, Latency, MemoryVolume, TracedVolume, VirtualReactor, Volume};
use plan::Plan;
use trial::Coordinator;

use crate::account::{Account, LogBytes};
use crate::budget::Totals;
use crate::fidelity::growth;
use crate::fidelity::published::Case;
use crate::mail;
use xtask::failure::Failure;

/// Batches counted once the load has settled.
const BATCHES: u64 = 4_000;

/// Counts of one scene.
pub(super) struct SceneCounts {
    /// Totals counted after the load had settled.
    pub settled: Totals,
    /// Bytes written to log files per byte of log volume, over the whole life of the log.
    pub log_write_factor: f64,
    /// Growth of the database per batch, in bytes, over the whole run.
    pub growth_per_batch: f64,
}

/// Prepares a database and runs the load of the case.
pub(super) fn play(case: &Case) -> Result<SceneCounts, Failure> {
    let plan = plan(case)?;
    let reactor = VirtualReactor::new();
    let database = MemoryVolume::new("data", &reactor, Latency::fixed(case.read_latency));
    let log = MemoryVolume::new("log", &reactor, Latency::fixed(case.log_latency));
    let executor = Executor::new(reactor);
    let runtime = executor.runtime();
    let log_bytes = Rc::new(LogBytes::default());
    let observer = Rc::<LogBytes>::clone(&log_bytes);
    let traced: Rc<dyn Volume> = Rc::new(TracedVolume::new(Rc::new(log), observer));
    let coordinator = Arc::new(Coordinator::new(1));
    let account = Rc::new(Account::new(&plan, &coordinator, BATCHES));
    let noted = Rc::clone(&account);
    let volumes: (Rc<dyn Volume>, _) = (Rc::new(database.clone()), traced);
    let group = mail::group(&runtime, &plan, volumes, &coordinator, move |event| {
        noted.note(event);
    });
    let group = executor.block_on(async move {
        mail::prepare(&group).await?;
        Ok::<_, Failure>(group)
    })?;
    let before = growth::used_bytes(&database, &plan)?;
    let summary = executor.block_on(trial::run::run(group));
    if let Some(failure) = summary.failure {
        return Err(Failure::new(failure.text));
    }
    let grown = growth::used_bytes(&database, &plan)? - before;
    let whole = *account.whole.borrow();
    let settled = *account.settled.borrow();
    Ok(SceneCounts {
        settled,
        log_write_factor: log_bytes.0.get() as f64 / whole.log_volume.max(1) as f64,
        growth_per_batch: grown / whole.batches.max(1) as f64,
    })
}

/// A plan with a sixteenth of the original's cache, a checkpoint depth reduced in proportion, and a
/// database of 32 times the cache.
fn plan(case: &Case) -> Result<Plan, Failure> {
    let text = format!(
        "seed = 1\npreset = \"{}\"\n[databases]\nfolders = [\"data\"]\nsize = \"512MiB\"\n\
         [engine]\ncache_minimum = \"16MiB\"\ncache_maximum = \"16MiB\"\n\
         checkpoint_depth = \"1280KiB\"\n\
         [workload]\nthreads = {}\n\
         [test]\nduration = \"12h\"\ninterval = \"1s\"\nchecksum = false\n",
        case.preset, case.threads,
    );
    Plan::parse("fidelity", &text).map_err(|complaints| Failure::new(complaints.to_string()))
}
