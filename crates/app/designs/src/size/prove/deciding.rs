//! The hosts that decide a case: a host is redundant if another one with the same disks has at
//! least as much of every load. A pure function of the layout and its timeline.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal::{Duty, PlayedDeployment, Stretch};
use units::Nanos;

/// Load on one array: more of any of these can only make it slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ArrayLoad {
    active: usize,
    replaying: usize,
    catching_up: usize,
    seeded: usize,
    /// Number of copies read to seed others.
    sources: usize,
    failed_drives: usize,
    /// Bytes per second read and written by seeding.
    seed_rate: u64,
}

/// Load on a host, by array.
type HostLoad = BTreeMap<usize, ArrayLoad>;

fn sum(load: &HostLoad, of: fn(&ArrayLoad) -> usize) -> usize {
    load.values().map(of).sum()
}

/// Sums over the arrays, without the seed rate, and the largest number of active copies on one.
fn merits(load: &HostLoad) -> [usize; 7] {
    let densest = load.values().map(|of| of.active).max().unwrap_or(0);
    [
        sum(load, |of| of.active),
        sum(load, |of| of.replaying),
        sum(load, |of| of.catching_up),
        sum(load, |of| of.seeded),
        sum(load, |of| of.sources),
        sum(load, |of| of.failed_drives),
        densest,
    ]
}

/// Whether `other` has at least as much of every load in [`merits`].
fn is_within(own: &HostLoad, other: &HostLoad) -> bool {
    merits(own).iter().zip(merits(other)).all(|(own, of)| *own <= of)
}

/// Returns the hosts to play: all that some stretch loads, unless another host with the same disks
/// then has at least as much of every load. Of equally loaded hosts the first is played.
pub(super) fn deciding(deployment: &PlayedDeployment, stretches: &[Stretch]) -> BTreeSet<usize> {
    let disks = disks_of(deployment);
    let mut found = BTreeSet::new();
    for stretch in stretches {
        let loads = loads(deployment, stretch);
        found.extend((0..loads.len()).filter(|&host| {
            let is_idle = merits(&loads[host]) == [0; 7];
            !is_idle && !(0..loads.len()).any(|other| exceeds((&disks, &loads), other, host))
        }));
    }
    found
}

/// Whether playing `other` makes `host` redundant.
fn exceeds((disks, loads): (&[(String, usize)], &[HostLoad]), other: usize, host: usize) -> bool {
    let is_more = is_within(&loads[host], &loads[other]);
    let is_same = is_within(&loads[other], &loads[host]);
    other != host && disks[other] == disks[host] && is_more && (!is_same || other < host)
}

/// Name of each host's first array, and the number of its arrays.
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
            let load = loads[copy.host].entry(copy.place.array).or_default();
            let fails = stretch.failed_drives.contains(&copy.place.array);
            load.failed_drives += usize::from(fails);
            match *duty {
                Duty::Active => load.active += 1,
                Duty::Replaying => load.replaying += 1,
                Duty::CatchingUp => load.catching_up += 1,
                Duty::Seeding { source, rate } => {
                    load.seeded += 1;
                    load.seed_rate += rate;
                    let from = &database.copies[source];
                    let load = loads[from.host].entry(from.place.array).or_default();
                    load.sources += 1;
                    load.seed_rate += rate;
                }
                Duty::Idle => {}
            }
        }
    }
    loads
}

/// Everything that determines a host's result, except the addresses on its arrays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HostHistory {
    /// Name of its first array, and the number of its arrays.
    disks: (String, usize),
    /// Load of each array in each stretch, sorted so that only the loads matter.
    arrays: Vec<Vec<ArrayLoad>>,
    /// End of each stretch, and the number of inactive databases in it.
    stretches: Vec<(Nanos, usize)>,
}

/// Returns the hosts to play in each of `cases`: those that decide it, except those equivalent to a
/// host of an earlier case.
pub(super) fn deciding_anew(
    deployment: &PlayedDeployment,
    cases: &[Vec<Stretch>],
) -> Vec<BTreeSet<usize>> {
    let disks = disks_of(deployment);
    let mut seen = BTreeSet::new();
    let mut anew = Vec::new();
    for stretches in cases {
        let loads: Vec<Vec<HostLoad>> = stretches.iter().map(|of| loads(deployment, of)).collect();
        let mut hosts = deciding(deployment, stretches);
        hosts.retain(|&host| seen.insert(history((stretches, &loads), &disks[host], host)));
        anew.push(hosts);
    }
    anew
}

fn history(
    (stretches, loads): (&[Stretch], &[Vec<HostLoad>]),
    disks: &(String, usize),
    host: usize,
) -> HostHistory {
    let numbers: BTreeSet<usize> = loads.iter().flat_map(|all| all[host].keys().copied()).collect();
    let mut arrays = vec![Vec::new(); numbers.len()];
    for (number, array) in numbers.into_iter().zip(&mut arrays) {
        array.extend(loads.iter().map(|all| all[host].get(&number).copied().unwrap_or_default()));
    }
    arrays.sort_unstable();
    let stretches = stretches.iter().map(|of| (of.to, of.inactive())).collect();
    HostHistory { disks: disks.clone(), arrays, stretches }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rehearsal::{Duty, Stretch};
    use units::Nanos;

    use super::{deciding, deciding_anew};
    use crate::size::prove::fixture::deployment;

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
        // Host 1 serves both of its copies, host 2 replays both, and host 0 does one of each: none
        // of them exceeds another in every load.
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

    /// Database n is on hosts n and n + 1 of three. Whichever host is lost, one of the others
    /// serves two active copies, and the other serves one and replays nothing.
    #[test]
    fn a_host_that_fares_like_one_of_an_earlier_case_is_not_played_again() {
        let deployment = deployment(3);
        let lost = |host: usize| {
            let before = (host + 2) % 3;
            let mut duties = vec![ON_FIRST.to_vec(); 3];
            duties[host] = vec![Duty::Idle, Duty::Active];
            duties[before] = vec![Duty::Active, Duty::Idle];
            vec![stretch(duties, Vec::new())]
        };
        let all: Vec<Vec<Stretch>> = (0..3).map(lost).collect();
        let mut found = deciding_anew(&deployment, &all);
        assert!(!found[0].is_empty());
        assert_eq!(found.split_off(1), [BTreeSet::new(), BTreeSet::new()]);
        // With other disks on host 2 the first two cases differ; the third repeats one of each.
        let mut other = deployment.clone();
        other.arrays[2].name = "a smaller set".to_owned();
        let found = deciding_anew(&other, &all);
        assert_eq!(found.iter().filter(|of| of.is_empty()).count(), 1, "{found:?}");
    }
}
