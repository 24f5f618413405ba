//! Detects a thread that never returns from the kernel, and so cannot check the age of its
//! requests, and a volume that does not answer queries.

use std::fs;
use std::path::{Path, PathBuf};

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::{Issue, IssueKind, Severity};
use trial::Coordinator;
use trial::patience::{self, Patience};
use units::Nanos;

use crate::wire;

/// Silence allowed to a thread beyond the age limit of requests, which it checks itself.
const BEYOND: Nanos = Nanos::from_secs(5);

/// Activity of the thread of a file's group.
const BUSY: &str = "the kernel has not come back from a call for this database, or another of its \
                    thread,";

const REMEDY: &str = "look at the disk, its controller and cables, and the system log";

/// Watches over the groups of a run.
pub(super) struct Silence {
    clock: OsClock,
    origin: Nanos,
    began: Nanos,
    patience: Patience,
    give_up: Nanos,
    /// The first database of each group; `None` once the group was given up.
    groups: Vec<Option<(u32, String)>>,
    /// `true` once a silent volume was reported; one is enough to end the run.
    volume_is_told: bool,
}

impl Silence {
    /// Watches the groups of `plan` from now on; `origin` is the run's zero on the clock.
    pub(super) fn new(plan: &Plan, origin: Nanos) -> Self {
        let clock = OsClock::new();
        let began = clock.now();
        let first = wire::run_groups(plan).into_iter().map(|group| {
            let first = group.first()?;
            let file = Path::new(&first.folder).join(&first.file);
            Some((first.index, file.display().to_string()))
        });
        Self {
            clock,
            origin,
            began,
            patience: Patience::new(began),
            give_up: plan.test.give_up,
            groups: first.collect(),
            volume_is_told: false,
        }
    }

    /// Returns the cutoff: silence that began before it has lasted too long.
    pub(super) fn look(&mut self, coordinator: &Coordinator) -> Option<Nanos> {
        let limit = patience::limit(self.give_up, coordinator.stopped().is_some()) + BEYOND;
        self.patience.look(self.clock.now(), limit)
    }

    /// An issue for each group whose thread has been inside the kernel since before `moment`.
    pub(super) fn groups(&mut self, moment: Nanos, coordinator: &Coordinator) -> Vec<Issue> {
        let now = self.clock.now();
        let mut found = Vec::new();
        for (number, group) in self.groups.iter_mut().enumerate() {
            let seen = coordinator.seen(number).map(|seen| seen.max(self.began));
            let is_silent = seen.is_some_and(|seen| seen <= moment) && waits(number);
            if let Some(first) = group.take_if(|_| is_silent) {
                found.push((first, now.since(seen.unwrap_or(now))));
            }
        }
        found
            .into_iter()
            .map(|((database, file), silent)| Issue {
                database: Some(database),
                ..self.issue(now, silent, &file, BUSY)
            })
            .collect()
    }

    /// An issue for the first volume that was asked something before `moment` and is silent since.
    pub(super) fn volume<'a>(
        &mut self,
        moment: Nanos,
        waiting: impl Iterator<Item = &'a (PathBuf, Nanos)>,
    ) -> Option<Issue> {
        let mut late = waiting.filter(|(_, since)| *since <= moment);
        let (folder, since) = late.next().filter(|_| !self.volume_is_told)?;
        self.volume_is_told = true;
        let (now, file) = (self.clock.now(), folder.display().to_string());
        let what = "the volume has not answered how much room it has or what was read from it";
        Some(self.issue(now, now.since(*since), &file, what))
    }

    /// An error if silent for the plan's full patience, else a warning.
    fn issue(&self, now: Nanos, silent: Nanos, file: &str, what: &str) -> Issue {
        let severity = if silent >= self.give_up { Severity::Error } else { Severity::Warning };
        let seconds = silent.as_secs_f64();
        Issue {
            at_ns: now.since(self.origin).0,
            database: None,
            severity,
            kind: IssueKind::InputOutput,
            volume: None,
            file: Some(file.to_owned()),
            offset_bytes: None,
            text: format!("{file}: {what} for {seconds:.1} s; {REMEDY}"),
        }
    }
}

/// Whether the thread of group `number` waits inside the kernel; if it computes instead, this
/// program has a bug.
fn waits(number: usize) -> bool {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let mut states = threads.flatten().filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        (name == format!("group {number}")).then(|| rest.starts_with('R'))
    });
    states.next().is_some_and(|computes| !computes)
}
