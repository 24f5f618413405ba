//! Which hosts decide a case: those that no other host with the same disks exceeds in every load. A
//! pure function of the layout and its timeline.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal::{Duty, PlayedDeployment, Stretch};

/// What weighs on a host: more of any of these can only make it slower.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HostLoad {
    active: usize,
    replaying: usize,
    catching_up: usize,
    seeded: usize,
    /// Copies that are read to seed others.
    sources: usize,
    failed_drives: usize,
    /// Active copies on each array.
    on_array: BTreeMap<usize, usize>,
}

impl HostLoad {
    fn merits(&self) -> [usize; 7] {
        let densest = self.on_array.values().copied().max().unwrap_or(0);
        let Self { active, replaying, catching_up, seeded, sources, failed_drives, .. } = *self;
        [active, replaying, catching_up, seeded, sources, failed_drives, densest]
    }

    /// Whether `other` has as much of everything.
    fn is_within(&self, other: &Self) -> bool {
        self.merits().iter().zip(other.merits()).all(|(own, of)| *own <= of)
    }
}

/// The hosts to play: in each stretch, of those with the same disks, each that no other one exceeds
/// in everything. Of hosts with the same load the first is played.
pub(super) fn deciding(deployment: &PlayedDeployment, stretches: &[Stretch]) -> BTreeSet<usize> {
    let disks = disks_of(deployment);
    let mut found = BTreeSet::new();
    for stretch in stretches {
        let loads = loads(deployment, stretch);
        found.extend((0..loads.len()).filter(|&host| {
            let is_idle = loads[host].merits() == [0; 7];
            !is_idle && !(0..loads.len()).any(|other| exceeds((&disks, &loads), other, host))
        }));
    }
    found
}

/// Whether `other` makes it needless to play `host`.
fn exceeds((disks, loads): (&[(String, usize)], &[HostLoad]), other: usize, host: usize) -> bool {
    let is_more = loads[host].is_within(&loads[other]);
    let is_same = loads[other].is_within(&loads[host]);
    other != host && disks[other] == disks[host] && is_more && (!is_same || other < host)
}

/// Name and number of the arrays of each host.
fn disks_of(deployment: &PlayedDeployment) -> Vec<(String, usize)> {
    let mut arrays = vec![BTreeSet::new(); deployment.hosts.len()];
    for copy in deployment.databases.iter().flat_map(|of| &of.copies) {
        arrays[copy.host].insert(copy.place.array);
    }
    arrays
        .iter()
        .map(|own| {
            let first = own.first().map(|&array| deployment.arrays[array].name.clone());
            (first.unwrap_or_default(), own.len())
        })
        .collect()
}

fn loads(deployment: &PlayedDeployment, stretch: &Stretch) -> Vec<HostLoad> {
    let mut loads = vec![HostLoad::default(); deployment.hosts.len()];
    for (database, duties) in deployment.databases.iter().zip(&stretch.duties) {
        for (copy, duty) in database.copies.iter().zip(duties) {
            let load = &mut loads[copy.host];
            match duty {
                Duty::Active => {
                    load.active += 1;
                    *load.on_array.entry(copy.place.array).or_default() += 1;
                }
                Duty::Replaying => load.replaying += 1,
                Duty::CatchingUp => load.catching_up += 1,
                Duty::Seeding { source, .. } => {
                    load.seeded += 1;
                    loads[database.copies[*source].host].sources += 1;
                }
                Duty::Idle => {}
            }
            let fails = stretch.failed_drives.contains(&copy.place.array);
            loads[copy.host].failed_drives += usize::from(fails);
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rehearsal::{Duty, Stretch};
    use units::Nanos;

    use super::deciding;
    use crate::cmd::size::prove::fixture::deployment;

    fn stretch(duties: Vec<Vec<Duty>>, failed_drives: Vec<usize>) -> Stretch {
        let (from, to) = (Nanos::ZERO, Nanos::from_secs(60));
        Stretch { from, to, begun: Vec::new(), up: vec![true; 3], duties, failed_drives }
    }

    const ON_FIRST: [Duty; 2] = [Duty::Active, Duty::Replaying];
    const ON_SECOND: [Duty; 2] = [Duty::Replaying, Duty::Active];

    /// Database n is on hosts n and n + 1 of three.
    #[test]
    fn of_hosts_with_the_same_load_the_first_is_played() {
        let deployment = deployment(3);
        let normal = stretch(vec![ON_FIRST.to_vec(); 3], Vec::new());
        assert_eq!(deciding(&deployment, &[normal]), BTreeSet::from([0]));
        // Host 1 carries both of its copies, host 2 replays both, and host 0 does one of each: none
        // of them exceeds another in everything.
        let moved = [ON_SECOND.to_vec(), ON_FIRST.to_vec(), ON_SECOND.to_vec()];
        let moved = stretch(moved.to_vec(), Vec::new());
        assert_eq!(deciding(&deployment, &[moved]), BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn a_host_with_other_disks_or_a_failed_one_is_played_too() {
        let mut deployment = deployment(3);
        deployment.arrays[2].name = "a smaller set".to_owned();
        let normal = stretch(vec![ON_FIRST.to_vec(); 3], Vec::new());
        assert_eq!(deciding(&deployment, &[normal]), BTreeSet::from([0, 2]));
        let failed = stretch(vec![ON_FIRST.to_vec(); 3], vec![1]);
        assert_eq!(deciding(&deployment, &[failed]), BTreeSet::from([1, 2]));
    }
}
