//! Fills the databases of a plan on all processors, with progress; shared by `prepare` and `quick`.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use plan::Plan;
use trial::prepare::{self, Action, PrepareError, Progress, Target};
use trial::{Coordinator, Stop};

use crate::error::CommandError;
use crate::locks::{self, Files, PreparedFolders};
use crate::signals::StopFlag;
use crate::{term, wire};

/// Longest wait before Ctrl-C is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// A database that has been filled, or was complete already.
#[derive(Clone, Debug)]
pub struct Filled {
    /// Its path.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its messages.
    pub rows: u64,
    /// Whether it was there before.
    pub kept: bool,
}

/// What a fill came to.
pub struct Fill {
    /// The databases, in the order of the plan.
    pub databases: Vec<Filled>,
    /// How long it took.
    pub took: Duration,
}

/// Fills what is not there yet. Refuses before anything is written where the target is not empty
/// or too small.
pub fn fill(plan: &Plan, stop: &StopFlag, quiet: bool) -> Result<Fill, CommandError> {
    // From the decision to the last manifest: in between, what was decided on must not change.
    let _folders = PreparedFolders::take(&plan.databases)?;
    locks::wait_for(plan.databases.iter().map(Files::from), quiet);
    let actions = look(plan)?;
    let groups = wire::groups(plan);
    let count = u32::try_from(groups.len()).expect("invariant: as many groups as processors");
    let coordinator = Arc::new(Coordinator::new(count));
    let started = Instant::now();
    let latest = thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let (actions, shared) = (&actions, &coordinator);
        let work = move |_, databases: Vec<plan::Database>| {
            one_group(plan, &databases, actions, shared, sender.clone())
        };
        let threads = wire::on_threads(scope, &groups, work)?;
        let latest = follow(plan, &receiver, stop, &coordinator, quiet);
        for thread in threads {
            // A panic has been explained where it happened.
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok::<_, CommandError>(latest)
    })?;
    let filled = |database: &plan::Database| {
        let progress = latest.get(&database.index);
        Filled {
            file: path(database),
            bytes: progress.map_or(0, |progress| progress.total.0),
            rows: progress.map_or(0, |progress| progress.rows),
            kept: actions.get(&database.index) == Some(&Action::Keep),
        }
    };
    Ok(Fill {
        databases: plan.databases.iter().map(filled).collect(),
        took: started.elapsed(),
    })
}

fn path(database: &plan::Database) -> String {
    Path::new(&database.folder)
        .join(&database.file)
        .display()
        .to_string()
}

/// What is to be done about each database, by its index.
fn look(plan: &Plan) -> Result<BTreeMap<u32, Action>, CommandError> {
    let world = wire::world()?;
    let locations = wire::locations(&world, &plan.databases)?;
    let plan = plan.clone();
    let looked = async move { prepare::preflight(&plan, &locations).await };
    let targets = world.executor().block_on(looked)?;
    Ok(targets
        .iter()
        .map(|target| (target.location.plan.index, target.action))
        .collect())
}

fn one_group(
    plan: &Plan,
    databases: &[plan::Database],
    actions: &BTreeMap<u32, Action>,
    coordinator: &Arc<Coordinator>,
    progress: mpsc::Sender<Progress>,
) -> Result<(), CommandError> {
    let world = wire::world()?;
    let target = |location: trial::Location| Target {
        action: actions[&location.plan.index],
        location,
    };
    let targets = wire::locations(&world, databases)?
        .into_iter()
        .map(target)
        .collect();
    // The channel is closed only where the program is ending.
    let sink: trial::Sink<Progress> = Rc::new(move |step| _ = progress.send(step));
    let (plan, coordinator) = (plan.clone(), Arc::clone(coordinator));
    let runtime = world.executor().runtime();
    let work = async move { prepare::prepare(&runtime, &plan, targets, &coordinator, &sink).await };
    world
        .executor()
        .block_on(work)
        .map_err(|error: PrepareError| error.into())
}

/// Shows progress and passes Ctrl-C on until every group has ended; returns the last step of each
/// database.
fn follow(
    plan: &Plan,
    steps: &mpsc::Receiver<Progress>,
    stop: &StopFlag,
    coordinator: &Coordinator,
    quiet: bool,
) -> BTreeMap<u32, Progress> {
    let mut display = term::Progress::new("filling", quiet);
    let total = plan.size.0 * plan.databases.len() as u64;
    let mut latest: BTreeMap<u32, Progress> = BTreeMap::new();
    loop {
        match steps.recv_timeout(LOOK) {
            Ok(step) => _ = latest.insert(step.database, step),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return latest,
        }
        if stop.is_set() {
            coordinator.stop(Stop::Interrupted);
        }
        let done: u64 = latest
            .values()
            .map(|step| step.bytes.0.min(step.total.0))
            .sum();
        display.bytes(done, total);
    }
}
