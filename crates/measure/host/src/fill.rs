//! Fills the databases of a plan on all processors, and reports progress.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::Plan;
pub use trial::prepare::Complete;
use trial::prepare::{self, Action, FillTarget, PrepareError, Progress};
use trial::{Coordinator, Stop};

use crate::allowance::{self, DatabaseUse};
use crate::crew::{self, Crew, News, NewsSender};
use crate::error::HostError;
use crate::locks::{self, Files, PreparedFolders};
use crate::lost_end;
use crate::observer::{HostEvent, HostObserver};
use crate::stop::StopFlag;
use crate::target;
use crate::{patient, wire};

/// Longest wait before a request to stop is noticed.
const LOOK: Duration = Duration::from_millis(100);

/// Input of one group's thread.
type FillJob = (Plan, Vec<plan::Database>, BTreeMap<u32, Action>, Arc<Coordinator>);

/// How its thread ends.
type FillEnd = Result<(), HostError>;

/// A database that has been filled, or was complete already.
#[derive(Clone, Debug)]
pub struct Filled {
    /// Its path.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Messages that its fill wrote.
    pub rows: u64,
    /// Whether it existed before.
    pub kept: bool,
    /// See [`Progress::written_whole`].
    pub written_whole: bool,
}

/// Result of a fill.
pub struct Fill {
    /// The databases, in the order of the plan.
    pub databases: Vec<Filled>,
    /// How long it took.
    pub took: Duration,
}

/// Fills the missing databases. Refuses before anything is written if the target is not empty or
/// too small.
pub fn fill(plan: &Plan, stop: &StopFlag, observer: &HostObserver) -> Result<Fill, HostError> {
    fill_with(plan, Complete::Stays, stop, observer)
}

/// Like [`fill`]; `complete` decides what happens to complete databases.
pub fn fill_with(
    plan: &Plan,
    complete: Complete,
    stop: &StopFlag,
    observer: &HostObserver,
) -> Result<Fill, HostError> {
    allowance::check(plan, DatabaseUse::Fill)?;
    // The folders are locked from the decision to the last manifest: in between, nothing may
    // change.
    let heard = observer.clone();
    let (_folders, actions) = patient::first_look(plan, stop, move |plan| {
        let folders = PreparedFolders::take(&plan.databases)?;
        locks::wait_for(plan.databases.iter().map(Files::from), &heard);
        let actions = look(plan, complete)?;
        let databases = plan.databases.iter();
        let kept = databases.filter(|of| actions.get(&of.index) == Some(&Action::Keep));
        lost_end::refuse(plan, kept, &heard)?;
        Ok((folders, actions))
    })?;
    let groups = wire::groups(plan);
    let count = u32::try_from(groups.len()).expect("invariant: as many groups as processors");
    let coordinator = Arc::new(Coordinator::new(count));
    let started = Instant::now();
    let jobs = groups
        .into_iter()
        .map(|databases| (plan.clone(), databases, actions.clone(), Arc::clone(&coordinator)));
    let mut crew = Crew::start(jobs.collect(), one_group);
    if crew.refusal.is_some() {
        coordinator.stop(Stop::Failed);
    }
    let followed = follow(plan, &mut crew, stop, &coordinator, observer);
    if let Some(refusal) = crew.refusal {
        return Err(refusal);
    }
    let latest = followed?;
    crew.join();
    let databases = plan.databases.iter().map(|database| {
        let progress = latest.get(&database.index);
        let (file, kept) = (path(database), actions.get(&database.index) == Some(&Action::Keep));
        // Runs have made a database that is kept larger than its fill did.
        let present = kept.then(|| target::length(Path::new(&file))).flatten();
        Filled {
            bytes: present.or(progress.map(|of| of.total.0)).unwrap_or(0),
            file,
            rows: progress.map_or(0, |progress| progress.rows),
            kept,
            written_whole: progress.is_some_and(|progress| progress.written_whole),
        }
    });
    Ok(Fill { databases: databases.collect(), took: started.elapsed() })
}

fn path(database: &plan::Database) -> String {
    Path::new(&database.folder).join(&database.file).display().to_string()
}

/// The action for each database, by its index.
fn look(plan: &Plan, complete: Complete) -> Result<BTreeMap<u32, Action>, HostError> {
    let world = wire::world()?;
    let locations = wire::locations(&world, plan, &plan.databases)?;
    let plan = plan.clone();
    let looked = async move { prepare::preflight(&plan, &locations, complete).await };
    let targets = world.executor().block_on(looked)?;
    Ok(targets.iter().map(|target| (target.location.plan.index, target.action)).collect())
}

fn one_group(
    (plan, databases, actions, coordinator): FillJob,
    news: &NewsSender<Progress, FillEnd>,
) -> FillEnd {
    // If requests are given up, the world is leaked: dropping it would wait for them.
    let world = ManuallyDrop::new(wire::world()?);
    let target =
        |location: trial::Location| FillTarget { action: actions[&location.plan.index], location };
    let targets = wire::locations(&world, &plan, &databases)?.into_iter().map(target).collect();
    let news = news.clone();
    let sink: trial::Sink<Progress> = Rc::new(move |step| news.tell(step));
    let runtime = world.executor().runtime();
    let work = async move { prepare::prepare(&runtime, &plan, targets, &coordinator, &sink).await };
    let outcome = world.executor().block_on(work);
    if !matches!(outcome, Err(PrepareError::Unanswered { .. })) {
        drop(ManuallyDrop::into_inner(world));
    }
    outcome.map_err(HostError::from)
}

/// Reports progress and passes on a request to stop until every group has ended. Returns the last
/// step of each database, or the first error.
fn follow(
    plan: &Plan,
    crew: &mut Crew<Progress, FillEnd>,
    stop: &StopFlag,
    coordinator: &Coordinator,
    observer: &HostObserver,
) -> Result<BTreeMap<u32, Progress>, HostError> {
    let total = plan.size.0 * plan.databases.len() as u64;
    let mut latest: BTreeMap<u32, Progress> = BTreeMap::new();
    let mut outcome = Ok(());
    while !crew.has_ended() {
        match crew.next(LOOK) {
            Some(News::Told(step)) => _ = latest.insert(step.database, step),
            Some(News::Ended(end)) => {
                let end = end.unwrap_or_else(|| Err(crew::panicked()));
                if end.is_err() {
                    coordinator.stop(Stop::Failed);
                }
                outcome = outcome.and(end);
            }
            None => {}
        }
        if stop.is_set() {
            coordinator.stop(Stop::Interrupted);
        }
        let done: u64 = latest.values().map(|step| step.bytes.0.min(step.total.0)).sum();
        observer.tell(HostEvent::Bytes { work: "filling", done, total });
    }
    observer.tell(HostEvent::Ended);
    outcome.map(|()| latest)
}
