//! Folders that are alike: if every folder has its own array, those with the same databases do the
//! same work, and one of them is simulated for all.

use std::collections::BTreeMap;

use plan::{Database, Plan};
use simdisk::HostProcessors;

use crate::simulate::SimulatedStorage;

/// Which databases of a plan are simulated, and which of them each database is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    /// Positions in the plan of the databases that are simulated.
    pub simulated: Vec<usize>,
    /// For each database of the plan, the position in `simulated` of the one that it is like.
    pub like: Vec<usize>,
}

/// What makes groups of databases alike: of each its weight and its folders, by their order of
/// appearance in the group.
type Shape = Vec<(u64, usize, usize)>;

impl Alike {
    /// Of the databases of `plan`. All are simulated if they share anything beside the target of
    /// the load: an array, or processors that are simulated.
    pub(super) fn of(storage: &SimulatedStorage, plan: &Plan) -> Self {
        let count = plan.databases.len();
        if !storage.is_each_folder || HostProcessors::of(&storage.array).is_some() {
            return Self { simulated: (0..count).collect(), like: (0..count).collect() };
        }
        let mut first_of: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
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

    /// How many databases of the plan have the figures of each that is simulated.
    pub(super) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.simulated.len()];
        for &place in &self.like {
            counts[place] += 1;
        }
        counts
    }

    /// What a reader must know of figures that were not simulated; nothing if all were.
    pub(super) fn words(&self) -> Option<String> {
        let (simulated, all) = (self.simulated.len(), self.like.len());
        (simulated < all).then(|| {
            format!(
                "databases in folders that are alike are simulated once: {simulated} of {all}; \
                 the others have the same figures"
            )
        })
    }
}

/// Databases that have a folder in common, directly or by way of others, in the order of the plan.
fn groups(databases: &[Database]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
    for (at, database) in databases.iter().enumerate() {
        let mut own = (vec![at], vec![&*database.folder, &*database.log_folder]);
        let (joined, others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(_, folders)| folders.iter().any(|folder| own.1.contains(folder)));
        for (members, folders) in joined {
            own.0.extend(members);
            own.1.extend(folders);
        }
        own.0.sort_unstable();
        groups = others;
        groups.push(own);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|(members, _)| members).collect();
    groups.sort_unstable();
    groups
}

fn shape<'a>(databases: impl Iterator<Item = &'a Database>) -> Shape {
    let mut folders: Vec<&str> = Vec::new();
    let mut shape = Vec::new();
    for database in databases {
        let [data, log] = [&*database.folder, &*database.log_folder].map(|folder| {
            folders.iter().position(|of| *of == folder).unwrap_or_else(|| {
                folders.push(folder);
                folders.len() - 1
            })
        });
        shape.push((database.weight.to_bits(), data, log));
    }
    shape
}

#[cfg(test)]
mod tests;
