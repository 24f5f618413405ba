//! Cost of one batch transaction in reads, page writes and log, on a database far larger than its
//! cache: counted, not timed, so any machine gives the same answer.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{TracedVolume, Volume};
use device_os::{Backend, World};
use trial::Coordinator;
use units::Bytes;

use crate::account::{Account, LogBytes};
use crate::budget::Budget;
use crate::folder;
use crate::mail::{self, Mail};
use xtask::failure::Failure;

/// The database is 32 times the cache.
const LOAD: Mail =
    Mail { database: "1GiB", cache: Bytes::from_mib(32), checkpoint_depth: None, threads: 4 };

/// Batches counted once the load has settled. Twice as many change no figure by more than 1 %.
const BATCHES: u64 = 4_000;

/// Runs the load in a temporary folder below `directory` and prints every figure next to its
/// limits. Fails if one misses.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
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
        missed => Err(Failure::new(format!("{missed} of 4 figures miss their limits"))),
    }
}

fn measure(folder: &Path) -> Result<Budget, Failure> {
    let plan = LOAD.plan(folder)?;
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(folder).map_err(Failure::of)?;
    let log_bytes = Rc::new(LogBytes::default());
    let observer = Rc::<LogBytes>::clone(&log_bytes);
    let traced: Rc<dyn Volume> = Rc::new(TracedVolume::new(Rc::clone(&volume), observer));
    let coordinator = Arc::new(Coordinator::new(1));
    let account = Rc::new(Account::new(&plan, &coordinator, BATCHES));
    let noted = Rc::clone(&account);
    let runtime = world.executor().runtime();
    let volumes = (volume, traced);
    let group = mail::group(&runtime, &plan, volumes, &coordinator, move |event| {
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
    Ok(Budget::new(&account.settled.borrow(), log_bytes.0.get(), whole.log_volume))
}
