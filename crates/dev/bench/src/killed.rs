//! The program's own load, dropped mid-work as in a crash: inserts, deletes and replaces of
//! messages with long values, in batches, most of them committed lazily.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device_os::{Backend, World};
use record::Event;
use trial::Coordinator;
use units::{Bytes, Nanos};

use crate::mail::{self, Mail};
use xtask::failure::Failure;

/// Interval between checks of the log.
const LOOK: Nanos = Nanos::from_millis(100);

/// Fills the database in `folder` and runs the load until recovery has a whole `log` to replay.
/// Returns the name of the database file.
pub(crate) fn make(load: Mail, log: Bytes, folder: &Path) -> Result<String, Failure> {
    let plan = load.plan(folder)?;
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(folder).map_err(Failure::of)?;
    let written = Rc::new(Cell::new(Bytes(0)));
    let noted = Rc::clone(&written);
    let runtime = world.executor().runtime();
    let volumes = (Rc::clone(&volume), volume);
    let coordinator = Arc::new(Coordinator::new(1));
    let group = mail::group(&runtime, &plan, volumes, &coordinator, move |event| {
        if let Event::Interval(interval) = event {
            let volumes = interval.databases.iter().map(|of| of.counters.log_volume_bytes);
            noted.set(Bytes(noted.get().0 + volumes.sum::<u64>()));
        }
    });
    let file = group.locations[0].plan.file.clone();
    // The tasks are dropped when this returns; their remaining work is never done.
    world.executor().block_on(async move {
        mail::prepare(&group).await?;
        let run = runtime.spawn(trial::run::run(group));
        while written.get() < log {
            if let Some(ended) = run.take() {
                let failure = ended.failure.map_or_else(String::new, |failure| failure.text);
                return Err(Failure::new(format!("the load ended: {failure}")));
            }
            runtime.sleep(LOOK).await;
        }
        Ok(file)
    })
}
