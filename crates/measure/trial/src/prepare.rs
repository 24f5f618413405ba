//! Fills databases from the seed, as fast as the storage takes them.
//!
//! [`preflight`] checks every target before anything is written and refuses files it must not
//! touch; [`prepare`] then fills one group of databases. A database counts only once its manifest
//! says that it is complete, so an interrupted fill is started over and a complete one is kept.

mod error;
mod owner;
mod preflight;
mod source;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::sync::Arc;

use device::{Boxed, Runtime};
use engine::bulk::{self, Amount, BulkError, BulkOptions};
use ese::page::PageSize;
use ese::{LogTime, Signature};
use plan::Plan;
use units::{Bytes, Nanos};
use workload::Content;

use crate::Sink;
use crate::coordinator::{Coordinator, Stop};
use crate::in_flight::InFlight;
use crate::location::Location;
use crate::manifest::{self, Manifest, ManifestState};
use crate::messages::definition;
use crate::outlast::outlast;

pub use error::PrepareError;
pub use preflight::{Action, Complete, FillTarget, preflight};

/// Progress of preparing one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its index in the plan.
    pub database: u32,
    /// Time on the group's clock.
    pub at: Nanos,
    /// Bytes of finished pages.
    pub bytes: Bytes,
    /// Bytes of the whole file.
    pub total: Bytes,
    /// Messages so far.
    pub rows: u64,
    /// Whether the database is complete.
    pub is_complete: bool,
    /// Whether it was newly filled on space with remains of deleted files, so that the fill has
    /// written every byte. False while it is incomplete.
    pub written_whole: bool,
}

/// Prepares the databases of one executor thread concurrently. `coordinator` may ask to stop;
/// everything unfinished is then left for the next time.
pub fn prepare<'a>(
    runtime: &'a Runtime,
    plan: &'a Plan,
    targets: Vec<FillTarget>,
    coordinator: &'a Arc<Coordinator>,
    progress: &'a Sink<Progress>,
) -> Boxed<'a, Result<(), PrepareError>> {
    Box::pin(async move {
        let in_flight = Rc::new(InFlight::new(runtime.clock()));
        let mut fills = Vec::new();
        for target in targets {
            let one = prepare_one(
                runtime.clone(),
                plan.clone(),
                followed(target, &in_flight),
                Arc::clone(coordinator),
                Rc::clone(progress),
            );
            fills.push(runtime.spawn(one));
        }
        let mut all = runtime.spawn(async move {
            let mut outcome = Ok(());
            for fill in fills {
                outcome = outcome.and(fill.await);
            }
            outcome
        });
        let outcome = outlast(runtime, coordinator, plan.test.give_up, &mut all, |moment| {
            let late = moment.map_or_else(Vec::new, |moment| in_flight.asked_before(moment));
            (!late.is_empty()).then_some(late)
        });
        outcome.await.unwrap_or_else(|late| {
            coordinator.stop(Stop::Failed);
            let now = runtime.now();
            let sentences: Vec<_> = late.iter().map(|open| open.sentence(now)).collect();
            Err(PrepareError::Unanswered { what: sentences.join("; ") })
        })
    })
}

/// The target, with its requests registered in `in_flight`.
fn followed(target: FillTarget, in_flight: &Rc<InFlight>) -> FillTarget {
    let location = target.location.observed_by(Rc::<InFlight>::clone(in_flight));
    FillTarget { location, ..target }
}

async fn prepare_one(
    runtime: Runtime,
    plan: Plan,
    target: FillTarget,
    coordinator: Arc<Coordinator>,
    progress: Sink<Progress>,
) -> Result<(), PrepareError> {
    let FillTarget { location, action } = target;
    if action == Action::Keep {
        let kept = manifest::read(&location).await?;
        let kept = kept.ok_or_else(|| Manifest::absent(&location))?;
        tell_complete(&runtime, &kept, false, &progress);
        return Ok(());
    }
    if action == Action::Restart {
        preflight::clear(&location).await?;
    }
    if action == Action::Reset {
        preflight::clear_log(&location).await?;
    }
    owner::write(&location).await?;
    let mut manifest = Manifest::filling(&plan, &location);
    manifest::write(&location, &manifest).await?;
    if action == Action::Reset {
        // After the manifest: if this is interrupted, the remains are recognised as a fill's.
        preflight::clear(&location).await?;
    }
    let signature = signature(&runtime, &plan, location.plan.index);
    let filled = fill(&runtime, &plan, &location, signature, &coordinator, &progress).await;
    // A failure here stops all groups: the fill as a whole can no longer succeed.
    let summary = filled.inspect_err(|_| coordinator.stop(Stop::Failed))?;
    if coordinator.stopped().is_some() {
        return Err(PrepareError::Interrupted { file: location.path() });
    }
    manifest.state = ManifestState::Complete;
    manifest.rows = summary.rows;
    manifest.file_bytes = summary.bytes.0;
    manifest.signature = manifest::digits(signature);
    manifest::write(&location, &manifest).await?;
    tell_complete(&runtime, &manifest, summary.written_whole, &progress);
    Ok(())
}

async fn fill(
    runtime: &Runtime,
    plan: &Plan,
    location: &Location,
    signature: Signature,
    coordinator: &Arc<Coordinator>,
    progress: &Sink<Progress>,
) -> Result<bulk::BulkSummary, PrepareError> {
    let index = location.plan.index;
    let page_size = usize::try_from(plan.page_size.0).ok().and_then(PageSize::from_bytes);
    let mut options = BulkOptions::new(definition(), signature);
    options.page_size = page_size.expect("invariant: a plan's page size is one of the format's");
    options.amount = Amount::File(plan.size);
    let mut source = source::Source::new(
        Content::new(plan.seed, index, &plan.workload),
        Arc::clone(coordinator),
    );
    let (volume, file) = (&location.database, &location.plan.file);
    let filled = bulk::load(runtime, volume, file, &options, &mut source, |step| {
        progress(Progress {
            database: index,
            at: runtime.now(),
            bytes: step.bytes,
            total: plan.size,
            rows: step.rows,
            is_complete: false,
            written_whole: false,
        });
    });
    filled.await.map_err(|error| match error {
        BulkError::BrokenOff { .. } => PrepareError::Interrupted { file: location.path() },
        error => PrepareError::Fill { file: location.path(), problem: error.to_string() },
    })
}

fn tell_complete(
    runtime: &Runtime,
    manifest: &Manifest,
    written_whole: bool,
    progress: &Sink<Progress>,
) {
    progress(Progress {
        database: manifest.database,
        at: runtime.now(),
        bytes: Bytes(manifest.file_bytes),
        total: Bytes(manifest.file_bytes),
        rows: manifest.rows,
        is_complete: true,
        written_whole,
    });
}

/// A unique database signature, from the seed and the time.
fn signature(runtime: &Runtime, plan: &Plan, index: u32) -> Signature {
    let clock = runtime.clock();
    let moment = clock.epoch() + clock.now();
    let seed = plan.seed.derive(u64::from(index)).derive(moment.0);
    let [a, b, c, d, ..] = seed.0.to_le_bytes();
    let created = LogTime::from_unix_millis(moment.0 / 1_000_000);
    Signature::new(u32::from_le_bytes([a, b, c, d]), created)
}
