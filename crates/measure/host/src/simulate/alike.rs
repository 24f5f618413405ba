//! Volumes that are alike: if every volume has its own array, those with the same databases do the
//! same work, and one of them is simulated for all.

use std::collections::BTreeMap;

use plan::{Database, Plan, Sessions};
use record::{DatabaseInterval, Event, Interval};
use simdisk::HostProcessors;

use crate::simulate::SimulatedStorage;

/// The databases of a plan to simulate, and which of them represents each database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    /// Positions in the plan of the databases that are simulated.
    pub simulated: Vec<usize>,
    /// For each database of the plan, the position in `simulated` of its representative.
    pub like: Vec<usize>,
}

/// Key by which groups of databases are alike: the weight of each database and its volumes, by
/// order of appearance in the group.
type GroupShape = Vec<(u64, usize, usize)>;

impl Alike {
    /// Groups the databases of `plan`. All are simulated if they share anything but the target of
    /// the load: an array, or simulated processors.
    pub(super) fn of(storage: &SimulatedStorage, plan: &Plan) -> Self {
        let count = plan.databases.len();
        if !storage.is_each_folder || HostProcessors::of(&storage.array).is_some() {
            return Self::each(count);
        }
        let mut first_of: BTreeMap<GroupShape, Vec<usize>> = BTreeMap::new();
        let mut simulated = Vec::new();
        let mut like = vec![0; count];
        for group in groups(&plan.databases) {
            let members = group.iter().map(|&at| &plan.databases[at]);
            let places = first_of.entry(shape(members)).or_insert_with(|| {
                let places = simulated.len()..simulated.len() + group.len();
                simulated.extend(&group);
                places.collect()
            });
            for (&database, &place) in group.iter().zip(&*places) {
                like[database] = place;
            }
        }
        Self { simulated, like }
    }

    /// Like [`Self::of`], for the engine itself: all are simulated if the plan searches for
    /// sessions or for a share of the highest load, since that search sums up the databases that it
    /// loads.
    pub(super) fn of_engine(storage: &SimulatedStorage, plan: &Plan) -> Self {
        let load = &plan.workload;
        let is_searched = load.sessions == Sessions::Auto && load.target_iops.is_some();
        if is_searched || load.throughput_percent.is_some() {
            return Self::each(plan.databases.len());
        }
        Self::of(storage, plan)
    }

    /// Every database is simulated.
    fn each(count: usize) -> Self {
        Self { simulated: (0..count).collect(), like: (0..count).collect() }
    }

    /// Turns an event of the simulated databases of `plan` into events of all.
    pub(super) fn of_all(&self, plan: &Plan, event: Event) -> Vec<Event> {
        if self.simulated.len() == self.like.len() {
            return vec![event];
        }
        let mut event = match event {
            Event::Interval(interval) => {
                return vec![Event::Interval(self.interval_of_all(plan, interval))];
            }
            event => event,
        };
        let Some(index) = database_of(&mut event).copied() else {
            return vec![event];
        };
        plan.databases
            .iter()
            .zip(&self.like)
            .filter(|&(_, &place)| plan.databases[self.simulated[place]].index == index)
            .map(|(database, &place)| {
                of_another(event.clone(), &plan.databases[self.simulated[place]], database)
            })
            .collect()
    }

    fn interval_of_all(&self, plan: &Plan, interval: Interval) -> Interval {
        let all = plan.databases.iter().zip(&self.like).filter_map(|(database, &place)| {
            let simulated = plan.databases[self.simulated[place]].index;
            let found = interval.databases.iter().find(|of| of.index == simulated)?;
            Some(DatabaseInterval { index: database.index, ..found.clone() })
        });
        Interval { databases: all.collect(), ..interval }
    }

    /// Number of databases in the plan that each simulated one represents.
    pub(super) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.simulated.len()];
        for &place in &self.like {
            counts[place] += 1;
        }
        counts
    }

    /// Returns a notice about figures that were not simulated; `None` if all were.
    pub(super) fn words(&self) -> Option<String> {
        let (simulated, all) = (self.simulated.len(), self.like.len());
        (simulated < all).then(|| {
            format!(
                "databases on volumes that are alike are simulated once: {simulated} of {all}; \
                 the others have the same figures"
            )
        })
    }
}

/// Returns the database that an event concerns, if any.
pub(super) fn database_of(event: &mut Event) -> Option<&mut u32> {
    match event {
        Event::Checksum(of) | Event::Backup(of) | Event::CopyChecksum(of) => Some(&mut of.database),
        Event::BackupCopy(of) => Some(&mut of.database),
        Event::Replay(of) => Some(&mut of.database),
        Event::Attached(of) => Some(&mut of.database),
        Event::LongRequest(of) => Some(&mut of.database),
        _ => None,
    }
}

/// An event of the database `simulated` as one of `other`.
fn of_another(mut event: Event, simulated: &Database, other: &Database) -> Event {
    if let Some(database) = database_of(&mut event) {
        *database = other.index;
    }
    if let Event::LongRequest(request) = &mut event {
        let of_log = request.file.strip_prefix(&*simulated.log_folder);
        request.file = match (request.file.strip_prefix(&*simulated.folder), of_log) {
            (Some(rest), _) => other.folder.clone() + &rest.replace(&simulated.file, &other.file),
            (None, Some(rest)) => other.log_folder.clone() + rest,
            (None, None) => std::mem::take(&mut request.file),
        };
    }
    event
}

/// Databases that have a volume in common, directly or by way of others, in the order of the plan.
fn groups(databases: &[Database]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
    for (at, database) in databases.iter().enumerate() {
        let mut own = (vec![at], vec![&*database.volume, &*database.log_volume]);
        let (joined, others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(_, volumes)| volumes.iter().any(|volume| own.1.contains(volume)));
        for (members, volumes) in joined {
            own.0.extend(members);
            own.1.extend(volumes);
        }
        own.0.sort_unstable();
        groups = others;
        groups.push(own);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|(members, _)| members).collect();
    groups.sort_unstable();
    groups
}

fn shape<'a>(databases: impl Iterator<Item = &'a Database>) -> GroupShape {
    let mut volumes: Vec<&str> = Vec::new();
    let mut shape = Vec::new();
    for database in databases {
        let [data, log] = [&*database.volume, &*database.log_volume].map(|volume| {
            volumes.iter().position(|of| *of == volume).unwrap_or_else(|| {
                volumes.push(volume);
                volumes.len() - 1
            })
        });
        shape.push((database.weight.to_bits(), data, log));
    }
    shape
}

#[cfg(test)]
mod tests;
