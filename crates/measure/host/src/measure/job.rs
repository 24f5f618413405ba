//! Work of one thread of a run: a separate world, with its group of databases in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::Volume;
use device_os::World;
use plan::Plan;
use record::{Event, Issue, IssueKind, LogLine, Severity};
use trial::run::{Group, ResumedRun, RunSummary};
use trial::{Coordinator, HostSampler, Location, Member, Sink};
use units::{Bytes, Nanos};

use super::acknowledge;
use super::follow::{BETWEEN_LOOKS, FollowMessage, GroupNews};
use super::host::CountedHost;
use super::pause::PauseWatch;
use crate::crew;
use crate::error::HostError;
use crate::flash::{self, RunCache};
use crate::target::RawTarget;
use crate::wire;

/// Input of one thread.
pub(super) struct Job {
    plan: Plan,
    databases: Vec<plan::Database>,
    origin: Nanos,
    member: Member,
    commits: Option<Arc<File>>,
    resumed: Option<ResumedRun>,
    watch: PauseWatch,
    is_leader: bool,
}

/// One job for each group, the first of which leads.
pub(super) fn jobs(
    plan: &Plan,
    groups: Vec<Vec<plan::Database>>,
    coordinator: &Arc<Coordinator>,
    (commits, resumed): (Option<&Arc<File>>, Option<&ResumedRun>),
    (origin, watch): (Nanos, PauseWatch),
) -> Vec<Job> {
    groups
        .into_iter()
        .enumerate()
        .map(|(number, databases)| Job {
            plan: plan.clone(),
            databases,
            origin,
            member: Member::new(coordinator),
            commits: commits.cloned(),
            resumed: resumed.cloned(),
            watch: watch.clone(),
            is_leader: number == 0,
        })
        .collect()
}

impl Job {
    /// Runs the job and reports its progress.
    pub(super) fn run(self, news: &GroupNews) -> Result<RunSummary, HostError> {
        // If requests are given up, or if this panics, the world is leaked: dropping it would wait
        // for its requests.
        let world = ManuallyDrop::new(wire::world()?);
        let cache = RunCache::open(&world, &self.plan)?;
        let locations = match &cache {
            None => wire::locations(&world, &self.plan, &self.databases)?,
            Some((cache, _)) => cache.locations(&world, &self.plan, &self.databases)?,
        };
        watch_room(&world, &locations, self.origin, news);
        let member = Leaves(Rc::new(self.member));
        let (events, checked) = (news.clone(), news.clone());
        let host: Rc<dyn HostSampler> = Rc::new(CountedHost::new(self.watch));
        let coordinator = Arc::clone(member.0.coordinator());
        let group = Group {
            runtime: world.executor().runtime(),
            plan: self.plan,
            locations,
            events: Rc::new(move |event| {
                crew::panic_where_asked();
                events.tell(FollowMessage::Event(Box::new(event)));
            }),
            checked: Rc::new(move |(_, bytes)| checked.tell(FollowMessage::Checked(bytes))),
            commits: (self.commits).map(|file| acknowledge::sink(&file, &coordinator)),
            member: Rc::clone(&member.0),
            origin: self.origin,
            is_leader: self.is_leader,
            rest_percent: 0,
            processors: None,
            settled: None,
            flash_cache: cache.as_ref().map(|(cache, _)| cache.reading()),
            is_storage_trusted: false,
            resumed: self.resumed,
            host: Some(host),
        };
        if let Some((_, words)) = &cache {
            announce(&group, words);
        }
        let events = Rc::clone(&group.events);
        let summary = world.executor().block_on(trial::run::run(group));
        if !summary.gave_up {
            if let Some((cache, _)) = cache {
                close(&cache, &world, &events);
            }
            drop(ManuallyDrop::into_inner(world));
        }
        Ok(summary)
    }
}

/// Closes the cache. The run is already complete: if this fails, only the next one is affected, by
/// an empty cache.
fn close(cache: &RunCache, world: &World, events: &Sink<Event>) {
    if let Err(error) = cache.close(world) {
        let text = format!("flash cache: {error}; the next run begins with an empty cache");
        events(warning(text, Some(cache.file())));
    }
}

/// Returns a warning about the cache for readers of the report.
fn warning(text: String, file: Option<String>) -> Event {
    Event::Issue(Issue {
        at_ns: 0,
        database: None,
        severity: Severity::Warning,
        kind: IssueKind::Other,
        volume: None,
        file,
        offset_bytes: None,
        text,
    })
}

/// Reports the contents of the cache, and reasons why it may not help.
fn announce(group: &Group, words: &str) {
    (group.events)(Event::Log(LogLine { at_ns: 0, text: words.to_owned() }));
    if let Some(text) = flash::shared_device(&group.plan) {
        let file = group.plan.flash_cache.as_ref().map(|cache| cache.file.clone());
        (group.events)(warning(text, file));
    }
}

/// Reports the free space of raw devices while the world runs: only this thread knows it. It reads
/// directories in memory and sends no request to the storage.
fn watch_room(world: &World, locations: &[Location], origin: Nanos, news: &GroupNews) {
    let mut volumes: BTreeMap<String, Rc<dyn Volume>> = BTreeMap::new();
    for Location { plan, database, log, storage, log_storage, .. } in locations {
        for (folder, name, volume) in
            [(&plan.folder, storage, database), (&plan.log_folder, log_storage, log)]
        {
            if RawTarget::of(Path::new(folder)).is_some() {
                volumes.insert(name.clone(), Rc::clone(volume));
            }
        }
    }
    if volumes.is_empty() {
        return;
    }
    let (runtime, news) = (world.executor().runtime(), news.clone());
    // It is not awaited: it ends with the world.
    drop(world.executor().runtime().spawn(async move {
        loop {
            for (name, volume) in &volumes {
                let free = volume.free_bytes().await.ok().map(Bytes);
                let at = runtime.now().since(origin);
                news.tell(FollowMessage::Free((name.clone(), at, free)));
            }
            runtime.sleep(BETWEEN_LOOKS).await;
        }
    }));
}

/// Lets the other groups continue if this one panics: its own tasks then hold the member forever.
struct Leaves(Rc<Member>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}
