//! The program's own load, prepared and run in this process, for benches that inspect its
//! internals.

use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{Runtime, Volume};
use plan::Plan;
use record::Event;
use trial::run::Group;
use trial::{Coordinator, Location};
use units::Bytes;

use xtask::failure::Failure;

/// The database and its load; anything not set here is the program's default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mail {
    /// Size of the database, in a plan's notation.
    pub database: &'static str,
    /// The engine's cache.
    pub cache: Bytes,
    /// `None` for the program's default.
    pub checkpoint_depth: Option<Bytes>,
    /// Number of sessions.
    pub threads: u32,
}

impl fmt::Display for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} under a cache of {}", self.database, self.cache)
    }
}

impl Mail {
    /// A plan of one database in `folder` that runs until it is stopped.
    pub(crate) fn plan(&self, folder: &Path) -> Result<Plan, Failure> {
        let depth = self.checkpoint_depth.map_or_else(String::new, |depth| {
            format!("checkpoint_depth = \"{}MiB\"\n", depth.0 >> 20)
        });
        let cache = self.cache.0 >> 20;
        let text = format!(
            "seed = 1\n[databases]\nfolders = [{:?}]\nsize = \"{}\"\n\
             [engine]\ncache_minimum = \"{cache}MiB\"\ncache_maximum = \"{cache}MiB\"\n{depth}\
             [workload]\nthreads = {}\n\
             [test]\nduration = \"12h\"\ninterval = \"1s\"\n\
             checksum = false\nmaintenance = false\n",
            folder.display().to_string(),
            self.database,
            self.threads,
        );
        Plan::parse("bench", &text).map_err(|complaints| Failure::new(complaints.to_string()))
    }
}

/// A group with the plan's only database, its file on one volume and its log on another; `note`
/// receives every event.
pub(crate) fn group(
    runtime: &Runtime,
    plan: &Plan,
    (database, log): (Rc<dyn Volume>, Rc<dyn Volume>),
    coordinator: &Arc<Coordinator>,
    note: impl Fn(&Event) + 'static,
) -> Group {
    let location = Location {
        plan: plan.databases[0].clone(),
        database,
        log,
        storage: String::new(),
        log_storage: String::new(),
        copies: None,
    };
    Group::alone(runtime, plan, vec![location], coordinator, Rc::new(move |event| note(&event)))
}

/// Fills the databases of a group.
pub(crate) async fn prepare(group: &Group) -> Result<(), Failure> {
    let (plan, locations) = (&group.plan, &group.locations);
    let targets = trial::prepare::preflight(plan, locations, trial::prepare::Complete::Stays).await;
    let targets = targets.map_err(Failure::of)?;
    let alone = Arc::new(Coordinator::new(1));
    let silent = &(Rc::new(|_| ()) as _);
    trial::prepare::prepare(&group.runtime, plan, targets, &alone, silent)
        .await
        .map_err(Failure::of)
}
