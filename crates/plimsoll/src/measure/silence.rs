//! Notices a thread that the kernel does not give back: one that waits inside a call sees no
//! request's age.

use std::fs;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::{Issue, IssueKind, Severity};
use trial::Coordinator;
use trial::patience::{self, Patience};
use units::Nanos;

use crate::wire;

/// So much longer than a request may a thread be silent: it looks at its requests itself.
const BEYOND: Nanos = Nanos::from_secs(5);

/// Watches over the groups of a run.
pub(super) struct Silence {
    clock: OsClock,
    origin: Nanos,
    began: Nanos,
    patience: Patience,
    give_up: Nanos,
    /// The first database of each group; none once the group was given up.
    groups: Vec<Option<(u32, String)>>,
}

impl Silence {
    /// Over the groups of `plan`, from now on; `origin` is the run's zero on the clock.
    pub(super) fn new(plan: &Plan, origin: Nanos) -> Self {
        let clock = OsClock::new();
        let began = clock.now();
        let first = |group: Vec<plan::Database>| {
            let first = group.first()?;
            Some((first.index, format!("{}/{}", first.folder, first.file)))
        };
        Self {
            clock,
            origin,
            began,
            patience: Patience::new(began),
            give_up: plan.test.give_up,
            groups: wire::groups(plan).into_iter().map(first).collect(),
        }
    }

    /// An issue for each group whose thread has been inside the kernel for too long.
    pub(super) fn look(&mut self, coordinator: &Coordinator) -> Vec<Issue> {
        let now = self.clock.now();
        let limit = patience::limit(self.give_up, coordinator.stopped().is_some()) + BEYOND;
        let Some(moment) = self.patience.look(now, limit) else {
            return Vec::new();
        };
        let mut issues = Vec::new();
        for (number, group) in self.groups.iter_mut().enumerate() {
            let seen = coordinator.seen(number).map(|seen| seen.max(self.began));
            let is_silent = seen.is_some_and(|seen| seen <= moment) && waits(number);
            if let Some((database, file)) = group.take_if(|_| is_silent) {
                let silent = now.since(seen.unwrap_or(now));
                issues.push(issue((database, file), now.since(self.origin), silent));
            }
        }
        issues
    }
}

/// Whether the thread of group `number` waits inside the kernel: one that computes has a bug.
fn waits(number: usize) -> bool {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let mut states = threads.flatten().filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        (name == format!("group {number}")).then(|| rest.starts_with('R'))
    });
    states.next().is_some_and(|computes| !computes)
}

fn issue((database, file): (u32, String), at: Nanos, silent: Nanos) -> Issue {
    let text = format!(
        "{file}, or another database of its thread: the kernel has not come back from a call for \
         {:.1} s; look at the disk, its controller and cables, and the system log",
        silent.as_secs_f64()
    );
    Issue {
        at_ns: at.0,
        database: Some(database),
        severity: Severity::Error,
        kind: IssueKind::InputOutput,
        volume: None,
        file: Some(file),
        offset_bytes: None,
        text,
    }
}
